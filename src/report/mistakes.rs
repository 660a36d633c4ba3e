//! Mistakes in figures: instances that are well and not shown, how often, for how long, and how much of the time.
//!
//! The measures are those of Chen, Toueg and Aguilera, over pairs of an instance and whoever looks: the sum of all
//! good time, divided by mistakes or by the time spent in them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::missed_heartbeats_tolerated;
use crate::engine::{NANOS_PER_MS, NANOS_PER_S, SimDuration};
use crate::model::id::AppId;
use crate::model::stage::Stage;
use crate::observe::{Mistake, Quality, Removal, ReplicateData, RunData};
use crate::scenario::Scenario;

/// Nanoseconds in an hour.
const NANOS_PER_HOUR: f64 = 3_600.0 * NANOS_PER_S as f64;

/// Instances that were alive and well and that a stage ceased to show.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MistakeSummary {
    /// Where: `registry` for servers' own removals.
    pub stage: Stage,
    /// How many: pairs of an instance and an observer, or at a server's stages instances.
    pub count: u64,
    /// Of these, evicted by their server: false removals. At `registry`, where a two-stage registry marks, and at
    /// `entry`, where it removes.
    pub evicted: u64,
    /// Of these, lost with a server that ended. At a server's stages only.
    pub lost_with_server: u64,
    /// Of these, those corrected before the run, the observer or the instance's life ended.
    pub corrected: u64,
    /// Replicates with at least one.
    pub replicates: u32,
    /// T_M, the mean length; null if any was not corrected.
    pub mean_duration_ms: Option<u64>,
    /// The longest; null if any was not corrected.
    pub max_duration_ms: Option<u64>,
    /// T_MR, the mean time from one mistake about an instance to the next: good time by mistakes.
    pub mean_recurrence_ms: Option<u64>,
    /// λ_M, mistakes in an hour about one instance: 1 / T_MR.
    pub rate_per_hour: Option<f64>,
    /// P_A, 0 to 1: the share of good time in which the instance was shown.
    pub query_accuracy: Option<f64>,
    /// P_A of the observer, or server, for which it was least, in any replicate.
    pub worst_query_accuracy: Option<f64>,
}

/// What the settings of an application's instances let them miss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tolerance {
    /// Whose.
    pub application: String,
    /// Heartbeats in a row that a live instance may miss while its lease is at no moment expired or, of a two-stage
    /// registry, its entry never silent for so long that it is marked; null if that can be although none is missed.
    pub missed_heartbeats: Option<u64>,
}

impl Tolerance {
    /// One for each application that registers.
    pub(super) fn of(scenario: &Scenario) -> Vec<Self> {
        let apps = (0..).map(AppId).zip(&scenario.applications);
        let registering = apps.filter(|(id, _)| scenario.setup.client(*id).registers());
        let of = |(id, app): (AppId, &crate::scenario::Application)| Self {
            application: app.name.clone(),
            missed_heartbeats: missed_heartbeats_tolerated(scenario, id),
        };
        registering.map(of).collect()
    }
}

impl MistakeSummary {
    /// The mistakes of all replicates, by stage; a stage without any has no entry.
    pub(super) fn of(data: &RunData) -> Vec<Self> {
        Stage::ALL.into_iter().filter_map(|stage| Self::at(stage, data)).collect()
    }

    fn at(stage: Stage, data: &RunData) -> Option<Self> {
        let all = || {
            let all = data.replicates.iter().flat_map(|replicate| &replicate.mistakes);
            all.filter(move |mistake| mistake.stage == stage)
        };
        let counted = |wanted: &dyn Fn(&Mistake) -> bool| -> u64 {
            all().filter(|mistake| wanted(mistake)).map(|mistake| mistake.count).sum()
        };
        let (count, corrected) = (counted(&|_| true), counted(&|mistake| mistake.corrected));
        let nanos = all().map(|row| u128::from(row.lasted.as_nanos()) * u128::from(row.count)).sum::<u128>();
        let mean = SimDuration::from_nanos(whole(nanos.checked_div(u128::from(count))?));
        let known = |length: SimDuration| (corrected == count).then(|| length.as_millis());
        let own = |replicate: &ReplicateData| replicate.mistakes.iter().any(|row| row.stage == stage);
        let quality = || {
            let all = data.replicates.iter().flat_map(|replicate| &replicate.quality);
            all.filter(move |row| row.stage == stage && row.good_nanos > 0)
        };
        let good: u128 = quality().map(|row| row.good_nanos).sum();
        let mistaken: u128 = quality().map(|row| row.mistaken_nanos).sum();
        let recurrence = (good > 0).then(|| good / u128::from(count));
        Some(Self {
            stage,
            count,
            evicted: counted(&|mistake| mistake.removal == Removal::Evicted),
            lost_with_server: counted(&|mistake| mistake.removal == Removal::LostWithServer),
            corrected,
            replicates: replicates_with(data, own),
            mean_duration_ms: known(mean),
            max_duration_ms: all().map(|mistake| mistake.lasted).max().and_then(known),
            mean_recurrence_ms: recurrence.map(|nanos| whole(nanos / u128::from(NANOS_PER_MS))),
            rate_per_hour: (good > 0).then(|| count as f64 * NANOS_PER_HOUR / good as f64),
            query_accuracy: (good > 0).then(|| accuracy(good, mistaken)),
            worst_query_accuracy: quality().filter_map(own_accuracy).min_by(f64::total_cmp),
        })
    }
}

/// P_A of one observer; `None` for a row of many: none of them is the worst unless all are perfect.
fn own_accuracy(row: &Quality) -> Option<f64> {
    (row.observers == 1 || row.mistakes == 0).then(|| accuracy(row.good_nanos, row.mistaken_nanos))
}

fn accuracy(good: u128, mistaken: u128) -> f64 {
    (good - mistaken) as f64 / good as f64
}

fn whole(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// How many replicates are so.
pub(super) fn replicates_with(data: &RunData, wanted: impl Fn(&ReplicateData) -> bool) -> u32 {
    replicates(data.replicates.iter().filter(|replicate| wanted(replicate)).count())
}

/// A number of replicates.
pub(super) fn replicates(number: usize) -> u32 {
    u32::try_from(number).expect("replicates are counted in a u32")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Summary;
    use crate::report::fixtures::Fixture;

    #[test]
    fn mistakes_are_summed_up() {
        // 10 s, 11 s and 12 s in the first of four replicates: 11 s on average.
        let summary = Summary::of(&Fixture::quiet(3).report());
        let expected = MistakeSummary {
            stage: Stage::Registry,
            count: 3,
            evicted: 3,
            lost_with_server: 0,
            corrected: 3,
            replicates: 1,
            mean_duration_ms: Some(11_000),
            max_duration_ms: Some(12_000),
            // 100 instances for 12 minutes in each of four replicates: 80 h by 3.
            mean_recurrence_ms: Some(320 * 300_000),
            rate_per_hour: Some(0.0375), // 3 / 80
            // 33 s of 288,000 s; 33 s of 72,000 s in the first replicate alone.
            query_accuracy: Some(287_967.0 / 288_000.0),
            worst_query_accuracy: Some(71_967.0 / 72_000.0),
        };
        assert_eq!(summary.mistakes, [expected]);
    }

    #[test]
    fn rows_count_for_as_many_as_they_stand_for() {
        let mut made = Fixture::quiet(2);
        let first = &mut made.data.replicates[0];
        for (row, count) in first.mistakes.iter_mut().zip([3, 1]) {
            (row.stage, row.count, row.removal) = (Stage::Client, count, Removal::NotShown);
        }
        first.mistakes[1].corrected = false;
        let own = Quality { stage: Stage::Client, observers: 1, ..first.quality[0].clone() };
        let rest = Quality { observers: 9, mistakes: 0, mistaken_nanos: 0, ..own.clone() };
        first.quality = vec![own, rest];
        let summary = &Summary::of(&made.report()).mistakes[0];
        let counts = (summary.count, summary.corrected, summary.evicted, summary.mean_duration_ms);
        assert_eq!(counts, (4, 3, 0, None));
        // 40 h by 4, and 21 s of 20 h at worst.
        assert_eq!(summary.mean_recurrence_ms, Some(36_000_000));
        assert_eq!(summary.worst_query_accuracy, Some(71_979.0 / 72_000.0));
    }
}
