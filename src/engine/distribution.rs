//! Distributions of durations, our own: their values are part of what a seed promises.
//!
//! The formulas are the textbook's inversions and Box and Muller's pair, over `libm`, which gives the same bits
//! on every platform. All draw whole nanoseconds.

use thiserror::Error;

use super::chance::{Dice, Purpose};
use super::time::SimDuration;

/// How long something takes, by chance. Valid by construction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution(Shape);

/// A distribution as it was made: its family with the parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// [`Distribution::constant`].
    Constant(SimDuration),
    /// [`Distribution::uniform`].
    Uniform {
        /// The least value.
        low: SimDuration,
        /// The greatest value.
        high: SimDuration,
    },
    /// [`Distribution::exponential`].
    Exponential {
        /// The mean.
        mean: SimDuration,
    },
    /// [`Distribution::normal`].
    Normal {
        /// The mean of the whole normal distribution.
        mean: SimDuration,
        /// Its standard deviation.
        deviation: SimDuration,
    },
    /// [`Distribution::log_normal`].
    LogNormal {
        /// Half of all values are below it.
        median: SimDuration,
        /// The standard deviation of the values' natural logarithms.
        sigma: f64,
    },
    /// [`Distribution::pareto`].
    Pareto {
        /// The least value.
        scale: SimDuration,
        /// The tail's exponent.
        shape: f64,
    },
}

/// Of 100 standard normal numbers 99 are below it.
const NORMAL_P99: f64 = 2.326_347_874_040_841;

/// Parameters that make no distribution.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum DistributionError {
    /// The lower end of a uniform distribution lies above the upper.
    #[error("the lower end, {low}, lies above the upper, {high}")]
    EndsSwapped {
        /// The lower end as given.
        low: SimDuration,
        /// The upper end as given.
        high: SimDuration,
    },
    /// A length that must be more than zero is not.
    #[error("the {0} must be longer than zero")]
    Zero(&'static str),
    /// A number is not in its range.
    #[error("the {name} is {value}, but must be above 0 and at most {max}")]
    OutOfRange {
        /// Which.
        name: &'static str,
        /// As given.
        value: f64,
        /// The greatest that is allowed.
        max: f64,
    },
}

impl Distribution {
    /// The greatest `sigma` and Pareto `shape`: far beyond what can be told from a constant or from infinity.
    pub const PARAMETER_MAX: f64 = 100.0;

    /// Always `length`. Draws nothing.
    pub const fn constant(length: SimDuration) -> Self {
        Self(Shape::Constant(length))
    }

    /// Uniform between `low` and `high`, both included.
    ///
    /// # Errors
    /// If `low` is above `high`.
    pub fn uniform(low: SimDuration, high: SimDuration) -> Result<Self, DistributionError> {
        if low > high {
            return Err(DistributionError::EndsSwapped { low, high });
        }
        Ok(Self(Shape::Uniform { low, high }))
    }

    /// Exponential: the gaps of a Poisson process with one event each `mean`.
    ///
    /// # Errors
    /// If `mean` is zero.
    pub fn exponential(mean: SimDuration) -> Result<Self, DistributionError> {
        longer_than_zero("mean", mean)?;
        Ok(Self(Shape::Exponential { mean }))
    }

    /// Normal on condition that it is not negative. `mean` and `deviation` are those of the whole normal
    /// distribution, so its own mean is a little more.
    ///
    /// # Errors
    /// If `deviation` is zero.
    pub fn normal(mean: SimDuration, deviation: SimDuration) -> Result<Self, DistributionError> {
        longer_than_zero("deviation", deviation)?;
        Ok(Self(Shape::Normal { mean, deviation }))
    }

    /// Log-normal: half of all values are below `median`, and their logarithms have the deviation `sigma`.
    ///
    /// # Errors
    /// If `median` is zero, or `sigma` not in `(0, 100]`.
    pub fn log_normal(median: SimDuration, sigma: f64) -> Result<Self, DistributionError> {
        longer_than_zero("median", median)?;
        in_range("sigma", sigma)?;
        Ok(Self(Shape::LogNormal { median, sigma }))
    }

    /// Pareto: at least `scale`, and longer than `k · scale` with probability `k` to the power of `-shape`.
    ///
    /// # Errors
    /// If `scale` is zero, or `shape` not in `(0, 100]`.
    pub fn pareto(scale: SimDuration, shape: f64) -> Result<Self, DistributionError> {
        longer_than_zero("scale", scale)?;
        in_range("shape", shape)?;
        Ok(Self(Shape::Pareto { scale, shape }))
    }

    /// Log-normal by two of its quantiles: half of all values are below `median`, 99 of 100 below `p99`.
    ///
    /// # Errors
    /// If `median` is zero, or `p99` not above it.
    pub fn log_normal_by_p99(median: SimDuration, p99: SimDuration) -> Result<Self, DistributionError> {
        longer_than_zero("median", median)?;
        if p99 <= median {
            return Err(DistributionError::EndsSwapped { low: median, high: p99 });
        }
        let times = p99.as_nanos() as f64 / median.as_nanos() as f64;
        Self::log_normal(median, libm::log(times) / NORMAL_P99)
    }

    /// Its family and parameters.
    pub const fn shape(self) -> Shape {
        self.0
    }

    /// Whether nothing but zero can be drawn.
    pub fn is_always_zero(self) -> bool {
        self.greatest() == Some(SimDuration::ZERO)
    }

    /// The length that 99 of 100 draws do not exceed. Of a normal distribution, that of the whole one.
    pub fn p99(self) -> SimDuration {
        match self.0 {
            Shape::Constant(length) => length,
            Shape::Uniform { low, high } => low + scaled(high.saturating_sub(low), 0.99),
            Shape::Exponential { mean } => scaled(mean, -libm::log(0.01)),
            Shape::Normal { mean, deviation } => mean + scaled(deviation, NORMAL_P99),
            Shape::LogNormal { median, sigma } => scaled(median, libm::exp(sigma * NORMAL_P99)),
            Shape::Pareto { scale, shape } => scaled(scale, libm::exp(-libm::log(0.01) / shape)),
        }
    }

    /// The length, if there is but one: such a delay can have a lane of the queue.
    pub fn as_constant(self) -> Option<SimDuration> {
        match self.0 {
            Shape::Constant(length) => Some(length),
            Shape::Uniform { low, high } if low == high => Some(low),
            _ => None,
        }
    }

    /// The greatest length that can be drawn; `None` if there is none.
    pub fn greatest(self) -> Option<SimDuration> {
        match self.0 {
            Shape::Constant(length) | Shape::Uniform { high: length, .. } => Some(length),
            _ => None,
        }
    }

    /// A length drawn from the stream of `purpose`, in whole nanoseconds; at most [`SimDuration::MAX`].
    pub fn sample(self, dice: &mut Dice<'_>, purpose: Purpose) -> SimDuration {
        match self.0 {
            Shape::Constant(length) => length,
            Shape::Uniform { low, high } => uniform_sample(low, high, dice, purpose),
            Shape::Exponential { mean } => scaled(mean, -libm::log1p(-dice.unit(purpose))),
            Shape::Normal { mean, deviation } => normal_sample(mean, deviation, dice, purpose),
            Shape::LogNormal { median, sigma } => {
                scaled(median, libm::exp(sigma * standard_normal(dice, purpose).0))
            }
            Shape::Pareto { scale, shape } => {
                scaled(scale, libm::exp(-libm::log1p(-dice.unit(purpose)) / shape))
            }
        }
    }
}

fn longer_than_zero(name: &'static str, length: SimDuration) -> Result<(), DistributionError> {
    if length.is_zero() { Err(DistributionError::Zero(name)) } else { Ok(()) }
}

fn in_range(name: &'static str, value: f64) -> Result<(), DistributionError> {
    let max = Distribution::PARAMETER_MAX;
    if value > 0.0 && value <= max { Ok(()) } else { Err(DistributionError::OutOfRange { name, value, max }) }
}

fn uniform_sample(low: SimDuration, high: SimDuration, dice: &mut Dice<'_>, purpose: Purpose) -> SimDuration {
    let span = high.as_nanos() - low.as_nanos();
    let above_low = match span.checked_add(1) {
        Some(count) => dice.below(purpose, count),
        None => dice.bits(purpose),
    };
    SimDuration::from_nanos(low.as_nanos() + above_low)
}

/// Draws until it is not negative; as the mean is not, at most every second draw is thrown away on average.
fn normal_sample(
    mean: SimDuration,
    deviation: SimDuration,
    dice: &mut Dice<'_>,
    purpose: Purpose,
) -> SimDuration {
    let (mean, deviation) = (mean.as_nanos() as f64, deviation.as_nanos() as f64);
    loop {
        let (one, other) = standard_normal(dice, purpose);
        for z in [one, other] {
            let nanos = mean + deviation * z;
            if nanos >= 0.0 {
                return whole_nanos(nanos);
            }
        }
    }
}

/// Two independent standard normal numbers, by Box and Muller, 1958.
fn standard_normal(dice: &mut Dice<'_>, purpose: Purpose) -> (f64, f64) {
    let (u, v) = dice.unit_pair(purpose);
    let radius = libm::sqrt(-2.0 * libm::log1p(-u));
    let (sin, cos) = libm::sincos(std::f64::consts::TAU * v);
    (radius * cos, radius * sin)
}

fn scaled(length: SimDuration, factor: f64) -> SimDuration {
    whole_nanos(length.as_nanos() as f64 * factor)
}

/// The nearest whole number, or the greatest there is.
fn whole_nanos(nanos: f64) -> SimDuration {
    SimDuration::from_nanos(libm::round(nanos) as u64)
}

#[cfg(test)]
mod tests {
    use statrs::distribution as oracle;
    use statrs::distribution::{Continuous, ContinuousCDF};
    use statrs::statistics::Distribution as _;

    use super::super::chance::{Chance, Seed};
    use super::*;

    const P: Purpose = Purpose(2);
    const N: usize = 40_000;

    fn ms(millis: u64) -> SimDuration {
        SimDuration::from_millis(millis)
    }

    /// `N` lengths in seconds, in order.
    fn sorted(distribution: Distribution) -> Vec<f64> {
        let (seed, mut chance) = (Seed::new(11, 0), Chance::of("test"));
        let mut dice = chance.with(&seed);
        let mut lengths: Vec<_> = (0..N).map(|_| distribution.sample(&mut dice, P).as_secs_f64()).collect();
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
        let (seed, mut chance) = (Seed::new(11, 0), Chance::of("test"));
        assert_eq!(Distribution::constant(ms(5)).sample(&mut chance.with(&seed), P), ms(5));
        let after = chance.with(&seed).bits(P);
        assert_eq!(after, Chance::of("test").with(&seed).bits(P));
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
        let (seed, mut chance) = (Seed::new(11, 0), Chance::of("test"));
        let wild = Distribution::pareto(SimDuration::from_secs(1), 1e-3).unwrap();
        let lengths = [(); 20].map(|()| wild.sample(&mut chance.with(&seed), P));
        assert!(lengths.contains(&SimDuration::MAX));
    }

    #[test]
    fn what_makes_no_distribution_is_refused() {
        use DistributionError::{EndsSwapped, OutOfRange, Zero};
        let zero = SimDuration::ZERO;
        assert_eq!(Distribution::uniform(ms(2), ms(1)), Err(EndsSwapped { low: ms(2), high: ms(1) }),);
        assert_eq!(Distribution::exponential(zero), Err(Zero("mean")));
        assert_eq!(Distribution::normal(ms(1), zero), Err(Zero("deviation")));
        assert_eq!(Distribution::log_normal(zero, 1.0), Err(Zero("median")));
        assert_eq!(Distribution::pareto(zero, 1.0), Err(Zero("scale")));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 100.5] {
            assert!(matches!(Distribution::pareto(ms(1), bad), Err(OutOfRange { name: "shape", .. })));
            assert!(matches!(Distribution::log_normal(ms(1), bad), Err(OutOfRange { name: "sigma", .. })));
        }
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

    #[test]
    fn a_delay_that_never_varies_is_a_constant() {
        assert_eq!(Distribution::constant(ms(1)).as_constant(), Some(ms(1)));
        assert_eq!(Distribution::uniform(ms(1), ms(1)).unwrap().as_constant(), Some(ms(1)));
        assert_eq!(Distribution::uniform(ms(1), ms(2)).unwrap().as_constant(), None);
    }
}
