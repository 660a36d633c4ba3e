//! What the closed forms take for granted, and the reason for an absence where it does not hold.
//!
//! A bound that is wrong is worse than none: everything here is checked on the safe side.

use super::super::fleet::{Hit, hits};
use super::super::latency::Latency;
use super::super::reason::Reason;
use super::super::types::BoundRange;
use super::census::MINUTE;
use super::expected::server_to_faults;
use super::lease;
use super::pipeline::cache_interval;
use super::reason::EurekaReason;
use super::start::{deregisters, opens_between, registers_at_once, registers_up};
use super::{App, Case};
use crate::engine::SimDuration;
use crate::model::eureka::Flavour;
use crate::model::eureka::client::ClientConfig;
use crate::model::stage::EventKind;
use crate::scenario::FaultKind;

/// Java keeps a lease's duration in an `int` of milliseconds; beyond this many seconds it is negative
/// (`eureka-server.md` 1.1).
const DURATION_S_MAX: u64 = 2_147_483;

/// Every call is answered within its supervisor's and its transport's limits.
pub(super) fn calls_are_short(scenario: Case<'_>, latency: &Latency) -> Result<(), Reason> {
    let call = latency.round_trip().max;
    let too_long = |app: App<'_>| {
        let client = app.client;
        let fetch = SimDuration::from_secs(u64::from(client.registry_fetch_interval_seconds));
        let interval = lease::interval(client).min(fetch);
        let limit = client.transport.connect_limit().min(client.transport.read_limit());
        // A fetch job may make two calls, and so may a heartbeat.
        call * 2 > interval || call > limit
    };
    if scenario.apps().any(too_long) {
        return Err(EurekaReason::LongCalls.into());
    }
    Ok(())
}

/// The instances concerned are shown as UP before, or from the moment in question.
pub(super) fn subjects_are_shown(scenario: Case<'_>, event: EventKind, hits: &[Hit]) -> Result<(), Reason> {
    let hit = |place: usize| hits.iter().any(|hit| hit.at_most_of(place) > 0);
    for (_, app) in scenario.apps().enumerate().filter(|(place, _)| hit(*place)) {
        let client = app.client;
        if !client.register_with_eureka {
            continue;
        }
        if !registers_up(client) {
            return Err(EurekaReason::NotUp { application: app.name.to_owned() }.into());
        }
        if event == EventKind::Stop && !deregisters(client) {
            return Err(EurekaReason::NotDeregistered { application: app.name.to_owned() }.into());
        }
        let says_starting = client.should_enforce_registration_at_init && !client.instance_enabled_onit;
        if event == EventKind::Registration && says_starting {
            return Err(EurekaReason::RegistersStarting.into());
        }
    }
    Ok(())
}

/// No live lease expires between two heartbeats, not even the first, which is not doubled.
pub(super) fn leases_cover_heartbeats(scenario: Case<'_>, latency: &Latency) -> Result<(), Reason> {
    let registering = scenario.apps().filter(|app| app.client.register_with_eureka);
    for app in registering {
        let (duration, period) = (lease::duration(app.client), lease::period(app.client, latency));
        if duration < period.max || duration > SimDuration::from_secs(DURATION_S_MAX) {
            return Err(EurekaReason::ShortLeases {
                application: app.name.to_owned(),
                duration,
                interval: lease::interval(app.client),
            }
            .into());
        }
    }
    Ok(())
}

/// A server that copies from itself before it opens registers anew what it saw a while ago
/// (`eureka-server.md` 8.2): that would bring back who has left.
pub(super) fn copying_is_over(scenario: Case<'_>, hits: &[Hit]) -> Result<(), Reason> {
    let first = hits.iter().map(|hit| hit.from).min().unwrap_or_default();
    match copied_by(scenario) {
        Some(by) if server_to_faults(scenario) + first < by => Err(EurekaReason::Copying.into()),
        _ => Ok(()),
    }
}

/// When the last try at copying is over, from the server's start; `None` if there is nothing to copy.
fn copied_by(scenario: Case<'_>) -> Option<SimDuration> {
    let (earliest, latest) = opens_between(scenario);
    (earliest != latest).then_some(latest)
}

/// Every crash finds a lease that was renewed since it was registered.
pub(super) fn all_renewed(
    scenario: Case<'_>,
    client: &ClientConfig,
    latency: &Latency,
    hits: &[Hit],
) -> bool {
    let by = renewed_by(client, latency);
    // What is registered anew by the copy is renewed by the next heartbeat.
    let copied_by =
        copied_by(scenario).map_or(SimDuration::ZERO, |by| by + lease::period(client, latency).max);
    let arrivals = self::hits(&scenario, EventKind::Registration);
    hits.iter().all(|hit| {
        let long_there = scenario.warm_up + hit.from >= by;
        let after_copy = server_to_faults(scenario) + hit.from >= copied_by;
        let mut others = arrivals.iter().filter(|new| new.fault != hit.fault);
        let no_newcomer = others.all(|new| hit.to < new.from || hit.from >= new.to + by);
        long_there && after_copy && no_newcomer
    })
}

/// No instance starts during the run.
pub(super) fn nothing_arrives(scenario: Case<'_>) -> bool {
    hits(&scenario, EventKind::Registration).is_empty()
}

/// By when, from its start, an instance's first heartbeat has renewed its lease. Without an immediate
/// registration the first heartbeat is answered 404 and registers, and the second renews.
fn renewed_by(client: &ClientConfig, latency: &Latency) -> SimDuration {
    let (call, period) = (latency.round_trip().max, lease::period(client, latency).max);
    let heartbeats = if registers_at_once(client) { period } else { period * 2 + call };
    call * 2 + heartbeats
}

/// When the first lease expires, rounds are being run; and if self-preservation is on, the last complete minute
/// began when the whole fleet had been sending heartbeats. `earliest` is the shortest way from a crash to its
/// expiry.
pub(super) fn rounds_are_under_way(
    scenario: Case<'_>,
    latency: &Latency,
    hits: &[Hit],
    earliest: SimDuration,
) -> Result<(), Reason> {
    let first = hits.iter().map(|hit| hit.from).min().unwrap_or_default() + earliest;
    let (_, opens) = opens_between(scenario);
    let protects = scenario.server().enable_self_preservation;
    let counted_from = if protects { opens + MINUTE } else { opens };
    if server_to_faults(scenario) + first < counted_from {
        return Err(EurekaReason::NoRoundYet.into());
    }
    let registering = scenario.apps().filter(|app| app.client.register_with_eureka);
    let beating_by = registering.map(|app| renewed_by(app.client, latency)).max().unwrap_or_default();
    if protects && scenario.warm_up + first < MINUTE * 2 + beating_by {
        return Err(EurekaReason::FirstMinutes.into());
    }
    Ok(())
}

/// The answer that clients get is the read-only cache's, or the registry's.
pub(super) fn answers_follow_the_cache(scenario: Case<'_>, hits: &[Hit]) -> Result<(), Reason> {
    let server = scenario.server();
    let fetches = |app: App<'_>| app.client.fetch_registry && app.instances > 0;
    if !server.fetch_registry && !scenario.apps().any(fetches) {
        return Err(EurekaReason::NobodyAsks.into());
    }
    // A server that found nothing to copy refuses to answer for a while (`eureka-server.md` 7.3).
    let refuses = server.flavour == Flavour::Netflix || server.default_open_for_traffic_count == 0;
    let wait = SimDuration::from_millis(u64::from(server.wait_time_in_ms_when_sync_empty));
    let first = hits.iter().map(|hit| hit.from).min().unwrap_or_default();
    if refuses && server_to_faults(scenario) + first <= opens_between(scenario).1 + wait {
        return Err(EurekaReason::RefusesToAnswer.into());
    }
    Ok(())
}

/// A change stays in the delta queue until every observer has fetched it; else a full fetch of its own follows.
pub(super) fn deltas_last(scenario: Case<'_>, latency: &Latency) -> Result<(), Reason> {
    let server = scenario.server();
    let retention = SimDuration::from_millis(u64::from(server.retention_time_in_ms_in_delta_queue));
    let copied = if server.use_read_only_response_cache { cache_interval(server) } else { SimDuration::ZERO };
    let forgets = |app: App<'_>| {
        let interval = SimDuration::from_secs(u64::from(app.client.registry_fetch_interval_seconds));
        let by_delta = !app.client.disable_delta && !server.disable_delta;
        app.observers && by_delta && retention < copied + interval + latency.round_trip().max * 2
    };
    if scenario.apps().any(forgets) {
        return Err(EurekaReason::ShortDeltas.into());
    }
    Ok(())
}

/// Why there is no closed form if an instance comes back under its own id before every stage has noticed that
/// it was gone: neither its end nor its return is seen then.
pub(super) fn returns_unnoticed(
    scenario: Case<'_>,
    event: EventKind,
    ranges: impl Fn(Case<'_>, EventKind) -> [Result<BoundRange, Reason>; 4],
) -> Option<Reason> {
    for fault in &scenario.faults {
        let FaultKind::Restart { ref targets, down_for, new_id: false, graceful, .. } = fault.verb else {
            continue;
        };
        let ends = if graceful { EventKind::Stop } else { EventKind::Crash };
        if targets.is_server() || (event != EventKind::Registration && event != ends) {
            continue;
        }
        let in_time = |range: &Result<BoundRange, Reason>| match range {
            Ok(range) => range.max <= down_for,
            Err(_) => false,
        };
        if !ranges(scenario, ends).iter().all(in_time) {
            return Some(Reason::ReturnsUnnoticed);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Disturbance, bounds};
    use crate::scenario::{Delay, Network, Scenario, parse};

    /// A fleet of 100 in two applications and zones, with this besides.
    fn with(text: &str) -> Scenario {
        let text = format!(
            "{text}\n[[application]]\nname = \"a\"\ninstances = 90\nzones = [\"east\", \"west\"]\n\
             [[application]]\nname = \"b\"\ninstances = 10\n"
        );
        parse("test.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}")).scenario
    }

    /// Of each kind of event and stage, whether there is a closed form.
    fn closed(scenario: &Scenario) -> Vec<bool> {
        bounds(scenario).iter().map(|bound| bound.range.is_ok()).collect()
    }

    #[test]
    fn faults_that_only_callers_notice_leave_the_closed_forms_alone() {
        for verb in [
            "grey = { count = 5 }",
            "partition = { count = 5, peer = { zone = \"west\" } }",
            "flap = { count = 5, peer = { application = \"a\" }, up-for = \"1m\", down-for = \"1m\" }",
            "degrade = { count = 5, peer = { application = \"a\" }, loss = 0.5 }",
            "crash = { count = 1, zone = \"west\" }",
            "reclaim = { count = 1 }",
        ] {
            let scenario = with(&format!("[[fault]]\ncrash = {{ count = 1 }}\n[[fault]]\n{verb}"));
            assert_eq!(closed(&scenario), [true; 4], "{verb}");
        }
        let stop = with("[[fault]]\nstop = { count = 5, over = \"1m\", linger = \"10s\" }");
        assert_eq!(closed(&stop), [true; 4]);
        // They watch each other until they stop themselves: no mean at `client` and `balancer`.
        let means = bounds(&stop).iter().map(|bound| bound.mean_absent.is_none()).collect::<Vec<_>>();
        assert_eq!(means, [true, true, false, false]);
    }

    #[test]
    fn what_disturbs_leaves_no_closed_form() {
        for verb in [
            "crash = { server = true }",
            "partition = { servers = [\"server-1\"], peer = \"instances\" }",
            "degrade = { servers = 1, peer = { zone = \"west\" }, loss = 0.1 }",
            "pauses = { count = 1, every = \"5m\", lasting = \"1s\" }",
            "partition = { count = 1, peer = \"all\" }",
            "flap = { count = 1, up-for = \"1m\", down-for = \"1s\" }",
            "degrade = { count = 1, latency = \"1s\" }",
            "crash-loop = { count = 1, up-for = \"1m\" }",
            "slow-heartbeats = { count = 1, delay = \"10s\" }",
            "clock = { server = true, step = \"60s\" }",
            "unhealthy = { count = 1, via = \"status-change\" }",
            "override = { count = 1 }",
            "delete = { count = 1 }",
            "change = { eureka.server.enable-self-preservation = false }",
            "roll-out = { application = \"a\", batch = 10 }",
            "blue-green = { from = \"a\", to = \"b\" }",
            "reclaim = { count = 4, heeded = 0.5 }",
        ] {
            let scenario = with(&format!("[[fault]]\ncrash = {{ count = 1 }}\n[[fault]]\n{verb}"));
            let closed = closed(&scenario);
            assert!(closed.len() >= 4 && closed.iter().all(|closed| !closed), "{verb}: {closed:?}");
        }
    }

    #[test]
    fn several_servers_have_no_closed_form_yet() {
        for (section, why) in [
            ("count = 2", Disturbance::SeveralServers),
            ("recognises-own-url = false", Disturbance::ReplicatesToItself),
            ("capacity = { threads = 1 }", Disturbance::ServerThreads),
        ] {
            let scenario = with(&format!("[server]\n{section}\n[[fault]]\ncrash = {{ count = 1 }}"));
            for bound in bounds(&scenario) {
                assert_eq!(bound.range, Err(why.into()), "{section}");
            }
        }
        // A lone server's network to others and its start are nobody's matter.
        let alone = "[server]\nzones = [\"east\"]\n[server.network]\nloss = 0.5\n";
        assert_eq!(closed(&with(&format!("{alone}[[fault]]\ncrash = {{ count = 1 }}"))), [true; 4]);
    }

    #[test]
    fn links_and_clocks_that_differ_leave_no_closed_form() {
        let crash = "[[fault]]\ncrash = { count = 1 }\n";
        for section in [
            "[network]\nloss = 0.01",
            "[network]\nlatency = { exponential = \"1ms\" }",
            "[server.clock]\ndrift-ppm = 5",
        ] {
            assert_eq!(closed(&with(&format!("{section}\n{crash}"))), [false; 4], "{section}");
        }
        let mut scenario = with(crash);
        let latency = |millis| Delay::Constant(SimDuration::from_millis(millis));
        scenario.applications[1].network = Some(Network { latency: latency(1), loss: 0.0 });
        assert_eq!(closed(&scenario), [true; 4]);
        scenario.applications[1].network = Some(Network { latency: latency(2), loss: 0.0 });
        assert_eq!(closed(&scenario), [false; 4]);
        // A clock that is off, but steady, ages no lease.
        assert_eq!(closed(&with(&format!("[server.clock]\noffset = \"-1h\"\n{crash}"))), [true; 4]);
    }
}
