//! What the server believes the fleet to be: `expectedNumberOfClientsSendingRenews`, as far as it is known
//! when the crashes come (`eureka-server.md` 4.5, 4.6, 8.2).

use super::super::fleet::Hit;
use super::Case;
use super::census::MINUTE;
use super::start::opens_between;
use crate::engine::SimDuration;
use crate::model::eureka::{Flavour, ServerConfig};

/// The expected number of clients: at least and at most.
pub(super) struct Expected {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Expected {
    pub(super) fn of(scenario: Case<'_>, crashes: &[Hit], latest: SimDuration) -> Self {
        let server = scenario.server();
        let own = u64::from(server.register_with_eureka);
        let fleet = registered(scenario);
        let initial = Self::at_start(scenario, fleet, own);
        if !server.fetch_registry || !server.enable_self_preservation {
            return initial;
        }
        // The threshold update sets it to what the server's own client last fetched, first after one update
        // interval, if that is above the percentage of what it was: so a surplus goes, and a 0 does.
        let warm = server_to_faults(scenario);
        let update = SimDuration::from_millis(u64::from(server.renewal_threshold_update_interval_ms));
        let fetch =
            SimDuration::from_secs(u64::from(scenario.settings.own_client.registry_fetch_interval_seconds));
        let seen_by = server.serves_after() + scenario.start_window + MINUTE + fetch * 2;
        let corrected_by = if update > seen_by { update } else { seen_by + update };
        let earliest = crashes.iter().map(|hit| hit.from).min().unwrap_or_default();
        let last = crashes.iter().map(|hit| hit.to).max().unwrap_or_default();
        let corrected = Self { least: fleet, most: fleet + own };
        if warm + last + latest < update {
            initial
        } else if corrected_by < warm + earliest && is_accepted(server, fleet, initial.most) {
            corrected
        } else {
            Self { least: initial.least.min(fleet), most: initial.most.max(fleet + own) }
        }
    }

    /// After start-up (`eureka-server.md` 4.6, 8.2): what opening for traffic set it to, and one for each
    /// registration since, but nothing ever lifts it off 0.
    fn at_start(scenario: Case<'_>, fleet: u64, own: u64) -> Self {
        let server = scenario.server();
        if server.flavour == Flavour::Netflix {
            return Self { least: 0, most: 0 };
        }
        let opened = u64::from(server.default_open_for_traffic_count);
        let (_, last_try) = opens_between(scenario);
        if last_try.is_zero() {
            let all = if opened == 0 { 0 } else { opened + fleet + own };
            return Self { least: all, most: all };
        }
        // What registered while the server waited for somebody to copy from is counted or forgotten.
        Self { least: opened.min(1), most: opened + fleet + own }
    }
}

/// `count > renewalPercentThreshold · expected`, strict (`PeerAwareInstanceRegistryImpl.updateRenewalThreshold`).
fn is_accepted(server: &ServerConfig, count: u64, expected: u64) -> bool {
    count as f64 > server.renewal_percent_threshold * expected as f64
}

/// From the start of the replicate to the end of the warm-up.
pub(super) fn server_to_faults(scenario: Case<'_>) -> SimDuration {
    scenario.all_serve_after() + scenario.start_window + scenario.warm_up
}

/// Registered instances of the fleet before the first fault.
fn registered(scenario: Case<'_>) -> u64 {
    let registering = scenario.apps().filter(|app| app.client.register_with_eureka);
    registering.map(|app| u64::from(app.instances)).sum()
}
