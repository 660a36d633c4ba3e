//! Who is who among several servers: lists of them, whom each tells, the other end of a link. Whether the names exist is
//! asked by the readers.

use serde_json::{Value as Json, json};

use super::lengths::object;
use super::texts::Listed;
use crate::scenario::diagnostics::Problem;
use crate::scenario::diagnostics::suggest::did_you_mean;
use crate::scenario::document::{Entry, Node, Value};
use crate::scenario::format::form::{Form, Reading, out_of_range, wrong_type};
use crate::scenario::types::{Names, SERVERS_MAX};

/// The words of `peer`; the first two mean the same.
pub(crate) const PEER_WORDS: [&str; 4] = ["server", "servers", "all", "instances"];

/// What is told to whoever names the other end of a link in another way.
const PEER_FORM: &str = "write `\"servers\"`, `\"all\"`, `\"instances\"`, `{ application = \"orders\", zone = \"a\" }` \
                         or `{ servers = [\"server-1\"] }`";

/// A server's name, as far as a pattern can tell how many there are.
const SERVER_NAME: &str = r"^server-[1-9][0-9]{0,2}$";

/// A list of servers.
pub(crate) const SERVER_LIST: Listed = Listed { example: "`[\"server-1\", \"server-2\"]`" };

fn server() -> Json {
    json!({ "type": "string", "pattern": SERVER_NAME })
}

/// Servers: `"all"`, how many, or a list of their names.
pub(crate) struct Servers;

impl Form for Servers {
    type Value = ();

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<()> {
        let wanted = "a list of servers, how many of them, or `all`";
        let most = SERVERS_MAX as i128;
        let problem = match &entry.node.value {
            Value::Integer(Some(number)) if (1..=most).contains(number) => return Some(()),
            Value::Integer(Some(0)) => Problem::error(entry.node.place.clone(), "`servers = 0` hits nobody")
                .label("nobody")
                .hint("leave the fault out, or name other targets"),
            Value::Integer(_) => out_of_range(entry, format!("must be from 1 to {most}")),
            Value::Text(text) if text == "all" => return Some(()),
            Value::Text(text) => {
                let near = did_you_mean(text, ["all"]);
                wrong_type(entry, wanted).hint(near.unwrap_or_else(|| format!("in brackets: `[\"{text}\"]`")))
            }
            Value::List(_) => return SERVER_LIST.read(entry, reading).map(|_| ()),
            _ => wrong_type(entry, wanted),
        };
        reading.refuse(problem)
    }

    fn print(&self, (): &(), _: Names<'_>) -> String {
        String::new()
    }

    fn describe(&self) -> String {
        format!("list of servers, 1 to {SERVERS_MAX}, or `all`")
    }

    fn schema(&self) -> Json {
        json!({ "oneOf": [
            { "type": "array", "items": server(), "minItems": 1 },
            { "type": "integer", "minimum": 1, "maximum": SERVERS_MAX },
            { "const": "all" },
        ] })
    }
}

/// A table that gives servers by name a list of names of servers. A list may be empty: a server without peers.
pub(crate) struct PeersByServer;

impl Form for PeersByServer {
    type Value = ();

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<()> {
        let form = "as in `peers = { server-1 = [\"server-2\"] }`";
        let Some(table) = entry.node.as_table() else {
            return reading.refuse(wrong_type(entry, "a table of lists of servers").hint(form));
        };
        for own in &table.entries {
            let texts = |nodes: &[Node]| nodes.iter().all(|node| node.as_text().is_some());
            if !own.node.as_list().is_some_and(texts) {
                reading.refuse::<()>(wrong_type(own, "a list of servers").hint(form));
            }
        }
        Some(())
    }

    fn print(&self, (): &(), _: Names<'_>) -> String {
        String::new()
    }

    fn describe(&self) -> String {
        "table of lists of servers".into()
    }

    fn schema(&self) -> Json {
        json!({
            "type": "object",
            "patternProperties": { SERVER_NAME: { "type": "array", "items": server() } },
            "additionalProperties": false,
        })
    }
}

/// The other end of a link: a word, a table of `application` and `zone`, or one of `servers`.
pub(crate) struct Peer;

impl Peer {
    fn wrong(entry: &Entry) -> Option<Problem> {
        let place = || entry.node.place.clone();
        match &entry.node.value {
            Value::Text(text) if PEER_WORDS.contains(&text.as_str()) => None,
            Value::Text(text) => {
                // Names of applications look like any word; a slip seldom begins with another letter.
                let alike = PEER_WORDS.into_iter().filter(|word| word.get(..1) == text.get(..1));
                let near = did_you_mean(text, alike).map_or_else(String::new, |near| format!("{near} "));
                let named = match text.strip_prefix("server-") {
                    Some(_) => format!("for one server write `{{ servers = [\"{text}\"] }}`"),
                    None => format!(
                        "{near}for the instances of an application write `{{ application = \"{text}\" }}`"
                    ),
                };
                Some(
                    Problem::error(place(), format!("unknown `peer`: `{text}`"))
                        .label("must be `servers`, `all`, `instances` or a table")
                        .hint(named),
                )
            }
            Value::Table(table) => Self::wrong_table(entry, table),
            _ => Some(wrong_type(entry, "a text or a table").hint(PEER_FORM)),
        }
    }

    fn wrong_table(entry: &Entry, table: &crate::scenario::document::Table) -> Option<Problem> {
        let known = ["application", "zone", "servers"];
        if let Some(other) = table.entries.iter().find(|inner| !known.contains(&inner.key.as_str())) {
            let title = format!("unknown key `{}` in `peer`", other.key);
            return Some(
                Problem::error(other.key_place.clone(), title)
                    .label("not known")
                    .maybe_hint(did_you_mean(&other.key, known).or(Some(PEER_FORM.into()))),
            );
        }
        if let Some(servers) = table.entry("servers") {
            if let Some(other) = table.entries.iter().find(|inner| inner.key != "servers") {
                return Some(
                    Problem::error(other.key_place.clone(), format!("servers belong to no {}", other.key))
                        .label("beside `servers`")
                        .hint("name either servers or instances"),
                );
            }
            let mut problems = Vec::new();
            SERVER_LIST.read(servers, &mut Reading::walk(&mut problems));
            return problems.pop();
        }
        if let Some(other) = table.entries.iter().find(|inner| inner.node.as_text().is_none()) {
            return Some(wrong_type(other, "a text"));
        }
        let nobody = || Problem::error(entry.node.place.clone(), "`peer` names nobody").hint(PEER_FORM);
        table.entries.is_empty().then(nobody)
    }
}

impl Form for Peer {
    type Value = ();

    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<()> {
        match Self::wrong(entry) {
            Some(problem) => reading.refuse(problem),
            None => Some(()),
        }
    }

    fn print(&self, (): &(), _: Names<'_>) -> String {
        String::new()
    }

    fn describe(&self) -> String {
        "`servers`, `all`, `instances`, a table of `application` and `zone`, or one of `servers`".into()
    }

    fn schema(&self) -> Json {
        let text = || json!({ "type": "string" });
        let instances = json!({
            "type": "object",
            "properties": { "application": text(), "zone": text() },
            "minProperties": 1,
            "additionalProperties": false,
        });
        let servers = object(&[("servers", json!({ "type": "array", "items": server(), "minItems": 1 }))]);
        json!({ "oneOf": [{ "enum": PEER_WORDS }, instances, servers] })
    }
}
