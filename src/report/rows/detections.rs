//! `detections.csv`.

use super::{ALIKE_TO, Columns, Of, Sheet, alike_to};
use crate::observe::{Detection, ReplicateData};

/// A row is one observation, with a count for those that are alike.
pub(in crate::report) struct DetectionRows;

impl Sheet for DetectionRows {
    type Row = Detection;

    const FILE: &'static str = "detections.csv";

    fn rows(replicate: &ReplicateData) -> &[Detection] {
        &replicate.detections
    }

    fn columns<'a>() -> Columns<Of<'a, Detection>> {
        Columns::<Of<'_, Detection>>::new()
            .one("replicate", "its number, from 0", Of::number)
            .one(
                "event",
                "`crash`, `stop`, `registration`, `unhealthy`, `override` or `recovery`",
                |row| row.event.name().into(),
            )
            .one("instance", "to whom it happened; the first of them, if they are many", |row| {
                row.replicate.instances[&row.instance].as_str().into()
            })
            .one("event_at_ms", "when", |row| row.at.into())
            .one("stage", "where it was watched", |row| row.stage.name().into())
            .one(
                "server",
                "at which server: whose registry or answers; of `client` and `balancer` the server whose answer \
                 showed the observer the change or, while none has, that it was answered by last. Empty if none \
                 had answered",
                |row| row.server.into(),
            )
            .one("outcome", "`detected`, `censored` or `superseded`", |row| row.outcome.name().into())
            .one("detection_time_ms", "T_D if detected; otherwise how long it was watched", |row| {
                row.outcome.length().into()
            })
            .one(
                "count",
                "how many observations the row stands for: pairs of an instance and an observer, or at \
                 `registry` and `served` instances",
                |row| row.count.into(),
            )
            .one("instances", "of how many instances", |row| row.instances.into())
            .one("alike_to", ALIKE_TO, |row| alike_to(row.replicate.folded.detections))
    }
}
