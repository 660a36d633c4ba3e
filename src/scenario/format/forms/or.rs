//! Forms over another: with a word beside it, and for what may be absent.

use serde_json::Value as Json;

use crate::scenario::document::Entry;
use crate::scenario::format::form::{Form, Reading};
use crate::scenario::format::page::string;
use crate::scenario::types::Names;

/// A form in whose place a word may stand: `None` is the word.
pub(crate) struct Or<F>(pub(crate) F, pub(crate) &'static str);

/// A form that may have a word beside it, which its messages tell.
pub(crate) trait BesideWord: Form {
    /// [`Form::read`] of what is not the word.
    fn read_beside(&self, word: &str, entry: &Entry, reading: &mut Reading<'_>) -> Option<Self::Value>;
    /// [`Form::schema`] of both.
    fn schema_beside(&self, word: &str) -> Json;
}

impl<F: BesideWord> Form for Or<F> {
    type Value = Option<F::Value>;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<Self::Value> {
        if entry.node.as_text() == Some(self.1) {
            return Some(None);
        }
        self.0.read_beside(self.1, entry, reading).map(Some)
    }

    fn print(&self, value: &Self::Value, names: Names<'_>) -> String {
        value.as_ref().map_or_else(|| string(self.1), |value| self.0.print(value, names))
    }

    fn in_words(&self, value: &Self::Value) -> String {
        value.as_ref().map_or_else(|| self.1.to_owned(), |value| self.0.in_words(value))
    }

    fn describe(&self) -> String {
        format!("{}, or `{}`", self.0.describe(), self.1)
    }

    fn schema(&self) -> Json {
        self.0.schema_beside(self.1)
    }
}

/// A form whose key may be left out, which no word says: `None` is written as nothing.
pub(crate) struct Maybe<F>(pub(crate) F);

impl<F: Form> Form for Maybe<F> {
    type Value = Option<F::Value>;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<Self::Value> {
        self.0.read(entry, reading).map(Some)
    }

    fn print(&self, value: &Self::Value, names: Names<'_>) -> String {
        value.as_ref().map_or_else(String::new, |value| self.0.print(value, names))
    }

    fn is_written(&self, value: &Self::Value) -> bool {
        value.is_some()
    }

    fn in_words(&self, value: &Self::Value) -> String {
        value.as_ref().map_or_else(String::new, |value| self.0.in_words(value))
    }

    fn describe(&self) -> String {
        self.0.describe()
    }

    fn schema(&self) -> Json {
        self.0.schema()
    }
}
