//! What all charts share: canvas, font, colours, text.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, register_font};

use crate::model::stage::Stage;

/// A subset of DejaVu Sans (Latin, Greek, Cyrillic and a few symbols); its licence stands beside it.
pub(in crate::report) const FONT: &[u8] = include_bytes!("../../../assets/DejaVuSans-subset.ttf");
/// The family that the font file names itself.
#[cfg(feature = "png")]
pub(in crate::report) const FONT_FAMILY: &str = "DejaVu Sans";
/// As written into SVGs. Verdana is as wide; a viewer that has neither takes its own.
const FAMILIES: &str = "DejaVu Sans, Verdana, sans-serif";

/// Charts are this wide, pixels.
pub(in crate::report) const WIDTH: i32 = 960;
/// Free space on the right, so that the last mark's label is whole.
pub(in crate::report) const RIGHT_MARGIN: i32 = 40;
/// Space for the names and marks of the vertical axis.
pub(in crate::report) const LEFT_AREA: i32 = 144;

pub(in crate::report) const INK: RGBColor = RGBColor(34, 34, 34);
pub(in crate::report) const FAINT: RGBColor = RGBColor(105, 105, 105);
pub(in crate::report) const GRID: RGBColor = RGBColor(225, 225, 225);
pub(in crate::report) const RED: RGBColor = RGBColor(213, 94, 0);

pub(in crate::report) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A stage's colour (Okabe and Ito 2008).
pub(in crate::report) const fn colour(stage: Stage) -> RGBColor {
    match stage {
        Stage::Registry => RGBColor(0, 114, 178),
        Stage::Served => RGBColor(230, 159, 0),
        Stage::Client => RGBColor(0, 158, 115),
        Stage::Balancer => RGBColor(204, 121, 167),
        Stage::Entry => RGBColor(86, 180, 233),
    }
}

/// Draws on a white canvas of this height and returns the SVG text.
pub(in crate::report) fn svg(height: i32, draw: impl FnOnce(&Canvas<'_>)) -> String {
    register_font(FAMILIES, FontStyle::Normal, FONT).ok().expect("the embedded font is one");
    let mut text = String::new();
    {
        let size = (WIDTH as u32, u32::try_from(height).expect("charts have a height"));
        let canvas = SVGBackend::with_string(&mut text, size).into_drawing_area();
        canvas.fill(&WHITE).expect(DRAWN);
        draw(&canvas);
        canvas.present().expect(DRAWN);
    }
    text
}

/// What can be found out on a canvas that is then thrown away: how wide texts are, before a chart's height is known.
#[cfg(feature = "cli")]
pub(in crate::report) fn measured<T>(measure: impl FnOnce(&Canvas<'_>) -> T) -> T {
    let mut found = None;
    svg(1, |canvas| found = Some(measure(canvas)));
    found.expect("it was measured")
}

/// Why drawing cannot fail.
pub(in crate::report) const DRAWN: &str = "drawing into a string with the embedded font cannot fail";

/// A text style of this size in pixels, by font height.
pub(in crate::report) fn font(size: i32, colour: RGBColor) -> TextStyle<'static> {
    TextStyle { color: colour.to_backend_color(), ..TextStyle::from((FAMILIES, size).into_font()) }
}

/// Text with its upper left corner here.
pub(in crate::report) fn write(canvas: &Canvas<'_>, text: &str, size: i32, colour: RGBColor, at: (i32, i32)) {
    write_at(canvas, text, font(size, colour), (HPos::Left, VPos::Top), at);
}

/// Text with this point of it here.
pub(in crate::report) fn write_at(
    canvas: &Canvas<'_>,
    text: &str,
    style: TextStyle<'_>,
    anchor: (HPos, VPos),
    at: (i32, i32),
) {
    canvas.draw_text(text, &style.pos(Pos::new(anchor.0, anchor.1)), at).expect(DRAWN);
}

/// A chart's title and, below it, how to read it.
pub(in crate::report) fn title(canvas: &Canvas<'_>, title: &str, below: &str) {
    write(canvas, &fitting(canvas, title, 22, WIDTH - 24 - RIGHT_MARGIN), 22, INK, (24, 16));
    write(canvas, below, 15, FAINT, (24, 46));
}

/// The width of a text of this size, pixels. The estimate takes the size for the font's height, which is 1.164
/// em in DejaVu Sans; the SVG is written with a size of 1.24 for an em.
pub(in crate::report) fn text_width(canvas: &Canvas<'_>, text: &str, size: i32) -> i32 {
    let (width, _) = canvas.estimate_text_size(text, &font(size, INK)).expect(DRAWN);
    i32::try_from(width * 1_164 / 1_240).unwrap_or(i32::MAX) + 1
}

/// As much of a text as fits, with an ellipsis where it was cut.
pub(in crate::report) fn fitting(canvas: &Canvas<'_>, text: &str, size: i32, room: i32) -> String {
    let mut kept = text.chars().count();
    let mut fitted = text.to_owned();
    while kept > 0 && text_width(canvas, &fitted, size) > room {
        kept -= 1;
        fitted = text.chars().take(kept).chain(['…']).collect();
    }
    fitted
}

/// A filled rectangle.
pub(in crate::report) fn fill(
    canvas: &Canvas<'_>,
    from: (i32, i32),
    to: (i32, i32),
    style: impl Into<ShapeStyle>,
) {
    canvas.draw(&Rectangle::new([from, to], style)).expect(DRAWN);
}
