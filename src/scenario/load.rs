//! The door: a file, or a text with a name, in; a scenario or everything that is wrong with it out.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::diagnostic::{Place, Problem, Problems, Severity, Sources};
use super::types::Scenario;
use super::{check, document, set, shape};

/// Bytes of a file at most. A fleet of thousands of applications stays far below.
const FILE_MAX: u64 = 8 << 20;

/// A checked scenario with what one should know before running it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The scenario.
    pub scenario: Scenario,
    /// What will surprise; no reason not to run.
    pub warnings: Vec<Problem>,
    /// The texts that the warnings point into.
    pub sources: Sources,
}

impl Loaded {
    /// The warnings as text, empty if there are none. With `colour`, ANSI escapes.
    pub fn render_warnings(&self, colour: bool) -> String {
        self.sources.render(&self.warnings, colour)
    }
}

/// Why a file gave no scenario.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// It was read, and is wrong.
    #[error(transparent)]
    Invalid(#[from] Problems),
}

/// Reads a scenario file and applies `sets`, each `KEY=VALUE`.
///
/// # Errors
/// [`LoadError::Io`] if it cannot be read (it is not there, or a directory), [`LoadError::Invalid`] with every
/// problem if it is wrong.
pub fn load(path: &Path, sets: &[String]) -> Result<Loaded, LoadError> {
    let io = |error| LoadError::Io { path: path.to_owned(), error };
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes)).map_err(io)?;
    if bytes.len() as u64 > FILE_MAX {
        let title = format!("this file is longer than {} MiB: no scenario is", FILE_MAX >> 20);
        return Err(refused(name, String::new(), Problem::error(None, title)).into());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(parse(&name, &text, sets)?),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let problem = Problem::error(Place::file(at..at + 1), "this is not UTF-8")
                .label("the first byte that is not")
                .hint("TOML files are UTF-8: save it so");
            Err(refused(name, text, problem).into())
        }
    }
}

fn refused(name: String, text: String, problem: Problem) -> Problems {
    Problems { sources: Sources { name, text, command_line: String::new() }, problems: vec![problem] }
}

/// Reads a scenario from its text and applies `sets`, each `KEY=VALUE`. `name` is what messages call it.
///
/// # Errors
/// Every problem, if there is an error among them.
pub fn parse(name: &str, text: &str, sets: &[String]) -> Result<Loaded, Problems> {
    // A byte order mark is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let sources =
        Sources { name: name.to_owned(), text: text.to_owned(), command_line: set::command_line(sets) };
    let mut root = match document::parse(text) {
        Ok(root) => root,
        Err(problems) => return Err(Problems { sources, problems }),
    };
    let mut problems = Vec::new();
    set::apply(&mut root, sets, &mut problems);
    shape::check(&root, &mut problems);
    let scenario = check::scenario(&root, &mut problems);
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(Problems { sources, problems });
    }
    Ok(Loaded { scenario, warnings: problems, sources })
}
