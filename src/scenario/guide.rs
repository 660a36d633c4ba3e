//! Holds `docs/SCENARIO.md` to the format: each section's table there is the one that follows from the code.

use super::format::{Key, Section, Shape, TOP};
use super::suggest::one_of;

/// The table of a section's keys as it stands in the guide.
fn table(section: &'static Section) -> String {
    let mut lines = vec!["| key | value | default | meaning |".to_owned(), "|---|---|---|---|".to_owned()];
    lines.extend((section.keys)().into_iter().map(line));
    lines.join("\n")
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
        Shape::Share => "0 to 1".into(),
        Shape::PositiveShare => "above 0, at most 1".into(),
        Shape::Rate { words } => format!("number from 0.000001 to 1000000{}", or(words)),
        Shape::Length { min, max, words } => {
            let from = if min.is_zero() { "0s" } else { "more than 0s" };
            let to = if max == super::duration::LONGEST { "a year".into() } else { max.to_string() };
            format!("duration, {from} to {to}{}", or(words))
        }
        Shape::Choice(words) => one_of(words.iter().copied()),
        Shape::Names => "list of texts, not empty".into(),
        Shape::Distribution { zero: true } => "[distribution](#distributions)".into(),
        Shape::Distribution { zero: false } => "[distribution](#distributions), not always 0s".into(),
        Shape::Shift => "duration, negative or not, of whole milliseconds".into(),
        Shape::Peer => "`server`, `all`, or a table of `application` and `zone`".into(),
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
    let guide = include_str!("../../docs/SCENARIO.md");
    let mut missing = Vec::new();
    visit(&TOP, &mut |section| {
        let table = table(section);
        if !guide.contains(&table) && !missing.contains(&table) {
            missing.push(table);
        }
    });
    assert!(missing.is_empty(), "docs/SCENARIO.md should have:\n\n{}", missing.join("\n\n"));
}
