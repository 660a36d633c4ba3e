//! One trait for every file of a run directory that is derived from the run alone.

use std::io::{self, Write};

#[cfg(feature = "charts")]
use super::charts;
use super::{Report, Summary, rows};

/// What the files are made of.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The run.
    pub report: &'a Report<'a>,
    /// Its figures.
    pub summary: &'a Summary,
}

/// A file of the run directory. The same contents give the same bytes.
pub trait Output: Sync {
    /// Its name within the directory.
    fn file_name(&self) -> &'static str;

    /// Whether this run has such a file.
    fn applies_to(&self, contents: &Contents<'_>) -> bool {
        let _ = contents;
        true
    }

    /// The table that explains its columns, in Markdown; `None` if it has none.
    fn columns(&self) -> Option<String> {
        None
    }

    /// Writes it whole.
    ///
    /// # Errors
    /// Only those of `into`.
    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()>;
}

/// All that a run may have, slow ones first: they are written side by side.
pub const OUTPUTS: &[&dyn Output] = &[
    #[cfg(feature = "png")]
    &charts::Png(charts::DETECTION_TIMES),
    #[cfg(feature = "png")]
    &charts::Png(charts::STAGE_BREAKDOWN),
    #[cfg(feature = "png")]
    &charts::Png(charts::RENEWALS),
    #[cfg(feature = "png")]
    &charts::Png(charts::GUARD),
    #[cfg(feature = "png")]
    &charts::Png(charts::LOAD),
    #[cfg(feature = "png")]
    &charts::Png(charts::DIVERGENCE),
    #[cfg(feature = "png")]
    &charts::Png(charts::CALLS),
    &rows::DetectionRows,
    #[cfg(feature = "charts")]
    &charts::Svg(charts::DETECTION_TIMES),
    #[cfg(feature = "charts")]
    &charts::Svg(charts::STAGE_BREAKDOWN),
    #[cfg(feature = "charts")]
    &charts::Svg(charts::RENEWALS),
    #[cfg(feature = "charts")]
    &charts::Svg(charts::GUARD),
    #[cfg(feature = "charts")]
    &charts::Svg(charts::LOAD),
    #[cfg(feature = "charts")]
    &charts::Svg(charts::DIVERGENCE),
    #[cfg(feature = "charts")]
    &charts::Svg(charts::CALLS),
    &rows::TimelineRows,
    &rows::SweepRows,
    &rows::LoadRows,
    &rows::DivergenceRows,
    &rows::MistakeRows,
    &rows::QualityRows,
    &rows::CallRows,
    &rows::FaultRows,
    &SummaryFile,
    &ScenarioFile,
];

/// `summary.json`.
struct SummaryFile;

impl Output for SummaryFile {
    fn file_name(&self) -> &'static str {
        "summary.json"
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        into.write_all(contents.summary.to_json().as_bytes())
    }
}

/// `scenario.toml`: what ran, ready to be run again.
struct ScenarioFile;

impl Output for ScenarioFile {
    fn file_name(&self) -> &'static str {
        "scenario.toml"
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        into.write_all(contents.report.scenario_text.as_bytes())
    }
}
