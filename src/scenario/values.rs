//! Reading values out of the tree: what has the wrong type or range is taken as absent.
//!
//! That is no lenience. [`super::shape`] has reported such a value already, and a file with an error never
//! becomes a scenario; being quiet here lets the check go on and find what else is wrong.

use super::document::{Node, Table, Value};
use super::duration;
use super::types::Delay;
use crate::engine::SimDuration;

/// A duration, or the word that stands instead of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LengthOr {
    Length(SimDuration),
    Word(String),
}

impl LengthOr {
    /// The length; a word means none.
    pub(super) fn length(self) -> Option<SimDuration> {
        match self {
            Self::Length(length) => Some(length),
            Self::Word(_) => None,
        }
    }
}

/// A section that may be absent, with typed access to its keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'d>(pub(super) Option<&'d Table>);

impl<'d> Values<'d> {
    pub(super) fn node(self, key: &str) -> Option<&'d Node> {
        self.0.and_then(|table| table.get(key))
    }

    pub(super) fn has(self, key: &str) -> bool {
        self.node(key).is_some()
    }

    pub(super) fn section(self, key: &str) -> Self {
        Self(self.0.and_then(|table| table.table(key)))
    }

    pub(super) fn text(self, key: &str) -> Option<&'d str> {
        self.node(key).and_then(Node::as_text)
    }

    pub(super) fn flag(self, key: &str) -> Option<bool> {
        match self.node(key)?.value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub(super) fn integer(self, key: &str) -> Option<i128> {
        match self.node(key)?.value {
            Value::Integer(number) => number,
            _ => None,
        }
    }

    pub(super) fn count(self, key: &str) -> Option<u32> {
        u32::try_from(self.integer(key)?).ok()
    }

    pub(super) fn large_count(self, key: &str) -> Option<u64> {
        u64::try_from(self.integer(key)?).ok()
    }

    pub(super) fn number(self, key: &str) -> Option<f64> {
        number(self.node(key)?)
    }

    pub(super) fn length(self, key: &str) -> Option<SimDuration> {
        duration::parse(self.text(key)?).ok()
    }

    /// A duration or one of `words`; a word that is neither counts as absent.
    pub(super) fn length_or(self, key: &str, words: &[&str]) -> Option<LengthOr> {
        let text = self.text(key)?;
        if words.contains(&text) {
            return Some(LengthOr::Word(text.to_owned()));
        }
        duration::parse(text).ok().map(LengthOr::Length)
    }

    /// The texts of a list, each with its node.
    pub(super) fn names(self, key: &str) -> Vec<(&'d str, &'d Node)> {
        let nodes = self.node(key).and_then(Node::as_list).unwrap_or_default();
        nodes.iter().filter_map(|node| node.as_text().map(|text| (text, node))).collect()
    }

    pub(super) fn delay(self, key: &str) -> Option<Delay> {
        delay(self.node(key)?).ok()
    }
}

/// A number, whole or not, but no infinity.
pub(super) fn number(node: &Node) -> Option<f64> {
    let number = match node.value {
        Value::Float(number) => number,
        Value::Integer(number) => number? as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// A delay: `"1ms"` or `{ uniform = ["500us", "5ms"] }`. The error is a clause for a person.
pub(super) fn delay(node: &Node) -> Result<Delay, String> {
    let shape = "write `\"1ms\"` or `{ uniform = [\"500us\", \"5ms\"] }`";
    if let Some(text) = node.as_text() {
        return duration::parse(text).map(Delay::Constant);
    }
    let table = node.as_table().ok_or(shape)?;
    let (Some(ends), 1) = (table.get("uniform").and_then(Node::as_list), table.entries.len()) else {
        return Err(shape.into());
    };
    let [from, to] = ends else { return Err("`uniform` takes two durations, the shorter first".into()) };
    let end = |node: &Node| duration::parse(node.as_text().ok_or(shape)?);
    let (from, to) = (end(from)?, end(to)?);
    if from > to {
        return Err(format!("`uniform` takes the shorter duration first: {from} is longer than {to}"));
    }
    Ok(Delay::Uniform(from, to))
}
