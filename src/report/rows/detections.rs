//! `detections.csv`.

use std::io::{self, Write};

use super::{Field, Sheet, alike_to};
use crate::observe::Outcome;
use crate::report::{Contents, Output};

/// A row is one observation, with a count for those that are alike.
pub(in crate::report) struct DetectionRows;

impl Output for DetectionRows {
    fn file_name(&self) -> &'static str {
        "detections.csv"
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let header = [
            "replicate",
            "event",
            "instance",
            "event_at_ms",
            "stage",
            "server",
            "outcome",
            "detection_time_ms",
            "count",
            "instances",
            "alike_to",
        ];
        let mut sheet = Sheet::new(into, &header)?;
        for replicate in &contents.report.data.replicates {
            for row in &replicate.detections {
                let (outcome, length) = match row.outcome {
                    Outcome::Detected(length) => ("detected", length),
                    Outcome::Censored(length) => ("censored", length),
                    Outcome::Superseded(length) => ("superseded", length),
                };
                sheet.row([
                    replicate.replicate.into(),
                    Field::Text(row.event.name()),
                    Field::Text(&replicate.instances[&row.instance]),
                    Field::Number(row.at.as_millis()),
                    Field::Text(row.stage.name()),
                    row.server.into(),
                    Field::Text(outcome),
                    Field::Number(length.as_millis()),
                    row.count.into(),
                    row.instances.into(),
                    alike_to(replicate.folded.detections),
                ])?;
            }
        }
        sheet.finish()
    }
}
