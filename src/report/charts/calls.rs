//! What a detection window costs the callers: the share of attempts that failed, minute by minute since the first
//! fault, by what they met.

use plotters::prelude::*;

use super::axis::TimeAxis;
use super::paint::{self, Canvas, DRAWN, FAINT, INK, RED, WIDTH, colour};
use super::panels::{self, AXIS, Panel};
use crate::model::stage::Stage;
use crate::observe::{CallCounts, CallMinute, CallOutcome, CallTally, RunData};
use crate::report::Contents;
use crate::report::calls::total;

const TOP: i32 = 138;
const HEIGHT: i32 = 320;
/// Where the legend's rows begin, and how far apart they are.
const LEGEND: i32 = 76;
const LEGEND_ROW: i32 = 22;
/// Bars, at most: longer runs have bars of several minutes.
const BARS: usize = 240;
/// At least so many minutes are drawn, if the run has them.
const MINUTES: usize = 10;
const MINUTE_MS: u64 = 60_000;

/// Okabe and Ito's colours that no stage has.
const SKY: RGBColor = RGBColor(86, 180, 233);
const YELLOW: RGBColor = RGBColor(240, 228, 66);
const GREY: RGBColor = RGBColor(150, 150, 150);

/// What failed attempts met: words, a colour, and how many of a tally did.
struct Kind {
    words: &'static str,
    ink: RGBColor,
    count: fn(&CallTally) -> u64,
}

/// Attempts at the dead that this stage is to blame for.
macro_rules! dead {
    ($stage:expr, $words:literal) => {
        Kind { words: $words, ink: colour($stage), count: |tally| tally.dead_by_stage[$stage as usize] }
    };
}

/// Attempts that met this fate.
macro_rules! met {
    ($fate:expr, $words:literal, $ink:expr) => {
        Kind { words: $words, ink: $ink, count: |tally| tally.attempts[$fate as usize] }
    };
}

const KINDS: [Kind; 8] = [
    dead!(Stage::Registry, "dead, in the registry"),
    dead!(Stage::Served, "dead, in the server's answers"),
    dead!(Stage::Client, "dead, in the local registry"),
    dead!(Stage::Balancer, "dead, in the balancer's list"),
    met!(CallOutcome::Paused, "standing still", SKY),
    met!(CallOutcome::CutOff, "cut off", YELLOW),
    met!(CallOutcome::Refused, "there, but failing calls", RED),
    met!(CallOutcome::NoInstance, "no instance", GREY),
];

/// The chart as SVG text.
pub(super) fn svg(contents: &Contents<'_>) -> String {
    let minutes = since_the_first_fault(contents.report.data);
    paint::svg(TOP + HEIGHT + AXIS + 12, |canvas| {
        let title = format!("What does it cost the callers? {}", contents.report.scenario.title);
        let below = "The share of attempts that failed, by what they met; from the minute of the first fault on, over all replicates.";
        paint::title(canvas, &title, below);
        if minutes.iter().all(|minute| failed_attempts(minute) == 0) {
            paint::write(canvas, "No attempt failed.", 15, FAINT, (24, TOP + 10));
        } else {
            legend(canvas, &minutes);
            draw(canvas, &minutes);
        }
    })
}

/// The minutes from that of each replicate's first fault on, summed over replicates; without a fault, all.
fn since_the_first_fault(data: &RunData) -> Vec<CallTally> {
    let mut minutes: Vec<Vec<&CallMinute>> = Vec::new();
    for replicate in &data.replicates {
        let first = replicate.faults.first().map_or(0, |fault| CallCounts::minute_of(fault.at));
        for row in &replicate.calls {
            let Some(minute) = CallCounts::minute_of(row.from).checked_sub(first) else { continue };
            if minutes.len() <= minute {
                minutes.resize_with(minute + 1, Vec::new);
            }
            minutes[minute].push(row);
        }
    }
    minutes.into_iter().map(|rows| total(rows.into_iter())).collect()
}

fn legend(canvas: &Canvas<'_>, minutes: &[CallTally]) {
    let (mut left, mut top) = (24, LEGEND);
    let mut entry = |words: &str, mark: &dyn Fn((i32, i32))| {
        let width = 18 + paint::text_width(canvas, words, 14);
        if left + width > WIDTH - 24 {
            (left, top) = (24, top + LEGEND_ROW);
        }
        mark((left, top));
        paint::write(canvas, words, 14, INK, (left + 18, top));
        left += width + 24;
    };
    for kind in KINDS.iter().filter(|kind| minutes.iter().any(|minute| (kind.count)(minute) > 0)) {
        entry(kind.words, &|(left, top)| {
            paint::fill(canvas, (left, top - 1), (left + 12, top + 11), kind.ink.filled());
        });
    }
    entry("calls that failed after all retries", &|(left, top)| {
        paint::fill(canvas, (left, top + 4), (left + 12, top + 6), INK.filled());
    });
}

/// A minute or several: from, to, and what became of their calls.
type Bar = (u64, u64, CallTally);

/// Bars up to a little after the last failure.
fn bars(minutes: &[CallTally]) -> Vec<Bar> {
    let last = minutes.iter().rposition(|minute| failed_attempts(minute) > 0).unwrap_or(0);
    let shown = &minutes[..minutes.len().min((last + 3).max(MINUTES))];
    let width = shown.len().div_ceil(BARS).max(1);
    let bar = |(number, chunk): (usize, &[CallTally])| {
        let mut sum = CallTally::default();
        chunk.iter().for_each(|minute| sum += *minute);
        let from = (number * width) as u64 * MINUTE_MS;
        (from, from + chunk.len() as u64 * MINUTE_MS, sum)
    };
    shown.chunks(width).enumerate().map(bar).collect()
}

fn draw(canvas: &Canvas<'_>, minutes: &[CallTally]) {
    let bars = bars(minutes);
    let highest = bars.iter().map(|(_, _, tally)| failed_attempt_percent(tally).max(failed_percent(tally)));
    let ceiling = (highest.fold(0.0, f64::max) * 1.1).min(102.0);
    let end = bars.last().map_or(1, |&(_, to, _)| to);
    let panel = Panel { top: TOP, height: HEIGHT, left: 72, is_last: true };
    let area = panel.area(canvas);
    let mut chart = panel.chart(&area, &TimeAxis::over(0, end, 10), ceiling);
    panels::mesh(&mut chart, 6, &|percent| percent_label(*percent, ceiling));
    for &(from, to, tally) in &bars {
        let (from, to) = (from as f64, to as f64);
        let attempts: u64 = tally.attempts.iter().sum();
        let mut below = 0.0;
        for kind in &KINDS {
            let count = (kind.count)(&tally);
            if count > 0 {
                let above = below + percent(count, attempts);
                let piece = Rectangle::new([(from, below), (to, above)], kind.ink.filled());
                chart.draw_series([piece]).expect(DRAWN);
                below = above;
            }
        }
    }
    let steps = bars.iter().flat_map(|&(from, to, tally)| {
        [(from as f64, failed_percent(&tally)), (to as f64, failed_percent(&tally))]
    });
    chart.draw_series(LineSeries::new(steps, INK.stroke_width(2))).expect(DRAWN);
}

/// As many decimals as the marks of an axis that ends there need.
fn percent_label(percent: f64, ceiling: f64) -> String {
    let decimals = [10.0, 1.0, 0.1, 0.01].iter().filter(|&&limit| ceiling < limit).count();
    format!("{percent:.decimals$} %")
}

fn failed_attempts(tally: &CallTally) -> u64 {
    KINDS.iter().map(|kind| (kind.count)(tally)).sum()
}

fn failed_attempt_percent(tally: &CallTally) -> f64 {
    percent(failed_attempts(tally), tally.attempts.iter().sum())
}

fn failed_percent(tally: &CallTally) -> f64 {
    percent(tally.failed, tally.calls)
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}
