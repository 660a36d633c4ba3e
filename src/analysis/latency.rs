//! The network's one-way delay, as the closed forms need it: its range, mean and variance.

use super::reason::Reason;
use super::types::{BoundRange, half};
use crate::engine::SimDuration;
use crate::scenario::{Delay, Scenario};

/// A one-way delay. Successive ones are independent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    pub(super) range: BoundRange,
    /// Its variance, in square nanoseconds.
    variance_ns2: u128,
}

impl Latency {
    /// Of all links to the server.
    ///
    /// # Errors
    /// The delay has no greatest value, or applications have links of their own.
    pub(super) fn of_links(scenario: &Scenario) -> Result<Self, Reason> {
        let own = scenario.applications.iter().filter_map(|app| app.network);
        if own.into_iter().any(|links| links.latency != scenario.network.latency) {
            return Err(Reason::UnlikeLinks);
        }
        match scenario.network.latency {
            Delay::Drawn(_) => Err(Reason::UnboundedLatency),
            delay => Ok(Self::of(delay)),
        }
    }

    /// A delay that has a greatest value.
    pub(super) fn of(delay: Delay) -> Self {
        let (low, high) = match delay {
            Delay::Constant(always) => (always, always),
            Delay::Uniform(low, high) => (low, high),
            Delay::Drawn(_) => unreachable!("`of_links` refuses it"),
        };
        let width = high.saturating_sub(low);
        let mean = low + half(width);
        let variance_ns2 = u128::from(width.as_nanos()).pow(2) / 12;
        Self { range: BoundRange { min: low, mean, max: high }, variance_ns2 }
    }

    /// A request and its reply.
    pub(super) fn round_trip(&self) -> BoundRange {
        self.range.then(self.range)
    }

    /// How much longer than half of `mean_period` one waits, on average, for the next tick of a clock whose
    /// periods each contain two of these delays: long periods are met more often. With period `Q` the wait is
    /// `E[Q²] / 2 E[Q] = E[Q]/2 + Var[Q] / 2 E[Q]`.
    pub(super) fn length_bias(&self, mean_period: SimDuration) -> SimDuration {
        let period = u128::from(mean_period.as_nanos().max(1));
        SimDuration::from_nanos((self.variance_ns2 / period) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uniform_delay_has_a_variance() {
        let ms = SimDuration::from_millis;
        let latency = Latency::of(Delay::Uniform(ms(10), ms(70)));
        assert_eq!(latency.range, BoundRange { min: ms(10), mean: ms(40), max: ms(70) });
        // 60² / 12 = 300 ms²; of a period of 30 s two delays lengthen the wait by 2 · 300 / (2 · 30,000) ms.
        assert_eq!(latency.length_bias(SimDuration::from_secs(30)), SimDuration::from_nanos(10_000));
        assert_eq!(Latency::of(Delay::Constant(ms(5))).length_bias(ms(1)), SimDuration::ZERO);
    }
}
