//! `--set KEY=VALUE`: a setting replaced from the command line, before anything is checked.
//!
//! The key is a dotted path as TOML has it: `replicates`, `eureka.server.eviction-interval-timer-in-ms`,
//! `application.orders.instances` (an application by its name), `fault.1.at` (a fault or an expectation by its
//! place in the file, from 1). The value is a TOML value, or else a text: `--set duration=45m` needs no quotes.
//! What is set carries its place on the command line, so that an error points there.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::scenario::diagnostics::suggest::{did_you_mean, one_of};
use crate::scenario::diagnostics::{Place, Problem, Source};
use crate::scenario::document::assignment::Assignment;
use crate::scenario::document::{Entry, Node, Table, Value, parse_argument};

pub(crate) const FLAG: &str = "--set ";
/// The keys whose value is a list of tables.
const LISTS: [&str; 3] = ["application", "fault", "expect"];

/// The arguments as they are shown in messages, one a line.
pub(crate) fn command_line(sets: &[Assignment]) -> String {
    sets.iter().map(Assignment::shown).collect::<Vec<_>>().join("\n")
}

/// Applies the arguments in their order; a later one wins.
pub(crate) fn apply(root: &mut Table, sets: &[Assignment], problems: &mut Vec<Problem>) {
    let mut line_start = 0;
    for set in sets {
        if let Err(problem) = apply_one(root, set, line_start) {
            problems.push(*problem);
        }
        line_start += set.shown().len() + 1;
    }
}

/// A key of a path, with its place.
type Step = (String, Place);

fn apply_one(root: &mut Table, set: &Assignment, line_start: usize) -> Result<(), Box<Problem>> {
    let place = |range: Range<usize>| {
        Place::new(Source::CommandLine, line_start + range.start..line_start + range.end)
    };
    let key_place = place(set.key_place());
    let Some((value, value_place)) = set.value() else {
        return Err(Problem::error(key_place, "`--set` takes KEY=VALUE")
            .label("there is no `=`")
            .hint("as in `--set replicates=50`")
            .boxed());
    };
    let Some(path) = steps(set.key(), key_place.start) else {
        return Err(Problem::error(key_place, "this is not a key")
            .label("not a dotted path of names")
            .hint("as in `--set eureka.server.enable-self-preservation=false`")
            .boxed());
    };
    let as_typed = set.shown().get(value_place.clone()) == Some(value);
    let blanks = value.len() - value.trim_start().len();
    let value_place = place(value_place);
    let mut node = parse_argument(value.trim(), value_place.start + blanks);
    if !as_typed {
        node.place = value_place;
    }
    put(root, &path, node)
}

/// The path of a dotted key, by TOML's own rules for one.
pub(crate) fn steps(key: &str, offset: usize) -> Option<Vec<Step>> {
    let line = format!("{key} = 0");
    let document = DeTable::parse(&line).ok()?;
    let mut steps = Vec::new();
    let mut table = document.get_ref();
    loop {
        let mut entries = table.iter();
        let (Some((name, value)), None) = (entries.next(), entries.next()) else { return None };
        let span: Range<usize> = name.span();
        steps.push((
            name.get_ref().to_string(),
            Place::new(Source::CommandLine, offset + span.start..offset + span.end),
        ));
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => return Some(steps),
        }
    }
}

fn put(table: &mut Table, path: &[Step], node: Node) -> Result<(), Box<Problem>> {
    let Some(((key, place), rest)) = path.split_first() else { return Ok(()) };
    let position = table.entries.iter().position(|entry| &entry.key == key);
    if rest.is_empty() {
        let entry = Entry { key: key.clone(), key_place: place.clone(), node };
        match position {
            Some(at) => table.entries[at] = entry,
            None => table.entries.push(entry),
        }
        return Ok(());
    }
    // A place in a list that the file does not have: a table of that name would be told to be none.
    if position.is_none() && LISTS.contains(&key.as_str()) {
        return put_in_list(key, &mut [], rest, node);
    }
    let at = position.unwrap_or_else(|| {
        table.entries.push(Entry {
            key: key.clone(),
            key_place: place.clone(),
            node: Node {
                place: place.clone(),
                value: Value::Table(Table { place: place.clone(), entries: Vec::new() }),
            },
        });
        table.entries.len() - 1
    });
    match &mut table.entries[at].node.value {
        Value::Table(inner) => put(inner, rest, node),
        Value::List(nodes) => put_in_list(key, nodes, rest, node),
        other => Err(Problem::error(place.clone(), format!("`{key}` has no settings below it"))
            .label(format!("this is {}", other.kind()))
            .boxed()),
    }
}

/// `application.NAME.…`, `fault.N.…`, `expect.N.…`.
fn put_in_list(list: &str, nodes: &mut [Node], path: &[Step], node: Node) -> Result<(), Box<Problem>> {
    let Some(((which, place), rest)) = path.split_first() else { return Ok(()) };
    let chosen = nodes.iter().position(|node| name(node) == Some(which.as_str())).or_else(|| {
        let ordinal: usize = which.parse().ok()?;
        (1..=nodes.len()).contains(&ordinal).then(|| ordinal - 1)
    });
    let Some(chosen) = chosen else {
        let names: Vec<&str> = nodes.iter().filter_map(name).collect();
        let (title, hint) = if names.is_empty() {
            let there = match nodes.len() {
                0 => format!("the scenario has none: add a `[[{list}]]` to it"),
                1 => "there is one, counted from 1".to_owned(),
                count => format!("there are {count}, counted from 1"),
            };
            (format!("there is no `{list}` {which}"), there)
        } else {
            let hint = did_you_mean(which, names.iter().copied());
            let known = || format!("there are {}", one_of(names.iter().copied().take(20)));
            (format!("no {list} is called `{which}`"), hint.unwrap_or_else(known))
        };
        return Err(Problem::error(place.clone(), title).label("not in the scenario").hint(hint).boxed());
    };
    match &mut nodes[chosen].value {
        Value::Table(_) if rest.is_empty() => {
            Err(Problem::error(place.clone(), format!("`{list}.{which}` is a whole table"))
                .label("name one of its settings")
                .hint(format!("as in `--set {list}.{which}.KEY=VALUE`"))
                .boxed())
        }
        Value::Table(inner) => put(inner, rest, node),
        other => Err(Problem::error(place.clone(), format!("`{list}.{which}` has no settings below it"))
            .label(format!("this is {}", other.kind()))
            .boxed()),
    }
}

fn name(node: &Node) -> Option<&str> {
    node.as_table().and_then(|table| table.get("name")).and_then(Node::as_text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::document::parse;

    const FILE: &str = "seed = 1\n[[application]]\nname = \"orders\"\n[[fault]]\ncrash = { count = 1 }\n";

    fn set(arguments: &[&str]) -> (Table, Vec<Problem>) {
        let sets: Vec<Assignment> = arguments.iter().copied().map(Assignment::set).collect();
        let (mut root, mut problems) = (parse(FILE).expect("it is TOML"), Vec::new());
        apply(&mut root, &sets, &mut problems);
        (root, problems)
    }

    #[test]
    fn settings_are_replaced_and_created() {
        let (root, problems) = set(&[
            "seed=7",
            "eureka.server.enable-self-preservation=false",
            "duration=45m",
            "application.orders.instances = 40",
            "fault.1.at=5s",
        ]);
        assert_eq!(problems, []);
        assert!(matches!(root.get("seed").map(|n| &n.value), Some(Value::Integer(Some(7)))));
        let flag = root.at(&["eureka", "server", "enable-self-preservation"]).map(|n| &n.value);
        assert!(matches!(flag, Some(Value::Flag(false))));
        assert_eq!(root.get("duration").and_then(Node::as_text), Some("45m"));
        let orders = root.tables("application").next().expect("it is there");
        assert!(matches!(orders.get("instances").map(|n| &n.value), Some(Value::Integer(Some(40)))));
        let fault = root.tables("fault").next().expect("it is there");
        assert_eq!(fault.get("at").and_then(Node::as_text), Some("5s"));
    }

    #[test]
    fn what_is_set_carries_its_place_on_the_command_line() {
        let (root, _) = set(&["seed=7", "replicates=5"]);
        let entry = root.entry("replicates").expect("it is there");
        let text = command_line(&["seed=7", "replicates=5"].map(Assignment::set));
        assert_eq!(&text[entry.key_place.start..entry.key_place.end], "replicates");
        assert_eq!(&text[entry.node.place.start..entry.node.place.end], "5");
    }

    #[test]
    fn what_cannot_be_set_says_why() {
        let title = |argument: &str| set(&[argument]).1.remove(0).title;
        assert_eq!(title("seed"), "`--set` takes KEY=VALUE");
        assert_eq!(title("=7"), "this is not a key");
        assert_eq!(title("a..b=7"), "this is not a key");
        assert_eq!(title("seed.x=7"), "`seed` has no settings below it");
        assert_eq!(title("application.order.instances=7"), "no application is called `order`");
        assert_eq!(title("application.orders=7"), "`application.orders` is a whole table");
        assert_eq!(title("fault.2.at=7"), "there is no `fault` 2");
        assert_eq!(title("expect.1.in=0.5"), "there is no `expect` 1");
    }

    proptest::proptest! {
        #[test]
        fn no_argument_panics(argument in "(?s).{0,40}=?.{0,20}") {
            let _ = set(&[&argument]);
        }
    }
}
