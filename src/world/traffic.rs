//! Exchanges between processes: sent, lost, delivered, parked, refused, given up.
//!
//! What becomes of a message on its link is the fabric's verdict. Here is what that means: which event follows, and what
//! the processes at both ends make of it, whether they run, stand still or are gone. Calls of clients and batches of
//! servers go the same way; where they differ they say so in `requests.rs` and `batches.rs`. When senders have waited for
//! long enough is in `limits.rs`.

use super::World;
use super::batches::Batch;
use super::event::Event;
use super::fabric::{
    Answer, Carrier, Exchange, ExchangeId, Fabric, Held, Host, Kind, MessageDirection, Passage, Route,
};
use super::node::{State, Waiting};
use super::setup::client_label;
use crate::engine::Schedule;
use crate::model::effect::{Call, Silence};
use crate::model::eureka::client::purpose;
use crate::model::eureka::{BatchId, BatchOutcome};
use crate::model::id::{AppId, ClientId, ServerId};
use crate::model::message::{Failure, RequestKind};

/// What the process that sent an exchange does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    Runs,
    StandsStill,
    Gone,
}

/// Who waits for the outcome of an exchange.
#[derive(Clone, Copy)]
pub(super) enum Waiter {
    Client(ClientId, Call),
    /// A server, for a batch to a peer.
    Server(ServerId, ServerId, BatchId),
}

impl World<'_> {
    /// A message that waited leaves: a slow heartbeat, or what TCP sends again after a partition.
    pub(super) fn message_leaves(&mut self, id: ExchangeId, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let &exchange = self.fabric.exchange(id);
        let sender = self.sender(id);
        let is_awaited = match self.waiter(id) {
            Waiter::Client(client, call) => self.clients[client.index()].client.awaits(call),
            Waiter::Server(..) => true,
        };
        if exchange.is_given_up() || sender == Sender::Gone || !is_awaited {
            // Whoever waited for it is gone, and the connection with it.
            self.fabric.remove(id);
            return;
        }
        if sender == Sender::StandsStill && !exchange.is_sent_again(now) {
            self.waiting_of_sender(id).timers.push(Event::MessageLeaves { exchange: id });
            return;
        }
        self.fabric.wait_anew(id, self.app_at(exchange.route.from), now);
        self.leaves(id, schedule);
    }

    /// The next message of an exchange is sent: the request, or the answer once there is one.
    #[inline]
    pub(super) fn leaves(&mut self, id: ExchangeId, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let route = self.fabric.exchange(id).route;
        let arrival = match self.fabric.exchange(id).way() {
            MessageDirection::ToServer => Event::RequestArrives { exchange: id },
            MessageDirection::FromServer => Event::AnswerArrives { exchange: id },
        };
        let connects_within = self.connects_within(id);
        let passage = self.with_carrier(route, id.kind(), |fabric, carrier| {
            fabric.leaves(id, connects_within, now, carrier)
        });
        match passage {
            Passage::Arrives(transit) => {
                transit.schedule(arrival, schedule);
                self.note_if_late(id, now + transit.delay, schedule);
            }
            Passage::Stalls(silence) => self.stall(id, silence, schedule),
            Passage::Over => {}
        }
    }

    /// Lends the fabric what carries a message between a host and a server. What servers' own clients say to other
    /// servers takes as long as all that is said between servers, if the scenario tells how long that is.
    #[inline]
    pub(super) fn with_carrier<T>(
        &mut self,
        Route { from, to }: Route,
        kind: Kind,
        act: impl FnOnce(&mut Fabric, &mut Carrier<'_>) -> T,
    ) -> T {
        let (scenario, app) = (self.scenario, self.app_at(from));
        let client = match (kind, from) {
            (Kind::Batch, _) => None,
            (Kind::Call, Host::Server(own)) if own != to && scenario.server_network.is_some() => None,
            (Kind::Call, _) => Some(self.client_at(from)),
        };
        let node = client.map(|client| &mut self.clients[client.index()]);
        let ordinal = node.as_ref().map_or(0, |node| node.ordinal);
        let host = || client_label(&scenario.applications[app.index()].name, ordinal);
        let streams = node.map(|node| &mut node.streams);
        let (seed, latency) = (&self.seed, purpose::LATENCY);
        let mut carrier = Carrier { app, streams, latency, seed, host: &host };
        act(&mut self.fabric, &mut carrier)
    }

    /// The application of a host's client: servers' own have the number after the last.
    #[inline]
    pub(super) fn app_at(&self, host: Host) -> AppId {
        match host {
            Host::Client(client) => self.clients[client.index()].app,
            Host::Server(_) => AppId(self.scenario.applications.len() as u32),
        }
    }

    /// A request reaches the server's host.
    pub(super) fn request_arrives(&mut self, id: ExchangeId, schedule: &mut Schedule<Event>) {
        let &Exchange { route: Route { to, .. }, connects, .. } = self.fabric.exchange(id);
        match self.servers[to.index()].state {
            State::Running if self.listens(to) => self.take_up_request(id, schedule),
            State::Paused { .. } if self.listens(to) => {
                let waiting = &mut self.servers[to.index()].waiting;
                if connects && !waiting.connects() {
                    waiting.refused_connections.push(self.fabric.refuse_connection(id));
                    self.stall(id, Silence::BlackHole, schedule);
                    return;
                }
                waiting.arrivals.push(Event::RequestArrives { exchange: id });
                self.fabric.exchange_mut(id).has_connected();
                self.stall(id, Silence::Paused, schedule);
            }
            State::Running | State::Paused { .. } | State::Down => self.refuse(id, schedule),
        }
    }

    /// A request is answered at once, or waits for one of the server's threads.
    fn take_up_request(&mut self, id: ExchangeId, schedule: &mut Schedule<Event>) {
        let exchange = self.fabric.exchange_mut(id);
        exchange.has_connected();
        let server = exchange.route.to;
        if self.servers[server.index()].threads.is_none() {
            self.serve(id, schedule);
            return;
        }
        let (kind, items) = match id.kind() {
            Kind::Call => (self.asked(id).request.kind(), 0),
            Kind::Batch => (RequestKind::Replicate, self.batch(id).items.len()),
        };
        let done = self.begin_work(server, id, kind, items, schedule);
        self.note_if_late(id, done, schedule);
    }

    /// A server processes a request.
    #[inline]
    pub(super) fn serve(&mut self, id: ExchangeId, schedule: &mut Schedule<Event>) {
        match id.kind() {
            Kind::Call => self.serve_request(id, schedule),
            Kind::Batch => self.serve_batch(id, schedule),
        }
    }

    /// Nobody listens at the server's port.
    pub(super) fn refuse(&mut self, id: ExchangeId, schedule: &mut Schedule<Event>) {
        self.answer(id, Answer::Refused, schedule);
    }

    #[inline]
    pub(super) fn answer(&mut self, id: ExchangeId, answer: Answer, schedule: &mut Schedule<Event>) {
        self.fabric.exchange_mut(id).answer = answer;
        self.leaves(id, schedule);
    }

    /// An answer reaches the sender's host.
    pub(super) fn answer_arrives(&mut self, id: ExchangeId, schedule: &mut Schedule<Event>) {
        let sender = self.sender(id);
        if sender == Sender::StandsStill {
            self.waiting_of_sender(id).arrivals.push(Event::AnswerArrives { exchange: id });
            return;
        }
        let waiter = self.waiter(id);
        let exchange = self.fabric.remove(id);
        if sender == Sender::Gone || exchange.is_given_up() {
            return;
        }
        let server = exchange.route.to;
        match (exchange.answer, waiter) {
            (Answer::Given, Waiter::Client(client, _)) => {
                self.reply_arrives(client, server, *self.asked(id), schedule);
            }
            (Answer::Given, Waiter::Server(..)) => self.replies_arrive(id, server, schedule),
            (Answer::Refused, waiter) => self.fail(waiter, Failure::Refused, schedule),
            (Answer::None, _) => unreachable!("an answer that arrives was given"),
        }
    }

    /// Whoever waits for an exchange learns that it has failed.
    pub(super) fn fail(&mut self, waiter: Waiter, failure: Failure, schedule: &mut Schedule<Event>) {
        match waiter {
            Waiter::Client(client, call) => self.step_client(client, schedule, |client, config, step| {
                client.on_failure(config, call, failure, step);
            }),
            Waiter::Server(from, to, batch) => self.step_server(from, schedule, |server, step| {
                server.on_batch_outcome(to, batch, BatchOutcome::Failed(failure), step);
            }),
        }
    }

    /// Something between a host and a server is over: what was swallowed is sent again where the way is free.
    pub(super) fn send_swallowed_again(&mut self, route: Route, schedule: &mut Schedule<Event>) {
        let swallowed = self.fabric.take_swallowed(route);
        self.send_again(swallowed, schedule);
    }

    /// What a partition swallowed, or a server that stands still turned away, is sent again where the way is free: calls
    /// first, then batches.
    pub(super) fn send_again(&mut self, mut held: Vec<Held>, schedule: &mut Schedule<Event>) {
        held.retain(|&held| self.fabric.is_current(held));
        held.sort_by_key(|held| held.id.kind());
        for held in held {
            let app = self.app_at(self.fabric.exchange(held.id).route.from);
            if let Some(at) = self.fabric.sent_again(held, app, schedule.now()) {
                schedule.at(at, Event::MessageLeaves { exchange: held.id });
            }
        }
    }

    /// What the process that sent an exchange does now.
    #[inline]
    pub(super) fn sender(&self, id: ExchangeId) -> Sender {
        let state = match id.kind() {
            Kind::Call => self.clients[self.client_at(self.fabric.exchange(id).route.from).index()].state,
            Kind::Batch => {
                let &Batch { from, sender_ended, .. } = self.batch(id);
                let node = &self.servers[from.index()];
                if node.ended == sender_ended { node.state } else { State::Down }
            }
        };
        match state {
            State::Running => Sender::Runs,
            State::Paused { .. } => Sender::StandsStill,
            State::Down => Sender::Gone,
        }
    }

    /// Who waits for the outcome of an exchange.
    #[inline]
    pub(super) fn waiter(&self, id: ExchangeId) -> Waiter {
        let exchange = self.fabric.exchange(id);
        match id.kind() {
            Kind::Call => Waiter::Client(self.client_at(exchange.route.from), self.asked(id).call),
            Kind::Batch => Waiter::Server(self.batch(id).from, exchange.route.to, self.batch(id).id),
        }
    }

    /// What the sender of an exchange finds when it goes on.
    pub(super) fn waiting_of_sender(&mut self, id: ExchangeId) -> &mut Waiting {
        match self.waiter(id) {
            Waiter::Client(client, _) => self.clients[client.index()].waiting.get_or_insert_default(),
            Waiter::Server(server, ..) => &mut self.servers[server.index()].waiting,
        }
    }
}
