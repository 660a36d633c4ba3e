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

#[cfg(test)]
mod tests {
    use super::super::harness::{REFUSED, Rig, at_ms, healthy, ms};
    use super::*;
    use crate::model::message::RequestKind;
    use crate::model::two_stage::config::Preset;

    /// A registry that answers after `delay_ms`, to the heartbeats of the first `unknown_ms` with 404.
    fn answers(rig: &mut Rig, delay_ms: u64, unknown_ms: u64) {
        rig.answer(move |now, request, registry| match request.kind() {
            RequestKind::Renew if now < at_ms(unknown_ms) => (ms(delay_ms), Ok(Reply::bare(404))),
            _ => (ms(delay_ms), Ok(registry.reply(request))),
        });
    }

    #[test]
    fn a_fixed_rate_keeps_to_its_grid_whatever_calls_take() {
        let mut rig = Rig::instance(Preset::TwoStage);
        answers(&mut rig, 7, 0);
        rig.start();
        rig.run_to(at_ms(21_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [0]);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [5_000, 10_000, 15_000, 20_000]);
        assert_eq!(rig.facts_ms(|fact| matches!(fact, Fact::RegistrationSent { .. })), [0]);
    }

    #[test]
    fn a_fixed_delay_counts_from_the_end_of_the_last_call() {
        let mut rig = Rig::instance(Preset::Nacos1);
        answers(&mut rig, 10, 6_000);
        rig.start();
        rig.run_to(at_ms(21_000));
        // The beat at 5 s hears 404 at 5.01 s; its registration ends at 5.02 s. Then each period is 5 s + 10 ms.
        assert_eq!(rig.sent_ms(RequestKind::Register), [0, 5_010]);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [5_000, 10_020, 15_030, 20_040]);
    }

    #[test]
    fn a_heartbeat_that_finds_no_entry_registers_at_once_and_keeps_the_grid() {
        let mut rig = Rig::instance(Preset::TwoStage);
        answers(&mut rig, 10, 11_000);
        rig.start();
        rig.run_to(at_ms(5_012));
        assert!(!rig.client.is_registered()); // 404 at 5.01 s, the registration's answer at 5.02 s
        rig.run_to(at_ms(21_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [0, 5_010, 10_010]);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [5_000, 10_000, 15_000, 20_000]);
        assert_eq!(rig.facts_ms(|fact| matches!(fact, Fact::RegistrationSent { .. })), [0]);
        assert!(rig.client.is_registered());
    }

    #[test]
    fn calls_that_fail_change_nothing() {
        let mut rig = Rig::instance(Preset::TwoStage);
        rig.registry_is_down();
        rig.start();
        rig.run_to(at_ms(12_000));
        assert!(!rig.client.is_registered());
        rig.registry_is_up();
        rig.run_to(at_ms(17_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [0]);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [5_000, 10_000, 15_000]);
        assert!(rig.client.is_registered()); // a heartbeat that was answered with true says so, too
    }

    #[test]
    fn a_beat_that_is_due_while_one_waits_follows_at_its_end() {
        let mut rig = Rig::instance(Preset::TwoStage);
        rig.answer(|now, request, registry| match request.kind() {
            RequestKind::Renew if now == at_ms(5_000) => (ms(12_000), REFUSED.1),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(26_000));
        // Those of 10 s and 15 s are one, at 17 s.
        assert_eq!(rig.sent_ms(RequestKind::Renew), [5_000, 17_000, 20_000, 25_000]);
    }

    #[test]
    fn after_a_pause_one_beat_goes_out_at_once_and_the_next_on_the_grid() {
        for (resumes_ms, beats_ms) in
            [(23_000, [5_000, 23_000, 25_000, 30_000]), (20_000, [5_000, 20_000, 25_000, 30_000])]
        {
            let mut rig = Rig::instance(Preset::TwoStage);
            rig.start();
            rig.run_to(at_ms(7_000));
            rig.pause_to(at_ms(resumes_ms));
            rig.run_to(at_ms(31_000));
            assert_eq!(rig.sent_ms(RequestKind::Renew), beats_ms);
        }
    }
}
