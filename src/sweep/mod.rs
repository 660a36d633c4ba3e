//! Many replicates of a scenario: run in parallel, each on one thread, in the order of their numbers whatever
//! the number of threads; and what they must show together.

mod axis;
mod configurations;
mod journal;
mod plan;
mod problems;
mod record;
mod replicates;
pub mod sample;
pub mod verdict;

pub use configurations::{Stopped, run_all};
pub use journal::{Journal, JournalError};
pub use plan::{Dimension, Plan, PlanError, Request, SCENARIO, ScenarioText};
pub use problems::{PlanProblems, PlanWarnings};
pub use record::{QualityRecord, ReplicateRecord, StageRecord};
pub use replicates::{Divergence, Progress, on_threads, run, verify_determinism};
pub use sample::Sample;
pub use verdict::{Verdict, judge};
