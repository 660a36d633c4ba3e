//! How many events of a Poisson process fall into a span: exact for any mean, so that a span in which nothing
//! else happens costs one draw and not one for each event.
//!
//! Small means are inverted: one number decides. Large ones take Hörmann's transformed rejection ("The transformed
//! rejection method for generating Poisson random variables", Insurance: Mathematics and Economics 12, 1993,
//! algorithm PTRS), which needs about 1.1 draws whatever the mean is.

use super::rng::{Purpose, Rng};

/// From here on rejection takes over from inversion.
const REJECTION_FROM: f64 = 10.0;

impl Rng<'_> {
    /// The number of events of a Poisson process in a span in which `mean` are expected, from 0 to 2⁵³. A mean of
    /// 0 draws nothing.
    ///
    /// # Panics
    /// If the mean is negative, not a number, or above 2⁵².
    pub fn poisson(&mut self, purpose: Purpose, mean: f64) -> u64 {
        assert!((0.0..=(1_u64 << 52) as f64).contains(&mean), "{mean} is no mean of a count");
        if mean == 0.0 {
            0
        } else if mean < REJECTION_FROM {
            inverted(self.unit(purpose), mean)
        } else {
            self.poisson_by_rejection(purpose, mean)
        }
    }

    /// Whether something of this probability, 0 to 1, happens. What is certain draws nothing.
    pub fn happens(&mut self, purpose: Purpose, probability: f64) -> bool {
        probability > 0.0 && (probability >= 1.0 || self.unit(purpose) < probability)
    }

    fn poisson_by_rejection(&mut self, purpose: Purpose, mean: f64) -> u64 {
        let b = 0.931 + 2.53 * libm::sqrt(mean);
        let a = -0.059 + 0.02483 * b;
        let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
        let squeeze = 0.9277 - 3.6224 / (b - 2.0);
        let log_mean = libm::log(mean);
        loop {
            let (u, v) = self.unit_pair(purpose);
            let u = u - 0.5;
            let edge = 0.5 - u.abs();
            let count = ((2.0 * a / edge + b) * u + mean + 0.43).floor();
            if edge >= 0.07 && v <= squeeze {
                return count as u64;
            }
            if count < 0.0 || (edge < 0.013 && v > edge) {
                continue;
            }
            let hat = libm::log(v * inverse_alpha / (a / (edge * edge) + b));
            if hat <= count * log_mean - mean - libm::lgamma(count + 1.0) {
                return count as u64;
            }
        }
    }
}

/// The smallest count whose cumulated probability exceeds `unit`.
fn inverted(unit: f64, mean: f64) -> u64 {
    let mut probability = libm::exp(-mean);
    let mut below = probability;
    let mut count = 0_u64;
    // Rounding may leave the sum a hair below 1 for good: then the last count that added anything is taken.
    while unit >= below && probability > 0.0 {
        count += 1;
        probability *= mean / count as f64;
        below += probability;
    }
    count
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{Discrete, DiscreteCDF, Poisson};

    use super::super::rng::{Seed, Streams};
    use super::*;

    const P: Purpose = Purpose(3);
    const N: usize = 40_000;

    fn counts(mean: f64) -> Vec<u64> {
        let (seed, mut streams) = (Seed::new(5, 0), Streams::of("test"));
        let mut rng = streams.with(&seed);
        (0..N).map(|_| rng.poisson(P, mean)).collect()
    }

    /// The share at or below each of nine values against the oracle. A share has a standard deviation of at most
    /// sqrt(1/4 / 40,000) = 0.0025; five of them.
    #[test]
    fn counts_are_distributed_like_an_independent_poisson() {
        for mean in [0.01, 0.7, 3.0, 9.99, 10.0, 42.0, 600.0, 1e6] {
            let mut counts = counts(mean);
            counts.sort_unstable();
            let oracle = Poisson::new(mean).unwrap();
            for tenth in 1..10 {
                let value = counts[N * tenth / 10];
                let share = counts.partition_point(|&count| count <= value) as f64 / N as f64;
                let expected = oracle.cdf(value);
                assert!((share - expected).abs() < 0.0125, "mean {mean}, {value}: {share}, not {expected}");
            }
        }
    }

    /// Mean and variance of a Poisson number are both `m`. The mean of `N` has the deviation sqrt(m / N); the
    /// variance has about sqrt((2 m² + m) / N). Five of each.
    #[test]
    fn mean_and_variance_are_equal() {
        for mean in [0.5, 9.0, 11.0, 1_000.0, 6e6] {
            let counts = counts(mean);
            let average = counts.iter().sum::<u64>() as f64 / N as f64;
            let variance =
                counts.iter().map(|&count| (count as f64 - mean) * (count as f64 - mean)).sum::<f64>()
                    / N as f64;
            let allowed = 5.0 * (mean / N as f64).sqrt();
            assert!((average - mean).abs() < allowed, "{average}, not {mean} ± {allowed}");
            let allowed = 5.0 * ((2.0 * mean * mean + mean) / N as f64).sqrt();
            assert!((variance - mean).abs() < allowed, "{variance}, not {mean} ± {allowed}");
        }
    }

    /// Where the two methods meet, each count must come as often as it should: chi-squared over 5 to 15 with 11
    /// cells and a rest; the 99.9th percentile with 11 degrees of freedom is 31.3.
    #[test]
    fn both_methods_agree_where_they_meet() {
        for mean in [9.999, 10.001] {
            let counts = counts(mean);
            let oracle = Poisson::new(mean).unwrap();
            let cell = |k: u64| (counts.iter().filter(|&&count| count == k).count() as f64, oracle.pmf(k));
            let cells: Vec<(f64, f64)> = (5..=15).map(cell).collect();
            let rest = (
                N as f64 - cells.iter().map(|cell| cell.0).sum::<f64>(),
                1.0 - cells.iter().map(|cell| cell.1).sum::<f64>(),
            );
            let term = |&(seen, share): &(f64, f64)| {
                let expected = share * N as f64;
                (seen - expected) * (seen - expected) / expected
            };
            let chi_squared: f64 = cells.iter().chain([&rest]).map(term).sum();
            assert!(chi_squared < 31.3, "mean {mean}: {chi_squared}");
        }
    }

    #[test]
    fn what_is_certain_draws_nothing() {
        let (seed, mut streams) = (Seed::new(5, 0), Streams::of("test"));
        let mut rng = streams.with(&seed);
        assert_eq!(rng.poisson(P, 0.0), 0);
        assert!(rng.happens(P, 1.0) && !rng.happens(P, 0.0));
        let after = rng.bits(P);
        assert_eq!(after, Streams::of("test").with(&seed).bits(P));
    }

    #[test]
    fn a_number_close_to_one_ends_the_inversion() {
        let largest = 1.0 - f64::EPSILON / 2.0;
        for mean in [1e-300, 0.5, 9.9] {
            assert!(inverted(largest, mean) < 400);
        }
    }
}
