//! How many renewals a minute holds.
//!
//! The server counts in tumbling minutes (`MeasuredRate`, `eureka-server.md` 4.1). A client beats every `H`
//! plus a round trip, so a minute holds `60 s / period` of its beats on average: with defaults and 1 ms each
//! way 1.99987, which is two in almost every minute, but once in 7,500 minutes one slips into the next. How
//! many slip out of the same minute is close to Poisson's law, which for more than the mean errs on the safe
//! side (Anderson and Samuels, 1967), provided that the clients' phases are independent; a fleet that starts
//! within a fraction of a period is not, and slips together, if it does.

use super::super::fleet::Hit;
use super::super::latency::Latency;
use super::super::types::BoundRange;
use super::Case;
use super::lease;
use super::start::opens_between;
use crate::engine::SimDuration;

/// The renewals' minute.
pub(super) const MINUTE: SimDuration = SimDuration::from_secs(60);

/// Who renews, and how often.
pub(super) struct Census {
    /// Leases in the registry.
    pub(super) registered: u64,
    /// Renewals in a minute in which no beat slips.
    pub(super) renewals: u64,
    /// Beats that slip out of a minute on average.
    slipping: f64,
    /// Beats a minute of each application's instances, and how many are alive at least.
    alive: Vec<(u64, u64)>,
}

impl Census {
    /// The fleet before the first fault. `until` is the last moment that matters, from the server's start.
    pub(super) fn of(scenario: Case<'_>, latency: &Latency, until: SimDuration) -> Self {
        let mut census = Self { registered: 0, renewals: 0, slipping: 0.0, alive: Vec::new() };
        for app in scenario.apps() {
            let period = lease::period(app.client, latency);
            let count = if app.client.register_with_eureka { u64::from(app.instances) } else { 0 };
            let mean = period.mean.as_nanos();
            let beats = MINUTE.as_nanos().div_ceil(mean);
            census.registered += count;
            census.renewals += count * beats;
            if !keeps_its_minute(scenario, latency, period, until) {
                let slipping = beats as f64 - MINUTE.as_nanos() as f64 / mean as f64;
                census.slipping += count as f64 * (slipping * crowding(scenario, period.mean)).min(1.0);
            }
            census.alive.push((beats, count));
        }
        census
    }

    /// The dead leave, those with the most beats first: the worst that a random choice can do.
    pub(super) fn leave_all<'a>(&mut self, hits: impl IntoIterator<Item = &'a Hit>) {
        for hit in hits {
            let mut places: Vec<usize> = (0..self.alive.len()).collect();
            places.sort_by_key(|&place| std::cmp::Reverse(self.alive[place].0));
            let mut left = hit.count;
            for place in places {
                let (beats, count) = self.alive[place];
                let gone = hit.at_most_of(place).min(left).min(count);
                left -= gone;
                self.alive[place].1 -= gone;
                self.renewals -= gone * beats;
                self.registered -= gone;
            }
        }
    }

    /// Whether it makes no difference who dies.
    pub(super) fn is_uniform(&self) -> bool {
        let mut others = self.alive.iter().filter(|(_, count)| *count > 0).map(|(beats, _)| beats);
        let first = others.next();
        others.all(|beats| Some(beats) == first) && self.alive.iter().all(|(_, count)| *count > 0)
    }

    /// The chance that `margin` or more beats slip out of the same minute.
    pub(super) fn chance_of_losing(&self, margin: u64) -> f64 {
        poisson_tail(self.slipping, margin)
    }
}

/// How much denser than uniform the beats' phases are: a fleet that starts within a fraction of a heartbeat's
/// period beats in step, and slips in step.
fn crowding(scenario: Case<'_>, period: SimDuration) -> f64 {
    let window = scenario.start_window.as_nanos().max(1);
    (period.as_nanos() as f64 / window as f64).max(1.0)
}

/// Whether no beat can slip into the next minute before `until`. Heartbeat `i` of an instance arrives `i`
/// periods after its registration, which comes soon after the server opened, and the server's minutes count
/// from there too: with `k` beats a minute the last of minute `j` is number `k j + k − 1`.
fn keeps_its_minute(scenario: Case<'_>, latency: &Latency, period: BoundRange, until: SimDuration) -> bool {
    let beats = MINUTE.as_nanos().div_ceil(period.mean.as_nanos());
    let (opened, latest) = opens_between(scenario);
    if opened != latest || opened != scenario.server().serves_after() || period.min * beats < MINUTE {
        return false;
    }
    // At most three calls come between the start and the first answer: fetch, heartbeat, registration. The
    // minute itself turns on a whole millisecond.
    let begins = scenario.start_window + latency.round_trip().max * 3 + SimDuration::from_millis(1);
    let minutes = until.as_nanos() / MINUTE.as_nanos() + 1;
    begins + period.max * (beats * minutes + beats - 1) < MINUTE * (minutes + 1)
}

/// The chance that a Poisson variable of mean `mean` is `least` or more; 1 where that is not a tail.
fn poisson_tail(mean: f64, least: u64) -> f64 {
    let least_f64 = least as f64;
    if least_f64 <= mean + 1.0 && mean > 0.1 {
        return 1.0;
    }
    if mean == 0.0 {
        return if least == 0 { 1.0 } else { 0.0 };
    }
    let first = libm::exp(least_f64 * libm::log(mean) - mean - libm::lgamma(least_f64 + 1.0));
    // Each further term is smaller by mean / k < 1.
    let (mut term, mut sum, mut k) = (first, first, least_f64);
    while term > sum * 1e-12 {
        k += 1.0;
        term *= mean / k;
        sum += term;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_tails() {
        // 1 − e^−0.001; 1 − e^−1 (1 + 1 + 1/2 + 1/6) = 0.018988; mean 500 and 600: about 6e−6.
        assert!((poisson_tail(0.001, 1) - 0.000_999_5).abs() < 1e-9);
        assert!((poisson_tail(1.0, 4) - 0.018_988).abs() < 1e-6);
        assert!((1e-6..1e-5).contains(&poisson_tail(500.0, 600)));
        assert_eq!(poisson_tail(0.0, 1), 0.0);
        assert_eq!(poisson_tail(5_000.0, 4_000), 1.0);
    }
}
