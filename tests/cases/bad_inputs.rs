//! What bad input gets: the whole message, as a person sees it.
//!
//! `NAME.toml` is read under the name `my.toml`, with `--set` for each line of `NAME.set` where there is one, and
//! `NAME.stderr` is all that is said of it: every problem or, of a scenario that may run, every warning.

use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use stillup::scenario::parse;

use crate::expected::{compare, in_the_package, names};

const FOLDER: &str = "tests/bad_inputs";

pub(crate) fn trials() -> Vec<Trial> {
    let folder = in_the_package(FOLDER);
    let subjects = names(&folder, None);
    let of_subject = |subject: &String| {
        let folder = folder.join(subject);
        let trial = |name: String| {
            let file = folder.join(&name);
            Trial::test(format!("bad_inputs/{subject}/{name}"), move || is_told(&file))
        };
        names(&folder, Some("toml")).into_iter().map(trial).collect::<Vec<_>>()
    };
    let mut trials: Vec<Trial> = subjects.iter().flat_map(of_subject).collect();
    trials.push(Trial::test("bad_inputs/no_file_is_alone", no_file_is_alone));
    trials
}

/// Reads `case` with the ending `.toml`, and compares what is said of it.
fn is_told(case: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(case.with_extension("toml"))?;
    let sets = case.with_extension("set");
    let sets = if sets.exists() { fs::read_to_string(sets)? } else { String::new() };
    let sets: Vec<String> = sets.lines().map(str::to_owned).collect();
    let message = match parse("my.toml", &text, &sets) {
        Ok(loaded) => loaded.render_warnings(false),
        Err(problems) => problems.render(false),
    };
    if message.is_empty() {
        return Err("nothing is wrong with it".into());
    }
    compare(&format!("{message}\n"), &case.with_extension("stderr"))
}

/// A message or a setting without its input would never be looked at.
fn no_file_is_alone() -> Result<(), Failed> {
    let folder = in_the_package(FOLDER);
    for subject in names(&folder, None) {
        let folder = folder.join(subject);
        let inputs = names(&folder, Some("toml"));
        if names(&folder, Some("stderr")) != inputs {
            return Err(format!("{}: not as many .toml as .stderr", folder.display()).into());
        }
        if let Some(alone) = names(&folder, Some("set")).iter().find(|name| !inputs.contains(name)) {
            return Err(format!("{}: {alone}.set has no {alone}.toml", folder.display()).into());
        }
    }
    Ok(())
}
