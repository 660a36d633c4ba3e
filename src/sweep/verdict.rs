//! What a scenario claims, held against what came out. A claim is about one replicate; an expectation says in
//! what share of the replicates it must hold. No claim is judged on figures pooled over replicates: a
//! replicate is one possible history, and the claim is about histories.

use crate::model::message::RequestKind;
use crate::model::stage::{EventKind, Stage};
use crate::observe::{LoadMinute, Removal, ReplicateData, RunData};
use crate::scenario::{Claim, Comparison, Scenario, Statistic};
use crate::sweep::Sample;

/// How one expectation came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The expectation, as written in the scenario.
    pub text: String,
    /// Replicates in which the claim held.
    pub held_in: u32,
    /// Replicates there were.
    pub replicates: u32,
    /// The share in which it must hold, above 0, at most 1.
    pub required_share: f64,
    /// Whether it held often enough.
    pub passed: bool,
}

/// The verdict on every expectation of the scenario, in its order.
pub fn judge(scenario: &Scenario, data: &RunData) -> Vec<Verdict> {
    let replicates = u32::try_from(data.replicates.len()).expect("replicates are counted in a u32");
    scenario
        .expectations
        .iter()
        .map(|expectation| {
            let held = data.replicates.iter().filter(|replicate| holds(&expectation.claim, replicate));
            let held_in = u32::try_from(held.count()).expect("no more than the replicates");
            Verdict {
                text: expectation.text.clone(),
                held_in,
                replicates,
                required_share: expectation.in_share,
                passed: passed(held_in, expectation.in_share, replicates),
            }
        })
        .collect()
}

/// Whether a claim that must hold in this share of the replicates holds often enough.
pub fn passed(held_in: u32, required_share: f64, replicates: u32) -> bool {
    held_in >= replicates_required(required_share, replicates)
}

/// Whether the claim holds in this replicate.
pub fn holds(claim: &Claim, replicate: &ReplicateData) -> bool {
    match claim {
        &Claim::Latency { event, stage, statistic, comparison, limit } => {
            let sample = sample_of(replicate, event, stage);
            if sample.count() == 0 {
                return false;
            }
            let limit = u128::from(limit.as_nanos());
            match statistic {
                // Compared as a sum, so that no rounding decides.
                Statistic::Mean => compare(
                    sample.mean().map(|_| sample.sum_nanos()),
                    comparison,
                    limit * u128::from(sample.count()),
                ),
                Statistic::Min => compare(nanos(sample.min()), comparison, limit),
                Statistic::Percentile(percent) => {
                    compare(nanos(sample.percentile(percent)), comparison, limit)
                }
                Statistic::Max => compare(nanos(sample.max()), comparison, limit),
            }
        }
        &Claim::FalseRemovals(comparison, count) => comparison.holds(false_removals(replicate), count.into()),
        &Claim::Left { comparison, count } => comparison.holds(replicate.left_at_end(), count),
        &Claim::Evictions(comparison, count) => {
            let evicted: u64 = replicate.rounds.iter().map(|row| u64::from(row.round.evicted)).sum();
            comparison.holds(evicted, count.into())
        }
        Claim::Rounds(expected) => replicate
            .rounds
            .iter()
            .map(|row| row.round.evicted)
            .filter(|&evicted| evicted > 0)
            .eq(expected.iter().copied()),
        &Claim::SelfPreservationAtEnd(engaged) => replicate.self_preservation_at_end() == engaged,
        Claim::SelfPreservationMeanwhile(_)
        | Claim::ServersAgree
        | Claim::ServersAgreeAfter(_)
        | Claim::Differing(..)
        | Claim::Utilisation(..) => unreachable!("no scenario says so yet"),
        &Claim::Mistakes(stage, comparison, count) => comparison.holds(mistakes(replicate, stage), count),
        &Claim::QueryAccuracy(stage, comparison, percent) => {
            query_accuracy(replicate, stage).is_some_and(|accuracy| comparison.holds(accuracy, percent))
        }
        &Claim::FailedCalls(comparison, percent) => {
            failed_calls(replicate).is_some_and(|failed| comparison.holds(failed, percent))
        }
        &Claim::Load { kinds, comparison, count } => {
            comparison.holds(busiest_minute(replicate, kinds), count)
        }
    }
}

/// Mistakes at a stage, over all observers.
fn mistakes(replicate: &ReplicateData, stage: Stage) -> u64 {
    replicate.mistakes.iter().filter(|row| row.stage == stage).map(|row| row.count).sum()
}

/// P_A over all observers, percent; `None` if nobody was observed.
fn query_accuracy(replicate: &ReplicateData, stage: Stage) -> Option<f64> {
    let rows = || replicate.quality.iter().filter(|row| row.stage == stage);
    let good: u128 = rows().map(|row| row.good_nanos).sum();
    let mistaken: u128 = rows().map(|row| row.mistaken_nanos).sum();
    (good > 0).then(|| 100.0 * (good - mistaken) as f64 / good as f64)
}

/// The share of calls that failed, percent; `None` without a call.
fn failed_calls(replicate: &ReplicateData) -> Option<f64> {
    let calls: u64 = replicate.calls.iter().map(|row| row.calls).sum();
    let failed: u64 = replicate.calls.iter().map(|row| row.failed).sum();
    (calls > 0).then(|| 100.0 * failed as f64 / calls as f64)
}

/// Requests of these kinds in the server's busiest minute.
fn busiest_minute(replicate: &ReplicateData, kinds: &[RequestKind]) -> u64 {
    let of = |row: &LoadMinute| kinds.iter().map(|&kind| row.requests[kind as usize]).sum();
    replicate.load.iter().map(of).max().unwrap_or(0)
}

/// Live instances that the server itself removed.
fn false_removals(replicate: &ReplicateData) -> u64 {
    let evicted = replicate.mistakes.iter().filter(|row| row.removal == Removal::Evicted);
    evicted.map(|row| row.count).sum()
}

fn sample_of(replicate: &ReplicateData, event: Option<EventKind>, stage: Stage) -> Sample {
    let wanted = |kind| event.is_none_or(|event| event == kind);
    Sample::of(replicate.detections.iter().filter(|row| row.stage == stage && wanted(row.event)))
}

fn nanos(length: Option<crate::engine::SimDuration>) -> Option<u128> {
    length.map(|length| u128::from(length.as_nanos()))
}

/// Compares a statistic with a limit; `None` is a censored one, longer than any limit.
fn compare(statistic: Option<u128>, comparison: Comparison, limit: u128) -> bool {
    match statistic {
        Some(value) => comparison.holds(value, limit),
        None => matches!(comparison, Comparison::Above | Comparison::AtLeast),
    }
}

/// The fewest replicates that make up the share. A share is a decimal fraction that a float holds only nearly
/// (0.07 × 100 is a little more than 7), so a hair is taken off before rounding up.
fn replicates_required(share: f64, replicates: u32) -> u32 {
    const HAIR: f64 = 1e-9;
    ((share * f64::from(replicates) - HAIR).ceil().max(0.0) as u32).min(replicates)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::engine::{SimDuration, SimTime};
    use crate::model::fact::EvictionRound;
    use crate::model::id::InstanceId;
    use crate::observe::{Detection, Ending, Mistake, Outcome};

    fn replicate() -> ReplicateData {
        ReplicateData {
            replicate: 0,
            ending: Ending::Settled,
            ended_at: SimTime::from_secs(900),
            events: 1,
            digest: 1,
            instances: BTreeMap::from([(InstanceId(0), "a-1".into())]),
            detections: Vec::new(),
            mistakes: Vec::new(),
            folded: crate::observe::Folded::default(),
            quality: Vec::new(),
            calls: Vec::new(),
            timeline: Vec::new(),
            load: Vec::new(),
            faults: Vec::new(),
            rounds: Vec::new(),
            leases: crate::observe::LeaseCounts::default(),
            agreement: crate::observe::Agreement::default(),
            divergence: Vec::new(),
            servers: vec![crate::observe::ServerEnd { is_up: true, left: 57, self_preservation: false }],
        }
    }

    fn crash(outcome: Outcome, count: u64) -> Detection {
        Detection {
            event: EventKind::Crash,
            instance: InstanceId(0),
            at: SimTime::ZERO,
            stage: Stage::Balancer,
            server: None,
            outcome,
            instances: 1,
            count,
        }
    }

    fn latency(statistic: Statistic, comparison: Comparison, secs: u64) -> Claim {
        Claim::Latency {
            event: None,
            stage: Stage::Balancer,
            statistic,
            comparison,
            limit: SimDuration::from_secs(secs),
        }
    }

    #[test]
    fn a_censored_statistic_is_longer_than_any_limit() {
        let mut data = replicate();
        data.detections = vec![
            crash(Outcome::Detected(SimDuration::from_secs(100)), 9),
            crash(Outcome::Censored(SimDuration::from_secs(200)), 1),
        ];
        assert!(holds(&latency(Statistic::Percentile(90), Comparison::AtMost, 100), &data));
        assert!(!holds(&latency(Statistic::Percentile(91), Comparison::Below, 9_999), &data));
        assert!(holds(&latency(Statistic::Max, Comparison::Above, 9_999), &data));
        assert!(!holds(&latency(Statistic::Mean, Comparison::Below, 9_999), &data));
        assert!(holds(&latency(Statistic::Min, Comparison::Exactly, 100), &data));
    }

    #[test]
    fn a_mean_is_compared_without_rounding() {
        let mut data = replicate();
        // (100 s + 100 s + 100 s + 1 ns) / 3 is above 100 s, by a third of a nanosecond.
        data.detections = vec![
            crash(Outcome::Detected(SimDuration::from_secs(100)), 2),
            crash(Outcome::Detected(SimDuration::from_nanos(100_000_000_001)), 1),
        ];
        assert!(holds(&latency(Statistic::Mean, Comparison::Above, 100), &data));
    }

    #[test]
    fn no_observation_fails_a_claim_about_latency() {
        assert!(!holds(&latency(Statistic::Max, Comparison::Above, 1), &replicate()));
        let mut data = replicate();
        data.detections = vec![crash(Outcome::Superseded(SimDuration::from_secs(5)), 1)];
        assert!(!holds(&latency(Statistic::Max, Comparison::AtLeast, 0), &data));
    }

    #[test]
    fn counts_are_those_of_the_replicate() {
        let mut data = replicate();
        let round = |evicted| EvictionRound {
            enabled: true,
            compensation_ms: 0,
            expired: 60,
            limit: 15,
            evicted,
            registered: 100,
        };
        data.rounds = [15, 13, 0, 11]
            .map(|evicted| crate::observe::RoundRow {
                at: SimTime::ZERO,
                server: crate::model::id::ServerId(0),
                round: round(evicted),
            })
            .to_vec();
        assert!(holds(&Claim::Rounds(vec![15, 13, 11]), &data));
        assert!(!holds(&Claim::Rounds(vec![15, 13]), &data));
        // 15 + 13 + 0 + 11 = 39
        assert!(holds(&Claim::Evictions(Comparison::Exactly, 39), &data));
        assert!(holds(&Claim::Left { comparison: Comparison::AtLeast, count: 57 }, &data));
        assert!(holds(&Claim::SelfPreservationAtEnd(false), &data));
        let mistake = |stage| Mistake {
            instance: InstanceId(0),
            stage,
            server: None,
            at: SimTime::ZERO,
            lasted: SimDuration::ZERO,
            corrected: true,
            removal: if stage == Stage::Registry { Removal::Evicted } else { Removal::NotShown },
            instances: 1,
            count: 1,
        };
        data.mistakes = vec![mistake(Stage::Registry), mistake(Stage::Client)];
        assert!(holds(&Claim::FalseRemovals(Comparison::AtMost, 1), &data));
        assert!(!holds(&Claim::FalseRemovals(Comparison::Exactly, 0), &data));
    }

    #[test]
    fn a_share_asks_for_whole_replicates() {
        assert_eq!(replicates_required(1.0, 300), 300);
        assert_eq!(replicates_required(0.95, 300), 285);
        // In floats 0.07 × 100 = 7.000000000000001, which must not ask for eight.
        assert_eq!(replicates_required(0.07, 100), 7);
        assert_eq!(replicates_required(0.5, 3), 2);
        assert_eq!(replicates_required(0.001, 3), 1);
    }
}
