//! How a length is drawn from its distribution: the textbook's inversions and Box and Muller's pair. All draw
//! whole nanoseconds.

use super::distribution::{Distribution, Shape, scaled, whole_nanos};
use super::rng::{Purpose, Rng};
use super::time::SimDuration;

impl Distribution {
    /// A length drawn from the stream of `purpose`, in whole nanoseconds; at most [`SimDuration::MAX`].
    pub fn sample(self, rng: &mut Rng<'_>, purpose: Purpose) -> SimDuration {
        match self.shape() {
            Shape::Constant(length) => length,
            Shape::Uniform { low, high } => uniform_sample(low, high, rng, purpose),
            Shape::Exponential { mean } => scaled(mean, -libm::log1p(-rng.unit(purpose))),
            Shape::Normal { mean, deviation } => normal_sample(mean, deviation, rng, purpose),
            Shape::LogNormal { median, sigma } => {
                scaled(median, libm::exp(sigma * standard_normal(rng, purpose).0))
            }
            Shape::Pareto { scale, shape } => {
                scaled(scale, libm::exp(-libm::log1p(-rng.unit(purpose)) / shape))
            }
        }
    }
}

fn uniform_sample(low: SimDuration, high: SimDuration, rng: &mut Rng<'_>, purpose: Purpose) -> SimDuration {
    let span = high.as_nanos() - low.as_nanos();
    let above_low = match span.checked_add(1) {
        Some(count) => rng.below(purpose, count),
        None => rng.bits(purpose),
    };
    SimDuration::from_nanos(low.as_nanos() + above_low)
}

/// Draws until it is not negative; as the mean is not, at most every second draw is thrown away on average.
fn normal_sample(
    mean: SimDuration,
    deviation: SimDuration,
    rng: &mut Rng<'_>,
    purpose: Purpose,
) -> SimDuration {
    let (mean, deviation) = (mean.as_nanos() as f64, deviation.as_nanos() as f64);
    loop {
        let (one, other) = standard_normal(rng, purpose);
        for z in [one, other] {
            let nanos = mean + deviation * z;
            if nanos >= 0.0 {
                return whole_nanos(nanos);
            }
        }
    }
}

/// Two independent standard normal numbers, by Box and Muller, 1958.
fn standard_normal(rng: &mut Rng<'_>, purpose: Purpose) -> (f64, f64) {
    let (u, v) = rng.unit_pair(purpose);
    let radius = libm::sqrt(-2.0 * libm::log1p(-u));
    let (sin, cos) = libm::sincos(std::f64::consts::TAU * v);
    (radius * cos, radius * sin)
}

#[cfg(test)]
mod tests {
    use statrs::distribution as oracle;
    use statrs::distribution::{Continuous, ContinuousCDF};
    use statrs::statistics::Distribution as _;

    use super::super::rng::{Seed, Streams};
    use super::*;

    const P: Purpose = Purpose(2);
    const N: usize = 40_000;

    fn ms(millis: u64) -> SimDuration {
        SimDuration::from_millis(millis)
    }

    /// `N` lengths in seconds, in order.
    fn sorted(distribution: Distribution) -> Vec<f64> {
        let (seed, mut streams) = (Seed::new(11, 0), Streams::of("test"));
        let mut rng = streams.with(&seed);
        let mut lengths: Vec<_> = (0..N).map(|_| distribution.sample(&mut rng, P).as_secs_f64()).collect();
        lengths.sort_unstable_by(f64::total_cmp);
        lengths
    }

    /// The share of samples below each of nine values, against the oracle. A share has a standard deviation of
    /// at most sqrt(1/4 / 40,000) = 0.0025; five of them.
    fn assert_like(distribution: Distribution, oracle: impl Fn(f64) -> f64) {
        let lengths = sorted(distribution);
        for tenth in 1..10 {
            let value = lengths[N * tenth / 10];
            let expected = oracle(value);
            assert!((tenth as f64 / 10.0 - expected).abs() < 0.0125, "{distribution:?} {tenth} {expected}");
        }
    }

    /// The mean against its closed form, allowing five standard deviations of the mean of `N`.
    fn assert_mean(distribution: Distribution, mean: f64, deviation: f64) {
        let found = sorted(distribution).iter().sum::<f64>() / N as f64;
        let allowed = 5.0 * deviation / (N as f64).sqrt();
        assert!((found - mean).abs() < allowed, "{distribution:?}: {found}, not {mean} ± {allowed}");
    }

    #[test]
    fn a_constant_draws_nothing() {
        let (seed, mut streams) = (Seed::new(11, 0), Streams::of("test"));
        assert_eq!(Distribution::constant(ms(5)).sample(&mut streams.with(&seed), P), ms(5));
        let after = streams.with(&seed).bits(P);
        assert_eq!(after, Streams::of("test").with(&seed).bits(P));
    }

    #[test]
    fn uniform_has_its_mean_and_both_ends() {
        // Mean (1 + 3) / 2 = 2 s, deviation (3 - 1) / sqrt(12) = 0.577 s.
        assert_mean(Distribution::uniform(ms(1000), ms(3000)).unwrap(), 2.0, 0.577);
        let nanos = |n| SimDuration::from_nanos(n);
        let lengths = sorted(Distribution::uniform(nanos(4), nanos(6)).unwrap());
        assert_eq!((lengths[0], lengths[N - 1]), (4e-9, 6e-9));
        sorted(Distribution::uniform(SimDuration::ZERO, SimDuration::MAX).unwrap());
    }

    #[test]
    fn exponential_has_its_mean_and_shape() {
        let distribution = Distribution::exponential(ms(2000)).unwrap();
        assert_mean(distribution, 2.0, 2.0);
        let oracle = oracle::Exp::new(0.5).unwrap();
        assert_like(distribution, |x| oracle.cdf(x));
    }

    #[test]
    fn normal_is_cut_at_zero_and_not_piled_up_there() {
        let distribution = Distribution::normal(ms(1000), ms(1000)).unwrap();
        let whole = oracle::Normal::new(1.0, 1.0).unwrap();
        let left = 1.0 - whole.cdf(0.0);
        // Mean μ + σ φ(-1) / (1 - Φ(-1)) = 1 + 0.24197 / 0.84134 = 1.2876 s.
        let mean = 1.0 + whole.pdf(0.0) / left;
        assert!((mean - 1.2876).abs() < 1e-4);
        assert_mean(distribution, mean, 0.8);
        assert_like(distribution, |x| (whole.cdf(x) - whole.cdf(0.0)) / left);
    }

    #[test]
    fn log_normal_has_its_mean_and_shape() {
        let distribution = Distribution::log_normal(ms(1000), 0.5).unwrap();
        let oracle = oracle::LogNormal::new(0.0, 0.5).unwrap();
        // Median · exp(σ² / 2) = 1.1331 s.
        assert!((oracle.mean().unwrap() - 1.1331).abs() < 1e-4);
        assert_mean(distribution, 1.1331, oracle.std_dev().unwrap());
        assert_like(distribution, |x| oracle.cdf(x));
    }

    #[test]
    fn pareto_has_its_mean_and_shape() {
        let distribution = Distribution::pareto(ms(1000), 4.0).unwrap();
        let oracle = oracle::Pareto::new(1.0, 4.0).unwrap();
        // scale · shape / (shape - 1) = 4/3 s.
        assert_mean(distribution, 4.0 / 3.0, oracle.std_dev().unwrap());
        assert_like(distribution, |x| oracle.cdf(x));
    }

    #[test]
    fn extremes_stop_at_the_longest_duration() {
        let (seed, mut streams) = (Seed::new(11, 0), Streams::of("test"));
        let wild = Distribution::pareto(SimDuration::from_secs(1), 1e-3).unwrap();
        let lengths = [(); 20].map(|()| wild.sample(&mut streams.with(&seed), P));
        assert!(lengths.contains(&SimDuration::MAX));
    }

    /// Of 40,000 samples a share of 1 % has a standard deviation of sqrt(0.01 · 0.99 / 40,000) = 0.0005; five.
    #[test]
    fn one_draw_in_a_hundred_is_above_p99() {
        for distribution in [
            Distribution::uniform(ms(1000), ms(3000)).unwrap(),
            Distribution::exponential(ms(2000)).unwrap(),
            Distribution::normal(ms(5000), ms(1000)).unwrap(),
            Distribution::log_normal_by_p99(ms(200), ms(5000)).unwrap(),
            Distribution::pareto(ms(1000), 1.5).unwrap(),
        ] {
            let p99 = distribution.p99().as_secs_f64();
            let above = sorted(distribution).iter().filter(|&&length| length > p99).count();
            let share = above as f64 / N as f64;
            assert!((share - 0.01).abs() < 0.0025, "{distribution:?}: {share} above {p99}");
        }
        assert_eq!(Distribution::constant(ms(7)).p99(), ms(7));
        let by_p99 = Distribution::log_normal_by_p99(ms(200), ms(5000)).unwrap();
        assert!(by_p99.p99().as_nanos().abs_diff(ms(5000).as_nanos()) < 10);
        assert!(Distribution::log_normal_by_p99(ms(200), ms(200)).is_err());
    }
}
