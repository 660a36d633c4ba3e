//! What only the two-stage registry has in a scenario: its parameters and its warnings.

pub(crate) mod format;
pub(crate) mod lint;
pub(crate) mod parameters;
pub(crate) mod print;
