//! Many who die before many: what is counted is exact, and what it costs does not grow with the product.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use stillup::engine::SimDuration;
use stillup::model::id::AppId;
use stillup::model::stage::Stage;
use stillup::observe::{Outcome, ReplicateData};
use stillup::scenario::{
    Application, Fault, FaultKind, Scenario, Selection, TargetChoice, Targets, default_scenario,
};
use stillup::world;

/// A fifth of the fleet is killed, with protection off.
fn fifth(instances: u32) -> Scenario {
    let mut default = default_scenario().scenario;
    let application = Application { instances, ..default.applications[0].clone() };
    let which = TargetChoice::Share(0.2);
    let targets = Targets::Instances(Selection { application: None, zone: None, which });
    default.set_applications(vec![application], AppId(0));
    let mut scenario = Scenario {
        replicates: 1,
        faults: vec![Fault {
            at: SimDuration::ZERO,
            within: SimDuration::ZERO,
            verb: FaultKind::Crash(targets),
        }],
        expectations: Vec::new(),
        event_budget: 1_000_000_000,
        ..default
    };
    scenario.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
    scenario
}

fn run(instances: u32) -> ReplicateData {
    let data = world::run(&fifth(instances), 0, &AtomicBool::new(false)).expect("nobody interrupts");
    let mut seen: BTreeMap<Stage, u64> = BTreeMap::new();
    for row in &data.detections {
        assert!(matches!(row.outcome, Outcome::Detected(_)), "{row:?}");
        *seen.entry(row.stage).or_insert(0) += row.count;
    }
    let (dead, left) = (u64::from(instances) / 5, u64::from(instances) * 4 / 5);
    let [server, observers] = [dead, dead * left];
    let expected = Stage::ALL.into_iter().zip([server, server, observers, observers]).collect();
    assert_eq!(seen, expected);
    assert!(!data.folded.detections);
    assert!(data.mistakes.is_empty());
    data
}

#[test]
fn every_survivor_sees_every_death() {
    let data = run(2_000);
    // A round lets out 15 %: 300, then 100 of 255. Each observer notices two rounds at two stages.
    assert_eq!(data.rounds.iter().map(|row| row.round.evicted).collect::<Vec<_>>(), [300, 100]);
    assert!(data.detections.len() <= 2 * (2 + 2 * 1_600), "{} rows", data.detections.len());
}

#[test]
#[ignore = "slow in a debug build: run with --release -- --ignored"]
fn a_fifth_of_a_hundred_thousand_dies_in_less_than_a_gigabyte() {
    let data = run(100_000);
    // Leases run out over half a minute, so it may take more than the two rounds that the cap asks for. Those whom one
    // round lets out are alike to every observer, at two stages.
    let rounds = data.rounds.iter().filter(|row| row.round.evicted > 0).count();
    assert!((2..=3).contains(&rounds), "{rounds} rounds");
    assert!(data.detections.len() <= rounds * (2 + 2 * 80_000), "{} rows", data.detections.len());
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells the peak");
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(kilobytes < 1_000_000, "{kilobytes} kB");
}
