//! What is kept of a replicate: just what the outputs of a comparison need.
//!
//! A replicate of a large fleet leaves a row for every moment at which somebody noticed something, to the nanosecond.
//! Here its observations are grouped by the millisecond that outputs show, with counts, so that a record is bounded by
//! the length of the run and not by the size of the fleet. Only what outputs compute exactly, the sum of detection
//! times, is kept exactly. Quantiles lose nothing: rounding down keeps the order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::sample::Sample;
use super::verdict::holds;
use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};
use crate::observe::{Detection, Ending, Outcome, ReplicateData};
use crate::scenario::Scenario;

/// What is kept of one replicate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicateRecord {
    /// The digest of all its events.
    pub digest: u64,
    /// Events that ran.
    pub events: u64,
    /// When it ended, ns.
    pub ended_at_nanos: u64,
    /// Whether it ran to the scenario's duration, since something could still change.
    pub to_duration: bool,
    /// Requests that servers answered.
    pub requests: u64,
    /// Of these, in the busiest minute of any one server.
    pub busiest_minute: u64,
    /// Who was told wrongly, by [`Stage`].
    pub quality: [QualityRecord; Stage::ALL.len()],
    /// Leases evicted; of a two-stage registry, entries removed for their silence.
    pub evictions: u64,
    /// Entries of a two-stage registry that turned unhealthy.
    pub soft_evictions: u64,
    /// Whether self-preservation was engaged, or the guard of some service shut, at the end.
    pub protected_at_end: bool,
    /// Answers that consumers refused.
    pub refused_answers: u64,
    /// Times that a consumer said in its log that its refreshes fail.
    pub refresh_warnings: u64,
    /// Processes that could not start.
    pub failed_starts: u64,
    /// Calls through balancers.
    pub calls: u64,
    /// Of these, failed after all retries.
    pub failed_calls: u64,
    /// Whether each expectation of the scenario held, in its order.
    pub held: Vec<bool>,
    /// Observations by event and stage.
    pub stages: Vec<StageRecord>,
}

/// Mistakes of one stage, over all observers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QualityRecord {
    /// Mistakes: pairs of an instance and an observer.
    pub mistakes: u64,
    /// Time under observation, ns.
    pub good_nanos: u128,
    /// Of that, time mistaken, ns.
    pub mistaken_nanos: u128,
}

/// The observations of one event at one stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageRecord {
    /// What was detected: a place in [`EventKind::ALL`].
    event: u8,
    /// Where: a place in [`Stage::ALL`].
    stage: u8,
    /// The sum of all T_D, ns.
    pub sum_nanos: u128,
    /// Detected: (T_D in whole ms, observations), ascending.
    pub detected: Vec<(u64, u64)>,
    /// Cut off by the run's end: (time watched in whole ms, observations), ascending.
    pub censored: Vec<(u64, u64)>,
    /// Ended since the instance was back: (time watched in whole ms, observations), ascending.
    pub superseded: Vec<(u64, u64)>,
}

impl ReplicateRecord {
    /// What is kept of a replicate of this scenario; `None` if it was cut short by the event budget, which leaves
    /// figures that are not whole.
    pub fn of(scenario: &Scenario, data: &ReplicateData) -> Option<Self> {
        if data.ending == Ending::Budget {
            return None;
        }
        let minutes = || data.load.iter().map(|minute| minute.requests.iter().sum::<u64>());
        Some(Self {
            digest: data.digest,
            events: data.events,
            ended_at_nanos: data.ended_at.as_nanos(),
            to_duration: data.ending == Ending::Duration,
            requests: minutes().sum(),
            busiest_minute: minutes().max().unwrap_or(0),
            quality: Stage::ALL.map(|stage| QualityRecord::of(stage, data)),
            evictions: data.leases.evicted,
            soft_evictions: data.leases.soft_evicted,
            protected_at_end: data.self_preservation_at_end(),
            refused_answers: data.consumers.refused_answers,
            refresh_warnings: data.consumers.refresh_warnings,
            failed_starts: data.consumers.failed_starts,
            calls: data.calls.iter().map(|minute| minute.calls).sum(),
            failed_calls: data.calls.iter().map(|minute| minute.failed).sum(),
            held: scenario.expectations.iter().map(|expected| holds(expected, scenario, data)).collect(),
            stages: stages(&data.detections),
        })
    }
}

impl QualityRecord {
    fn of(stage: Stage, data: &ReplicateData) -> Self {
        let quality = || data.quality.iter().filter(|row| row.stage == stage);
        Self {
            mistakes: data.mistakes.iter().filter(|row| row.stage == stage).map(|row| row.count).sum(),
            good_nanos: quality().map(|row| row.good_nanos).sum(),
            mistaken_nanos: quality().map(|row| row.mistaken_nanos).sum(),
        }
    }
}

impl StageRecord {
    /// What was detected.
    pub fn event(&self) -> EventKind {
        EventKind::ALL[usize::from(self.event)]
    }

    /// Where.
    pub fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.stage)]
    }

    /// What was detected, and where: by this they are sorted.
    pub fn key(&self) -> (EventKind, Stage) {
        (self.event(), self.stage())
    }

    /// Whether it names an event and a stage; what was read from a file may not.
    #[cfg(feature = "cli")]
    pub(super) fn is_sound(&self) -> bool {
        usize::from(self.event) < EventKind::ALL.len() && usize::from(self.stage) < Stage::ALL.len()
    }

    /// All of them, and how they ended: `detected`, `censored` or `superseded`.
    pub fn by_outcome(&self) -> [(&'static str, &[(u64, u64)]); 3] {
        [("detected", &self.detected), ("censored", &self.censored), ("superseded", &self.superseded)]
    }

    /// These records' observations together: T_D in whole milliseconds, and its sum exactly.
    pub fn pooled<'a>(records: impl IntoIterator<Item = &'a Self>) -> Sample {
        let mut detected = Vec::new();
        let (mut sum, mut censored, mut superseded) = (0, 0, 0);
        let count = |rows: &[(u64, u64)]| rows.iter().map(|&(_, count)| count).sum::<u64>();
        for record in records {
            let rows = record.detected.iter();
            detected.extend(rows.map(|&(ms, count)| (SimDuration::from_millis(ms), count)));
            sum += record.sum_nanos;
            censored += count(&record.censored);
            superseded += count(&record.superseded);
        }
        Sample::rounded(detected, sum, censored, superseded)
    }
}

fn stages(rows: &[Detection]) -> Vec<StageRecord> {
    let mut stages: BTreeMap<(EventKind, Stage), StageRecord> = BTreeMap::new();
    for row in rows {
        let stage = stages.entry((row.event, row.stage)).or_insert_with(|| StageRecord {
            event: row.event as u8,
            stage: row.stage as u8,
            sum_nanos: 0,
            detected: Vec::new(),
            censored: Vec::new(),
            superseded: Vec::new(),
        });
        match row.outcome {
            Outcome::Detected(length) => {
                stage.sum_nanos += u128::from(length.as_nanos()) * u128::from(row.count);
                stage.detected.push((length.as_millis(), row.count));
            }
            Outcome::Censored(length) => stage.censored.push((length.as_millis(), row.count)),
            Outcome::Superseded(length) => stage.superseded.push((length.as_millis(), row.count)),
        }
    }
    let mut stages: Vec<StageRecord> = stages.into_values().collect();
    for stage in &mut stages {
        merge(&mut stage.detected);
        merge(&mut stage.censored);
        merge(&mut stage.superseded);
    }
    stages
}

/// Sorts rows and makes one of those that are equal.
fn merge(rows: &mut Vec<(u64, u64)>) {
    rows.sort_unstable();
    rows.dedup_by(|later, earlier| {
        let equal = later.0 == earlier.0;
        if equal {
            earlier.1 += later.1;
        }
        equal
    });
    rows.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::scenario::default_scenario;
    use crate::world;

    fn default_crash() -> (Scenario, ReplicateData) {
        let scenario = default_scenario().scenario;
        let data = world::run(&scenario, 0, &AtomicBool::new(false)).expect("nobody interrupts");
        (scenario, data)
    }

    #[test]
    fn a_record_gives_the_figures_of_the_replicate() {
        let (scenario, data) = default_crash();
        let record = ReplicateRecord::of(&scenario, &data).expect("it ended");
        assert_eq!(record.held, vec![true; scenario.expectations.len()]);
        assert_eq!(record.stages.len(), 4);
        for stage in &record.stages {
            let whole =
                Sample::of(data.detections.iter().filter(|row| (row.event, row.stage) == stage.key()));
            let kept = StageRecord::pooled([stage]);
            assert_eq!(kept.count(), whole.count());
            assert_eq!(kept.mean(), whole.mean(), "sums are exact");
            for percent in [0, 50, 90, 99, 100] {
                let ms = |sample: &Sample| sample.percentile(percent).map(SimDuration::as_millis);
                assert_eq!(ms(&kept), ms(&whole), "rounding down keeps the order");
            }
        }
    }

    #[test]
    fn a_record_comes_back_from_its_text() {
        let (scenario, data) = default_crash();
        let mut record = ReplicateRecord::of(&scenario, &data).expect("it ended");
        record.quality[0].good_nanos = u128::from(u64::MAX) * 100_000;
        let text = serde_json::to_string(&record).expect("plain structs are always JSON");
        assert_eq!(serde_json::from_str::<ReplicateRecord>(&text).expect("it is one"), record);
    }

    #[test]
    fn a_replicate_cut_short_is_no_record() {
        let (mut scenario, _) = default_crash();
        scenario.event_budget = 1_000;
        let data = world::run(&scenario, 0, &AtomicBool::new(false)).expect("nobody interrupts");
        assert_eq!(ReplicateRecord::of(&scenario, &data), None);
    }

    #[test]
    fn equal_rows_are_one() {
        let mut rows = vec![(5, 1), (3, 2), (5, 4)];
        merge(&mut rows);
        assert_eq!(rows, [(3, 2), (5, 5)]);
    }
}
