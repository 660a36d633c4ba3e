//! Calls in figures: how many failed, what they met, and which stage is to blame for the dead among it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::intervals::rank_interval;
use crate::model::id::AppId;
use crate::model::registry::Kind;
use crate::model::stage::Stage;
use crate::observe::{CallMinute, CallOutcome, CallTally, RunData};
use crate::scenario::Scenario;

/// The calls of one application's instances to another, over all replicates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CallSummary {
    /// Who calls.
    pub caller: String,
    /// Who is called.
    pub callee: String,
    /// Calls.
    pub calls: u64,
    /// Of these, failed after all retries.
    pub failed: u64,
    /// `failed` of `calls`, 0 to 1.
    pub failed_share: f64,
    /// Attempts, the first of each call and its retries, by what became of them.
    pub attempts: AttemptCounts,
    /// Attempts at dead instances, by the first stage on the way to the caller that still showed them.
    pub dead_by_stage: StageCounts,
    /// The minute with the most failed calls; null if none failed.
    pub worst_minute: Option<WorstMinute>,
    /// Failed calls of a replicate.
    pub failed_a_replicate: FailedAReplicate,
}

/// Attempts by fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttemptCounts {
    /// They were answered.
    pub answered: u64,
    /// The instance's process was dead.
    pub dead: u64,
    /// The instance stood still for longer than the caller waits.
    pub paused: u64,
    /// The instance was cut off, or the message was lost.
    pub cut_off: u64,
    /// The instance was there and failed the call.
    pub refused: u64,
    /// The balancer's list was empty.
    pub no_instance: u64,
}

/// Attempts by stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StageCounts {
    /// The registry still had the lease.
    pub registry: u64,
    /// Its answers still listed the instance.
    pub served: u64,
    /// The caller's local registry still had it.
    pub client: u64,
    /// The caller's balancer still picked from a list with it; left out where the registry's clients have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balancer: Option<u64>,
}

/// A minute of a replicate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorstMinute {
    /// Of which replicate.
    pub replicate: u32,
    /// Its start.
    pub from_ms: u64,
    /// Calls.
    pub calls: u64,
    /// Of these, failed.
    pub failed: u64,
    /// `failed` of `calls`, 0 to 1.
    pub failed_share: f64,
}

/// Failed calls of a replicate: the mean, and a 95 % confidence interval of the median over all replicates that
/// might be run. A null end is not bounded by so few.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailedAReplicate {
    /// The mean.
    pub mean: f64,
    /// The lower end for the median.
    pub median_low: Option<u64>,
    /// The upper end for the median.
    pub median_high: Option<u64>,
}

impl CallSummary {
    /// The calls of all replicates, by caller and callee as the scenario lists them; none without traffic.
    pub(super) fn of(scenario: &Scenario, data: &RunData) -> Vec<Self> {
        let mut pairs: BTreeMap<(AppId, AppId), Vec<(u32, &CallMinute)>> = BTreeMap::new();
        for replicate in &data.replicates {
            for row in &replicate.calls {
                pairs.entry((row.caller, row.callee)).or_default().push((replicate.replicate, row));
            }
        }
        let name = |app: AppId| scenario.applications[app.index()].name.clone();
        let summary = |((caller, callee), rows): ((AppId, AppId), Vec<(u32, &CallMinute)>)| {
            let sum = total(rows.iter().map(|(_, row)| *row));
            let mut failed: BTreeMap<u32, u64> =
                data.replicates.iter().map(|replicate| (replicate.replicate, 0)).collect();
            for (replicate, row) in &rows {
                *failed.entry(*replicate).or_default() += row.failed;
            }
            Self {
                caller: name(caller),
                callee: name(callee),
                calls: sum.calls,
                failed: sum.failed,
                failed_share: share(sum.failed, sum.calls),
                attempts: AttemptCounts::of(&sum.attempts),
                dead_by_stage: StageCounts::of(&sum.dead_by_stage, scenario.registry()),
                worst_minute: worst(&rows),
                failed_a_replicate: FailedAReplicate::of(failed.into_values().collect()),
            }
        };
        pairs.into_iter().map(summary).collect()
    }
}

/// The sum of some rows.
pub(super) fn total<'a>(rows: impl Iterator<Item = &'a CallMinute>) -> CallTally {
    let mut sum = CallTally::default();
    for row in rows {
        sum += CallTally {
            calls: row.calls,
            failed: row.failed,
            attempts: row.attempts,
            dead_by_stage: row.dead_by_stage,
        };
    }
    sum
}

/// A part of a whole, 0 to 1, to nine digits after the point; 0 of nothing.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e9).round() / 1e9 }
}

/// A share in percent as people read it, with two significant digits: `0.0035 %`, `9.8 %`, `45 %`.
pub(super) fn in_percent(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 };
    let mut decimals = 0;
    let mut scaled = percent;
    while percent > 0.0 && scaled < 9.95 && decimals < 9 {
        scaled *= 10.0;
        decimals += 1;
    }
    format!("{percent:.decimals$} %")
}

impl AttemptCounts {
    const fn of(counts: &[u64; CallOutcome::COUNT]) -> Self {
        let [answered, dead, paused, cut_off, refused, no_instance] = *counts;
        Self { answered, dead, paused, cut_off, refused, no_instance }
    }
}

impl StageCounts {
    fn of(counts: &[u64; Stage::WAY.len()], registry: Kind) -> Self {
        let of = |stage: Stage| counts[stage as usize];
        Self {
            registry: of(Stage::Registry),
            served: of(Stage::Served),
            client: of(Stage::Client),
            balancer: registry.way().contains(&Stage::Balancer).then(|| of(Stage::Balancer)),
        }
    }
}

impl FailedAReplicate {
    fn of(mut counts: Vec<u64>) -> Self {
        counts.sort_unstable();
        let ranks = rank_interval(counts.len() as u64, 50);
        let at = |rank: Option<u64>| rank.map(|rank| counts[rank as usize - 1]);
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        Self { mean: (mean * 1e3).round() / 1e3, median_low: at(ranks.low), median_high: at(ranks.high) }
    }
}

/// The first of the minutes with the most failed calls.
fn worst(rows: &[(u32, &CallMinute)]) -> Option<WorstMinute> {
    let mut worst: Option<&(u32, &CallMinute)> = None;
    for row in rows.iter().filter(|(_, row)| row.failed > 0) {
        if worst.is_none_or(|(_, worst)| row.1.failed > worst.failed) {
            worst = Some(row);
        }
    }
    worst.map(|&(replicate, row)| WorstMinute {
        replicate,
        from_ms: row.from.as_millis(),
        calls: row.calls,
        failed: row.failed,
        failed_share: share(row.failed, row.calls),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Summary;
    use crate::report::fixtures::Fixture;

    #[test]
    fn calls_are_summed_up() {
        let summary = Summary::of(&Fixture::calling(7, true).report());
        let [calls] = &summary.calls[..] else { panic!("one pair") };
        assert_eq!((&*calls.caller, &*calls.callee), ("orders", "payments"));
        // Each replicate: 12 minutes of 12,000 calls; 600, 600, 600, 500 and 200 of them fail.
        assert_eq!((calls.calls, calls.failed), (7 * 144_000, 7 * 2_500));
        assert_eq!(calls.failed_share, 0.017_361_111);
        assert_eq!((calls.attempts.dead, calls.attempts.no_instance), (7 * 2_500, 0));
        assert_eq!(calls.dead_by_stage.registry, 7 * 1_700);
        let worst = calls.worst_minute.unwrap();
        assert_eq!((worst.replicate, worst.from_ms, worst.failed_share), (0, 420_000, 0.05));
        let failed = calls.failed_a_replicate;
        assert_eq!((failed.mean, failed.median_low, failed.median_high), (2_500.0, Some(2_500), Some(2_500)));
        // Fewer than six replicates bound no median.
        let few = Summary::of(&Fixture::calling(3, true).report());
        assert_eq!(few.calls[0].failed_a_replicate.median_low, None);
    }

    #[test]
    fn without_traffic_there_is_nothing_to_tell() {
        assert!(Summary::of(&Fixture::crashes(3, 3).report()).calls.is_empty());
    }

    #[test]
    fn percentages_have_two_digits_that_count() {
        let cases = [
            (0, 7, "0 %"),
            (35, 1_000_000, "0.0035 %"),
            (19, 10_000, "0.19 %"),
            (98, 1_000, "9.8 %"),
            (996, 10_000, "10 %"),
            (45, 100, "45 %"),
            (7, 7, "100 %"),
        ];
        for (part, whole, text) in cases {
            assert_eq!(in_percent(part, whole), text);
        }
    }
}
