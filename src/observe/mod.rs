//! Observers over facts: what was detected when, which removals were mistakes, the server's minutes and load.

mod data;

pub use data::{Detection, Ending, Injected, LoadMinute, Minute, Mistake, Outcome, ReplicateData, RunData};
