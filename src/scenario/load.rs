//! The door: a file, or a text with a name, in; a scenario or everything that is wrong with it out.

use crate::scenario::file::format::TOP;
use crate::scenario::file::{self, unknown};
use crate::scenario::format::walk;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::scenario::diagnostics::{Place, Problem, Problems, Severity, Sources};
use crate::scenario::document;
use crate::scenario::document::assignment::Assignment;
use crate::scenario::document::set;
use crate::scenario::types::Scenario;

/// Bytes of a file at most. A fleet of thousands of applications stays far below.
const FILE_MAX: u64 = 4 << 20;

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
    let text = read(path)?;
    Ok(parse(&path.display().to_string(), &text, sets)?)
}

/// Reads a scenario file without looking into it.
///
/// # Errors
/// [`LoadError::Io`] if it cannot be read (it is not there, or a directory), [`LoadError::Invalid`] if it is too long
/// or not UTF-8.
pub fn read(path: &Path) -> Result<String, LoadError> {
    let io = |error| LoadError::Io { path: path.to_owned(), error };
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes)).map_err(io)?;
    if bytes.len() as u64 > FILE_MAX {
        let title = format!("this file is longer than {} MiB: no scenario is", FILE_MAX >> 20);
        return Err(refused(name, String::new(), Problem::error(None, title)).into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let problem = Problem::error(Place::file(at..at + 1), "this is not UTF-8")
            .label("the first byte that is not")
            .hint("TOML files are UTF-8: save it so");
        refused(name, text, problem).into()
    })
}

fn refused(name: String, text: String, problem: Problem) -> Problems {
    Problems { sources: Sources { name, text, command_line: String::new() }, problems: vec![problem] }
}

/// Reads a scenario from its text and applies `sets`, each `KEY=VALUE`. `name` is what messages call it.
///
/// # Errors
/// Every problem, if there is an error among them.
pub fn parse(name: &str, text: &str, sets: &[String]) -> Result<Loaded, Problems> {
    let sets: Vec<Assignment> = sets.iter().map(|set| Assignment::set(set)).collect();
    parse_assigned(name, text, &sets)
}

/// Reads a scenario from its text and applies `sets` in their order; a later one wins. `name` is what messages call
/// the text.
///
/// # Errors
/// Every problem, if there is an error among them.
pub fn parse_assigned(name: &str, text: &str, sets: &[Assignment]) -> Result<Loaded, Problems> {
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
    walk::check(&root, &TOP, unknown::key, &mut problems);
    let scenario = file::read::scenario(&root, &mut problems);
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(Problems { sources, problems });
    }
    problems.extend(file::lint::lint(&scenario, &root));
    Ok(Loaded { scenario, warnings: problems, sources })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::super::{BUILTIN, builtin, canonical};
    use super::*;

    const FILE: &str = "title = \"t\"\n[[application]]\nname = \"orders\"\ninstances = 3\n";

    /// Everything that a text can go through; what matters is that it ends.
    fn swallow(text: &str, sets: &[String]) {
        match parse("any.toml", text, sets) {
            Ok(loaded) => {
                let _ = loaded.render_warnings(true);
                let printed = canonical(&loaded.scenario);
                let again = parse("again.toml", &printed, &[]);
                assert_eq!(again.map(|again| again.scenario), Ok(loaded.scenario), "{printed}");
            }
            Err(problems) => assert!(!problems.render(false).is_empty() && !problems.render(true).is_empty()),
        }
    }

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(bytes).expect("it can be written");
        file
    }

    #[test]
    fn what_is_no_readable_file_is_an_io_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let missing = folder.path().join("missing.toml");
        for path in [folder.path(), missing.as_path()] {
            let error = load(path, &[]).expect_err("there is nothing to read");
            assert!(matches!(error, LoadError::Io { .. }));
            assert!(error.to_string().starts_with("cannot read "), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_not_utf_8_is_pointed_at() {
        let file = file(b"title = \"caf\xe9\"\n");
        let error = load(file.path(), &[]).expect_err("it is Latin-1");
        let text = error.to_string();
        assert!(text.contains("this is not UTF-8") && text.contains(":1:13"), "{text}");
    }

    #[test]
    fn a_file_without_end_is_refused() {
        let file = file(&vec![b'#'; FILE_MAX as usize + 1]);
        assert!(matches!(load(file.path(), &[]), Err(LoadError::Invalid(_))));
    }

    #[test]
    fn line_ends_and_byte_order_marks_do_not_matter() {
        let plain = parse("a.toml", FILE, &[]).expect("it is valid").scenario;
        let windows = format!("\u{feff}{}", FILE.replace('\n', "\r\n"));
        assert_eq!(parse("a.toml", &windows, &[]).expect("it is valid").scenario, plain);
        let problems = parse("a.toml", &format!("{windows}x = 1\r\n"), &[]).expect_err("unknown key");
        assert!(problems.render(false).contains("a.toml:5:1"), "{problems}");
    }

    #[test]
    fn strange_values_are_refused_everywhere() {
        let values = [
            "nan",
            "-inf",
            "inf",
            "1e400",
            "-1",
            "99999999999999999999999999999999999999999999",
            "1979-05-27",
            "07:32:00",
            "true",
            "\"\"",
            "\"\\u0000\"",
            "[]",
            "[[]]",
            "{}",
            "{ a = { b = 1 } }",
            "''''''",
            "0x_",
        ];
        let keys = [
            "seed",
            "duration",
            "start",
            "eureka",
            "eureka.server.disable-delta",
            "application",
            "fault",
            "expect",
            "eureka.server.renewal-percent-threshold",
            "network.latency",
            "application.orders.instances",
            "balancer.calls-per-second",
            "transport.read-timeout",
            "release",
            "fault.1.at",
            "title",
            "traffic.calls-per-second",
            "traffic.to",
            "network.loss",
            "server.clock.offset",
            "server.clock.drift-ppm",
            "application.orders.zones",
            "application.orders.traffic",
        ];
        for key in keys {
            for value in values {
                swallow(FILE, &[format!("{key}={value}")]);
            }
        }
    }

    /// Every key of every verb, below a fault that has that verb with a target.
    #[test]
    fn strange_values_of_a_verb_are_refused() {
        let values =
            ["nan", "-1", "true", "\"\"", "\"-5s\"", "[]", "[[]]", "{}", "{ uniform = [\"1s\"] }", "1e300"];
        for verb in &crate::scenario::fault::verbs::VERBS {
            for key in (verb.section.keys)() {
                for value in values {
                    let name = verb.key.name;
                    swallow(&format!("{FILE}[[fault]]\n{name} = {{ {} = {value} }}\n", key.name), &[]);
                    let text = format!("{FILE}[[fault]]\n{name} = {{ all = true }}\n");
                    swallow(&text, &[format!("fault.1.{name}.{}={value}", key.name)]);
                }
            }
        }
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let text =
            "sed = 1\nduration = 5\n[start]\nwindow = \"x\"\n[[application]]\ninstances = -1\n[[fault]]\n";
        let problems = parse("a.toml", text, &["nonsense".into()]).expect_err("it is wrong").problems;
        // The argument, the key, two durations, the name, the count and the verb.
        assert_eq!(problems.len(), 7, "{problems:#?}");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let file = file(&bytes);
            if let Err(error) = load(file.path(), &[]) {
                prop_assert!(!error.to_string().is_empty());
            }
        }

        #[test]
        fn no_text_panics(text in "(?s).{0,200}", set in "(?s).{0,40}") {
            swallow(&text, &[set]);
        }

        #[test]
        fn no_damaged_file_panics(
            which in 0..BUILTIN.len() - 1,
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), ".{0,3}"), 1..4),
        ) {
            let mut text: Vec<char> = builtin(BUILTIN[which].0).expect("it is there").chars().collect();
            for (from, to, patch) in damage {
                let (from, to) = (from.index(text.len()), to.index(text.len()));
                // Cut or overwrite a short stretch.
                let end = (from + to % 12).min(text.len());
                text.splice(from..end, patch.chars());
            }
            swallow(&text.into_iter().collect::<String>(), &[]);
        }

        #[test]
        fn no_line_too_many_or_too_few_panics(
            which in 0..BUILTIN.len() - 1,
            (drop, double) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        ) {
            let mut lines: Vec<&str> = builtin(BUILTIN[which].0).expect("it is there").lines().collect();
            lines.remove(drop.index(lines.len()));
            lines.insert(double.index(lines.len()), lines[double.index(lines.len())]);
            swallow(&lines.join("\n"), &[]);
        }
    }
}
