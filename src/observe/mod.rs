//! Observers over facts: what was detected when, which removals were mistakes, the servers' minutes and load, and how
//! far servers agree. The world hands every fact to a [`Recorder`]; what it kept becomes the rows of [`RunData`], of
//! which all tables, files and charts are made.
//!
//! Detections and mistakes are about pairs of an instance and an observer, of which there may be thousands of
//! millions. Both keep those instances side by side that every observer has treated alike (`partition`), remember
//! for each observer the stretches about which it thinks otherwise than at first (`marks`), and work out once for
//! all who make the same change of view what it turns over (`flips`). Rows say how many pairs they stand for.

mod calls;
mod data;
mod detection;
#[cfg(test)]
mod differential;
mod divergence;
mod flips;
mod layout;
mod load;
mod marks;
mod mistake;
mod observers;
#[cfg(test)]
mod oracle;
mod partition;
mod recorder;
mod replicate;
mod scopes;
mod servers;
mod sweeps;

pub(crate) use calls::{CallCounts, CallTally};
pub use data::{
    CallMinute, CallOutcome, ConsumerCounts, Detection, Divergence, Injected, LeaseCounts, LoadMinute,
    Minute, Mistake, Outcome, Quality, Removal, RoundRow, ServerEnd, SweepRow,
};
pub use recorder::{Recorded, Recorder};
pub use replicate::{Agreement, Ending, Folded, ReplicateData, RunData};
pub use scopes::ObservedServices;
