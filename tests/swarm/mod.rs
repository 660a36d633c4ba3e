//! Swarm: worlds drawn at random, faults and all. Safety holds at every moment, liveness after the last heal.
//!
//! A failing world prints the command that brings it back. `STILLUP_SWARM=N` runs N worlds, `STILLUP_SWARM_SEED=S`
//! just one.

mod calls;
mod faults;
mod worlds;

use std::sync::atomic::AtomicBool;

use stillup::engine::SimDuration;
use stillup::model::stage::Stage;
use stillup::observe::{Ending, Minute, Outcome, Removal, ReplicateData, RoundRow};
use stillup::scenario::{Application, FaultKind, Scenario, ServerList};
use stillup::world;

use worlds::scenario;

/// Worlds in an ordinary run of the tests.
const WORLDS: u64 = 60;

/// What no world may do at any moment.
fn safety(scenario: &Scenario, data: &ReplicateData) -> Vec<String> {
    let mut broken = Vec::new();
    let mut check = |holds: bool, what: String| {
        if !holds {
            broken.push(what);
        }
    };
    check(data.ending != Ending::Budget, format!("{} events", data.events));
    let leases = data.leases;
    check(
        leases.created == leases.cancelled + leases.evicted + leases.lost + u64::from(data.left_at_end()),
        format!("leases do not add up: {leases:?}, {} left", data.left_at_end()),
    );
    for RoundRow { at, round, .. } in &data.rounds {
        check(round.enabled, format!("a round evicted behind a shut gate at {at}"));
        check(round.evicted <= round.limit, format!("a round went beyond its limit at {at}: {round:?}"));
        check(round.evicted <= round.expired, format!("a round evicted the living at {at}: {round:?}"));
    }
    let injected = data.faults.len() == scenario.faults.len();
    check(injected || data.ending == Ending::Budget, format!("not all faults came: {:?}", data.faults));
    let lease = scenario.setup.eureka().unwrap().clients[0].lease_expiration_duration_in_seconds;
    let earliest = SimDuration::from_secs(u64::from(lease));
    let server_clock_is_exact = scenario.server_clock.drift_ppm == 0
        && !scenario
            .faults
            .iter()
            .any(|fault| matches!(&fault.verb, FaultKind::Clock { .. } if fault.verb.hits_server()));
    let evicted = data.mistakes.iter().filter(|mistake| mistake.removal == Removal::Evicted);
    for mistake in evicted.filter(|_| server_clock_is_exact) {
        check(mistake.at.since(stillup::engine::SimTime::ZERO) > earliest, format!("too early: {mistake:?}"));
    }
    let server_untouched = data
        .faults
        .iter()
        .all(|fault| fault.verb == "crash" || fault.verb == "start" || fault.verb == "stop");
    if scenario.servers.len() == 1 && server_untouched && scenario.warm_up >= SimDuration::from_secs(300) {
        stages_in_order(data, &mut check);
    }
    broken
}

/// Along one path nothing is noticed downstream before it is upstream.
fn stages_in_order(data: &ReplicateData, check: &mut impl FnMut(bool, String)) {
    for row in data.detections.iter().filter(|row| row.stage != Stage::Registry) {
        let Outcome::Detected(after) = row.outcome else { continue };
        let upstream = Stage::ALL[row.stage as usize - 1];
        let earliest = data
            .detections
            .iter()
            .filter(|other| {
                (other.at, other.instance, other.event, other.stage)
                    == (row.at, row.instance, row.event, upstream)
            })
            .map(|other| match other.outcome {
                Outcome::Detected(after) | Outcome::Censored(after) | Outcome::Superseded(after) => after,
            })
            .min();
        check(
            earliest.is_none_or(|earliest| earliest <= after),
            format!("{} before {}: {row:?}, {earliest:?}", row.stage.name(), upstream.name()),
        );
    }
}

/// Whether a world is ever left alone. A network that goes on to lose messages is not. And an instance whose clock was
/// set back may have a record that its server takes for old, and holds to the newer one, for good if nothing changes
/// again (`eureka-client.md` 9.2).
fn comes_to_rest(scenario: &Scenario) -> bool {
    let goes_back = |verb: &FaultKind| match verb {
        FaultKind::Clock { targets, step_ms, drift_ppm, length } => {
            !targets.is_server() && (*step_ms < 0 || (length.is_some() && (*step_ms, *drift_ppm) != (0, 0)))
        }
        _ => false,
    };
    scenario.network.loss == 0.0 && !scenario.faults.iter().any(|fault| goes_back(&fault.verb))
}

/// What every world must reach once it is left alone.
fn liveness(scenario: &Scenario, data: &ReplicateData) -> Vec<String> {
    let agreement = data.agreement;
    let mut broken = Vec::new();
    if !everyone_has_a_server(scenario, data) {
        return broken;
    }
    if agreement.missing_in_registries > 0 {
        broken.push(format!("live instances are missing in the registry: {agreement:?}"));
    }
    // Who missed a delta and holds as many wrong instances as right ones cannot know.
    if agreement.missing_in_views > agreement.missing_behind_equal_hashes {
        broken.push(format!("live instances are missing in views: {agreement:?}"));
    }
    if evictions_were_open(data) && agreement.dead_in_registries > 0 {
        broken.push(format!("the dead are still there: {agreement:?}"));
    }
    let changes_a_status =
        |verb: &FaultKind| matches!(verb, FaultKind::Override { .. } | FaultKind::Unhealthy { .. });
    let differing = data.divergence.last().map_or(0, |row| row.differing);
    if differing > 0
        && (agreement.missing_in_registries, agreement.dead_in_registries) == (0, 0)
        && !scenario.faults.iter().any(|fault| changes_a_status(&fault.verb))
    {
        broken.push(format!("servers differ about {differing}: {agreement:?}"));
    }
    broken
}

/// Whether no client is left alone: all its servers may have been killed, or enough of them that it never comes to the
/// others (`eureka-client.md` 6.2).
fn everyone_has_a_server(scenario: &Scenario, data: &ReplicateData) -> bool {
    let down = data.servers.iter().filter(|server| !server.is_up).count();
    let knows_all = |application: &Application| match &application.server_list {
        ServerList::OneZone(servers) => servers.len() == data.servers.len(),
        ServerList::Zones(_) | ServerList::OwnZoneFirst => true,
    };
    down == 0 || down == 1 && data.servers.len() > 1 && scenario.applications.iter().all(knows_all)
}

/// Whether every server let leases expire in each of the last twenty minutes.
fn evictions_were_open(data: &ReplicateData) -> bool {
    let is_late = |row: &&Minute| data.ended_at.since(row.at) <= SimDuration::from_secs(1_200);
    !data.timeline.iter().filter(is_late).any(|row| row.self_preservation)
}

#[test]
fn random_worlds_are_safe_and_come_to_rest() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seeds = match number("STILLUP_SWARM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("STILLUP_SWARM").unwrap_or(WORLDS),
    };
    for seed in seeds {
        let scenario = scenario(seed);
        let data = world::run(&scenario, 0, &AtomicBool::new(false)).expect("nobody interrupts");
        let mut broken = safety(&scenario, &data);
        if seed % 10 == 0
            && world::run(&scenario, 0, &AtomicBool::new(false)).expect("nobody interrupts") != data
        {
            broken.push("the same world came out another".to_owned());
        }
        if data.ending == Ending::Duration && comes_to_rest(&scenario) {
            broken.extend(liveness(&scenario, &data));
        }
        broken.extend(calls::calls(&scenario, &data));
        assert!(
            broken.is_empty(),
            "world {seed}: {broken:#?}\nSTILLUP_SWARM_SEED={seed} cargo test --test suite swarm\n{:#?}",
            scenario.faults
        );
    }
}
