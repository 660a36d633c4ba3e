//! Renewals against the threshold, minute by minute of the first replicate: when self-preservation was engaged,
//! and what was done to the fleet. Several servers have a panel each: which of them protects itself is the question.

use plotters::prelude::*;

use super::axis::TimeAxis;
use super::faults;
use super::paint::{self, Canvas, DRAWN, FAINT, INK, LEFT_AREA, RED};
use super::panels::{self, Panel};
use crate::model::id::ServerId;
use crate::model::stage::Stage;
use crate::observe::{Minute, ReplicateData};
use crate::report::servers::{TimelineSpan, server_name, standing};
use crate::report::{Contents, Report};

const TOP: i32 = 132;
/// The height of a panel, and of one among others.
const HEIGHT: i32 = 320;
const HEIGHT_AMONG_OTHERS: i32 = 120;
/// Lines have at most this many points, two a minute.
const MINUTES_DRAWN: usize = 1_500;

const RENEWALS_INK: RGBColor = paint::colour(Stage::Registry);
const THRESHOLD_INK: RGBColor = paint::colour(Stage::Served);

/// The chart as SVG text.
pub(super) fn svg(contents: &Contents<'_>) -> String {
    let report = contents.report;
    let replicate = report.data.replicates.first().filter(|replicate| !replicate.timeline.is_empty());
    let several = report.has_several_servers();
    let (height, left) = if several { (HEIGHT_AMONG_OTHERS, LEFT_AREA) } else { (HEIGHT, 64) };
    let panels = panels::stacked(panels::shown(report).len(), TOP, height, left);
    let left_out = panels::left_out(report);
    let bottom = panels::bottom(&panels, TOP);
    paint::svg(bottom + 12 + if left_out.is_some() { 18 } else { 0 }, |canvas| {
        let title = format!("Does the registry believe its clients? {}", report.scenario.title);
        let who = if several { "each server knows" } else { "the server knows" };
        let below = format!(
            "Renewals of the last full minute against the threshold, as {who} them, in the first replicate."
        );
        paint::title(canvas, &title, &below);
        legend(canvas);
        match replicate {
            Some(replicate) => draw(canvas, report, replicate, &panels),
            None => paint::write(canvas, "No minute was counted.", 15, FAINT, (24, TOP + 10)),
        }
        if let Some(note) = &left_out {
            paint::write(canvas, note, 14, FAINT, (24, bottom + 4));
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

fn draw(canvas: &Canvas<'_>, report: &Report<'_>, replicate: &ReplicateData, panels: &[Panel]) {
    let servers: Vec<(ServerId, Vec<TimelineSpan<'_>>)> =
        panels::shown(report).into_iter().map(|server| (server, standing(replicate, server))).collect();
    let rows = || servers.iter().flat_map(|(_, rows)| rows);
    let top = rows().map(|row| row.minute.renewals.max(row.minute.threshold)).max().unwrap_or(0);
    // One scale for all, so that they can be compared.
    let ceiling = (f64::from(top) * 1.12).max(4.0);
    let axis = TimeAxis::over(0, replicate.ended_at.as_millis().max(1), 10);
    let marks = if panels.len() > 1 { 3 } else { 6 };
    for (place, (panel, (server, rows))) in panels.iter().zip(&servers).enumerate() {
        let area = panel.area(canvas);
        let mut chart = panel.chart(&area, &axis, ceiling);
        for (from, to) in protected(rows) {
            let shade = Rectangle::new([(from, 0.0), (to, ceiling)], FAINT.mix(0.25).filled());
            chart.draw_series([shade]).expect(DRAWN);
        }
        panels::mesh(&mut chart, marks, &|renewals| format!("{renewals:.0}"));
        faults::draw(&mut chart, replicate, ceiling);
        let stride = rows.len().div_ceil(MINUTES_DRAWN).max(1);
        for life in lives(rows) {
            for (value, ink) in LINES {
                let line = LineSeries::new(steps(life, stride, value), ink.stroke_width(2));
                chart.draw_series(line).expect(DRAWN);
            }
        }
        if panels.len() > 1 {
            panel.name(canvas, &server_name(*server));
        }
        if place == 0 {
            faults::name(canvas, &replicate.faults, TOP, |at| chart.backend_coord(&(at, 0.0)).0);
        }
    }
}

/// A line: what of a minute it shows, and its colour.
type Line = (fn(&Minute) -> u32, RGBColor);

/// The lines, in the order in which they are drawn.
const LINES: [Line; 2] =
    [(|minute| minute.threshold, THRESHOLD_INK), (|minute| minute.renewals, RENEWALS_INK)];

/// What a tick of the bucket shows holds until the next one: so does the verdict on self-preservation. A long life is
/// thinned evenly, and its last minute stays.
fn steps(life: &[TimelineSpan<'_>], stride: usize, value: fn(&Minute) -> u32) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let kept = life.iter().enumerate().filter(|(index, _)| (life.len() - 1 - index).is_multiple_of(stride));
    for (_, row) in kept {
        let (at, shown) = (row.minute.at.as_millis() as f64, f64::from(value(row.minute)));
        points.extend(points.last().map(|&(_, before)| (at, before)));
        points.push((at, shown));
    }
    let end = life.last().map(|row| row.until.as_millis() as f64);
    points.extend(points.last().zip(end).map(|(&(_, last), end)| (end, last)));
    points
}

/// The minutes of each of a server's lives: where rows follow each other.
fn lives<'a, 'b>(rows: &'a [TimelineSpan<'b>]) -> impl Iterator<Item = &'a [TimelineSpan<'b>]> {
    rows.chunk_by(|row, next| row.until == next.minute.at)
}

/// Periods in which self-preservation was engaged, ms: each row says how it stands until the next.
fn protected(rows: &[TimelineSpan<'_>]) -> Vec<(f64, f64)> {
    let mut periods: Vec<(f64, f64)> = Vec::new();
    for row in rows.iter().filter(|row| row.minute.self_preservation) {
        let (from, to) = (row.minute.at.as_millis() as f64, row.until.as_millis() as f64);
        match periods.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => periods.push((from, to)),
        }
    }
    periods
}
