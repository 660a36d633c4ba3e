//! What a journal is about, so that one that goes on can tell whether it is still the same, and if not, what is
//! different.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::plan::{Dimension, Plan};
use crate::scenario::{Scenario, canonical};

/// By this a plan is known as ours.
pub(super) const TOOL: &str = "stillup";

/// What is being run: `plan.json`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlanRecord {
    pub(super) tool: String,
    program: String,
    pub(super) command: String,
    seed: u64,
    replicates: u32,
    pub(super) dimensions: Vec<(String, Vec<String>)>,
    /// The first configuration of each scenario file, seed, replicates and event budget aside.
    scenarios: Vec<String>,
    /// SHA-256 over the keys of all configurations, hexadecimal.
    keys: String,
}

impl PlanRecord {
    /// That of a plan.
    pub(super) fn of(plan: &Plan, program: &str, command: &str) -> Self {
        let firsts = if plan.compares_scenarios() { plan.size() } else { 1 };
        let mut keys = Sha256::new();
        (0..plan.size()).for_each(|index| keys.update(plan.key(index)));
        let dimension = |dimension: &Dimension| (dimension.name.clone(), dimension.values.clone());
        let text = |index| {
            let scenario = plan.scenario(index);
            canonical(&Scenario { seed: 0, replicates: 1, event_budget: 0, ..scenario })
        };
        Self {
            tool: TOOL.to_owned(),
            program: program.to_owned(),
            command: command.to_owned(),
            seed: plan.seed(),
            replicates: plan.replicates(),
            dimensions: plan.dimensions().iter().map(dimension).collect(),
            scenarios: (0..firsts).map(text).collect(),
            keys: hex(&keys.finalize()),
        }
    }

    /// What differs now, in words.
    pub(super) fn differences(&self, now: &Self) -> Vec<String> {
        let mut told = Vec::new();
        let mut tell = |what: &str, then: String, now: String| {
            if then != now {
                told.push(format!("{what}: {then} then, {now} now"));
            }
        };
        tell("the version of stillup", self.program.clone(), now.program.clone());
        tell("the seed", self.seed.to_string(), now.seed.to_string());
        tell("the replicates", self.replicates.to_string(), now.replicates.to_string());
        let axes = |plan: &Self| {
            let axes = plan.dimensions.iter().map(|(name, values)| format!("{name}={}", values.join(",")));
            axes.collect::<Vec<_>>().join(" ")
        };
        tell("what varies", axes(self), axes(now));
        for (then, now) in self.scenarios.iter().zip(&now.scenarios) {
            let (mut before, mut after) = (then.lines(), now.lines());
            let differs = std::iter::from_fn(|| Some((before.next(), after.next())))
                .take_while(|pair| *pair != (None, None))
                .find(|(before, after)| before != after);
            if let Some((before, after)) = differs {
                let line = |line: Option<&str>| line.map_or("nothing".to_owned(), |line| format!("`{line}`"));
                tell("the scenario", line(before), line(after));
            }
        }
        if told.is_empty() && self.keys != now.keys {
            told.push("the settings of a configuration".to_owned());
        }
        told
    }
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
