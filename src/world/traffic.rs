//! Messages between clients and servers: sent, lost, delivered, parked, refused, given up.
//!
//! The link's verdict falls when a message is sent: it passes after a delay or is lost, and what is under way
//! arrives. What a partition swallowed is sent again when that has healed, as TCP does it (`retransmission.rs`).
//! When callers have waited for long enough is in `limits.rs`.

use super::World;
use super::datagrams::{Datagram, Says};
use super::event::Event;
use super::flight::{Answer, Flight};
use super::links::{Verdict, Way};
use super::node::State;
use super::setup::config_of;
use super::work::Work;
use crate::engine::{Schedule, SimDuration, SimTime};
use crate::model::effect::{Call, ClientEffect, Silence, Ticket};
use crate::model::eureka::client::purpose;
use crate::model::id::{ClientId, ServerId};
use crate::model::message::{Failure, Reply, Request, RequestKind};
use crate::scenario::Delay;

impl World<'_> {
    /// A client sends a request.
    pub(super) fn send(
        &mut self,
        client: ClientId,
        call: Call,
        server: ServerId,
        request: Request,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        let node = &self.clients[client.index()];
        let connects = call.is_fresh() || !config_of(self.scenario, node.app).pools_connections();
        let is_slow = request.kind() == RequestKind::Renew && node.is_slow();
        let number = self.flights.take_off(Flight::new(client, server, call, request, connects, now));
        if is_slow {
            self.hold_back(number, now, schedule);
        } else {
            self.request_leaves(number, now, schedule);
        }
    }

    /// A heartbeat waits for its turn in a pool that starves.
    fn hold_back(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.flights.at(number);
        let (client, call) = (flight.client, flight.call);
        let delay = self.clients[client.index()].heartbeat_delay(&self.seed);
        schedule.at(now + delay, Event::MessageLeaves { flight: number });
        self.tell_of_stall(client, call, now, schedule);
    }

    /// A message that waited leaves: a slow heartbeat, or what TCP sends again after a partition.
    pub(super) fn message_leaves(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.flights.at_mut(number);
        let (client, call, is_sent_again) = (flight.client, flight.call, flight.swallowed_at < now);
        let node = &mut self.clients[client.index()];
        if flight.given_up || node.state == State::Down || !node.client.awaits(call) {
            // Whoever waited for it is gone, and the connection with it.
            self.flights.land(number);
            return;
        }
        if let (State::Paused { .. }, false) = (node.state, is_sent_again) {
            let event = Event::MessageLeaves { flight: number };
            node.waiting.get_or_insert_default().timers.push(event);
            return;
        }
        if flight.has_answer() {
            self.answer_leaves(number, now, schedule);
            return;
        }
        let (server, connects) = (flight.server, flight.connects);
        let is_free =
            !self.is_cut(client, server, Way::ToServer) && !self.is_cut(client, server, Way::FromServer);
        if !is_sent_again || connects && is_free {
            // Only now does the wait begin that the read limit is for.
            let flight = self.flights.at_mut(number);
            (flight.sent_at, flight.limit_at) = (now, SimTime::MAX);
        }
        self.request_leaves(number, now, schedule);
    }

    /// The link's verdict on a request. Making a connection needs both ways.
    #[inline]
    fn request_leaves(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.flights.at(number);
        let (client, server, connects) = (flight.client, flight.server, flight.connects);
        match self.verdict(client, server, Way::ToServer) {
            Verdict::Passes { .. } if connects && self.is_cut(client, server, Way::FromServer) => {
                self.swallow(number, now, schedule);
            }
            Verdict::Passes { later } => {
                let arrives = Event::RequestArrives { flight: number };
                let delay = self.deliver((client, server), arrives, later, schedule);
                self.warn_if_late(number, delay, now, schedule);
            }
            Verdict::Lost => self.stall(number, Silence::Paused, false, now, schedule),
            Verdict::Swallowed => self.swallow(number, now, schedule),
        }
    }

    /// A request reaches the server's host.
    pub(super) fn request_arrives(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let server = self.flights.at(number).server;
        match self.servers[server.index()].state {
            State::Running if self.listens(server) => self.take_up_request(number, now, schedule),
            State::Paused { .. } if self.listens(server) => {
                let waiting = &mut self.servers[server.index()].waiting;
                if self.flights.at(number).connects && !waiting.connects() {
                    self.turn_away(number, server, now, schedule);
                    return;
                }
                waiting.arrivals.push(Event::RequestArrives { flight: number });
                self.flights.at_mut(number).has_connected();
                self.stall(number, Silence::Paused, true, now, schedule);
            }
            State::Running | State::Paused { .. } | State::Down => self.refuse(number, now, schedule),
        }
    }

    /// Too many connections wait for a server that stands still: this one is not made. The caller's kernel asks again.
    fn turn_away(&mut self, number: u32, server: ServerId, now: SimTime, schedule: &mut Schedule<Event>) {
        let generation = self.flights.generation(number);
        let flight = self.flights.at_mut(number);
        flight.swallowed_at = flight.swallowed_at.min(flight.sent_at);
        self.servers[server.index()].waiting.turned_away.calls.push((number, generation));
        self.stall(number, Silence::BlackHole, false, now, schedule);
    }

    /// A request is answered at once, or waits for one of the server's threads.
    fn take_up_request(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.flights.at_mut(number);
        flight.has_connected();
        let (server, kind) = (flight.server, flight.request.kind());
        if self.servers[server.index()].threads.is_none() {
            self.serve(number, now, schedule);
        } else {
            let done = self.begin_work(server, Work::Request(number), kind, 0, now, schedule);
            self.warn_if_late(number, done.since(now), now, schedule);
        }
    }

    /// The server answers.
    #[inline]
    pub(super) fn serve(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.flights.at(number);
        let (server, request) = (flight.server, flight.request);
        let ticket = Ticket { place: number, generation: self.flights.generation(number) };
        let reply = self.step_server(server, now, schedule, |server, step| {
            server.on_request(&request, Some(ticket), step)
        });
        match reply {
            Some(reply) => {
                self.recorder.answered(server, request.kind(), &reply, now);
                self.answer(number, Answer::Reply(reply), now, schedule);
            }
            // It will come back to it; meanwhile the caller's limit counts.
            None if self.flights.at(number).limit_at == SimTime::MAX => {
                self.set_limit(number, Silence::Paused, now, schedule);
            }
            None => {}
        }
    }

    /// A server answers a request that it had held.
    pub(super) fn answer_late(
        &mut self,
        ticket: Ticket,
        reply: Reply,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        if !self.flights.is_current(ticket.place, ticket.generation) {
            return;
        }
        let flight = self.flights.at(ticket.place);
        let (server, kind) = (flight.server, flight.request.kind());
        self.recorder.answered(server, kind, &reply, now);
        self.answer(ticket.place, Answer::Reply(reply), now, schedule);
    }

    /// Nobody listens at the server's port.
    pub(super) fn refuse(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        self.answer(number, Answer::Refused, now, schedule);
    }

    fn answer(&mut self, number: u32, answer: Answer, now: SimTime, schedule: &mut Schedule<Event>) {
        self.flights.at_mut(number).answer = answer;
        self.answer_leaves(number, now, schedule);
    }

    /// The link's verdict on an answer.
    fn answer_leaves(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.flights.at(number);
        let (client, server, given_up) = (flight.client, flight.server, flight.given_up);
        match self.verdict(client, server, Way::FromServer) {
            Verdict::Passes { later } => {
                let arrives = Event::AnswerArrives { flight: number };
                let delay = self.deliver((client, server), arrives, later, schedule);
                self.warn_if_late(number, delay, now, schedule);
            }
            _ if given_up => {
                self.flights.land(number);
            }
            Verdict::Lost => self.stall(number, Silence::Paused, false, now, schedule),
            Verdict::Swallowed => self.swallow(number, now, schedule),
        }
    }

    /// An answer reaches the client's host.
    pub(super) fn answer_arrives(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let client = self.flights.at(number).client;
        let node = &mut self.clients[client.index()];
        if let State::Paused { .. } = node.state {
            let arrival = Event::AnswerArrives { flight: number };
            node.waiting.get_or_insert_default().arrivals.push(arrival);
            return;
        }
        let running = node.state == State::Running;
        let flight = self.flights.land(number);
        if !running || flight.given_up {
            return;
        }
        match flight.answer {
            Answer::Reply(reply) if node.asks != flight.server && reply.payload.is_some() => {
                node.asks = flight.server;
                self.recorder.observer_asks(client, flight.server);
                self.reply(&flight, reply, now, schedule);
            }
            Answer::Reply(reply) => self.reply(&flight, reply, now, schedule),
            Answer::Refused => self.step_client(client, now, schedule, |client, config, step| {
                client.on_failure(config, flight.call, Failure::Refused, step);
            }),
            Answer::None => unreachable!("an answer that arrives was given"),
        }
    }

    #[inline]
    fn reply(&mut self, flight: &Flight, reply: Reply, now: SimTime, schedule: &mut Schedule<Event>) {
        self.step_client(flight.client, now, schedule, |client, config, step| {
            client.on_reply(config, flight.call, reply, step);
        });
    }

    /// A partition has the message: the caller waits for a connection that is not made, or to read.
    fn swallow(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.flights.at_mut(number);
        if flight.answer == Answer::Refused {
            // Nobody repeats a refusal, but the caller's kernel asks again.
            flight.answer = Answer::None;
            flight.swallowed_at = flight.swallowed_at.min(flight.sent_at);
        }
        flight.swallowed_at = flight.swallowed_at.min(now);
        let (client, server, connects) = (flight.client, flight.server, flight.connects);
        self.note_swallowed(client, server, number);
        let silence = if connects { Silence::BlackHole } else { Silence::Paused };
        self.stall(number, silence, false, now, schedule);
    }

    /// Schedules an arrival after the link's delay and `later`, whose sum it returns. What servers' own clients say to
    /// other servers takes as long as all that is said between servers.
    pub(super) fn deliver(
        &mut self,
        (client, server): (ClientId, ServerId),
        event: Event,
        later: SimDuration,
        schedule: &mut Schedule<Event>,
    ) -> SimDuration {
        if self.scenario.server_network.is_some()
            && let Some(own) = self.server_of(client).filter(|&own| own != server)
        {
            let way =
                if matches!(event, Event::AnswerArrives { .. }) { Way::FromServer } else { Way::ToServer };
            let delay = self.latency_between(own, server, way).saturating_add(later);
            schedule.at(schedule.now() + delay, event);
            return delay;
        }
        let node = &mut self.clients[client.index()];
        let link = self.lanes.link(node.app);
        if let (Some(lane), Delay::Constant(delay), true) = (link.lane, link.network.latency, later.is_zero())
        {
            schedule.after(lane, event);
            return delay;
        }
        let mut dice = node.chance.with(&self.seed);
        let delay = match link.network.latency {
            Delay::Constant(delay) => delay,
            Delay::Uniform(least, most) => {
                let width = most.saturating_sub(least) + SimDuration::from_nanos(1);
                least + dice.duration_below(purpose::LATENCY, width)
            }
            Delay::Drawn(distribution) => distribution.sample(&mut dice, purpose::LATENCY),
        };
        let delay = delay.saturating_add(later);
        schedule.at(schedule.now() + delay, event);
        delay
    }

    /// Does what a client's step asked for.
    pub(super) fn do_for_client(
        &mut self,
        client: ClientId,
        effect: ClientEffect,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        match effect {
            ClientEffect::Send { call, to, request } => {
                self.send(client, call, to, request, now, schedule);
            }
            ClientEffect::SetTimer { timer, delay, generation } => {
                self.lanes.after(delay, Event::ClientTimerDue { client, timer, generation }, schedule);
            }
            ClientEffect::Acknowledge { to, push } => {
                let server_ended = self.servers[to.index()].ended;
                let says = Says::Acknowledged;
                self.send_datagram(Datagram { client, server: to, server_ended, push, says }, schedule);
            }
            ClientEffect::Fact(fact) => self.note_client_fact(client, fact, now),
            ClientEffect::Exited => self.process_exits(client, now, schedule),
        }
    }
}
