//! Wall clocks that are off.

use super::*;
use crate::scenario::{Clock, HealthVia};

fn step(targets: Targets, seconds: i64, length: Option<SimDuration>) -> FaultKind {
    FaultKind::Clock { targets, step_ms: seconds * 1_000, drift_ppm: 0, length }
}

fn minutes(scenario: &Scenario) -> Vec<u64> {
    run(scenario, 0).timeline.iter().map(|minute| minute.at.as_millis()).collect()
}

/// Spec 9: a step forward of 200 s ages all leases at once, uncompensated, more than a lease has left (150 to 180 s).
#[test]
fn a_server_set_forward_removes_the_living() {
    let mut scenario = in_step(20);
    scenario.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
    let data = run(&with_at(scenario.clone(), 0, step(Targets::Servers(ServerChoice::All), 200, None)), 0);
    // The round of 60 s comes with the step; 20 − 17 = 3 of those that do not beat in the same millisecond go.
    let evicted: u64 =
        data.mistakes.iter().filter(|row| row.stage == Stage::Registry).map(|row| row.count).sum();
    assert!((1..=3).contains(&evicted), "{evicted}");
    assert!(data.mistakes.iter().all(|mistake| mistake.corrected));
    let data = run(&with_at(scenario, 0, step(Targets::Servers(ServerChoice::All), 60, None)), 0);
    assert!(data.mistakes.is_empty(), "60 s are less than any lease has left");
}

/// Spec 9: a step back by 60 s delays the timers by as much; one forward wakes nobody early.
#[test]
fn a_server_set_back_waits_for_its_clock_to_catch_up() {
    let set_back = with_at(in_step(1), 30, step(Targets::Servers(ServerChoice::All), -60, None));
    assert_eq!(minutes(&set_back)[..3], [60_000, 180_000, 240_000]);
    let set_forward = with_at(in_step(1), 30, step(Targets::Servers(ServerChoice::All), 60, None));
    assert_eq!(minutes(&set_forward)[..3], [60_000, 120_000, 180_000]);
    // Taken back before the timer looks: as if nothing had been.
    let healed = with_at(in_step(1), 30, step(Targets::Servers(ServerChoice::All), -60, Some(s(10))));
    assert_eq!(minutes(&healed)[..3], [60_000, 120_000, 180_000]);
}

/// 10 % slow: a minute of its clock takes 60 s / 0.9. A fast one wakes nobody early.
#[test]
fn a_slow_server_has_long_minutes() {
    let mut scenario = in_step(1);
    scenario.server_clock = Clock { offset_ms: 12_345, drift_ppm: -100_000 };
    let slow = minutes(&scenario);
    assert_eq!(slow[0], 66_667);
    assert!((slow[1] - slow[0]).abs_diff(66_667) <= 2);
    scenario.server_clock.drift_ppm = 100_000;
    assert_eq!(minutes(&scenario)[..2], [60_000, 120_000]);
}

/// An offset, however large, shows nowhere but in the phase of the caches' grid.
#[test]
fn a_constant_offset_is_harmless() {
    let mut scenario = in_step(20);
    scenario.applications[0].clock = Clock { offset_ms: -86_400_000, drift_ppm: 200 };
    scenario.server_clock = Clock { offset_ms: 3_600_000, drift_ppm: 0 };
    let data = run(&scenario, 0);
    assert!(data.mistakes.is_empty());
    assert_eq!((data.agreement.missing_in_registries, data.agreement.missing_in_views), (0, 0));
}

/// Spec 9.2: an instance whose clock was set back registers a record that looks older than the one that is there: the
/// server keeps that, until the clock has passed it.
#[test]
fn a_client_set_back_cannot_change_its_status() {
    let unhealthy = FaultKind::Unhealthy {
        targets: one(),
        via: HealthVia::StatusChange,
        length: Some(s(600)),
        calls_fail: 1.0,
    };
    let seen = |back: i64| {
        let scenario = with_at(in_step(1), 0, step(some(1), -back, None));
        let data = run(&with_at(scenario, 0, unhealthy.clone()), 0);
        outcomes(&data, EventKind::Unhealthy, Stage::Registry)[0].0
    };
    assert_eq!(seen(10), Outcome::Detected(ms(1)), "60 s after its registration 10 s are not enough");
    assert_eq!(seen(100), Outcome::Superseded(s(600)));
}

/// The server's own client reads the same clock.
#[test]
fn the_servers_own_client_is_off_with_it() {
    let mut scenario = with_at(in_step(3), 0, step(Targets::Servers(ServerChoice::All), 5, None));
    scenario.setup.eureka_mut().unwrap().server.register_with_eureka = true;
    scenario.server_clock = Clock { offset_ms: 100, drift_ppm: 0 };
    look(&scenario, 100, |world| {
        let own = world.servers[0].own_client.expect("it registers");
        let skew = &world.clients[own.index()].node_faults.as_ref().expect("it is off").skew;
        let now = SimTime::from_secs(100);
        let ahead = |skew| world.wall.now_off(now, skew).wall.since(world.wall.now(now).wall);
        assert_eq!((ahead(skew), ahead(&world.servers[0].skew)), (5_100, 5_100));
    });
}
