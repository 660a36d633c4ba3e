//! `timeline.csv`.

use std::io::{self, Write};

use super::{Field, Sheet};
use crate::report::{Contents, Output};

/// A row is a Eureka server's minute, at the tick of its renewal bucket.
pub(in crate::report) struct TimelineRows;

impl Output for TimelineRows {
    fn file_name(&self) -> &'static str {
        "timeline.csv"
    }

    fn applies_to(&self, contents: &Contents<'_>) -> bool {
        !contents.report.is_two_stage()
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let header = [
            "replicate",
            "server",
            "at_ms",
            "registered",
            "expired",
            "renewals",
            "threshold",
            "expected",
            "self_preservation",
            "evicted",
        ];
        let mut sheet = Sheet::new(into, &header)?;
        for replicate in &contents.report.data.replicates {
            for minute in &replicate.timeline {
                sheet.row([
                    replicate.replicate.into(),
                    Field::Server(minute.server),
                    Field::Number(minute.at.as_millis()),
                    minute.registered.into(),
                    minute.expired.into(),
                    minute.renewals.into(),
                    minute.threshold.into(),
                    minute.expected.into(),
                    Field::Flag(minute.self_preservation),
                    minute.evicted.into(),
                ])?;
            }
        }
        sheet.finish()
    }
}
