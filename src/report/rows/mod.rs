//! The CSV files: one observation a row, units in the column names, times as whole milliseconds since the start
//! of the replicate. `docs/OUTPUT.md` explains each column.

mod calls;
mod detections;
mod divergence;
mod faults;
mod load;
mod mistakes;
mod quality;
mod sweeps;
mod timeline;

pub(super) use calls::CallRows;
pub(super) use detections::DetectionRows;
pub(super) use divergence::DivergenceRows;
pub(super) use faults::FaultRows;
pub(super) use load::LoadRows;
pub(super) use mistakes::MistakeRows;
pub(super) use quality::QualityRows;
pub(super) use sweeps::SweepRows;
pub(super) use timeline::TimelineRows;

use std::io::{self, Write};

use super::servers::server_name;
use crate::model::id::ServerId;

/// Writes a header and then rows, each a list of fields, to a CSV file with `\n` at the end of a line.
struct Sheet<'a> {
    csv: csv::Writer<&'a mut dyn Write>,
}

impl<'a> Sheet<'a> {
    fn new(into: &'a mut dyn Write, header: &[&str]) -> io::Result<Self> {
        let mut csv = csv::Writer::from_writer(into);
        csv.write_record(header)?;
        Ok(Self { csv })
    }

    fn row<'f>(&mut self, fields: impl IntoIterator<Item = Field<'f>>) -> io::Result<()> {
        for field in fields {
            match field {
                Field::Text(text) => self.csv.write_field(text)?,
                Field::Number(number) => self.csv.write_field(number.to_string())?,
                Field::Wide(number) => self.csv.write_field(number.to_string())?,
                Field::Server(server) => self.csv.write_field(server_name(server))?,
                Field::Flag(flag) => self.csv.write_field(if flag { "true" } else { "false" })?,
                Field::Nothing => self.csv.write_field("")?,
            }
        }
        self.csv.write_record(None::<&[u8]>)?;
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.csv.flush()
    }
}

/// One field of a row.
enum Field<'a> {
    Text(&'a str),
    Number(u64),
    Wide(u128),
    Server(ServerId),
    Flag(bool),
    Nothing,
}

/// To what the observations of a row are equal.
const fn alike_to(folded: bool) -> Field<'static> {
    Field::Text(if folded { "millisecond" } else { "nanosecond" })
}

impl From<Option<ServerId>> for Field<'_> {
    fn from(server: Option<ServerId>) -> Self {
        server.map_or(Self::Nothing, Self::Server)
    }
}

impl From<u64> for Field<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Field<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}
