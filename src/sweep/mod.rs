//! Many replicates of a scenario: run in parallel, each on one thread, in the order of their numbers whatever
//! the number of threads; and what they must show together.

mod replicates;
pub mod sample;
pub mod verdict;

pub use replicates::{Divergence, Progress, on_threads, run, verify_determinism};
pub use sample::Sample;
pub use verdict::{Verdict, judge};
