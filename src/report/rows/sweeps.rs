//! `sweeps.csv`.

use super::{Columns, Of, Sheet};
use crate::observe::{ReplicateData, SweepRow};
use crate::report::Contents;

/// A row is a sweep of a two-stage registry that did something to a service, or found its guard otherwise than the
/// sweep before.
pub(in crate::report) struct SweepRows;

impl Sheet for SweepRows {
    type Row = SweepRow;

    const FILE: &'static str = "sweeps.csv";

    fn applies_to(contents: &Contents<'_>) -> bool {
        contents.report.is_two_stage()
    }

    fn rows(replicate: &ReplicateData) -> &[SweepRow] {
        &replicate.sweeps
    }

    fn columns<'a>() -> Columns<Of<'a, SweepRow>> {
        Columns::<Of<'_, SweepRow>>::new()
            .one("replicate", "which", Of::number)
            .and("server", |row| row.server.into())
            .one("at_ms", "when", |row| row.at.into())
            .one("service", "which application", |row| row.application(row.sweep.app))
            .one("entries", "stored entries, unhealthy ones included, when the sweep came to them", |row| {
                row.sweep.entries.into()
            })
            .one("healthy", "of these, healthy ones: the guard's verdict is about the two", |row| {
                row.sweep.healthy.into()
            })
            .one("guard_open", "`true` if the guard let the sweep pass", |row| row.sweep.guard_open.into())
            .one("marked", "entries that turned unhealthy", |row| row.sweep.marked.into())
            .one("removed", "entries that were removed", |row| row.sweep.removed.into())
    }
}
