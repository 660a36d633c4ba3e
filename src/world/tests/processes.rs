//! Stops that linger, crash loops, starts.

use super::*;
use crate::model::id::AppId;
use crate::world::node::State;

/// DOWN takes 2 ms, DELETE as long; then the process answers calls for 30 s more, and sends nothing.
#[test]
fn a_lingering_process_answers_calls_for_a_while() {
    let stop = FaultKind::Stop { targets: all(), linger: s(30), over: s(0) };
    let scenario = with_at(in_step(1), 0, stop);
    let states = [59, 61, 89, 91].map(|second| {
        look(&scenario, second, |world| {
            let node = &world.clients[0];
            (node.state != State::Down, node.stopping, node.lingers)
        })
    });
    assert_eq!(states, [(true, false, false), (true, true, true), (true, true, true), (false, false, false)]);
    let mut arrivals = moments(&scenario, |event| matches!(event, Event::RequestArrives { .. }));
    arrivals.retain(|&at| at > 60_000);
    assert_eq!(arrivals, [60_001, 60_003]);
    let data = run(&scenario, 0);
    assert_eq!(outcomes(&data, EventKind::Stop, Stage::Registry), [(Outcome::Detected(ms(1)), 1)]);
}

/// Killed and started again while it lingers: the end of the linger does not touch the new process.
#[test]
fn the_end_of_a_linger_that_a_restart_cut_short_ends_nobody() {
    let graceful = FaultKind::RollOut {
        application: AppId(0),
        batch: crate::scenario::Batch::Share(1.0),
        wait: s(0),
        down_for: s(10),
        graceful: true,
        linger: s(60),
        new_id: false,
        order: crate::scenario::Order::StopFirst,
    };
    let scenario = with_at(in_step(3), 0, graceful);
    assert_eq!(
        look(&scenario, 200, |world| world.clients.iter().filter(|node| node.is_in_service()).count()),
        3
    );
    assert!(look(&scenario, 200, |world| world.plan.is_over()));
    assert_eq!(run(&scenario, 0).left_at_end(), 3);
}

#[test]
fn stops_are_spread() {
    let stop = FaultKind::Stop { targets: all(), linger: s(0), over: s(100) };
    let scenario = with_at(in_step(20), 0, stop);
    let up = |second| {
        look(&scenario, second, |world| {
            world.clients.iter().filter(|node| node.state == State::Running).count()
        })
    };
    assert!(up(61) >= 18 && (4..=16).contains(&up(110)) && up(161) == 0);
    let data = run(&scenario, 0);
    assert_eq!((data.faults[0].targets, data.left_at_end()), (20, 0));
    assert_eq!(data.faults[0].until, Some(SimTime::from_secs(160)));
}

/// Down 10 s, up 20 s, for 100 s: crashes at 0, 30, 60 and 90, starts at 10, 40, 70 and at the end.
#[test]
fn a_crash_loop_is_up_at_the_end() {
    let verb = FaultKind::CrashLoop {
        targets: all(),
        up_for: constant(20),
        down_for: constant(10),
        new_id: false,
        length: Some(s(100)),
    };
    let scenario = with_at(in_step(1), 0, verb.clone());
    let up = [5, 15, 35, 45, 65, 75, 95, 101, 500];
    let up = up.map(|second| look(&scenario, 60 + second, |world| world.clients[0].state == State::Running));
    assert_eq!(up, [false, true, false, true, false, true, false, true, true]);
    let data = run(&scenario, 0);
    assert_eq!((data.leases.created, data.left_at_end()), (1, 1), "it came back before anybody noticed");

    let FaultKind::CrashLoop { targets, up_for, down_for, length, .. } = verb else { unreachable!() };
    let renamed = FaultKind::CrashLoop { targets, up_for, down_for, new_id: true, length };
    let data = run(&with_at(in_step(1), 0, renamed), 0);
    assert_eq!(data.leases.created, 5, "each start is another instance");
}

/// A run that settles waits for the loop to be over.
#[test]
fn a_crash_loop_keeps_a_run_going() {
    let verb = FaultKind::CrashLoop {
        targets: one(),
        up_for: constant(200),
        down_for: constant(10),
        new_id: false,
        length: Some(s(1_000)),
    };
    let mut scenario = with_at(in_step(30), 0, verb);
    scenario.stop_when_settled = true;
    let data = run(&scenario, 0);
    assert_eq!(data.ending, Ending::Settled);
    assert!(data.ended_at >= SimTime::from_secs(1_060), "{}", data.ended_at);
}

#[test]
fn a_storm_of_starts_is_spread() {
    let start = FaultKind::Start { application: AppId(0), count: 50, over: s(100) };
    let mut scenario = with_at(in_step(20), 0, start);
    let up = |second| look(&scenario, second, |world| world.live_server(ServerId(0)).registered());
    assert!(up(62) < 30 && (30..60).contains(&up(110)) && up(161) == 70);
    scenario.stop_when_settled = true;
    let data = run(&scenario, 0);
    assert_eq!((data.ending, data.left_at_end(), data.leases.created), (Ending::Settled, 70, 70));
    assert_eq!(
        outcomes(&data, EventKind::Registration, Stage::Registry).iter().map(|row| row.1).sum::<u64>(),
        50
    );
}

/// Named, but not started yet: nobody is hit.
#[test]
fn a_name_that_does_not_run_is_passed_over() {
    let which = TargetChoice::Named(vec![(AppId(0), 1), (AppId(0), 7)]);
    let crash = FaultKind::Crash(Targets::Instances(Selection { application: None, zone: None, which }));
    assert_eq!(run(&with_at(in_step(3), 0, crash), 0).faults[0].targets, 1);
}
