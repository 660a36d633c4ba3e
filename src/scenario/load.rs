//! The door: a text with a name in; a scenario or everything that is wrong with it out.

use crate::scenario::diagnostics::{Problem, Problems, Severity, Sources};
use crate::scenario::document;
use crate::scenario::document::assignment::Assignment;
use crate::scenario::document::set;
use crate::scenario::file::format::TOP;
use crate::scenario::file::{self, unknown_keys};
use crate::scenario::format::walk;
use crate::scenario::types::Scenario;

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
    walk::check(&root, &TOP, unknown_keys::key, &mut problems);
    let scenario = file::read::scenario(&root, &mut problems);
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(Problems { sources, problems });
    }
    problems.extend(file::lint::lint(&scenario, &root));
    Ok(Loaded { scenario, warnings: problems, sources })
}

#[cfg(test)]
mod tests {
    use super::super::{BUILTIN, builtin, canonical};
    use super::*;
    use proptest::prelude::*;

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
