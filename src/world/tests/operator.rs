//! Overrides, deleted leases, changed settings.

use super::*;
use crate::model::message::Status;
use crate::scenario::Change;

fn out_of_service(length: Option<SimDuration>) -> FaultKind {
    FaultKind::Override { at: ServerId(0), targets: one(), status: Status::OutOfService, length }
}

/// The override is there at once. Deleted after 120 s, at 180 s, it leaves UNKNOWN behind until the heartbeat of
/// 180.012 s, which is answered with 404 and registers 2 ms later: seen 1 ms after that, 15 ms after the end.
#[test]
fn an_override_hides_an_instance_until_it_is_deleted_and_noticed() {
    let data = run(&with_at(in_step(20), 0, out_of_service(Some(s(120)))), 0);
    let at_once = [(Outcome::Detected(SimDuration::ZERO), 1)];
    assert_eq!(outcomes(&data, EventKind::Override, Stage::Registry), at_once);
    assert_eq!(outcomes(&data, EventKind::Recovery, Stage::Registry), [(Outcome::Detected(ms(15)), 1)]);
    assert_eq!(data.leases.created, 20, "it never lost its lease");
    assert!(data.mistakes.is_empty());
}

/// Spec 2.6: OUT_OF_SERVICE survives heartbeats and registrations, and does not touch what is expected or counted.
#[test]
fn an_override_survives_a_restart_of_its_instance() {
    let restart = FaultKind::Restart {
        one_by_one: None,
        targets: Targets::Instances(all()),
        down_for: s(5),
        new_id: false,
        graceful: false,
    };
    let scenario = with_at(with_at(in_step(10), 0, out_of_service(None)), 100, restart);
    look(&scenario, 400, |world| {
        let server = world.live_server(ServerId(0)).eureka();
        let lease = |node: &super::super::ClientNode| server.lease(node.instance).expect("registered").record;
        let out: Vec<_> =
            world.clients.iter().filter(|node| lease(node).status == Status::OutOfService).collect();
        let [hidden] = out[..] else { panic!("{} are hidden", out.len()) };
        assert_eq!(lease(hidden).overridden, Status::OutOfService);
        assert_eq!(hidden.client.status(), Status::Up);
        assert!(world.impairments.has(hidden.instance));
        assert_eq!((server.renews_last_min(), server.expected()), (20, 11));
    });
}

/// Spec 4.5: the update counts what its own client shows, which is only those that are UP.
#[test]
fn the_threshold_update_passes_over_whoever_is_out_of_service() {
    let mut scenario = with_at(in_step(20), 0, out_of_service(None));
    scenario.setup.eureka_mut().unwrap().server.fetch_registry = true;
    scenario.setup.eureka_mut().unwrap().own_client.fetch_registry = true;
    let expected = |scenario: &Scenario| run(scenario, 0).timeline.last().expect("minutes").expected;
    assert_eq!(expected(&scenario), 19);
    scenario.faults.clear();
    assert_eq!(expected(&scenario), 20);
}

/// A server that stands still hears of it when it goes on, one that is gone never.
#[test]
fn an_operator_waits_for_a_server_that_stands_still() {
    let pause = FaultKind::Pause { targets: Targets::Servers(ServerChoice::All), length: constant(40) };
    let scenario = with_at(with_at(in_step(5), 0, pause), 10, out_of_service(None));
    let data = run(&scenario, 0);
    assert_eq!(outcomes(&data, EventKind::Override, Stage::Registry), [(Outcome::Detected(s(30)), 1)]);
    let scenario = with_at(
        with_at(in_step(5), 0, FaultKind::Crash(Targets::Servers(ServerChoice::All))),
        10,
        out_of_service(None),
    );
    assert!(run(&scenario, 0).detections.iter().all(|row| row.event != EventKind::Override));
}

/// A server that has just restarted has no leases yet and answers 404: nothing is overridden, so nothing is watched and
/// everybody stays well. The instances are back with their heartbeats of 90.006 s.
#[test]
fn an_override_that_finds_no_lease_changes_nothing() {
    let restart = FaultKind::Restart {
        one_by_one: None,
        targets: Targets::Servers(ServerChoice::All),
        down_for: s(5),
        new_id: false,
        graceful: false,
    };
    let scenario = with_at(with_at(in_step(5), 0, restart), 6, out_of_service(None));
    assert!(look(&scenario, 400, |world| world
        .clients
        .iter()
        .all(|node| !world.impairments.has(node.instance))));
    let data = run(&scenario, 0);
    assert!(data.detections.iter().all(|row| row.event != EventKind::Override));
    assert_eq!((data.agreement.live, data.agreement.missing_in_registries), (5, 0));
}

/// The server has one override an instance: the first fault's end, at 180 s, deletes what the second has set at 120 s.
#[test]
fn who_deletes_an_override_deletes_it_for_all() {
    let first = out_of_service(Some(s(120)));
    let scenario = with_at(with_at(in_step(1), 0, first), 60, out_of_service(None));
    for (second, is_out) in [(170, true), (300, false)] {
        let seen = look(&scenario, second, |world| {
            let instance = world.clients[0].instance;
            let overridden = world
                .live_server(ServerId(0))
                .eureka()
                .lease(instance)
                .expect("registered")
                .record
                .overridden;
            (overridden == Status::OutOfService, world.impairments.has(instance))
        });
        assert_eq!(seen, (is_out, is_out), "{second}");
    }
}

/// `PUT …/status?value=UP` takes an instance back into service.
#[test]
fn an_override_to_up_ends_one_that_hides() {
    let up = FaultKind::Override { at: ServerId(0), targets: one(), status: Status::Up, length: None };
    let scenario = with_at(with_at(in_step(1), 0, out_of_service(None)), 60, up);
    for (second, is_out) in [(110, true), (130, false)] {
        assert_eq!(look(&scenario, second, |world| world.impairments.has(world.clients[0].instance)), is_out);
    }
    assert_eq!(outcomes(&run(&scenario, 0), EventKind::Recovery, Stage::Registry).len(), 1);
}

/// A restarted server knows of no override: everybody is UP again.
#[test]
fn overrides_go_with_their_server() {
    let restart = FaultKind::Restart {
        one_by_one: None,
        targets: Targets::Servers(ServerChoice::All),
        down_for: s(5),
        new_id: false,
        graceful: false,
    };
    let scenario = with_at(with_at(in_step(5), 0, out_of_service(None)), 100, restart);
    look(&scenario, 400, |world| {
        assert!(world.clients.iter().all(|node| !world.impairments.has(node.instance)));
    });
    assert_eq!(run(&scenario, 0).agreement.missing_in_registries, 0);
}

/// A living instance is back with its next heartbeat, which is answered with 404; that it was away is no mistake.
#[test]
fn a_deleted_instance_that_lives_comes_back() {
    let delete = FaultKind::Delete { at: ServerId(0), targets: one(), dead: false };
    let data = run(&with_at(in_step(20), 10, delete), 0);
    assert_eq!((data.leases.cancelled, data.leases.created, data.left_at_end()), (1, 21, 20));
    assert!(data.mistakes.is_empty());
    assert_eq!((data.faults[0].verb, data.faults[0].targets), ("delete", 1));
}

/// The way out of the trap: four of twenty are dead and protected (32 renewals against 35). Once they are deleted the
/// expectation is down to 17, the threshold 28, and nobody is left to remove.
#[test]
fn the_dead_can_be_deleted() {
    let crash = FaultKind::Crash(some(4));
    let delete = |count| FaultKind::Delete {
        at: ServerId(0),
        targets: Selection { application: None, zone: None, which: TargetChoice::Count(count) },
        dead: true,
    };
    let scenario = with_at(with_at(in_step(20), 0, crash), 600, delete(100));
    let data = run(&scenario, 0);
    assert_eq!((data.left_at_end(), data.self_preservation_at_end(), data.faults[1].targets), (16, false, 4));
    let last = data.timeline.last().expect("minutes");
    assert_eq!((last.expected, last.threshold), (17, 28));
    // Of three that are deleted, the fourth is evicted: 32 renewals against ⌊18 · 1.7⌋ = 30.
    let scenario = with_at(with_at(in_step(20), 0, FaultKind::Crash(some(4))), 600, delete(3));
    let data = run(&scenario, 0);
    assert_eq!((data.left_at_end(), data.leases.cancelled, data.leases.evicted), (16, 3, 1));
}

/// Protection switched off at 660 s frees the trapped in the next rounds, three and one of 20 and of 17.
#[test]
fn a_setting_that_is_changed_takes_effect() {
    let change = |changes: Vec<Change>| {
        with_at(with_at(in_step(20), 0, FaultKind::Crash(some(4))), 600, FaultKind::Change(changes))
    };
    let data = run(&change(vec![Change::EnableSelfPreservation(false)]), 0);
    let evicted: Vec<_> = data.rounds.iter().map(|row| (row.at.as_millis(), row.round.evicted)).collect();
    assert_eq!(evicted, [(660_000, 3), (720_000, 1)]);
    // A lower share alone recomputes nothing: the threshold stays at 35.
    let data = run(&change(vec![Change::RenewalPercentThreshold(0.5)]), 0);
    assert_eq!((data.left_at_end(), data.timeline.last().expect("minutes").threshold), (20, 35));
}

/// And it stays in force when the server starts anew.
#[test]
fn a_changed_setting_outlives_its_server() {
    let restart = FaultKind::Restart {
        one_by_one: None,
        targets: Targets::Servers(ServerChoice::All),
        down_for: s(5),
        new_id: false,
        graceful: false,
    };
    let scenario = with_at(in_step(5), 0, FaultKind::Change(vec![Change::DisableDelta(true)]));
    let scenario = with_at(scenario, 100, restart);
    assert!(look(&scenario, 300, |world| world.live_server(ServerId(0)).eureka().config().disable_delta));
}
