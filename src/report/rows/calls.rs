//! `calls.csv`.

use super::{Column, Columns, Of, Sheet};
use crate::model::stage::Stage;
use crate::observe::{CallMinute, CallOutcome, ReplicateData};
use crate::report::Contents;

/// A row is a minute of one application's calls to another.
pub(in crate::report) struct CallRows;

impl Sheet for CallRows {
    type Row = CallMinute;

    const FILE: &'static str = "calls.csv";

    fn applies_to(contents: &Contents<'_>) -> bool {
        !contents.summary.calls.is_empty()
    }

    fn rows(replicate: &ReplicateData) -> &[CallMinute] {
        &replicate.calls
    }

    fn columns<'a>() -> Columns<Of<'a, CallMinute>> {
        Columns::<Of<'_, CallMinute>>::new()
            .one("replicate", "its number, from 0", Of::number)
            .one("from_ms", "the start of the minute", |row| row.from.into())
            .one("caller", "which application calls which", |row| row.application(row.caller))
            .and("callee", |row| row.application(row.callee))
            .one("calls", "how many calls", |row| row.calls.into())
            .one("failed", "of these, those that failed after all retries", |row| row.failed.into())
            .line("attempts by what became of them", CallOutcome::ALL.map(attempts))
            .line(
                "the attempts at dead instances by the stage to blame; the last with Eureka only",
                Stage::WAY.map(dead),
            )
    }
}

fn attempts<'a>(fate: CallOutcome) -> Column<Of<'a, CallMinute>> {
    Column::new(fate.name(), move |row: &Of<'_, CallMinute>| row.attempts[fate as usize].into())
}

fn dead<'a>(stage: Stage) -> Column<Of<'a, CallMinute>> {
    let name = format!("dead-{}", stage.name());
    Column::new(name, move |row: &Of<'_, CallMinute>| row.dead_by_stage[stage as usize].into())
        .only(move |registry| registry.way().contains(&stage))
}
