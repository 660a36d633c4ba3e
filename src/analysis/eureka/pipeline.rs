//! The way from a change in the registry to the caller: response cache, fetch, balancer.
//!
//! Each step is a clock that is come upon at a uniform phase, so its wait is between nothing and a period,
//! half a period on average, and the steps are independent: ranges and means add (`eureka-server.md` 14.1,
//! `eureka-client.md` section 8).

use super::super::latency::Latency;
use super::super::reason::Reason;
use super::super::types::{BoundRange, half};
use super::reason::EurekaReason;
use crate::engine::SimDuration;
use crate::model::eureka::ServerConfig;
use crate::model::eureka::client::{BalancerConfig, ClientConfig};

/// Milliseconds after which the wall clock's second hand is where it was. The scenario's clock starts on a
/// whole minute, so a grid whose period divides a minute is known from the second alone.
const MINUTE_MS: u64 = 60_000;

/// From a change at any moment to the first answer that shows it: the read-only cache copies at each
/// wall-clock multiple of its interval; without it the next question is answered afresh.
pub(super) fn served_after_any(server: &ServerConfig) -> BoundRange {
    if server.use_read_only_response_cache {
        BoundRange::wait_for_tick(cache_interval(server))
    } else {
        BoundRange::exactly(SimDuration::ZERO)
    }
}

/// From an eviction to the first answer that shows it. `opened` is the moment within a wall-clock minute at
/// which the server opened for traffic, if the scenario fixes it: then rounds and copies keep their distance.
pub(super) fn served_after_eviction(server: &ServerConfig, opened: Option<SimDuration>) -> BoundRange {
    let any = served_after_any(server);
    let cache_ms = u64::from(server.response_cache_update_interval_ms);
    let known = server.use_read_only_response_cache && cache_ms > 0 && MINUTE_MS.is_multiple_of(cache_ms);
    let Some(opened) = opened.filter(|_| known) else { return any };
    // The k-th round falls on opened + k · E. Modulo the cache's interval C these are the residues of
    // `opened` modulo gcd(E, C), so the distances to the next copy are one gcd apart.
    let step = gcd(u64::from(server.eviction_interval_timer_in_ms), cache_ms);
    let offset = opened.as_millis() % step;
    if offset == 0 {
        // Some round and some copy are due in the same millisecond: which goes first is not said here.
        return any;
    }
    let (nearest, farthest) = (step - offset, cache_ms - offset);
    let [min, max] = [nearest, farthest].map(SimDuration::from_millis);
    BoundRange { min, mean: half(min + max), max }
}

/// From a change in the server's answers to the client that has taken it over. With fetch interval `F` and
/// latencies `a` and `b`, answers are given every `F + a + b` and taken over `b` later.
pub(super) fn fetched(client: &ClientConfig, server: &ServerConfig, latency: &Latency) -> BoundRange {
    let interval = SimDuration::from_secs(u64::from(client.registry_fetch_interval_seconds));
    let call = latency.round_trip();
    let (a, b) = (latency.range, latency.range);
    let jobs_apart = b.then(BoundRange::exactly(interval)).then(a);
    // A refused delta is followed by a full fetch in the same job, and only that shows anything
    // (`eureka-client.md` 3.3).
    let refused = server.disable_delta && !client.disable_delta;
    let apart = if refused { jobs_apart.then(call) } else { jobs_apart };
    let twice = !refused && client.log_delta_diff && !client.disable_delta;
    let wait = if twice {
        mean_wait_of_two(jobs_apart.mean, call.mean)
    } else {
        half(apart.mean) + latency.length_bias(apart.mean)
    };
    BoundRange { min: b.min, mean: wait + b.mean, max: apart.max + b.max }
}

/// From a change in an observer's local registry to its balancer.
///
/// # Errors
/// There is no latest moment if calls are rare: the list is refreshed by the first call after its time to
/// live, and that may take any time.
pub(super) fn balanced(client: &ClientConfig) -> Result<BoundRange, Reason> {
    match client.balancer {
        BalancerConfig::None => Ok(BoundRange::exactly(SimDuration::ZERO)),
        BalancerConfig::Ribbon { refresh_interval } => Ok(BoundRange::wait_for_tick(refresh_interval)),
        BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: None } => {
            Ok(BoundRange::wait_for_tick(ttl))
        }
        BalancerConfig::SpringCloudLoadBalancer { call_rate: Some(_), .. } => {
            Err(EurekaReason::CallRate.into())
        }
    }
}

/// The interval of the read-only cache.
pub(super) fn cache_interval(server: &ServerConfig) -> SimDuration {
    SimDuration::from_millis(u64::from(server.response_cache_update_interval_ms))
}

/// The mean wait for the next of two alternating gaps, come upon at a uniform phase: Σ gap² / 2 Σ gap.
fn mean_wait_of_two(first: SimDuration, second: SimDuration) -> SimDuration {
    let (first, second) = (u128::from(first.as_nanos()), u128::from(second.as_nanos()));
    let sum = (first + second).max(1);
    SimDuration::from_nanos(((first * first + second * second) / (2 * sum)) as u64)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
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

    fn one_ms() -> Latency {
        Latency::of(Delay::Constant(SimDuration::from_millis(1)))
    }

    #[test]
    fn the_read_only_cache_costs_up_to_its_interval() {
        let mut server = ServerConfig::defaults(Flavour::Spring);
        assert_eq!(served_after_any(&server), millis(0, 15_000, 30_000));
        server.use_read_only_response_cache = false;
        assert_eq!(served_after_any(&server), millis(0, 0, 0));
        assert_eq!(served_after_eviction(&server, Some(SimDuration::from_secs(12))), millis(0, 0, 0));
    }

    #[test]
    fn a_server_that_opens_at_a_given_second_keeps_the_distance() {
        let mut server = ServerConfig::defaults(Flavour::Spring);
        let at = |secs| Some(SimDuration::from_secs(secs));
        // The spec's example: rounds at :12, copies at :00 and :30, always 18 s apart.
        assert_eq!(served_after_eviction(&server, at(12)), millis(18_000, 18_000, 18_000));
        // Rounds every 20 s from :12: at :12, :32, :52, so 18, 28 and 8 s before a copy.
        server.eviction_interval_timer_in_ms = 20_000;
        assert_eq!(served_after_eviction(&server, at(12)), millis(8_000, 18_000, 28_000));
        // Rounds at :00 meet copies.
        assert_eq!(served_after_eviction(&server, at(20)), millis(0, 15_000, 30_000));
        assert_eq!(served_after_eviction(&server, None), millis(0, 15_000, 30_000));
        // Copies every 7 s: where they fall in a minute is not known.
        server.response_cache_update_interval_ms = 7_000;
        assert_eq!(served_after_eviction(&server, at(12)), millis(0, 3_500, 7_000));
    }

    #[test]
    fn a_fetch_costs_its_interval_and_three_latencies() {
        let client = ClientConfig::defaults(Flavour::Spring);
        let server = ServerConfig::defaults(Flavour::Spring);
        // Answered just before the change: reply, 30 s, request, reply. Mean 30.002 / 2 s + 1 ms.
        assert_eq!(fetched(&client, &server, &one_ms()), millis(1, 15_002, 30_003));
    }

    #[test]
    fn a_refused_delta_costs_a_round_trip_more() {
        let client = ClientConfig::defaults(Flavour::Spring);
        let mut server = ServerConfig::defaults(Flavour::Spring);
        server.disable_delta = true;
        // A job is two calls: answers 30.004 s apart.
        assert_eq!(fetched(&client, &server, &one_ms()), millis(1, 15_003, 30_005));
    }

    #[test]
    fn a_second_fetch_in_each_job_hardly_matters() {
        let mut client = ClientConfig::defaults(Flavour::Spring);
        let server = ServerConfig::defaults(Flavour::Spring);
        client.log_delta_diff = true;
        let range = fetched(&client, &server, &one_ms());
        // Gaps of 30.002 s and 2 ms: (30,002² + 2²) / (2 · 30,004) = 15,000.0001 ms, and the reply.
        assert_eq!((range.min.as_millis(), range.max.as_millis()), (1, 30_003));
        assert_eq!(range.mean.as_nanos() / 1_000, 15_001_000);
    }

    #[test]
    fn balancers() {
        let mut client = ClientConfig::defaults(Flavour::Spring);
        assert_eq!(balanced(&client), Ok(millis(0, 17_500, 35_000)));
        client.balancer = BalancerConfig::Ribbon { refresh_interval: SimDuration::from_secs(30) };
        assert_eq!(balanced(&client), Ok(millis(0, 15_000, 30_000)));
        client.balancer = BalancerConfig::None;
        assert_eq!(balanced(&client), Ok(millis(0, 0, 0)));
        let ttl = SimDuration::from_secs(35);
        client.balancer = BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: Some(0.1) };
        assert!(balanced(&client).is_err());
    }
}
