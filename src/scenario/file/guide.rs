//! Holds `docs/SCENARIO.md` to the format: each section's table there is the one that follows from the code.

use crate::scenario::diagnostics::suggest::one_of;
use crate::scenario::fault::format::TARGET_KEYS;
use crate::scenario::fault::verbs::VERBS;
use crate::scenario::file::format::TOP;
use crate::scenario::format::{Key, Section, Shape};
use crate::scenario::two_stage::format::TWO_STAGE;
use crate::scenario::two_stage::parameters;

/// The table of keys as it stands in the guide; empty without any.
fn table(keys: impl IntoIterator<Item = &'static Key>) -> String {
    let head = ["| key | value | default | meaning |", "|---|---|---|---|"].map(str::to_owned);
    let lines: Vec<String> = keys.into_iter().map(line).collect();
    if lines.is_empty() { String::new() } else { [head.to_vec(), lines].concat().join("\n") }
}

/// Targets have a table of their own, which the guide gives once for all verbs.
fn is_target(key: &'static Key) -> bool {
    TARGET_KEYS.iter().any(|target| std::ptr::eq(target, key))
}

fn line(key: &'static Key) -> String {
    let default = if key.default.is_empty() { "–" } else { key.default };
    format!("| `{}` | {} | {default} | {} |", key.name, value(key.shape), key.doc)
}

fn value(shape: Shape) -> String {
    let or = |words: &[&str]| {
        if words.is_empty() { String::new() } else { format!(", or {}", one_of(words.iter().copied())) }
    };
    match shape {
        Shape::Text | Shape::Lines => "text".into(),
        Shape::Flag => "true or false".into(),
        Shape::Count { min, max: u64::MAX, .. } => format!("whole number, at least {min}"),
        Shape::Count { min, max, unit } => format!("{min} to {max} {unit}").trim_end().to_owned(),
        Shape::CountOrDefault { max, unit, .. } => format!("1 to {max} {unit}; zero or less: the default"),
        Shape::Signed { min, max, unit } => format!("{min} to {max} {unit}"),
        Shape::CountOr { min, max, unit, word } => {
            format!("{}, or `{word}`", value(Shape::Count { min, max, unit }))
        }
        Shape::Share => "0 to 1".into(),
        Shape::ShareOr { word } => format!("0 to 1, or `{word}`"),
        Shape::PositiveShare => "above 0, at most 1".into(),
        Shape::Rate { words } => format!("number from 0.000001 to 1000000{}", or(words)),
        Shape::Length { min, max, words } => {
            let from = if min.is_zero() { "0s" } else { "more than 0s" };
            let to = if max == crate::scenario::format::duration::LONGEST {
                "a year".into()
            } else {
                max.to_string()
            };
            format!("duration, {from} to {to}{}", or(words))
        }
        Shape::Choice(words) => one_of(words.iter().copied()),
        Shape::Names => "list of texts, not empty".into(),
        Shape::Distribution { zero: true } => "[distribution](#distributions)".into(),
        Shape::Distribution { zero: false } => "[distribution](#distributions), not always 0s".into(),
        Shape::Shift => "duration, negative or not, of whole milliseconds".into(),
        Shape::NamesOr(words) => format!("list of texts, not empty{}", or(words)),
        Shape::Lengths => "list of durations".into(),
        Shape::Address => "IPv4 address".into(),
        Shape::PeersByServer => "table of lists of servers".into(),
        Shape::Servers => "list of servers, 1 to 100, or `all`".into(),
        Shape::Peer => {
            "`servers`, `all`, `instances`, a table of `application` and `zone`, or one of `servers`".into()
        }
        Shape::ShareOfReplicates => "`\"all\"`, or a number above 0, at most 1".into(),
        Shape::Table(_) => "table".into(),
        Shape::Tables(_) => "list of tables".into(),
    }
}

fn visit(section: &'static Section, seen: &mut dyn FnMut(&'static Section)) {
    seen(section);
    for key in (section.keys)() {
        if let Shape::Table(below) | Shape::Tables(below) = key.shape {
            visit(below, seen);
        }
    }
}

#[test]
fn the_guide_has_the_table_of_every_section() {
    let guide = include_str!("../../../docs/SCENARIO.md");
    let mut missing = Vec::new();
    let mut tables = vec![table(&TARGET_KEYS)];
    visit(&TOP, &mut |section| {
        if std::ptr::eq(section, &TWO_STAGE) {
            // Its table is two: that of the registry, and that of its clients, which applications have too.
            return tables.push(table(parameters::SERVER.iter().map(|parameter| &parameter.key)));
        }
        tables.push(table((section.keys)().into_iter().filter(|key| !is_target(key))));
    });
    for table in tables {
        if !guide.contains(&table) && !missing.contains(&table) {
            missing.push(table);
        }
    }
    assert!(missing.is_empty(), "docs/SCENARIO.md should have:\n\n{}", missing.join("\n\n"));
}

/// A verb's heading says whether servers can be hit, and shows how it is written.
#[test]
fn the_guide_has_a_part_for_every_verb() {
    let guide = include_str!("../../../docs/SCENARIO.md");
    for verb in &VERBS {
        let name = verb.key.name;
        let heading = format!("\n### `{name}`\n");
        let part = guide.split(&heading).nth(1).unwrap_or_else(|| panic!("no part for `{name}`"));
        let part = part.split("\n### ").next().unwrap_or_default();
        assert!(part.contains(verb.example), "`{name}` lacks its example: {}", verb.example);
        let section = verb.section();
        let targets = match (section.key("share"), section.key("server")) {
            (None, _) => "",
            (Some(_), None) => "Targets: instances.",
            (Some(_), Some(_)) => "Targets: instances or servers.",
        };
        assert!(part.contains(targets), "`{name}` should say: {targets}");
    }
}

/// The first scenario below a heading.
fn example(heading: &str) -> crate::scenario::Loaded {
    let guide = include_str!("../../../docs/SCENARIO.md");
    let part = guide.split(&format!("\n## {heading}\n")).nth(1).expect("the heading");
    let example = part.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let loaded = crate::scenario::parse("guide.toml", example.expect("an example"), &[]);
    loaded.unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn the_example_of_a_two_stage_registry_is_one() {
    let loaded = example("`[two-stage]`");
    let titles: Vec<&str> = loaded.warnings.iter().map(|warning| warning.title.as_str()).collect();
    assert_eq!(titles, ["4 dead of 20 shut the guard of `orders` for good"]);
}

#[test]
fn the_example_of_several_servers_is_one() {
    let loaded = example("Several servers");
    assert_eq!((loaded.scenario.servers.len(), loaded.render_warnings(false).as_str()), (3, ""));
}
