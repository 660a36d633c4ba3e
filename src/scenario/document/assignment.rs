//! One setting as the command line gives it, and how it was typed: `--set KEY=VALUE`, or one of the values of
//! `--axis KEY=VALUE,VALUE`.
//!
//! What is set and what is shown differ: a message shows the whole argument as it was typed, and points at the one
//! value that is meant. So all configurations of a sweep share one text of the command line, and a problem that
//! many of them have is the same problem at the same place.

use std::ops::Range;

use crate::scenario::document::set;

/// A setting given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    shown: String,
    key: Range<usize>,
    value: Option<AssignedValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct AssignedValue {
    text: String,
    place: Range<usize>,
}

impl Assignment {
    /// That of `--set KEY=VALUE`, given `KEY=VALUE`. Without an `=`, applying it is a problem.
    pub fn set(argument: &str) -> Self {
        let shown = format!("{}{argument}", set::FLAG);
        let start = set::FLAG.len();
        match argument.split_once('=') {
            None => Self { key: start..shown.len(), shown, value: None },
            Some((key, value)) => {
                let from = start + key.len() + 1;
                let place = from..from + value.len();
                Self::at(shown.clone(), start..start + key.len(), value.to_owned(), place)
            }
        }
    }

    /// The setting whose key stands at `key` of the argument `shown`. Its value is `value`, which `place` of the
    /// argument stands for.
    ///
    /// # Panics
    ///
    /// If a range is not one of `shown`.
    pub fn at(shown: String, key: Range<usize>, value: String, place: Range<usize>) -> Self {
        assert!(shown.get(key.clone()).is_some() && shown.get(place.clone()).is_some(), "ranges of the text");
        Self { shown, key, value: Some(AssignedValue { text: value, place }) }
    }

    /// The argument as it was typed, with its flag.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The key as it was typed.
    pub fn key(&self) -> &str {
        &self.shown[self.key.clone()]
    }

    /// The names that the key leads through, by TOML's rules for a dotted key; `None` if it is none.
    pub fn path(&self) -> Option<Vec<String>> {
        let steps = set::steps(self.key(), 0)?;
        Some(steps.into_iter().map(|(name, _)| name).collect())
    }

    /// The value that is set; `None` if there was no `=`.
    pub fn value_text(&self) -> Option<&str> {
        self.value.as_ref().map(|value| value.text.as_str())
    }

    pub(crate) fn key_place(&self) -> Range<usize> {
        self.key.clone()
    }

    /// The value and the place that stands for it.
    pub(crate) fn value(&self) -> Option<(&str, Range<usize>)> {
        self.value.as_ref().map(|value| (value.text.as_str(), value.place.clone()))
    }
}
