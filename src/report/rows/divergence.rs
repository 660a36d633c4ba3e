//! `divergence.csv`.

use super::{Columns, Of, Sheet};
use crate::observe::{Divergence, ReplicateData};
use crate::report::Contents;

/// A row is a change in how many instances the servers do not agree about.
pub(in crate::report) struct DivergenceRows;

impl Sheet for DivergenceRows {
    type Row = Divergence;

    const FILE: &'static str = "divergence.csv";

    fn applies_to(contents: &Contents<'_>) -> bool {
        contents.report.has_several_servers()
    }

    fn rows(replicate: &ReplicateData) -> &[Divergence] {
        &replicate.divergence
    }

    fn columns<'a>() -> Columns<Of<'a, Divergence>> {
        Columns::<Of<'_, Divergence>>::new()
            .one("replicate", "its number, from 0", Of::number)
            .one("at_ms", "since when: of several changes in one second, the last", |row| row.at.into())
            .one("servers", "servers that run", |row| row.servers.into())
            .one("differing", "instances that they differ about", |row| row.differing.into())
            .one(
                "differing_max",
                "the most that they differed about in that second, up to this moment",
                |row| row.differing_max.into(),
            )
    }
}
