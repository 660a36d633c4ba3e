//! What is wrong, or will surprise, with many configurations at once.
//!
//! A thousand configurations with one wrong value have one problem, not a thousand. All of them point into the same
//! text of the command line and the same file, so two problems are the same if they are equal. Warnings often carry
//! figures that differ from one configuration to the next; they are the same if they are equal but for their digits,
//! and say which configurations they are about.

use std::collections::BTreeMap;

use super::request::ScenarioText;
use crate::scenario::{Problem, Problems, Severity, Source, Sources};

/// Configurations that a warning lists; of more it says how many.
const LISTED: usize = 8;

/// Everything that is wrong with a plan, each problem once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanProblems(Vec<(Sources, Vec<Problem>)>);

/// What will surprise in a plan, each warning once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanWarnings(Vec<(Sources, Vec<Problem>)>);

impl PlanProblems {
    /// All of them as text. With `colour`, ANSI escapes.
    pub fn render(&self, colour: bool) -> String {
        render(&self.0, colour)
    }
}

impl PlanWarnings {
    /// All of them as text; empty if there are none. With `colour`, ANSI escapes.
    pub fn render(&self, colour: bool) -> String {
        render(&self.0, colour)
    }
}

fn render(problems: &[(Sources, Vec<Problem>)], colour: bool) -> String {
    let texts = problems.iter().filter(|(_, problems)| !problems.is_empty());
    texts.map(|(sources, problems)| sources.render(problems, colour)).collect::<Vec<_>>().join("\n\n")
}

/// Problems and warnings as they come in, one configuration after the other.
pub(super) struct Findings {
    sources: Vec<Sources>,
    /// By text; each with what tells it from others.
    errors: Vec<BTreeMap<String, Problem>>,
    /// By text; each with the configurations that it is about.
    warnings: Vec<BTreeMap<String, (Problem, Vec<usize>)>>,
    several_texts: bool,
}

impl Findings {
    pub(super) fn new(texts: &[ScenarioText], command_line: String) -> Self {
        let sources = texts.iter().map(|text| Sources {
            name: text.path.clone(),
            text: text.text.strip_prefix('\u{feff}').unwrap_or(&text.text).to_owned(),
            command_line: command_line.clone(),
        });
        Self {
            sources: sources.collect(),
            errors: vec![BTreeMap::new(); texts.len()],
            warnings: vec![BTreeMap::new(); texts.len()],
            several_texts: texts.len() > 1,
        }
    }

    /// Problems of the command line itself.
    pub(super) fn command_line_is_wrong(&mut self, problems: impl IntoIterator<Item = Problem>) {
        for problem in problems {
            self.errors[0].insert(format!("{problem:?}"), problem);
        }
    }

    /// What keeps a configuration of this text from running.
    pub(super) fn wrong(&mut self, text: usize, problems: Problems) {
        for problem in problems.problems.into_iter().filter(|problem| problem.severity == Severity::Error) {
            let key = format!("{problem:?}");
            // What is wrong with `--set` for one scenario is mostly wrong with it for all.
            let on_command_line =
                problem.place.as_ref().is_some_and(|place| place.source == Source::CommandLine);
            let told = on_command_line && self.errors[..text].iter().any(|errors| errors.contains_key(&key));
            if !told {
                self.errors[text].insert(key, problem);
            }
        }
    }

    /// What will surprise in the configuration at this place, which is one of this text.
    pub(super) fn warned(&mut self, text: usize, configuration: usize, warnings: Vec<Problem>) {
        for warning in warnings {
            let about = self.warnings[text].entry(without_digits(&warning)).or_insert((warning, Vec::new()));
            if about.1.last() != Some(&configuration) {
                about.1.push(configuration);
            }
        }
    }

    /// Warns of configurations that are the same.
    pub(super) fn alike(&mut self, keys: &[[u8; 32]]) {
        if self.errors.iter().any(|errors| !errors.is_empty()) {
            return;
        }
        let mut first: BTreeMap<&[u8; 32], usize> = BTreeMap::new();
        let mut again = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            if let Some(&earlier) = first.get(key) {
                again.push((earlier, index));
            } else {
                first.insert(key, index);
            }
        }
        let Some(&(earlier, later)) = again.first() else { return };
        let others = match again.len() {
            1 => String::new(),
            2 => ", and so is another".to_owned(),
            more => format!(", and so are {} others", more - 1),
        };
        let title = format!(
            "configurations {} and {} are the same scenario{others}: their results will be equal",
            earlier + 1,
            later + 1
        );
        let warning =
            Problem::warning(None, title).hint("an axis has no effect here, or two values mean the same");
        self.warnings[0].insert(String::new(), (warning, Vec::new()));
    }

    /// All problems; or if there are none, the warnings about a plan of this size.
    pub(super) fn finish(self, size: usize) -> Result<PlanWarnings, PlanProblems> {
        if self.errors.iter().any(|errors| !errors.is_empty()) {
            let told = self.errors.into_iter().map(|errors| errors.into_values().collect());
            return Err(PlanProblems(self.sources.into_iter().zip(told).collect()));
        }
        let several_texts = self.several_texts;
        let told = self.warnings.into_iter().map(|warnings| {
            let named = |(warning, about): (Problem, Vec<usize>)| {
                if several_texts { warning } else { naming(warning, &about, size) }
            };
            warnings.into_values().map(named).collect()
        });
        Ok(PlanWarnings(self.sources.into_iter().zip(told).collect()))
    }
}

/// The warning, saying which configurations it is about unless it is about all.
fn naming(mut warning: Problem, about: &[usize], size: usize) -> Problem {
    if about.is_empty() || about.len() == size {
        return warning;
    }
    let numbers = about.iter().take(LISTED).map(|index| (index + 1).to_string()).collect::<Vec<_>>();
    let which = match (about.len(), numbers.join(", ")) {
        (1, only) => format!("configuration {only} of {size}"),
        (count, list) if count <= LISTED => format!("configurations {list} of {size}"),
        (count, list) => format!("configurations {list} and {} more of {size}", count - LISTED),
    };
    warning.title = format!("{} ({which})", warning.title);
    warning
}

fn without_digits(problem: &Problem) -> String {
    let text = format!("{:?} {}", problem.place, problem.title);
    let mut key = String::new();
    let place_ends = text.len() - problem.title.len();
    let mut in_number = false;
    for (index, letter) in text.char_indices() {
        let digit = index >= place_ends && letter.is_ascii_digit();
        if !digit {
            key.push(letter);
        } else if !in_number {
            key.push('#');
        }
        in_number = digit;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Place;

    fn findings() -> Findings {
        let text = ScenarioText { path: "a.toml".into(), name: "a".into(), text: "seed = 1\n".into() };
        Findings::new(&[text], "--axis x=1,2,3".into())
    }

    fn warning(title: &str) -> Problem {
        Problem::warning(Place::new(Source::CommandLine, 9..10), title)
    }

    #[test]
    fn a_warning_says_which_configurations_it_is_about() {
        let mut some = findings();
        some.warned(0, 0, vec![warning("threshold 12")]);
        some.warned(0, 2, vec![warning("threshold 7")]);
        let text = some.finish(3).expect("no error").render(false);
        assert!(text.starts_with("warning: threshold 12 (configurations 1, 3 of 3)\n"), "{text}");
        assert_eq!(text.matches("warning").count(), 1);

        let mut all = findings();
        (0..3).for_each(|index| all.warned(0, index, vec![warning("odd")]));
        assert!(all.finish(3).expect("no error").render(false).starts_with("warning: odd\n"));
    }

    #[test]
    fn warnings_about_other_places_are_others() {
        let mut other = findings();
        let elsewhere = Problem::warning(Place::new(Source::CommandLine, 11..12), "threshold 12");
        other.warned(0, 0, vec![warning("threshold 12"), elsewhere]);
        assert_eq!(other.finish(2).expect("no error").render(false).matches("warning").count(), 2);
    }

    #[test]
    fn the_same_scenario_twice_is_warned_of() {
        let mut same = findings();
        same.alike(&[[1; 32], [2; 32], [1; 32], [1; 32]]);
        let text = same.finish(4).expect("no error").render(false);
        assert!(text.contains("configurations 1 and 3 are the same scenario, and so is another"), "{text}");
    }
}
