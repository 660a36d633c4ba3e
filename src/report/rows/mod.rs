//! The CSV files: one observation a row, units in the column names, times as whole milliseconds since the start
//! of the replicate.
//!
//! A file is a [`Sheet`]: its name, its rows, and its columns, each with what it means and what stands in it. Its
//! header, its cells and its table in `docs/OUTPUT.md` all come from there, so a column is added in one place.

mod calls;
mod columns;
mod detections;
mod divergence;
mod faults;
mod load;
mod mistakes;
mod quality;
mod sweeps;
mod timeline;

pub(super) use calls::CallRows;
pub(super) use columns::{Column, Columns, Field};
pub(super) use detections::DetectionRows;
pub(super) use divergence::DivergenceRows;
pub(super) use faults::FaultRows;
pub(super) use load::LoadRows;
pub(super) use mistakes::MistakeRows;
pub(super) use quality::QualityRows;
pub(super) use sweeps::SweepRows;
pub(super) use timeline::TimelineRows;

use std::io::{self, Write};
use std::ops::Deref;

use super::{Contents, Output, Report};
use crate::model::id::AppId;
use crate::observe::ReplicateData;

/// A CSV file of a run: a row for each thing of a kind that its replicates have left.
pub(super) trait Sheet: Sync {
    /// What a row is made of.
    type Row: 'static;

    /// The file's name within the directory.
    const FILE: &'static str;

    /// Whether this run has such a file.
    fn applies_to(contents: &Contents<'_>) -> bool {
        let _ = contents;
        true
    }

    /// What a replicate has for it, in the order of the rows.
    fn rows(replicate: &ReplicateData) -> &[Self::Row];

    /// Its columns, of whatever registry.
    fn columns<'a>() -> Columns<Of<'a, Self::Row>>;
}

impl<S: Sheet> Output for S {
    fn file_name(&self) -> &'static str {
        S::FILE
    }

    fn applies_to(&self, contents: &Contents<'_>) -> bool {
        S::applies_to(contents)
    }

    fn columns(&self) -> Option<String> {
        Some(S::columns().documented())
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let report = contents.report;
        let mut sheet = S::columns().only_of(report.scenario.registry()).begin(into)?;
        for replicate in &report.data.replicates {
            for row in S::rows(replicate) {
                sheet.row(&Of { report, replicate, row })?;
            }
        }
        sheet.finish()?;
        Ok(())
    }
}

/// What a row is made of, and of which replicate of which run it is.
pub(super) struct Of<'a, R> {
    report: &'a Report<'a>,
    replicate: &'a ReplicateData,
    row: &'a R,
}

impl<R> Deref for Of<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        self.row
    }
}

impl<R> Of<'_, R> {
    /// The replicate's number.
    fn number(&self) -> Field<'_> {
        self.replicate.replicate.into()
    }

    /// The name of an application of the run.
    fn application(&self, app: AppId) -> Field<'_> {
        self.report.scenario.applications[app.index()].name.as_str().into()
    }
}

/// To what the observations of a row are equal: the documentation of `alike_to`.
const ALIKE_TO: &str = "`nanosecond`, or `millisecond` if the rows are folded";

/// The same as a field.
fn alike_to(folded: bool) -> Field<'static> {
    if folded { "millisecond" } else { "nanosecond" }.into()
}
