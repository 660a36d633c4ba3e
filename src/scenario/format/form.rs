//! What may stand behind a key: a *form* reads it, prints it, and describes itself.
//!
//! A form is a small constant, such as `Count { min: 1, max: 100, unit: "threads" }`, and knows everything about the values
//! that it takes: their type in Rust ([`Form::Value`]), every message about what is no such value, their canonical text, the
//! words of a default, the JSON schema, and the cell of the guide's table. Nothing else in the room knows a value's type.
//!
//! A value is looked at twice, by the same function. The *walk* over the whole file keeps what a form refuses, so that all
//! problems are told at once; the *readers* of the sections come after it and keep the values. What is told is told once:
//! a reader hears no refusals, and the walk resolves no names ([`Reading`]).

use serde_json::Value as Json;

use super::Section;
use crate::model::id::{AppId, ServerId};
use crate::scenario::diagnostics::{Place, Problem};
use crate::scenario::document::{Entry, Node};
use crate::scenario::types::{Names, ZoneId};

/// What may stand behind a key.
pub(crate) trait Form: Sync + 'static {
    /// What is read.
    type Value;

    /// Reads what stands behind a key; `None` if it is no such value, which has been refused.
    fn read(&self, entry: &Entry, reading: &mut Reading<'_>) -> Option<Self::Value>;

    /// The canonical text of a value.
    fn print(&self, value: &Self::Value, names: Names<'_>) -> String;

    /// Whether a value is written at all.
    fn is_written(&self, _: &Self::Value) -> bool {
        true
    }

    /// A value as the guide tells a default.
    fn in_words(&self, value: &Self::Value) -> String {
        self.print(value, Names::NONE).trim_matches('"').to_owned()
    }

    /// What it takes, as the guide tells it.
    #[allow(dead_code, reason = "the guide is written by a person, and held to this by a test")]
    fn describe(&self) -> String;

    /// The JSON schema of what it takes.
    fn schema(&self) -> Json;

    /// The tables that stand here.
    fn below(&self) -> Below {
        Below::Nothing
    }
}

/// The tables that stand behind a key.
#[derive(Clone, Copy)]
pub(crate) enum Below {
    /// None.
    Nothing,
    /// One of this section.
    Table(&'static Section),
    /// A list of them.
    Tables(&'static Section),
}

/// A form, whatever its values are: for those who only walk, list and describe.
pub(crate) trait AnyForm: Sync {
    /// [`Form::read`] for its problems.
    fn check(&self, entry: &Entry, reading: &mut Reading<'_>);
    /// [`Form::describe`]
    #[allow(dead_code, reason = "as there")]
    fn describe(&self) -> String;
    /// [`Form::schema`]
    fn schema(&self) -> Json;
    /// [`Form::below`]
    fn below(&self) -> Below;
}

impl<F: Form> AnyForm for F {
    fn check(&self, entry: &Entry, reading: &mut Reading<'_>) {
        self.read(entry, reading);
    }

    fn describe(&self) -> String {
        Form::describe(self)
    }

    fn schema(&self) -> Json {
        Form::schema(self)
    }

    fn below(&self) -> Below {
        Form::below(self)
    }
}

/// What names of a file stand for.
pub(crate) trait Resolve {
    /// The application of a name, or a problem that lists those there are.
    fn application(&self, name: &str, place: &Place) -> Result<AppId, Box<Problem>>;
    #[allow(dead_code, reason = "for the verbs")]
    /// The zone of a name, or a problem that lists those there are.
    fn zone(&self, name: &str, node: &Node) -> Result<ZoneId, Box<Problem>>;
    #[allow(dead_code, reason = "for the verbs")]
    /// The server of a name, or a problem that says which there are.
    fn server(&self, name: &str, place: &Place) -> Result<ServerId, Box<Problem>>;
}

/// Which of the two passes reads, and what it may tell.
pub(crate) struct Reading<'a> {
    pass: Pass<'a>,
    problems: &'a mut Vec<Problem>,
}

enum Pass<'a> {
    Walk,
    Values(Option<&'a dyn Resolve>),
}

impl<'a> Reading<'a> {
    /// The walk: what forms refuse is told.
    pub(crate) fn walk(problems: &'a mut Vec<Problem>) -> Self {
        Self { pass: Pass::Walk, problems }
    }

    /// Values that name nobody.
    pub(crate) fn values(problems: &'a mut Vec<Problem>) -> Self {
        Self { pass: Pass::Values(None), problems }
    }

    /// Values with names: those that stand for nobody are told.
    pub(crate) fn names(names: &'a dyn Resolve, problems: &'a mut Vec<Problem>) -> Self {
        Self { pass: Pass::Values(Some(names)), problems }
    }

    /// What stands here is no value: told by the walk alone. `None`, for whoever has nothing to return.
    pub(crate) fn refuse<T>(&mut self, problem: Problem) -> Option<T> {
        if matches!(self.pass, Pass::Walk) {
            self.problems.push(problem);
        }
        None
    }

    /// What a name stands for; `None` in the walk, or if it is nobody's, which is told.
    pub(crate) fn resolve<T>(
        &mut self,
        find: impl FnOnce(&dyn Resolve) -> Result<T, Box<Problem>>,
    ) -> Option<T> {
        let Pass::Values(Some(names)) = self.pass else { return None };
        find(names).map_err(|problem| self.problems.push(*problem)).ok()
    }

    /// Tells what is wrong with a name that stands for somebody.
    pub(crate) fn wrong_name(&mut self, problem: Problem) {
        if matches!(self.pass, Pass::Values(Some(_))) {
            self.problems.push(problem);
        }
    }
}

/// `… must be a whole number`.
pub(crate) fn wrong_type(entry: &Entry, wanted: &str) -> Problem {
    Problem::error(entry.node.place.clone(), format!("`{}` must be {wanted}", entry.key))
        .label(format!("this is {}", entry.node.value.kind()))
}

/// `… is out of range`.
pub(crate) fn out_of_range(entry: &Entry, range: String) -> Problem {
    Problem::error(entry.node.place.clone(), format!("`{}` is out of range", entry.key)).label(range)
}
