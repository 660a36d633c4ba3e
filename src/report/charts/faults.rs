//! What was done to the fleet, on a chart whose axis is time: a line at each moment, a bar for what has a length, and
//! names above.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::TimeAxis;
use super::paint::{self, Canvas, DRAWN, RED, RIGHT_MARGIN, WIDTH, font};
use crate::observe::{Injected, ReplicateData};

/// Faults are named in so many rows above the chart.
const NAME_ROWS: usize = 2;
/// More faults than this are not drawn one by one.
const FAULTS_DRAWN: usize = 200;

/// A chart of a number over time.
pub(in crate::report) type TimeChart<'a, 'b> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<TimeAxis, RangedCoordf64>>;

/// Draws the faults of a replicate from 0 up to `ceiling`.
pub(super) fn draw(chart: &mut TimeChart<'_, '_>, replicate: &ReplicateData, ceiling: f64) {
    let faults = || replicate.faults.iter().take(FAULTS_DRAWN);
    let marks = faults().map(|fault| fault.at.as_millis() as f64);
    let ink = RED.mix(if replicate.faults.len() > 20 { 0.4 } else { 1.0 });
    let marks = marks.map(|at| PathElement::new([(at, 0.0), (at, ceiling)], ink));
    chart.draw_series(marks).expect(DRAWN);
    // What has a length is a bar along the upper edge.
    let bars = lengths(replicate)
        .map(|(from, to)| Rectangle::new([(from, ceiling * 0.985), (to, ceiling)], ink.filled()));
    chart.draw_series(bars).expect(DRAWN);
}

/// Shades the time of each fault that has a length.
pub(super) fn shade(chart: &mut TimeChart<'_, '_>, replicate: &ReplicateData, ceiling: f64) {
    let shades = lengths(replicate)
        .map(|(from, to)| Rectangle::new([(from, 0.0), (to, ceiling)], RED.mix(0.09).filled()));
    chart.draw_series(shades).expect(DRAWN);
}

/// From when until when faults lasted, ms.
fn lengths(replicate: &ReplicateData) -> impl Iterator<Item = (f64, f64)> + '_ {
    let end = replicate.ended_at.as_millis() as f64;
    let faults = replicate.faults.iter().take(FAULTS_DRAWN);
    faults.filter_map(move |fault| {
        Some((fault.at.as_millis() as f64, (fault.until?.as_millis() as f64).min(end)))
    })
}

/// Writes what was done above the chart that begins at `top`, where there is room; the rest is counted, beside the
/// legend.
pub(super) fn name(canvas: &Canvas<'_>, faults: &[Injected], top: i32, pixel_of: impl Fn(f64) -> i32) {
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
                let baseline = top - 6 - 16 * row as i32;
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
