//! Batches between servers: sent, lost, delivered, refused, given up.
//!
//! What a batch is, and what follows from its end, are the servers' rules. Here are the connections that carry it. A
//! server keeps those that worked and uses the youngest again; the others are closed after 30 s. So a partition is
//! first felt as a read limit on each connection that stands, and then as a connect limit (`eureka-peers.md` 4.5,
//! section 9). A process that ends takes its connections with it.

use super::World;
use super::batches::{Answer, Batch};
use super::event::Event;
use super::links::{Verdict, Way, is_free};
use super::node::State;
use super::retransmission::Swallowed;
use super::work::Work;
use crate::engine::{Schedule, SimDuration, SimTime};
use crate::model::eureka::{BatchId, BatchOutcome};
use crate::model::id::ServerId;
use crate::model::message::{Failure, Replicated, Reply, RequestKind};

impl World<'_> {
    /// A server is to look at a peer's queue.
    pub(super) fn peer_timer_due(&mut self, event: Event, now: SimTime, schedule: &mut Schedule<Event>) {
        let Event::PeerTimerDue { server, peer, generation } = event else { unreachable!() };
        let (server, peer) = (ServerId(server.into()), ServerId(peer.into()));
        let node = &mut self.servers[server.index()];
        match node.state {
            State::Running if node.server.is_some() => {
                self.step_server(server, now, schedule, |server, step| {
                    server.on_peer_timer(peer, generation, step);
                });
            }
            State::Paused { .. } => node.waiting.timers.push(event),
            State::Running | State::Down => {}
        }
    }

    /// A server sends a batch.
    pub(super) fn send_batch(
        &mut self,
        from: ServerId,
        to: ServerId,
        batch: BatchId,
        items: Box<[Replicated]>,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        let connects = !self.pools.reuse(from, to, now);
        let number = self.batches.take_off(Batch {
            from,
            to,
            sender_ended: self.servers[from.index()].ended,
            id: batch,
            items,
            answer: Answer::None,
            sent_at: now,
            swallowed_at: SimTime::MAX,
            connects,
            given_up: false,
            limit_at: SimTime::MAX,
            failure: Failure::ReadTimeout,
            is_under_way: true,
        });
        self.batch_passes(number, Way::ToServer, now, schedule);
    }

    /// What was swallowed is sent again.
    pub(super) fn batch_leaves(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.batches.at_mut(number);
        let (from, given_up, answered) =
            (flight.from, flight.given_up, !matches!(flight.answer, Answer::None));
        if given_up || self.servers[from.index()].ended != self.batches.at_mut(number).sender_ended {
            self.batches.land(number);
            return;
        }
        let flight = self.batches.at_mut(number);
        let (from, to, connects) = (flight.from, flight.to, flight.connects);
        if connects
            && !self.is_cut_between(from, to, Way::ToServer)
            && !self.is_cut_between(from, to, Way::FromServer)
        {
            // Only now does the wait begin that the read limit is for.
            let flight = self.batches.at_mut(number);
            (flight.sent_at, flight.limit_at) = (now, SimTime::MAX);
        }
        let way = if answered { Way::FromServer } else { Way::ToServer };
        self.batch_passes(number, way, now, schedule);
    }

    /// The link's verdict on a batch, or on its answer. Making a connection needs both ways.
    fn batch_passes(&mut self, number: u32, way: Way, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.batches.at_mut(number);
        let (from, to, connects, given_up) = (flight.from, flight.to, flight.connects, flight.given_up);
        let verdict = self.verdict_between(from, to, way);
        match verdict {
            Verdict::Passes { .. }
                if way == Way::ToServer && connects && self.is_cut_between(from, to, Way::FromServer) =>
            {
                self.swallow_batch(number, now, schedule);
            }
            Verdict::Passes { later } => {
                let delay = self.latency_between(from, to, way).saturating_add(later);
                if way == Way::ToServer && connects && delay * 2 > self.peer_limits().0 {
                    // There and back is too far for the connection to be made in time.
                    self.batches.at_mut(number).is_under_way = false;
                    self.set_batch_limit(number, true, schedule);
                    return;
                }
                let event = match way {
                    Way::ToServer => Event::BatchArrives { batch: number },
                    Way::FromServer => Event::BatchAnswered { batch: number },
                };
                schedule.at(now + delay, event);
                self.limit_if_late(number, now + delay, schedule);
            }
            Verdict::Lost | Verdict::Swallowed if given_up => {
                self.batches.land(number);
            }
            Verdict::Lost => {
                self.batches.at_mut(number).is_under_way = false;
                self.set_batch_limit(number, false, schedule);
            }
            Verdict::Swallowed => self.swallow_batch(number, now, schedule),
        }
    }

    /// A batch reaches the peer's host.
    pub(super) fn batch_arrives(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.batches.at_mut(number);
        let (to, items) = (flight.to, flight.items.len());
        match self.servers[to.index()].state {
            State::Running if self.listens(to) => {
                self.has_connected(number);
                if self.servers[to.index()].threads.is_none() {
                    self.serve_batch(number, now, schedule);
                } else {
                    let kind = RequestKind::Replicate;
                    let done = self.begin_work(to, Work::Batch(number), kind, items, now, schedule);
                    self.limit_if_late(number, done, schedule);
                }
            }
            State::Paused { .. } if self.listens(to) => {
                let waiting = &mut self.servers[to.index()].waiting;
                if self.batches.at_mut(number).connects && !waiting.connects() {
                    let generation = self.batches.generation(number);
                    waiting.turned_away.batches.push((number, generation));
                    self.turn_batch_away(number, schedule);
                    return;
                }
                waiting.arrivals.push(Event::BatchArrives { batch: number });
                self.has_connected(number);
                self.set_batch_limit(number, false, schedule);
            }
            State::Running | State::Paused { .. } | State::Down => self.refuse_batch(number, now, schedule),
        }
    }

    /// Too many connections wait for a peer that stands still: this one is not made.
    fn turn_batch_away(&mut self, number: u32, schedule: &mut Schedule<Event>) {
        let flight = self.batches.at_mut(number);
        flight.swallowed_at = flight.swallowed_at.min(flight.sent_at);
        flight.is_under_way = false;
        self.set_batch_limit(number, true, schedule);
    }

    fn has_connected(&mut self, number: u32) {
        let flight = self.batches.at_mut(number);
        flight.connects = false;
        flight.swallowed_at = SimTime::MAX;
    }

    /// The peer processes a batch and answers.
    pub(super) fn serve_batch(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.batches.at_mut(number);
        let (to, items) = (flight.to, std::mem::take(&mut flight.items));
        let replies = self.step_server(to, now, schedule, |server, step| server.on_batch(&items, step));
        for item in &items {
            self.recorder.processed(to, item.kind(), now);
        }
        self.recorder.answered(to, RequestKind::Replicate, &Reply::bare(200), now);
        self.batches.at_mut(number).answer = Answer::Items(replies);
        self.batch_passes(number, Way::FromServer, now, schedule);
    }

    /// Nobody listens at the peer's port.
    pub(super) fn refuse_batch(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        self.batches.at_mut(number).answer = Answer::Refused;
        self.batch_passes(number, Way::FromServer, now, schedule);
    }

    /// A batch that the peer will never see: its sender's limit ends it.
    pub(super) fn forget_batch(&mut self, number: u32) {
        let flight = self.batches.at_mut(number);
        flight.is_under_way = false;
        if flight.given_up {
            self.batches.land(number);
        }
    }

    /// The answer to a batch reaches the sender's host.
    pub(super) fn batch_answered(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let from = self.batches.at_mut(number).from;
        let node = &mut self.servers[from.index()];
        if let State::Paused { .. } = node.state {
            node.waiting.arrivals.push(Event::BatchAnswered { batch: number });
            return;
        }
        let flight = self.batches.land(number);
        if self.is_gone(&flight) || flight.given_up {
            return;
        }
        let (to, batch) = (flight.to, flight.id);
        match flight.answer {
            Answer::Items(replies) => {
                if self.servers[to.index()].state != State::Down {
                    self.pools.pool(from, to).push(now);
                }
                self.step_server(from, now, schedule, |server, step| {
                    server.on_batch_outcome(to, batch, BatchOutcome::Answered(&replies), step);
                });
            }
            Answer::Refused => self.fail_batch(from, to, batch, Failure::Refused, now, schedule),
            Answer::None => unreachable!("an answer that arrives was given"),
        }
    }

    /// Whether the process that sent it is gone.
    fn is_gone(&self, flight: &Batch) -> bool {
        let node = &self.servers[flight.from.index()];
        node.ended != flight.sender_ended || node.server.is_none()
    }

    fn fail_batch(
        &mut self,
        from: ServerId,
        to: ServerId,
        batch: BatchId,
        failure: Failure,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        self.step_server(from, now, schedule, |server, step| {
            server.on_batch_outcome(to, batch, BatchOutcome::Failed(failure), step);
        });
    }

    /// The sender's limit is reached, unless the answer came first.
    pub(super) fn batch_limit(
        &mut self,
        number: u32,
        generation: u16,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        if !self.batches.is_current(number, generation) {
            return;
        }
        let flight = self.batches.at_mut(number);
        if flight.given_up || now < flight.limit_at {
            return;
        }
        let (from, to, batch, failure) = (flight.from, flight.to, flight.id, flight.failure);
        let sender_ended = flight.sender_ended;
        let node = &mut self.servers[from.index()];
        if let (State::Paused { .. }, true) = (node.state, node.ended == sender_ended) {
            node.waiting.timers.push(Event::BatchLimit { batch: number, generation });
            return;
        }
        let is_gone = node.ended != sender_ended || node.server.is_none();
        let flight = self.batches.at_mut(number);
        if flight.is_under_way {
            flight.given_up = true;
        } else {
            self.batches.land(number);
        }
        if !is_gone {
            self.fail_batch(from, to, batch, failure, now, schedule);
        }
    }

    /// A partition has it: the sender waits for a connection that is not made, or to read.
    fn swallow_batch(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.batches.at_mut(number);
        if matches!(flight.answer, Answer::Refused) {
            // Nobody repeats a refusal, but the sender's kernel asks again.
            flight.answer = Answer::None;
            flight.swallowed_at = flight.swallowed_at.min(flight.sent_at);
        }
        flight.swallowed_at = flight.swallowed_at.min(now);
        flight.is_under_way = false;
        let (from, to, connects) = (flight.from, flight.to, flight.connects);
        let mut swallowed = std::mem::take(&mut self.between.link(from, to).swallowed_batches);
        swallowed.retain(|&(number, generation)| self.batches.is_current(number, generation));
        swallowed.push((number, self.batches.generation(number)));
        self.between.link(from, to).swallowed_batches = swallowed;
        self.set_batch_limit(number, connects, schedule);
    }

    /// A partition between two servers is over: what it swallowed is sent again where the way is free.
    pub(super) fn send_batches_again(
        &mut self,
        from: ServerId,
        to: ServerId,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        let swallowed = std::mem::take(&mut self.between.link(from, to).swallowed_batches);
        self.send_these_again(swallowed, now, schedule);
    }

    /// What a partition swallowed, or a server that stands still turned away, is sent again where the way is free.
    pub(super) fn send_these_again(
        &mut self,
        swallowed: Vec<(u32, u16)>,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        for (number, generation) in swallowed {
            if !self.batches.is_current(number, generation) {
                continue;
            }
            let flight = self.batches.at_mut(number);
            let (from, to) = (flight.from, flight.to);
            let (connects, answered) = (flight.connects, !matches!(flight.answer, Answer::None));
            let swallowed_at = flight.swallowed_at;
            let is_free = is_free(connects, answered, |way| self.is_cut_between(from, to, way));
            if !is_free {
                self.between.link(from, to).swallowed_batches.push((number, generation));
                continue;
            }
            let what = if connects { Swallowed::Syn } else { Swallowed::Data };
            if let Some(at) = what.sent_again(swallowed_at, now) {
                self.batches.at_mut(number).is_under_way = true;
                schedule.at(at, Event::BatchLeaves { batch: number });
            }
        }
    }

    /// What was just sent on, or is being worked at, may take longer than the sender waits for an answer.
    fn limit_if_late(&mut self, number: u32, at: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.batches.at_mut(number);
        let limit = if flight.connects { self.peer_limits().0 } else { self.peer_limits().1 };
        let flight = self.batches.at_mut(number);
        if at > flight.sent_at + limit && flight.limit_at == SimTime::MAX && !flight.given_up {
            let connects = flight.connects;
            self.set_batch_limit(number, connects, schedule);
        }
    }

    fn set_batch_limit(&mut self, number: u32, connects: bool, schedule: &mut Schedule<Event>) {
        let (connect_limit, read_limit) = self.peer_limits();
        let flight = self.batches.at_mut(number);
        if flight.given_up {
            return;
        }
        let (limit, failure) = match connects {
            true => (connect_limit, Failure::ConnectTimeout),
            false => (read_limit, Failure::ReadTimeout),
        };
        let at = (flight.sent_at + limit).max(schedule.now());
        (flight.limit_at, flight.failure) = (at, failure);
        let generation = self.batches.generation(number);
        schedule.at(at, Event::BatchLimit { batch: number, generation });
    }

    /// How long a server waits for a connection to a peer, and for an answer.
    fn peer_limits(&self) -> (SimDuration, SimDuration) {
        self.scenario.setup.server().peer_limits()
    }
}
