//! How long a lease outlives its instance.
//!
//! A heartbeat is processed one request latency after it was sent, and from then the lease lives for two
//! durations: `Lease.renew` adds one to the clock, `Lease.isExpired` adds another (`eureka-server.md` 1.1).
//! The next heartbeat follows one interval after the *answer*. So with duration `D`, interval `H`, request
//! latency `a` and reply latency `b`, seen from a crash
//!
//! ```text
//!   just before the next heartbeat is sent:  the lease ends 2D − H − b later
//!   just after one was sent:                 the lease ends 2D + a later
//! ```
//!
//! and the next eviction round comes within one eviction interval of that. The strict `>` of the expiry test
//! on whole milliseconds moves nothing here: rounds fall on whole milliseconds, and a heartbeat's millisecond
//! is rounded down, so the first round that finds the lease expired comes later than 2D, by less than a
//! millisecond at the least, and at most 2D + one eviction interval after the heartbeat.

use super::super::latency::Latency;
use super::super::types::{BoundRange, half};
use crate::engine::SimDuration;
use crate::model::eureka::client::ClientConfig;

/// `DEFAULT_DURATION_IN_SECS` and the default renewal interval stand in for a configured 0
/// (`eureka-client.md` section 7).
const DEFAULT_DURATION_S: u32 = 90;
const DEFAULT_INTERVAL_S: u32 = 30;

/// The lease duration `D` in force.
pub(super) fn duration(client: &ClientConfig) -> SimDuration {
    let configured = client.lease_expiration_duration_in_seconds;
    SimDuration::from_secs(u64::from(if configured == 0 { DEFAULT_DURATION_S } else { configured }))
}

/// The heartbeat interval `H` in force, from an answer to the next heartbeat.
pub(super) fn interval(client: &ClientConfig) -> SimDuration {
    let configured = client.lease_renewal_interval_in_seconds;
    SimDuration::from_secs(u64::from(if configured == 0 { DEFAULT_INTERVAL_S } else { configured }))
}

/// From one heartbeat to the next: interval and round trip, since the supervisor waits after completion.
pub(super) fn period(client: &ClientConfig, latency: &Latency) -> BoundRange {
    BoundRange::exactly(interval(client)).then(latency.round_trip())
}

/// From a crash to the end of a lease that has been renewed, the crash coming at a uniform moment of the
/// heartbeat's period. The caller has made sure that one duration covers a period.
pub(super) fn renewed_outlives(client: &ClientConfig, latency: &Latency) -> BoundRange {
    let life = duration(client) * 2;
    let before_next = interval(client) + latency.range.max;
    BoundRange {
        min: life.saturating_sub(before_next),
        // On average a crash comes half a period after a heartbeat was sent, which takes one latency to
        // arrive: (H + 2 latencies)/2 − 1 latency = H/2. Long periods are met more often, by which the
        // heartbeat's own latency is longer too: the two effects cancel.
        mean: life.saturating_sub(half(interval(client))),
        max: life + latency.range.max,
    }
}

/// From a crash to the end of a lease that was never renewed: one duration from its registration, which was
/// sent `age` (a range) before the crash. `None` if the crash may come before the registration is processed.
pub(super) fn unrenewed_outlives(
    client: &ClientConfig,
    latency: &Latency,
    age: BoundRange,
) -> Option<BoundRange> {
    let life = duration(client);
    let registered = latency.range;
    if age.min < registered.max || age.max > life {
        return None;
    }
    Some(BoundRange {
        min: (life + registered.min).saturating_sub(age.max),
        mean: (life + registered.mean).saturating_sub(age.mean),
        max: (life + registered.max).saturating_sub(age.min),
    })
}

/// How many heartbeats in a row a live instance may miss, and its lease, which has been renewed, is at no moment
/// expired. `None` if it can be although none is missed.
///
/// A lease renewed at `r` is good up to `r + 2D` (`eureka-server.md` 1.2). When `k` heartbeats are missed the next one
/// arrives no sooner than `k + 1` intervals and as many round trips later. A round trip takes some time, so `k` are
/// tolerated if `(k + 1) · H < 2D`. That takes round trips to be short, the server's clock to be steady, and missed
/// heartbeats to cost no time: a call that hangs until its time-out delays the next, and a client that timed out waits
/// longer before each further one (`eureka-client.md` section 2). An expired lease is removed only when a round comes
/// and protection does not hold it; a lease that was registered and not renewed yet has `D` in place of `2D`.
pub(super) fn missed_heartbeats_tolerated(client: &ClientConfig) -> Option<u64> {
    let [twice, interval] = [duration(client) * 2, interval(client)].map(SimDuration::as_nanos);
    twice.div_ceil(interval).checked_sub(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::eureka::Flavour;
    use crate::scenario::Delay;

    fn millis(min: u64, mean: u64, max: u64) -> BoundRange {
        let [min, mean, max] = [min, mean, max].map(SimDuration::from_millis);
        BoundRange { min, mean, max }
    }

    fn client(interval: u32, duration: u32) -> ClientConfig {
        let mut client = ClientConfig::defaults(Flavour::Spring);
        client.lease_renewal_interval_in_seconds = interval;
        client.lease_expiration_duration_in_seconds = duration;
        client
    }

    #[test]
    fn a_renewed_lease_outlives_its_instance_by_two_durations_less_a_heartbeat() {
        // 2 · 90 s − 30 s − 1 ms; 180 s − 15 s; 180 s + 1 ms.
        let latency = Latency::of(Delay::Constant(SimDuration::from_millis(1)));
        assert_eq!(renewed_outlives(&client(30, 90), &latency), millis(149_999, 165_000, 180_001));
        // 2 · 6 − 2 s.
        assert_eq!(renewed_outlives(&client(2, 6), &latency), millis(9_999, 11_000, 12_001));
    }

    #[test]
    fn a_random_latency_moves_only_the_ends() {
        let latency = Latency::of(Delay::Uniform(SimDuration::from_millis(10), SimDuration::from_millis(50)));
        assert_eq!(renewed_outlives(&client(30, 90), &latency), millis(149_950, 165_000, 180_050));
    }

    #[test]
    fn an_unrenewed_lease_lives_for_one_duration() {
        // Crashed 10 to 20 s after its POST, which took 1 ms: 90 s + 1 ms − 20 s … − 10 s.
        let latency = Latency::of(Delay::Constant(SimDuration::from_millis(1)));
        let age = millis(10_000, 15_000, 20_000);
        let outlives = unrenewed_outlives(&client(30, 90), &latency, age);
        assert_eq!(outlives, Some(millis(70_001, 75_001, 80_001)));
        assert_eq!(unrenewed_outlives(&client(30, 90), &latency, millis(0, 5, 10)), None);
    }

    #[test]
    fn so_many_heartbeats_may_be_missed() {
        let tolerated = |interval, duration| missed_heartbeats_tolerated(&client(interval, duration));
        // With 5 missed the next comes 6 x 30 s = 180 s and six round trips after the last: too late by these.
        assert_eq!(tolerated(30, 90), Some(4));
        // 2 x 91 s = 182 s leaves room for them.
        assert_eq!(tolerated(30, 91), Some(5));
        // 3 x 3 s = 9 s < 18 s, up to 5 x 3 s = 15 s; 6 x 3 s is 18 s.
        assert_eq!(tolerated(3, 9), Some(4));
        // 60 s and 120 s are below 180 s; then 30 s is below 40 s and 60 s is not; 60 s is not below 60 s.
        assert_eq!([tolerated(60, 90), tolerated(30, 20), tolerated(60, 30)], [Some(1), Some(0), None]);
    }

    #[test]
    fn nought_means_the_default() {
        assert_eq!(duration(&client(0, 0)), SimDuration::from_secs(90));
        assert_eq!(interval(&client(0, 0)), SimDuration::from_secs(30));
    }
}
