//! How long callers wait. A caller's limits cost no event while all is well: as soon as it is known that an answer will
//! not come within the client's patience, the client is told that the call stalls, and only then are clocks set. A
//! request that a server holds back has its limit set at once.

use super::World;
use super::event::Event;
use super::node::State;
use super::setup::config_of;
use crate::engine::{Schedule, SimDuration};
use crate::model::effect::{Call, Silence};
use crate::model::id::ClientId;
use crate::model::message::Failure;

/// A read's clock starts once the request has left, so after its supervisor's, which started with the job. Real
/// clients with a heartbeat of 5 s and a read limit of 180 s (`eureka-client.md` 2.1, 6.6) reject one more job just
/// 180 s after their first call into a hang, and then the read fails.
const READ_BEGINS_LATER: SimDuration = SimDuration::from_nanos(1_000);

impl World<'_> {
    /// A caller's limit is reached, unless the answer came first.
    pub(super) fn limit_reached(&mut self, number: u32, generation: u16, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
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
        let (call, failure) = (flight.call, flight.failure);
        if flight.is_under_way {
            // Somebody will still come to it: a server that answers nobody, or who finds that it is not needed.
            flight.given_up = true;
        } else {
            self.flights.land(number);
        }
        if running {
            self.step_client(client, schedule, |client, config, step| {
                client.on_failure(config, call, failure, step);
            });
        }
    }

    /// The call will not be answered soon, or ever: the caller's limit and supervisor are set.
    pub(super) fn stall(
        &mut self,
        number: u32,
        silence: Silence,
        is_under_way: bool,
        schedule: &mut Schedule<Event>,
    ) {
        self.flights.at_mut(number).is_under_way = is_under_way;
        self.set_limit(number, silence, schedule);
        let flight = self.flights.at(number);
        self.tell_of_stall(flight.client, flight.call, schedule);
    }

    pub(super) fn set_limit(&mut self, number: u32, silence: Silence, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let flight = self.flights.at_mut(number);
        let app = self.clients[flight.client.index()].app;
        let config = config_of(self.scenario, app);
        let (limit, failure) = config.gives_up_after(flight.call, &flight.request, silence);
        let later = if failure == Failure::ReadTimeout { READ_BEGINS_LATER } else { SimDuration::ZERO };
        let at = (flight.sent_at + limit + later).max(now);
        (flight.limit_at, flight.failure) = (at, failure);
        let generation = self.flights.generation(number);
        schedule.at(at, Event::LimitReached { flight: number, generation });
    }

    /// What was just sent on may take longer than the client's patience, or than its read limit.
    #[inline]
    pub(super) fn warn_if_late(&mut self, number: u32, delay: SimDuration, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let flight = self.flights.at(number);
        let app = self.clients[flight.client.index()].app;
        let total = now.since(flight.sent_at) + delay;
        if total > self.patience[app.index()] && !flight.given_up {
            let (client, call) = (flight.client, flight.call);
            if total > config_of(self.scenario, app).read_limit(&flight.request) {
                self.set_limit(number, Silence::Paused, schedule);
            }
            self.tell_of_stall(client, call, schedule);
        }
    }

    pub(super) fn tell_of_stall(&mut self, client: ClientId, call: Call, schedule: &mut Schedule<Event>) {
        if self.clients[client.index()].state == State::Running {
            self.step_client(client, schedule, |client, config, step| {
                client.on_stall(config, call, step);
            });
        }
    }
}
