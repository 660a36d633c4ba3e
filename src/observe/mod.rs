//! Observers over facts: what was detected when, which removals were mistakes, the server's minutes and load.
//! The world hands every fact to a [`Recorder`]; what it kept becomes the rows of [`RunData`], of which all
//! tables, files and charts are made.

mod calls;
mod data;
mod detection;
mod mistake;
mod recorder;

pub use calls::{CallCounts, CallTally};
pub use data::{
    Agreement, CallMinute, Detection, Ending, Fate, Injected, LeaseCounts, LoadMinute, Minute, Mistake,
    Outcome, Quality, ReplicateData, RunData,
};
pub use recorder::{Recorded, Recorder};
