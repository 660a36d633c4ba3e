//! `mistakes.csv`.

use super::{ALIKE_TO, Columns, Of, Sheet, alike_to};
use crate::observe::{Mistake, ReplicateData};

/// A row is one mistake, with a count for those that are alike.
pub(in crate::report) struct MistakeRows;

impl Sheet for MistakeRows {
    type Row = Mistake;

    const FILE: &'static str = "mistakes.csv";

    fn rows(replicate: &ReplicateData) -> &[Mistake] {
        &replicate.mistakes
    }

    fn columns<'a>() -> Columns<Of<'a, Mistake>> {
        Columns::<Of<'_, Mistake>>::new()
            .one("replicate", "its number, from 0", Of::number)
            .one("instance", "who is not shown; the first of them, if they are many", |row| {
                row.replicate.instances[&row.instance].as_str().into()
            })
            .one("stage", "where", |row| row.stage.name().into())
            .one(
                "server",
                "whose registry or answers; of `client` and `balancer` the server whose answer hid the instance",
                |row| row.server.into(),
            )
            .one("at_ms", "when the stage ceased to show it", |row| row.at.into())
            .one("duration_ms", "T_M: until it was shown again, or the mistake ended otherwise", |row| {
                row.lasted.into()
            })
            .one("corrected", "`true` if it was shown again", |row| row.corrected.into())
            .one(
                "removal",
                "`evicted` (at `registry` and `entry`), `lost-with-server` (at the server's stages, when the \
                 server ended), or `not-shown`: the stage was told so by the one before it",
                |row| row.removal.name().into(),
            )
            .one(
                "count",
                "how many mistakes the row stands for: pairs of an instance and an observer, or at `registry` \
                 and `served` instances",
                |row| row.count.into(),
            )
            .one(
                "instances",
                "of how many instances; in folded rows one counts again for each of its mistakes",
                |row| row.instances.into(),
            )
            .one("alike_to", ALIKE_TO, |row| alike_to(row.replicate.folded.mistakes))
    }
}
