//! What both reports say in the same words: captions, plurals, JSON as text. Stages and events stay what they are within
//! the program, and are written by their names.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::table::grouped;
use crate::model::stage::{EventKind, Stage};

/// What is written by its name.
macro_rules! by_name {
    ($($type:ty),+) => {
        $(
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.name())
                }
            }

            impl JsonSchema for $type {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    String::schema_name()
                }

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    String::json_schema(generator)
                }
            }
        )+
    };
}

by_name!(Stage, EventKind);

/// The text of a JSON file.
pub(super) fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain structs are always JSON");
    text.push('\n');
    text
}

/// So many things of a kind whose plural has an `s`.
pub(super) fn plural(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// From when until when T_D is measured at `stage`, which is `a stage` or `the stage`.
pub(super) fn caption(event: EventKind, stage: &str) -> String {
    let end = if event.is_end() { "no longer shows" } else { "shows" };
    let event = match event {
        EventKind::Unhealthy => "the moment health went DOWN",
        event => after(event),
    };
    format!("from {event} until {stage} {end} the instance")
}

/// An event, after `after`.
pub(super) const fn after(event: EventKind) -> &'static str {
    match event {
        EventKind::Crash => "a crash",
        EventKind::Stop => "an orderly stop",
        EventKind::Registration => "a registration",
        EventKind::Unhealthy => "health went DOWN",
        EventKind::Override => "an operator's override",
        EventKind::Recovery => "a recovery",
    }
}

/// With a capital letter.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
