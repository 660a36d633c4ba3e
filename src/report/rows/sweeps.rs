//! `sweeps.csv`.

use std::io::{self, Write};

use super::{Field, Sheet};
use crate::report::{Contents, Output};

/// A row is a sweep of a two-stage registry that did something to a service, or found its guard otherwise than the
/// sweep before.
pub(in crate::report) struct SweepRows;

impl Output for SweepRows {
    fn file_name(&self) -> &'static str {
        "sweeps.csv"
    }

    fn applies_to(&self, contents: &Contents<'_>) -> bool {
        contents.report.is_two_stage()
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let header = [
            "replicate",
            "server",
            "at_ms",
            "service",
            "entries",
            "healthy",
            "guard_open",
            "marked",
            "removed",
        ];
        let mut sheet = Sheet::new(into, &header)?;
        let applications = &contents.report.scenario.applications;
        for replicate in &contents.report.data.replicates {
            for row in &replicate.sweeps {
                let sweep = row.sweep;
                sheet.row([
                    replicate.replicate.into(),
                    Field::Server(row.server),
                    Field::Number(row.at.as_millis()),
                    Field::Text(&applications[sweep.app.index()].name),
                    sweep.entries.into(),
                    sweep.healthy.into(),
                    Field::Flag(sweep.guard_open),
                    sweep.marked.into(),
                    sweep.removed.into(),
                ])?;
            }
        }
        sheet.finish()
    }
}
