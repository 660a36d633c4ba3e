//! Delays that recur in clients, each a lane of the queue: most timers need no sorting.

use super::event::Event;
use crate::engine::{LaneId, Schedule, SimDuration};
use crate::scenario::Scenario;

/// Lanes by delay.
#[derive(Clone)]
pub(super) struct Lanes(Vec<(SimDuration, LaneId)>);

impl Lanes {
    /// Lanes for what recurs in `scenario`: heartbeats and fetches.
    pub(super) fn new(scenario: &Scenario, schedule: &mut Schedule<Event>) -> Self {
        let clients = scenario.setup.clients();
        let mut delays: Vec<SimDuration> =
            clients.flat_map(|client| [client.heartbeat_interval(), client.fetch_interval()]).collect();
        delays.sort_unstable();
        delays.dedup();
        Self(delays.into_iter().map(|delay| (delay, schedule.lane(delay))).collect())
    }

    /// Schedules `event` after `delay`.
    #[inline]
    pub(super) fn after(&self, delay: SimDuration, event: Event, schedule: &mut Schedule<Event>) {
        match self.0.iter().find(|&&(known, _)| known == delay) {
            Some(&(_, lane)) => schedule.after(lane, event),
            None => schedule.at(schedule.now() + delay, event),
        }
    }
}
