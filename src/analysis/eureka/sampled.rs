//! The closed forms against the clocks themselves: draw all phases and latencies, write down the moments at
//! which heartbeats, rounds, copies, fetches and refreshes come, and read T_D off. A dozen lines of
//! arithmetic, independent of the formulas and of the simulation.

use super::super::fixture::scenario;
use super::super::sampled::{Draws, next};
use super::super::types::BoundRange;
use super::Case;
use crate::analysis::bounds;
use crate::engine::{NANOS_PER_MS, NANOS_PER_S, SimDuration};
use crate::model::eureka::client::BalancerConfig;
use crate::scenario::{Delay, Scenario};

/// One crash: T_D by stage, ns.
fn crash(scenario: Case<'_>, draws: &mut Draws) -> [u64; 4] {
    let client = &scenario.settings.clients[0];
    let delay = scenario.network.latency;
    let seconds = |s: u32| u64::from(s) * NANOS_PER_S;
    let (heartbeat, lease) = (
        seconds(client.lease_renewal_interval_in_seconds),
        seconds(client.lease_expiration_duration_in_seconds),
    );
    let fetch = seconds(client.registry_fetch_interval_seconds);

    // Heartbeats: sent, processed, answered, and one interval later the next, until the crash.
    let crash = 40 * heartbeat + draws.below(20 * heartbeat);
    let (mut sent, mut renewed) = (draws.below(heartbeat), 0);
    while sent <= crash {
        renewed = sent + draws.latency(delay);
        sent = renewed + draws.latency(delay) + heartbeat;
    }
    // The lease is judged in whole milliseconds, at rounds that fall on whole milliseconds.
    let expired = (renewed / NANOS_PER_MS * NANOS_PER_MS) + 2 * lease + NANOS_PER_MS;
    let round = u64::from(scenario.server().eviction_interval_timer_in_ms) * NANOS_PER_MS;
    let copy = u64::from(scenario.server().response_cache_update_interval_ms) * NANOS_PER_MS;
    let evicted = next(draws, expired, round, NANOS_PER_MS);
    let served = next(draws, evicted, copy, NANOS_PER_MS);

    // Fetches: each answer shows what is served when the request is processed.
    let mut asked = served - 10 * fetch - draws.below(20 * fetch);
    let taken = loop {
        let processed = asked + draws.latency(delay);
        let answered = processed + draws.latency(delay);
        if processed >= served {
            break answered;
        }
        asked = answered + fetch;
    };
    let refresh = match client.balancer {
        BalancerConfig::SpringCloudLoadBalancer { ttl, .. } => ttl.as_nanos(),
        _ => unreachable!("these tests use Spring Cloud LoadBalancer"),
    };
    let balanced = next(draws, taken, refresh, 1);
    [evicted, served, taken, balanced].map(|seen| seen - crash)
}

fn agree(scenario: &Scenario) {
    const CRASHES: u64 = 60_000;
    let mut draws = Draws(7);
    let mut seen = [(u64::MAX, 0_u128, 0_u64); 4];
    for _ in 0..CRASHES {
        for (stage, t_d) in crash(scenario.eureka().unwrap(), &mut draws).into_iter().enumerate() {
            let (min, sum, max) = seen[stage];
            seen[stage] = (min.min(t_d), sum + u128::from(t_d), max.max(t_d));
        }
    }
    for (bound, (min, sum, max)) in bounds(scenario).into_iter().zip(seen) {
        let BoundRange { min: least, mean, max: most } = bound.range.expect("a closed form");
        let [min, max] = [min, max].map(SimDuration::from_nanos);
        let average = (sum / u128::from(CRASHES)) as u64;
        assert!(min >= least && max <= most, "{}: {min} to {max}", bound.stage.name());
        // A standard error of the mean is about a tenth of the range's width over √60,000; the ends are rarer
        // the more clocks must agree.
        let width = most.as_nanos() - least.as_nanos();
        let off = average.abs_diff(mean.as_nanos());
        assert!(off < width / 250, "{}: mean off by {off} ns", bound.stage.name());
        let reach = width / 5;
        assert!(min.as_nanos() < least.as_nanos() + reach, "{}: from {min}", bound.stage.name());
        assert!(max.as_nanos() > most.as_nanos() - reach, "{}: up to {max}", bound.stage.name());
    }
}

#[test]
fn with_defaults() {
    agree(&scenario(&[100]));
}

#[test]
fn with_latencies_as_long_as_intervals() {
    // Round trips of 0.2 to 2 s on intervals of 3 to 4 s: every latency shows.
    let mut scenario = scenario(&[100]);
    scenario.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
    scenario.network.latency = Delay::Uniform(SimDuration::from_millis(100), SimDuration::from_millis(1_000));
    scenario.setup.eureka_mut().unwrap().server.eviction_interval_timer_in_ms = 1_700;
    scenario.setup.eureka_mut().unwrap().server.response_cache_update_interval_ms = 1_100;
    let client = &mut scenario.setup.eureka_mut().unwrap().clients[0];
    client.lease_renewal_interval_in_seconds = 4;
    client.lease_expiration_duration_in_seconds = 7;
    client.registry_fetch_interval_seconds = 4;
    client.balancer =
        BalancerConfig::SpringCloudLoadBalancer { ttl: SimDuration::from_millis(900), call_rate: None };
    agree(&scenario);
}
