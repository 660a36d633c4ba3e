//! Warnings about faults that make the two-stage registry take the living for silent.

use super::diagnostic::Problem;
use super::document::Table;
use super::types::{Fault, Scenario};

/// All warnings about one fault.
pub(super) fn lint(_scenario: &Scenario, _fault: &Fault, _table: &Table) -> Vec<Problem> {
    Vec::new()
}
