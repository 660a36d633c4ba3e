//! Whether `docs/OUTPUT.md` and `docs/SWEEP.md` say of files what the code says: their tables of columns and figures
//! are those of the declarations, and their fields those of the JSON schemas.
//!
//! `UPDATE_DOCS=1 cargo test --lib report::pages` writes the tables of columns and figures anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::OUTPUTS;
use super::comparison::{self, Figure};

/// A table of a page: the line that it follows, which is a heading or the line of another table's head, and its text.
type Expected = (String, String);

fn page(name: &str) -> (PathBuf, String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    let text = fs::read_to_string(&path).unwrap();
    (path, text)
}

/// Where in the page the first table after this line stands that begins with `head`.
fn place_of(page: &str, after: &str, head: &str) -> std::ops::Range<usize> {
    let start = page.find(&format!("\n{after}\n")).unwrap_or_else(|| panic!("there is no line {after:?}"));
    let from =
        start + page[start..].find(&format!("\n{head}\n")).unwrap_or_else(|| panic!("{after}: no table")) + 1;
    let to = page[from..].find("\n\n").map_or(page.len(), |length| from + length + 1);
    from..to
}

/// Holds the page to these tables, or writes them into it.
fn check(name: &str, tables: &[Expected]) {
    let (path, mut text) = page(name);
    for (after, expected) in tables {
        let head = expected.lines().next().unwrap();
        let place = place_of(&text, after, head);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            text.replace_range(place, expected);
            continue;
        }
        assert_eq!(&text[place], expected, "docs/{name}, {after}: see src/report/pages.rs");
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, text).unwrap();
    }
}

/// The files that the page has a heading for.
fn headings(page: &str) -> BTreeSet<&str> {
    page.lines().filter(|line| line.starts_with('#') && line.ends_with(".csv`")).collect()
}

#[test]
fn the_page_of_a_run_explains_every_column() {
    let tables: Vec<Expected> = OUTPUTS
        .iter()
        .filter_map(|output| Some((format!("## `{}`", output.file_name()), output.columns()?)))
        .collect();
    check("OUTPUT.md", &tables);
    let (_, text) = page("OUTPUT.md");
    assert_eq!(headings(&text), tables.iter().map(|(heading, _)| heading.as_str()).collect());
}

#[test]
fn the_page_of_sweeps_explains_every_column_and_figure() {
    let files = comparison::documented_columns();
    let mut tables: Vec<Expected> = files.map(|(file, table)| (format!("### `{file}`"), table)).to_vec();
    tables.push(("## What it shows".to_owned(), Figure::documented()));
    check("SWEEP.md", &tables);
    let (_, text) = page("SWEEP.md");
    assert_eq!(headings(&text).len(), 2);
}

/// Whether the tables of fields name those of the schema. Each table is told by the line before it.
fn check_fields(name: &str, schema: &str, tables: &[(&str, &str)]) {
    let (_, text) = page(name);
    let schema: Value = serde_json::from_str(schema).unwrap();
    for (after, structure) in tables {
        let properties = |of: &Value| -> BTreeSet<String> {
            of["properties"].as_object().unwrap().keys().cloned().collect()
        };
        let of = if structure.is_empty() { &schema } else { &schema["$defs"][structure] };
        let place = place_of(&text, after, "| field | meaning |");
        let cells = text[place].lines().skip(2).map(|line| line.split(" | ").next().unwrap());
        // Between backticks; what begins with a dot is a part of the one before it.
        let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).collect::<Vec<_>>());
        let names = names.map(|name| name.split('.').next().unwrap().to_owned());
        let named: BTreeSet<String> = names.filter(|name| !name.is_empty()).collect();
        assert_eq!(named, properties(of), "docs/{name}, {after}");
    }
}

#[test]
fn the_page_of_a_run_explains_every_field() {
    let tables = [
        ("## `summary.json`", ""),
        ("One of `stages`:", "StageSummary"),
        ("One of `mistakes`:", "MistakeSummary"),
        ("One of `calls`:", "CallSummary"),
        ("`guard`, over the guards of all services:", "GuardSummary"),
        ("`consumers`, over all replicates:", "ConsumerSummary"),
        (
            "One of `servers`; figures of a replicate are given as `mean`, `min` and `max` over replicates:",
            "ServerSummary",
        ),
        ("`server_agreement`:", "ServerAgreement"),
        ("One of `stages_by_server`:", "ServerStage"),
    ];
    check_fields("OUTPUT.md", &super::json_schema(), &tables);
}

#[test]
fn the_page_of_sweeps_explains_every_field() {
    let tables = [("### `summary.json`", "ConfigurationSummary")];
    check_fields("SWEEP.md", &comparison::json_schema(), &tables);
}
