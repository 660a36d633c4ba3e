//! `faults.csv`.

use std::io::{self, Write};

use super::{Field, Sheet};
use crate::report::{Contents, Output};

/// A row is a fault that was injected.
pub(in crate::report) struct FaultRows;

impl Output for FaultRows {
    fn file_name(&self) -> &'static str {
        "faults.csv"
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let mut sheet = Sheet::new(into, &["replicate", "fault", "at_ms", "until_ms", "targets"])?;
        for replicate in &contents.report.data.replicates {
            for fault in &replicate.faults {
                sheet.row([
                    replicate.replicate.into(),
                    Field::Text(fault.verb),
                    Field::Number(fault.at.as_millis()),
                    fault.until.map_or(Field::Nothing, |until| Field::Number(until.as_millis())),
                    fault.targets.into(),
                ])?;
            }
        }
        sheet.finish()
    }
}
