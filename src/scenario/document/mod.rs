//! The file as a tree in which every key and value knows where it stands.
//!
//! `serde` stops at the first value of the wrong type. We want to report every problem at once, and `--set` must
//! be able to replace a value together with its place. So the file is kept as this small tree, the shape of
//! which [`crate::scenario::format::walk`] checks as a whole.

pub(crate) mod assignment;
pub(crate) mod set;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::scenario::diagnostics::{Place, Problem, Source};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// TOML's values. Whole numbers keep their text: TOML allows more of them than fit.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(Option<i128>),
    Float(f64),
    Flag(bool),
    Date,
    List(Vec<Node>),
    Table(Table),
}

/// A table. Keys are unique; their order is the parser's.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) place: Place,
    pub(crate) entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_place: Place,
    pub(crate) node: Node,
}

impl Value {
    /// What it is, for `found …`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number with a fraction",
            Self::Flag(_) => "true or false",
            Self::Date => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    pub(crate) fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(nodes) => Some(nodes),
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Table {
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The table below `key`, if there is one and it is a table.
    pub(crate) fn table(&self, key: &str) -> Option<&Table> {
        self.get(key).and_then(Node::as_table)
    }

    /// The node at the end of a path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Node> {
        let (last, way) = path.split_last()?;
        way.iter().try_fold(self, |table, key| table.table(key))?.get(last)
    }

    /// The tables of the list below `key`; what is no table is left out.
    pub(crate) fn tables<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a Table> + use<'a> {
        self.get(key).and_then(Node::as_list).unwrap_or_default().iter().filter_map(Node::as_table)
    }
}

/// Reads a TOML document; every syntax error that the parser finds is reported.
pub(crate) fn parse(text: &str) -> Result<Table, Vec<Problem>> {
    let (root, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(table(root.get_ref(), root.span(), &|span| Place::file(span)));
    }
    let end = text.len();
    Err(errors
        .iter()
        .map(|error| {
            let place = Place::file(error.span().unwrap_or(end..end));
            Problem::error(place, format!("this is not TOML: {}", error.message()))
        })
        .collect())
}

/// Reads one TOML value that stands at `offset` on the command line; what is not a value is taken as a text.
pub(crate) fn parse_argument(text: &str, offset: usize) -> Node {
    let place = |start: usize, end: usize| Place::new(Source::CommandLine, offset + start..offset + end);
    match DeValue::parse(text) {
        Ok(value) => node(&value, &|span| place(span.start, span.end)),
        Err(_) => Node { place: place(0, text.len()), value: Value::Text(text.to_owned()) },
    }
}

fn table(
    table: &DeTable<'_>,
    span: std::ops::Range<usize>,
    place: &dyn Fn(std::ops::Range<usize>) -> Place,
) -> Table {
    let entries = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_place: place(key.span()),
            node: node(value, place),
        })
        .collect();
    Table { place: place(span), entries }
}

// The parser refuses more than 80 levels, so the recursion is shallow.
fn node(value: &Spanned<DeValue<'_>>, place: &dyn Fn(std::ops::Range<usize>) -> Place) -> Node {
    let span = value.span();
    let kind = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            Value::Integer(i128::from_str_radix(number.as_str(), number.radix()).ok())
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(nodes) => Value::List(nodes.iter().map(|value| node(value, place)).collect()),
        DeValue::Table(inner) => Value::Table(table(inner, span.clone(), place)),
    };
    Node { place: place(span), value: kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_know_their_place() {
        let root = parse("[eureka.server]\nuse = true\n").expect("it is TOML");
        let entry = root.table("eureka").and_then(|t| t.table("server")).and_then(|t| t.entry("use"));
        let entry = entry.expect("it is there");
        assert_eq!((entry.key_place.start, entry.node.place.start), (16, 22));
        assert!(root.at(&["eureka", "server", "use"]).is_some());
        assert!(root.at(&["eureka", "client", "use"]).is_none());
    }

    #[test]
    fn every_syntax_error_is_reported() {
        let problems = parse("a = \nb = 1\nc = [1,\n").expect_err("it is not TOML");
        assert!(problems.len() >= 2, "{problems:?}");
    }

    #[test]
    fn deep_nesting_is_refused_and_does_no_harm() {
        let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(&deep).is_err());
        let dotted = format!("{}a = 1", "a.".repeat(100_000));
        assert!(parse(&dotted).is_err());
    }

    #[test]
    fn an_argument_is_a_value_or_else_a_text() {
        assert!(matches!(parse_argument("true", 0).value, Value::Flag(true)));
        assert!(matches!(parse_argument("0x10", 0).value, Value::Integer(Some(16))));
        assert!(matches!(parse_argument("45m", 0).value, Value::Text(text) if text == "45m"));
        assert!(matches!(parse_argument("", 0).value, Value::Text(text) if text.is_empty()));
    }
}
