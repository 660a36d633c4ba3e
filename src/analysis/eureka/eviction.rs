//! From a crash to the eviction: the rest of the lease, the next round, and what the gate adds.

use super::super::fleet::Hit;
use super::super::latency::Latency;
use super::super::reason::Reason;
use super::super::types::{BoundRange, half};
use super::Case;
use super::assumptions;
use super::lease;
use super::protection;
use super::reason::EurekaReason;
use super::start::registers_at_once;
use crate::engine::SimDuration;
use crate::model::eureka::client::ClientConfig;

/// From a crash to its eviction, for an instance of each application.
pub(super) fn evicted(
    scenario: Case<'_>,
    latency: &Latency,
    hits: &[Hit],
) -> Result<Vec<BoundRange>, Reason> {
    let interval = SimDuration::from_millis(u64::from(scenario.server().eviction_interval_timer_in_ms));
    let mut outlives = Vec::new();
    for (place, app) in scenario.apps().enumerate() {
        let concerned = hits.iter().any(|hit| hit.at_most_of(place) > 0) && app.client.register_with_eureka;
        let range = if concerned {
            outlived(scenario, app.client, latency, hits)?
        } else {
            lease::renewed_outlives(app.client, latency)
        };
        outlives.push((concerned, range.then(BoundRange::wait_for_tick(interval))));
    }
    let at_stake = || outlives.iter().filter(|(concerned, _)| *concerned).map(|(_, range)| range);
    let earliest = at_stake().map(|range| range.min).min().unwrap_or_default();
    let latest = at_stake().map(|range| range.max).max().unwrap_or_default();
    assumptions::rounds_are_under_way(scenario, latency, hits, earliest)?;
    let gate = protection::gate(scenario, latency, latest + interval)?.delay();
    Ok(outlives.into_iter().map(|(_, range)| range.then(gate)).collect())
}

/// From a crash to the end of the lease: two durations from the last heartbeat, or one from registration if
/// every crash comes before the first heartbeat.
fn outlived(
    scenario: Case<'_>,
    client: &ClientConfig,
    latency: &Latency,
    hits: &[Hit],
) -> Result<BoundRange, Reason> {
    if assumptions::all_renewed(scenario, client, latency, hits) {
        return Ok(lease::renewed_outlives(client, latency));
    }
    let mixed = || EurekaReason::MixedLeases.into();
    let [hit] = hits else { return Err(mixed()) };
    let half_way = |from: SimDuration, to: SimDuration| half(from + to);
    // The first registration is sent once the first fetch has been answered.
    let called = if client.fetch_registry { latency.round_trip() } else { latency_free() };
    let (youngest, oldest) = (scenario.warm_up + hit.from, scenario.start_window + scenario.warm_up + hit.to);
    let age = BoundRange {
        min: youngest.saturating_sub(called.max),
        mean: half_way(youngest, oldest).saturating_sub(called.mean),
        max: oldest.saturating_sub(called.min),
    };
    let simple = registers_at_once(client) && !client.should_enforce_registration_at_init;
    if !simple || age.max > lease::interval(client) || !assumptions::nothing_arrives(scenario) {
        return Err(mixed());
    }
    lease::unrenewed_outlives(client, latency, age).ok_or_else(mixed)
}

fn latency_free() -> BoundRange {
    BoundRange::exactly(SimDuration::ZERO)
}
