//! The walk over a file: no unknown key, every value of its type and in its range.
//!
//! What it cannot see, that two settings fit together or that a target exists, is left to the readers.

use super::Section;
use super::form::{Below, Reading};
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::{Entry, Table, Value};

/// Problems after which the walk ends: the file is of another kind.
const PROBLEMS_MAX: usize = 500;

/// What to say of a key that a section does not have.
type Unknown = fn(&Entry, &'static Section) -> Problem;

/// Checks the whole file, of which `top` is the outermost section.
pub(crate) fn check(root: &Table, top: &'static Section, unknown: Unknown, problems: &mut Vec<Problem>) {
    Walk { unknown, problems }.table(root, top);
}

struct Walk<'p> {
    unknown: Unknown,
    problems: &'p mut Vec<Problem>,
}

impl Walk<'_> {
    fn table(&mut self, table: &Table, section: &'static Section) {
        for entry in &table.entries {
            if self.problems.len() >= PROBLEMS_MAX {
                return;
            }
            let Some(key) = section.key(&entry.key) else {
                self.problems.push((self.unknown)(entry, section));
                continue;
            };
            match (key.form.below(), &entry.node.value) {
                (Below::Table(section), Value::Table(table)) => self.table(table, section),
                (Below::Tables(section), Value::List(nodes)) => {
                    for node in nodes {
                        match &node.value {
                            Value::Table(table) => self.table(table, section),
                            other => self.problems.push(
                                Problem::error(
                                    node.place.clone(),
                                    format!("each `{}` is a table", entry.key),
                                )
                                .label(format!("this is {}", other.kind())),
                            ),
                        }
                    }
                }
                _ => key.form.check(entry, &mut Reading::walk(self.problems)),
            }
        }
    }
}
