//! `quality.csv`.

use super::{Columns, Of, Sheet};
use crate::engine::NANOS_PER_MS;
use crate::observe::{Quality, ReplicateData};

/// A row is one stage of an observer, or of several that made no mistake: how well it told who is alive.
pub(in crate::report) struct QualityRows;

impl Sheet for QualityRows {
    type Row = Quality;

    const FILE: &'static str = "quality.csv";

    fn rows(replicate: &ReplicateData) -> &[Quality] {
        &replicate.quality
    }

    fn columns<'a>() -> Columns<Of<'a, Quality>> {
        let ms = |nanos: u128| nanos / u128::from(NANOS_PER_MS);
        Columns::<Of<'_, Quality>>::new()
            .one("replicate", "its number, from 0", Of::number)
            .one("stage", "where", |row| row.stage.name().into())
            .one(
                "server",
                "which, at a server's stages; empty for observers, who may talk to several",
                |row| row.server.into(),
            )
            .one("observer", "who; empty for a server and for a row of several observers", |row| {
                row.observer.map(|observer| row.replicate.instances[&observer].as_str()).into()
            })
            .one("observers", "how many the row stands for; 1 for a server", |row| row.observers.into())
            .one(
                "good_ms",
                "good time: over all instances but the observer, the time during which they were well and it was up",
                move |row| ms(row.good_nanos).into(),
            )
            .one(
                "mistaken_ms",
                "of that, the time during which they were not shown by mistake. P_A = 1 − `mistaken_ms` / `good_ms`",
                move |row| ms(row.mistaken_nanos).into(),
            )
            .one(
                "mistakes",
                "how many began. T_MR = `good_ms` / `mistakes`, T_M = `mistaken_ms` / `mistakes` on average",
                |row| row.mistakes.into(),
            )
            .one("corrected", "of these, corrected ones", |row| row.corrected.into())
    }
}
