//! What was compared, so that it can be run again and checked: `manifest.json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ComparisonContext;
use super::summary::{AxisSummary, ComparisonSummary};
use crate::report::manifest::TOOL;
use crate::report::words;

/// `manifest.json` of a comparison.
#[derive(Debug, Serialize)]
pub(super) struct ComparisonManifest<'a> {
    /// Always `stillup`: by this a directory is known as ours.
    tool: &'static str,
    version: &'static str,
    revision: Option<&'static str>,
    command: &'a str,
    seed: u64,
    replicates: u32,
    axes: &'a [AxisSummary],
    configurations: Vec<Entry<'a>>,
    /// SHA-256 of every other file of the directory but `host.json`, by name, hexadecimal.
    files: &'a BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    configuration: u64,
    values: &'a [String],
    digest: &'a str,
    scenario_sha256: &'a str,
    command: &'a str,
}

impl<'a> ComparisonManifest<'a> {
    /// That of a comparison whose files have these hashes.
    pub(super) fn of(
        summary: &'a ComparisonSummary,
        about: &ComparisonContext<'a>,
        files: &'a BTreeMap<String, String>,
    ) -> Self {
        let entries = summary.configurations.iter().map(|configuration| Entry {
            configuration: configuration.configuration,
            values: &configuration.values,
            digest: &configuration.digest,
            scenario_sha256: &configuration.scenario_sha256,
            command: &configuration.command,
        });
        Self {
            tool: TOOL,
            version: about.version,
            revision: about.revision,
            command: about.command,
            seed: summary.seed,
            replicates: summary.replicates,
            axes: &summary.axes,
            configurations: entries.collect(),
            files,
        }
    }

    /// As the text of `manifest.json`.
    pub(super) fn to_json(&self) -> String {
        words::json(self)
    }
}
