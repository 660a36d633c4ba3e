//! Renewals against the threshold, minute by minute of the first replicate: when self-preservation was engaged,
//! and what was done to the fleet.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::TimeAxis;
use super::paint::{self, Canvas, DRAWN, FAINT, GRID, INK, RED, RIGHT_MARGIN, WIDTH, font};
use crate::model::stage::Stage;
use crate::observe::{Injected, ReplicateData};
use crate::report::Contents;

const TOP: i32 = 132;
const HEIGHT: i32 = 320;
const AXIS: i32 = 44;
/// Faults are named in so many rows above the chart.
const NAME_ROWS: usize = 2;
/// More faults than this are not drawn one by one.
const FAULTS_DRAWN: usize = 200;
/// Lines have at most this many points, two a minute.
const MINUTES_DRAWN: usize = 1_500;

const RENEWALS_INK: RGBColor = paint::colour(Stage::Registry);
const THRESHOLD_INK: RGBColor = paint::colour(Stage::Served);

/// The chart as SVG text.
pub(super) fn svg(contents: &Contents<'_>) -> String {
    let replicate = contents.report.data.replicates.first();
    paint::svg(TOP + HEIGHT + AXIS + 12, |canvas| {
        let title = format!("Does the registry believe its clients? {}", contents.report.scenario.title);
        let below = "Renewals of the last full minute against the threshold, as the server knows them, in the first replicate.";
        paint::title(canvas, &title, below);
        legend(canvas);
        match replicate.filter(|replicate| !replicate.timeline.is_empty()) {
            Some(replicate) => draw(canvas, replicate),
            None => paint::write(canvas, "No minute was counted.", 15, FAINT, (24, TOP + 10)),
        }
    })
}

fn legend(canvas: &Canvas<'_>) {
    let line = |left: i32, ink: RGBColor| paint::fill(canvas, (left, 80), (left + 20, 83), ink.filled());
    line(24, RENEWALS_INK);
    paint::write(canvas, "renewals", 14, INK, (50, 76));
    line(136, THRESHOLD_INK);
    paint::write(canvas, "threshold", 14, INK, (162, 76));
    paint::fill(canvas, (252, 74), (272, 88), FAINT.mix(0.25).filled());
    paint::write(canvas, "self-preservation engaged: nothing is evicted", 14, INK, (278, 76));
    line(606, RED);
    paint::write(canvas, "fault", 14, INK, (632, 76));
}

fn draw(canvas: &Canvas<'_>, replicate: &ReplicateData) {
    let minutes = thinned(replicate);
    let top = minutes.iter().map(|minute| minute.renewals.max(minute.threshold)).max().unwrap_or(0);
    let axis = TimeAxis::over(0, replicate.ended_at.as_millis().max(1), 10);
    let end = replicate.ended_at.as_millis() as f64;
    let ceiling = (f64::from(top) * 1.12).max(4.0);
    let area = canvas.clone().shrink((0, TOP), (WIDTH - RIGHT_MARGIN, HEIGHT + AXIS));
    let mut chart = ChartBuilder::on(&area)
        .set_label_area_size(LabelAreaPosition::Left, 64)
        .set_label_area_size(LabelAreaPosition::Bottom, AXIS)
        .build_cartesian_2d(axis, RangedCoordf64::from(0.0..ceiling))
        .expect(DRAWN);
    for (from, to) in protected(replicate) {
        let shade = Rectangle::new([(from, 0.0), (to.min(end), ceiling)], FAINT.mix(0.25).filled());
        chart.draw_series([shade]).expect(DRAWN);
    }
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .y_labels(6)
        .y_label_formatter(&|renewals| format!("{renewals:.0}"))
        .label_style(font(14, FAINT))
        .draw()
        .expect(DRAWN);
    let faults = replicate.faults.iter().take(FAULTS_DRAWN);
    let marks = faults.map(|fault| fault.at.as_millis() as f64);
    let ink = RED.mix(if replicate.faults.len() > 20 { 0.4 } else { 1.0 });
    let marks = marks.map(|at| PathElement::new([(at, 0.0), (at, ceiling)], ink));
    chart.draw_series(marks).expect(DRAWN);
    // What has a length is a bar along the upper edge.
    let lengths =
        replicate.faults.iter().take(FAULTS_DRAWN).filter_map(|fault| Some((fault.at, fault.until?)));
    let bars = lengths.map(|(at, until)| {
        let (at, until) = (at.as_millis() as f64, (until.as_millis() as f64).min(end));
        Rectangle::new([(at, ceiling * 0.985), (until, ceiling)], ink.filled())
    });
    chart.draw_series(bars).expect(DRAWN);
    // What a tick of the bucket shows holds until the next one: so does the verdict on self-preservation.
    let steps = |value: fn(&crate::observe::Minute) -> u32| {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for minute in &minutes {
            let (at, shown) = (minute.at.as_millis() as f64, f64::from(value(minute)));
            points.extend(points.last().map(|&(_, before)| (at, before)));
            points.push((at, shown));
        }
        points.extend(points.last().map(|&(_, last)| (end, last)));
        points
    };
    let threshold = LineSeries::new(steps(|minute| minute.threshold), THRESHOLD_INK.stroke_width(2));
    chart.draw_series(threshold).expect(DRAWN);
    let renewals = LineSeries::new(steps(|minute| minute.renewals), RENEWALS_INK.stroke_width(2));
    chart.draw_series(renewals).expect(DRAWN);
    name_faults(canvas, &replicate.faults, |at| chart.backend_coord(&(at, 0.0)).0);
}

/// The minutes, evenly thinned for a long run. The last one stays.
fn thinned(replicate: &ReplicateData) -> Vec<crate::observe::Minute> {
    let all = &replicate.timeline;
    let stride = all.len().div_ceil(MINUTES_DRAWN).max(1);
    let kept = all.iter().enumerate().filter(|(index, _)| (all.len() - 1 - index).is_multiple_of(stride));
    kept.map(|(_, minute)| minute.clone()).collect()
}

/// Periods in which self-preservation was engaged, ms: each row says how it stands until the next.
fn protected(replicate: &ReplicateData) -> Vec<(f64, f64)> {
    let mut periods: Vec<(f64, f64)> = Vec::new();
    let ends = replicate.timeline.iter().skip(1).map(|minute| minute.at);
    for (minute, end) in replicate.timeline.iter().zip(ends.chain([replicate.ended_at])) {
        let (from, to) = (minute.at.as_millis() as f64, end.as_millis() as f64);
        match periods.last_mut() {
            _ if !minute.self_preservation => {}
            Some(last) if last.1 == from => last.1 = to,
            _ => periods.push((from, to)),
        }
    }
    periods
}

/// Writes what was done above the chart, where there is room; the rest is counted.
fn name_faults(canvas: &Canvas<'_>, faults: &[Injected], pixel_of: impl Fn(f64) -> i32) {
    let mut free_from = [0; NAME_ROWS];
    let mut unnamed = 0;
    for fault in faults {
        let text = if fault.targets == 1 {
            fault.verb.to_owned()
        } else {
            format!("{} of {}", fault.verb, fault.targets)
        };
        let width = paint::text_width(canvas, &text, 13);
        let at = pixel_of(fault.at.as_millis() as f64).min(WIDTH - RIGHT_MARGIN - width / 2);
        match free_from.iter().position(|&free| free <= at - width / 2) {
            Some(row) => {
                free_from[row] = at + width / 2 + 8;
                let baseline = TOP - 6 - 16 * row as i32;
                let place = (HPos::Center, VPos::Bottom);
                paint::write_at(canvas, &text, font(13, RED), place, (at, baseline));
            }
            None => unnamed += 1,
        }
    }
    if unnamed > 0 {
        let text = format!("and {unnamed} more");
        let place = (WIDTH - RIGHT_MARGIN, 76);
        paint::write_at(canvas, &text, font(13, RED), (HPos::Right, VPos::Top), place);
    }
}
