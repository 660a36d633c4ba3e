//! What each server had to do, minute by minute of the first replicate: heartbeats, those that peers passed on,
//! fetches, and with a capacity how busy its threads were.

use plotters::prelude::*;

use super::axis::TimeAxis;
use super::faults;
use super::paint::{self, Canvas, DRAWN, FAINT, INK, LEFT_AREA, RED};
use super::panels::{self, GAP, Panel};
use crate::model::id::ServerId;
use crate::model::message::RequestKind;
use crate::model::stage::Stage;
use crate::observe::{LoadMinute, ReplicateData};
use crate::report::servers::{MINUTE_NANOS, fetches, server_name};
use crate::report::{Contents, Report};

const TOP: i32 = 132;
/// The height of a server's panel of requests, alone and among others, and of the one about its threads.
const HEIGHT: i32 = 240;
const HEIGHT_AMONG_OTHERS: i32 = 110;
const THREADS_HEIGHT: i32 = 48;
/// Free space between the panels of two servers that have two each, so that it shows which belong together.
const PAIR_GAP: i32 = 30;
/// Lines have at most this many steps. Each shows the mean of its minutes.
const STEPS: usize = 480;
const MINUTE_MS: f64 = 60_000.0;

/// Renewals by clients, those that peers passed on stacked upon them, and fetches as a line: with default settings a
/// client fetches as often as it renews, and one line would hide the other.
const BY_CLIENTS_INK: RGBColor = tint(paint::colour(Stage::Registry));
const FROM_PEERS_INK: RGBColor = tint(paint::colour(Stage::Served));
const FETCHES_INK: RGBColor = paint::colour(Stage::Client);
const THREADS_INK: RGBColor = paint::colour(Stage::Balancer);

/// Half way to white, and opaque.
const fn tint(ink: RGBColor) -> RGBColor {
    const fn half(part: u8) -> u8 {
        part / 2 + 128
    }
    RGBColor(half(ink.0), half(ink.1), half(ink.2))
}

const fn by_clients(minute: &LoadMinute) -> u64 {
    minute.requests[RequestKind::Renew as usize]
}

/// All that count against the threshold.
const fn renewals(minute: &LoadMinute) -> u64 {
    by_clients(minute) + minute.items[RequestKind::Renew as usize]
}

/// Whether this run has such a chart: with one server that does everything at once there is nothing to compare.
pub(super) fn applies(contents: &Contents<'_>) -> bool {
    contents.report.has_several_servers() || contents.report.scenario.capacity.is_some()
}

/// The chart as SVG text.
pub(super) fn svg(contents: &Contents<'_>) -> String {
    let report = contents.report;
    let panels = stacked(report);
    let left_out = panels::left_out(report);
    let bottom = panels.last().map_or(TOP + 60, |(requests, threads)| {
        let last = threads.unwrap_or(*requests);
        panels::bottom(&[last], TOP)
    });
    paint::svg(bottom + 12 + if left_out.is_some() { 18 } else { 0 }, |canvas| {
        let title = format!("What has a server to do? {}", report.scenario.title);
        let threads = report.scenario.capacity.as_ref().map(|_| " Below each: how busy its threads were.");
        let below = format!(
            "Requests that each server answered, a minute, in the first replicate.{}",
            threads.unwrap_or_default()
        );
        paint::title(canvas, &title, &below);
        legend(canvas, threads.is_some(), report.is_two_stage());
        if let Some(replicate) = report.data.replicates.first() {
            draw(canvas, report, replicate, &panels);
        }
        if let Some(note) = &left_out {
            paint::write(canvas, note, 14, FAINT, (24, bottom + 4));
        }
    })
}

/// For each server a panel of its requests and, with a capacity, one of its threads.
fn stacked(report: &Report<'_>) -> Vec<(Panel, Option<Panel>)> {
    let servers = panels::shown(report).len();
    let height = if servers > 1 { HEIGHT_AMONG_OTHERS } else { HEIGHT };
    let gap = if report.scenario.capacity.is_some() { PAIR_GAP } else { GAP };
    let mut above: Option<Panel> = None;
    let mut panels = Vec::new();
    for place in 1..=servers {
        let is_last = place == servers;
        let first = Panel { top: TOP, height, left: LEFT_AREA, is_last: false };
        let mut requests = above.map_or(first, |above| above.below(gap, height));
        let threads = report.scenario.capacity.as_ref();
        let threads = threads.map(|_| Panel { is_last, ..requests.below(GAP, THREADS_HEIGHT) });
        requests.is_last = is_last && threads.is_none();
        above = Some(threads.unwrap_or(requests));
        panels.push((requests, threads));
    }
    panels
}

fn legend(canvas: &Canvas<'_>, has_threads: bool, is_two_stage: bool) {
    let mut left = 24;
    let mut entry = |words: &str, ink: RGBColor, half: i32| {
        paint::fill(canvas, (left, 81 - half), (left + 20, 82 + half), ink.filled());
        paint::write(canvas, words, 14, INK, (left + 26, 76));
        left += 26 + paint::text_width(canvas, words, 14) + 24;
    };
    let (line, area) = (1, 6);
    if is_two_stage {
        entry("heartbeats", BY_CLIENTS_INK, area);
        entry("fetches, long polls among them", FETCHES_INK, line);
    } else {
        entry("renewals by clients", BY_CLIENTS_INK, area);
        entry("renewals that peers passed on", FROM_PEERS_INK, area);
        entry("fetches", FETCHES_INK, line);
    }
    if has_threads {
        entry("threads busy", THREADS_INK, line);
    }
    entry("fault", RED, line);
}

fn draw(
    canvas: &Canvas<'_>,
    report: &Report<'_>,
    replicate: &ReplicateData,
    panels: &[(Panel, Option<Panel>)],
) {
    let axis = TimeAxis::over(0, replicate.ended_at.as_millis().max(1), 10);
    let servers = panels::shown(report);
    let load: Vec<Vec<&LoadMinute>> = servers.iter().map(|server| of_server(replicate, *server)).collect();
    let most = load.iter().flatten().map(|minute| renewals(minute).max(fetches(minute))).max();
    // One scale for all, so that they can be compared.
    let ceiling = (most.unwrap_or(0) as f64 * 1.12).max(4.0);
    let threads = report.scenario.capacity.as_ref().map_or(1, |capacity| capacity.threads);
    let whole = MINUTE_NANOS as f64 * f64::from(threads);
    for (place, ((requests, of_threads), minutes)) in panels.iter().zip(&load).enumerate() {
        let area = requests.area(canvas);
        let mut chart = requests.chart(&area, &axis, ceiling);
        let of = |count: fn(&LoadMinute) -> u64| steps(minutes, replicate, |minute| count(minute) as f64);
        let areas: [(Count, RGBColor); 2] = [(renewals, FROM_PEERS_INK), (by_clients, BY_CLIENTS_INK)];
        for (count, ink) in areas {
            chart.draw_series(AreaSeries::new(of(count), 0.0, ink)).expect(DRAWN);
        }
        panels::mesh(&mut chart, 4, &|requests| format!("{requests:.0}"));
        faults::draw(&mut chart, replicate, ceiling);
        chart.draw_series(LineSeries::new(of(fetches), FETCHES_INK.stroke_width(2))).expect(DRAWN);
        requests.name(canvas, &server_name(servers[place]));
        if place == 0 {
            faults::name(canvas, &replicate.faults, TOP, |at| chart.backend_coord(&(at, 0.0)).0);
        }
        let Some(panel) = of_threads else { continue };
        panel.name(canvas, "threads, %");
        let area = panel.area(canvas);
        let mut chart = panel.chart(&area, &axis, 100.0);
        panels::mesh(&mut chart, 2, &|percent| format!("{percent:.0}"));
        let busy = steps(minutes, replicate, |minute| 100.0 * minute.busy_nanos as f64 / whole);
        let below =
            AreaSeries::new(busy, 0.0, THREADS_INK.mix(0.3)).border_style(THREADS_INK.stroke_width(2));
        chart.draw_series(below).expect(DRAWN);
    }
}

/// How many of a kind are in a minute.
type Count = fn(&LoadMinute) -> u64;

fn of_server(replicate: &ReplicateData, server: ServerId) -> Vec<&LoadMinute> {
    replicate.load.iter().filter(|minute| minute.server == server).collect()
}

/// A line of steps, one a minute or, in a long run, one for several: their mean.
fn steps(
    minutes: &[&LoadMinute],
    replicate: &ReplicateData,
    value: impl Fn(&LoadMinute) -> f64,
) -> Vec<(f64, f64)> {
    let end = replicate.ended_at.as_millis() as f64;
    let chunks = minutes.chunks(minutes.len().div_ceil(STEPS).max(1));
    let step = |chunk: &[&LoadMinute]| {
        let mean = chunk.iter().map(|minute| value(minute)).sum::<f64>() / chunk.len() as f64;
        let from = chunk[0].from.as_millis() as f64;
        let to = chunk[chunk.len() - 1].from.as_millis() as f64 + MINUTE_MS;
        [(from, mean), (to.min(end), mean)]
    };
    chunks.flat_map(step).collect()
}
