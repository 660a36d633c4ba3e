//! Replication: what a server tells its peers, when, and what it makes of their answers.
//!
//! Each peer has a queue of its own ([`peer`]). A task waits there until the oldest is 500 ms old; then a batch of at
//! most 250 goes out. A batch that fails comes back to the front of the queue, until its tasks expire or newer ones
//! take their place. Only what clients tell a server is passed on, never what a peer told it, and never an eviction.
//!
//! Source: `eureka-peers.md` sections 2 to 7; `PeerEurekaNode`, `AcceptorExecutor`, `TaskExecutors`, `TrafficShaper`,
//! `ReplicationTaskProcessor`, `PeerReplicationResource`.

use super::server::{EurekaServer, ServerStep};
use crate::model::id::ServerId;
use crate::model::message::{Failure, ItemReply, Replicated};

/// Names a batch among those that one life of a server sends to one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub u32);

/// How a batch ended (`eureka-peers.md` section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOutcome<'a> {
    /// With 200, and an answer for each item in order.
    Answered(&'a [ItemReply]),
    /// With another HTTP status.
    Refused(u16),
    /// Without an answer.
    Failed(Failure),
}

impl EurekaServer {
    /// A peer's queue is to be looked at. A stale setting is dropped.
    pub fn on_peer_timer(&mut self, peer: ServerId, generation: u16, step: &mut ServerStep<'_>) {
        let _ = (peer, generation, step);
    }

    /// A peer's batch arrives: its items are processed one after another, as replication, and each has its answer
    /// (`PeerReplicationResource.batchReplication`).
    pub fn on_batch(&mut self, items: &[Replicated], step: &mut ServerStep<'_>) -> Vec<ItemReply> {
        let _ = (items, step);
        Vec::new()
    }

    /// A batch that this life sent to `peer` has ended.
    pub fn on_batch_outcome(
        &mut self,
        peer: ServerId,
        batch: BatchId,
        outcome: BatchOutcome<'_>,
        step: &mut ServerStep<'_>,
    ) {
        let _ = (peer, batch, outcome, step);
    }
}
