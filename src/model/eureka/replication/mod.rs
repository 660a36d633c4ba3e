//! Replication: what a server tells its peers, when, and what it makes of their answers.
//!
//! Each peer has a dispatcher of its own (`peer`), with a queue (`queue`) of tasks (`task`). A task waits there until
//! the oldest is 500 ms old; then a batch of at most 250 goes out. A batch that fails comes back to the front of the
//! queue after a delay (`shaper`), until its tasks expire or newer ones take their place. What a peer does with a batch
//! is in `receive`. Only what clients tell a server is passed on, never what a peer told it, and never an eviction.
//!
//! ```text
//! client ─PUT─▶ A ··· 500 ms ··· A ─batch: heartbeat─▶ B    B does not know it:   404
//!                                A ◀──────404───────── B
//!               A ··· 500 ms ··· A ─batch: register──▶ B    B has it, a second after the client's call
//! ```
//!
//! So nothing compares registries but heartbeats. An instance that lives is everywhere a second after its next
//! heartbeat; one that left while a peer could not be told stays there until its lease expires.
//!
//! The list of peers is that of the start: it is read again every ten minutes, but servers here do not move. With
//! nobody among the peers, all of this costs a look at an empty list.
//!
//! Source: `eureka-peers.md` sections 2 to 7; `PeerAwareInstanceRegistryImpl.replicateToPeers`, `PeerEurekaNode`,
//! `AcceptorExecutor`, `TaskExecutors`, `TrafficShaper`, `ReplicationTaskProcessor`, `PeerReplicationResource`.

mod peer;
mod queue;
mod receive;
mod shaper;
mod task;

use super::config::ServerConfig;
use super::effect::ServerStep;
use super::registry::LeaseTable;
use super::requests::default_duration_s;
use super::server::EurekaServer;
use super::status::Origin;
use crate::model::id::{InstanceId, ServerId};
use crate::model::message::{Failure, ItemReply, Record, Status};
use peer::{BatchFailure, PeerNode};
use task::Task;

pub(super) use task::Operation;

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

/// The settings of dispatchers, as they were when the server started: they are not read again.
struct Limits {
    /// `max-elements-in-peer-replication-pool`.
    tasks_max: usize,
    /// `max-threads-for-peer-replication`.
    batches_max: usize,
}

/// The peers of one life of a server.
#[derive(Clone)]
pub(super) struct Peers {
    nodes: Vec<PeerNode>,
    /// `max-time-for-replication`, ms.
    longest_ms: i64,
}

impl Peers {
    /// Peers that nothing has been told yet.
    pub(super) fn new(peers: &[ServerId], generation: u16, config: &ServerConfig) -> Self {
        let limits = Limits {
            tasks_max: config.max_elements_in_peer_replication_pool as usize,
            batches_max: config.max_threads_for_peer_replication as usize,
        };
        let nodes = peers.iter().map(|&peer| PeerNode::new(peer, generation, &limits)).collect();
        Self { nodes, longest_ms: config.max_time_for_replication.into() }
    }

    /// Whether there is nobody to tell.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A generation that no setting of a timer that is still to fire carries.
    pub(super) fn next_generation(&self) -> u16 {
        self.nodes.iter().map(|node| node.generation().wrapping_add(1)).max().unwrap_or(0)
    }

    /// Tasks that wait for `peer`.
    #[cfg(test)]
    pub(super) fn waiting(&mut self, peer: ServerId) -> usize {
        self.node(peer).waiting()
    }

    fn node(&mut self, peer: ServerId) -> &mut PeerNode {
        self.nodes.iter_mut().find(|node| node.id() == peer).expect("one of this server's peers")
    }

    fn submit(&mut self, task: Task, leases: &LeaseTable, step: &mut ServerStep<'_>) {
        for node in &mut self.nodes {
            node.submit(task, leases, step);
        }
    }
}

impl EurekaServer {
    /// A peer's queue is to be looked at. A stale setting is dropped.
    pub fn on_peer_timer(&mut self, peer: ServerId, generation: u16, step: &mut ServerStep<'_>) {
        self.peers.node(peer).on_timer(generation, &self.leases, step);
    }

    /// A batch that this life sent to `peer` has ended (`ReplicationTaskProcessor.process`).
    ///
    /// # Panics
    ///
    /// If this life sent no such batch, or was told of its end before.
    pub fn on_batch_outcome(
        &mut self,
        peer: ServerId,
        batch: BatchId,
        outcome: BatchOutcome<'_>,
        step: &mut ServerStep<'_>,
    ) {
        let now = step.now.wall;
        let tasks = self.peers.node(peer).end(batch);
        let failure = match outcome {
            BatchOutcome::Answered(replies) => {
                self.take_answers(peer, &tasks, replies, step);
                None
            }
            BatchOutcome::Refused(503) | BatchOutcome::Failed(Failure::ReadTimeout) => {
                Some(BatchFailure::Congestion)
            }
            BatchOutcome::Failed(Failure::Refused | Failure::ConnectTimeout) => {
                Some(BatchFailure::NetworkFailure)
            }
            // A permanent error: the batch is lost.
            BatchOutcome::Refused(_) => None,
        };
        let node = self.peers.node(peer);
        if let Some(failure) = failure {
            node.put_back(&tasks, failure, now);
        }
        node.recycle(tasks);
        node.send_what_is_due(&self.leases, step);
    }

    /// Looks at all queues, for the clock may show something else than expected.
    pub(super) fn look_at_all_peers(&mut self, step: &mut ServerStep<'_>) {
        for node in &mut self.peers.nodes {
            node.send_what_is_due(&self.leases, step);
        }
    }

    /// A client's call about an instance that is registered has succeeded. A heartbeat tells of the override, and the
    /// look at it keeps it young.
    #[inline]
    pub(super) fn replicate(
        &mut self,
        operation: Operation,
        instance: InstanceId,
        step: &mut ServerStep<'_>,
    ) {
        if self.peers.is_empty() {
            return;
        }
        let Some(lease) = self.leases.lease(instance) else { return };
        let mut task = Task::of_lease(operation, lease, step.now.wall, self.peers.longest_ms);
        if operation == Operation::Heartbeat {
            task = task.overridden_by(self.overrides.read(instance, step.now.mono));
        }
        self.peers.submit(task, &self.leases, step);
    }

    /// A client has registered. What is passed on is the record that it sent, even if the registry has kept a dirtier
    /// one.
    pub(super) fn replicate_register(&mut self, received: &Record, step: &mut ServerStep<'_>) {
        let lease = self.leases.lease(received.instance);
        if lease.is_some_and(|lease| lease.record.last_dirty <= received.last_dirty) {
            return self.replicate(Operation::Register, received.instance, step);
        }
        let task = Task::of_record(Operation::Register, *received, step.now.wall, self.peers.longest_ms);
        self.peers.submit(task, &self.leases, step);
    }

    /// A client has cancelled its lease.
    pub(super) fn replicate_cancel(&mut self, left: &Record, step: &mut ServerStep<'_>) {
        let task = Task::of_record(Operation::Cancel, *left, step.now.wall, self.peers.longest_ms);
        self.peers.submit(task, &self.leases, step);
    }

    /// Only what is said to a heartbeat matters. An answer of another length than the batch is passed over.
    fn take_answers(
        &mut self,
        peer: ServerId,
        tasks: &[Task],
        replies: &[ItemReply],
        step: &mut ServerStep<'_>,
    ) {
        if tasks.len() != replies.len() {
            return;
        }
        for (task, reply) in tasks.iter().zip(replies) {
            match reply.status {
                200..=299 => {}
                _ if task.operation != Operation::Heartbeat => {}
                404 => self.peers.node(peer).put(task.as_registration(step.now.wall)),
                _ if !self.config.sync_when_timestamp_differs => {}
                _ => {
                    if let Some(record) = &reply.record {
                        self.adopt(record, step);
                    }
                }
            }
        }
    }

    /// Takes the newer record of a peer (`syncInstancesIfTimestampDiffers`). The lease starts anew, and nobody is told.
    /// An override for an instance that has left meanwhile is stored, and then the original trips over the missing
    /// record.
    fn adopt(&mut self, record: &Record, step: &mut ServerStep<'_>) {
        let tells_override = record.overridden != Status::Unknown;
        if tells_override && !self.store_override(record.instance, record.overridden, step) {
            return;
        }
        self.register(record, default_duration_s(record), Origin::Replica, step);
        self.note_served(step);
    }
}
