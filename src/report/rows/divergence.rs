//! `divergence.csv`.

use std::io::{self, Write};

use super::{Field, Sheet};
use crate::report::{Contents, Output};

/// A row is a change in how many instances the servers do not agree about.
pub(in crate::report) struct DivergenceRows;

impl Output for DivergenceRows {
    fn file_name(&self) -> &'static str {
        "divergence.csv"
    }

    fn applies_to(&self, contents: &Contents<'_>) -> bool {
        contents.report.has_several_servers()
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let header = ["replicate", "at_ms", "servers", "differing", "differing_max"];
        let mut sheet = Sheet::new(into, &header)?;
        for replicate in &contents.report.data.replicates {
            for row in &replicate.divergence {
                sheet.row([
                    replicate.replicate.into(),
                    Field::Number(row.at.as_millis()),
                    row.servers.into(),
                    row.differing.into(),
                    row.differing_max.into(),
                ])?;
            }
        }
        sheet.finish()
    }
}
