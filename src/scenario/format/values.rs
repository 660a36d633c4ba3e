//! Reading values out of the tree: what has the wrong type or range is taken as absent.
//!
//! That is no lenience. [`crate::scenario::format::walk`] has reported such a value already, and a file with an error never
//! becomes a scenario; being quiet here lets the check go on and find what else is wrong.

use crate::engine::{Distribution, SimDuration};
use crate::scenario::document::{Node, Table, Value};
use crate::scenario::format::distribution;
use crate::scenario::format::duration;
use crate::scenario::format::form::{Form, Reading};

/// A section that may be absent, with typed access to its keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'d>(pub(crate) Option<&'d Table>);

impl<'d> Values<'d> {
    pub(crate) fn node(self, key: &str) -> Option<&'d Node> {
        self.0.and_then(|table| table.get(key))
    }

    pub(crate) fn has(self, key: &str) -> bool {
        self.node(key).is_some()
    }

    pub(crate) fn section(self, key: &str) -> Self {
        Self(self.0.and_then(|table| table.table(key)))
    }

    /// What a form reads there.
    pub(crate) fn value<F: Form>(self, key: &str, form: &F) -> Option<F::Value> {
        form.read(self.0?.entry(key)?, &mut Reading::values(&mut Vec::new()))
    }

    pub(crate) fn text(self, key: &str) -> Option<&'d str> {
        self.node(key).and_then(Node::as_text)
    }

    pub(crate) fn flag(self, key: &str) -> Option<bool> {
        match self.node(key)?.value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub(crate) fn integer(self, key: &str) -> Option<i128> {
        match self.node(key)?.value {
            Value::Integer(number) => number,
            _ => None,
        }
    }

    pub(crate) fn count(self, key: &str) -> Option<u32> {
        u32::try_from(self.integer(key)?).ok()
    }

    pub(crate) fn number(self, key: &str) -> Option<f64> {
        number(self.node(key)?)
    }

    pub(crate) fn length(self, key: &str) -> Option<SimDuration> {
        duration::parse(self.text(key)?).ok()
    }

    /// The texts of a list, each with its node.
    pub(crate) fn names(self, key: &str) -> Vec<(&'d str, &'d Node)> {
        let nodes = self.node(key).and_then(Node::as_list).unwrap_or_default();
        nodes.iter().filter_map(|node| node.as_text().map(|text| (text, node))).collect()
    }

    /// The durations of a list, if all are such.
    pub(crate) fn lengths(self, key: &str) -> Option<Vec<SimDuration>> {
        let nodes = self.node(key)?.as_list()?;
        nodes.iter().map(|node| duration::parse(node.as_text()?).ok()).collect()
    }

    pub(crate) fn distribution(self, key: &str) -> Option<Distribution> {
        distribution::parse(self.node(key)?).ok()
    }

    /// Milliseconds, negative or not.
    pub(crate) fn shift_ms(self, key: &str) -> Option<i64> {
        duration::parse_shift_ms(self.text(key)?).ok()
    }

    pub(crate) fn signed(self, key: &str) -> Option<i32> {
        i32::try_from(self.integer(key)?).ok()
    }
}

/// A number, whole or not, but no infinity.
pub(crate) fn number(node: &Node) -> Option<f64> {
    let number = match node.value {
        Value::Float(number) => number,
        Value::Integer(number) => number? as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}
