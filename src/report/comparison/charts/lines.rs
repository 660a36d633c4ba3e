//! How T_D depends on the one thing that varies: a panel for each stage, the value below, and in it the mean, the
//! median and the 99th percentile over the closed form's mean.
//!
//! Values that are numbers in ascending order stand where they are, on a logarithmic axis if they span more than a
//! factor of thirty, and are joined by lines. Others stand side by side, numbered as in the table if their names are
//! too long to stand below.

use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::curves::{LEGEND_ROW, layout, shortened};
use super::{is_scenarios, numbers, short_name};
use crate::model::stage::{EventKind, Stage};
use crate::report::charts::axis::TimeAxis;
use crate::report::charts::paint::{
    self, Canvas, DRAWN, FAINT, GRID, INK, RIGHT_MARGIN, WIDTH, colour, fitting, font,
};
use crate::report::comparison::summary::{ComparisonSummary, ConfigurationSummary};
use crate::report::stages::StageSummary;
use crate::report::words::{capital, caption};

const TOP: i32 = 104;
const CAPTION: i32 = 30;
const PANEL: i32 = 250;
const AXIS: i32 = 40;
const LEFT: i32 = 64;
const COLUMNS: i32 = 2;
/// More values than this get small dots.
const CROWDED: usize = 15;
/// Values that span more than this are drawn on a logarithmic axis.
const LOG_RATIO: f64 = 30.0;

/// The chart as SVG text.
pub(super) fn svg(summary: &ComparisonSummary) -> String {
    let events: Vec<(EventKind, Vec<Stage>)> =
        summary.events_watched().into_iter().map(|event| (event, summary.stages_watched(event))).collect();
    let rows = |stages: &[Stage]| (stages.len() as i32 + COLUMNS - 1) / COLUMNS;
    let heights = events.iter().map(|(_, stages)| CAPTION + rows(stages) * PANEL);
    let name = short_name(summary, &summary.axes[0]);
    let axis = paint::measured(|canvas| Values::of(canvas, summary));
    let labels = if axis.numbered { key(summary, &name) } else { Vec::new() };
    let places = paint::measured(|canvas| layout(canvas, &labels, 0));
    let above = TOP + places.last().map_or(0, |(_, top)| top + LEGEND_ROW + 8);
    paint::svg(above + heights.sum::<i32>().max(60), |canvas| {
        let question = if is_scenarios(&summary.axes[0]) {
            "Which is faster?".to_owned()
        } else {
            format!("What does {name} change?")
        };
        let log = if axis.log { ", on a logarithmic axis" } else { "" };
        let no_stage = if summary.mixes_registries() { " –: its registry has no such stage." } else { "" };
        let below =
            format!("Detection times, by {name}{log}. A figure that is not known is left out.{no_stage}");
        paint::title(canvas, &format!("{question} {}", summary.title), &below);
        if events.is_empty() {
            paint::write(canvas, "No event was watched.", 15, FAINT, (24, TOP - 24));
            return;
        }
        legend(canvas);
        for (index, (label, &(left, top))) in labels.iter().zip(&places).enumerate() {
            let ink = if index == 0 { FAINT } else { INK };
            paint::write(canvas, &shortened(canvas, label), 14, ink, (left, TOP - 4 + top));
        }
        let mut top = above;
        for (event, stages) in &events {
            paint::write(canvas, &capital(&caption(*event, "a stage")), 16, INK, (24, top));
            top += CAPTION;
            for (index, &stage) in stages.iter().enumerate() {
                let (row, column) = (index as i32 / COLUMNS, index as i32 % COLUMNS);
                let width = (WIDTH - RIGHT_MARGIN) / COLUMNS;
                let corner = (column * width, top + row * PANEL);
                draw_panel(canvas, summary, (*event, stage), &axis, corner, width);
            }
            top += rows(stages) * PANEL;
        }
    })
}

/// What the numbers below the panels stand for.
fn key(summary: &ComparisonSummary, name: &str) -> Vec<String> {
    let numbered =
        summary.axes[0].values.iter().enumerate().map(|(index, value)| format!("#{} {value}", index + 1));
    std::iter::once(format!("{name}:")).chain(numbered).collect()
}

/// Where values stand, and how they are called.
#[derive(Clone)]
struct Values {
    /// Ascending.
    places: Vec<f64>,
    labels: Vec<String>,
    joined: bool,
    log: bool,
    /// Whether they are called by their numbers, since their names have no room.
    numbered: bool,
    /// Places whose label has room.
    labelled: Vec<f64>,
}

impl Values {
    fn of(canvas: &Canvas<'_>, summary: &ComparisonSummary) -> Self {
        let axis = &summary.axes[0];
        let numbers = numbers(axis).filter(|numbers| numbers.len() > 1);
        let joined = numbers.is_some();
        let ratio = |numbers: &[f64]| numbers[numbers.len() - 1] / numbers[0];
        let log = numbers.as_ref().is_some_and(|all| all[0] > 0.0 && ratio(all) > LOG_RATIO);
        let places: Vec<f64> = match numbers {
            Some(numbers) if log => numbers.into_iter().map(libm::log10).collect(),
            Some(numbers) => numbers,
            None => (0..axis.values.len()).map(|index| index as f64).collect(),
        };
        let labels = axis.values.clone();
        let mut values = Self { places, labels, joined, log, numbered: false, labelled: Vec::new() };
        // The last value's label first, then from the left those that have room before it.
        let pixels = (0, (WIDTH - RIGHT_MARGIN) / COLUMNS - LEFT - 12);
        let count = values.places.len() as i32;
        let room = |joined: bool| if joined { pixels.1 / 2 } else { pixels.1 / count.max(1) - 6 };
        let room = room(joined).max(30);
        values.numbered =
            !joined && axis.values.iter().any(|label| paint::text_width(canvas, label, 13) > room);
        for (index, label) in values.labels.iter_mut().enumerate() {
            let number = || format!("#{}", index + 1);
            *label = if values.numbered { number() } else { fitting(canvas, label, 13, room) };
        }
        let span = |index: usize| {
            let middle = values.map(&values.places[index], pixels);
            let half = paint::text_width(canvas, &values.labels[index], 13) / 2 + 4;
            (middle - half, middle + half)
        };
        let last = values.places.len() - 1;
        let limit = span(last).0;
        let mut free_from = i32::MIN;
        let mut labelled = Vec::new();
        for index in 0..last {
            let (from, to) = span(index);
            if from >= free_from && to <= limit {
                labelled.push(values.places[index]);
                free_from = to;
            }
        }
        labelled.push(values.places[last]);
        values.labelled = labelled;
        values
    }

    /// The range with some room on both sides.
    fn ends(&self) -> (f64, f64) {
        let (first, last) = (self.places[0], self.places[self.places.len() - 1]);
        let margin = if self.joined { (last - first) * 0.06 } else { 0.5 };
        let margin = if margin > 0.0 { margin } else { 0.5 };
        (first - margin, last + margin)
    }
}

impl Ranged for Values {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (first, last) = self.ends();
        let share = (value - first) / (last - first);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.labelled.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        let (first, last) = self.ends();
        first..last
    }
}

impl ValueFormatter<f64> for Values {
    fn format_ext(&self, value: &f64) -> String {
        let place = self.places.iter().position(|place| place == value);
        place.map(|place| self.labels[place].clone()).unwrap_or_default()
    }
}

fn legend(canvas: &Canvas<'_>) {
    let ink = colour(Stage::Registry);
    let mut left = 24;
    let mut entry = |draw: &dyn Fn(i32), text: &str| {
        draw(left);
        paint::write(canvas, text, 14, INK, (left + 28, 72));
        left += 28 + paint::text_width(canvas, text, 14) + 26;
    };
    let dot = |left: i32, size: i32, style: ShapeStyle| {
        canvas.draw(&Circle::new((left + 11, 79), size, style)).expect(DRAWN);
    };
    entry(
        &|left| paint::fill(canvas, (left, 73), (left + 22, 85), ink.mix(0.15).filled()),
        "least to longest",
    );
    entry(&|left| dot(left, 4, ink.stroke_width(2)), "p99");
    entry(&|left| dot(left, 4, ink.filled()), "mean");
    entry(&|left| dot(left, 2, INK.filled()), "median");
    entry(
        &|left| {
            paint::fill(canvas, (left, 78), (left + 9, 80), FAINT.filled());
            paint::fill(canvas, (left + 13, 78), (left + 22, 80), FAINT.filled());
        },
        "mean by closed form",
    );
}

fn draw_panel(
    canvas: &Canvas<'_>,
    summary: &ComparisonSummary,
    (event, stage): (EventKind, Stage),
    values: &Values,
    (left, top): (i32, i32),
    width: i32,
) {
    let rows: Vec<Option<&StageSummary>> = summary
        .configurations
        .iter()
        .map(|configuration| Some(&configuration.stage(event, stage)?.figures))
        .collect();
    let all = summary.configurations.iter().flat_map(|configuration| &configuration.stages);
    let most = all
        .filter(|row| row.figures.event == event)
        .flat_map(|row| {
            [row.figures.max_ms, row.figures.p99_ms, row.figures.p50_ms, row.figures.bound_mean_ms]
        })
        .flatten();
    let axis = TimeAxis::over(0, most.max().unwrap_or(60_000), 6);
    let axis_start = axis.range().start;
    let area = canvas.clone().shrink((left, top + 20), (width, PANEL - 28));
    let mut chart = ChartBuilder::on(&area)
        .set_label_area_size(LabelAreaPosition::Left, LEFT)
        .set_label_area_size(LabelAreaPosition::Bottom, AXIS)
        .margin_right(12)
        .build_cartesian_2d(values.clone(), axis)
        .expect(DRAWN);
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .label_style(font(13, FAINT))
        .draw()
        .expect(DRAWN);
    paint::write_at(canvas, stage.name(), font(15, INK), (HPos::Left, VPos::Top), (left + LEFT, top));
    draw_figures(&mut chart, values, &rows, colour(stage));
    let lacks = |configuration: &ConfigurationSummary| configuration.quality_at(stage).is_none();
    for (place, _) in values.places.iter().zip(&summary.configurations).filter(|(_, one)| lacks(one)) {
        let (x, y) = chart.backend_coord(&(*place, axis_start));
        paint::write_at(canvas, "–", font(15, FAINT), (HPos::Center, VPos::Bottom), (x, y - 4));
    }
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Values, TimeAxis>>;

/// Draws the range, the closed form, and above them the figures.
fn draw_figures(chart: &mut Chart<'_, '_>, values: &Values, rows: &[Option<&StageSummary>], ink: RGBColor) {
    let places = || values.places.iter().copied().zip(rows);
    let line = |pick: fn(&StageSummary) -> Option<u64>| -> Vec<(f64, f64)> {
        places().filter_map(|(place, row)| Some((place, pick((*row)?)? as f64))).collect()
    };
    let (least, longest) = (line(|row| row.min_ms.filter(|_| row.max_ms.is_some())), line(|row| row.max_ms));
    if values.joined {
        let around: Vec<(f64, f64)> = least.iter().copied().chain(longest.iter().rev().copied()).collect();
        if around.len() > 2 {
            chart.draw_series([Polygon::new(around, ink.mix(0.15))]).expect(DRAWN);
        }
    } else {
        for (&(place, from), &(_, to)) in least.iter().zip(&longest) {
            let corners = [(place - 0.2, from), (place + 0.2, to)];
            chart.draw_series([Rectangle::new(corners, ink.mix(0.15).filled())]).expect(DRAWN);
        }
    }
    let closed = line(|row| row.bound_mean_ms);
    if values.joined {
        chart.draw_series(DashedLineSeries::new(closed, 5, 4, FAINT.into())).expect(DRAWN);
    } else {
        for (place, ms) in closed {
            let ends = [(place - 0.3, ms), (place + 0.3, ms)];
            chart.draw_series(DashedLineSeries::new(ends, 5, 4, FAINT.into())).expect(DRAWN);
        }
    }
    let (tail, mean, median) = (line(|row| row.p99_ms), line(|row| row.mean_ms), line(|row| row.p50_ms));
    if values.joined {
        chart.draw_series(LineSeries::new(tail.clone(), ink.stroke_width(1))).expect(DRAWN);
        chart.draw_series(LineSeries::new(mean.clone(), ink.stroke_width(2))).expect(DRAWN);
    }
    let dots = |points: Vec<(f64, f64)>, size: i32, style: ShapeStyle| {
        points.into_iter().map(move |point| Circle::new(point, size, style))
    };
    let (large, small) = if values.places.len() > CROWDED { (2, 1) } else { (4, 2) };
    chart.draw_series(dots(tail.clone(), large, WHITE.filled())).expect(DRAWN);
    chart.draw_series(dots(tail, large, ink.stroke_width(2))).expect(DRAWN);
    chart.draw_series(dots(mean, large, ink.filled())).expect(DRAWN);
    chart.draw_series(dots(median, small, INK.filled())).expect(DRAWN);
}
