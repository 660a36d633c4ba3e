//! How a figure depends on two things that vary: a cell for each configuration, its value written in it. Of three things
//! or more, one heat map for each combination of the others.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::{shade, short_name};
use crate::report::charts::paint::{self, Canvas, DRAWN, FAINT, INK, RIGHT_MARGIN, WIDTH, fitting, font};
use crate::report::comparison::figure::{Figure, Value};
use crate::report::comparison::summary::ComparisonSummary;
use crate::report::words::capital;

const TOP: i32 = 132;
const CELL_HEIGHT: i32 = 30;
const CELL_WIDTH: [i32; 2] = [8, 150];
/// For the name of a map among several.
const CAPTION: i32 = 26;
/// For the labels of columns and the name of their axis.
const BELOW: i32 = 46;
const GAP: i32 = 22;
/// More maps than this are not drawn.
const MAPS_MAX: usize = 60;
/// More rows than this get lower cells.
const TALL_ROWS_MAX: usize = 24;
const UNKNOWN: RGBColor = RGBColor(214, 214, 214);

/// The chart as SVG text.
pub(super) fn svg(summary: &ComparisonSummary, figure: Figure) -> String {
    let frame = paint::measured(|canvas| Frame::of(canvas, summary, figure));
    let rows = (frame.maps.min(MAPS_MAX) as i32 + frame.across - 1) / frame.across;
    let left_out = frame.maps.saturating_sub(MAPS_MAX);
    let height = TOP + rows * frame.height() + if left_out > 0 { 28 } else { 8 };
    paint::svg(height, |canvas| {
        let below = format!("{}.", capital(&figure.words()));
        paint::title(canvas, &format!("What matters? {}", summary.title), &below);
        frame.legend(canvas);
        if frame.maps > 1 {
            let [rows, columns] = [0, 1].map(|axis| short_name(summary, &summary.axes[axis]));
            let maps = match frame.named {
                true => String::new(),
                false => {
                    let others = summary.axes[2..].iter().map(|axis| short_name(summary, axis));
                    format!(" Maps: {}.", others.collect::<Vec<_>>().join(" · "))
                }
            };
            let text = format!("Rows: {rows}. Columns: {columns}.{maps}");
            paint::write(canvas, &fitting(canvas, &text, 14, WIDTH - 24 - RIGHT_MARGIN), 14, INK, (24, 108));
        }
        for map in 0..frame.maps.min(MAPS_MAX) {
            let (row, column) = (map as i32 / frame.across, map as i32 % frame.across);
            let corner = (24 + column * (frame.width() + GAP), TOP + row * frame.height());
            frame.draw(canvas, map, corner);
        }
        if left_out > 0 {
            let text = format!("{left_out} more of {} maps are not drawn.", frame.maps);
            paint::write(canvas, &text, 14, FAINT, (24, height - 28));
        }
    })
}

/// The shape of the maps, which they all share.
struct Frame<'a> {
    summary: &'a ComparisonSummary,
    figure: Figure,
    /// The least and largest known value.
    range: Option<(f64, f64)>,
    /// Combinations of the axes after the second.
    maps: usize,
    /// Maps beside each other.
    across: i32,
    row_labels: i32,
    cell: (i32, i32),
    /// Whether there is room above each of several maps for the names of the axes after the second, and not for
    /// their values alone.
    named: bool,
}

impl<'a> Frame<'a> {
    fn of(canvas: &Canvas<'_>, summary: &'a ComparisonSummary, figure: Figure) -> Self {
        let known: Vec<f64> = summary
            .configurations
            .iter()
            .filter_map(|configuration| match figure.of(configuration) {
                Value::Known(value) => Some(value),
                Value::Beyond | Value::Absent => None,
            })
            .collect();
        let range = known.iter().copied().reduce(f64::min).zip(known.iter().copied().reduce(f64::max));
        let width_of = |text: &String| paint::text_width(canvas, text, 13);
        let axes = &summary.axes;
        let named = paint::text_width(canvas, &short_name(summary, &axes[0]), 13).min(150);
        let row_labels = axes[0].values.iter().map(width_of).max().unwrap_or(0).min(150).max(named / 2) + 10;
        let columns = axes[1].values.len() as i32;
        let values = known.iter().map(|&value| figure.shown(value));
        let widest = values.map(|text| width_of(&text)).max().unwrap_or(0);
        let widest = axes[1].values.iter().map(|text| width_of(text).min(90)).fold(widest, i32::max) + 14;
        let room = WIDTH - 24 - RIGHT_MARGIN;
        let maps = axes[2..].iter().map(|axis| axis.values.len()).product();
        let most = ((room - row_labels) / columns).min(CELL_WIDTH[1]);
        // One map may be as wide as it likes; of several, as many beside each other as can be read.
        let wanted = if maps == 1 { most } else { widest.min(most) };
        let cell_width = wanted.max(CELL_WIDTH[0]);
        let across = ((room + GAP) / (row_labels + columns * cell_width + GAP)).max(1);
        let tall = axes[0].values.len() <= TALL_ROWS_MAX;
        let cell = (cell_width, if tall { CELL_HEIGHT } else { CELL_HEIGHT / 2 });
        let mut frame = Self { summary, figure, range, maps, across, row_labels, cell, named: true };
        let room = frame.width() - row_labels;
        frame.named =
            (0..maps.min(MAPS_MAX)).all(|map| paint::text_width(canvas, &frame.name_of(map), 14) <= room);
        frame
    }

    fn width(&self) -> i32 {
        self.row_labels + self.summary.axes[1].values.len() as i32 * self.cell.0
    }

    fn height(&self) -> i32 {
        CAPTION + self.summary.axes[0].values.len() as i32 * self.cell.1 + BELOW
    }

    fn share(&self, value: f64) -> f64 {
        match self.range {
            Some((least, most)) if most > least => (value - least) / (most - least),
            _ => 0.0,
        }
    }

    fn legend(&self, canvas: &Canvas<'_>) {
        let Some((least, most)) = self.range else {
            paint::write(canvas, "No configuration has this figure.", 15, FAINT, (24, 76));
            return;
        };
        let (left, top, width) = (24, 80, 220);
        let mut x = left;
        x = self.label(canvas, &self.figure.shown(least), x, top) + 8;
        for step in 0..width {
            let ink = shade(f64::from(step) / f64::from(width - 1));
            paint::fill(canvas, (x + step, top), (x + step + 1, top + 14), ink.filled());
        }
        x = self.label(canvas, &self.figure.shown(most), x + width + 8, top) + 30;
        let any = |wanted: fn(&Value) -> bool| {
            self.summary.configurations.iter().any(|one| wanted(&self.figure.of(one)))
        };
        if any(|value| *value == Value::Beyond) {
            paint::fill(canvas, (x, top), (x + 20, top + 14), UNKNOWN.filled());
            let text = "longer than the run: not all observations had ended";
            self.label(canvas, text, x + 26, top);
        } else if any(|value| *value == Value::Absent) {
            canvas
                .draw(&Rectangle::new([(x, top), (x + 20, top + 14)], UNKNOWN.stroke_width(1)))
                .expect(DRAWN);
            self.label(canvas, "nothing was observed", x + 26, top);
        }
    }

    /// Writes beside the legend; returns where the text ends.
    fn label(&self, canvas: &Canvas<'_>, text: &str, left: i32, top: i32) -> i32 {
        paint::write_at(canvas, text, font(14, INK), (HPos::Left, VPos::Center), (left, top + 7));
        left + paint::text_width(canvas, text, 14)
    }

    fn draw(&self, canvas: &Canvas<'_>, map: usize, (left, top): (i32, i32)) {
        let axes = &self.summary.axes;
        let (rows, columns) = (axes[0].values.len(), axes[1].values.len());
        let names = [0, 1].map(|axis| short_name(self.summary, &axes[axis]));
        let caption = if self.maps > 1 { self.name_of(map) } else { String::new() };
        let first = (left + self.row_labels, top + CAPTION);
        let fitted = fitting(canvas, &caption, 14, self.width() - self.row_labels);
        paint::write(canvas, &fitted, 14, INK, (first.0, top + 4));
        for row in 0..rows {
            let middle = first.1 + row as i32 * self.cell.1 + self.cell.1 / 2;
            let label = fitting(canvas, &axes[0].values[row], 13, self.row_labels - 8);
            let place = (first.0 - 8, middle);
            paint::write_at(canvas, &label, font(13, FAINT), (HPos::Right, VPos::Center), place);
            for column in 0..columns {
                let index = (row * columns + column) * self.maps + map;
                let corner = (first.0 + column as i32 * self.cell.0, first.1 + row as i32 * self.cell.1);
                self.draw_cell(canvas, index, corner);
            }
        }
        let bottom = first.1 + rows as i32 * self.cell.1;
        let mut free_from = 0;
        for (column, value) in axes[1].values.iter().enumerate() {
            let label = fitting(canvas, value, 13, self.cell.0.max(60) - 4);
            let half = paint::text_width(canvas, &label, 13) / 2;
            let middle = first.0 + column as i32 * self.cell.0 + self.cell.0 / 2;
            if middle - half >= free_from {
                let place = (middle, bottom + 6);
                paint::write_at(canvas, &label, font(13, FAINT), (HPos::Center, VPos::Top), place);
                free_from = middle + half + 6;
            }
        }
        // Several maps say once, above, what their rows and columns are.
        if self.maps == 1 {
            let across = fitting(canvas, &names[1], 13, WIDTH - RIGHT_MARGIN - first.0);
            paint::write(canvas, &across, 13, INK, (first.0, bottom + 26));
            let down = fitting(canvas, &names[0], 13, WIDTH - RIGHT_MARGIN - left);
            paint::write(canvas, &down, 13, INK, (left, top + 6));
        }
    }

    fn draw_cell(&self, canvas: &Canvas<'_>, index: usize, (left, top): (i32, i32)) {
        let corners = [(left, top), (left + self.cell.0 - 1, top + self.cell.1 - 1)];
        let (fill, ink, text) = match self.figure.of(&self.summary.configurations[index]) {
            Value::Known(value) => {
                let share = self.share(value);
                let ink = if share > 0.45 { WHITE } else { INK };
                (shade(share), ink, self.figure.shown(value))
            }
            Value::Beyond => (UNKNOWN, INK, "> run".to_owned()),
            Value::Absent => {
                canvas.draw(&Rectangle::new(corners, UNKNOWN.stroke_width(1))).expect(DRAWN);
                return;
            }
        };
        canvas.draw(&Rectangle::new(corners, fill.filled())).expect(DRAWN);
        let fits = self.cell.1 >= 18 && paint::text_width(canvas, &text, 13) <= self.cell.0 - 4;
        if fits {
            let middle = (left + self.cell.0 / 2, top + self.cell.1 / 2);
            paint::write_at(canvas, &text, font(13, ink), (HPos::Center, VPos::Center), middle);
        }
    }

    /// The values of the axes after the second, with their names if there is room.
    fn name_of(&self, map: usize) -> String {
        let values = &self.summary.configurations[map].values;
        let others = self.summary.axes.iter().zip(values).skip(2);
        let named = others.map(|(axis, value)| match self.named {
            true => format!("{}={value}", short_name(self.summary, axis)),
            false => value.clone(),
        });
        named.collect::<Vec<_>>().join(" · ")
    }
}
