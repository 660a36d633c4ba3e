//! Batches on their way between servers, and the connections that carry them.
//!
//! A server keeps the connections that worked and uses the youngest again. The others are closed after 30 s.

use crate::engine::{SimDuration, SimTime};
use crate::model::eureka::BatchId;
use crate::model::id::ServerId;
use crate::model::message::{Failure, ItemReply, Replicated};

/// A pooled connection is closed after so long without use (`eureka-peers.md` section 9).
const IDLE_LIMIT: SimDuration = SimDuration::from_secs(30);

/// How a batch comes back.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// Not answered yet.
    None,
    /// With an answer for each item.
    Items(Vec<ItemReply>),
    /// With a reset or a refused connection.
    Refused,
}

/// A batch on its way.
#[derive(Clone)]
pub(super) struct Batch {
    pub(super) from: ServerId,
    pub(super) to: ServerId,
    /// Of which process of the sender: see [`super::node::ServerNode::ended`].
    pub(super) sender_ended: u32,
    pub(super) id: BatchId,
    pub(super) items: Box<[Replicated]>,
    pub(super) answer: Answer,
    pub(super) sent_at: SimTime,
    /// When what a partition has swallowed was sent first.
    pub(super) swallowed_at: SimTime,
    /// Its connection is still to be made.
    pub(super) connects: bool,
    /// The sender has given up: an answer would find nobody.
    pub(super) given_up: bool,
    /// When the sender gives up, and how it fails then; [`SimTime::MAX`] while all is well.
    pub(super) limit_at: SimTime,
    pub(super) failure: Failure,
    /// Somebody still holds it who will come back to it.
    pub(super) is_under_way: bool,
}

/// The connections between servers that wait for a batch.
#[derive(Clone)]
pub(super) struct Pools {
    servers: usize,
    /// Since when each pooled connection is idle, from one server to another; the youngest last.
    pools: Vec<Vec<SimTime>>,
}

impl Pools {
    /// None yet, between so many servers.
    pub(super) fn new(servers: usize) -> Self {
        let pools = (0..servers * servers).map(|_| Vec::new()).collect();
        Self { servers, pools }
    }

    /// The pooled connections from one server to another.
    pub(super) fn pool(&mut self, from: ServerId, to: ServerId) -> &mut Vec<SimTime> {
        &mut self.pools[from.index() * self.servers + to.index()]
    }

    /// The youngest connection that is still open, if there is one.
    pub(super) fn reuse(&mut self, from: ServerId, to: ServerId, now: SimTime) -> bool {
        let pool = self.pool(from, to);
        pool.retain(|&idle_since| now.since(idle_since) < IDLE_LIMIT);
        pool.pop().is_some()
    }

    /// A server's process has ended: connections to it are reset, its own are gone.
    pub(super) fn reset(&mut self, server: ServerId) {
        for other in (0..self.servers as u32).map(ServerId) {
            self.pool(server, other).clear();
            self.pool(other, server).clear();
        }
    }
}
