//! `calls.csv`.

use std::io::{self, Write};

use super::{Field, Sheet};
use crate::model::id::AppId;
use crate::observe::Fate;
use crate::report::{Contents, Output};

/// A row is a minute of one application's calls to another.
pub(in crate::report) struct CallRows;

impl Output for CallRows {
    fn file_name(&self) -> &'static str {
        "calls.csv"
    }

    fn applies_to(&self, contents: &Contents<'_>) -> bool {
        !contents.summary.calls.is_empty()
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let place = ["replicate", "from_ms", "caller", "callee", "calls", "failed"];
        let fates = Fate::ALL.map(Fate::name);
        let stages = contents.report.scenario.registry().way();
        let blamed: Vec<String> = stages.iter().map(|stage| format!("dead-{}", stage.name())).collect();
        let blamed: Vec<&str> = blamed.iter().map(String::as_str).collect();
        let mut sheet = Sheet::new(into, &[place.as_slice(), &fates, &blamed].concat())?;
        let applications = &contents.report.scenario.applications;
        let name = |app: AppId| Field::Text(&applications[app.index()].name);
        for replicate in &contents.report.data.replicates {
            for row in &replicate.calls {
                let place = [
                    replicate.replicate.into(),
                    Field::Number(row.from.as_millis()),
                    name(row.caller),
                    name(row.callee),
                    row.calls.into(),
                    row.failed.into(),
                ];
                let dead = stages.iter().map(|stage| &row.dead_by_stage[*stage as usize]);
                let counts = row.attempts.iter().chain(dead).copied().map(Field::Number);
                sheet.row(place.into_iter().chain(counts))?;
            }
        }
        sheet.finish()
    }
}
