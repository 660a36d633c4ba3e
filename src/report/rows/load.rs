//! `load.csv`.

use std::io::{self, Write};

use super::{Field, Sheet};
use crate::model::message::RequestKind;
use crate::report::servers::{MINUTE_NANOS, hundredths};
use crate::report::{Contents, Output};

/// What clients ask for, in the order of the columns.
const ASKED: [RequestKind; 6] = [
    RequestKind::Register,
    RequestKind::Renew,
    RequestKind::Cancel,
    RequestKind::FetchFull,
    RequestKind::FetchDelta,
    RequestKind::Status,
];
/// What an item of a peer's batch can repeat, in the order of the columns.
const REPEATED: [RequestKind; 4] =
    [RequestKind::Register, RequestKind::Renew, RequestKind::Cancel, RequestKind::Status];

/// A row is a server's minute of requests, a column a kind.
pub(in crate::report) struct LoadRows;

impl Output for LoadRows {
    fn file_name(&self) -> &'static str {
        "load.csv"
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let asked = ASKED.map(RequestKind::name);
        // The column `replicate` is another thing.
        let repeated = REPEATED.map(|kind| format!("batch-{}", kind.name()));
        let repeated = repeated.each_ref().map(String::as_str);
        let place = ["replicate", "server", "from_ms"].as_slice();
        let use_of_threads = ["utilisation_percent", "waiting_max"].as_slice();
        let header = [place, &asked, &["refused", "batch"], &repeated, use_of_threads].concat();
        let threads = contents.report.scenario.capacity.as_ref().map(|capacity| capacity.threads);
        let mut sheet = Sheet::new(into, &header)?;
        for replicate in &contents.report.data.replicates {
            for minute in &replicate.load {
                let asked = ASKED.map(|kind| minute.requests[kind as usize].into());
                let batches = minute.requests[RequestKind::Replicate as usize];
                let repeated = REPEATED.map(|kind| minute.items[kind as usize].into());
                let utilisation =
                    threads.map(|threads| hundredths(minute.busy_nanos.into(), MINUTE_NANOS, threads));
                let place = [
                    replicate.replicate.into(),
                    Field::Server(minute.server),
                    Field::Number(minute.from.as_millis()),
                ];
                let counts = place.into_iter().chain(asked);
                let counts = counts.chain([minute.refused.into(), batches.into()]).chain(repeated);
                sheet.row(counts.chain([
                    utilisation.as_deref().map_or(Field::Nothing, Field::Text),
                    threads.map_or(Field::Nothing, |_| minute.waiting_max.into()),
                ]))?;
            }
        }
        sheet.finish()
    }
}
