//! Distributions of durations, our own: their values are part of what a seed promises.
//!
//! What they are is here, how a length is drawn in [`super::draw`]. The formulas go over `libm`, which gives the
//! same bits on every platform.

use thiserror::Error;

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
#[non_exhaustive]
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
}

fn longer_than_zero(name: &'static str, length: SimDuration) -> Result<(), DistributionError> {
    if length.is_zero() { Err(DistributionError::Zero(name)) } else { Ok(()) }
}

fn in_range(name: &'static str, value: f64) -> Result<(), DistributionError> {
    let max = Distribution::PARAMETER_MAX;
    if value > 0.0 && value <= max { Ok(()) } else { Err(DistributionError::OutOfRange { name, value, max }) }
}

pub(super) fn scaled(length: SimDuration, factor: f64) -> SimDuration {
    whole_nanos(length.as_nanos() as f64 * factor)
}

/// The nearest whole number, or the greatest there is.
pub(super) fn whole_nanos(nanos: f64) -> SimDuration {
    SimDuration::from_nanos(libm::round(nanos) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> SimDuration {
        SimDuration::from_millis(millis)
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

    #[test]
    fn a_delay_that_never_varies_is_a_constant() {
        assert_eq!(Distribution::constant(ms(1)).as_constant(), Some(ms(1)));
        assert_eq!(Distribution::uniform(ms(1), ms(1)).unwrap().as_constant(), Some(ms(1)));
        assert_eq!(Distribution::uniform(ms(1), ms(2)).unwrap().as_constant(), None);
    }
}
