//! How long senders wait. A limit costs no event while all is well: it is set as soon as it is known that an answer will
//! not come in time, and a client, whose supervisor has a clock of its own, is then told that its call stalls. A request
//! that a server holds back has its limit set at once.

use super::World;
use super::event::Event;
use super::fabric::{ExchangeId, Held, Kind};
use super::setup::config_of;
use super::traffic::{Sender, Waiter};
use crate::engine::{Schedule, SimDuration, SimTime};
use crate::model::effect::Silence;
use crate::model::message::Failure;

/// A read's clock starts once the request has left, so after its supervisor's, which started with the job. Real
/// clients with a heartbeat of 5 s and a read limit of 180 s (`eureka-client.md` 2.1, 6.6) reject one more job just
/// 180 s after their first call into a hang, and then the read fails.
const READ_BEGINS_LATER: SimDuration = SimDuration::from_nanos(1_000);

impl World<'_> {
    /// A sender's limit is reached, unless the answer came first.
    pub(super) fn limit_reached(&mut self, held: Held, schedule: &mut Schedule<Event>) {
        if !self.fabric.is_current(held) || !self.fabric.exchange(held.id).is_due(schedule.now()) {
            return;
        }
        let failure = self.fabric.exchange(held.id).failure;
        let sender = self.sender(held.id);
        if sender == Sender::StandsStill {
            let event = Event::LimitReached { exchange: held.id, generation: held.generation };
            self.waiting_of_sender(held.id).timers.push(event);
            return;
        }
        let waiter = self.waiter(held.id);
        self.fabric.give_up(held.id);
        if sender == Sender::Runs {
            self.fail(waiter, failure, schedule);
        }
    }

    /// The exchange will not be answered soon, or ever: its sender's clocks are set.
    pub(super) fn stall(&mut self, id: ExchangeId, silence: Silence, schedule: &mut Schedule<Event>) {
        // A batch that was given up has no clock any more; the client is asked whether its call has.
        if id.kind() == Kind::Call || !self.fabric.exchange(id).is_given_up() {
            self.set_limit(id, silence, schedule);
        }
        self.tell_of_stall(id, schedule);
    }

    /// A client that runs learns that its call will not be answered soon, or ever.
    pub(super) fn tell_of_stall(&mut self, id: ExchangeId, schedule: &mut Schedule<Event>) {
        if let Waiter::Client(client, call) = self.waiter(id)
            && self.sender(id) == Sender::Runs
        {
            self.step_client(client, schedule, |client, config, step| client.on_stall(config, call, step));
        }
    }

    /// Sets the sender's clock for the silence that it meets.
    pub(super) fn set_limit(&mut self, id: ExchangeId, silence: Silence, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let (limit, failure) = self.gives_up_after(id, silence);
        let exchange = self.fabric.exchange_mut(id);
        let at = (exchange.sent_at + limit).max(now);
        (exchange.limit_at, exchange.failure) = (at, failure);
        let Held { id, generation } = self.fabric.hold(id);
        schedule.at(at, Event::LimitReached { exchange: id, generation });
    }

    /// How long the sender waits that meets this silence, and how the exchange then fails.
    fn gives_up_after(&self, id: ExchangeId, silence: Silence) -> (SimDuration, Failure) {
        match (id.kind(), silence) {
            (Kind::Call, _) => {
                let app = self.app_at(self.fabric.exchange(id).route.from);
                let asked = self.asked(id);
                let config = config_of(self.scenario, app);
                match config.gives_up_after(asked.call, &asked.request, silence) {
                    (limit, Failure::ReadTimeout) => (limit + READ_BEGINS_LATER, Failure::ReadTimeout),
                    other => other,
                }
            }
            (Kind::Batch, Silence::BlackHole) => (self.peer_limits().0, Failure::ConnectTimeout),
            (Kind::Batch, Silence::Paused) => (self.peer_limits().1, Failure::ReadTimeout),
        }
    }

    /// The longest way there and back for which a connection is made; `None`: any. Only between servers is it looked at.
    pub(super) fn connects_within(&self, id: ExchangeId) -> Option<SimDuration> {
        (id.kind() == Kind::Batch).then(|| self.peer_limits().0)
    }

    /// What was just sent on, or is being worked at, may take longer than the sender waits for an answer. A client has
    /// more clocks than its read limit: all that its patience hides.
    #[inline]
    pub(super) fn note_if_late(&mut self, id: ExchangeId, at: SimTime, schedule: &mut Schedule<Event>) {
        let exchange = self.fabric.exchange(id);
        let lasts = at.since(exchange.sent_at);
        match id.kind() {
            Kind::Call => {
                let app = self.app_at(exchange.route.from);
                if lasts > self.stall_after[app.index()] && !exchange.is_given_up() {
                    if lasts > config_of(self.scenario, app).read_limit(&self.asked(id).request) {
                        self.set_limit(id, Silence::Paused, schedule);
                    }
                    self.tell_of_stall(id, schedule);
                }
            }
            Kind::Batch => {
                let silence = exchange.silence();
                let is_late = lasts > self.gives_up_after(id, silence).0;
                if is_late && !exchange.has_limit() && !exchange.is_given_up() {
                    self.set_limit(id, silence, schedule);
                }
            }
        }
    }

    /// How long a server waits for a connection to a peer, and for an answer.
    fn peer_limits(&self) -> (SimDuration, SimDuration) {
        self.scenario.setup.server().peer_limits()
    }
}
