//! The share of healthy entries against what the guard asks for, over the first replicate and with a panel for each
//! service: when the guard was shut, and what sweeps marked and removed while it was not.
//!
//! Only sweeps that did something, or found the guard otherwise, are known. The line shows what such a sweep found and
//! what it left, and holds until the next.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::TimeAxis;
use super::faults::{self, TimeChart};
use super::paint::{self, Canvas, DRAWN, FAINT, INK, LEFT_AREA, RED, font};
use super::panels::{self, Panel};
use crate::model::fact::Sweep;
use crate::model::id::AppId;
use crate::model::stage::Stage;
use crate::observe::{ReplicateData, SweepRow};
use crate::report::guards::{guard_percent, shut_periods};
use crate::report::{Contents, Report};

const TOP: i32 = 132;
/// The height of a panel, and of one among others.
const HEIGHT: i32 = 260;
const HEIGHT_AMONG_OTHERS: i32 = 120;
/// Services that have a panel, at most.
const SERVICES: usize = 8;
/// The top of the scale: a line at 100 % stands free of the edge.
const CEILING: f64 = 108.0;
/// Sweeps that are drawn, at most, besides those at which a guard shut or opened.
const SWEEPS_DRAWN: usize = 600;
/// More sweeps than this have no dots, since they would hide the line.
const DOTS_MAX: usize = 120;

const SHARE_INK: RGBColor = paint::colour(Stage::Registry);

/// A row of dots: what is counted, its colour, and how high it stands, percent.
struct Lane {
    ink: RGBColor,
    level: f64,
    count: fn(&Sweep) -> u32,
}

const MARKED: Lane = Lane { ink: paint::colour(Stage::Served), level: 26.0, count: |sweep| sweep.marked };
const REMOVED: Lane = Lane { ink: paint::colour(Stage::Entry), level: 10.0, count: |sweep| sweep.removed };
const LANES: [Lane; 2] = [MARKED, REMOVED];

/// The chart as SVG text.
pub(super) fn svg(contents: &Contents<'_>) -> String {
    let report = contents.report;
    let replicate = report.data.replicates.first();
    let services = replicate.map(services).unwrap_or_default();
    let shown = &services[..services.len().min(SERVICES)];
    let height = if shown.len() > 1 { HEIGHT_AMONG_OTHERS } else { HEIGHT };
    let panels = panels::stacked(shown.len(), TOP, height, LEFT_AREA);
    let bottom = panels::bottom(&panels, TOP);
    let left_out = (services.len() > SERVICES)
        .then(|| format!("The first {SERVICES} of {} services with such sweeps.", services.len()));
    paint::svg(bottom + 12 + if left_out.is_some() { 18 } else { 0 }, |canvas| {
        let title = format!("Does the guard let sweeps pass? {}", report.scenario.title);
        let below =
            "Healthy entries of all that are stored, as sweeps found and left them, in the first replicate.";
        paint::title(canvas, &title, &format!("{below}{}", exempt(report)));
        legend(canvas, guard_percent(report).unwrap_or(0));
        match replicate.filter(|_| !shown.is_empty()) {
            Some(replicate) => draw(canvas, report, replicate, shown, &panels),
            None => paint::write(canvas, "No sweep found anything to do.", 15, FAINT, (24, TOP + 10)),
        }
        if let Some(note) = &left_out {
            paint::write(canvas, note, 14, FAINT, (24, bottom + 4));
        }
    })
}

/// Which services the guard does not look at.
fn exempt(report: &Report<'_>) -> String {
    match report.scenario.two_stage().map(|it| it.server().guard_min_instances) {
        None | Some(0 | 1) => String::new(),
        Some(least) => format!(" Of fewer than {least} all pass."),
    }
}

/// Services of which a sweep is told, by number.
fn services(replicate: &ReplicateData) -> Vec<AppId> {
    let mut services: Vec<AppId> = replicate.sweeps.iter().map(|row| row.sweep.app).collect();
    services.sort_unstable();
    services.dedup();
    services
}

fn legend(canvas: &Canvas<'_>, percent: u32) {
    let mut left = 24;
    let mut entry = |words: &str, mark: &dyn Fn(i32)| {
        mark(left);
        paint::write(canvas, words, 14, INK, (left + 26, 76));
        left += 26 + paint::text_width(canvas, words, 14) + 20;
    };
    let line = |left: i32, ink: RGBColor| paint::fill(canvas, (left, 80), (left + 20, 83), ink.filled());
    let dot = |left: i32, ink: RGBColor| {
        canvas.draw(&Circle::new((left + 12, 82), 5, ink.filled())).expect(DRAWN);
    };
    entry("healthy", &|left| line(left, SHARE_INK));
    entry(&format!("asked for: {percent} %"), &|left| {
        for from in [left, left + 12] {
            paint::fill(canvas, (from, 81), (from + 8, 83), INK.filled());
        }
    });
    entry("guard shut", &|left| {
        paint::fill(canvas, (left, 74), (left + 20, 88), FAINT.mix(0.25).filled());
    });
    entry("marked unhealthy", &|left| dot(left, MARKED.ink));
    entry("removed", &|left| dot(left, REMOVED.ink));
    entry("fault", &|left| line(left, RED));
}

fn draw(
    canvas: &Canvas<'_>,
    report: &Report<'_>,
    replicate: &ReplicateData,
    services: &[AppId],
    panels: &[Panel],
) {
    let axis = TimeAxis::over(0, replicate.ended_at.as_millis().max(1), 10);
    let asked = f64::from(guard_percent(report).unwrap_or(0));
    for (place, (panel, &app)) in panels.iter().zip(services).enumerate() {
        let rows: Vec<&SweepRow> = replicate.sweeps.iter().filter(|row| row.sweep.app == app).collect();
        let area = panel.area(canvas);
        let mut chart = panel.chart(&area, &axis, CEILING);
        for (from, to) in shut_periods(replicate, app) {
            let corners = [(from.as_millis() as f64, 0.0), (to.as_millis() as f64, CEILING)];
            chart.draw_series([Rectangle::new(corners, FAINT.mix(0.25).filled())]).expect(DRAWN);
        }
        panels::mesh(&mut chart, 3, &|percent| format!("{percent:.0} %"));
        faults::draw(&mut chart, replicate, CEILING);
        let ends = axis.range();
        let level = [(ends.start, asked), (ends.end, asked)];
        chart.draw_series(DashedLineSeries::new(level, 6, 4, INK.into())).expect(DRAWN);
        for line in lines(&thinned(&rows), replicate) {
            chart.draw_series(LineSeries::new(line, SHARE_INK.stroke_width(2))).expect(DRAWN);
        }
        if rows.len() <= DOTS_MAX {
            dots(canvas, &mut chart, &rows);
        }
        panel.name(canvas, &report.scenario.applications[app.index()].name);
        if place == 0 {
            faults::name(canvas, &replicate.faults, TOP, |at| chart.backend_coord(&(at, 0.0)).0);
        }
    }
}

/// Of very many sweeps some, evenly chosen, and all at which the guard shut or opened.
fn thinned<'a>(rows: &[&'a SweepRow]) -> Vec<&'a SweepRow> {
    let stride = rows.len().div_ceil(SWEEPS_DRAWN).max(1);
    let turned = |index: usize| index > 0 && rows[index].sweep.guard_open != rows[index - 1].sweep.guard_open;
    let kept = |index: &usize| index.is_multiple_of(stride) || turned(*index) || *index + 1 == rows.len();
    (0..rows.len()).filter(kept).map(|index| rows[index]).collect()
}

/// The line, in pieces: where nobody is stored there is no share.
fn lines(rows: &[&SweepRow], replicate: &ReplicateData) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    let mut standing = rows.first().and_then(|row| found(&row.sweep)).map(|share| (0.0, share));
    for row in rows {
        let at = row.at.as_millis() as f64;
        let piece = pieces.last_mut().expect("there is one");
        // Until the sweep as the one before it left it, and then as this one found it.
        piece.extend(standing);
        piece.extend(standing.map(|(_, share)| (at, share)));
        piece.extend(found(&row.sweep).map(|share| (at, share)));
        standing = left(&row.sweep).map(|share| (at, share));
        if standing.is_none() {
            pieces.push(Vec::new());
        }
    }
    let end = replicate.ended_at.as_millis() as f64;
    let last = pieces.last_mut().expect("there is one");
    last.extend(standing);
    last.extend(standing.map(|(_, share)| (end, share)));
    pieces.retain(|piece| piece.len() > 1);
    pieces
}

/// The share that a sweep found healthy, percent; `None` of nobody.
fn found(sweep: &Sweep) -> Option<f64> {
    percent(sweep.healthy, sweep.entries)
}

/// The share that it left healthy.
fn left(sweep: &Sweep) -> Option<f64> {
    percent(sweep.healthy.saturating_sub(sweep.marked), sweep.entries.saturating_sub(sweep.removed))
}

fn percent(part: u32, whole: u32) -> Option<f64> {
    (whole > 0).then(|| 100.0 * f64::from(part) / f64::from(whole))
}

/// A dot at each sweep that marked, and in a row below it at each that removed, with the number; where dots leave no room
/// for one each, with the sum of all behind the last.
fn dots(canvas: &Canvas<'_>, chart: &mut TimeChart<'_, '_>, rows: &[&SweepRow]) {
    for lane in LANES {
        let mut places = Vec::new();
        for row in rows.iter().filter(|row| (lane.count)(&row.sweep) > 0) {
            let (x, y) = chart.backend_coord(&(row.at.as_millis() as f64, lane.level));
            canvas.draw(&Circle::new((x, y), 4, lane.ink.filled())).expect(DRAWN);
            places.push((x, y, (lane.count)(&row.sweep)));
        }
        let room = |count: u32| 16 + paint::text_width(canvas, &count.to_string(), 13);
        for (x, y, count) in together(&places, room) {
            let anchor = (HPos::Left, VPos::Center);
            paint::write_at(canvas, &count.to_string(), font(13, INK), anchor, (x + 7, y));
        }
    }
}

/// Numbers to write, each where the last of its dots is: a dot that is nearer to the one before it than that one's
/// number needs is counted with it.
fn together(dots: &[(i32, i32, u32)], room: impl Fn(u32) -> i32) -> Vec<(i32, i32, u32)> {
    let mut numbers: Vec<(i32, i32, u32)> = Vec::new();
    for &(x, y, count) in dots {
        match numbers.last_mut() {
            Some(last) if x < last.0 + room(last.2) => *last = (x, y, last.2 + count),
            _ => numbers.push((x, y, count)),
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures::Fixture;

    #[test]
    fn a_line_shows_what_a_sweep_found_and_left() {
        let made = Fixture::three_guards();
        let replicate = &made.data.replicates[0];
        let of = |app: u32| -> Vec<&SweepRow> {
            replicate.sweeps.iter().filter(|row| row.sweep.app == AppId(app)).collect()
        };
        // 8 of 8, of which 3 are marked and then removed: 100 to 62.5 % and back.
        let shares: Vec<f64> =
            lines(&of(1), replicate).concat().into_iter().map(|(_, share)| share).collect();
        assert_eq!(shares, [100.0, 100.0, 100.0, 62.5, 62.5, 62.5, 100.0, 100.0]);
        assert_eq!(lines(&of(1), replicate)[0].last().unwrap().0, replicate.ended_at.as_millis() as f64);
    }

    #[test]
    fn dots_that_stand_close_have_one_number() {
        let room = |count: u32| if count < 10 { 24 } else { 32 };
        // 20 px, too little for one number; then enough for one, and too little for two of which the first is 10.
        let dots = [(100, 5, 2), (120, 5, 2), (144, 5, 10), (170, 5, 1), (202, 5, 3)];
        assert_eq!(together(&dots, room), [(120, 5, 4), (170, 5, 11), (202, 5, 3)]);
    }

    #[test]
    fn where_nobody_is_stored_the_line_is_broken() {
        let made = Fixture::only_instance(1);
        let replicate = &made.data.replicates[0];
        let rows: Vec<&SweepRow> = replicate.sweeps.iter().collect();
        let pieces = lines(&rows, replicate);
        assert_eq!(pieces.len(), 1);
        assert_eq!(pieces[0].last().unwrap().1, 0.0, "marked, and then removed");
    }
}
