//! The whole simulation, all rules and observers on: virtual client-seconds per CPU second.
#![allow(missing_docs, clippy::print_stdout, clippy::disallowed_types)]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use stillup::scenario::{self, Scenario};
use stillup::{sweep, world};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let load =
        |name: &str| scenario::load(&folder.join(name), &[]).expect("a shipped scenario loads").scenario;
    one_replicate("day of 10,000", &load("day-of-10000.toml"));
    default_run(&load("default-crash.toml"));
}

/// One thread, one replicate: wall time of a thread that never waits is CPU time, other processes apart.
fn one_replicate(name: &str, scenario: &Scenario) {
    let clients: u64 = scenario.applications.iter().map(|application| u64::from(application.instances)).sum();
    let start = Instant::now();
    let data = world::run(scenario, 0, &AtomicBool::new(false)).expect("nobody interrupts");
    let seconds = start.elapsed().as_secs_f64();
    let virtual_seconds = data.ended_at.as_millis() as f64 / 1e3;
    println!(
        "{name}: {seconds:.1} s, {:.1} M client-seconds/s, {:.1} M events/s, {} events, digest {:016x}",
        clients as f64 * virtual_seconds / seconds / 1e6,
        data.events as f64 / seconds / 1e6,
        data.events,
        data.digest
    );
}

fn default_run(scenario: &Scenario) {
    for jobs in [1, 2] {
        let start = Instant::now();
        let data = sweep::run(scenario, jobs, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts");
        let events: u64 = data.replicates.iter().map(|replicate| replicate.events).sum();
        println!(
            "default run, {} replicates, {jobs} jobs: {:.2} s, {events} events",
            data.replicates.len(),
            start.elapsed().as_secs_f64()
        );
    }
}
