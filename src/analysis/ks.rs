//! Kolmogorov–Smirnov: do these values come from that distribution?
//!
//! The statistic is the largest vertical gap between two distribution functions. Between two samples it is a
//! fraction of whole numbers and computed as one. How surprising a gap is follows Kolmogorov's limit law with
//! Stephens' correction for small samples (*JRSS B* 32, 1970): with `n` the effective size and `D` the gap,
//!
//! ```text
//! P(D or more) ≈ 2 Σ (−1)^(j−1) exp(−2 j² λ²),   λ = (√n + 0.12 + 0.11/√n) D
//! ```
//!
//! Stephens' form is good to a few per cent of the probability from five values on. Values that are measured
//! on a coarse grid have ties; the test is then conservative, that is, too slow to reject.

use crate::engine::SimDuration;

/// λ at which a gap has a probability of 1 %: the root of the series above.
const LAMBDA_ONE_PERCENT: f64 = 1.627_623_611_518_95;

/// The largest gap between the distribution of `sorted` (ascending) and the distribution function `cdf`, 0 to
/// 1; 0 for no values.
pub fn one_sample_statistic(sorted: &[SimDuration], cdf: impl Fn(SimDuration) -> f64) -> f64 {
    debug_assert!(sorted.is_sorted(), "values come in ascending order");
    let n = sorted.len() as f64;
    let gap_at = |(i, value): (usize, &SimDuration)| {
        let expected = cdf(*value);
        (expected - i as f64 / n).max((i + 1) as f64 / n - expected)
    };
    sorted.iter().enumerate().map(gap_at).fold(0.0, f64::max)
}

/// The largest gap between the distributions of two samples (each ascending), 0 to 1; 0 if one is empty.
pub fn two_sample_statistic(left: &[SimDuration], right: &[SimDuration]) -> f64 {
    debug_assert!(left.is_sorted() && right.is_sorted(), "values come in ascending order");
    let (n, m) = (left.len(), right.len());
    if n == 0 || m == 0 {
        return 0.0;
    }
    let (mut i, mut j, mut widest) = (0, 0, 0_u128);
    while i < n && j < m {
        let value = left[i].min(right[j]);
        i += left[i..].iter().take_while(|&&x| x == value).count();
        j += right[j..].iter().take_while(|&&x| x == value).count();
        widest = widest.max((i as u128 * m as u128).abs_diff(j as u128 * n as u128));
    }
    widest as f64 / (n as f64 * m as f64)
}

/// The effective size of a comparison between samples of `n` and `m` values.
pub fn effective_size(n: usize, m: usize) -> f64 {
    let (n, m) = (n as f64, m as f64);
    if n + m == 0.0 { 0.0 } else { n * m / (n + m) }
}

/// The probability of a gap of `statistic` or more between values of the same distribution, by the
/// approximation above. `size` is the number of values, or [`effective_size`] for two samples.
pub fn p_value(statistic: f64, size: f64) -> f64 {
    let lambda = scale(size) * statistic;
    // Below this the series converges slowly, and the probability differs from 1 by less than 1e-10.
    if lambda < 0.2 {
        return 1.0;
    }
    let term = |j: i32| {
        let sign = if j % 2 == 1 { 2.0 } else { -2.0 };
        sign * libm::exp(-2.0 * f64::from(j * j) * lambda * lambda)
    };
    (1..=50).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// The gap that values of the same distribution exceed with a probability of 1 %. At most 1.
pub fn critical_value_one_percent(size: f64) -> f64 {
    (LAMBDA_ONE_PERCENT / scale(size)).min(1.0)
}

/// Stephens' factor.
fn scale(size: f64) -> f64 {
    let root = libm::sqrt(size);
    root + 0.12 + 0.11 / root
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(values: &[u64]) -> Vec<SimDuration> {
        values.iter().map(|&s| SimDuration::from_secs(s)).collect()
    }

    #[test]
    fn one_sample_against_a_uniform() {
        // Uniform on 0 to 10 s: at 2 the step goes from 0 to 1/3 and the line is at 0.2; at 3 from 1/3 to 2/3
        // against 0.3; at 9 from 2/3 to 1 against 0.9. The widest gap is 2/3 − 0.3.
        let gap = one_sample_statistic(&seconds(&[2, 3, 9]), |value| value.as_secs_f64() / 10.0);
        assert!((gap - (2.0 / 3.0 - 0.3)).abs() < 1e-12);
        assert_eq!(one_sample_statistic(&[], |_| 0.5), 0.0);
    }

    #[test]
    fn two_samples_with_ties() {
        // After 1: 1/2 against 0; after 2: 1 against 1/3; then 1 against 2/3.
        assert_eq!(two_sample_statistic(&seconds(&[1, 2]), &seconds(&[2, 3, 4])), 2.0 / 3.0);
        assert_eq!(two_sample_statistic(&seconds(&[1, 1, 2]), &seconds(&[1, 1, 2])), 0.0);
        assert_eq!(two_sample_statistic(&seconds(&[1]), &seconds(&[5])), 1.0);
        assert_eq!(two_sample_statistic(&[], &seconds(&[5])), 0.0);
    }

    #[test]
    fn the_limit_law_has_its_known_points() {
        // For large samples λ = 1.3581 has 5 % and 1.6276 has 1 %.
        let size = 1e12;
        let at = |lambda: f64| p_value(lambda / scale(size), size);
        assert!((at(1.358_1) - 0.05).abs() < 1e-5);
        assert!((at(LAMBDA_ONE_PERCENT) - 0.01).abs() < 1e-12);
        assert_eq!(at(0.1), 1.0);
        assert!(at(0.2) > 0.999_999_9 && at(4.0) < 1e-13);
    }

    #[test]
    fn small_samples_come_close_to_the_exact_table() {
        // Exact two-sided critical values at 1 % (Miller 1956): n = 5: 0.669, 10: 0.489, 20: 0.352, 50: 0.226.
        for (size, exact) in [(5.0, 0.669), (10.0, 0.489), (20.0, 0.352), (50.0, 0.226)] {
            let approximate = critical_value_one_percent(size);
            assert!((approximate / exact - 1.0).abs() < 0.015, "n = {size}: {approximate} and {exact}");
        }
    }

    #[test]
    fn two_samples_count_as_one_of_effective_size() {
        assert_eq!(effective_size(10, 10), 5.0);
        assert!((effective_size(15, 3_000) - 45_000.0 / 3_015.0).abs() < 1e-12);
        assert_eq!(effective_size(0, 0), 0.0);
    }
}
