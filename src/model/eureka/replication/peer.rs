//! One peer's dispatcher: the queue, the two delays, and the batches under way.
//!
//! The original's loop runs every 10 ms and looks whether there is something to send. Here it looks when it may have
//! become true: when a timer says so, when a task comes into an empty or a full queue, when a batch has ended.
//!
//! ```text
//! next batch = the latest of   first task + 500 ms      (now, if the queue is full)
//!                              the end of the delay
//!                              a worker is free
//! ```
//!
//! More than 250 tasks leave as several batches at once, each to a worker of its own, so batches overtake one another.
//! A task is never told the peer twice at once, but a batch that fails is sent again behind what has gone since.
//!
//! Source: `eureka-peers.md` section 4, and 4.8 for the form with events.

use super::queue::TaskQueue;
use super::shaper::TrafficShaper;
use super::task::Task;
use super::{BatchId, Limits};
use crate::model::clock::Due;
use crate::model::clock::WallMs;
use crate::model::eureka::effect::{ServerEffect, ServerStep};
use crate::model::eureka::registry::LeaseTable;
use crate::model::id::ServerId;

/// Why a batch comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BatchFailure {
    /// The peer is overloaded, or takes it as such.
    Congestion,
    /// The peer was not reached.
    NetworkFailure,
}

/// What a server keeps of one peer.
#[derive(Clone)]
pub(super) struct PeerNode {
    id: ServerId,
    queue: TaskQueue,
    shaper: TrafficShaper,
    under_way: Vec<(BatchId, Vec<Task>)>,
    batches_max: usize,
    next_batch: BatchId,
    /// When the timer fires that is set, by the wall clock.
    observed_services: Option<WallMs>,
    generation: u16,
    /// Emptied lists of batches that have ended, to be used again.
    spare: Vec<Vec<Task>>,
}

impl PeerNode {
    /// Nothing to tell yet.
    pub(super) fn new(id: ServerId, generation: u16, limits: &Limits) -> Self {
        Self {
            id,
            queue: TaskQueue::new(limits.tasks_max),
            shaper: TrafficShaper::default(),
            under_way: Vec::new(),
            batches_max: limits.batches_max,
            next_batch: BatchId(0),
            observed_services: None,
            generation,
            spare: Vec::new(),
        }
    }

    /// Which server it is.
    pub(super) fn id(&self) -> ServerId {
        self.id
    }

    /// Tasks that wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// The generation of the newest setting of the timer.
    pub(super) fn generation(&self) -> u16 {
        self.generation
    }

    /// Queues a task without looking whether something can be sent: its caller does, with
    /// [`PeerNode::send_what_is_due`].
    pub(super) fn put(&mut self, task: Task) {
        self.queue.put(task);
    }

    /// Queues a task. As long as a timer is set and there is room, that is all.
    #[inline]
    pub(super) fn submit(&mut self, task: Task, leases: &LeaseTable, step: &mut ServerStep<'_>) {
        self.queue.put(task);
        if self.observed_services.is_none() || self.queue.is_full() {
            self.send_what_is_due(leases, step);
        }
    }

    /// The timer fired; a stale setting is dropped.
    pub(super) fn on_timer(&mut self, generation: u16, leases: &LeaseTable, step: &mut ServerStep<'_>) {
        if generation == self.generation && self.observed_services.take().is_some() {
            self.send_what_is_due(leases, step);
        }
    }

    /// Sends all batches that may go, and sets the timer for the next.
    pub(super) fn send_what_is_due(&mut self, leases: &LeaseTable, step: &mut ServerStep<'_>) {
        let now = step.now.wall;
        loop {
            match self.next_send(now) {
                Some(at) if at <= now => self.send(leases, step),
                Some(at) => return self.look_at(at, step),
                None => return,
            }
        }
    }

    /// Takes the tasks of a batch that has ended. Its worker is free again.
    pub(super) fn end(&mut self, batch: BatchId) -> Vec<Task> {
        let at = self.under_way.iter().position(|sent| sent.0 == batch);
        self.under_way.swap_remove(at.expect("a batch ends once, in the life that sent it")).1
    }

    /// A batch failed and is tried again.
    pub(super) fn put_back(&mut self, tasks: &[Task], failure: BatchFailure, now: WallMs) {
        match failure {
            BatchFailure::Congestion => self.shaper.congested(now),
            BatchFailure::NetworkFailure => self.shaper.network_failed(now),
        }
        self.queue.put_back(tasks, now);
    }

    /// Takes back the list of an ended batch.
    pub(super) fn recycle(&mut self, mut tasks: Vec<Task>) {
        tasks.clear();
        self.spare.push(tasks);
    }

    /// When the next batch may go, as far as that is known. `None` if nothing waits or all workers are busy.
    fn next_send(&mut self, now: WallMs) -> Option<WallMs> {
        if self.under_way.len() >= self.batches_max {
            return None;
        }
        let due = self.queue.due(now)?;
        Some(due.max(self.shaper.opens_at(now)))
    }

    /// Hands a batch to a worker, unless all that it would take has expired.
    fn send(&mut self, leases: &LeaseTable, step: &mut ServerStep<'_>) {
        let mut tasks = self.spare.pop().unwrap_or_default();
        self.queue.take(step.now.wall, &mut tasks);
        if tasks.is_empty() {
            return self.recycle(tasks);
        }
        let item = |task: &mut Task| {
            task.refresh(leases);
            task.item()
        };
        let items = tasks.iter_mut().map(item).collect();
        let batch = self.next_batch;
        self.next_batch = BatchId(batch.0.wrapping_add(1));
        self.under_way.push((batch, tasks));
        step.out.push(ServerEffect::Replicate { to: self.id, batch, items });
    }

    /// Sets the timer, if it is not to fire before. An early look finds nothing to send and sets it again: that is
    /// cheaper than a new setting for each task that takes the first place.
    fn look_at(&mut self, at: WallMs, step: &mut ServerStep<'_>) {
        let now = step.now.wall;
        if let Some(set) = self.observed_services {
            if set > now && set <= at {
                return;
            }
            self.generation = self.generation.wrapping_add(1);
        }
        self.observed_services = Some(at);
        let (peer, due, generation) = (self.id, Due::Wall(at), self.generation);
        step.out.push(ServerEffect::SetPeerTimer { peer, due, generation });
    }
}
