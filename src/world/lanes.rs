//! Delays that recur, each a lane of the queue: most events need no sorting. Batches and servers' own clients are few,
//! and do without where [`crate::scenario::Scenario::server_network`] has a say.

use super::event::Event;
use crate::engine::{LaneId, Schedule, SimDuration};
use crate::model::id::AppId;
use crate::scenario::{Delay, Network, Scenario};

/// Constant delays, each a lane of the queue, and the links to the servers.
pub(super) struct Lanes {
    /// Each application's, and last those of the servers' own clients.
    links: Vec<BaseLink>,
    by_delay: Vec<(SimDuration, LaneId)>,
}

/// A link to a server with which nothing is wrong.
pub(super) struct BaseLink {
    /// For a constant latency.
    pub(super) lane: Option<LaneId>,
    pub(super) network: Network,
}

impl Lanes {
    /// Lanes for what recurs in `scenario`: the links' delays, heartbeats and fetches.
    pub(super) fn new(scenario: &Scenario, schedule: &mut Schedule<Event>) -> Self {
        let own = scenario.applications.iter().map(|application| application.network);
        let mut networks: Vec<Network> = own.map(|network| network.unwrap_or(scenario.network)).collect();
        // A server's own client shares its host, so that nothing gets lost on the way; what it loses on the way to
        // another server is for the links between servers to say.
        networks.push(Network { loss: 0.0, ..scenario.network });
        let mut link = |network: Network| BaseLink {
            lane: match network.latency {
                Delay::Constant(delay) => Some(schedule.lane(delay)),
                Delay::Uniform(..) | Delay::Drawn(_) => None,
            },
            network,
        };
        let links = networks.into_iter().map(&mut link).collect();
        let mut by_delay = Vec::new();
        for client in scenario.setup.clients() {
            for delay in [client.heartbeat_interval(), client.fetch_interval()] {
                if by_delay.iter().all(|&(known, _)| known != delay) {
                    by_delay.push((delay, schedule.lane(delay)));
                }
            }
        }
        Self { links, by_delay }
    }

    /// The link of such a client.
    #[inline]
    pub(super) fn link(&self, app: AppId) -> &BaseLink {
        &self.links[app.index()]
    }

    /// The probability that a message of such a client is lost, with which nothing else is wrong.
    #[inline]
    pub(super) fn loss(&self, app: AppId) -> f64 {
        self.links[app.index()].network.loss
    }

    /// Schedules `event` after `delay`.
    #[inline]
    pub(super) fn after(&self, delay: SimDuration, event: Event, schedule: &mut Schedule<Event>) {
        match self.by_delay.iter().find(|&&(known, _)| known == delay) {
            Some(&(_, lane)) => schedule.after(lane, event),
            None => schedule.at(schedule.now() + delay, event),
        }
    }
}
