//! What is true of the machine and the moment, not of the run.

use serde::Serialize;

use super::words;

/// `host.json`: the only file that may differ between two runs of the same scenario, seed and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Replicates that ran at the same time, at most.
    pub jobs: usize,
    /// Processors that the machine offers.
    pub cpus: usize,
    /// From reading the scenario to the last replicate's end, ms.
    pub wall_time_ms: u64,
}

impl Host {
    /// As the text of `host.json`.
    pub(super) fn to_json(self) -> String {
        words::json(&self)
    }
}
