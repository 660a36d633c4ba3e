//! The JSON schema of the format, made from the tables that the check itself uses: for editors, which complete
//! and mark keys while a scenario is written.

use serde_json::{Map, Value, json};

use crate::scenario::fault::format::{FAULT, TARGETS};
use crate::scenario::fault::verbs::VERBS;
use crate::scenario::file::format::TOP;
use crate::scenario::format::of_servers::PEER_WORDS;
use crate::scenario::format::{Key, Section, Shape};
use crate::scenario::types::SERVERS_MAX;

/// Durations, as far as a pattern can tell.
const DURATION: &str = r"^\s*(0|([0-9]+(\.[0-9]+)?\s*[A-Za-z]+\s*)+)$";

/// Durations that may be negative.
const SHIFT: &str = r"^\s*[-+]?(0|([0-9]+(\.[0-9]+)?\s*[A-Za-z]+\s*)+)$";

/// A text of one line without control characters.
const LINE: &str = r"^[^\u0000-\u001F\u007F-\u009F]*$";

/// A server's name, as far as a pattern can tell how many there are.
const SERVER_NAME: &str = r"^server-[1-9][0-9]{0,2}$";

/// The JSON schema (draft 2020-12) of a scenario file.
pub fn json_schema() -> Value {
    let mut schema = section(&TOP);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("stillup scenario");
    schema["required"] = json!(["application"]);
    schema["properties"]["application"]["minItems"] = json!(1);
    schema
}

fn section(section: &'static Section) -> Value {
    let keys = (section.keys)();
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), self::key(key))).collect();
    let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": properties });
    let has = |name: &str| keys.iter().any(|key| key.name == name);
    let each = |choices: &[&str]| -> Value {
        choices.iter().filter(|name| has(name)).map(|name| json!({ "required": [name] })).collect()
    };
    let form = VERBS.iter().find(|form| std::ptr::eq(form.section(), section));
    let required: &[&str] = match (form, section.path) {
        (Some(form), _) => form.required,
        (None, "application") => &["name"],
        (None, "expect") => &["that"],
        (None, "server.capacity") => &["threads"],
        _ => &[],
    };
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if let Some(form) = form.filter(|form| !form.some_of.is_empty()) {
        schema["anyOf"] = each(form.some_of);
    }
    if std::ptr::eq(section, &FAULT) {
        schema["oneOf"] = each(&VERBS.each_ref().map(|form| form.key.name));
    } else if has("share") {
        schema["oneOf"] = each(&TARGETS);
    }
    schema
}

fn key(key: &'static Key) -> Value {
    let mut schema = shape(key.shape);
    let default = if key.default.is_empty() { String::new() } else { format!(" Default: {}.", key.default) };
    schema["description"] = json!(format!("{}{default}", key.doc));
    schema
}

fn shape(shape: Shape) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string", "pattern": LINE }),
        Shape::Lines => json!({ "type": "string" }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Count { min, max, .. } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::CountOrDefault { max, .. } => json!({ "type": "integer", "maximum": max }),
        Shape::Signed { min, max, .. } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::CountOr { min, max, word, .. } => {
            json!({ "oneOf": [{ "type": "integer", "minimum": min, "maximum": max }, { "const": word }] })
        }
        Shape::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Shape::ShareOr { word } => json!({ "oneOf": [self::shape(Shape::Share), { "const": word }] }),
        Shape::PositiveShare => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }),
        Shape::Rate { words: [] } => json!({ "type": "number", "minimum": 1e-6, "maximum": 1e6 }),
        Shape::Rate { words } => {
            json!({ "oneOf": [{ "type": "number", "minimum": 1e-6, "maximum": 1e6 }, { "enum": words }] })
        }
        Shape::Length { words: [], .. } => duration(),
        Shape::Length { words, .. } => json!({ "anyOf": [duration(), { "enum": words }] }),
        Shape::Choice(words) => json!({ "enum": words }),
        Shape::Names => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        Shape::Distribution { .. } => distribution(),
        Shape::Shift => json!({ "type": "string", "pattern": SHIFT, "examples": ["60s", "-60s"] }),
        Shape::NamesOr(words) => json!({ "anyOf": [self::shape(Shape::Names), { "enum": words }] }),
        Shape::Lengths => json!({ "type": "array", "items": duration(), "minItems": 1 }),
        Shape::Address => json!({ "type": "string", "format": "ipv4" }),
        Shape::PeersByServer => json!({
            "type": "object",
            "patternProperties": { SERVER_NAME: { "type": "array", "items": server() } },
            "additionalProperties": false,
        }),
        Shape::Servers => json!({ "oneOf": [
            { "type": "array", "items": server(), "minItems": 1 },
            { "type": "integer", "minimum": 1, "maximum": SERVERS_MAX },
            { "const": "all" },
        ] }),
        Shape::Peer => json!({ "oneOf": [{ "enum": PEER_WORDS }, peers(), peer_servers()] }),
        Shape::ShareOfReplicates => {
            json!({ "oneOf": [{ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }, { "const": "all" }] })
        }
        Shape::Table(below) => section(below),
        Shape::Tables(below) => json!({ "type": "array", "items": section(below) }),
    }
}

/// [`crate::scenario::format::distribution::parse`].
fn distribution() -> Value {
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

fn peers() -> Value {
    let text = || json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": { "application": text(), "zone": text() },
        "minProperties": 1,
        "additionalProperties": false,
    })
}

fn peer_servers() -> Value {
    object(&[("servers", json!({ "type": "array", "items": server(), "minItems": 1 }))])
}

fn server() -> Value {
    json!({ "type": "string", "pattern": SERVER_NAME })
}

/// A table of exactly these keys.
fn object(keys: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        keys.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}

fn duration() -> Value {
    json!({ "type": "string", "pattern": DURATION, "examples": ["30s", "1m 30s", "500ms"] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_knows_the_sections_and_their_ranges() {
        let schema = json_schema();
        let server = &schema["properties"]["eureka"]["properties"]["server"]["properties"];
        assert_eq!(server["eviction-interval-timer-in-ms"]["minimum"], json!(1));
        assert_eq!(schema["properties"]["application"]["items"]["required"], json!(["name"]));
        assert_eq!(schema["properties"]["fault"]["items"]["oneOf"].as_array().map(Vec::len), Some(21));
        // What hits only instances has neither `server` nor `servers` among its targets: four of six.
        let verbs = &schema["properties"]["fault"]["items"]["properties"];
        assert_eq!(verbs["stop"]["oneOf"].as_array().map(Vec::len), Some(4));
        assert_eq!(verbs["partition"]["oneOf"].as_array().map(Vec::len), Some(6));
        let capacity = &schema["properties"]["server"]["properties"]["capacity"];
        assert_eq!(capacity["required"], json!(["threads"]));
        assert!(schema["properties"]["start"].get("required").is_none());
    }
}
