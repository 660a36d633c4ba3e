//! A sample of detection times in which some are known only to be longer than the run.
//!
//! A censored observation is never dropped, since it is just the long ones that are cut off: it takes part as
//! *longer than anything detected*. So a quantile can fall among the censored, and then it is not known; the
//! mean and the maximum are not known as soon as one observation is censored; the minimum always is. What was
//! superseded answers another question (the instance came back) and is in none of these figures.
//!
//! Quantiles are by nearest rank, hence always values that were observed: of `n` observations in ascending
//! order the quantile `p` percent is the one at rank `ceil(p × n / 100)`, and at least the first. All sums are
//! whole nanoseconds, so no figure depends on the order in which it was added up.

use crate::engine::SimDuration;
use crate::observe::{Detection, Outcome};

/// Detection times, weighted by how many observers saw just that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Detected: (T_D, observations), ascending, no length twice.
    detected: Vec<(SimDuration, u64)>,
    detected_count: u64,
    /// Of all T_D, ns.
    sum_nanos: u128,
    censored: u64,
    superseded: u64,
}

impl Sample {
    /// The sample of these rows.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Detection>) -> Self {
        let mut detected = Vec::new();
        let (mut sum_nanos, mut censored, mut superseded) = (0, 0, 0);
        for row in rows {
            match row.outcome {
                Outcome::Detected(length) => {
                    sum_nanos += u128::from(length.as_nanos()) * u128::from(row.count);
                    detected.push((length, row.count));
                }
                Outcome::Censored(_) => censored += row.count,
                Outcome::Superseded(_) => superseded += row.count,
            }
        }
        Self::rounded(detected, sum_nanos, censored, superseded)
    }

    /// A sample of detection times that may have been rounded, (T_D, observations) in any order; their sum, ns, is
    /// exact.
    pub fn rounded(
        mut detected: Vec<(SimDuration, u64)>,
        sum_nanos: u128,
        censored: u64,
        superseded: u64,
    ) -> Self {
        detected.sort_unstable();
        detected.dedup_by(|later, earlier| {
            let equal = later.0 == earlier.0;
            if equal {
                earlier.1 += later.1;
            }
            equal
        });
        let detected_count = detected.iter().map(|&(_, count)| count).sum();
        Self { detected, detected_count, sum_nanos, censored, superseded }
    }

    /// Observations, detected and censored.
    pub fn count(&self) -> u64 {
        self.detected_count + self.censored
    }

    /// Observations that the end of the run cut off.
    pub fn censored(&self) -> u64 {
        self.censored
    }

    /// Observations of an instance that came back before its end was noticed. Not part of [`Self::count`].
    pub fn superseded(&self) -> u64 {
        self.superseded
    }

    /// What was detected: (T_D, observations), ascending, no length twice.
    pub fn detected(&self) -> &[(SimDuration, u64)] {
        &self.detected
    }

    /// The shortest T_D; `None` if nothing was detected.
    pub fn min(&self) -> Option<SimDuration> {
        self.detected.first().map(|&(length, _)| length)
    }

    /// The longest T_D; `None` if nothing was detected or anything is censored.
    pub fn max(&self) -> Option<SimDuration> {
        if self.censored > 0 {
            return None;
        }
        self.detected.last().map(|&(length, _)| length)
    }

    /// The mean, rounded down to a nanosecond; `None` if nothing was detected or anything is censored.
    pub fn mean(&self) -> Option<SimDuration> {
        if self.censored > 0 {
            return None;
        }
        self.mean_of_detected()
    }

    /// The mean over what was detected, whatever is censored: the part of the truth that was seen.
    pub fn mean_of_detected(&self) -> Option<SimDuration> {
        let mean = self.sum_nanos().checked_div(u128::from(self.detected_count))?;
        Some(SimDuration::from_nanos(u64::try_from(mean).expect("a mean lies between two u64")))
    }

    /// The sum over what was detected, ns, before any rounding.
    pub fn sum_nanos(&self) -> u128 {
        self.sum_nanos
    }

    /// The quantile `percent` by nearest rank; `None` if it falls among the censored or there is nothing.
    pub fn percentile(&self, percent: u8) -> Option<SimDuration> {
        assert!(percent <= 100, "a percentile is at most 100");
        let rank = (u128::from(self.count()) * u128::from(percent)).div_ceil(100);
        self.at_rank(u64::try_from(rank).expect("a rank is at most the count").max(1))
    }

    /// The observation at this rank from 1, ascending; `None` if it is censored or there are not so many.
    pub fn at_rank(&self, rank: u64) -> Option<SimDuration> {
        assert!(rank >= 1, "ranks start at 1");
        let mut below = 0;
        for &(length, count) in &self.detected {
            below += count;
            if below >= rank {
                return Some(length);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::SimTime;
    use crate::model::id::InstanceId;
    use crate::model::stage::{EventKind, Stage};

    fn row(outcome: Outcome, count: u64) -> Detection {
        Detection {
            event: EventKind::Crash,
            instance: InstanceId(0),
            at: SimTime::ZERO,
            stage: Stage::Client,
            server: None,
            outcome,
            instances: 1,
            count,
        }
    }

    fn detected(secs: u64, count: u64) -> Detection {
        row(Outcome::Detected(SimDuration::from_secs(secs)), count)
    }

    fn secs(secs: u64) -> Option<SimDuration> {
        Some(SimDuration::from_secs(secs))
    }

    #[test]
    fn quantiles_are_by_nearest_rank_and_weighted() {
        // 10 10 20 20 20 20 20 20 40 40: ten observations in four rows. Rank of p50 is 5, of p90 is 9.
        let sample = Sample::of(&[detected(40, 2), detected(10, 2), detected(20, 5), detected(20, 1)]);
        assert_eq!(sample.count(), 10);
        assert_eq!(sample.percentile(50), secs(20));
        assert_eq!(sample.percentile(80), secs(20));
        assert_eq!(sample.percentile(90), secs(40));
        assert_eq!(sample.percentile(0), secs(10));
        // (2 × 10 + 6 × 20 + 2 × 40) / 10 = 22
        assert_eq!(sample.mean(), secs(22));
        assert_eq!((sample.min(), sample.max()), (secs(10), secs(40)));
    }

    #[test]
    fn censored_values_are_longer_than_anything_detected() {
        let rows = [detected(10, 3), row(Outcome::Censored(SimDuration::from_secs(1)), 2)];
        let sample = Sample::of(&rows);
        // Ranks 1 to 3 are detected, 4 and 5 are not: p60 is rank 3, p61 is rank 4.
        assert_eq!(sample.percentile(60), secs(10));
        assert_eq!(sample.percentile(61), None);
        assert_eq!((sample.min(), sample.mean(), sample.max()), (secs(10), None, None));
        assert_eq!(sample.mean_of_detected(), secs(10));
    }

    #[test]
    fn the_superseded_count_for_nothing() {
        let sample = Sample::of(&[detected(10, 1), row(Outcome::Superseded(SimDuration::from_secs(99)), 7)]);
        assert_eq!((sample.count(), sample.censored(), sample.superseded()), (1, 0, 7));
        assert_eq!(sample.max(), secs(10));
    }

    #[test]
    fn nothing_observed_gives_no_figures() {
        let sample = Sample::of([]);
        assert_eq!(
            (sample.min(), sample.mean(), sample.percentile(50), sample.max()),
            (None, None, None, None)
        );
    }

    proptest! {
        #[test]
        fn quantiles_are_observed_values_and_grow(
            rows in prop::collection::vec((0u64..500, 1u64..4), 1..40),
            censored in 0u64..10,
        ) {
            let mut all: Vec<Detection> = rows.iter().map(|&(secs, count)| detected(secs, count)).collect();
            all.push(row(Outcome::Censored(SimDuration::ZERO), censored));
            let sample = Sample::of(&all);
            let mut last = SimDuration::ZERO;
            for percent in 0..=100 {
                match sample.percentile(percent) {
                    Some(length) => {
                        prop_assert!(rows.iter().any(|&(secs, _)| SimDuration::from_secs(secs) == length));
                        prop_assert!(length >= last);
                        last = length;
                    }
                    None => last = SimDuration::MAX,
                }
            }
        }
    }
}
