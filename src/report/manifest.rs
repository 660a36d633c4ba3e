//! What ran, so that it can be run again and checked: `manifest.json`.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::summary::digest;
use super::{Report, mistakes, words};

/// Runs of more replicates list only the digest over all of them.
const DIGESTS_LISTED: usize = 1_000;

/// The name by which a run directory is known as ours.
pub(super) const TOOL: &str = "stillup";

/// `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Manifest {
    /// Always `stillup`.
    pub tool: &'static str,
    /// The version that ran.
    pub version: &'static str,
    /// The revision that it was built from; null if the build did not know it.
    pub revision: Option<&'static str>,
    /// The command that repeats the run.
    pub command: String,
    /// The seed of all chance.
    pub seed: u64,
    /// How often the scenario was run.
    pub replicates: u32,
    /// The digest over all replicates: 16 hexadecimal digits.
    pub digest: String,
    /// Each replicate's own digest in order, 16 hexadecimal digits each; null for more than 1000 replicates.
    pub replicate_digests: Option<Vec<String>>,
    /// SHA-256 of the scenario's canonical text, hexadecimal.
    pub scenario_sha256: String,
    /// The scenario's canonical text.
    pub scenario: String,
    /// SHA-256 of every other file of the directory but `host.json`, by name, hexadecimal.
    pub files: BTreeMap<&'static str, String>,
}

impl Manifest {
    /// The manifest of a run whose files have these hashes.
    pub fn of(report: &Report<'_>, files: BTreeMap<&'static str, String>) -> Self {
        let replicates = &report.data.replicates;
        let listed = replicates.len() <= DIGESTS_LISTED;
        Self {
            tool: TOOL,
            version: report.version,
            revision: report.revision,
            command: report.command.clone(),
            seed: report.scenario.seed,
            replicates: mistakes::replicates(replicates.len()),
            digest: digest(replicates.iter().map(|replicate| replicate.digest)),
            replicate_digests: listed
                .then(|| replicates.iter().map(|replicate| format!("{:016x}", replicate.digest)).collect()),
            scenario_sha256: hex(&Sha256::digest(report.scenario_text)),
            scenario: report.scenario_text.to_owned(),
            files,
        }
    }

    /// As the text of `manifest.json`.
    pub fn to_json(&self) -> String {
        words::json(self)
    }
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
