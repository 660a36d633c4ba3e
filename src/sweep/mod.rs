//! Many replicates of a scenario: what they must show together, and what their observations say.

pub mod sample;
pub mod verdict;

pub use sample::Sample;
pub use verdict::Verdict;
