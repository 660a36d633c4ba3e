//! Whole runs of small worlds, held against figures derived by hand.

mod backlog;
mod clocks;
mod fleet;
mod health;
mod links;
mod observed;
mod operator;
mod pauses;
mod processes;
mod tcp;
mod two_stage;
mod work;

use std::sync::atomic::AtomicBool;

use super::{Event, World};
use crate::engine::{Distribution, Engine, Limits, SimDuration, SimTime};
use crate::model::eureka::client::{ClientConfig, TransportConfig, TransportKind};
use crate::model::eureka::{Flavour, ServerConfig};
use crate::model::id::{AppId, ServerId};
use crate::model::message::RequestKind;
use crate::model::stage::{EventKind, Stage};
use crate::observe::{Ending, Outcome, Removal, ReplicateData};
use crate::scenario::{
    Application, Delay, Fault, FaultKind, Peer, Scenario, Selection, ServerChoice, TargetChoice, Targets,
    default_scenario,
};

const fn s(seconds: u64) -> SimDuration {
    SimDuration::from_secs(seconds)
}

/// `instances` of one application on a standalone Spring server with all defaults.
fn fleet(instances: u32) -> Scenario {
    let mut default = default_scenario().scenario;
    let application = Application { name: "orders".to_owned(), instances, ..default.applications[0].clone() };
    default.set_applications(vec![application], AppId(0));
    Scenario { replicates: 1, faults: Vec::new(), expectations: Vec::new(), ..default }
}

fn some(count: u32) -> Targets {
    Targets::Instances(Selection { application: None, zone: None, which: TargetChoice::Count(count) })
}

fn one() -> Selection {
    Selection { application: None, zone: None, which: TargetChoice::Count(1) }
}

fn with(mut scenario: Scenario, verb: FaultKind) -> Scenario {
    scenario.faults.push(Fault { at: SimDuration::ZERO, within: s(60), verb });
    scenario
}

fn run(scenario: &Scenario, replicate: u32) -> ReplicateData {
    super::run(scenario, replicate, &AtomicBool::new(false)).expect("nobody interrupts")
}

const fn ms(millis: u64) -> SimDuration {
    SimDuration::from_millis(millis)
}

fn constant(seconds: u64) -> Distribution {
    Distribution::constant(s(seconds))
}

/// `instances` that all start at once. A fetch takes 2 ms, so each beats at 30.002 s, 60.004 s and so on. Faults are
/// timed from 60 s.
fn in_step(instances: u32) -> Scenario {
    let mut scenario = fleet(instances);
    (scenario.start_window, scenario.warm_up) = (SimDuration::ZERO, s(60));
    (scenario.duration, scenario.stop_when_settled) = (s(1_800), false);
    scenario
}

/// The fault comes just `at` seconds after the warm-up.
fn with_at(mut scenario: Scenario, at: u64, verb: FaultKind) -> Scenario {
    scenario.faults.push(Fault { at: s(at), within: SimDuration::ZERO, verb });
    scenario
}

/// Replicate 0 at `seconds` from its start.
fn look<T>(scenario: &Scenario, seconds: u64, at: impl FnOnce(&World<'_>) -> T) -> T {
    let mut engine = Engine::new();
    let mut world = World::new(scenario, 0, engine.schedule());
    engine.run(&mut world, &Limits::until(SimTime::from_secs(seconds)));
    at(&world)
}

/// The moments of replicate 0, ms, at which something happens that `wanted` picks.
fn moments(scenario: &Scenario, wanted: impl Fn(&Event) -> bool) -> Vec<u64> {
    let mut moments = Vec::new();
    let mut note = |now: SimTime, event: &Event| {
        if wanted(event) {
            moments.push(now.as_millis());
        }
    };
    super::trace(scenario, 0, &AtomicBool::new(false), &mut note).expect("nobody interrupts");
    moments
}

/// The outcomes of one kind of event at one stage, with how many observations each stands for.
fn outcomes(data: &ReplicateData, event: EventKind, stage: Stage) -> Vec<(Outcome, u64)> {
    let rows = data.detections.iter().filter(|row| (row.event, row.stage) == (event, stage));
    rows.map(|row| (row.outcome, row.count)).collect()
}

fn detected(data: &ReplicateData, stage: Stage) -> Vec<(SimDuration, u64)> {
    data.detections
        .iter()
        .filter(|row| row.stage == stage)
        .map(|row| match row.outcome {
            Outcome::Detected(after) => (after, row.count),
            other => panic!("{other:?} at {}", stage.name()),
        })
        .collect()
}

/// Spec 14.1: registry 150 to 240 s, served to 270 s, client to 300 s, balancer to 335 s after the crash; the
/// round trips of heartbeat and fetch add a few milliseconds at either end.
#[test]
fn a_crash_is_detected_within_the_closed_form() {
    let scenario = with(fleet(100), FaultKind::Crash(some(1)));
    let slack = SimDuration::from_millis(10);
    for replicate in 0..20 {
        let data = run(&scenario, replicate);
        assert_eq!(data.ending, Ending::Settled);
        for (stage, latest, observations) in [
            (Stage::Registry, s(240), 1),
            (Stage::Served, s(270), 1),
            (Stage::Client, s(300), 99),
            (Stage::Balancer, s(335), 99),
        ] {
            let rows = detected(&data, stage);
            assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), observations, "{}", stage.name());
            for (after, _) in rows {
                assert!(after + slack >= s(150) && after <= latest + slack, "{} {after}", stage.name());
            }
        }
        assert!(data.mistakes.is_empty());
    }
}

fn all() -> Selection {
    Selection { application: None, zone: None, which: TargetChoice::All }
}

/// Spec 4.6, 4.4: expected 11, threshold ⌊1.7 · 11⌋ = 18; nine survivors renew 18 times a minute, which is not
/// more than 18: the dead instance is never removed.
#[test]
fn ten_instances_protect_their_dead_for_ever() {
    let data = run(&with(fleet(10), FaultKind::Crash(some(1))), 0);
    assert_eq!(data.ending, Ending::Duration);
    assert_eq!((data.left_at_end(), data.self_preservation_at_end()), (10, true));
    assert!(data.detections.iter().all(|row| matches!(row.outcome, Outcome::Censored(_))));
    let last = data.timeline.last().expect("thirty minutes");
    assert_eq!((last.threshold, last.renewals, last.expired), (18, 18, 1));
}

/// Spec 4.6, 4.4: expected 14, threshold ⌊1.7 · 14⌋ = 23; twelve survivors renew 24 times.
#[test]
fn thirteen_instances_let_their_dead_go() {
    let data = run(&with(fleet(13), FaultKind::Crash(some(1))), 0);
    assert_eq!((data.ending, data.left_at_end()), (Ending::Settled, 12));
}

/// Expected 21, threshold 35; sixteen survivors renew 32 times: the four dead stay.
#[test]
fn four_of_twenty_are_trapped() {
    let data = run(&with(fleet(20), FaultKind::Crash(some(4))), 0);
    assert_eq!((data.left_at_end(), data.self_preservation_at_end()), (20, true));
    assert!(data.rounds.is_empty());
}

/// Spec 3.3: with protection off 15 % of what is registered may go in a round, at least 1.
#[test]
fn mass_death_goes_in_rounds_when_protection_is_off() {
    let mut scenario = with(fleet(100), FaultKind::Crash(some(60)));
    scenario.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
    // All 60 leases run out within half a minute, inside one interval between rounds.
    scenario.setup.eureka_mut().unwrap().server.eviction_interval_timer_in_ms = 300_000;
    scenario.faults[0] = Fault { at: s(10), within: s(1), ..scenario.faults[0].clone() };
    scenario.duration = s(3_600);
    let data = run(&scenario, 0);
    let evicted: Vec<u32> = data.rounds.iter().map(|row| row.round.evicted).collect();
    assert_eq!(evicted, [15, 13, 11, 10, 8, 3]);
    assert_eq!(data.left_at_end(), 40);
}

/// DOWN and DELETE reach the server one latency after the stop; the read-only cache follows within 30 s, a
/// client's fetch within 30 s, the balancer within 35 s.
#[test]
fn an_orderly_stop_is_seen_at_once_by_the_registry() {
    let data = run(&with(fleet(20), FaultKind::Stop { targets: one(), linger: s(0), over: s(0) }), 0);
    assert_eq!(detected(&data, Stage::Registry), [(SimDuration::from_millis(1), 1)]);
    for (stage, latest) in [(Stage::Served, s(30)), (Stage::Client, s(60)), (Stage::Balancer, s(95))] {
        for (after, _) in detected(&data, stage) {
            assert!(after <= latest + SimDuration::from_millis(10), "{} {after}", stage.name());
        }
    }
    assert_eq!((data.ending, data.left_at_end()), (Ending::Settled, 19));
}

/// A new instance's POST makes the same way as a DELETE.
#[test]
fn a_registration_makes_the_same_way() {
    let start = FaultKind::Start { application: AppId(0), count: 1, over: s(0) };
    let data = run(&with(fleet(20), start), 0);
    assert_eq!(detected(&data, Stage::Registry), [(SimDuration::from_millis(1), 1)]);
    let observers: u64 = detected(&data, Stage::Client).iter().map(|row| row.1).sum();
    assert_eq!(observers, 20);
    assert_eq!((data.ending, data.left_at_end()), (Ending::Settled, 21));
}

/// Away for 10 s under the same id: no lease runs out, nobody notices.
#[test]
fn a_quick_restart_supersedes_its_own_death() {
    let restart = |new_id| FaultKind::Restart {
        one_by_one: None,
        targets: some(1),
        down_for: s(10),
        new_id,
        graceful: false,
    };
    let data = run(&with(fleet(20), restart(false)), 0);
    let superseded = data.detections.iter().filter(|row| matches!(row.outcome, Outcome::Superseded(_)));
    assert_eq!(superseded.map(|row| row.count).sum::<u64>(), 1 + 1 + 19 + 19);
    assert_eq!(data.left_at_end(), 20);

    // Under a new id the old one dies as any other: 20 leases and one more, until it is evicted.
    let data = run(&with(fleet(20), restart(true)), 0);
    assert!(data.instances.values().any(|name| name.ends_with(".2")));
    assert!(detected(&data, Stage::Registry).iter().any(|&(after, _)| after >= s(149)));
    assert_eq!(data.left_at_end(), 20);
}

/// Half the fleet behind a partition for five minutes: renewals fall to half of the threshold's base, so
/// nothing is evicted, and everybody is there at the end.
#[test]
fn self_preservation_saves_a_partitioned_fleet() {
    let cut = FaultKind::Partition {
        targets: Selection { application: None, zone: None, which: TargetChoice::Share(0.5) }.into(),
        peer: Peer::Servers,
        length: Some(s(300)),
        lost: crate::scenario::Direction::Both,
    };
    let saved = run(&with(fleet(40), cut.clone()), 0);
    assert!(saved.mistakes.is_empty());
    assert_eq!(saved.left_at_end(), 40);
    assert!(saved.timeline.iter().any(|minute| minute.self_preservation && minute.expired > 0));

    let mut unprotected = with(fleet(40), cut);
    unprotected.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
    let lost = run(&unprotected, 0);
    assert!(!lost.mistakes.is_empty());
    assert!(lost.mistakes.iter().all(|mistake| mistake.corrected), "all come back after the heal");
}

/// Spec 8.4: a restarted server is empty and full again within a heartbeat interval of being reachable.
#[test]
fn a_restarted_server_fills_up_again() {
    let restart = FaultKind::Restart {
        one_by_one: None,
        targets: Targets::Servers(ServerChoice::All),
        down_for: s(20),
        new_id: false,
        graceful: false,
    };
    let data = run(&with(fleet(30), restart), 0);
    assert_eq!(data.left_at_end(), 30);
    assert_eq!(data.faults.len(), 1);
}

/// Spec 8.3: plain Netflix opens after four waits of 30 s and never evicts without fetching its own registry.
#[test]
fn an_empty_netflix_server_opens_late_and_never_evicts() {
    let mut scenario = with(fleet(30), FaultKind::Crash(some(1)));
    scenario.setup.eureka_mut().unwrap().server = ServerConfig::defaults(Flavour::Netflix);
    let data = run(&scenario, 0);
    assert_eq!(data.left_at_end(), 30);
    let first = data.timeline.first().expect("minutes");
    assert_eq!(first.at.as_millis(), 180_000);
    assert_eq!(data.timeline.last().expect("minutes").threshold, 0);
}

/// Spec 8.3, row 2: a server that registers with itself opens with what its own client has fetched.
#[test]
fn a_server_that_registers_with_itself_holds_a_lease_of_its_own() {
    let mut scenario = with(fleet(12), FaultKind::Crash(some(1)));
    scenario.setup.eureka_mut().unwrap().server.register_with_eureka = true;
    scenario.setup.eureka_mut().unwrap().server.fetch_registry = true;
    scenario.setup.eureka_mut().unwrap().server.registry_sync_retries = 5;
    scenario.setup.eureka_mut().unwrap().own_client = ClientConfig::defaults(Flavour::Spring);
    let data = run(&scenario, 0);
    assert_eq!(data.left_at_end(), 12, "eleven and the server itself");
}

/// The whole fleet cut off for good: the run lasts as long as it was meant to, and nothing breaks.
#[test]
fn a_partition_may_last_for_ever() {
    let cut = FaultKind::Partition {
        targets: all().into(),
        peer: Peer::Servers,
        length: None,
        lost: crate::scenario::Direction::ToServer,
    };
    let data = run(&with(fleet(20), cut), 0);
    assert_eq!(data.ending, Ending::Duration);
    assert_eq!(data.left_at_end(), 20, "protected");
}

/// More partitions at once than a byte counts: the fleet is cut off all the same, and comes back when the last of
/// them has healed.
#[test]
fn partitions_may_overlap_in_any_number() {
    let cut = FaultKind::Partition {
        targets: all().into(),
        peer: Peer::Servers,
        length: Some(s(300)),
        lost: crate::scenario::Direction::Both,
    };
    let mut scenario = with(fleet(20), cut);
    scenario.faults = vec![scenario.faults[0].clone(); 256];
    let data = run(&scenario, 0);
    assert!(data.timeline.iter().any(|minute| minute.renewals == 0));
    assert_eq!(data.agreement.missing_in_views, 0);
}

#[test]
fn a_budget_is_a_named_end() {
    let mut scenario = fleet(20);
    scenario.event_budget = 1_000;
    let data = run(&scenario, 0);
    assert_eq!((data.ending, data.events), (Ending::Budget, 1_000));
}

#[test]
fn an_interrupt_ends_it() {
    assert_eq!(super::run(&fleet(20), 0, &AtomicBool::new(true)), Err(super::Interrupted));
}

/// Jersey reads for 8 s: a round trip of 7.8 s is slow, one of 10 s is none. The server hears of everybody
/// either way, but nobody hears of the server.
#[test]
fn a_round_trip_longer_than_the_read_limit_is_none() {
    for (one_way_ms, unseen) in [(3_900, 0), (5_000, 3 * 3)] {
        let mut scenario = fleet(3);
        scenario.duration = s(600);
        scenario.network.latency = Delay::Constant(SimDuration::from_millis(one_way_ms));
        scenario.setup.eureka_mut().unwrap().clients[0].transport =
            TransportConfig::of_kind(TransportKind::Jersey);
        let agreement = run(&scenario, 0).agreement;
        assert_eq!(
            (agreement.missing_in_registries, agreement.missing_in_views),
            (0, unseen),
            "{one_way_ms}"
        );
    }
}
