//! The shape of what concerns several servers: lists of them, the other ends of links, addresses. Whether the names
//! exist is left to the check. See [`crate::scenario::format::walk`].

use std::net::Ipv4Addr;

use crate::scenario::diagnostics::Problem;
use crate::scenario::diagnostics::suggest::did_you_mean;
use crate::scenario::document::{Entry, Node, Value};
use crate::scenario::format::LONGEST;
use crate::scenario::format::duration;
use crate::scenario::format::walk::{names, out_of_range, wrong_type};
use crate::scenario::types::SERVERS_MAX;

/// The words of `peer`; the first two mean the same.
pub(crate) const PEER_WORDS: [&str; 4] = ["server", "servers", "all", "instances"];

/// What is told to whoever names the other end of a link in another way.
const PEER_FORM: &str = "write `\"servers\"`, `\"all\"`, `\"instances\"`, `{ application = \"orders\", zone = \"a\" }` \
                         or `{ servers = [\"server-1\"] }`";

/// A list of durations.
pub(crate) fn lengths(entry: &Entry) -> Option<Problem> {
    let form = "write `[\"0s\", \"1s\", \"14s\"]`, one for each server";
    let Some(nodes) = entry.node.as_list() else {
        return Some(wrong_type(entry, "a list of durations").hint(form));
    };
    if nodes.is_empty() {
        return Some(out_of_range(entry, "must have one for each server".into()));
    }
    nodes.iter().find_map(|node| {
        let title = format!("each of `{}` must be a duration", entry.key);
        let problem = |why: String| Problem::error(node.place.clone(), title.clone()).label(why);
        let Some(text) = node.as_text() else {
            return Some(problem(format!("this is {}", node.value.kind())).hint(form));
        };
        match duration::parse(text) {
            Ok(length) if length > LONGEST => Some(problem(format!("must be at most {LONGEST}"))),
            Ok(_) => None,
            Err(why) => Some(problem(why).hint(form)),
        }
    })
}

/// An IPv4 address.
pub(crate) fn address(entry: &Entry) -> Option<Problem> {
    let form = "as in `\"10.0.1.1\"`";
    let Some(text) = entry.node.as_text() else {
        return Some(wrong_type(entry, "an IPv4 address").hint(form));
    };
    text.parse::<Ipv4Addr>().is_err().then(|| {
        Problem::error(entry.node.place.clone(), format!("`{}` must be an IPv4 address", entry.key))
            .label("four numbers from 0 to 255 with dots between them")
            .hint(form)
    })
}

/// `"all"`, how many, or names.
pub(crate) fn servers(entry: &Entry) -> Option<Problem> {
    let wanted = "a list of servers, how many of them, or `all`";
    let most = SERVERS_MAX as i128;
    match &entry.node.value {
        Value::Integer(Some(number)) if (1..=most).contains(number) => None,
        Value::Integer(Some(0)) => Some(
            Problem::error(entry.node.place.clone(), "`servers = 0` hits nobody")
                .label("nobody")
                .hint("leave the fault out, or name other targets"),
        ),
        Value::Integer(_) => Some(out_of_range(entry, format!("must be from 1 to {most}"))),
        Value::Text(text) if text == "all" => None,
        Value::Text(text) => {
            let problem = wrong_type(entry, wanted);
            Some(match did_you_mean(text, ["all"]) {
                Some(near) => problem.hint(near),
                None => problem.hint(format!("in brackets: `[\"{text}\"]`")),
            })
        }
        Value::List(_) => names(entry, &[]),
        _ => Some(wrong_type(entry, wanted)),
    }
}

/// A table of lists of names. A list may be empty: a server without peers.
pub(crate) fn peers_by_server(entry: &Entry, problems: &mut Vec<Problem>) {
    let form = "as in `peers = { server-1 = [\"server-2\"] }`";
    let Some(table) = entry.node.as_table() else {
        return problems.push(wrong_type(entry, "a table of lists of servers").hint(form));
    };
    for own in &table.entries {
        let texts = |nodes: &[Node]| nodes.iter().all(|node| node.as_text().is_some());
        if !own.node.as_list().is_some_and(texts) {
            problems.push(wrong_type(own, "a list of servers").hint(form));
        }
    }
}

/// The other end of a link.
pub(crate) fn peer(entry: &Entry) -> Option<Problem> {
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
        Value::Table(table) => {
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
                        Problem::error(
                            other.key_place.clone(),
                            format!("servers belong to no {}", other.key),
                        )
                        .label("beside `servers`")
                        .hint("name either servers or instances"),
                    );
                }
                return names(servers, &[]);
            }
            if let Some(other) = table.entries.iter().find(|inner| inner.node.as_text().is_none()) {
                return Some(wrong_type(other, "a text"));
            }
            table.entries.is_empty().then(|| Problem::error(place(), "`peer` names nobody").hint(PEER_FORM))
        }
        _ => Some(wrong_type(entry, "a text or a table").hint(PEER_FORM)),
    }
}
