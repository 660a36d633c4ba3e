//! Distribution-free confidence intervals whose unit is the replicate.
//!
//! The observers of one replicate watch the same death through the same server, so their observations are
//! anything but independent; only replicates are. Of `n` independent values in ascending order, the quantile
//! `q` of their distribution lies between the `l`-th and the `u`-th with a probability that depends on nothing
//! but `n` and `q`: the number of values below it is binomial. [`rank_interval`] gives the two ranks for 95 %,
//! at most 2.5 % on each side.
//!
//! Two uses. The interval of a *replicate's mean* takes the ranks of the median among the replicates' means.
//! The interval of a *pooled quantile* takes the ranks as shares of all observations: `l` of `n` replicates
//! become the first observation after the share `(l − 1) / n`, `u` of `n` the last one up to `u / n`. That is
//! exact where the observations of a replicate are all alike, and wider than needed otherwise, since the share
//! of observations below the quantile varies most when each replicate says the same all through. It takes
//! replicates to have about equally many observations.
//!
//! The binomial weights are found by multiplying and adding only, so they are the same on every platform.

use super::stages::IntervalMs;
use crate::engine::SimDuration;
use crate::sweep::Sample;

/// On each side.
const TAIL: f64 = 0.025;

/// Ranks from 1 between which a quantile lies; `None` where the values do not bound it on that side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    /// The lower rank.
    pub low: Option<u64>,
    /// The upper rank.
    pub high: Option<u64>,
}

/// The ranks between which, of `n` independent values, the quantile `percent` lies with 95 % probability.
pub(super) fn rank_interval(n: u64, percent: u8) -> Interval {
    assert!((1..=99).contains(&percent), "an inner quantile");
    let weights = binomial_weights(n, f64::from(percent) / 100.0);
    // The largest l with P(X <= l − 1) <= 2.5 %, X being the number of values below the quantile.
    let low = count_within_tail(weights.iter());
    // The smallest u with P(X >= u) <= 2.5 %: from the other end, so many of the n + 1 outcomes.
    let beyond = count_within_tail(weights.iter().rev());
    Interval { low: (low > 0).then_some(low), high: (beyond > 0).then(|| n + 1 - beyond) }
}

/// The interval of the median among these values, one a replicate; a censored one is longer than any.
pub(super) fn of_replicates(mut values: Vec<Option<SimDuration>>) -> IntervalMs {
    values.sort_unstable_by_key(|value| value.unwrap_or(SimDuration::MAX));
    let ranks = rank_interval(values.len() as u64, 50);
    let value = |rank: Option<u64>| {
        let index = usize::try_from(rank? - 1).expect("a rank is at most the length");
        values[index].map(SimDuration::as_millis)
    };
    IntervalMs { low_ms: value(ranks.low), high_ms: value(ranks.high) }
}

/// The interval of the pooled quantile `percent` of a sample that `replicates` replicates contributed to.
pub(super) fn of_quantile(sample: &Sample, replicates: u64, percent: u8) -> IntervalMs {
    let ranks = rank_interval(replicates, percent);
    let share = |numerator: u64| u128::from(sample.count()) * u128::from(numerator);
    let at = |rank: u128| {
        let rank = u64::try_from(rank).expect("a rank is at most the count");
        sample.at_rank(rank.max(1)).map(SimDuration::as_millis)
    };
    let n = u128::from(replicates);
    IntervalMs {
        low_ms: ranks.low.and_then(|low| at(share(low - 1) / n + 1)),
        high_ms: ranks.high.and_then(|high| at(share(high).div_ceil(n))),
    }
}

/// How many outcomes from this end stay within the tail together.
fn count_within_tail<'a>(weights: impl Iterator<Item = &'a f64>) -> u64 {
    let mut sum = 0.0;
    let mut count = 0;
    for weight in weights {
        sum += weight;
        if sum > TAIL {
            break;
        }
        count += 1;
    }
    count
}

/// The probabilities of 0 to `n` successes. Started at the mode with weight 1 and scaled at the end: starting
/// at 0 would underflow for a thousand replicates.
fn binomial_weights(n: u64, q: f64) -> Vec<f64> {
    let size = usize::try_from(n).expect("replicates fit into memory") + 1;
    let mut weights = vec![0.0; size];
    let mode = ((n as f64 + 1.0) * q) as usize;
    let mode = mode.min(size - 1);
    weights[mode] = 1.0;
    let odds = q / (1.0 - q);
    for k in mode + 1..size {
        weights[k] = weights[k - 1] * odds * (size - k) as f64 / k as f64;
    }
    for k in (0..mode).rev() {
        weights[k] = weights[k + 1] / odds * (k + 1) as f64 / (size - 1 - k) as f64;
    }
    let total: f64 = weights.iter().sum();
    for weight in &mut weights {
        *weight /= total;
    }
    weights
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{Binomial, DiscreteCDF};

    use super::*;

    #[test]
    fn six_values_are_the_fewest_that_bound_a_median() {
        // P(all six on one side) = 1/64 = 1.6 % <= 2.5 %; of five it is 1/32 = 3.1 %.
        assert_eq!(rank_interval(6, 50), Interval { low: Some(1), high: Some(6) });
        assert_eq!(rank_interval(5, 50), Interval { low: None, high: None });
        assert_eq!(rank_interval(0, 50), Interval { low: None, high: None });
    }

    #[test]
    fn textbook_ranks_of_a_median() {
        // Tables of the sign test: n = 9 gives 2 and 8 (96.1 %), n = 25 gives 8 and 18.
        for (n, low, high) in [(9, 2, 8), (10, 2, 9), (15, 4, 12), (25, 8, 18), (30, 10, 21), (100, 40, 61)] {
            assert_eq!(rank_interval(n, 50), Interval { low: Some(low), high: Some(high) });
        }
    }

    #[test]
    fn three_hundred_replicates_do_not_bound_a_p99_from_above() {
        // 0.99^300 = 4.9 %: that all 300 lie below it is too likely.
        assert_eq!(rank_interval(300, 99).high, None);
        // 0.99^400 = 1.8 %
        assert_eq!(rank_interval(400, 99).high, Some(400));
    }

    #[test]
    fn ranks_agree_with_an_independent_binomial() {
        for n in [7u64, 50, 300, 2_000] {
            for percent in [50u8, 90, 95, 99] {
                let oracle = Binomial::new(f64::from(percent) / 100.0, n).unwrap();
                let ranks = rank_interval(n, percent);
                if let Some(low) = ranks.low {
                    assert!(oracle.cdf(low - 1) <= TAIL && oracle.cdf(low) > TAIL, "{n} {percent}");
                }
                if let Some(high) = ranks.high {
                    assert!(oracle.sf(high - 1) <= TAIL && oracle.sf(high - 2) > TAIL, "{n} {percent}");
                }
            }
        }
    }
}
