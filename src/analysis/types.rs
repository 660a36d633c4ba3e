//! What a closed form says.

use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};

/// The range and mean of T_D by closed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundRange {
    /// The earliest.
    pub min: SimDuration,
    /// The mean over uniform phases.
    pub mean: SimDuration,
    /// The latest.
    pub max: SimDuration,
}

/// Why no closed form is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absence {
    /// One clause, without a full stop: `self-preservation is engaged: 32 renewals against a threshold of 35`.
    pub because: String,
}

/// The closed form of one event at one stage, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What is detected.
    pub event: EventKind,
    /// Where.
    pub stage: Stage,
    /// The range.
    pub range: Result<BoundRange, Absence>,
}
