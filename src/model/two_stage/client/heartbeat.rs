//! The instance: it registers, and then says again and again that it lives (`two-stage.md` 1.2, 4.2).
//!
//! Nobody repeats a registration that came to nothing: the first heartbeat finds no entry, hears so, and the process
//! registers at once. A heartbeat that fails changes nothing.
//!
//! With a fixed rate the beats keep to a grid, whatever a call takes. One that is due while the last call still waits
//! follows when that ends; and after a pause one goes out at once, the next on the old grid. Java's executor would make
//! up for every beat that was missed, one after the other. That tells the registry nothing new and is only load, so
//! here it is one. With a fixed delay the next beat comes one interval after the last has ended, together with the
//! registration that it may have led to.

use super::machine::TwoStageClient;
use crate::engine::{SimDuration, SimTime};
use crate::model::clock::WallMs;
use crate::model::effect::{Call, ClientEffect, ClientTimer};
use crate::model::fact::Fact;
use crate::model::message::{Record, Reply, Request, Status};
use crate::model::step::Step;
use crate::model::two_stage::config::{ClientConfig, Schedule};

/// The heartbeats of a process.
#[derive(Clone, Debug)]
pub(super) struct Heartbeat {
    /// What the beat that is under way waits for.
    pub(super) call: Call,
    /// Whether that is the registration which followed the heartbeat's answer.
    is_registering: bool,
    /// Whether another beat came due meanwhile.
    is_overdue: bool,
    /// When the next beat is due; with a fixed rate only.
    due: SimTime,
}

impl Heartbeat {
    /// None is under way, and none is due.
    pub(super) const NONE: Self =
        Self { call: Call::NONE, is_registering: false, is_overdue: false, due: SimTime::MAX };
}

impl TwoStageClient {
    pub(super) fn register_at_start(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        step.out.push(ClientEffect::Fact(Fact::RegistrationSent { instance: self.instance }));
        self.registration = self.send(self.register(), step);
        let delay = SimDuration::from_millis(u64::from(config.first_heartbeat_delay_ms));
        self.heartbeat.due = step.now.mono + delay;
        self.timers.set(ClientTimer::Heartbeat, delay, step.out);
    }

    pub(super) fn registered_at_start(&mut self, reply: Option<Reply>) {
        self.registration = Call::NONE;
        self.learn(reply);
    }

    pub(super) fn heartbeat_due(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if config.heartbeat_schedule == Schedule::FixedRate {
            let now = step.now.mono;
            self.heartbeat.due = next_on_grid(self.heartbeat.due, heartbeat_interval(config), now);
            self.timers.set(ClientTimer::Heartbeat, self.heartbeat.due - now, step.out);
        }
        if self.heartbeat.call == Call::NONE {
            self.beat(step);
        } else {
            self.heartbeat.is_overdue = true;
        }
    }

    pub(super) fn heartbeat_call_ended(
        &mut self,
        reply: Option<Reply>,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        self.learn(reply);
        let is_unknown = reply.is_some_and(|reply| reply.status == 404);
        if is_unknown && !self.heartbeat.is_registering {
            self.heartbeat.is_registering = true;
            self.heartbeat.call = self.send(self.register(), step);
            return;
        }
        self.heartbeat.call = Call::NONE;
        if config.heartbeat_schedule == Schedule::FixedDelay {
            self.timers.set(ClientTimer::Heartbeat, heartbeat_interval(config), step.out);
        } else if std::mem::take(&mut self.heartbeat.is_overdue) {
            self.beat(step);
        }
    }

    /// No heartbeat follows any more, and what the last one waits for is of no interest: its thread is stopped.
    pub(super) fn end_heartbeats(&mut self) {
        self.timers.cancel(ClientTimer::Heartbeat);
        self.heartbeat = Heartbeat::NONE;
    }

    fn beat(&mut self, step: &mut Step<'_, ClientEffect>) {
        let request = Request::Renew { instance: self.instance, last_dirty: NO_DIRTY_TIME };
        self.heartbeat.is_registering = false;
        self.heartbeat.call = self.send(request, step);
    }

    fn register(&self) -> Request {
        Request::Register(Record {
            app: self.app,
            instance: self.instance,
            status: Status::Up,
            overridden: Status::Unknown,
            last_dirty: NO_DIRTY_TIME,
            duration_s: 0,
            renewal_s: 0,
        })
    }

    /// What an answer about its entry says of it. No answer says nothing.
    fn learn(&mut self, reply: Option<Reply>) {
        match reply.map(|reply| reply.status) {
            Some(200..300) => self.is_registered = true,
            Some(404) => self.is_registered = false,
            _ => {}
        }
    }
}

/// The registry knows of no such thing.
const NO_DIRTY_TIME: WallMs = WallMs(0);

fn heartbeat_interval(config: &ClientConfig) -> SimDuration {
    SimDuration::from_millis(u64::from(config.heartbeat_interval_ms))
}

/// The first moment after `now` that is a whole number of intervals after `due`, which has come.
fn next_on_grid(due: SimTime, interval: SimDuration, now: SimTime) -> SimTime {
    let next = due + interval;
    if next > now {
        return next;
    }
    let missed = (now - due).as_nanos() / interval.as_nanos();
    next + interval * missed
}
