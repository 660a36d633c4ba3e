//! Shipped scenarios, run with other settings.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use stillup::observe::{ReplicateData, RunData};
use stillup::scenario::{self, Scenario};
use stillup::sweep;

/// Runs a shipped scenario with some settings changed.
pub(crate) fn run(name: &str, sets: &[&str]) -> Vec<ReplicateData> {
    run_all(&parse(name, &text(name), sets)).replicates
}

/// Runs a shipped scenario without its expectations, which name servers that a setting may take away: with some
/// settings changed, and something added to the file.
pub(crate) fn run_with(name: &str, sets: &[&str], added: &str) -> Vec<ReplicateData> {
    let text = text(name);
    let (text, _) = text.split_once("\n[[expect]]").expect("expectations are the end");
    run_all(&parse(name, &format!("{text}\n{added}"), sets)).replicates
}

/// All replicates of a scenario.
pub(crate) fn run_all(scenario: &Scenario) -> RunData {
    sweep::run(scenario, 2, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts")
}

/// A scenario as it stands in a file, with some settings changed.
pub(crate) fn parse(name: &str, text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    scenario::parse(name, text, &sets).unwrap_or_else(|problems| panic!("{problems}")).scenario
}

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name).with_extension("toml");
    scenario::read(&path).unwrap_or_else(|error| panic!("{error}"))
}
