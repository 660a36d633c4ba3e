//! Where the command line meets the rooms below it.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::exit::Exit;
use super::printer::Printer;
use crate::analysis::{self, Bound};
use crate::observe::RunData;
use crate::scenario::{self, LoadError, Scenario};
use crate::sweep::{self, ScenarioText};

/// A scenario that can run.
pub(super) struct Input {
    pub(super) scenario: Scenario,
    /// What will surprise, ready to be printed; may be empty.
    pub(super) warnings: String,
}

/// Why there is no scenario, ready to be printed.
pub(super) enum LoadFailure {
    /// The file cannot be read.
    Unreadable(String),
    /// The scenario is wrong: every problem in its place.
    Invalid(String),
}

impl LoadFailure {
    /// Prints it.
    pub(super) fn tell(&self, printer: &Printer) -> Exit {
        match self {
            Self::Unreadable(text) => printer.error(text, Exit::Io),
            Self::Invalid(text) => {
                printer.note(text);
                Exit::Input
            }
        }
    }
}

/// Reads and checks a scenario: a file, or one that comes with the program if no file has that name (a directory
/// may: people name their results so), or the default one.
pub(super) fn load(path: Option<&Path>, sets: &[String], colour: bool) -> Result<Input, LoadFailure> {
    let loaded = match (shipped(path), path) {
        (Some((name, text)), _) => scenario::parse(name, text, sets).map_err(LoadError::Invalid),
        (None, path) => scenario::load(path.expect("what is not shipped has a path"), sets),
    };
    match loaded {
        Ok(loaded) => {
            Ok(Input { warnings: whole_lines(loaded.render_warnings(colour)), scenario: loaded.scenario })
        }
        Err(error) => Err(failure(error, path, colour)),
    }
}

/// Reads the text of a scenario, of a file or one that comes with the program, without looking into it. `name` is what
/// results call it.
pub(super) fn read(path: Option<&Path>, name: String, colour: bool) -> Result<ScenarioText, LoadFailure> {
    let (path, text) = match (shipped(path), path) {
        (Some((name, text)), _) => (name.to_owned(), text.to_owned()),
        (None, path) => {
            let path = path.expect("what is not shipped has a path");
            let text = scenario::read(path).map_err(|error| failure(error, Some(path), colour))?;
            (path.display().to_string(), text)
        }
    };
    Ok(ScenarioText { path, name, text })
}

/// The scenario that comes with the program and that this stands for: the default one if none is named.
fn shipped(path: Option<&Path>) -> Option<(&'static str, &'static str)> {
    match path {
        None => Some(scenario::BUILTIN[0]),
        Some(path) if path.exists() && !path.is_dir() => None,
        Some(path) => scenario::BUILTIN.into_iter().find(|(name, _)| Path::new(name) == path),
    }
}

fn failure(error: LoadError, path: Option<&Path>, colour: bool) -> LoadFailure {
    match error {
        LoadError::Invalid(problems) => LoadFailure::Invalid(whole_lines(problems.render(colour))),
        error @ LoadError::Io { .. } => {
            let hint = path.and_then(shipped_hint).unwrap_or_default();
            LoadFailure::Unreadable(format!("{error}{hint}"))
        }
    }
}

/// A second sentence for a bare word that no file has: it was to be the name of a shipped scenario.
fn shipped_hint(path: &Path) -> Option<String> {
    let word = path.to_str().filter(|word| !path.exists() && !word.contains(['/', '\\', '.']))?;
    Some(format!("; and {}", no_such_scenario(word)))
}

/// Whether a scenario of this name comes with the program.
pub(super) fn is_shipped(name: &str) -> bool {
    scenario::builtin(name).is_some()
}

/// That no scenario of this name comes with the program, and what to do.
pub(super) fn no_such_scenario(name: &str) -> String {
    let hint = match scenario::closest_builtin(name) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`stillup scenarios` lists them".to_owned(),
    };
    format!("no scenario `{name}` comes with stillup; {hint}")
}

/// The text with a line break and an empty line after it, unless there is no text.
pub(super) fn whole_lines(text: String) -> String {
    if text.is_empty() { text } else { format!("{}\n\n", text.trim_end_matches('\n')) }
}

/// The name of the scenario that runs if none is named.
pub(super) const DEFAULT_NAME: &str = scenario::BUILTIN[0].0;

/// The scenario's canonical text.
pub(super) fn canonical(scenario: &Scenario) -> String {
    scenario::canonical(scenario)
}

/// The JSON schema of scenario files, with a final newline.
pub(super) fn scenario_schema() -> String {
    format!("{:#}\n", scenario::json_schema())
}

/// What the closed forms say of the scenario.
pub(super) fn bounds(scenario: &Scenario) -> Vec<Bound> {
    analysis::bounds(scenario)
}

/// Runs all replicates. `None` if interrupted. `progress` is called once for each replicate that has ended.
pub(super) fn run(
    scenario: &Scenario,
    jobs: usize,
    interrupt: &AtomicBool,
    progress: &(dyn Fn(u32) + Sync),
) -> Option<RunData> {
    sweep::run(scenario, jobs, interrupt, progress).ok()
}

/// Whether a second run came out like the first.
pub(super) enum Verified {
    /// It did.
    Same,
    /// It did not: what differs first.
    Differs(String),
}

/// Runs all replicates again and compares. `None` if interrupted.
pub(super) fn verify_determinism(
    scenario: &Scenario,
    data: &RunData,
    jobs: usize,
    interrupt: &AtomicBool,
    progress: &(dyn Fn(u32) + Sync),
) -> Option<Verified> {
    let divergence = sweep::verify_determinism(scenario, data, jobs, interrupt, progress).ok()?;
    Some(divergence.map_or(Verified::Same, |divergence| {
        let first = match divergence.difference {
            Some(difference) => difference.to_string(),
            None => "all events are the same, but not what was recorded of them".to_owned(),
        };
        Verified::Differs(format!(
            "replicate {} does not come out the same twice: {first}",
            divergence.replicate
        ))
    }))
}
