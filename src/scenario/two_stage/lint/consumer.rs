//! Warnings about the consumers of a two-stage registry: snapshots that cannot be written or read, long polls that never
//! look, pushes that never arrive, calls that are given up too early, heartbeats that get lost.

use crate::engine::SimDuration;
use crate::model::two_stage::{ClientConfig, Discovery, DiskMode, OnCorruptFile, Schedule, TwoStage};
use crate::scenario::diagnostics::Problem;
use crate::scenario::lint::Spans;
use crate::scenario::lint::fault::percent;
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::two_stage::lint::{at, ms};
use crate::scenario::types::{Delay, Network};

/// Live instances that are hidden by lost messages, in a replicate on average, of which one is told.
const HIDDEN_TOLD: f64 = 0.1;
/// Heartbeats lost in a row that are counted at most: more never happen.
const ROW_MAX: u64 = 1_000;

/// All of one application's.
pub(crate) fn lint(
    scenario: ScenarioOf<'_, TwoStage>,
    app: AppOf<'_, TwoStage>,
    place: usize,
    spans: &Spans<'_>,
) -> Vec<Problem> {
    let found = [
        given_up_too_early(scenario, app, place, spans),
        lost_heartbeats(scenario, app, place, spans),
        torn_file(app, place, spans),
        cannot_write(app, place, spans),
        never_looks(scenario, app, place, spans),
        no_push(scenario, app, place, spans),
        left_out(app, place, spans),
    ];
    found.into_iter().flatten().collect()
}

fn links(scenario: ScenarioOf<'_, TwoStage>, app: AppOf<'_, TwoStage>) -> Network {
    app.network.unwrap_or(scenario.network)
}

/// The longest round trip, or one that only one of some hundred exceeds.
fn round_trip(scenario: ScenarioOf<'_, TwoStage>, app: AppOf<'_, TwoStage>) -> SimDuration {
    let longest = match links(scenario, app).latency {
        Delay::Constant(longest) | Delay::Uniform(_, longest) => longest,
        Delay::Drawn(distribution) => distribution.p99(),
    };
    SimDuration::from_nanos(longest.as_nanos().saturating_mul(2))
}

fn given_up_too_early(
    scenario: ScenarioOf<'_, TwoStage>,
    app: AppOf<'_, TwoStage>,
    place: usize,
    spans: &Spans<'_>,
) -> Option<Problem> {
    let limit = ms(app.client.request_timeout_ms);
    let round_trip = round_trip(scenario, app);
    if round_trip <= limit {
        return None;
    }
    let found =
        spans.of(place, &at("request-timeout-ms")).or_else(|| spans.of(place, &["network", "latency"]));
    Some(
        Problem::warning(
            found,
            format!("an answer may take {round_trip}, but a call is given up after {limit}"),
        )
        .label("clients may never learn that they are registered, nor fetch")
        .hint("the latency is one way: a call takes two of it"),
    )
}

/// Heartbeats lost so often that live instances fall silent (`two-stage.md` section 3).
fn lost_heartbeats(
    scenario: ScenarioOf<'_, TwoStage>,
    app: AppOf<'_, TwoStage>,
    place: usize,
    spans: &Spans<'_>,
) -> Option<Problem> {
    let loss = links(scenario, app).loss;
    let client = app.client;
    if loss <= 0.0 || !client.registers {
        return None;
    }
    let (in_a_row, caught) = silence(scenario, client)?;
    let begins = f64::from(app.instances)
        * (1.0
            + scenario.duration.as_secs_f64() / ms(client.heartbeat_interval_ms).as_secs_f64()
                * (1.0 - loss));
    let count = begins * (0..in_a_row).fold(caught, |share, _| share * loss);
    if count < HIDDEN_TOLD {
        return None;
    }
    let soft = ms(scenario.server().soft_timeout_ms);
    let row = match in_a_row {
        0 | 1 => "a lost heartbeat makes".to_owned(),
        row => format!("{row} lost heartbeats in a row make"),
    };
    let often = match count {
        count if count >= 1.5 => format!("about {count:.0} live instances are hidden in a replicate"),
        count if count >= 0.5 => "about one live instance is hidden in a replicate".to_owned(),
        count => format!("in about one of {:.0} replicates a live instance is hidden", 1.0 / count),
    };
    let title =
        format!("{} of all messages are lost, and {row} a silence of more than {soft}", percent(loss));
    Some(Problem::warning(spans.of(place, &["network", "loss"]), title).label(often))
}

/// How many heartbeats lost in a row make a silence that a sweep may find too long, and how probably one does.
fn silence(scenario: ScenarioOf<'_, TwoStage>, client: &ClientConfig) -> Option<(u64, f64)> {
    let server = scenario.server();
    let interval = u64::from(client.heartbeat_interval_ms);
    // With a fixed delay the next is timed from the end of the one that is lost.
    let hangs = match client.heartbeat_schedule {
        Schedule::FixedDelay => u64::from(client.request_timeout_ms),
        Schedule::FixedRate => 0,
    };
    let soft = u64::from(server.soft_timeout_ms);
    let after = |lost: u64| interval + lost * (interval + hangs);
    let lost = (0..ROW_MAX).find(|lost| after(*lost) > soft)?;
    let excess = (after(lost) - soft) as f64 / f64::from(server.sweep_interval_ms);
    Some((lost, excess.min(1.0)))
}

/// A file that whoever is killed while it writes leaves torn, and that nobody can start with (2.4).
fn torn_file(app: AppOf<'_, TwoStage>, place: usize, spans: &Spans<'_>) -> Option<Problem> {
    let client = app.client;
    let trap = client.disk_mode == DiskMode::InPlace
        && client.on_corrupt_file == OnCorruptFile::FailStart
        && client.disk_load_at_start
        && client.disk_writable
        && client.disk_write_ms > 0;
    if !client.fetches || !trap {
        return None;
    }
    let found = spans.of(place, &at("disk-mode")).or_else(|| spans.of(place, &at("on-corrupt-file")));
    let title =
        format!("a process killed in the {} in which it writes leaves a torn file", ms(client.disk_write_ms));
    Some(
        Problem::warning(found, title)
            .label("with it no process starts again: nothing rewrites it")
            .related(spans.of(place, &at("on-corrupt-file")), "what becomes of it")
            .hint("set `disk-mode = \"atomic\"`, or `on-corrupt-file = \"ignore\"`"),
    )
}

/// A folder that cannot be written to: to its consumer it looks like a dead registry (2.2).
fn cannot_write(app: AppOf<'_, TwoStage>, place: usize, spans: &Spans<'_>) -> Option<Problem> {
    let client = app.client;
    if client.disk_writable || client.disk_mode == DiskMode::None || !client.fetches {
        return None;
    }
    let waits: Vec<String> = (1..=2).map(|failures| client.backoff.wait(failures).to_string()).collect();
    let most = client.backoff.wait(u32::MAX);
    Some(
        Problem::warning(
            spans.of(place, &at("disk-writable")),
            "the folder of the snapshots cannot be written to",
        )
        .label(format!(
            "every refresh that writes counts as a failure: the next ones come after {}, … {most}",
            waits.join(", ")
        ))
        .hint("answers are taken all the same; to keep nothing on disk set `disk-mode = \"none\"`"),
    )
}

/// Long polls that look only once (2.7).
fn never_looks(
    scenario: ScenarioOf<'_, TwoStage>,
    app: AppOf<'_, TwoStage>,
    place: usize,
    spans: &Spans<'_>,
) -> Option<Problem> {
    let (client, park) = (app.client, scenario.server().watch_park_ms);
    let watches = client.fetches && client.discovery == Discovery::LongPoll;
    if !watches || park < client.watch_timeout_ms {
        return None;
    }
    let found = spans.global(&at("watch-park-ms")).or_else(|| spans.of(place, &at("watch-timeout-ms")));
    let title = format!(
        "a long poll looks for changes every {}, and its time is up after {}",
        ms(park),
        ms(client.watch_timeout_ms)
    );
    Some(
        Problem::warning(found, title)
            .label(
                "it looks only when it comes: a change while it is held is answered as if its time were up",
            )
            .hint("give `watch-timeout-ms` many times `watch-park-ms`"),
    )
}

/// Pushes that never come, or seldom (4.2).
fn no_push(
    scenario: ScenarioOf<'_, TwoStage>,
    app: AppOf<'_, TwoStage>,
    place: usize,
    spans: &Spans<'_>,
) -> Option<Problem> {
    let (client, server) = (app.client, scenario.server());
    if !client.fetches || client.discovery != Discovery::PushPlusPoll {
        return None;
    }
    if server.push_loss >= 1.0 {
        return Some(
            Problem::warning(spans.global(&at("push-loss")), "every push is lost")
                .label("consumers hear of changes only when they poll"),
        );
    }
    let (ttl, poll) = (server.subscriber_ttl_ms, client.poll_interval_ms);
    if ttl >= poll {
        return None;
    }
    let found = spans.global(&at("subscriber-ttl-ms")).or_else(|| spans.of(place, &at("poll-interval-ms")));
    let title = format!(
        "a subscriber counts for {} after a poll, but `{}` polls every {}",
        ms(ttl),
        app.name,
        ms(poll)
    );
    Some(
        Problem::warning(found, title)
            .label(format!("in {} of every {} it gets no pushes", ms(poll - ttl), ms(poll)))
            .related(spans.of(place, &at("poll-interval-ms")), "how often it polls"),
    )
}

/// Services that are named, though nobody asks for them one by one.
fn left_out(app: AppOf<'_, TwoStage>, place: usize, spans: &Spans<'_>) -> Option<Problem> {
    let client = app.client;
    let found = spans.own(place, &["subscribes"])?;
    let why = if !client.fetches {
        format!("`{}` does not fetch", app.name)
    } else if client.discovery == Discovery::Poll {
        "with `discovery = \"poll\"` every answer has all services".to_owned()
    } else {
        return None;
    };
    Some(Problem::warning(found, "`subscribes` has no effect").label(why))
}
