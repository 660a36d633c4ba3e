//! From a finished run to something to read: an answer for the terminal and a directory that explains itself.
//!
//! Nothing is decided here. A [`Report`] borrows what the run left behind, [`Summary`] computes every figure
//! once, and each output shows these figures in its own way:
//!
//! ```text
//!             +--> summary.json, and `--format json`
//!   Report ---+--> table.rs: the terminal's table, and one sentence
//!    Summary  +--> rows/: one CSV file a kind of row
//!             +--> charts/: one SVG a question, and the same as PNG
//!             +--> manifest.json: what ran, and the hashes of the files above
//! ```
//!
//! All but `host.json` is the same, byte for byte, for the same scenario, seed and version.

mod calls;
mod calls_table;
#[cfg(feature = "charts")]
mod charts;
#[cfg(feature = "cli")]
pub mod comparison;
#[cfg(feature = "cli")]
mod directory;
mod guards;
#[cfg(feature = "cli")]
mod host;
mod intervals;
mod length;
mod manifest;
mod mistake_table;
mod mistakes;
mod output;
#[cfg(feature = "cli")]
mod place;
mod rows;
mod sentence;
mod servers;
mod servers_table;
mod stages;
mod summary;
mod table;
mod two_stage_table;
mod words;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod fixtures_servers;
#[cfg(test)]
mod fixtures_two_stage;
#[cfg(test)]
mod pages;

pub use calls::{AttemptCounts, CallSummary, FailedAReplicate, StageCounts, WorstMinute};
#[cfg(feature = "png")]
pub use charts::svg_to_png;
#[cfg(feature = "charts")]
pub use charts::{Recorded, detection_times_svg};
#[cfg(feature = "cli")]
pub use directory::RunDirectory;
pub use guards::{ConsumerSummary, GuardSummary};
#[cfg(feature = "cli")]
pub use host::Host;
use length::in_words;
pub use manifest::Manifest;
pub use mistakes::{MistakeSummary, Tolerance};
pub use output::{Contents, OUTPUTS, Output};
#[cfg(feature = "cli")]
pub use place::PrepareError;
pub use servers::{ServerAgreement, ServerStage, ServerSummary, Spread};
pub use stages::{IntervalMs, StageIntervals, StageSummary};
pub use summary::{ExpectationSummary, Summary, json_schema};
pub use table::table;

use crate::analysis::Bound;
use crate::model::registry::Kind;
use crate::observe::RunData;
use crate::scenario::Scenario;
use crate::sweep::Verdict;

/// A finished run and all that is said beside it.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// What ran.
    pub scenario: &'a Scenario,
    /// The same as canonical text (TOML).
    pub scenario_text: &'a str,
    /// What it left behind: at least one replicate.
    pub data: &'a RunData,
    /// What the closed forms say.
    pub bounds: &'a [Bound],
    /// How the scenario's expectations came out.
    pub verdicts: &'a [Verdict],
    /// The command line that repeats the run: without what cannot change its results.
    pub command: String,
    /// The version of this program.
    pub version: &'static str,
    /// The revision that it was built from, if that was known.
    pub revision: Option<&'static str>,
}

impl Report<'_> {
    /// Whether its registry is the two-stage one.
    pub(crate) fn is_two_stage(&self) -> bool {
        self.scenario.registry() == Kind::TwoStage
    }

    /// Whether there are peers that may differ. What one server does needs no name.
    pub(crate) fn has_several_servers(&self) -> bool {
        self.scenario.servers.len() > 1
    }
}
