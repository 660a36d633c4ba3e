//! The columns of a CSV file: a name, what it means, and what stands there in a row.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::engine::{SimDuration, SimTime};
use crate::model::id::ServerId;
use crate::model::registry::Kind;
use crate::report::servers::server_name;

/// What stands in a column, of a row.
type Cell<R> = Box<dyn Fn(&R) -> Field<'_>>;

/// A column of a file whose rows are made of `R`.
pub(in crate::report) struct Column<R> {
    name: Cow<'static, str>,
    cell: Cell<R>,
    /// Which registries have it.
    registries: Box<dyn Fn(Kind) -> bool>,
}

impl<R> Column<R> {
    /// A column that every registry has.
    pub(in crate::report) fn new(
        name: impl Into<Cow<'static, str>>,
        cell: impl Fn(&R) -> Field<'_> + 'static,
    ) -> Self {
        Self { name: name.into(), cell: Box::new(cell), registries: Box::new(|_| true) }
    }

    /// The same, of some registries only.
    pub(in crate::report) fn only(mut self, registries: impl Fn(Kind) -> bool + 'static) -> Self {
        self.registries = Box::new(registries);
        self
    }
}

/// Columns that are explained together: a line of a table in `docs/`.
struct Line<R> {
    /// How the line calls them, if not by their names.
    title: Option<&'static str>,
    /// What they mean, in Markdown.
    meaning: &'static str,
    columns: Vec<Column<R>>,
}

/// All columns of a file, in order.
pub(in crate::report) struct Columns<R>(Vec<Line<R>>);

impl<R> Columns<R> {
    /// None yet.
    pub(in crate::report) const fn new() -> Self {
        Self(Vec::new())
    }

    /// One column more.
    pub(in crate::report) fn one(
        self,
        name: &'static str,
        meaning: &'static str,
        cell: impl Fn(&R) -> Field<'_> + 'static,
    ) -> Self {
        self.line(meaning, [Column::new(name, cell)])
    }

    /// One more, which the explanation of the one before it covers.
    pub(in crate::report) fn and(
        mut self,
        name: &'static str,
        cell: impl Fn(&R) -> Field<'_> + 'static,
    ) -> Self {
        let line = self.0.last_mut().expect("it follows another");
        line.columns.push(Column::new(name, cell));
        self
    }

    /// Several more, which have one explanation.
    pub(in crate::report) fn line<const N: usize>(
        self,
        meaning: &'static str,
        columns: [Column<R>; N],
    ) -> Self {
        self.add(None, meaning, columns)
    }

    /// The same, explained under another title than their names.
    pub(in crate::report) fn titled(
        self,
        title: &'static str,
        meaning: &'static str,
        columns: impl IntoIterator<Item = Column<R>>,
    ) -> Self {
        self.add(Some(title), meaning, columns)
    }

    fn add(
        mut self,
        title: Option<&'static str>,
        meaning: &'static str,
        columns: impl IntoIterator<Item = Column<R>>,
    ) -> Self {
        self.0.push(Line { title, meaning, columns: columns.into_iter().collect() });
        self
    }

    /// Those that this registry has.
    pub(in crate::report) fn only_of(mut self, registry: Kind) -> Self {
        self.0.iter_mut().for_each(|line| line.columns.retain(|column| (column.registries)(registry)));
        self
    }

    /// Their names.
    #[cfg(test)]
    pub(in crate::report) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|line| &line.columns).map(|column| column.name.as_ref())
    }

    /// The table that explains them, in Markdown.
    pub(in crate::report) fn documented(&self) -> String {
        let mut text = "| column | meaning |\n|---|---|\n".to_owned();
        for line in &self.0 {
            let names = line.columns.iter().map(|column| format!("`{}`", column.name));
            let title = line.title.map_or_else(|| names.collect::<Vec<_>>().join(", "), str::to_owned);
            text.push_str(&format!("| {title} | {} |\n", line.meaning));
        }
        text
    }

    /// Begins a file with its header.
    pub(in crate::report) fn begin<W: Write>(self, into: W) -> io::Result<CsvFile<R, W>> {
        let mut file = self.go_on(into);
        file.csv.write_record(file.columns.iter().map(|column| column.name.as_bytes()))?;
        Ok(file)
    }

    /// Goes on with a file that has its header.
    pub(in crate::report) fn go_on<W: Write>(self, into: W) -> CsvFile<R, W> {
        let columns = self.0.into_iter().flat_map(|line| line.columns).collect();
        CsvFile { columns, csv: csv::Writer::from_writer(into), field: Vec::new() }
    }
}

/// A CSV file that is being written, with `\n` at the end of a line.
pub(in crate::report) struct CsvFile<R, W: Write> {
    columns: Vec<Column<R>>,
    csv: csv::Writer<W>,
    /// The field that is being written.
    field: Vec<u8>,
}

impl<R, W: Write> CsvFile<R, W> {
    /// Writes a row.
    pub(in crate::report) fn row(&mut self, row: &R) -> io::Result<()> {
        for column in &self.columns {
            self.field.clear();
            (column.cell)(row).push_to(&mut self.field);
            self.csv.write_field(&self.field)?;
        }
        self.csv.write_record(None::<&[u8]>)?;
        Ok(())
    }

    /// Ends it, and returns what it was written to.
    pub(in crate::report) fn finish(self) -> io::Result<W> {
        self.csv.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

/// One field of a row.
pub(in crate::report) enum Field<'a> {
    Text(Cow<'a, str>),
    Number(u64),
    Nothing,
}

impl Field<'_> {
    /// Appends it as text, without quotes.
    pub(in crate::report) fn push_to(&self, text: &mut Vec<u8>) {
        match self {
            Self::Text(own) => text.extend_from_slice(own.as_bytes()),
            Self::Number(number) => push_number(text, *number),
            Self::Nothing => {}
        }
    }
}

/// Appends a number in decimal. There may be a great many.
fn push_number(text: &mut Vec<u8>, mut number: u64) {
    let start = text.len();
    loop {
        text.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text[start..].reverse();
}

impl<'a, T: Into<Self>> From<Option<T>> for Field<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

/// How values of other types stand in a field.
macro_rules! fields {
    ($($type:ty, $value:ident => $field:expr;)+) => {
        $(impl<'a> From<$type> for Field<'a> {
            fn from($value: $type) -> Self {
                $field
            }
        })+
    };
}

fields! {
    &'a str, text => Self::Text(text.into());
    String, text => Self::Text(text.into());
    bool, flag => Self::Text(if flag { "true" } else { "false" }.into());
    u64, number => Self::Number(number);
    u32, number => Self::Number(number.into());
    i64, number => number.to_string().into();
    u128, number => number.to_string().into();
    SimTime, at => Self::Number(at.as_millis());
    SimDuration, length => Self::Number(length.as_millis());
    ServerId, server => server_name(server).into();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_ever() {
        for number in [0, 7, 10, 195_123, u64::MAX] {
            let mut text = Vec::new();
            push_number(&mut text, number);
            assert_eq!(String::from_utf8(text).unwrap(), number.to_string());
        }
    }
}
