//! Detection times in figures: by event and stage, with the closed form beside them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::intervals;
use crate::analysis::{Bound, BoundRange, Reason};
use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};
use crate::observe::{Detection, RunData};
use crate::sweep::Sample;

/// The detection times of one event at one stage. Milliseconds, rounded down.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StageSummary {
    /// What was detected: `crash`, `stop` or `registration`.
    pub event: EventKind,
    /// Where: `registry`, `served`, `client` or `balancer`.
    pub stage: Stage,
    /// Observations, detected and censored.
    pub count: u64,
    /// Of these, those that the end of the run cut off.
    pub censored: u64,
    /// Observations of an instance that came back before its end was noticed; not part of `count`.
    pub superseded: u64,
    /// The shortest detected; null if nothing was.
    pub min_ms: Option<u64>,
    /// The mean; null if anything is censored.
    pub mean_ms: Option<u64>,
    /// Quantiles by nearest rank; null if among the censored.
    pub p50_ms: Option<u64>,
    /// See `p50_ms`.
    pub p90_ms: Option<u64>,
    /// See `p50_ms`.
    pub p95_ms: Option<u64>,
    /// See `p50_ms`.
    pub p99_ms: Option<u64>,
    /// The longest; null if anything is censored.
    pub max_ms: Option<u64>,
    /// The earliest by closed form; null if it does not hold.
    pub bound_min_ms: Option<u64>,
    /// The mean by closed form, over uniform phases; null if it does not hold or phases are not uniform.
    pub bound_mean_ms: Option<u64>,
    /// The latest by closed form; null if it does not hold.
    pub bound_max_ms: Option<u64>,
    /// Why there is no closed form; null if there is.
    #[schemars(with = "Option<String>")]
    pub bound_absent_because: Option<Reason>,
    /// Why there is a range and no mean by closed form; null if there are both or neither.
    #[schemars(with = "Option<String>")]
    pub bound_mean_absent_because: Option<Reason>,
    /// What the figures would be if all was run again.
    pub intervals: StageIntervals,
}

/// 95 % confidence intervals whose unit is the replicate. A null end is not bounded by so few replicates, or
/// is censored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StageIntervals {
    /// Replicates with an observation.
    pub replicates: u64,
    /// Of the median, over replicates, of a replicate's mean.
    pub replicate_mean: IntervalMs,
    /// Of `p50_ms`.
    pub p50: IntervalMs,
    /// Of `p90_ms`.
    pub p90: IntervalMs,
    /// Of `p95_ms`.
    pub p95: IntervalMs,
    /// Of `p99_ms`.
    pub p99: IntervalMs,
}

/// Both ends of an interval, ms, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IntervalMs {
    /// The lower end.
    pub low_ms: Option<u64>,
    /// The upper end.
    pub high_ms: Option<u64>,
}

impl StageSummary {
    /// Whether anything was observed here.
    pub fn observed(&self) -> bool {
        self.count + self.superseded > 0
    }

    /// What is known of T_D, from the shortest to the longest, and then its closed form: least, mean and most. ms.
    pub(super) const fn times_ms(&self) -> [Option<u64>; 10] {
        [
            self.min_ms,
            self.mean_ms,
            self.p50_ms,
            self.p90_ms,
            self.p95_ms,
            self.p99_ms,
            self.max_ms,
            self.bound_min_ms,
            self.bound_mean_ms,
            self.bound_max_ms,
        ]
    }

    /// The figures of a sample; `means` are the replicates' own, those without an observation left out.
    pub(super) fn of(
        (event, stage): (EventKind, Stage),
        sample: &Sample,
        means: Vec<Option<SimDuration>>,
        bound: Option<&Bound>,
    ) -> Self {
        let ms = |length: Option<SimDuration>| length.map(SimDuration::as_millis);
        let (range, absent) = range_of(bound);
        let bound_ms = |pick: fn(BoundRange) -> SimDuration| range.map(|range| pick(range).as_millis());
        let uneven = bound.and_then(|bound| bound.mean_absent.as_ref());
        let replicates = means.len() as u64;
        let interval = |percent| intervals::of_quantile(sample, replicates, percent);
        Self {
            event,
            stage,
            count: sample.count(),
            censored: sample.censored(),
            superseded: sample.superseded(),
            min_ms: ms(sample.min()),
            mean_ms: ms(sample.mean()),
            p50_ms: ms(sample.percentile(50)),
            p90_ms: ms(sample.percentile(90)),
            p95_ms: ms(sample.percentile(95)),
            p99_ms: ms(sample.percentile(99)),
            max_ms: ms(sample.max()),
            bound_min_ms: bound_ms(|range| range.min),
            bound_mean_ms: bound_ms(|range| range.mean).filter(|_| uneven.is_none()),
            bound_max_ms: bound_ms(|range| range.max),
            bound_absent_because: absent,
            bound_mean_absent_because: uneven.cloned(),
            intervals: StageIntervals {
                replicates,
                p50: interval(50),
                p90: interval(90),
                p95: interval(95),
                p99: interval(99),
                replicate_mean: intervals::of_replicates(means),
            },
        }
    }
}

/// Rows by event and stage, in order; and by replicate within.
pub(super) type RowsByStage<'a> = BTreeMap<(EventKind, Stage), Vec<Vec<&'a Detection>>>;

/// All rows, sorted into events and stages.
pub(super) fn rows_by_stage(data: &RunData) -> RowsByStage<'_> {
    let mut rows = RowsByStage::new();
    for replicate in &data.replicates {
        let mut own: BTreeMap<(EventKind, Stage), Vec<&Detection>> = BTreeMap::new();
        for row in &replicate.detections {
            own.entry((row.event, row.stage)).or_default().push(row);
        }
        for (key, own) in own {
            rows.entry(key).or_default().push(own);
        }
    }
    rows
}

/// The figures of all events at all stages, in order; those that only have a closed form as well.
pub(super) fn stages(data: &RunData, bounds: &[Bound]) -> Vec<StageSummary> {
    let mut rows = rows_by_stage(data);
    for bound in bounds {
        rows.entry((bound.event, bound.stage)).or_default();
    }
    rows.into_iter()
        .map(|((event, stage), replicates)| {
            let pooled = Sample::of(replicates.iter().flatten().copied());
            let means = replicates
                .iter()
                .map(|rows| Sample::of(rows.iter().copied()))
                .filter(|own| own.count() > 0)
                .map(|own| own.mean())
                .collect();
            let bound = bounds.iter().find(|bound| bound.event == event && bound.stage == stage);
            StageSummary::of((event, stage), &pooled, means, bound)
        })
        .collect()
}

fn range_of(bound: Option<&Bound>) -> (Option<BoundRange>, Option<Reason>) {
    match bound.map(|bound| &bound.range) {
        Some(Ok(range)) => (Some(*range), None),
        Some(Err(reason)) => (None, Some(reason.clone())),
        None => (None, Some(Reason::NotCovered)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Summary;
    use crate::report::fixtures::Fixture;

    #[test]
    fn a_bound_without_observations_has_a_row() {
        let mut made = Fixture::crashes(2, 2);
        for replicate in &mut made.data.replicates {
            replicate.detections.retain(|row| row.stage != Stage::Balancer);
        }
        let summary = Summary::of(&made.report());
        let row = summary.stage(EventKind::Crash, Stage::Balancer).unwrap();
        assert_eq!((row.count, row.max_ms, row.bound_max_ms), (0, None, Some(335_000)));
    }

    #[test]
    fn the_replicate_is_the_unit_of_confidence() {
        // One replicate with 500 observers bounds nothing; seven bound the median by the first and the last.
        let one = Summary::of(&Fixture::crashes(1, 500).report());
        let interval = |summary: &Summary| {
            summary.stage(EventKind::Crash, Stage::Client).map(|row| row.intervals.p50).unwrap()
        };
        assert_eq!(interval(&one), IntervalMs { low_ms: None, high_ms: None });
        let seven = interval(&Summary::of(&Fixture::crashes(7, 500).report()));
        assert!(seven.low_ms.is_some() && seven.low_ms < seven.high_ms);
    }
}
