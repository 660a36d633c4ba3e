//! Batches: what a server tells a peer.
//!
//! What a batch is, and what follows from its end, are the servers' rules. Here is how it is sent and processed. Since
//! a server keeps the connections that worked, a partition is first felt as a read limit on each connection that stands,
//! and then as a connect limit (`eureka-peers.md` 4.5, section 9).

use super::World;
use super::event::Event;
use super::fabric::{Answer, Exchange, ExchangeId, Host, Kind, Route};
use super::node::State;
use super::requests::put;
use crate::engine::Schedule;
use crate::model::eureka::{BatchId, BatchOutcome};
use crate::model::id::ServerId;
use crate::model::message::{ItemReply, Replicated, Reply, RequestKind};

/// What a batch carries.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) from: ServerId,
    /// Of which process of the sender: see [`super::node::ServerNode::ended`].
    pub(super) sender_ended: u32,
    pub(super) id: BatchId,
    pub(super) items: Box<[Replicated]>,
    /// The answer to each item, once there is one.
    pub(super) replies: Vec<ItemReply>,
}

impl World<'_> {
    /// A server sends a batch, over a connection that waits for one if there is any.
    pub(super) fn send_batch(
        &mut self,
        from: ServerId,
        to: ServerId,
        id: BatchId,
        items: Box<[Replicated]>,
        schedule: &mut Schedule<Event>,
    ) {
        let now = schedule.now();
        let connects = !self.fabric.pools.take(from, to, now);
        let sender_ended = self.servers[from.index()].ended;
        let batch = Batch { from, sender_ended, id, items, replies: Vec::new() };
        let route = Route { from: Host::Server(from), to };
        let id = self.fabric.begin(Kind::Batch, Exchange::new(route, connects, now));
        put(&mut self.batches, id, batch);
        self.leaves(id, schedule);
    }

    /// What a batch carries.
    pub(super) fn batch(&self, id: ExchangeId) -> &Batch {
        &self.batches[id.place() as usize]
    }

    /// The peer processes a batch and answers.
    pub(super) fn serve_batch(&mut self, id: ExchangeId, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let to = self.fabric.exchange(id).route.to;
        let items = std::mem::take(&mut self.batches[id.place() as usize].items);
        let replies = self.step_server(to, schedule, |server, step| server.on_batch(&items, step));
        for item in &items {
            self.recorder.processed(to, item.kind(), now);
        }
        self.recorder.answered(to, RequestKind::Replicate, &Reply::bare(200), now);
        self.batches[id.place() as usize].replies = replies;
        self.answer(id, Answer::Given, schedule);
    }

    /// The answers to a batch reach its sender, who keeps the connection unless the peer is gone.
    pub(super) fn replies_arrive(&mut self, id: ExchangeId, to: ServerId, schedule: &mut Schedule<Event>) {
        let Batch { from, id, replies, .. } = &mut self.batches[id.place() as usize];
        let (from, id, replies) = (*from, *id, std::mem::take(replies));
        if self.servers[to.index()].state != State::Down {
            self.fabric.pools.put(from, to, schedule.now());
        }
        self.step_server(from, schedule, |server, step| {
            server.on_batch_outcome(to, id, BatchOutcome::Answered(&replies), step);
        });
    }
}
