//! Roll-outs, blue-green, spot reclaim, zones.

use super::*;
use crate::model::id::AppId;
use crate::scenario::{Batch, Order, ZoneId};

fn roll_out(order: Order, new_id: bool, graceful: bool) -> FaultKind {
    FaultKind::RollOut {
        application: AppId(0),
        batch: Batch::Share(0.3),
        wait: s(60),
        down_for: if order == Order::StopFirst { s(20) } else { s(0) },
        graceful,
        linger: s(5),
        new_id,
        order,
    }
}

/// How many are in service, and how many leases there are, at some seconds after the fault.
fn counts(scenario: &Scenario, seconds: &[u64]) -> Vec<(usize, u32)> {
    let at = |second: &u64| {
        look(scenario, 60 + second, |world| {
            let in_service = world.clients.iter().filter(|node| node.is_in_service()).count();
            (in_service, world.live_server(ServerId(0)).registered())
        })
    };
    seconds.iter().map(at).collect()
}

/// Ten in batches of 3, 3, 3 and 1: each stops, comes back after 20 s, and is followed 60 s later. The first stops at
/// 0, the last starts at 3 · 80 + 20 s.
#[test]
fn a_batch_stops_and_starts_and_then_the_next() {
    let scenario = with_at(in_step(10), 0, roll_out(Order::StopFirst, false, true));
    let counted = counts(&scenario, &[10, 30, 70, 90, 110, 245, 265]);
    assert_eq!(counted, [(7, 7), (10, 10), (10, 10), (7, 7), (10, 10), (9, 9), (10, 10)]);
    let data = run(&scenario, 0);
    assert_eq!((data.faults[0].targets, data.faults[0].until), (10, Some(SimTime::from_secs(320))));
    let stops = data.detections.iter().filter(|row| row.event == EventKind::Stop);
    assert_eq!(stops.filter(|row| row.stage == Stage::Registry).map(|row| row.count).sum::<u64>(), 10);
}

/// With new ids the replacements are other processes, whose ordinals go on.
#[test]
fn replacements_may_be_others() {
    let scenario = with_at(in_step(10), 0, roll_out(Order::StopFirst, true, true));
    assert_eq!(counts(&scenario, &[10, 30, 265, 400]), [(7, 7), (10, 10), (10, 10), (10, 10)]);
    assert_eq!(look(&scenario, 500, |world| world.members[0].len()), 20);
}

/// Three more start first; a minute later the three that they replace stop, and the next three start.
#[test]
fn a_batch_may_start_before_the_old_one_stops() {
    let scenario = with_at(in_step(10), 0, roll_out(Order::StartFirst, true, true));
    assert_eq!(
        counts(&scenario, &[10, 50, 70, 190, 250]),
        [(13, 13), (13, 13), (13, 13), (11, 11), (10, 10)]
    );
    assert_eq!(run(&scenario, 0).faults[0].until, Some(SimTime::from_secs(300)));
}

/// A roll-out that kills: the dead of each batch stay registered until they come back under their own id.
#[test]
fn a_roll_out_may_kill() {
    let scenario = with_at(in_step(10), 0, roll_out(Order::StopFirst, false, false));
    assert_eq!(counts(&scenario, &[10, 30]), [(7, 10), (10, 10)]);
    let data = run(&scenario, 0);
    assert_eq!(data.leases.created, 10);
    let superseded = outcomes(&data, EventKind::Crash, Stage::Registry);
    assert!(superseded.iter().all(|row| matches!(row.0, Outcome::Superseded(_))));
}

/// Nobody runs: there is nothing to roll out, and nothing breaks.
#[test]
fn an_empty_application_is_rolled_out_at_once() {
    let scenario = with_at(in_step(3), 0, FaultKind::Crash(some(3)));
    let data = run(&with_at(scenario, 10, roll_out(Order::StartFirst, true, true)), 0);
    assert_eq!((data.faults[1].targets, data.faults[1].until), (0, None));
}

/// Ten blue ones, and none green: for two minutes there are twenty.
#[test]
fn green_starts_and_blue_stops() {
    let mut scenario = in_step(10);
    let green = Application { name: "green".to_owned(), instances: 0, ..scenario.applications[0].clone() };
    scenario.add_application(green, AppId(0));
    let verb =
        FaultKind::BlueGreen { from: AppId(0), to: AppId(1), wait: s(120), graceful: true, linger: s(0) };
    let scenario = with_at(scenario, 0, verb);
    assert_eq!(counts(&scenario, &[10, 110, 130]), [(20, 20), (20, 20), (10, 10)]);
    assert_eq!(
        look(&scenario, 300, |world| world.members.iter().map(Vec::len).collect::<Vec<_>>()),
        [10, 10]
    );
    let data = run(&scenario, 0);
    assert_eq!((data.faults[0].targets, data.faults[0].until), (10, Some(SimTime::from_secs(180))));
}

/// Of ten that are told to go, four do; the other six are killed two minutes later.
#[test]
fn a_share_heeds_the_notice() {
    let which = TargetChoice::Count(10);
    let targets = Selection { application: None, zone: None, which };
    let scenario = with_at(in_step(20), 0, FaultKind::Reclaim { targets, notice: s(120), heeded: 0.4 });
    assert_eq!(counts(&scenario, &[10, 110, 121]), [(16, 16), (16, 16), (10, 16)]);
    let data = run(&scenario, 0);
    let registry = |event| outcomes(&data, event, Stage::Registry).iter().map(|row| row.1).sum::<u64>();
    assert_eq!((registry(EventKind::Stop), registry(EventKind::Crash)), (4, 6));
}

/// Instances take turns: of ten in three zones 1, 4, 7 and 10 are in the first.
#[test]
fn a_zone_is_hit() {
    let mut scenario = in_step(10);
    scenario.zones = ["a", "b", "c"].map(str::to_owned).to_vec();
    scenario.applications[0].zones = vec![ZoneId(0), ZoneId(1), ZoneId(2)];
    let hit = |zone, which| {
        let targets = Selection { application: None, zone: Some(ZoneId(zone)), which };
        let data = run(&with_at(scenario.clone(), 0, FaultKind::Crash(Targets::Instances(targets))), 0);
        data.faults[0].targets
    };
    assert_eq!(
        (hit(0, TargetChoice::All), hit(1, TargetChoice::All), hit(2, TargetChoice::Share(0.5))),
        (4, 3, 2)
    );
}
