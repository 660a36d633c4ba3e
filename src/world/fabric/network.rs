//! Networks: how long messages take between hosts with whose links nothing is wrong, and how many are lost.
//!
//! A latency that is constant is a *lane* of the event queue, which needs no sorting. Messages between servers are few,
//! and do without.

use crate::engine::{LaneId, Schedule, SimDuration};
use crate::model::id::AppId;
use crate::scenario::{Delay, Network};

/// All networks.
#[derive(Clone)]
pub(in crate::world) struct Networks {
    /// By application; last that of the servers' own clients.
    of_clients: Vec<Base>,
    pub(super) between_servers: Network,
}

/// A network of clients, and the lane of its latency if that is constant.
#[derive(Clone, Copy)]
pub(super) struct Base {
    pub(super) network: Network,
    pub(super) lane: Option<LaneId>,
}

/// How long a message is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) struct Transit {
    pub(in crate::world) delay: SimDuration,
    /// The lane of just that delay, if it has one.
    pub(super) lane: Option<LaneId>,
}

impl Networks {
    /// Networks with a lane for each constant latency of clients, which `lane` makes.
    pub(in crate::world) fn new(
        of_clients: impl IntoIterator<Item = Network>,
        between_servers: Network,
        mut lane: impl FnMut(SimDuration) -> LaneId,
    ) -> Self {
        let base = |network: Network| Base {
            network,
            lane: match network.latency {
                Delay::Constant(delay) => Some(lane(delay)),
                Delay::Uniform(..) | Delay::Drawn(_) => None,
            },
        };
        Self { of_clients: of_clients.into_iter().map(base).collect(), between_servers }
    }

    #[inline]
    pub(super) fn get(&self, app: AppId) -> &Base {
        &self.of_clients[app.index()]
    }
}

impl Transit {
    /// Schedules the arrival.
    #[inline]
    pub(in crate::world) fn schedule<E: Copy>(self, arrival: E, schedule: &mut Schedule<E>) {
        match self.lane {
            Some(lane) => schedule.after(lane, arrival),
            None => schedule.at(schedule.now() + self.delay, arrival),
        }
    }
}
