//! Warnings about the two-stage registry's settings.

use super::diagnostic::Problem;
use super::lint::Whence;
use super::types::Scenario;

/// All of them.
pub(super) fn lint(_scenario: &Scenario, _whence: &Whence<'_>, _warnings: &mut Vec<Problem>) {}
