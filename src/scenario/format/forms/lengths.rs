//! Lengths of time: fixed, drawn, negative, and lists of them.

use serde_json::{Map, Value as Json, json};

use super::or::BesideWord;
use crate::engine::{Distribution, SimDuration};
use crate::scenario::diagnostics::Problem;
use crate::scenario::diagnostics::suggest::did_you_mean;
use crate::scenario::document::{Entry, Value};
use crate::scenario::format::form::{Form, Reading, out_of_range, wrong_type};
use crate::scenario::format::page::{list, quoted};
use crate::scenario::format::{LONGEST, distribution, duration};
use crate::scenario::types::{Delay, Names};

/// Durations, as far as a pattern can tell.
const DURATION: &str = r"^\s*(0|([0-9]+(\.[0-9]+)?\s*[A-Za-z]+\s*)+)$";

/// Durations that may be negative.
const SHIFT: &str = r"^\s*[-+]?(0|([0-9]+(\.[0-9]+)?\s*[A-Za-z]+\s*)+)$";

/// What is told to whoever writes no duration.
const LOOK: &str = "durations look like `\"30s\"`, `\"1m 30s\"`, `\"500ms\"`";

/// A duration in a range.
pub(crate) struct Length {
    pub(crate) min: SimDuration,
    pub(crate) max: SimDuration,
}

/// A duration that may be zero.
pub(crate) const fn length() -> Length {
    Length { min: SimDuration::ZERO, max: LONGEST }
}

/// A duration that may not be zero.
pub(crate) const fn positive_length() -> Length {
    Length { min: SimDuration::from_nanos(1), max: LONGEST }
}

impl Length {
    fn read_or(&self, word: Option<&str>, entry: &Entry, reading: &mut Reading<'_>) -> Option<SimDuration> {
        let Some(text) = entry.node.as_text() else {
            let problem = wrong_type(entry, "a duration with a unit");
            return reading.refuse(match entry.node.value {
                Value::Integer(Some(number)) if number >= 0 => {
                    problem.hint(duration::unit_hint(&number.to_string()))
                }
                _ => problem.hint(LOOK),
            });
        };
        let problem = match duration::parse(text) {
            Ok(length) if length < self.min => out_of_range(entry, "must be longer than 0s".into()),
            Ok(length) if length > self.max => out_of_range(entry, format!("must be at most {}", self.max)),
            Ok(length) => return Some(length),
            Err(why) => {
                let hint = if text.trim().parse::<f64>().is_ok() {
                    duration::unit_hint(text.trim())
                } else {
                    did_you_mean(text, word).unwrap_or_else(|| LOOK.into())
                };
                let title = format!("`{}` must be a duration", entry.key);
                Problem::error(entry.node.place.clone(), title).label(why).hint(hint)
            }
        };
        reading.refuse(problem)
    }
}

impl Form for Length {
    type Value = SimDuration;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<SimDuration> {
        self.read_or(None, entry, reading)
    }

    fn print(&self, value: &SimDuration, _: Names<'_>) -> String {
        quoted(*value)
    }

    fn describe(&self) -> String {
        let from = if self.min.is_zero() { "0s" } else { "more than 0s" };
        let to = if self.max == LONGEST { "a year".into() } else { self.max.to_string() };
        format!("duration, {from} to {to}")
    }

    fn schema(&self) -> Json {
        json!({ "type": "string", "pattern": DURATION, "examples": ["30s", "1m 30s", "500ms"] })
    }
}

impl BesideWord for Length {
    fn read_beside(&self, word: &str, entry: &Entry, reading: &mut Reading<'_>) -> Option<SimDuration> {
        self.read_or(Some(word), entry, reading)
    }

    fn schema_beside(&self, word: &str) -> Json {
        json!({ "anyOf": [self.schema(), { "enum": [word] }] })
    }
}

/// A list of durations, one for each server.
pub(crate) struct Lengths;

impl Form for Lengths {
    type Value = Vec<SimDuration>;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<Vec<SimDuration>> {
        let form = "write `[\"0s\", \"1s\", \"14s\"]`, one for each server";
        let Some(nodes) = entry.node.as_list() else {
            return reading.refuse(wrong_type(entry, "a list of durations").hint(form));
        };
        if nodes.is_empty() {
            return reading.refuse(out_of_range(entry, "must have one for each server".into()));
        }
        let title = format!("each of `{}` must be a duration", entry.key);
        let lengths: Result<_, Box<Problem>> = nodes
            .iter()
            .map(|node| {
                let problem = |why: String| Problem::error(node.place.clone(), title.clone()).label(why);
                let text = node.as_text();
                let is_none = || problem(format!("this is {}", node.value.kind())).hint(form).boxed();
                let text = text.ok_or_else(is_none)?;
                match duration::parse(text) {
                    Ok(length) if length > LONGEST => {
                        Err(problem(format!("must be at most {LONGEST}")).boxed())
                    }
                    Ok(length) => Ok(length),
                    Err(why) => Err(problem(why).hint(form).boxed()),
                }
            })
            .collect();
        lengths.map_or_else(|problem| reading.refuse(*problem), Some)
    }

    fn print(&self, value: &Vec<SimDuration>, _: Names<'_>) -> String {
        list(value.iter().map(|length| quoted(*length)))
    }

    fn describe(&self) -> String {
        "list of durations".into()
    }

    fn schema(&self) -> Json {
        json!({ "type": "array", "items": length().schema(), "minItems": 1 })
    }
}

/// A duration, or a distribution of durations ([`distribution`]); whether all of its values may be zero.
pub(crate) struct Drawn {
    pub(crate) zero: bool,
}

/// A time that may be none.
pub(crate) const TIME: Drawn = Drawn { zero: true };

impl Form for Drawn {
    type Value = Distribution;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<Distribution> {
        let why = match distribution::parse(&entry.node) {
            Ok(drawn) if !self.zero && drawn.is_always_zero() => {
                return reading.refuse(out_of_range(entry, "must be longer than 0s".into()));
            }
            Ok(drawn) => return Some(drawn),
            Err(why) => why,
        };
        let bare = match entry.node.value {
            Value::Integer(Some(number)) => Some(duration::unit_hint(&number.to_string())),
            _ => None,
        };
        let title = format!("`{}` must be a duration or a distribution", entry.key);
        reading.refuse(Problem::error(entry.node.place.clone(), title).label(why).maybe_hint(bare))
    }

    fn print(&self, value: &Distribution, _: Names<'_>) -> String {
        distribution::print(*value)
    }

    fn describe(&self) -> String {
        format!("[distribution](#distributions){}", if self.zero { "" } else { ", not always 0s" })
    }

    /// [`distribution::parse`].
    fn schema(&self) -> Json {
        let duration = || length().schema();
        let number = || json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 100 });
        let ends = json!({ "type": "array", "items": duration(), "minItems": 2, "maxItems": 2 });
        let by_p99 = object(&[("median", duration()), ("p99", duration())]);
        let by_sigma = object(&[("median", duration()), ("sigma", number())]);
        json!({ "oneOf": [
            duration(),
            object(&[("uniform", ends)]),
            object(&[("exponential", duration())]),
            object(&[("normal", object(&[("mean", duration()), ("deviation", duration())]))]),
            object(&[("log-normal", json!({ "oneOf": [by_p99, by_sigma] }))]),
            object(&[("pareto", object(&[("least", duration()), ("shape", number())]))]),
        ] })
    }
}

/// The schema of a table of exactly these keys.
pub(super) fn object(keys: &[(&str, Json)]) -> Json {
    let names: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Json> =
        keys.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}

/// A delay of the network: a distribution of which the two kinds that closed forms know are told apart.
pub(crate) struct NetworkDelay;

/// A delay that may be none.
pub(crate) const DELAY: NetworkDelay = NetworkDelay;

impl Form for NetworkDelay {
    type Value = Delay;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<Delay> {
        TIME.read(entry, reading).map(Delay::from)
    }

    fn print(&self, value: &Delay, _: Names<'_>) -> String {
        distribution::print_delay(*value)
    }

    fn describe(&self) -> String {
        TIME.describe()
    }

    fn schema(&self) -> Json {
        TIME.schema()
    }
}

/// A duration of whole milliseconds, negative or not.
pub(crate) struct Shift;

impl Form for Shift {
    type Value = i64;

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<i64> {
        let form = "as in `\"60s\"` or `\"-60s\"`";
        let Some(text) = entry.node.as_text() else {
            return reading.refuse(wrong_type(entry, "a duration with a unit").hint(form));
        };
        let title = || format!("`{}` must be a duration, negative or not", entry.key);
        duration::parse_shift_ms(text).map_or_else(
            |why| reading.refuse(Problem::error(entry.node.place.clone(), title()).label(why).hint(form)),
            Some,
        )
    }

    fn print(&self, value: &i64, _: Names<'_>) -> String {
        duration::print_shift_ms(*value)
    }

    fn describe(&self) -> String {
        "duration, negative or not, of whole milliseconds".into()
    }

    fn schema(&self) -> Json {
        json!({ "type": "string", "pattern": SHIFT, "examples": ["60s", "-60s"] })
    }
}
