//! All replicates of one scenario.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::engine::{Difference, first_difference};
use crate::observe::RunData;
use crate::scenario::Scenario;
use crate::world::{self, Interrupted};

/// Told the number of a replicate that has ended; called from any thread.
pub type Progress<'a> = &'a (dyn Fn(u32) + Sync);

/// Runs all replicates on `jobs` threads, or on as many as the operating system gives. The result does not depend
/// on `jobs`.
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
    let replicates = on_threads(jobs, || {
        (0..scenario.replicates)
            .into_par_iter()
            .map(|number| {
                let data = world::run(scenario, number, interrupt)?;
                progress(number);
                Ok(data)
            })
            .collect::<Result<Vec<_>, Interrupted>>()
    })?;
    Ok(RunData { replicates })
}

/// Does the work on so many threads. Where the operating system refuses to start them (a container's limit), on
/// half of them, and in the end on this one alone.
pub fn on_threads<R: Send>(jobs: usize, work: impl FnOnce() -> R + Send) -> R {
    let halves = std::iter::successors(Some(jobs.max(1)), |&jobs| (jobs > 1).then_some(jobs / 2));
    let mut pools = halves.map(|jobs| ThreadPoolBuilder::new().num_threads(jobs).build());
    if let Some(pool) = pools.find_map(Result::ok) {
        return pool.install(work);
    }
    match ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        Ok(pool) => pool.install(work),
        // It has become a pool of its own the last time.
        Err(_) => work(),
    }
}

/// A replicate that does not come out the same twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The replicate.
    pub replicate: u32,
    /// The first event that differs; `None` if the events are the same and only what was recorded differs.
    pub difference: Option<Difference>,
}

/// Runs every replicate again and compares it with `data`; where one differs, finds the first event that does.
///
/// # Errors
///
/// [`Interrupted`] once `interrupt` is set.
pub fn verify_determinism(
    scenario: &Scenario,
    data: &RunData,
    jobs: usize,
    interrupt: &AtomicBool,
    progress: Progress<'_>,
) -> Result<Option<Divergence>, Interrupted> {
    let again = run(scenario, jobs, interrupt, progress)?;
    let mut pairs = data.replicates.iter().zip(&again.replicates);
    let Some((first, _)) = pairs.find(|(first, second)| first != second) else { return Ok(None) };
    let replicate = first.replicate;
    let difference = first_difference(|watch| {
        // An interrupted run just ends early; the next look at the flag says so.
        let _ = world::trace(scenario, replicate, interrupt, watch);
    });
    if interrupt.load(Ordering::Relaxed) {
        Err(Interrupted)
    } else {
        Ok(Some(Divergence { replicate, difference }))
    }
}
