//! Every replicate once more, to see that it comes out the same.

use std::sync::atomic::{AtomicBool, Ordering};

use super::replicates::{Progress, run};
use crate::engine::{Difference, first_difference};
use crate::observe::RunData;
use crate::scenario::Scenario;
use crate::world::{self, Interrupted};

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
