//! Messages between clients and the server: sent, lost, delivered, parked, refused, given up.
//!
//! The link's verdict falls when a message is sent: it passes after a delay or is lost, and what is under way
//! arrives. A lost message stays lost: TCP's retransmissions after a partition has healed are not modelled.
//! A caller's limits cost no event while all is well: as soon as it is known that an answer will not come
//! within the client's patience, the client is told that the call stalls, and only then are clocks set.

use super::World;
use super::event::Event;
use super::flight::{Answer, Flight};
use super::node::State;
use super::setup::{SERVER, config_of};
use crate::engine::{LaneId, Schedule, SimDuration, SimTime};
use crate::model::client::{Call, ClientEffect, Silence, purpose};
use crate::model::id::{ClientId, ServerId};
use crate::model::message::{Failure, Request};
use crate::scenario::{Delay, Scenario};

/// A read's clock starts once the request has left, so after its supervisor's, which started with the job. Real
/// clients with a heartbeat of 5 s and a read limit of 180 s (`eureka-client.md` 2.1, 6.6) reject one more job just
/// 180 s after their first call into a hang, and then the read fails.
const READ_BEGINS_LATER: SimDuration = SimDuration::from_nanos(1_000);

/// Constant delays, each a lane of the queue.
pub(super) struct Lanes {
    latency: Option<LaneId>,
    by_delay: Vec<(SimDuration, LaneId)>,
}

impl Lanes {
    /// Lanes for what recurs in `scenario`: the link's delay, heartbeats and fetches.
    pub(super) fn new(scenario: &Scenario, schedule: &mut Schedule<Event>) -> Self {
        let latency = match scenario.network.latency {
            Delay::Constant(delay) => Some(schedule.lane(delay)),
            Delay::Uniform(..) | Delay::Drawn(_) => None,
        };
        let mut by_delay = Vec::new();
        for client in scenario.applications.iter().map(|application| &application.client) {
            for seconds in [client.lease_renewal_interval_in_seconds, client.registry_fetch_interval_seconds]
            {
                let delay = SimDuration::from_secs(u64::from(seconds));
                if by_delay.iter().all(|&(known, _)| known != delay) {
                    by_delay.push((delay, schedule.lane(delay)));
                }
            }
        }
        Self { latency, by_delay }
    }

    /// Schedules `event` after `delay`.
    #[inline]
    pub(super) fn after(&self, delay: SimDuration, event: Event, schedule: &mut Schedule<Event>) {
        match self.by_delay.iter().find(|&&(known, _)| known == delay) {
            Some(&(_, lane)) => schedule.after(lane, event),
            None => schedule.at(schedule.now() + delay, event),
        }
    }
}

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
        debug_assert_eq!(server, SERVER, "there is one server");
        let number = self.flights.take_off(Flight::new(client, call, request, now));
        if self.clients[client.index()].lost_to_server > 0 {
            self.stall(number, Silence::BlackHole, now, schedule);
        } else {
            let delay = self.deliver(client, Event::RequestArrives { flight: number }, schedule);
            self.warn_if_late(number, delay, now, schedule);
        }
    }

    /// A request reaches the server's host.
    pub(super) fn request_arrives(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        match self.server.state {
            State::Down => self.refuse(number, now, schedule),
            State::Running if !self.live_server().is_serving() => self.refuse(number, now, schedule),
            State::Running => self.serve(number, now, schedule),
            State::Paused { .. } => {
                self.server.waiting.arrivals.push(number);
                self.stall(number, Silence::Paused, now, schedule);
            }
        }
    }

    /// The server answers.
    pub(super) fn serve(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let request = self.flights.at(number).request;
        let reply = self.step_server(now, schedule, |server, step| server.on_request(&request, step));
        self.recorder.answered(request.kind(), &reply, now);
        self.answer(number, Answer::Reply(reply), now, schedule);
    }

    /// Nobody listens at the server's port.
    pub(super) fn refuse(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        self.answer(number, Answer::Refused, now, schedule);
    }

    fn answer(&mut self, number: u32, answer: Answer, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.flights.at_mut(number);
        flight.answer = answer;
        let (client, given_up) = (flight.client, flight.given_up);
        if self.clients[client.index()].lost_from_server > 0 {
            if given_up {
                self.flights.land(number);
            } else {
                self.stall(number, Silence::BlackHole, now, schedule);
            }
        } else {
            let delay = self.deliver(client, Event::AnswerArrives { flight: number }, schedule);
            self.warn_if_late(number, delay, now, schedule);
        }
    }

    /// An answer reaches the client's host.
    pub(super) fn answer_arrives(&mut self, number: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let client = self.flights.at(number).client;
        let node = &mut self.clients[client.index()];
        if let State::Paused { .. } = node.state {
            node.waiting.get_or_insert_default().arrivals.push(number);
            return;
        }
        let running = node.state == State::Running;
        let flight = self.flights.land(number);
        if !running || flight.given_up {
            return;
        }
        match flight.answer {
            Answer::Reply(reply) => self.step_client(client, now, schedule, |client, config, step| {
                client.on_reply(config, flight.call, reply, step);
            }),
            Answer::Refused => self.step_client(client, now, schedule, |client, config, step| {
                client.on_failure(config, flight.call, Failure::Refused, step);
            }),
            Answer::None => unreachable!("an answer that arrives was given"),
        }
    }

    /// A caller's limit is reached, unless the answer came first.
    pub(super) fn limit_reached(
        &mut self,
        number: u32,
        generation: u16,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        if !self.flights.is_current(number, generation) {
            return;
        }
        let flight = self.flights.at(number);
        if flight.given_up || now < flight.limit_at {
            return;
        }
        let client = flight.client;
        let node = &mut self.clients[client.index()];
        if let State::Paused { .. } = node.state {
            let event = Event::LimitReached { flight: number, generation };
            node.waiting.get_or_insert_default().timers.push(event);
            return;
        }
        let running = node.state == State::Running;
        let flight = self.flights.at_mut(number);
        let (silence, call) = (flight.silence, flight.call);
        if flight.is_under_way {
            // The request still waits at the server, which will answer nobody.
            flight.given_up = true;
        } else {
            self.flights.land(number);
        }
        if running {
            self.step_client(client, now, schedule, |client, config, step| {
                let (_, failure) = config.transport.call_gives_up_after(call, silence);
                client.on_failure(config, call, failure, step);
            });
        }
    }

    /// The call will not be answered soon, or ever: the caller's limit and supervisor are set.
    fn stall(&mut self, number: u32, silence: Silence, now: SimTime, schedule: &mut Schedule<Event>) {
        self.set_limit(number, silence, now, schedule);
        let flight = self.flights.at(number);
        self.tell_of_stall(flight.client, flight.call, now, schedule);
    }

    fn set_limit(&mut self, number: u32, silence: Silence, now: SimTime, schedule: &mut Schedule<Event>) {
        let flight = self.flights.at_mut(number);
        flight.silence = silence;
        flight.is_under_way = silence == Silence::Paused;
        let app = self.clients[flight.client.index()].app;
        let transport = &config_of(self.scenario, app).transport;
        let (limit, failure) = transport.call_gives_up_after(flight.call, silence);
        let later = if failure == Failure::ReadTimeout { READ_BEGINS_LATER } else { SimDuration::ZERO };
        let at = (flight.sent_at + limit + later).max(now);
        flight.limit_at = at;
        let generation = self.flights.generation(number);
        schedule.at(at, Event::LimitReached { flight: number, generation });
    }

    /// What was just sent on may take longer than the client's patience, or than its read limit.
    #[inline]
    fn warn_if_late(
        &mut self,
        number: u32,
        delay: SimDuration,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        let flight = self.flights.at(number);
        let app = self.clients[flight.client.index()].app;
        let total = now.since(flight.sent_at) + delay;
        if total > self.patience[app.index()] && !flight.given_up {
            let (client, call) = (flight.client, flight.call);
            if total > config_of(self.scenario, app).transport.read_limit() {
                self.set_limit(number, Silence::Paused, now, schedule);
            }
            self.tell_of_stall(client, call, now, schedule);
        }
    }

    fn tell_of_stall(&mut self, client: ClientId, call: Call, now: SimTime, schedule: &mut Schedule<Event>) {
        if self.clients[client.index()].state == State::Running {
            self.step_client(client, now, schedule, |client, config, step| {
                client.on_stall(config, call, step);
            });
        }
    }

    /// Schedules an arrival after the link's delay, which it returns.
    fn deliver(&mut self, client: ClientId, event: Event, schedule: &mut Schedule<Event>) -> SimDuration {
        match self.scenario.network.latency {
            Delay::Constant(delay) => {
                schedule.after(self.lanes.latency.expect("a constant delay has a lane"), event);
                delay
            }
            Delay::Uniform(least, most) => {
                let width = most.saturating_sub(least) + SimDuration::from_nanos(1);
                let mut dice = self.clients[client.index()].chance.with(&self.seed);
                let delay = least + dice.duration_below(purpose::LATENCY, width);
                schedule.at(schedule.now() + delay, event);
                delay
            }
            Delay::Drawn(distribution) => {
                let mut dice = self.clients[client.index()].chance.with(&self.seed);
                let delay = distribution.sample(&mut dice, purpose::LATENCY);
                schedule.at(schedule.now() + delay, event);
                delay
            }
        }
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
            ClientEffect::Fact(fact) => self.note_client_fact(client, fact, now),
            ClientEffect::Exited => self.end_process(client, now),
        }
    }
}
