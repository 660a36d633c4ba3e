//! `faults.csv`.

use super::{Columns, Of, Sheet};
use crate::observe::{Injected, ReplicateData};

/// A row is a fault that was injected.
pub(in crate::report) struct FaultRows;

impl Sheet for FaultRows {
    type Row = Injected;

    const FILE: &'static str = "faults.csv";

    fn rows(replicate: &ReplicateData) -> &[Injected] {
        &replicate.faults
    }

    fn columns<'a>() -> Columns<Of<'a, Injected>> {
        Columns::<Of<'_, Injected>>::new()
            .one("replicate", "its number, from 0", Of::number)
            .one("fault", "the verb, as the scenario writes it", |row| row.verb.into())
            .one("at_ms", "when", |row| row.at.into())
            .one("until_ms", "when it ended; empty if it has no length", |row| row.until.into())
            .one("targets", "how many it hit", |row| row.targets.into())
    }
}
