//! `quality.csv`.

use std::io::{self, Write};

use super::{Field, Sheet};
use crate::engine::NANOS_PER_MS;
use crate::report::{Contents, Output};

/// A row is one stage of an observer, or of several that made no mistake: how well it told who is alive.
pub(in crate::report) struct QualityRows;

impl Output for QualityRows {
    fn file_name(&self) -> &'static str {
        "quality.csv"
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let header = [
            "replicate",
            "stage",
            "server",
            "observer",
            "observers",
            "good_ms",
            "mistaken_ms",
            "mistakes",
            "corrected",
        ];
        let mut sheet = Sheet::new(into, &header)?;
        for replicate in &contents.report.data.replicates {
            for row in &replicate.quality {
                let ms = |nanos: u128| Field::Wide(nanos / u128::from(NANOS_PER_MS));
                let observer = row.observer.map(|observer| Field::Text(&replicate.instances[&observer]));
                sheet.row([
                    replicate.replicate.into(),
                    Field::Text(row.stage.name()),
                    row.server.into(),
                    observer.unwrap_or(Field::Nothing),
                    row.observers.into(),
                    ms(row.good_nanos),
                    ms(row.mistaken_nanos),
                    row.mistakes.into(),
                    row.corrected.into(),
                ])?;
            }
        }
        sheet.finish()
    }
}
