//! Shipped scenarios, run with other settings.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use stillup::observe::ReplicateData;
use stillup::{scenario, sweep};

/// Runs a shipped scenario with some settings changed.
pub(crate) fn run(name: &str, sets: &[&str]) -> Vec<ReplicateData> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name).with_extension("toml");
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let scenario = scenario::load(&path, &sets).unwrap_or_else(|error| panic!("{error}")).scenario;
    sweep::run(&scenario, 2, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts").replicates
}
