//! `timeline.csv`.

use super::{Columns, Of, Sheet};
use crate::observe::{Minute, ReplicateData};
use crate::report::Contents;

/// A row is a Eureka server's minute, at the tick of its renewal bucket.
pub(in crate::report) struct TimelineRows;

impl Sheet for TimelineRows {
    type Row = Minute;

    const FILE: &'static str = "timeline.csv";

    fn applies_to(contents: &Contents<'_>) -> bool {
        !contents.report.is_two_stage()
    }

    fn rows(replicate: &ReplicateData) -> &[Minute] {
        &replicate.timeline
    }

    fn columns<'a>() -> Columns<Of<'a, Minute>> {
        Columns::<Of<'_, Minute>>::new()
            .one("replicate", "which", Of::number)
            .and("server", |row| row.server.into())
            .one("at_ms", "when the bucket was closed", |row| row.at.into())
            .one("registered", "leases in the registry", |row| row.registered.into())
            .one("expired", "of these, leases that are expired", |row| row.expired.into())
            .one("renewals", "renewals in the bucket just closed", |row| row.renewals.into())
            .one("threshold", "`numberOfRenewsPerMinThreshold`", |row| row.threshold.into())
            .one("expected", "`expectedNumberOfClientsSendingRenews`", |row| row.expected.into())
            .one(
                "self_preservation",
                "`true` while self-preservation is engaged: nothing is evicted",
                |row| row.self_preservation.into(),
            )
            .one("evicted", "leases evicted since the row before", |row| row.evicted.into())
    }
}
