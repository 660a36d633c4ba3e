//! `load.csv`.

use std::io::{self, Write};

use super::{Field, SERVER, Sheet};
use crate::model::message::RequestKind;
use crate::report::{Contents, Output};

/// A row is a server's minute of requests, a column a kind.
pub(in crate::report) struct LoadRows;

impl Output for LoadRows {
    fn file_name(&self) -> &'static str {
        "load.csv"
    }

    fn write(&self, contents: &Contents<'_>, into: &mut dyn Write) -> io::Result<()> {
        let kinds = RequestKind::ALL.map(RequestKind::name);
        let header = [["replicate", "server", "from_ms"].as_slice(), &kinds, &["refused"]].concat();
        let mut sheet = Sheet::new(into, &header)?;
        for replicate in &contents.report.data.replicates {
            for minute in &replicate.load {
                let place =
                    [replicate.replicate.into(), Field::Text(SERVER), Field::Number(minute.from.as_millis())];
                let counts = minute.requests.iter().chain([&minute.refused]).copied().map(Field::Number);
                sheet.row(place.into_iter().chain(counts))?;
            }
        }
        sheet.finish()
    }
}
