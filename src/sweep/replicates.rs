//! All replicates of one scenario.

use std::sync::atomic::AtomicBool;

use super::threads::{map_all, on_threads};
use crate::observe::RunData;
use crate::scenario::Scenario;
use crate::world::{self, Interrupted};

/// Told the number of a replicate that has ended; called from any thread.
pub type Progress<'a> = &'a (dyn Fn(u32) + Sync);

/// Runs all replicates on `jobs` threads, or on as many as the operating system gives; without the feature `parallel`
/// one after the other. The result does not depend on `jobs`.
///
/// # Errors
///
/// [`Interrupted`] once `interrupt` is set.
pub fn run(
    scenario: &Scenario,
    jobs: usize,
    interrupt: &AtomicBool,
    progress: Progress<'_>,
) -> Result<RunData, Interrupted> {
    let run_one = |number| {
        let data = world::run(scenario, number, interrupt)?;
        progress(number);
        Ok(data)
    };
    let replicates = on_threads(jobs, || map_all::<_, _, Result<_, _>>(0..scenario.replicates, run_one))?;
    Ok(RunData { replicates })
}
