//! `load.csv`.

use super::{Column, Columns, Field, Of, Sheet};
use crate::model::message::RequestKind;
use crate::model::registry::Kind;
use crate::observe::{LoadMinute, ReplicateData};
use crate::report::servers::{MINUTE_NANOS, hundredths};

/// A row is a server's minute of requests, a column a kind that its registry knows.
pub(in crate::report) struct LoadRows;

impl Sheet for LoadRows {
    type Row = LoadMinute;

    const FILE: &'static str = "load.csv";

    fn rows(replicate: &ReplicateData) -> &[LoadMinute] {
        &replicate.load
    }

    fn columns<'a>() -> Columns<Of<'a, LoadMinute>> {
        use RequestKind::{
            Cancel, FetchDelta, FetchFull, FetchService, Register, Renew, Replicate, Status, Watch,
        };
        Columns::<Of<'_, LoadMinute>>::new()
            .one("replicate", "which", Of::number)
            .and("server", |row| row.server.into())
            .one("from_ms", "the start of the minute", |row| row.from.into())
            .line(
                "requests of that kind that were answered; `renew` are heartbeats",
                [Register, Renew, Cancel, FetchFull].map(answered),
            )
            .line("likewise; of Eureka only", [FetchDelta, Status].map(answered))
            .line(
                "fetches of one service, and long polls; of a two-stage registry only",
                [FetchService, Watch].map(answered),
            )
            .one(
                "refused",
                "of all these and of batches, those answered with a status of 400 or more",
                |row| row.refused.into(),
            )
            .line(
                "batches from peers that were answered; of Eureka only, as are the next four",
                [requests("batch", Replicate)],
            )
            .line(
                "items of these batches, by the kind of request that each repeats. `renew` and `batch-renew` \
                 together are what the threshold is held against",
                [Register, Renew, Cancel, Status].map(repeated),
            )
            .one(
                "utilisation_percent",
                "thread time spent in the minute, in percent of what all threads of the server have in one, with \
                 two decimals, rounded down; empty without a capacity",
                |row| of_threads(row, |threads| hundredths(row.busy_nanos.into(), MINUTE_NANOS, threads)),
            )
            .one(
                "waiting_max",
                "the most requests that waited for a thread at a time; empty without a capacity",
                |row| of_threads(row, |_| row.waiting_max),
            )
    }
}

/// Answered requests of a kind, where the registry knows it.
fn answered<'a>(kind: RequestKind) -> Column<Of<'a, LoadMinute>> {
    requests(kind.name(), kind)
}

/// The same under another name.
fn requests<'a>(name: &'static str, kind: RequestKind) -> Column<Of<'a, LoadMinute>> {
    Column::new(name, move |row: &Of<'_, LoadMinute>| row.requests[kind as usize].into())
        .only(move |registry| registry.requests().contains(&kind))
}

/// Items of batches, where servers have peers. The column `replicate` is another thing.
fn repeated<'a>(kind: RequestKind) -> Column<Of<'a, LoadMinute>> {
    let name = format!("batch-{}", kind.name());
    let has_batches = |registry: Kind| registry.requests().contains(&RequestKind::Replicate);
    Column::new(name, move |row: &Of<'_, LoadMinute>| row.items[kind as usize].into()).only(has_batches)
}

/// A figure of so many threads; nothing without a capacity.
fn of_threads<'f, T: Into<Field<'f>>>(row: &Of<'_, LoadMinute>, figure: impl FnOnce(u32) -> T) -> Field<'f> {
    row.report.scenario.capacity.as_ref().map(|capacity| figure(capacity.threads)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_request_has_a_column() {
        let documented = LoadRows::columns().documented();
        let asked = RequestKind::ALL.into_iter().filter(|kind| *kind != RequestKind::Replicate);
        for kind in asked {
            assert!(documented.contains(&format!("`{}`", kind.name())), "{}", kind.name());
        }
    }
}
