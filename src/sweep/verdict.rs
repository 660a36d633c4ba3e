//! What a scenario claims, held against what came out. A claim is about one replicate; an expectation says in
//! what share of the replicates it must hold. No claim is judged on figures pooled over replicates: a
//! replicate is one possible history, and the claim is about histories.

mod subject;
#[cfg(test)]
mod tests;

use crate::observe::{ReplicateData, RunData};
use crate::scenario::{Claim, Comparison, Expectation, Scenario, Statistic};
use crate::sweep::Sample;
use subject::Subject;

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
            let held = data.replicates.iter().filter(|replicate| holds(expectation, scenario, replicate));
            let held_in = u32::try_from(held.count()).expect("no more than the replicates");
            Verdict::of(expectation, held_in, replicates)
        })
        .collect()
}

impl Verdict {
    /// The verdict on an expectation that held in so many of so many replicates.
    pub fn of(expectation: &Expectation, held_in: u32, replicates: u32) -> Self {
        Self {
            text: expectation.text.clone(),
            held_in,
            replicates,
            required_share: expectation.in_share,
            passed: passed(held_in, expectation.in_share, replicates),
        }
    }
}

/// Whether a claim that must hold in this share of the replicates holds often enough.
fn passed(held_in: u32, required_share: f64, replicates: u32) -> bool {
    held_in >= replicates_required(required_share, replicates)
}

/// Whether an expectation of the scenario holds in this replicate.
pub fn holds(expectation: &Expectation, scenario: &Scenario, replicate: &ReplicateData) -> bool {
    let threads = scenario.capacity.as_ref().map(|capacity| capacity.threads);
    is_true(&expectation.claim, &Subject { replicate, server: expectation.server, threads })
}

fn is_true(claim: &Claim, of: &Subject<'_>) -> bool {
    match claim {
        &Claim::Latency { event, stage, statistic, comparison, limit } => {
            let limit = u128::from(limit.as_nanos());
            latency_is(&of.sample(event, stage), statistic, comparison, limit)
        }
        &Claim::FalseRemovals(comparison, count) => comparison.holds(of.false_removals(), count.into()),
        &Claim::Left { comparison, count } => of.left().all(|left| comparison.holds(left, count)),
        &Claim::Evictions(comparison, count) => comparison.holds(of.evictions(), count.into()),
        Claim::Rounds(expected) => of.evicted_by_round().iter().all(|evicted| evicted == expected),
        &Claim::SelfPreservationMeanwhile(engaged) => {
            of.self_preservation_meanwhile().all(|it| it == engaged)
        }
        Claim::ServersAgree => of.replicate.differing_at(of.replicate.ended_at) == 0,
        &Claim::ServersAgreeAfter(length) => {
            of.replicate.differing_max_from(of.last_fault_over() + length) == 0
        }
        &Claim::Differing(comparison, count) => {
            comparison.holds(of.replicate.differing_max_from(of.first_fault_began()), count)
        }
        &Claim::Utilisation(comparison, percent) => comparison.holds(of.utilisation_percent(), percent),
        &Claim::Mistakes(stage, comparison, count) => comparison.holds(of.mistakes(stage), count),
        &Claim::QueryAccuracy(stage, comparison, percent) => {
            of.query_accuracy(stage).is_some_and(|accuracy| comparison.holds(accuracy, percent))
        }
        // Either keeps a server from evicting, and no registry has both.
        &Claim::SelfPreservationAtEnd(shut) | &Claim::GuardShutAtEnd(shut) => {
            of.self_preservation_at_end().all(|it| it == shut)
        }
        &Claim::GuardShutMeanwhile(shut) => of.guard_shut_meanwhile().all(|it| it == shut),
        &Claim::SoftEvictions(comparison, count) => comparison.holds(of.soft_evictions(), count.into()),
        &Claim::RefusedAnswers(comparison, count) => {
            comparison.holds(of.replicate.consumers.refused_answers, count)
        }
        &Claim::FailedStarts(comparison, count) => {
            comparison.holds(of.replicate.consumers.failed_starts, count)
        }
        &Claim::FailedCalls(comparison, percent) => {
            of.failed_calls().is_some_and(|failed| comparison.holds(failed, percent))
        }
        &Claim::Load { kinds, comparison, count } => comparison.holds(of.busiest_minute(kinds), count),
    }
}

/// Compares a statistic of detection times with a limit, ns. No observation at all fails it.
fn latency_is(sample: &Sample, statistic: Statistic, comparison: Comparison, limit: u128) -> bool {
    if sample.count() == 0 {
        return false;
    }
    match statistic {
        // Compared as a sum, so that no rounding decides.
        Statistic::Mean => {
            compare(sample.mean().map(|_| sample.sum_nanos()), comparison, limit * u128::from(sample.count()))
        }
        Statistic::Min => compare(nanos(sample.min()), comparison, limit),
        Statistic::Percentile(percent) => compare(nanos(sample.percentile(percent)), comparison, limit),
        Statistic::Max => compare(nanos(sample.max()), comparison, limit),
    }
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
