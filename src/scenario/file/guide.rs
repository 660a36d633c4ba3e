//! Holds `docs/SCENARIO.md` to the format: each section's table there is the one that follows from the code.

use crate::scenario::fault::format::TARGET_KEYS;
use crate::scenario::fault::verbs::VERBS;
use crate::scenario::file::format::TOP;
use crate::scenario::format::form::Below;
use crate::scenario::format::{self, Key, Section};
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
    let default = if key.default().is_empty() { "–".to_owned() } else { key.default() };
    format!("| `{}` | {} | {default} | {} |", key.name, key.form.describe(), key.doc)
}

fn visit(section: &'static Section, seen: &mut dyn FnMut(&'static Section)) {
    seen(section);
    for key in (section.keys)() {
        if let Below::Table(below) | Below::Tables(below) = key.form.below() {
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
            return tables.push(table(format::keys(parameters::server::ALL)));
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
        assert!(part.contains(verb.section.example), "`{name}` lacks its example: {}", verb.section.example);
        let section = verb.section;
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
