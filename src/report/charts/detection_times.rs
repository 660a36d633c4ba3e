//! How T_D is distributed: for each stage, the share of observations that have ended by then, over the range
//! that the closed form gives.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::TimeAxis;
use super::paint::{self, Canvas, DRAWN, FAINT, INK, LEFT_AREA, RIGHT_MARGIN, WIDTH, colour, fitting, font};
use super::panels::{self, AXIS};
use crate::analysis::Reason;
use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};
use crate::observe::Outcome;
use crate::report::Report;
use crate::report::length::in_seconds;
use crate::report::stages::{StageSummary, rows_by_stage};
use crate::report::summary::Summary;
use crate::report::words::{capital, caption};
use crate::sweep::Sample;

const TOP: i32 = 76;
const PANEL: i32 = 118;
const EVENT_GAP: i32 = 34;
/// A line below an event's caption that says why there is no closed form.
const REASON: i32 = 20;
/// A curve has at most this many steps, each two points.
const STEPS: usize = 1_000;

/// Detection times that were measured at a real set-up, to be put on a chart as dots.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Of which event.
    pub event: EventKind,
    /// At which stage.
    pub stage: Stage,
    /// How long each took.
    pub lengths: Vec<SimDuration>,
}

/// The chart as SVG text, with a dot for every recorded value.
pub fn detection_times_svg(report: &Report<'_>, summary: &Summary, recorded: &[Recorded]) -> String {
    let events: Vec<Vec<Panel<'_>>> =
        summary.events_watched().map(|event| panels_of(report, summary, recorded, event)).collect();
    let heights = events
        .iter()
        .map(|panels| panels.len() as i32 * PANEL + AXIS + reasons(panels).len() as i32 * REASON);
    let gaps = EVENT_GAP * events.len() as i32;
    let height = TOP + heights.sum::<i32>() + gaps;
    let dots = if recorded.is_empty() { "" } else { " Dots: recorded at a real set-up." };
    paint::svg(height.max(TOP + 60), |canvas| {
        let title = format!("How long until it shows? {}", report.scenario.title);
        let below =
            "Share of observations ended by then. Shaded: closed form, earliest to latest; dashed: its mean.";
        paint::title(canvas, &title, &format!("{below}{dots}"));
        if events.is_empty() {
            paint::write(canvas, "No event was watched.", 15, FAINT, (24, TOP + 10));
        }
        let mut top = TOP;
        for panels in &events {
            paint::write(canvas, &capital(&caption(panels[0].event, "the stage")), 16, INK, (24, top));
            top += EVENT_GAP - 8;
            for reason in reasons(panels) {
                let fitted = fitting(canvas, &reason, 14, WIDTH - RIGHT_MARGIN - 24);
                paint::write(canvas, &fitted, 14, FAINT, (24, top - 2));
                top += REASON;
            }
            draw_event(canvas, panels, top);
            top += panels.len() as i32 * PANEL + AXIS + 8;
        }
    })
}

/// One stage's part of the chart.
struct Panel<'a> {
    event: EventKind,
    stage: Stage,
    figures: &'a StageSummary,
    sample: Sample,
    /// The longest that anything was watched without an end.
    longest_wait_ms: u64,
    recorded: Vec<f64>,
    /// Whether notes stand before a curve that is late: a two-stage registry's stages lie far apart.
    notes_give_way: bool,
}

fn panels_of<'a>(
    report: &Report<'_>,
    summary: &'a Summary,
    recorded: &[Recorded],
    event: EventKind,
) -> Vec<Panel<'a>> {
    let rows = rows_by_stage(report.data);
    let panel = |stage| {
        let figures = summary.stage(event, stage)?;
        let own = || rows.get(&(event, stage)).into_iter().flatten().flatten().copied();
        let waits = own().filter_map(|row| match row.outcome {
            Outcome::Censored(length) | Outcome::Superseded(length) => Some(length.as_millis()),
            Outcome::Detected(_) => None,
        });
        let longest_wait_ms = waits.max().unwrap_or(0);
        let measured = recorded.iter().filter(|row| row.event == event && row.stage == stage);
        let mut recorded: Vec<u64> =
            measured.flat_map(|row| &row.lengths).map(|length| length.as_millis()).collect();
        recorded.sort_unstable();
        let recorded = recorded.into_iter().map(|ms| ms as f64).collect();
        let (sample, notes_give_way) = (Sample::of(own()), report.is_two_stage());
        Some(Panel { event, stage, figures, sample, longest_wait_ms, recorded, notes_give_way })
    };
    Stage::ALL.into_iter().filter_map(panel).collect()
}

/// Why stages have no closed form, a line a reason. They mostly share one, and it is long: within the panels it
/// would lie on the curves.
fn reasons(panels: &[Panel<'_>]) -> Vec<String> {
    let mut grouped: Vec<(&Reason, Vec<&str>)> = Vec::new();
    for panel in panels {
        let Some(because) = panel.figures.bound_absent_because.as_ref() else { continue };
        match grouped.iter_mut().find(|(known, _)| *known == because) {
            Some((_, stages)) => stages.push(panel.stage.name()),
            None => grouped.push((because, vec![panel.stage.name()])),
        }
    }
    let line = |(because, stages): (&Reason, Vec<&str>)| match stages.len() == panels.len() {
        true => format!("No closed form: {because}."),
        false => format!("No closed form for {}: {because}.", stages.join(", ")),
    };
    grouped.into_iter().map(line).collect()
}

fn draw_event(canvas: &Canvas<'_>, panels: &[Panel<'_>], top: i32) {
    let ends = panels.iter().flat_map(|panel| {
        let figures = panel.figures;
        let detected = panel.sample.detected();
        let seen = [detected.first(), detected.last()].map(|end| end.map(|(length, _)| length.as_millis()));
        let recorded = [panel.recorded.first(), panel.recorded.last()].map(|end| end.map(|&ms| ms as u64));
        seen.into_iter().chain(recorded).chain([figures.bound_min_ms, figures.bound_max_ms]).flatten()
    });
    let (from, to) = ends.fold((u64::MAX, 0), |(from, to), end| (from.min(end), to.max(end)));
    // Where nothing ended, the axis shows how long it was waited for.
    let waited = panels.iter().map(|panel| panel.longest_wait_ms).max().unwrap_or(0);
    let axis = if from > to { TimeAxis::over(0, waited, 9) } else { TimeAxis::over(from, to, 9) };
    for (index, panel) in panels.iter().enumerate() {
        let from = top + index as i32 * PANEL;
        let last = index + 1 == panels.len();
        draw_panel(canvas, panel, &axis, from, last);
    }
}

fn draw_panel(canvas: &Canvas<'_>, panel: &Panel<'_>, axis: &TimeAxis, top: i32, last: bool) {
    let place = panels::Panel { top, height: PANEL - 14, left: LEFT_AREA, is_last: last };
    let area = place.area(canvas);
    let mut chart = place.shares(&area, axis);
    let ink = colour(panel.stage);
    if let (Some(min), Some(max)) = (panel.figures.bound_min_ms, panel.figures.bound_max_ms) {
        let [min, max] = [min, max].map(|ms| ms as f64);
        let range = Rectangle::new([(min, 0.0), (max, 1.0)], ink.mix(0.15).filled());
        chart.draw_series([range]).expect(DRAWN);
        let ends = [min, max].map(|ms| PathElement::new([(ms, 0.0), (ms, 1.0)], ink.mix(0.6)));
        chart.draw_series(ends).expect(DRAWN);
    }
    if let Some(mean) = panel.figures.bound_mean_ms.map(|ms| ms as f64) {
        let dashes = DashedLineSeries::new([(mean, 0.0), (mean, 1.0)], 5, 4, FAINT.into());
        chart.draw_series(dashes).expect(DRAWN);
    }
    let curve = curve(&panel.sample, axis);
    chart.draw_series(LineSeries::new(curve, ink.stroke_width(2))).expect(DRAWN);
    let share = |index: usize| (index as f64 + 0.5) / panel.recorded.len() as f64;
    let dots = panel.recorded.iter().enumerate();
    let dots = dots.map(|(index, &ms)| Circle::new((ms, share(index)), 3, INK.filled()));
    chart.draw_series(dots).expect(DRAWN);

    let middle = top + (PANEL - 14) / 2;
    paint::write_at(canvas, panel.stage.name(), font(16, INK), (HPos::Left, VPos::Center), (24, middle));
    // The curve has left the lower right corner by the time it gets there, or else never comes to the upper one.
    let stays_low = panel.sample.censored() * 2 > panel.sample.count();
    let bottom = top + if stays_low { 40 } else { PANEL - 28 };
    let first = panel.figures.bound_min_ms.into_iter().chain(panel.figures.min_ms).min();
    let first = first.filter(|_| panel.notes_give_way).map(|ms| chart.backend_coord(&(ms as f64, 0.0)).0);
    let late = first.map(|first| first - 16).filter(|&right| right > WIDTH / 2);
    let right = late.unwrap_or(WIDTH - RIGHT_MARGIN - 10);
    notes(canvas, [(figures(panel.figures), INK), (second_line(panel.figures), FAINT)], (right, bottom));
}

/// Writes two lines that end here, on a light ground.
fn notes(canvas: &Canvas<'_>, lines: [(String, RGBColor); 2], (right, bottom): (i32, i32)) {
    let lines = lines.map(|(text, ink)| (fitting(canvas, &text, 14, right - LEFT_AREA - 20), ink));
    let width = lines.iter().map(|(text, _)| paint::text_width(canvas, text, 14)).max().unwrap_or(0);
    let ground = [(right - width - 8, bottom - 36), (right + 6, bottom + 4)];
    paint::fill(canvas, ground[0], ground[1], WHITE.mix(0.75).filled());
    for ((text, ink), bottom) in lines.iter().zip([bottom - 20, bottom]) {
        paint::write_at(canvas, text, font(14, *ink), (HPos::Right, VPos::Bottom), (right, bottom));
    }
}

fn figures(figures: &StageSummary) -> String {
    let known = [("mean", figures.mean_ms), ("p50", figures.p50_ms), ("p99", figures.p99_ms)];
    let known = known.into_iter().filter_map(|(name, ms)| Some(format!("{name} {} s", in_seconds(ms?))));
    known.collect::<Vec<_>>().join(" · ")
}

fn second_line(figures: &StageSummary) -> String {
    let mut parts = Vec::new();
    if figures.censored > 0 {
        parts.push(format!("{} of {} not ended when the run did", figures.censored, figures.count));
    }
    if figures.superseded > 0 {
        parts.push(format!("{} back before that", figures.superseded));
    }
    if let [Some(min), Some(max)] = [figures.bound_min_ms, figures.bound_max_ms].map(|ms| ms.map(in_seconds))
    {
        let mean =
            figures.bound_mean_ms.map_or_else(String::new, |ms| format!(", mean {} s", in_seconds(ms)));
        parts.push(format!("closed form {min} to {max} s{mean}"));
    }
    parts.join("; ")
}

/// The steps of the curve. The share is of all observations, so where some are censored it ends below one.
fn curve(sample: &Sample, axis: &TimeAxis) -> Vec<(f64, f64)> {
    let detected = sample.detected();
    let range = axis.range();
    if detected.is_empty() {
        return vec![(range.start, 0.0), (range.end, 0.0)];
    }
    let stride = detected.len().div_ceil(STEPS);
    let mut points = vec![(range.start, 0.0)];
    let mut below = 0;
    for (index, &(length, count)) in detected.iter().enumerate() {
        let before = below as f64 / sample.count() as f64;
        below += count;
        let ends_step = index == 0 || (index + 1).is_multiple_of(stride) || index + 1 == detected.len();
        if ends_step {
            let ms = length.as_nanos() as f64 / 1e6;
            let from = if stride == 1 { points[points.len() - 1].1 } else { before };
            points.push((ms, from));
            points.push((ms, below as f64 / sample.count() as f64));
        }
    }
    points.push((range.end, points[points.len() - 1].1));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures::Fixture;

    #[test]
    fn a_hundred_thousand_different_lengths_make_a_short_curve() {
        let made = Fixture::crashes(300, 400);
        let rows = rows_by_stage(&made.data);
        let rows = &rows[&(EventKind::Crash, Stage::Balancer)];
        let sample = Sample::of(rows.iter().flatten().copied());
        assert!(sample.detected().len() > 100_000);
        let points = curve(&sample, &TimeAxis::over(150_000, 335_000, 9));
        assert!(points.len() <= 2 * STEPS + 6);
        assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
        assert_eq!(points[points.len() - 1].1, 1.0);
    }
}
