//! All replicates of all configurations, on all cores.
//!
//! Threads take replicates in plan order from one counter, whichever configuration they belong to. So no thread waits
//! for a slow configuration, few configurations are under way at any time, and only these are held in memory: the
//! thread that ends the last replicate of one puts it into the journal.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use rayon::prelude::*;
use thiserror::Error;

use super::journal::Journal;
use super::on_threads;
use super::plan::Plan;
use super::record::ReplicateRecord;
use crate::engine::SimTime;
use crate::scenario::Scenario;
use crate::world;

/// Why not all configurations were run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Stopped {
    /// The user asked to.
    #[error("interrupted")]
    Interrupted,
    /// A replicate needed more events than it may have.
    #[error(
        "the event budget was used up: replicate {replicate} of configuration {} had run {budget} events after \
         {after} of virtual time", .configuration + 1
    )]
    OverBudget {
        /// The configuration's place.
        configuration: usize,
        /// The replicate.
        replicate: u32,
        /// Events that it may have.
        budget: u64,
        /// When it had used them up.
        after: SimTime,
    },
    /// A finished configuration could not be kept.
    #[error("cannot keep configuration {} in {directory}: {error}", .configuration + 1)]
    Io {
        /// The configuration's place.
        configuration: usize,
        /// The journal.
        directory: String,
        /// What the operating system says.
        error: io::Error,
    },
}

/// Runs the replicates of all configurations that the journal does not have, on so many threads. `progress` is called
/// once for each replicate that has ended, from any thread.
///
/// # Errors
/// Why it stopped. What was finished before is in the journal.
pub fn run_all(
    plan: &Plan,
    journal: &Journal,
    jobs: usize,
    interrupt: &AtomicBool,
    progress: &(dyn Fn() + Sync),
) -> Result<(), Stopped> {
    let todo: Vec<usize> = (0..plan.size()).filter(|&index| !journal.had(index)).collect();
    let shared = SharedState {
        plan,
        journal,
        todo,
        interrupt,
        progress,
        next: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        under_way: Mutex::default(),
        failure: Mutex::default(),
    };
    on_threads(jobs, || (0..jobs.max(1)).into_par_iter().with_max_len(1).for_each(|_| shared.work()));
    match shared.failure.into_inner().expect("no thread panicked") {
        Some((_, failure)) => Err(failure),
        None => Ok(()),
    }
}

/// What the threads share.
struct SharedState<'a> {
    plan: &'a Plan,
    journal: &'a Journal,
    /// The configurations to be run.
    todo: Vec<usize>,
    interrupt: &'a AtomicBool,
    progress: &'a (dyn Fn() + Sync),
    /// Replicates handed out so far, over all of `todo`.
    next: AtomicU64,
    stop: AtomicBool,
    under_way: Mutex<BTreeMap<usize, RunningConfiguration>>,
    /// The first failure in plan order, and where. All that comes before a failure was handed out before it and is
    /// run to its end, so it does not depend on the number of threads which failure that is.
    failure: Mutex<Option<(u64, Stopped)>>,
}

/// A configuration some of whose replicates have been handed out.
struct RunningConfiguration {
    scenario: Arc<Scenario>,
    records: Vec<Option<ReplicateRecord>>,
    missing: u32,
}

impl SharedState<'_> {
    fn work(&self) {
        let replicates = u64::from(self.plan.replicates());
        while !self.stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let place = usize::try_from(number / replicates).expect("configurations fit into memory");
            let Some(&configuration) = self.todo.get(place) else { return };
            let replicate = u32::try_from(number % replicates).expect("a remainder is smaller");
            if let Err(failure) = self.run_one(configuration, replicate) {
                self.fail(number, failure);
                return;
            }
            (self.progress)();
        }
    }

    fn run_one(&self, configuration: usize, replicate: u32) -> Result<(), Stopped> {
        let scenario = self.scenario_of(configuration);
        let data = world::run(&scenario, replicate, self.interrupt).map_err(|_| Stopped::Interrupted)?;
        let record = ReplicateRecord::of(&scenario, &data).ok_or(Stopped::OverBudget {
            configuration,
            replicate,
            budget: scenario.event_budget,
            after: data.ended_at,
        })?;
        let Some(records) = self.put(configuration, replicate, record) else { return Ok(()) };
        let directory = || self.journal.directory().display().to_string();
        let kept = self.journal.keep(configuration, &records);
        kept.map_err(|error| Stopped::Io { configuration, directory: directory(), error })
    }

    fn scenario_of(&self, configuration: usize) -> Arc<Scenario> {
        let replicates = self.plan.replicates();
        let begin = || RunningConfiguration {
            scenario: Arc::new(self.plan.scenario(configuration)),
            records: vec![None; replicates as usize],
            missing: replicates,
        };
        Arc::clone(&self.under_way().entry(configuration).or_insert_with(begin).scenario)
    }

    /// Puts a record to the others of its configuration; returns them all if it was the last.
    fn put(
        &self,
        configuration: usize,
        replicate: u32,
        record: ReplicateRecord,
    ) -> Option<Vec<ReplicateRecord>> {
        let mut all = self.under_way();
        let under_way = all.get_mut(&configuration).expect("it was begun before");
        under_way.records[replicate as usize] = Some(record);
        under_way.missing -= 1;
        if under_way.missing > 0 {
            return None;
        }
        let whole = all.remove(&configuration).expect("it is there").records;
        Some(whole.into_iter().map(|record| record.expect("none is missing")).collect())
    }

    fn under_way(&self) -> MutexGuard<'_, BTreeMap<usize, RunningConfiguration>> {
        self.under_way.lock().expect("no thread panicked")
    }

    fn fail(&self, number: u64, failure: Stopped) {
        self.stop.store(true, Ordering::Relaxed);
        let mut first = self.failure.lock().expect("no thread panicked");
        if first.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
            *first = Some((number, failure));
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::sweep::{Request, ScenarioText};

    fn plan(axis: &str) -> Plan {
        let text = "replicates = 3\n[[application]]\nname = \"orders\"\ninstances = 20\n[[fault]]\ncrash = { count = 1 }\n";
        let text = ScenarioText { path: "a.toml".into(), name: "a".into(), text: text.into() };
        let request = Request { texts: vec![text], axes: vec![axis.into()], ..Request::default() };
        Plan::of(&request, 1, &AtomicBool::new(false)).expect("it is fine").0
    }

    fn journal(around: &TempDir, plan: &Plan) -> Journal {
        Journal::open(&around.path().join("journal"), plan, "1.0", "", false).unwrap()
    }

    fn run(around: &TempDir, plan: &Plan, jobs: usize) -> Vec<Vec<ReplicateRecord>> {
        let journal = journal(around, plan);
        run_all(plan, &journal, jobs, &AtomicBool::new(false), &|| ()).unwrap();
        (0..plan.size()).map(|index| journal.read(index).unwrap()).collect()
    }

    #[test]
    fn the_number_of_threads_and_of_goes_does_not_matter() {
        let plan = plan("duration=20m,21m,22m,23m");
        let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let records = run(&one, &plan, 1);
        assert_eq!(records, run(&other, &plan, 3));
        std::fs::remove_file(other.path().join("journal/configuration-000002.json")).unwrap();
        assert_eq!(records, run(&other, &plan, 2));
        // Replicates are those of the scenario run alone.
        let alone = world::run(&plan.scenario(2), 1, &AtomicBool::new(false)).expect("nobody interrupts");
        assert_eq!(records[2][1].digest, alone.digest);
    }

    #[test]
    fn the_first_that_is_over_budget_is_named() {
        let plan = plan("event-budget=1000000,1000,1001,1002");
        for jobs in [1, 4] {
            let around = TempDir::new().unwrap();
            let stopped = run_all(&plan, &journal(&around, &plan), jobs, &AtomicBool::new(false), &|| ());
            let Err(Stopped::OverBudget { configuration: 1, replicate: 0, budget: 1000, .. }) = stopped
            else {
                panic!("{stopped:?}");
            };
        }
    }

    #[test]
    fn what_was_finished_before_an_interruption_is_kept() {
        let plan = plan("duration=20m,21m,22m");
        let around = TempDir::new().unwrap();
        let interrupt = AtomicBool::new(false);
        let ended = AtomicU64::new(0);
        let progress = || {
            // Three replicates make a configuration.
            if ended.fetch_add(1, Ordering::Relaxed) == 3 {
                interrupt.store(true, Ordering::Relaxed);
            }
        };
        let stopped = run_all(&plan, &journal(&around, &plan), 1, &interrupt, &progress);
        assert!(matches!(stopped, Err(Stopped::Interrupted)), "{stopped:?}");
        let journal = journal(&around, &plan);
        assert_eq!((journal.had(0), journal.had_count(), journal.count()), (true, 1, 1));
    }
}
