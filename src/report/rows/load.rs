//! `load.csv`.

use std::io::{self, Write};

use super::{Field, Sheet};
use crate::model::message::RequestKind;
use crate::report::servers::{MINUTE_NANOS, hundredths};
use crate::report::{Contents, Output};

/// What an item of a peer's batch can repeat, in the order of the columns.
const REPEATED: [RequestKind; 4] =
    [RequestKind::Register, RequestKind::Renew, RequestKind::Cancel, RequestKind::Status];

/// A row is a server's minute of requests, a column a kind that its registry knows.
pub(in crate::report) struct LoadRows;

impl Output for LoadRows {
    fn file_name(&self) -> &'static str {
        "load.csv"
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let kinds = contents.report.scenario.registry().requests();
        let asked = || kinds.iter().filter(|kind| **kind != RequestKind::Replicate);
        // Only servers with peers are told things in batches.
        let has_batches = kinds.contains(&RequestKind::Replicate);
        let repeated = || REPEATED.into_iter().filter(|_| has_batches);
        // The column `replicate` is another thing.
        let items: Vec<String> = repeated().map(|kind| format!("batch-{}", kind.name())).collect();
        let mut header = vec!["replicate", "server", "from_ms"];
        header.extend(asked().map(|kind| kind.name()).chain(["refused"]));
        header.extend(has_batches.then_some("batch"));
        header.extend(items.iter().map(String::as_str).chain(["utilisation_percent", "waiting_max"]));
        let threads = contents.report.scenario.capacity.as_ref().map(|capacity| capacity.threads);
        let mut sheet = Sheet::new(into, &header)?;
        for replicate in &contents.report.data.replicates {
            for minute in &replicate.load {
                let asked = asked().map(|kind| minute.requests[*kind as usize].into());
                let batches = minute.requests[RequestKind::Replicate as usize];
                let batches = has_batches.then(|| batches.into());
                let repeated = repeated().map(|kind| minute.items[kind as usize].into());
                let utilisation =
                    threads.map(|threads| hundredths(minute.busy_nanos.into(), MINUTE_NANOS, threads));
                let place = [
                    replicate.replicate.into(),
                    Field::Server(minute.server),
                    Field::Number(minute.from.as_millis()),
                ];
                let counts = place.into_iter().chain(asked);
                let counts = counts.chain([minute.refused.into()]).chain(batches).chain(repeated);
                sheet.row(counts.chain([
                    utilisation.as_deref().map_or(Field::Nothing, Field::Text),
                    threads.map_or(Field::Nothing, |_| minute.waiting_max.into()),
                ]))?;
            }
        }
        sheet.finish()
    }
}
