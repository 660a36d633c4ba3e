//! Style is a test: the doors between the rooms open one way, files and functions stay small, and only the
//! printer prints. Each failure says what to write instead.
//!
//! It reads text, not types: comments and literals are blanked out, then every path that begins with `crate`,
//! or climbs to the crate's root by `super`, is followed, wherever it stands. Documentation may link anywhere.

use std::fs;
use std::path::Path;

use crate::source_text::{Token, blanked, each_source, text, tokens};

/// A room, and the rooms that it may use besides itself.
const ROOMS: &[(&str, &[&str])] = &[
    ("engine", &[]),
    ("model", &["engine"]),
    ("scenario", &["engine", "model"]),
    ("observe", &["engine", "model"]),
    ("analysis", &["engine", "model", "scenario"]),
    ("world", &["engine", "model", "scenario", "observe"]),
    ("sweep", &["engine", "model", "scenario", "observe", "analysis", "world"]),
    ("report", &["engine", "model", "scenario", "observe", "analysis", "world", "sweep"]),
    ("facade", &["engine", "model", "scenario", "observe", "analysis", "world", "sweep", "report"]),
    ("cli", &["engine", "model", "scenario", "observe", "analysis", "world", "sweep", "report"]),
];

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;

/// What is larger than its budget, and the size that it may have at most: `path` or `path::function`. Lower the
/// number when it shrinks, and never raise one.
const RATCHET: &[(&str, usize)] = &[];

/// The only file that writes to standard output and standard error.
const PRINTER: &str = "src/cli/printer.rs";

#[test]
fn doors_open_one_way() {
    let problems = each_source(doors);
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn files_and_functions_are_small() {
    let mut sizes = Vec::new();
    each_source(|file, code| {
        sizes.extend(sizes_of(file, code));
        Vec::new()
    });
    let problems = over_budget(&sizes, RATCHET);
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn only_the_printer_prints() {
    let problems = each_source(|file, code| if file == PRINTER { Vec::new() } else { prints(file, code) });
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Cargo is told which programs there are, so that a new file in `tests/` is none by itself.
#[test]
fn every_test_is_in_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| fs::read_to_string(root.join(file)).expect("it can be read");
    let modules = read("tests/suite.rs") + &read("tests/golden.rs");
    let manifest = read("Cargo.toml");
    let entries = fs::read_dir(root.join("tests")).expect("a folder of tests");
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let is_code = path.extension().is_some_and(|ending| ending == "rs") || path.join("mod.rs").exists();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a plain name");
        let known =
            modules.contains(&format!("mod {name};")) || manifest.contains(&format!("name = \"{name}\""));
        assert!(known || !is_code, "tests/{name} is never run: add `mod {name};` to tests/suite.rs");
    }
}

/// Every path out of `file` into a room that its own room may not use.
fn doors(file: &str, code: &str) -> Vec<String> {
    let Some(from) = room_of(file) else { return Vec::new() };
    let allowed = ROOMS.iter().find(|(room, _)| *room == from).map(|(_, allowed)| *allowed);
    let Some(allowed) = allowed else {
        return vec![format!("{file}: `{from}` is no room: list it in tests/doors.rs with what it may use")];
    };
    let mut problems = Vec::new();
    for (line, to) in paths_from_root(file, code) {
        let known = ROOMS.iter().any(|(room, _)| *room == to);
        if !known || to == from || allowed.contains(&to.as_str()) {
            continue;
        }
        problems.push(format!(
            "{file}:{line}: `{from}` may not use `{to}`; it may use {}: take what it needs as an argument, \
             or move the type down to a room that both may use",
            if allowed.is_empty() { "no other room".to_owned() } else { allowed.join(", ") }
        ));
    }
    problems
}

/// The line and the first name below the crate's root of every path that starts there.
fn paths_from_root(file: &str, code: &str) -> Vec<(usize, String)> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut inline = InlineModules::default();
    let mut i = 0;
    while i < tokens.len() {
        inline.step(&tokens, i);
        let mut after = i + 1;
        let rooted = match tokens[i].text {
            _ if i > 0 && tokens[i - 1].text == "::" => false,
            "crate" => true,
            "super" => {
                let mut climbed = 1;
                while text(&tokens, after) == "::" && text(&tokens, after + 1) == "super" {
                    climbed += 1;
                    after += 2;
                }
                climbed == depth_of(file) + inline.open.len()
            }
            _ => false,
        };
        if rooted && text(&tokens, after) == "::" {
            let names = first_names(&tokens, after + 1);
            found.extend(names.into_iter().map(|name| (tokens[i].line, name)));
        }
        i += 1;
    }
    found
}

/// The name at `at`, or each first name of the group `{a::b, c}` there.
fn first_names(tokens: &[Token<'_>], at: usize) -> Vec<String> {
    if text(tokens, at) != "{" {
        return vec![text(tokens, at).to_owned()];
    }
    let (mut names, mut depth) = (Vec::new(), 0);
    for i in at..tokens.len() {
        match tokens[i].text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        let starts = matches!(tokens[i].text, "{" | ",") && depth == 1;
        if starts && text(tokens, i + 1) != "}" {
            names.push(text(tokens, i + 1).to_owned());
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// Modules written out in a file, which count as steps for `super`.
#[derive(Default)]
struct InlineModules {
    braces: usize,
    /// How many braces were open when each began.
    open: Vec<usize>,
}

impl InlineModules {
    fn step(&mut self, tokens: &[Token<'_>], i: usize) {
        match tokens[i].text {
            "{" => {
                if i >= 2 && tokens[i - 2].text == "mod" {
                    self.open.push(self.braces);
                }
                self.braces += 1;
            }
            "}" => {
                self.braces = self.braces.saturating_sub(1);
                if self.open.last() == Some(&self.braces) {
                    self.open.pop();
                }
            }
            _ => {}
        }
    }
}

/// The size in lines of the file and of each function in it.
fn sizes_of(file: &str, code: &str) -> Vec<(String, usize)> {
    let tokens = tokens(code);
    let mut sizes = vec![(file.to_owned(), code.lines().count())];
    for i in 0..tokens.len() {
        let named = text(&tokens, i + 1).starts_with(|c: char| c.is_alphabetic() || c == '_');
        if tokens[i].text != "fn" || !named {
            continue;
        }
        let (mut round, mut braces) = (0_i32, 0_i32);
        for token in &tokens[i..] {
            match token.text {
                "(" | "[" => round += 1,
                ")" | "]" => round -= 1,
                "{" => braces += 1,
                "}" => braces -= 1,
                _ => {}
            }
            let declared_only = token.text == ";" && round == 0 && braces == 0;
            if declared_only {
                break;
            }
            if token.text == "}" && braces == 0 {
                let name = format!("{file}::{}", text(&tokens, i + 1));
                sizes.push((name, token.line + 1 - tokens[i].line));
                break;
            }
        }
    }
    sizes
}

fn over_budget(sizes: &[(String, usize)], ratchet: &[(&str, usize)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, size) in sizes {
        let (budget, advice) = if name.contains("::") {
            (FUNCTION_LINES_MAX, "move its loops and pure parts into functions below it")
        } else {
            (FILE_LINES_MAX, "split it by idea, and its tests with it")
        };
        match ratchet.iter().find(|(known, _)| known == name) {
            None if *size > budget => {
                problems.push(format!("{name} has {size} lines, {budget} are enough: {advice}"));
            }
            Some((_, known)) if *size > *known => {
                problems.push(format!("{name} has {size} lines, more than its {known}: {advice}"));
            }
            Some(_) if *size <= budget => {
                problems.push(format!("{name} has {size} lines now: take it off RATCHET"));
            }
            _ => {}
        }
    }
    let gone = ratchet.iter().filter(|(known, _)| !sizes.iter().any(|(name, _)| name == known));
    problems.extend(gone.map(|(known, _)| format!("{known} is gone: take it off RATCHET")));
    problems
}

fn prints(file: &str, code: &str) -> Vec<String> {
    let tokens = tokens(code);
    let is_print = |i: usize| {
        let macros = ["print", "println", "eprint", "eprintln", "dbg"];
        macros.contains(&tokens[i].text) && text(&tokens, i + 1) == "!"
    };
    let prints = (0..tokens.len()).filter(|&i| is_print(i));
    let problem = |i: usize| {
        format!("{file}:{}: `{}!` prints: hand the text to cli::printer", tokens[i].line, tokens[i].text)
    };
    prints.map(problem).collect()
}

/// The first folder or file below `src/`; `None` for the crate's roots.
fn room_of(file: &str) -> Option<&str> {
    let below = file.strip_prefix("src/")?;
    let room = below.split('/').next()?.trim_end_matches(".rs");
    (!matches!(room, "lib" | "main")).then_some(room)
}

/// How many `super`s lead from the file's own module to the crate's root.
fn depth_of(file: &str) -> usize {
    let below = file.strip_prefix("src/").unwrap_or(file).trim_end_matches(".rs");
    below.split('/').filter(|part| *part != "mod").count()
}

mod bad_snippets_are_caught {
    use super::*;

    fn caught(file: &str, code: &str) -> usize {
        doors(file, &blanked(code)).len()
    }

    #[test]
    fn by_use_by_path_and_by_group() {
        assert_eq!(caught("src/engine/time.rs", "use crate::model::id::AppId;"), 1);
        assert_eq!(caught("src/model/id.rs", "fn f() -> crate::scenario::Scenario { todo!() }"), 1);
        assert_eq!(caught("src/analysis/bounds.rs", "use crate::{engine::SimTime, world::{World}};"), 1);
        assert_eq!(caught("src/world/mod.rs", "use crate::{\n  model::{a, b},\n  report, cli,\n};"), 2);
        assert_eq!(caught("src/observe/mod.rs", "macro_rules! m { () => { $crate::sweep::x() } }"), 1);
    }

    #[test]
    fn by_climbing() {
        assert_eq!(caught("src/engine/time.rs", "use super::super::model::id;"), 1);
        assert_eq!(caught("src/engine/mod.rs", "use super::model::id;"), 1);
        assert_eq!(caught("src/engine/time.rs", "mod tests { use super::super::super::model; }"), 1);
        assert_eq!(
            caught("src/engine/time.rs", "mod tests { use super::super::model; } use super::queue;"),
            0
        );
    }

    #[test]
    fn but_not_what_is_allowed_or_only_text() {
        assert_eq!(caught("src/model/id.rs", "use crate::engine::SimTime; use crate::model::view;"), 0);
        assert_eq!(
            caught("src/engine/time.rs", "/// See [`crate::model`].\n/* crate::model::x */ fn f() {}"),
            0
        );
        assert_eq!(
            caught("src/engine/time.rs", r##"const A: &str = "crate::model"; const B: char = '"';"##),
            0
        );
        assert_eq!(caught("src/engine/time.rs", "const A: &str = r#\"crate::model\"#;"), 0);
        assert_eq!(caught("src/lib.rs", "pub use crate::cli::run;"), 0);
        assert_eq!(caught("src/attic/mod.rs", ""), 1);
    }

    #[test]
    fn after_lifetimes_and_quotes_too() {
        let code = "fn f<'a>(x: &'a str) -> char { '\\'' }\nuse crate::cli::Flags;";
        assert_eq!(doors("src/world/mod.rs", &blanked(code)).len(), 1);
        assert!(doors("src/world/mod.rs", &blanked(code))[0].starts_with("src/world/mod.rs:2: "));
    }

    #[test]
    fn by_size() {
        let long = format!("fn long() {{\n{}}}\nfn short(a: [u8; 2]);\n", "    f();\n".repeat(69));
        let sizes = sizes_of("src/a.rs", &long);
        assert_eq!(sizes, [("src/a.rs".into(), 72), ("src/a.rs::long".into(), 71)]);
        assert_eq!(over_budget(&sizes, &[]).len(), 1);
        assert_eq!(over_budget(&sizes, &[("src/a.rs::long", 71)]).len(), 0);
        assert_eq!(over_budget(&sizes, &[("src/a.rs::long", 70)]).len(), 1);
        assert_eq!(over_budget(&sizes, &[("src/a.rs::long", 80), ("src/b.rs", 500)]).len(), 1); // gone
        assert_eq!(over_budget(&sizes, &[("src/a.rs::long", 80), ("src/a.rs", 90)]).len(), 1); // fits
    }

    #[test]
    fn by_printing() {
        let code = "fn f() { anstream::println!(\"x\"); dbg!(1); let println = 2; }";
        assert_eq!(prints("src/world/mod.rs", &blanked(code)).len(), 2);
    }
}
