//! The determinism contract, item by item (`docs/ARCHITECTURE.md`).

use std::sync::atomic::AtomicBool;

use stillup::model::id::AppId;
use stillup::observe::RunData;
use stillup::scenario::{self, Scenario};
use stillup::{sweep, world};

fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let text = scenario::builtin("default-crash").expect("it is built in");
    scenario::parse("default-crash", text, &sets).expect("the built-in scenario is fine").scenario
}

fn run(scenario: &Scenario, jobs: usize) -> RunData {
    sweep::run(scenario, jobs, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts")
}

#[test]
fn the_same_scenario_and_seed_give_the_same_run() {
    let scenario = scenario(&["replicates=6"]);
    assert_eq!(run(&scenario, 1), run(&scenario, 1));
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let scenario = scenario(&["replicates=12"]);
    assert_eq!(run(&scenario, 1), run(&scenario, 5));
}

#[test]
fn another_seed_gives_another_run() {
    let (one, other) = (scenario(&["replicates=1"]), scenario(&["replicates=1", "seed=2"]));
    assert_ne!(run(&one, 1).replicates[0].digest, run(&other, 1).replicates[0].digest);
}

#[test]
fn a_witness_does_not_disturb() {
    let scenario = scenario(&["replicates=1"]);
    let calm = AtomicBool::new(false);
    let mut seen = 0;
    let watched = world::trace(&scenario, 0, &calm, &mut |_, _| seen += 1).expect("nobody interrupts");
    assert_eq!(watched, world::run(&scenario, 0, &calm).expect("nobody interrupts"));
    assert_eq!(seen, watched.events);
}

#[test]
fn observers_do_not_disturb() {
    let one = scenario(&["replicates=1", "stop-when-settled=false"]);
    let mut none = one.clone();
    for application in &mut none.applications {
        application.observers = false;
    }
    let (one, none) = (run(&one, 1), run(&none, 1));
    assert_eq!(one.replicates[0].digest, none.replicates[0].digest);
    assert!(one.replicates[0].detections.len() > none.replicates[0].detections.len());
}

/// One more application that nobody touches: the others start, and are hit, at the same moments.
#[test]
fn a_newcomer_changes_nobody_elses_draws() {
    let one = scenario(&["replicates=1", "stop-when-settled=false"]);
    let mut more = one.clone();
    let mut extra = more.applications[0].clone();
    extra.name = "newcomer".to_owned();
    extra.instances = 1;
    extra.observers = false;
    more.add_application(extra, AppId(0));
    let (one, more) = (run(&one, 1), run(&more, 1));
    assert_eq!(one.replicates[0].faults[0].at, more.replicates[0].faults[0].at);
}

#[test]
fn determinism_is_verified() {
    let scenario = scenario(&["replicates=3"]);
    let data = run(&scenario, 1);
    let calm = AtomicBool::new(false);
    assert_eq!(sweep::verify_determinism(&scenario, &data, 2, &calm, &|_| ()), Ok(None));

    let mut tampered = data;
    tampered.replicates[1].digest ^= 1;
    let found =
        sweep::verify_determinism(&scenario, &tampered, 2, &calm, &|_| ()).expect("nobody interrupts");
    assert_eq!(found.expect("a difference").replicate, 1);
}
