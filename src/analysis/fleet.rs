//! Whom a scenario's faults hit, when, and who is left to watch: counts by application.

use crate::engine::SimDuration;
use crate::model::client::ClientConfig;
use crate::model::eureka::Flavour;
use crate::model::message::Status;
use crate::model::stage::EventKind;
use crate::scenario::{Application, Fault, Scenario, Selection, Targets, Verb, Which};

/// Weights count instances in millionths, so that shares of a fleet stay whole numbers.
const MILLION: u128 = 1_000_000;

/// Instances to which one fault makes one kind of event happen.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    /// The fault's place in the scenario.
    pub(super) fault: usize,
    /// The earliest moment, from the end of the warm-up.
    pub(super) from: SimDuration,
    /// The latest.
    pub(super) to: SimDuration,
    /// How many it hits in all, registered or not.
    pub(super) count: u64,
    /// Out of so many of each application.
    candidates: Vec<u64>,
    /// Candidates in all.
    all: u64,
    /// Whether it hits just these candidates (named, or all of them) or some at random.
    certain: bool,
    /// Whether they arrive rather than leave.
    arrives: bool,
}

/// What `scenario`'s faults make happen, of one kind, in the order of the file.
pub(super) fn hits(scenario: &Scenario, event: EventKind) -> Vec<Hit> {
    let of_fault = |(place, fault): (usize, &Fault)| match (&fault.verb, event) {
        (Verb::Crash(Targets::Instances(chosen)), EventKind::Crash)
        | (Verb::Stop { targets: chosen, .. }, EventKind::Stop) => Some(Hit::of(scenario, place, chosen)),
        (Verb::Restart { targets: Targets::Instances(chosen), graceful, down_for, .. }, event) => {
            let ends = if *graceful { EventKind::Stop } else { EventKind::Crash };
            let hit = Hit::of(scenario, place, chosen);
            match event {
                EventKind::Registration => Some(hit.returning_after(*down_for)),
                _ if event == ends => Some(hit),
                _ => None,
            }
        }
        (Verb::Start { application, count, .. }, EventKind::Registration) => {
            let mut started = vec![0; scenario.applications.len()];
            started[application.index()] = u64::from(*count);
            Some(Hit::certain(fault, place, started).returning_after(SimDuration::ZERO))
        }
        _ => None,
    };
    scenario.faults.iter().enumerate().filter_map(of_fault).collect()
}

impl Hit {
    fn of(scenario: &Scenario, place: usize, chosen: &Selection) -> Self {
        let fault = &scenario.faults[place];
        let in_scope = |(place, app): (usize, &Application)| {
            let chosen = chosen.application.is_none_or(|wanted| wanted.index() == place);
            if chosen { u64::from(app.instances) } else { 0 }
        };
        let candidates: Vec<u64> = scenario.applications.iter().enumerate().map(in_scope).collect();
        let all: u64 = candidates.iter().sum();
        let some = |count: u64| {
            let hit = Self::certain(fault, place, candidates.clone());
            Self { count: count.min(all), certain: count >= all, ..hit }
        };
        match &chosen.which {
            Which::All => some(all),
            Which::Count(count) => some(u64::from(*count)),
            Which::Share(share) => some((share * all as f64).round() as u64),
            Which::Named(names) => {
                let mut named = vec![0; scenario.applications.len()];
                for (application, _) in names {
                    named[application.index()] += 1;
                }
                Self::certain(fault, place, named)
            }
        }
    }

    fn certain(fault: &Fault, place: usize, candidates: Vec<u64>) -> Self {
        let count: u64 = candidates.iter().sum();
        let to = fault.at + fault.within;
        Self {
            fault: place,
            from: fault.at,
            to,
            count,
            candidates,
            all: count,
            certain: true,
            arrives: false,
        }
    }

    fn returning_after(self, away: SimDuration) -> Self {
        Self { from: self.from + away, to: self.to + away, arrives: true, ..self }
    }

    /// How many of application `place` it hits on average, in millionths.
    pub(super) fn expected_of(&self, place: usize) -> u128 {
        let candidates = u128::from(self.candidates[place]);
        if self.certain {
            candidates * MILLION
        } else {
            candidates * u128::from(self.count) * MILLION / u128::from(self.all.max(1))
        }
    }

    /// How many of application `place` it may hit at most.
    pub(super) fn at_most_of(&self, place: usize) -> u64 {
        self.candidates[place].min(self.count)
    }

    /// Pairs of one that is hit and one observer that is not, on average, in millionths, for victims of
    /// application `victim` and observers of application `watcher`.
    pub(super) fn watched_by(&self, scenario: &Scenario, victim: usize, watcher: usize) -> u128 {
        let app = &scenario.applications[watcher];
        let observers = if app.observers { u64::from(app.instances) } else { 0 };
        let hit = self.expected_of(victim);
        if self.arrives || self.candidates[watcher] == 0 {
            return hit * u128::from(observers);
        }
        if self.certain {
            return hit * u128::from(observers.saturating_sub(self.candidates[watcher]));
        }
        // Drawn without replacement: given one victim of `all`, another candidate is spared with
        // (all − count) / (all − 1); the victim itself does not watch.
        let others = if victim == watcher { observers.saturating_sub(1) } else { observers };
        let spared = self.all - self.count;
        hit * u128::from(others) * u128::from(spared) / u128::from((self.all - 1).max(1))
    }
}

/// Whether an application's instances register and are shown as UP from their first registration.
pub(super) fn registers_up(client: &ClientConfig) -> bool {
    client.register_with_eureka && client.initial_status == Some(Status::Up)
}

/// Whether the first registration is sent as soon as the client has started; else the first heartbeat's 404
/// brings it (`eureka-client.md` 1.2, 1.3).
pub(super) fn registers_at_once(client: &ClientConfig) -> bool {
    let by_listener = client.on_demand_update_status_change && !client.instance_enabled_onit;
    by_listener || client.should_enforce_registration_at_init
}

/// Whether an orderly stop takes the instance out of the registry: Spring registers it as DOWN first, but
/// only the DELETE does away with it (`eureka-client.md` section 5).
pub(super) fn deregisters(client: &ClientConfig) -> bool {
    client.register_with_eureka && client.should_unregister_on_shutdown
}

/// The moment at which the server opens for traffic, from its start: the earliest and the latest. A Spring
/// server that copies from itself may find something at any of its tries (`eureka-server.md` 8.2).
pub(super) fn opens_between(scenario: &Scenario) -> (SimDuration, SimDuration) {
    let server = &scenario.server;
    let waits = u64::from(server.registry_sync_retries.saturating_sub(1));
    let last = SimDuration::from_millis(waits * u64::from(server.registry_sync_retry_wait_ms));
    let may_find = server.flavour == Flavour::Spring && server.fetch_registry;
    (if may_find { SimDuration::ZERO } else { last }, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{crash_of, scenario};
    use crate::model::id::AppId;

    fn with(which: Which, application: Option<AppId>) -> (Scenario, Hit) {
        let mut scenario = scenario(&[10, 30]);
        scenario.faults = vec![crash_of(Selection { application, zone: None, which })];
        let hit = hits(&scenario, EventKind::Crash).remove(0);
        (scenario, hit)
    }

    #[test]
    fn one_of_forty_at_random() {
        let (scenario, hit) = with(Which::Count(1), None);
        assert_eq!((hit.expected_of(0), hit.expected_of(1)), (250_000, 750_000)); // 10/40, 30/40
        assert_eq!(hit.at_most_of(1), 1);
        // A victim of the first application is watched by nine others of it and thirty of the second.
        assert_eq!(hit.watched_by(&scenario, 0, 0), 250_000 * 9);
        assert_eq!(hit.watched_by(&scenario, 0, 1), 250_000 * 30);
    }

    #[test]
    fn four_of_the_first_application() {
        let (scenario, hit) = with(Which::Count(4), Some(AppId(0)));
        assert_eq!((hit.expected_of(0), hit.expected_of(1)), (4_000_000, 0));
        // Each of four victims is watched by the six left of its application, and by all of the other.
        assert_eq!(hit.watched_by(&scenario, 0, 0), 4_000_000 * 6);
        assert_eq!(hit.watched_by(&scenario, 0, 1), 4_000_000 * 30);
    }

    #[test]
    fn named_shares_and_all() {
        let (scenario, hit) = with(Which::Named(vec![(AppId(0), 3), (AppId(1), 1), (AppId(1), 2)]), None);
        assert_eq!((hit.count, hit.at_most_of(0), hit.at_most_of(1)), (3, 1, 2));
        assert_eq!(hit.watched_by(&scenario, 0, 1), 1_000_000 * 28);
        let (_, hit) = with(Which::Share(0.6), None);
        assert_eq!(hit.count, 24); // 0.6 · 40
        let (scenario, hit) = with(Which::All, None);
        assert_eq!((hit.count, hit.watched_by(&scenario, 0, 1)), (40, 0));
    }

    #[test]
    fn a_restart_ends_one_life_and_begins_another() {
        let mut scenario = scenario(&[5]);
        let targets = Targets::Instances(Selection { application: None, zone: None, which: Which::Count(1) });
        let down_for = SimDuration::from_secs(40);
        scenario.faults[0].verb = Verb::Restart { targets, down_for, new_id: true, graceful: true };
        assert!(hits(&scenario, EventKind::Crash).is_empty());
        assert_eq!(hits(&scenario, EventKind::Stop)[0].from, SimDuration::ZERO);
        let back = &hits(&scenario, EventKind::Registration)[0];
        assert_eq!((back.from, back.to), (down_for, SimDuration::from_secs(100)));
    }
}
