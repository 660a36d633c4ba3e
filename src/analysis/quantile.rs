//! Quantiles that are observed values, and how sure one may be of a median.
//!
//! Both are integer arithmetic, so that a table is the same on every machine. A quantile is the *nearest
//! rank*: the smallest observed value that at least the given share of all observations does not exceed.
//! Nothing is interpolated, and censored observations, which are longer than anything observed, keep their
//! place at the end of the order. The interval for the median rests on ranks alone, hence on no assumption
//! about the distribution (Conover, *Practical Nonparametric Statistics*, 3.2).

use std::cmp::Ordering;

use crate::engine::SimDuration;

/// Above this size the binomial tail is taken from the normal curve, which then errs by less than a rank.
const EXACT_UP_TO: usize = 4_096;

/// The quantile of `percent` (0 to 100; 0 is the smallest value) by nearest rank.
///
/// `sorted` holds values in ascending order with the number of observations of each; `total` counts all
/// observations, so `total` less the sum of the counts are censored and longer than every value. `None` if
/// there is no observation, or if the rank falls among the censored.
pub fn nearest_rank(sorted: &[(SimDuration, u64)], total: u64, percent: u8) -> Option<SimDuration> {
    debug_assert!(sorted.is_sorted_by_key(|(value, _)| *value), "values come in ascending order");
    debug_assert!(percent <= 100, "a share is at most 100 percent");
    let rank = (u128::from(total) * u128::from(percent)).div_ceil(100).max(1);
    let mut seen = 0_u128;
    for &(value, count) in sorted {
        seen += u128::from(count);
        if seen >= rank {
            return Some(value);
        }
    }
    None
}

/// The ranks (from 0, both included) between which the median of the population lies with a confidence of at
/// least 95 %, given `n` independent values in ascending order. `None` for `n` below 6: even the whole range
/// of five values covers the median with only 1 − 2/32 = 93.75 %.
///
/// The `k`-th value from below exceeds the median with the probability that fewer than `k` of `n` fair coins
/// fall below it. `k` is the largest that leaves at most 2.5 % on each side. Exact up to 4,096 values.
pub fn median_interval(n: usize) -> Option<(usize, usize)> {
    let k = if n <= EXACT_UP_TO { largest_tail_exact(n) } else { largest_tail_normal(n) };
    (k > 0).then(|| (k - 1, n - k))
}

/// The largest `k` with 40 · (C(n,0) + … + C(n,k−1)) ≤ 2ⁿ.
fn largest_tail_exact(n: usize) -> usize {
    let power = Natural::power_of_two(n);
    let mut binomial = Natural::from(1);
    let mut tail = Natural::from(0);
    for k in 0..n {
        tail.add(&binomial);
        let mut scaled = tail.clone();
        scaled.multiply(40);
        if scaled.compare(&power) == Ordering::Greater {
            return k;
        }
        binomial.multiply((n - k) as u32);
        binomial.divide((k + 1) as u32);
    }
    0
}

/// `⌊(n + 1)/2 − 0.98 √n⌋`: the same by the normal curve with continuity correction, rounded to the safe side.
fn largest_tail_normal(n: usize) -> usize {
    let n = n as u64;
    let root_hundredths = (n * 9_604).isqrt() + 1;
    ((50 * (n + 1)).saturating_sub(root_hundredths) / 100) as usize
}

/// A natural number of any size: just what an exact binomial tail needs. Lowest limb first, no leading zeros.
#[derive(Clone)]
struct Natural(Vec<u32>);

impl From<u32> for Natural {
    fn from(value: u32) -> Self {
        Self(if value == 0 { Vec::new() } else { vec![value] })
    }
}

impl Natural {
    fn power_of_two(exponent: usize) -> Self {
        let mut limbs = vec![0; exponent / 32];
        limbs.push(1 << (exponent % 32));
        Self(limbs)
    }

    fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()) + 1, 0);
        let mut carry = 0;
        for (i, limb) in self.0.iter_mut().enumerate() {
            let sum = u64::from(*limb) + u64::from(other.0.get(i).copied().unwrap_or(0)) + carry;
            *limb = sum as u32;
            carry = sum >> 32;
        }
        self.trim();
    }

    fn multiply(&mut self, factor: u32) {
        let mut carry = 0;
        for limb in &mut self.0 {
            let product = u64::from(*limb) * u64::from(factor) + carry;
            *limb = product as u32;
            carry = product >> 32;
        }
        self.0.push(carry as u32);
        self.trim();
    }

    /// Divides by a factor of this number.
    fn divide(&mut self, divisor: u32) {
        let mut rest = 0;
        for limb in self.0.iter_mut().rev() {
            let value = (rest << 32) | u64::from(*limb);
            *limb = (value / u64::from(divisor)) as u32;
            rest = value % u64::from(divisor);
        }
        assert_eq!(rest, 0, "a binomial coefficient is a whole number");
        self.trim();
    }

    fn compare(&self, other: &Self) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(values: &[(u64, u64)]) -> Vec<(SimDuration, u64)> {
        values.iter().map(|&(value, count)| (SimDuration::from_secs(value), count)).collect()
    }

    #[test]
    fn a_quantile_is_an_observed_value() {
        let values = seconds(&[(1, 1), (2, 1), (3, 1), (4, 1)]);
        let at = |percent| nearest_rank(&values, 4, percent).map(|d| d.as_millis() / 1_000);
        // Ranks of four: ⌈0.50 · 4⌉ = 2, ⌈0.51 · 4⌉ = 3, ⌈0.75 · 4⌉ = 3, ⌈0.99 · 4⌉ = 4.
        assert_eq!([at(0), at(25), at(50)], [Some(1), Some(1), Some(2)]);
        assert_eq!([at(51), at(75), at(99), at(100)], [Some(3), Some(3), Some(4), Some(4)]);
    }

    #[test]
    fn counts_weigh() {
        let values = seconds(&[(10, 97), (20, 2), (30, 1)]);
        assert_eq!(nearest_rank(&values, 100, 97), Some(SimDuration::from_secs(10)));
        assert_eq!(nearest_rank(&values, 100, 98), Some(SimDuration::from_secs(20)));
        assert_eq!(nearest_rank(&values, 100, 100), Some(SimDuration::from_secs(30)));
    }

    #[test]
    fn the_censored_come_last() {
        // Five observations, two of them censored: rank ⌈0.6 · 5⌉ = 3 is seen, rank ⌈0.61 · 5⌉ = 4 is not.
        let values = seconds(&[(1, 1), (2, 2)]);
        assert_eq!(nearest_rank(&values, 5, 60), Some(SimDuration::from_secs(2)));
        assert_eq!(nearest_rank(&values, 5, 61), None);
        assert_eq!(nearest_rank(&[], 3, 0), None);
        assert_eq!(nearest_rank(&[], 0, 50), None);
    }

    #[test]
    fn the_median_lies_between_the_ranks_of_the_table() {
        // Ranks from 1 as tables of the sign test print them: n = 6: 1–6 (96.9 %), 8: 1–8, 9: 2–8 (96.1 %),
        // 10: 2–9 (97.9 %), 15: 4–12 (96.5 %), 20: 6–15 (95.9 %), 25: 8–18, 30: 10–21, 100: 40–61 (96.5 %).
        assert!((0..6).all(|n| median_interval(n).is_none()));
        for (n, low, high) in [
            (6, 1, 6),
            (8, 1, 8),
            (9, 2, 8),
            (10, 2, 9),
            (15, 4, 12),
            (20, 6, 15),
            (25, 8, 18),
            (30, 10, 21),
            (100, 40, 61),
        ] {
            assert_eq!(median_interval(n), Some((low - 1, high - 1)), "n = {n}");
        }
    }

    #[test]
    fn the_interval_is_symmetric_and_grows_slowly() {
        let mut before = 0;
        for n in 6..700 {
            let (low, high) = median_interval(n).expect("six and more have one");
            assert_eq!(low, n - 1 - high);
            let k = low + 1;
            assert!(k == before || k == before + 1, "n = {n}");
            before = k;
        }
    }

    #[test]
    fn the_normal_curve_takes_over_without_a_step() {
        for n in [EXACT_UP_TO - 100, EXACT_UP_TO - 1, EXACT_UP_TO] {
            let (exact, normal) = (largest_tail_exact(n), largest_tail_normal(n));
            assert!(normal <= exact && exact - normal <= 1, "n = {n}: {exact} and {normal}");
        }
    }
}
