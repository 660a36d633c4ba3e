//! `mistakes.csv`.

use std::io::{self, Write};

use super::{Field, Sheet, alike_to};
use crate::report::{Contents, Output};

/// A row is one mistake, with a count for those that are alike.
pub(in crate::report) struct MistakeRows;

impl Output for MistakeRows {
    fn file_name(&self) -> &'static str {
        "mistakes.csv"
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let header = [
            "replicate",
            "instance",
            "stage",
            "server",
            "at_ms",
            "duration_ms",
            "corrected",
            "removal",
            "count",
            "instances",
            "alike_to",
        ];
        let mut sheet = Sheet::new(into, &header)?;
        for replicate in &contents.report.data.replicates {
            for mistake in &replicate.mistakes {
                sheet.row([
                    replicate.replicate.into(),
                    Field::Text(&replicate.instances[&mistake.instance]),
                    Field::Text(mistake.stage.name()),
                    mistake.server.into(),
                    Field::Number(mistake.at.as_millis()),
                    Field::Number(mistake.lasted.as_millis()),
                    Field::Flag(mistake.corrected),
                    Field::Text(mistake.removal.name()),
                    mistake.count.into(),
                    mistake.instances.into(),
                    alike_to(replicate.folded.mistakes),
                ])?;
            }
        }
        sheet.finish()
    }
}
