//! Tables as values: the walk goes on into them, and so do the schema and the guide.

use serde_json::{Value as Json, json};

use crate::scenario::document::{Entry, Value};
use crate::scenario::format::Section;
use crate::scenario::format::form::{Below, Form, Reading, wrong_type};
use crate::scenario::types::Names;

/// A table of a section.
pub(crate) struct Table(pub(crate) &'static Section);

/// A list of tables of a section.
pub(crate) struct Tables(pub(crate) &'static Section);

impl Form for Table {
    type Value = ();

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<()> {
        if matches!(entry.node.value, Value::Table(_)) {
            return Some(());
        }
        let hint = match self.0.example {
            "" => format!("write `[{}]`", entry.key),
            example => format!("as in `{example}`"),
        };
        reading.refuse(wrong_type(entry, "a table").hint(hint))
    }

    fn print(&self, (): &(), _: Names<'_>) -> String {
        String::new()
    }

    fn describe(&self) -> String {
        "table".into()
    }

    fn schema(&self) -> Json {
        self.0.schema()
    }

    fn below(&self) -> Below {
        Below::Table(self.0)
    }
}

impl Form for Tables {
    type Value = ();

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<()> {
        if matches!(entry.node.value, Value::List(_)) {
            return Some(());
        }
        let path = self.0.path;
        let hint = format!("write `[[{path}]]`, in double brackets, once for each {path}");
        reading.refuse(wrong_type(entry, "a list of tables").hint(hint))
    }

    fn print(&self, (): &(), _: Names<'_>) -> String {
        String::new()
    }

    fn describe(&self) -> String {
        "list of tables".into()
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "items": self.0.schema() })
    }

    fn below(&self) -> Below {
        Below::Tables(self.0)
    }
}
