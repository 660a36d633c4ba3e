//! Unhealthy instances, grey failure, slow heartbeats.

use super::*;
use crate::model::id::ClientId;
use crate::scenario::HealthVia;

fn unhealthy(via: HealthVia, seconds: u64) -> FaultKind {
    FaultKind::Unhealthy { targets: one(), via, length: Some(s(seconds)), calls_fail: 0.5 }
}

/// The registration of DOWN reaches the server after 1 ms, that of UP as well.
#[test]
fn a_status_that_is_set_is_seen_at_once() {
    let data = run(&with_at(in_step(20), 0, unhealthy(HealthVia::StatusChange, 120)), 0);
    assert_eq!(outcomes(&data, EventKind::Unhealthy, Stage::Registry), [(Outcome::Detected(ms(1)), 1)]);
    assert_eq!(outcomes(&data, EventKind::Recovery, Stage::Registry), [(Outcome::Detected(ms(1)), 1)]);
    let seen: u64 = outcomes(&data, EventKind::Unhealthy, Stage::Client).iter().map(|row| row.1).sum();
    assert_eq!(seen, 19);
    assert!(data.mistakes.is_empty());
    assert_eq!(data.agreement.missing_in_views, 0);
}

/// The handler is asked 30 s after each run of the replicator: at 30.004, 60.004 and 90.004 s, and so on. Of changes at
/// 70 and 190 s it says so after 20 s, and one latency later the server knows.
#[test]
fn a_handler_waits_to_be_asked() {
    let mut scenario = with_at(in_step(20), 10, unhealthy(HealthVia::HealthCheck, 120));
    scenario.setup.eureka_mut().unwrap().clients[0].healthcheck_enabled = true;
    let data = run(&scenario, 0);
    for event in [EventKind::Unhealthy, EventKind::Recovery] {
        let rows = outcomes(&data, event, Stage::Registry);
        let [(Outcome::Detected(after), 1)] = rows[..] else { panic!("{rows:?}") };
        assert!(after > s(19) && after < s(21), "{after}");
    }
}

/// Spec 4.2: no handler by default. Nobody ever learns, and the end supersedes what nobody saw.
#[test]
fn without_a_handler_nobody_learns() {
    let data = run(&with_at(in_step(20), 10, unhealthy(HealthVia::HealthCheck, 120)), 0);
    for (stage, count) in [(Stage::Registry, 1), (Stage::Client, 19)] {
        let superseded = [(Outcome::Superseded(s(120)), count)];
        assert_eq!(outcomes(&data, EventKind::Unhealthy, stage), superseded);
    }
    assert!(outcomes(&data, EventKind::Recovery, Stage::Registry).is_empty(), "it was shown all the time");
}

#[test]
fn calls_fail_while_something_makes_them() {
    let grey = |share, length| FaultKind::Grey { targets: one(), calls_fail: share, length: Some(s(length)) };
    let mut scenario = with_at(in_step(1), 0, grey(0.5, 100));
    scenario = with_at(scenario, 10, grey(0.2, 20));
    let share = |second| look(&scenario, second, |world| world.clients[0].calls_fail);
    assert_eq!((share(59), share(61), share(100), share(161)), (0.0, 0.5, 0.5, 0.0));
    assert!((share(80) - 0.6).abs() < 1e-12); // 1 − 0.5 · 0.8
    assert_eq!(run(&scenario, 0).agreement.missing_in_registries, 0, "heartbeats go on");
}

/// A restart cures it: the new process is UP, answers calls, and its recovery is not waited for.
#[test]
fn a_new_process_is_well() {
    let restart = FaultKind::Restart {
        one_by_one: None,
        targets: Targets::Instances(all()),
        down_for: s(5),
        new_id: false,
        graceful: false,
    };
    let scenario = with_at(in_step(1), 0, unhealthy(HealthVia::StatusChange, 300));
    let scenario = with_at(scenario, 100, restart);
    look(&scenario, 200, |world| {
        let node = &world.clients[0];
        assert_eq!((node.calls_fail, node.client.status()), (0.0, crate::model::message::Status::Up));
        assert!(!world.impairments.has(node.instance));
    });
    let data = run(&scenario, 0);
    assert!(outcomes(&data, EventKind::Recovery, Stage::Registry).is_empty());
    assert_eq!(data.agreement.missing_in_registries, 0);
}

/// It recovers while it stands still: the application says so when it goes on.
#[test]
fn a_status_is_set_by_a_process_that_runs() {
    let pause = FaultKind::Pause { targets: some(1), length: constant(100) };
    let scenario = with_at(in_step(1), 0, unhealthy(HealthVia::StatusChange, 60));
    let data = run(&with_at(scenario, 30, pause), 0);
    let rows = outcomes(&data, EventKind::Recovery, Stage::Registry);
    assert_eq!(rows, [(Outcome::Detected(s(70) + ms(1)), 1)]); // well at 120 s, paused from 90 to 190 s
}

/// Both at once: it is well when the second is over.
#[test]
fn an_instance_is_well_when_nothing_ails_it_any_more() {
    let scenario = with_at(in_step(1), 0, unhealthy(HealthVia::StatusChange, 60));
    let scenario = with_at(scenario, 30, unhealthy(HealthVia::StatusChange, 60));
    let data = run(&scenario, 0);
    assert_eq!(outcomes(&data, EventKind::Recovery, Stage::Registry), [(Outcome::Detected(ms(1)), 1)]);
    let status = |second| look(&scenario, second, |world| world.clients[0].client.status().name());
    assert_eq!((status(130), status(155)), ("DOWN", "UP"));
}

/// The beat of 60.004 leaves 40 s later, 10 s after its supervisor gave it up. The next job comes 30 + 60 s after the
/// first, and so on: 60.004, 150.004 and, since that takes 40 s too, 30 + 120 s later, 300.004.
#[test]
fn a_slow_heartbeat_leaves_late() {
    let slow = FaultKind::SlowHeartbeats { targets: all(), delay: constant(40), length: Some(s(600)) };
    let mut scenario = with_at(in_step(1), 0, slow);
    scenario.setup.eureka_mut().unwrap().clients[0].fetch_registry = false;
    let mut arrivals = moments(&scenario, |event| matches!(event, Event::RequestArrives { .. }));
    arrivals.retain(|&at| at > 60_000);
    assert_eq!(arrivals[..3], [100_003, 190_003, 340_003]); // without a fetch it beats at 60.002
    assert!(run(&scenario, 0).mistakes.is_empty());
}

/// A transport whose limit is shorter than the delay does not mind: the limit counts from the sending.
#[test]
fn a_limit_counts_from_the_sending() {
    let slow = FaultKind::SlowHeartbeats { targets: all(), delay: constant(20), length: Some(s(600)) };
    let mut scenario = with_at(in_step(5), 0, slow);
    scenario.setup.eureka_mut().unwrap().clients[0].transport =
        TransportConfig::of_kind(TransportKind::Jersey); // reads for 8 s
    let data = run(&scenario, 0);
    assert!(data.timeline[2..10].iter().all(|minute| (5..=10).contains(&minute.renewals)));
    assert!(moments(&scenario, |event| matches!(event, Event::LimitReached { .. })).is_empty());
}

/// Killed while its beat waited for its turn: it is never sent, although the process is back by then.
#[test]
fn a_dead_process_sends_nothing_late() {
    let slow = FaultKind::SlowHeartbeats { targets: all(), delay: constant(40), length: Some(s(600)) };
    let restart = FaultKind::Restart {
        one_by_one: None,
        targets: Targets::Instances(all()),
        down_for: s(5),
        new_id: false,
        graceful: false,
    };
    let mut scenario = with_at(with_at(in_step(1), 0, slow), 10, restart);
    scenario.setup.eureka_mut().unwrap().clients[0].fetch_registry = false;
    let mut arrivals = moments(&scenario, |event| matches!(event, Event::RequestArrives { .. }));
    arrivals.retain(|&at| at > 60_000);
    assert_eq!(arrivals[..2], [75_001, 105_001]); // the registration and the first beat, which is not slow
    let places = look(&scenario, 200, |world| world.clients[ClientId(0).index()].is_slow());
    assert!(!places);
}
