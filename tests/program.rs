//! The program as a child process, and what it leaves.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The program, in a directory of its own.
pub(crate) fn stillup(directory: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stillup"));
    command.current_dir(directory.path()).args(arguments).stdin(Stdio::null()).env_remove("NO_COLOR");
    command
}

/// Runs it to the end, which must have this exit code.
pub(crate) fn run(directory: &TempDir, arguments: &[&str], code: i32) -> Output {
    let output = stillup(directory, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{}{}", stderr(&output), stdout(&output));
    output
}

/// As arguments.
pub(crate) fn words(owned: &[String]) -> Vec<&str> {
    owned.iter().map(String::as_str).collect()
}

/// What it printed.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it told.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The entries of a directory, hidden ones too.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The files by name, but the one that may differ.
pub(crate) fn files(place: &Path) -> Vec<(String, Vec<u8>)> {
    let names = names(place).into_iter().filter(|name| name != "host.json");
    names.map(|name| (name.clone(), fs::read(place.join(name)).unwrap())).collect()
}
