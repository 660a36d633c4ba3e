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
#[cfg(feature = "cli")]
mod configurations;
#[cfg(feature = "cli")]
mod journal;
#[cfg(feature = "cli")]
mod journal_lock;
#[cfg(feature = "cli")]
mod journal_plan;
mod plan;
mod problems;
mod record;
mod replicates;
mod request;
pub mod sample;
mod threads;
pub mod verdict;
#[cfg(feature = "parallel")]
mod verify;

#[cfg(feature = "cli")]
pub use configurations::{Stopped, run_all};
#[cfg(feature = "cli")]
pub use journal::{Journal, JournalError};
pub use plan::{Dimension, Plan, PlanError, SCENARIO};
pub use problems::{PlanProblems, PlanWarnings};
pub use record::{QualityRecord, ReplicateRecord, StageRecord};
pub use replicates::{Progress, run};
pub use request::{Request, ScenarioText};
pub use sample::Sample;
#[cfg(feature = "cli")]
pub(crate) use threads::on_threads;
pub use verdict::{Verdict, judge};
#[cfg(feature = "parallel")]
pub use verify::{Divergence, verify_determinism};
