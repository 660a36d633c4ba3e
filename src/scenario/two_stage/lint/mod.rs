//! Warnings about the settings of the two-stage registry: time-outs in the wrong order, a guard that never shuts or always
//! does, protected reads, threads that long polls use up. What concerns its consumers is in [`crate::scenario::two_stage::lint::consumer`], what
//! has no effect in [`crate::scenario::two_stage::lint::idle`], and which faults it takes for silence in [`crate::scenario::two_stage::lint::silence`].

use crate::engine::SimDuration;
use crate::model::two_stage::{
    ClientConfig, Discovery, Guard, GuardScope, ServerConfig, SweepPasses, TwoStage,
};
use crate::scenario::diagnostics::Problem;
use crate::scenario::lint::Spans;
use crate::scenario::lint::fault::Fleet;
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::types::verb::FaultKind;

mod consumer;
mod idle;
mod jam;
pub(crate) mod silence;
#[cfg(test)]
pub(crate) mod tests;

/// All of them.
pub(crate) fn lint(scenario: ScenarioOf<'_, TwoStage>, spans: &Spans<'_>, warnings: &mut Vec<Problem>) {
    let server = scenario.server();
    warnings.extend(wrong_order(server, spans));
    warnings.extend(never_heard(server, spans));
    warnings.extend(guard_never_shuts(server, spans));
    warnings.extend(reads_all(server, spans));
    warnings.extend(threads_used_up(scenario, spans));
    for (at, app) in scenario.apps().enumerate() {
        if app.client.registers {
            warnings.extend(silent_between_heartbeats(scenario, app, at, spans));
            warnings.extend(jams_at_once(server, app, spans));
            warnings.extend(no_guard(scenario, app, spans));
            warnings.extend(only_one(scenario, app, spans));
        }
        warnings.extend(consumer::lint(scenario, app, at, spans));
    }
    warnings.extend(idle::lint(scenario, spans));
    // What follows from defaults alone follows from the registry that was named.
    for warning in warnings.iter_mut().filter(|warning| warning.place.is_none()) {
        warning.place = spans.global(&["registry"]);
    }
}

/// The place of a parameter in a file.
pub(crate) const fn at(key: &str) -> [&str; 2] {
    ["two-stage", key]
}

pub(crate) fn ms(count: u32) -> SimDuration {
    SimDuration::from_millis(u64::from(count))
}

/// How many unhealthy entries of a service of `size` leave its guard open (`two-stage.md` 1.7, C2); `None`: any number.
pub(crate) fn tolerated(server: &ServerConfig, size: u64) -> Option<u64> {
    if server.guard == Guard::None || size < u64::from(server.guard_min_instances) {
        return None;
    }
    Some(size * u64::from(100 - server.guard_min_healthy_pct.min(100)) / 100)
}

/// Whether a guard that is shut by the unhealthy stays shut: they count, and only an open guard removes them (C3).
pub(crate) fn can_jam(server: &ServerConfig) -> bool {
    server.guard_scope == GuardScope::Both && !server.guard_cap
}

/// A hard time-out that is over when the soft one is (1.3, 4.1).
fn wrong_order(server: &ServerConfig, spans: &Spans<'_>) -> Option<Problem> {
    let (soft, hard) = (server.soft_timeout_ms, server.hard_timeout_ms);
    if hard > soft {
        return None;
    }
    let next = ms(server.sweep_interval_ms);
    let consequence = match server.sweep_passes {
        SweepPasses::ElseIf => {
            format!(
                "an entry that one sweep hides the next removes, {next} later: hardly anybody can recover"
            )
        }
        SweepPasses::MarkThenDelete if hard < soft => {
            "a sweep removes an entry before any hides it: nobody can recover".to_owned()
        }
        SweepPasses::MarkThenDelete => "one sweep hides and removes: nobody can recover".to_owned(),
    };
    let written = spans.global(&at("soft-timeout-ms"));
    let (place, related) = match spans.global(&at("hard-timeout-ms")) {
        Some(place) => (Some(place), written),
        None => (written, None),
    };
    let title = format!("a hard timeout of {} is not longer than the soft one of {}", ms(hard), ms(soft));
    Some(
        Problem::warning(place, title)
            .label(consequence)
            .related(related, "the soft timeout")
            .hint("give `hard-timeout-ms` at least one heartbeat interval more than `soft-timeout-ms`"),
    )
}

/// Heartbeats so rare that the registry takes the living for silent in between.
fn silent_between_heartbeats(
    scenario: ScenarioOf<'_, TwoStage>,
    app: AppOf<'_, TwoStage>,
    place_of: usize,
    spans: &Spans<'_>,
) -> Option<Problem> {
    let (server, client) = (scenario.server(), app.client);
    let (soft, interval, first) =
        (server.soft_timeout_ms, client.heartbeat_interval_ms, client.first_heartbeat_delay_ms);
    let (key, longest, what, label) = if soft <= interval {
        let removed = if server.hard_timeout_ms <= interval { ", and removed," } else { "" };
        let label = format!("instances that are alive are hidden{removed} between two heartbeats");
        ("heartbeat-interval-ms", interval, "the heartbeat interval", label)
    } else if soft <= first {
        let label = "new instances are hidden until their first heartbeat".to_owned();
        ("first-heartbeat-delay-ms", first, "the first heartbeat", label)
    } else {
        return None;
    };
    let beat = spans.of(place_of, &at(key));
    let (place, related) = match spans.global(&at("soft-timeout-ms")) {
        Some(place) => (Some(place), beat),
        None => (beat, None),
    };
    let title = format!("a soft timeout of {} is not longer than {what} of {}", ms(soft), ms(longest));
    Some(Problem::warning(place, title).label(label).related(related, what).hint(
        "the registry hides who is silent for longer than that: give it at least three heartbeat intervals",
    ))
}

/// New entries that count as silent for ever (1.5).
fn never_heard(server: &ServerConfig, spans: &Spans<'_>) -> Option<Problem> {
    (!server.register_stamps_heartbeat).then(|| {
        Problem::warning(
            spans.global(&at("register-stamps-heartbeat")),
            "a new entry counts as silent since long ago",
        )
        .label(
            "the first sweep hides a newcomer, and the next removes it unless a heartbeat comes in between",
        )
    })
}

fn guard_never_shuts(server: &ServerConfig, spans: &Spans<'_>) -> Option<Problem> {
    let percent = server.guard_min_healthy_pct;
    if server.guard == Guard::None || percent > 1 {
        return None;
    }
    let label = if percent == 0 { "it never shuts" } else { "it hardly ever shuts" };
    Some(
        Problem::warning(
            spans.global(&at("guard-min-healthy-pct")),
            format!("the guard passes a service of which {percent} % are healthy"),
        )
        .label(label)
        .hint("it is a whole number of percent, as in `guard-min-healthy-pct = 85`; to switch it off set `guard = \"none\"`"),
    )
}

/// A guard that one unhealthy instance shuts for good (C2, C3).
fn jams_at_once(server: &ServerConfig, app: AppOf<'_, TwoStage>, spans: &Spans<'_>) -> Option<Problem> {
    let size = u64::from(app.instances);
    if size == 0 || tolerated(server, size) != Some(0) || !can_jam(server) {
        return None;
    }
    let title = format!("one unhealthy instance of {size} shuts the guard of `{}`", app.name);
    Some(
        Problem::warning(spans.global(&at("guard-min-healthy-pct")), title)
            .label("a single crash jams it: the dead one is never removed, and no later death is noticed")
            .hint("an unhealthy entry counts against the guard until it is removed, which only an open guard allows"),
    )
}

/// A service too small for the guard, told where something may silence it though it lives (C7).
fn no_guard(
    scenario: ScenarioOf<'_, TwoStage>,
    app: AppOf<'_, TwoStage>,
    spans: &Spans<'_>,
) -> Option<Problem> {
    let server = scenario.server();
    let least = server.guard_min_instances;
    let silences = |verb: &FaultKind| {
        matches!(
            verb,
            FaultKind::Partition { .. }
                | FaultKind::Flap { .. }
                | FaultKind::Degrade { .. }
                | FaultKind::Pause { .. }
                | FaultKind::Pauses { .. }
        ) && concerns(scenario, verb, app)
    };
    if server.guard == Guard::None
        || app.instances >= least
        || !scenario.faults.iter().any(|it| silences(&it.verb))
    {
        return None;
    }
    let title =
        format!("`{}` has {} instances, and the guard looks at services of {least}", app.name, app.instances);
    Some(
        Problem::warning(spans.global(&at("guard-min-instances")), title)
            .label("nothing keeps a sweep from emptying it when they are cut off"),
    )
}

/// Whether a fault may hit an application's instances, or the registry, which hits all.
pub(crate) fn concerns(
    scenario: ScenarioOf<'_, TwoStage>,
    verb: &FaultKind,
    app: AppOf<'_, TwoStage>,
) -> bool {
    match verb.selection() {
        None => verb.hits_server(),
        Some(selection) => Fleet::of(&scenario, selection).apps().any(|(hit, _)| hit == app.id),
    }
}

/// Reads that are protected always.
fn reads_all(server: &ServerConfig, spans: &Spans<'_>) -> Option<Problem> {
    server.read_protect_threshold.filter(|threshold| *threshold >= 1.0)?;
    Some(
        Problem::warning(
            spans.global(&at("read-protect-threshold")),
            "the share of healthy entries is never above 1",
        )
        .label("every entry is served as healthy, dead or alive, until it is removed")
        .hint("to switch the protection off write `\"none\"`"),
    )
}

/// The only instance of a service whose reads are protected (4.4, N1).
fn only_one(
    scenario: ScenarioOf<'_, TwoStage>,
    app: AppOf<'_, TwoStage>,
    spans: &Spans<'_>,
) -> Option<Problem> {
    scenario.server().read_protect_threshold?;
    let dies = |verb: &FaultKind| matches!(verb, FaultKind::Crash(_)) && concerns(scenario, verb, app);
    if app.instances != 1 || !scenario.faults.iter().any(|fault| dies(&fault.verb)) {
        return None;
    }
    let hard = ms(scenario.server().hard_timeout_ms);
    let place = spans.global(&at("read-protect-threshold"));
    Some(
        Problem::warning(
            place,
            format!("`{}` has one instance, and no healthy one when that is silent", app.name),
        )
        .label(format!("it is served as healthy until it is removed, after {hard} of silence"))
        .hint("with `read-protect-threshold = \"none\"` the unhealthy are never served"),
    )
}

/// Long polls that hold every thread: heartbeats wait behind them (2.7).
fn threads_used_up(scenario: ScenarioOf<'_, TwoStage>, spans: &Spans<'_>) -> Option<Problem> {
    let threads = u64::from(scenario.server().worker_threads?);
    let watches = |app: AppOf<'_, TwoStage>| {
        let client = app.client;
        let watches = client.fetches && client.discovery == Discovery::LongPoll;
        let services = if watches { client.services.len() as u64 } else { 0 };
        u64::from(app.instances) * services
    };
    let held: u64 = scenario.apps().map(watches).sum();
    if held < threads {
        return None;
    }
    let wait = scenario.apps().filter(|app| watches(*app) > 0).map(longest_watch).max()?;
    Some(
        Problem::warning(
            spans.global(&at("worker-threads")),
            format!("{held} long polls are held, and there are {threads} threads"),
        )
        .label(format!("heartbeats wait for a long poll to end, up to {wait}: live instances are hidden"))
        .hint("each consumer holds a thread for each service that it watches: give it more, or name fewer in `subscribes`"),
    )
}

fn longest_watch(app: AppOf<'_, TwoStage>) -> SimDuration {
    let ClientConfig { watch_timeout_ms, .. } = app.client;
    ms(*watch_timeout_ms)
}
