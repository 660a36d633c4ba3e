//! How T_D is distributed: a panel for each stage, and in it a curve for each configuration.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::{Curve, Stroke, names, strokes, values};
use crate::model::stage::{EventKind, Stage};
use crate::report::charts::axis::TimeAxis;
use crate::report::charts::paint::{
    self, Canvas, DRAWN, FAINT, INK, LEFT_AREA, RIGHT_MARGIN, WIDTH, fitting, font,
};
use crate::report::charts::panels::{self, AXIS};
use crate::report::comparison::Comparison;
use crate::report::words::{capital, caption};

const TOP: i32 = 76;
pub(super) const LEGEND_ROW: i32 = 20;
const CAPTION: i32 = 28;
const PANEL: i32 = 150;

/// A panel: its stage, and for each configuration its curve, if anything was observed there.
type Panel<'a> = (Stage, Vec<Option<&'a Curve>>);

/// The chart as SVG text.
pub(super) fn svg(comparison: &Comparison) -> String {
    let summary = &comparison.summary;
    let events: Vec<(EventKind, Vec<Panel<'_>>)> =
        summary.events_watched().into_iter().map(|event| (event, panels_of(comparison, event))).collect();
    let strokes = strokes(summary);
    let mut labels = vec![format!("{}:", names(summary))];
    labels.extend(summary.configurations.iter().map(values));
    let legend = paint::measured(|canvas| layout(canvas, &labels, 28));
    let legend_height = legend.last().map_or(0, |(_, top)| top + LEGEND_ROW) + 12;
    let heights = events.iter().map(|(_, panels)| CAPTION + panels.len() as i32 * PANEL + AXIS);
    let height = TOP + legend_height + heights.sum::<i32>().max(60);
    paint::svg(height, |canvas| {
        let title = format!("How long until it shows? {}", summary.title);
        let below = "Share of observations ended by then; what is missing had not ended when the run did. \
                     Where curves coincide, the last lies on top.";
        paint::title(canvas, &title, below);
        draw_legend(canvas, &labels, &legend, &strokes);
        let mut top = TOP + legend_height;
        for (event, panels) in &events {
            paint::write(canvas, &capital(&caption(*event, "a stage")), 16, INK, (24, top));
            top += CAPTION;
            let ends = || panels.iter().flat_map(|(_, curves)| curves).flatten().flat_map(|curve| &curve.0);
            let (least, most) =
                ends().fold((f64::MAX, 0.0_f64), |(least, most), &(ms, _)| (least.min(ms), most.max(ms)));
            let axis = TimeAxis::over(least.min(most) as u64, most as u64, 9);
            for (index, panel) in panels.iter().enumerate() {
                draw_panel(canvas, panel, &strokes, &axis, top, index + 1 == panels.len());
                top += PANEL;
            }
            top += AXIS;
        }
    })
}

fn panels_of(comparison: &Comparison, event: EventKind) -> Vec<Panel<'_>> {
    let summary = &comparison.summary;
    let stages = summary.stages_watched(event).into_iter();
    let curves = |stage: Stage| {
        let all = summary.configurations.iter().zip(&comparison.curves);
        all.map(|(configuration, curves)| {
            let rows = configuration.stages.iter();
            let named = rows.map(|row| row.figures.event == event && row.figures.stage == stage);
            named.zip(curves).find_map(|(wanted, curve)| wanted.then_some(curve))
        })
        .collect()
    };
    stages.map(|stage| (stage, curves(stage))).collect()
}

/// Where the labels of the legend stand, the heading and then what has a swatch of this width before it: from the
/// left, in rows.
pub(super) fn layout(canvas: &Canvas<'_>, labels: &[String], swatch: i32) -> Vec<(i32, i32)> {
    let (mut left, mut top) = (24, 0);
    let mut places = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        let swatch = if index == 0 { 0 } else { swatch };
        let width = swatch + paint::text_width(canvas, &shortened(canvas, label), 14) + 22;
        if left > 24 && left + width > WIDTH - RIGHT_MARGIN {
            (left, top) = (24, top + LEGEND_ROW);
        }
        places.push((left, top));
        left += width;
    }
    places
}

/// As much of a label as the legend has room for.
pub(super) fn shortened(canvas: &Canvas<'_>, label: &str) -> String {
    fitting(canvas, label, 14, WIDTH / 2)
}

fn draw_legend(canvas: &Canvas<'_>, labels: &[String], places: &[(i32, i32)], strokes: &[Stroke]) {
    for (index, (label, &(left, top))) in labels.iter().zip(places).enumerate() {
        let top = TOP + top;
        let text = shortened(canvas, label);
        let Some(stroke) = index.checked_sub(1).map(|index| &strokes[index]) else {
            paint::write(canvas, &text, 14, FAINT, (left, top));
            continue;
        };
        if stroke.dashed {
            paint::fill(canvas, (left, top + 6), (left + 9, top + 9), stroke.ink.filled());
            paint::fill(canvas, (left + 13, top + 6), (left + 22, top + 9), stroke.ink.filled());
        } else {
            paint::fill(canvas, (left, top + 6), (left + 22, top + 9), stroke.ink.filled());
        }
        paint::write(canvas, &text, 14, INK, (left + 28, top));
    }
}

fn draw_panel(
    canvas: &Canvas<'_>,
    (stage, curves): &Panel<'_>,
    strokes: &[Stroke],
    axis: &TimeAxis,
    top: i32,
    last: bool,
) {
    let place = panels::Panel { top, height: PANEL - 14, left: LEFT_AREA, is_last: last };
    let area = place.area(canvas);
    let mut chart = place.shares(&area, axis);
    let range = axis.range();
    for (curve, stroke) in curves.iter().zip(strokes) {
        let Some(curve) = curve else { continue };
        let mut points = vec![(range.start, 0.0)];
        for &(ms, share) in &curve.0 {
            points.push((ms, points[points.len() - 1].1));
            points.push((ms, share));
        }
        points.push((range.end, points[points.len() - 1].1));
        if stroke.dashed {
            let dashes = DashedLineSeries::new(points, 7, 5, stroke.ink.stroke_width(2));
            chart.draw_series(dashes).expect(DRAWN);
        } else {
            chart.draw_series(LineSeries::new(points, stroke.ink.stroke_width(2))).expect(DRAWN);
        }
    }
    let middle = top + (PANEL - 14) / 2;
    paint::write_at(canvas, stage.name(), font(16, INK), (HPos::Left, VPos::Center), (24, middle));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::comparison::fixtures;

    #[test]
    fn a_curve_is_that_of_its_configuration_where_others_have_none() {
        let mut comparison = fixtures::comparison(fixtures::scenarios(3));
        comparison.summary.configurations[0].stages.clear();
        comparison.curves[0].clear();
        for (_, curves) in panels_of(&comparison, EventKind::Crash) {
            assert_eq!(curves.len(), 3);
            assert!(curves[0].is_none() && curves[1].is_some() && curves[2].is_some());
        }
        // The first of three colours is in the legend, and nowhere else.
        let first = |svg: &str| svg.matches(&hex(strokes(&comparison.summary)[0].ink)).count();
        assert_eq!(first(&svg(&comparison)), 1);
    }

    fn hex(ink: RGBColor) -> String {
        format!("#{:02X}{:02X}{:02X}", ink.0, ink.1, ink.2)
    }
}
