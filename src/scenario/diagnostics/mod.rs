//! What is wrong with a scenario, and where: told in the look of rustc, all of it at once.
//!
//! A [`Problem`] names the thing, points at it and says what to do. It carries places, not text: the text of
//! the file and of the command line is kept once, in [`Sources`], and is only looked at when something is
//! rendered. Nothing here prints.

pub(crate) mod suggest;

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};

/// Problems shown by one rendering at most. A file of another kind, say a log, has thousands.
const SHOWN_MAX: usize = 40;

/// Which text a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The scenario file.
    File,
    /// The `--set` arguments.
    CommandLine,
}

/// A range of bytes in one of the two texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Which text.
    pub source: Source,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Place {
    /// These bytes of that text.
    pub fn new(source: Source, span: Range<usize>) -> Self {
        Self { source, start: span.start, end: span.end.max(span.start) }
    }

    pub(crate) fn file(span: Range<usize>) -> Self {
        Self::new(Source::File, span)
    }
}

/// Whether a scenario can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It cannot.
    Error,
    /// It can, but it will surprise.
    Warning,
}

/// One thing that is wrong, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Whether the scenario can run.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub title: String,
    /// Where; `None` for what is missing.
    pub place: Option<Place>,
    /// What stands beside the caret. May be empty.
    pub label: String,
    /// Other places that belong to it, each with its label.
    pub related: Vec<(Place, String)>,
    /// What to do.
    pub hint: Option<String>,
}

impl Problem {
    /// An error, without a label or a hint.
    pub fn error(place: impl Into<Option<Place>>, title: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            title: title.into(),
            place: place.into(),
            label: String::new(),
            related: Vec::new(),
            hint: None,
        }
    }

    /// A warning, without a label or a hint.
    pub fn warning(place: impl Into<Option<Place>>, title: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(place, title) }
    }

    /// With this beside the caret.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With this to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The hint, if there is one to give.
    pub(crate) fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// For results, which should be small.
    pub(crate) fn boxed(self) -> Box<Self> {
        Box::new(self)
    }

    pub(crate) fn related(mut self, place: Option<Place>, label: impl Into<String>) -> Self {
        self.related.extend(place.map(|place| (place, label.into())));
        self
    }
}

/// The texts that places point into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The name of the scenario file, as it was given.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The `--set` arguments, one a line.
    pub command_line: String,
}

impl Sources {
    fn text(&self, source: Source) -> &str {
        match source {
            Source::File => &self.text,
            Source::CommandLine => &self.command_line,
        }
    }

    fn name(&self, source: Source) -> &str {
        match source {
            Source::File => &self.name,
            Source::CommandLine => "command line",
        }
    }

    /// The problems as text, sorted by place, those without a place last. With `colour`, ANSI escapes.
    pub fn render(&self, problems: &[Problem], colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let mut sorted: Vec<&Problem> = problems.iter().collect();
        sorted.sort_by_key(|problem| (problem.place.is_none(), problem.place.clone()));
        let mut text = String::new();
        for problem in sorted.iter().take(SHOWN_MAX) {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&self.render_one(problem, &renderer));
        }
        if sorted.len() > SHOWN_MAX {
            text.push_str(&format!("\n\n… and {} more problems", sorted.len() - SHOWN_MAX));
        }
        text
    }

    fn render_one(&self, problem: &Problem, renderer: &Renderer) -> String {
        let level = match problem.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = level.primary_title(one_line(&problem.title)).elements(Vec::<Element<'_>>::new());
        match &problem.place {
            Some(place) => {
                group = group.element(self.snippet(problem, place));
                for (other, label) in problem.related.iter().filter(|(other, _)| other.source != place.source)
                {
                    group =
                        group.element(self.bare_snippet(other.source).annotation(
                            AnnotationKind::Context.span(self.clip(other)).label(one_line(label)),
                        ));
                }
            }
            None => group = group.element(Origin::path(self.name.as_str())),
        }
        if let Some(hint) = &problem.hint {
            group = group.element(Level::HELP.message(without_controls(hint)));
        }
        renderer.render(&[group])
    }

    fn snippet<'a>(
        &'a self,
        problem: &Problem,
        place: &Place,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let mut primary = AnnotationKind::Primary.span(self.clip(place));
        if !problem.label.is_empty() {
            primary = primary.label(one_line(&problem.label));
        }
        let mut snippet = self.bare_snippet(place.source).annotation(primary);
        for (other, label) in problem.related.iter().filter(|(other, _)| other.source == place.source) {
            snippet =
                snippet.annotation(AnnotationKind::Context.span(self.clip(other)).label(one_line(label)));
        }
        snippet
    }

    fn bare_snippet(&self, source: Source) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
        Snippet::source(self.text(source)).path(self.name(source))
    }

    /// The place's range, moved to character boundaries inside the text.
    fn clip(&self, place: &Place) -> Range<usize> {
        let text = self.text(place.source);
        let boundary = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        boundary(place.start)..boundary(place.end)
    }
}

/// Text of the user's within a message: on one line and without control characters.
fn one_line(text: &str) -> String {
    without_controls(text).replace('\n', " ")
}

/// The same with line ends kept.
fn without_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

/// Why a scenario cannot run: every problem, warnings included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The texts that the problems point into.
    pub sources: Sources,
    /// At least one error.
    pub problems: Vec<Problem>,
}

impl Problems {
    /// All of them as text, sorted by place. With `colour`, ANSI escapes.
    pub fn render(&self, colour: bool) -> String {
        self.sources.render(&self.problems, colour)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Sources {
        Sources {
            name: "a.toml".into(),
            text: "one = 1\r\ntwo = 2\r\n".into(),
            command_line: "--set x=1".into(),
        }
    }

    #[test]
    fn a_problem_shows_its_line_its_caret_and_its_hint() {
        let problem =
            Problem::error(Place::file(9..12), "unknown key `two`").label("not known").hint("leave it out");
        assert_eq!(
            sources().render(&[problem], false),
            "error: unknown key `two`\n --> a.toml:2:1\n  |\n2 | two = 2\n  | ^^^ not known\n  |\n  = help: leave it out"
        );
    }

    #[test]
    fn problems_come_in_the_order_of_the_file() {
        let late = Problem::error(Place::file(9..12), "late");
        let early = Problem::error(Place::file(0..3), "early");
        let nowhere = Problem::warning(None, "nowhere");
        let text = sources().render(&[nowhere, late, early], false);
        let at = |word: &str| text.find(word).expect("it is shown");
        assert!(at("early") < at("late") && at("late") < at("nowhere"), "{text}");
    }

    #[test]
    fn places_beyond_the_text_or_inside_a_character_do_no_harm() {
        let sources = Sources { text: "ü = 1".into(), ..sources() };
        for place in [Place::file(1..1), Place::file(0..900), Place::file(900..901)] {
            assert!(sources.render(&[Problem::error(place, "x")], true).contains("x"));
        }
    }

    #[test]
    fn thousands_of_problems_are_cut_short() {
        let many = vec![Problem::error(Place::file(0..1), "x"); 1_000];
        assert!(sources().render(&many, false).ends_with("… and 960 more problems"));
    }
}
