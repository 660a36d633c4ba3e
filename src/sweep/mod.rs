//! Many replicates of a scenario, and many configurations of it: run in parallel, each replicate on one thread, with
//! results in the order of the plan whatever the number of threads; and what they must show together.
//!
//! ```text
//!   run:    Scenario ──▶ replicates ──▶ RunData ──▶ verdict
//!
//!   sweep:  Request ──▶ Plan ──▶ configurations ──▶ Journal ──▶ (report)
//!           as typed    checked   replicate by       on the disk,
//!                                 replicate          configuration by configuration
//! ```

mod axis;
mod configurations;
mod journal;
mod journal_lock;
mod journal_plan;
mod plan;
mod problems;
mod record;
mod replicates;
mod request;
pub mod sample;
pub mod verdict;

pub use configurations::{Stopped, run_all};
pub use journal::{Journal, JournalError};
pub use plan::{Dimension, Plan, PlanError, SCENARIO};
pub use problems::{PlanProblems, PlanWarnings};
pub use record::{QualityRecord, ReplicateRecord, StageRecord};
pub use replicates::{Divergence, Progress, on_threads, run, verify_determinism};
pub use request::{Request, ScenarioText};
pub use sample::Sample;
pub use verdict::{Verdict, judge};
