//! How much a configuration differs from the first, by pairs of replicates.
//!
//! Replicate `n` draws the same luck in every configuration: the same phases, the same victims, the same latencies. So
//! the difference of two configurations is taken within each replicate, where luck cancels, and only then averaged
//! (common random numbers; Law, *Simulation Modeling and Analysis*, 10.2 and 11.2). The interval is Student's for the
//! mean of these differences: exact where they are normal, and close to it for the mean of twenty or more of any
//! distribution that a run of bounded length can have.
//!
//! Sums are whole numbers, and the quantiles of Student's distribution are a table and a series of plain arithmetic, so
//! the interval is the same on every platform.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::SimDuration;

/// A replicate's mean T_D: `None` without any observation, `Some(None)` if some are censored.
pub(super) type ReplicateMean = Option<Option<SimDuration>>;

/// The difference of the mean T_D to that of the first configuration. Milliseconds, rounded to the nearest; negative
/// where this configuration is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Replicates with an observation in both.
    pub pairs: u64,
    /// The mean over them of the difference of their means.
    pub mean_ms: i64,
    /// The lower end of its 95 % interval; null for fewer than two pairs.
    pub low_ms: Option<i64>,
    /// The upper end; null for fewer than two pairs.
    pub high_ms: Option<i64>,
}

impl Difference {
    /// The difference of `these` to `first`, replicate by replicate; `None` if there is no pair, or if a mean is not
    /// known since something is censored.
    pub(super) fn of(first: &[ReplicateMean], these: &[ReplicateMean]) -> Option<Self> {
        let pairs = first.iter().zip(these).filter_map(|(first, this)| Some(((*first)?, (*this)?)));
        let mut differences = Vec::new();
        for (first, this) in pairs {
            differences.push(i128::from(this?.as_nanos()) - i128::from(first?.as_nanos()));
        }
        let n = differences.len() as i128;
        if n == 0 {
            return None;
        }
        let sum: i128 = differences.iter().sum();
        let mean = sum as f64 / n as f64;
        let half = (n > 1).then(|| {
            let squares: i128 = differences.iter().map(|difference| difference * difference).sum();
            // n (n − 1) times the variance; a whole number, so that it is exactly zero where all are equal.
            let scaled = (n * squares - sum * sum) as f64;
            let variance_of_mean = scaled / (n as f64 * n as f64 * (n - 1) as f64);
            student_97_5(n as u64 - 1) * libm::sqrt(variance_of_mean)
        });
        let ms = |nanos: f64| libm::round(nanos / 1e6) as i64;
        Some(Self {
            pairs: n as u64,
            mean_ms: ms(mean),
            low_ms: half.map(|half| ms(mean - half)),
            high_ms: half.map(|half| ms(mean + half)),
        })
    }
}

/// Quantiles of Student's distribution at 97.5 % for 1 to 30 degrees of freedom.
const STUDENT_97_5: [f64; 30] = [
    12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139,
    2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963,
    2.079614, 2.073873, 2.068658, 2.063899, 2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272,
];

/// The quantile at 97.5 %. Beyond the table it is the series of Cornish and Fisher around the normal one, which is
/// right to six digits there.
fn student_97_5(freedom: u64) -> f64 {
    assert!(freedom >= 1, "two values at least");
    let tabulated = usize::try_from(freedom - 1).ok().and_then(|index| STUDENT_97_5.get(index));
    if let Some(&quantile) = tabulated {
        return quantile;
    }
    let (z, v) = (1.959_963_985, freedom as f64);
    let (z3, z5, z7) = (z * z * z, z * z * z * z * z, z * z * z * z * z * z * z);
    z + (z3 + z) / (4.0 * v)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * v * v * v)
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, StudentsT};

    use super::*;

    fn means(ms: &[u64]) -> Vec<ReplicateMean> {
        ms.iter().map(|&ms| Some(Some(SimDuration::from_millis(ms)))).collect()
    }

    #[test]
    fn quantiles_are_those_of_student() {
        for freedom in (1..40).chain([50, 99, 299, 999, 100_000]) {
            let exact = StudentsT::new(0.0, 1.0, freedom as f64).unwrap().inverse_cdf(0.975);
            assert!((student_97_5(freedom) - exact).abs() < 1e-5 * exact, "{freedom}: {exact}");
        }
    }

    #[test]
    fn differences_are_taken_within_replicates() {
        // Luck moves both by tens of seconds; their difference is 2, 3 and 4 s. Mean 3, s = 1 s, so the half width is
        // 4.302653 × 1 / √3 = 2.484 s.
        let difference = Difference::of(&means(&[10_000, 90_000, 50_000]), &means(&[12_000, 93_000, 54_000]));
        let expected = Difference { pairs: 3, mean_ms: 3_000, low_ms: Some(516), high_ms: Some(5_484) };
        assert_eq!(difference, Some(expected));
    }

    #[test]
    fn the_same_difference_everywhere_is_certain() {
        let difference = Difference::of(&means(&[10_000, 20_000]), &means(&[9_000, 19_000]));
        let expected = Difference { pairs: 2, mean_ms: -1_000, low_ms: Some(-1_000), high_ms: Some(-1_000) };
        assert_eq!(difference, Some(expected));
    }

    #[test]
    fn what_is_not_known_gives_no_difference() {
        let mut censored = means(&[1, 2]);
        censored[1] = Some(None);
        assert_eq!(Difference::of(&means(&[1, 2]), &censored), None);
        assert_eq!(Difference::of(&[None, None], &means(&[1, 2])), None);
        // One replicate saw nothing in one of the two: it is no pair.
        let mut absent = means(&[5, 2]);
        absent[1] = None;
        let one = Difference::of(&means(&[1, 2]), &absent).expect("a pair is left");
        assert_eq!((one.pairs, one.mean_ms, one.low_ms), (1, 4, None));
    }
}
