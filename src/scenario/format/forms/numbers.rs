//! Numbers, and flags.

use std::fmt::Display;

use serde_json::{Value as Json, json};

use super::or::BesideWord;
use crate::scenario::diagnostics::Problem;
use crate::scenario::diagnostics::suggest::did_you_mean;
use crate::scenario::document::{Entry, Value};
use crate::scenario::format::duration;
use crate::scenario::format::form::{Form, Reading, out_of_range, wrong_type};
use crate::scenario::format::values::number;
use crate::scenario::types::Names;

/// `true` or `false`.
pub(crate) struct Flag;

impl Form for Flag {
    type Value = bool;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<bool> {
        if let Value::Flag(flag) = entry.node.value {
            return Some(flag);
        }
        let problem = wrong_type(entry, "`true` or `false`");
        reading.refuse(match entry.node.as_text() {
            Some(text @ ("true" | "false")) => problem.hint(format!("write it without quotes: {text}")),
            _ => problem,
        })
    }

    fn print(&self, value: &bool, _: Names<'_>) -> String {
        value.to_string()
    }

    fn describe(&self) -> String {
        "true or false".into()
    }

    fn schema(&self) -> Json {
        json!({ "type": "boolean" })
    }
}

/// A type of whole numbers.
pub(crate) trait Whole: Copy + Display + Into<i128> + TryFrom<i128> + Sync + 'static {}
impl<N: Copy + Display + Into<i128> + TryFrom<i128> + Sync + 'static> Whole for N {}

/// A whole number in a range, in a unit (empty: things).
pub(crate) struct Count<N> {
    pub(crate) min: N,
    pub(crate) max: N,
    pub(crate) unit: &'static str,
}

/// A number of things.
pub(crate) const fn count<N>(min: N, max: N) -> Count<N> {
    Count { min, max, unit: "" }
}

impl<N: Whole> Count<N> {
    fn counted(&self) -> String {
        if self.unit.is_empty() {
            "a whole number".into()
        } else {
            format!("a whole number of {}", self.unit)
        }
    }

    /// Whether it has no end that anybody would care for.
    fn is_open(&self) -> bool {
        self.max.into() == i128::from(u64::MAX)
    }

    fn no_number(&self, entry: &Entry) -> Problem {
        let problem = wrong_type(entry, &self.counted());
        let (key, unit) = (&entry.key, self.unit);
        if self.min.into() < 0 {
            return problem;
        }
        if let (Value::Float(share), "percent") = (&entry.node.value, unit)
            && (0.0..=1.0).contains(share)
        {
            let percent = (share * 100.0).round();
            return problem.hint(format!("it counts percent: write {key} = {percent}"));
        }
        let Some(text) = entry.node.as_text() else { return problem };
        if text.parse::<u64>().is_ok() {
            return problem.hint(format!("write it without quotes: {text}"));
        }
        let per_unit = match unit {
            "seconds" => 1_000_000_000,
            "milliseconds" => 1_000_000,
            _ => return problem,
        };
        match duration::parse(text) {
            Ok(length) => {
                let count = length.as_nanos().div_ceil(per_unit);
                problem.hint(format!("it counts {unit}: write {key} = {count}"))
            }
            Err(_) => problem,
        }
    }

    fn limits(&self) -> (Json, Json) {
        let json =
            |number: N| Json::from(number.to_string().parse::<serde_json::Number>().expect("a number"));
        (json(self.min), json(self.max))
    }
}

impl<N: Whole> Form for Count<N> {
    type Value = N;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<N> {
        let Value::Integer(number) = entry.node.value else { return reading.refuse(self.no_number(entry)) };
        let fits = number.filter(|number| (self.min.into()..=self.max.into()).contains(number));
        if let Some(number) = fits.and_then(|number| N::try_from(number).ok()) {
            return Some(number);
        }
        let (min, max) = (self.min, self.max);
        let range = if self.is_open() { format!("at least {min}") } else { format!("from {min} to {max}") };
        let range = format!("must be {range} {}", self.unit);
        reading.refuse(out_of_range(entry, range.trim_end().to_owned()))
    }

    fn print(&self, value: &N, _: Names<'_>) -> String {
        value.to_string()
    }

    fn in_words(&self, value: &N) -> String {
        let digits = value.to_string();
        if digits.len() < 7 {
            return digits;
        }
        let groups: Vec<&str> =
            digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
        groups.join("_")
    }

    fn describe(&self) -> String {
        if self.is_open() {
            return format!("whole number, at least {}", self.min);
        }
        format!("{} to {} {}", self.min, self.max, self.unit).trim_end().to_owned()
    }

    fn schema(&self) -> Json {
        let (min, max) = self.limits();
        json!({ "type": "integer", "minimum": min, "maximum": max })
    }
}

impl<N: Whole> BesideWord for Count<N> {
    fn read_beside(&self, word: &str, entry: &Entry, reading: &mut Reading<'_>) -> Option<N> {
        let Some(text) = entry.node.as_text() else { return self.read(entry, reading) };
        let wanted = format!("{}, or `{word}`", self.counted());
        reading.refuse(wrong_type(entry, &wanted).maybe_hint(did_you_mean(text, [word])))
    }

    fn schema_beside(&self, word: &str) -> Json {
        json!({ "oneOf": [self.schema(), { "const": word }] })
    }
}

/// Milliseconds that a setting may name at most: a Java `int`.
const MS_MAX: u32 = 2_147_483_647;
/// Milliseconds, at least one.
pub(crate) const MS: Count<u32> = Count { min: 1, max: MS_MAX, unit: "milliseconds" };
/// Milliseconds.
pub(crate) const MS_OR_NONE: Count<u32> = Count { min: 0, max: MS_MAX, unit: "milliseconds" };

/// A whole number of which zero or less is taken for the default (`eureka-client.md` section 7).
pub(crate) struct CountOrDefault {
    pub(crate) max: u32,
    pub(crate) default: u32,
    pub(crate) unit: &'static str,
}

impl Form for CountOrDefault {
    type Value = u32;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<u32> {
        let Self { max, default, unit } = *self;
        let Value::Integer(Some(number @ ..=0)) = entry.node.value else {
            return Count { min: 1, max, unit }.read(entry, reading);
        };
        let title = format!("`{}` = {number} means the default, {default} {unit}", entry.key);
        reading.refuse::<u32>(
            Problem::warning(entry.node.place.clone(), title)
                .label("zero or less")
                .hint(format!("write {default}, or leave it out")),
        );
        Some(default)
    }

    fn print(&self, value: &u32, _: Names<'_>) -> String {
        value.to_string()
    }

    fn describe(&self) -> String {
        format!("1 to {} {}; zero or less: the default", self.max, self.unit)
    }

    fn schema(&self) -> Json {
        json!({ "type": "integer", "maximum": self.max })
    }
}

/// A number from 0 to 1; whether 0 is one.
pub(crate) struct Share {
    pub(crate) zero: bool,
}

/// A number from 0 to 1.
pub(crate) const SHARE: Share = Share { zero: true };

impl Share {
    fn wanted(&self) -> &'static str {
        if self.zero { "from 0 to 1" } else { "above 0, at most 1" }
    }
}

impl Form for Share {
    type Value = f64;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<f64> {
        let wanted = self.wanted();
        if !matches!(entry.node.value, Value::Float(_) | Value::Integer(_)) {
            return reading.refuse(wrong_type(entry, &format!("a number {wanted}")));
        }
        let number = number(&entry.node);
        let fits = number.filter(|number| (0.0..=1.0).contains(number) && (self.zero || *number > 0.0));
        if fits.is_some() {
            return fits;
        }
        let problem = out_of_range(entry, format!("must be {wanted}"));
        reading.refuse(match number {
            Some(percent) if percent > 1.0 && percent <= 100.0 => {
                // Rounded, or 1.1 percent would be 0.011000000000000001.
                problem.hint(format!("for {percent} percent write {}", (percent * 1e6).round() / 1e8))
            }
            _ => problem,
        })
    }

    fn print(&self, value: &f64, _: Names<'_>) -> String {
        format!("{value:?}")
    }

    fn in_words(&self, value: &f64) -> String {
        value.to_string()
    }

    fn describe(&self) -> String {
        if self.zero { "0 to 1".into() } else { "above 0, at most 1".into() }
    }

    fn schema(&self) -> Json {
        let least = if self.zero { "minimum" } else { "exclusiveMinimum" };
        json!({ "type": "number", least: 0, "maximum": 1 })
    }
}

impl BesideWord for Share {
    fn read_beside(&self, word: &str, entry: &Entry, reading: &mut Reading<'_>) -> Option<f64> {
        if let Some(text) = entry.node.as_text() {
            let wanted = format!("a number {}, or `{word}`", self.wanted());
            return reading.refuse(wrong_type(entry, &wanted).maybe_hint(did_you_mean(text, [word])));
        }
        if number(&entry.node).is_some_and(|number| number < 0.0) {
            let hint = format!("to switch it off write `\"{word}\"`");
            return reading.refuse(out_of_range(entry, format!("must be {}", self.wanted())).hint(hint));
        }
        self.read(entry, reading)
    }

    fn schema_beside(&self, word: &str) -> Json {
        json!({ "oneOf": [self.schema(), { "const": word }] })
    }
}

/// A number above 0: so many a second.
pub(crate) struct Rate;

impl Rate {
    fn read_or(&self, or: &str, entry: &Entry, reading: &mut Reading<'_>) -> Option<f64> {
        if !matches!(entry.node.value, Value::Float(_) | Value::Integer(_)) {
            return reading.refuse(wrong_type(entry, &format!("a number above 0{or}")));
        }
        let fits = number(&entry.node).filter(|number| (1e-6..=1e6).contains(number));
        fits.or_else(|| reading.refuse(out_of_range(entry, "must be from 0.000001 to 1000000".into())))
    }
}

impl Form for Rate {
    type Value = f64;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<f64> {
        self.read_or("", entry, reading)
    }

    fn print(&self, value: &f64, _: Names<'_>) -> String {
        format!("{value:?}")
    }

    fn describe(&self) -> String {
        "number from 0.000001 to 1000000".into()
    }

    fn schema(&self) -> Json {
        json!({ "type": "number", "minimum": 1e-6, "maximum": 1e6 })
    }
}

impl BesideWord for Rate {
    fn read_beside(&self, word: &str, entry: &Entry, reading: &mut Reading<'_>) -> Option<f64> {
        self.read_or(&format!(", or `{word}`"), entry, reading)
    }

    fn schema_beside(&self, word: &str) -> Json {
        json!({ "oneOf": [self.schema(), { "enum": [word] }] })
    }
}

/// `"all"`, or a number above 0, at most 1: of replicates.
pub(crate) struct ShareOfReplicates;

impl Form for ShareOfReplicates {
    type Value = f64;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<f64> {
        let wanted = "`\"all\"` or a number above 0, at most 1";
        match &entry.node.value {
            Value::Text(text) if text == "all" => Some(1.0),
            Value::Float(_) | Value::Integer(_) => {
                let fits = number(&entry.node).filter(|number| *number > 0.0 && *number <= 1.0);
                fits.or_else(|| reading.refuse(out_of_range(entry, format!("must be {wanted}"))))
            }
            _ => reading.refuse(wrong_type(entry, wanted)),
        }
    }

    fn print(&self, value: &f64, _: Names<'_>) -> String {
        if *value < 1.0 { format!("{value:?}") } else { "\"all\"".into() }
    }

    fn describe(&self) -> String {
        "`\"all\"`, or a number above 0, at most 1".into()
    }

    fn schema(&self) -> Json {
        json!({ "oneOf": [{ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }, { "const": "all" }] })
    }
}
