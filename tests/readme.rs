//! The README tells the truth: its commands are typed into a shell, and what it shows of their output is what
//! comes out. Its scenarios are checked.
//!
//! Of the blocks marked `console` every line `$ stillup …` is run, in the order in which they stand, in one
//! folder of their own. The lines below it, up to the next `$` or the end of the block, are compared with
//! standard output, but for blanks at the ends of lines and empty lines at the end; a line of three dots stands
//! for any number of lines. A command without lines below it only has to succeed. Blocks marked `toml` are
//! scenarios.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const DOTS: &str = "...";

/// A fenced block.
struct Block {
    language: String,
    /// In the README, from 1: the first line inside.
    line: usize,
    lines: Vec<String>,
}

/// A command and what is shown of its output.
struct Shown {
    line: usize,
    command: String,
    output: Vec<String>,
}

#[test]
fn commands_give_what_is_shown() {
    let folder = TempDir::new().expect("a folder to run in");
    let commands = commands(&blocks(&readme()));
    assert!(!commands.is_empty(), "README.md has no ```console block with a line `$ stillup …`");
    let problems: Vec<String> = commands.iter().filter_map(|shown| problem(shown, folder.path())).collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n\n"));
}

#[test]
fn scenarios_are_valid() {
    let folder = TempDir::new().expect("a folder to run in");
    for block in blocks(&readme()).iter().filter(|block| block.language == "toml") {
        fs::write(folder.path().join("readme.toml"), block.lines.join("\n")).expect("it can be written");
        let check = shell("stillup check readme.toml", folder.path());
        let complaint = String::from_utf8_lossy(&check.stderr);
        assert!(check.status.success(), "the scenario in line {} of README.md:\n{complaint}", block.line);
    }
}

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => {
                open = Some(Block { language: language.trim().to_owned(), line: at + 2, lines: Vec::new() });
            }
            (None, Some(block)) => block.lines.push(line.trim_end().to_owned()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "README.md ends within a block");
    blocks
}

fn commands(blocks: &[Block]) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    for block in blocks.iter().filter(|block| block.language == "console") {
        // What stands above the first command belongs to none.
        let first = commands.len();
        let mut goes_on = false;
        for (at, line) in block.lines.iter().enumerate() {
            if goes_on {
                let command = &mut commands.last_mut().expect("it has begun").command;
                command.push('\n');
                command.push_str(line);
                goes_on = line.ends_with('\\');
            } else if let Some(command) = line.strip_prefix("$ ") {
                goes_on = command.ends_with('\\');
                commands.push(Shown {
                    line: block.line + at,
                    command: command.to_owned(),
                    output: Vec::new(),
                });
            } else if commands.len() > first {
                commands.last_mut().expect("it has begun").output.push(line.clone());
            }
        }
    }
    commands.retain(|shown| shown.command.split_whitespace().next() == Some("stillup"));
    for shown in &mut commands {
        while shown.output.last().is_some_and(String::is_empty) {
            shown.output.pop();
        }
    }
    commands
}

/// Runs a command; what is wrong with it, if anything is.
fn problem(shown: &Shown, folder: &Path) -> Option<String> {
    let ended = shell(&shown.command, folder);
    let place = format!("README.md:{}: $ {}", shown.line, shown.command);
    if !ended.status.success() {
        return Some(format!("{place}\n{}: {}", ended.status, String::from_utf8_lossy(&ended.stderr)));
    }
    let stdout = String::from_utf8_lossy(&ended.stdout);
    let came: Vec<&str> = stdout.trim_end().lines().map(str::trim_end).collect();
    let agrees = shown.output.is_empty() || matches(&shown.output, &came);
    (!agrees).then(|| format!("{place}\nshows\n{}\nbut gives\n{}", shown.output.join("\n"), came.join("\n")))
}

/// Types a line into a shell that finds the program that was just built.
fn shell(line: &str, folder: &Path) -> std::process::Output {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_stillup"));
    let place = program.parent().expect("it is in a folder").to_owned();
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(place).chain(std::env::split_paths(&inherited)));
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).env("PATH", path.expect("folders of a path"));
    shell.output().expect("there is a shell")
}

/// Whether `came` is what `shown` shows, with dots for any number of lines.
fn matches(shown: &[String], came: &[&str]) -> bool {
    let Some(dots) = shown.iter().position(|line| line.trim() == DOTS) else { return shown == came };
    let (before, after) = (&shown[..dots], &shown[dots + 1..]);
    came.len() >= before.len()
        && before == &came[..before.len()]
        && (before.len()..=came.len()).any(|from| matches(after, &came[from..]))
}

#[test]
fn dots_stand_for_any_number_of_lines() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let came = ["a", "b", "c", "d"];
    for fits in ["a\nb\nc\nd", "...", "a\n...", "...\nd", "a\n...\nc\n...\nd", "a\n...\nb\nc\nd"] {
        assert!(matches(&shown(fits), &came), "{fits}");
    }
    for differs in ["a\nb\nc", "a\n...\nc", "...\nb", "b\n...", "a\n...\nd\n...\nc", ""] {
        assert!(!matches(&shown(differs), &came), "{differs}");
    }
}

#[test]
fn commands_are_found_with_their_lines() {
    let text = "```console\nabove\n$ stillup a \\\n  --b\nout\n\n$ cargo c\nother\n```\n```\n$ stillup d\n```\n\
                ```console\n$ stillup e\n```\n";
    let commands = commands(&blocks(text));
    let found: Vec<_> = commands.iter().map(|it| (it.line, it.command.as_str(), it.output.len())).collect();
    assert_eq!(found, [(3, "stillup a \\\n  --b", 1), (14, "stillup e", 0)]);
}
