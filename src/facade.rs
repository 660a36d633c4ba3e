//! The library's front door: a scenario in, a finished run out.
//!
//! [`run`] is what `stillup run` does, without a terminal and without files; [`Finished`] shows what came of it, and
//! makes the same figures and files. Who wants a run that stops, is looked into and copied takes a
//! [`Simulation`](crate::Simulation); who wants progress, or to interrupt, takes [`sweep::run`].

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::thread;

use crate::analysis::{self, Bound};
use crate::engine::SimTime;
use crate::model::stage::{EventKind, Stage};
use crate::observe::{Outcome, RunData};
use crate::report::{self, Contents, OUTPUTS, Report, Summary};
use crate::scenario::{Scenario, canonical};
use crate::sweep::{self, Verdict};

/// A run that came to its end, with all that can be said of it.
#[derive(Clone, Debug)]
pub struct Finished<'a> {
    scenario: &'a Scenario,
    text: String,
    data: RunData,
    bounds: Vec<Bound>,
    verdicts: Vec<Verdict>,
}

/// Observations of one event at one stage that are equal to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen<'a> {
    /// The replicate, from 0.
    pub replicate: u32,
    /// To whom it happened: the first of them, if it happened to many.
    pub instance: &'a str,
    /// When.
    pub at: SimTime,
    /// How watching it ended.
    pub outcome: Outcome,
    /// How many pairs of an instance and an observer, or at a server's stages instances, this stands for.
    pub count: u64,
}

/// Runs all replicates of `scenario`: on all processors, or without the feature `parallel` one after the other. The
/// result is the same.
pub fn run(scenario: &Scenario) -> Finished<'_> {
    let jobs = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let data = sweep::run(scenario, jobs, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts it");
    Finished {
        scenario,
        text: canonical(scenario),
        bounds: analysis::bounds(scenario),
        verdicts: sweep::judge(scenario, &data),
        data,
    }
}

impl Finished<'_> {
    /// Every row that the replicates left behind.
    pub fn data(&self) -> &RunData {
        &self.data
    }

    /// What the closed forms say of each event at each stage.
    pub fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    /// How the scenario's expectations came out.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// When `stage` noticed `event`, or how it did not, over all replicates.
    pub fn detections(&self, event: EventKind, stage: Stage) -> impl Iterator<Item = Seen<'_>> {
        let all = self.data.replicates.iter();
        let rows = all.flat_map(|replicate| replicate.detections.iter().map(move |row| (replicate, row)));
        rows.filter(move |(_, row)| (row.event, row.stage) == (event, stage)).map(|(replicate, row)| Seen {
            replicate: replicate.replicate,
            instance: &replicate.instances[&row.instance],
            at: row.at,
            outcome: row.outcome,
            count: row.count,
        })
    }

    /// Every figure: what `summary.json` holds.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.report())
    }

    /// The answer as the terminal shows it, without colours.
    pub fn table(&self) -> String {
        anstream::adapter::strip_str(&report::table(&self.summary(), None)).to_string()
    }

    /// The files of a run directory that are made of the run alone, each with its name and its bytes. Which there are
    /// depends on the scenario, and charts and pictures on the features of this build.
    pub fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let (report, summary) = (self.report(), self.summary());
        let contents = Contents { report: &report, summary: &summary };
        let applicable = OUTPUTS.iter().filter(|output| output.applies_to(&contents));
        let written = applicable.map(|output| {
            let mut bytes = Vec::new();
            output.write(&contents, &mut bytes).expect("memory takes everything");
            (output.file_name(), bytes)
        });
        written.collect()
    }

    /// For the outputs of [`report`], one by one.
    pub fn report(&self) -> Report<'_> {
        Report {
            scenario: self.scenario,
            scenario_text: &self.text,
            data: &self.data,
            bounds: &self.bounds,
            verdicts: &self.verdicts,
            command: "stillup run".to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            revision: option_env!("STILLUP_REVISION"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::default_scenario;

    #[test]
    fn a_finished_run_tells_the_same_in_each_way() {
        let mut scenario = default_scenario().scenario;
        scenario.replicates = 3;
        let finished = run(&scenario);
        let seen: u64 = finished.detections(EventKind::Crash, Stage::Balancer).map(|seen| seen.count).sum();
        // One of a hundred dies, and each of the others looks.
        assert_eq!(seen, 3 * 99);
        let replicates: Vec<u32> =
            finished.detections(EventKind::Crash, Stage::Registry).map(|seen| seen.replicate).collect();
        assert_eq!(replicates, [0, 1, 2]);
        let files = finished.files();
        let summary = files.iter().find(|(name, _)| *name == "summary.json").expect("each run has one");
        assert_eq!(summary.1, finished.summary().to_json().into_bytes());
        assert!(files.iter().any(|(name, _)| *name == "detections.csv"));
        assert!(!finished.table().contains('\u{1b}'));
    }
}
