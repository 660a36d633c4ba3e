//! How a process stops in order (`two-stage.md` 2.6, 1.7 C12).
//!
//! It ends its heartbeats, deregisters, goes on for a while so that its callers can learn of it, and exits. The while
//! counts from the moment at which the deregistration is sent. Whether that succeeds makes no difference; but a call
//! is not broken off, so a process without a linger exits when it has the answer, or has given up.
//!
//! Meanwhile a consumer goes on as before. An instance that forgets to end its heartbeats goes on with these, too: one
//! that falls into the linger finds no entry, and so registers the process that is about to end.

use super::machine::{Life, TwoStageClient};
use crate::engine::SimDuration;
use crate::model::effect::{Call, ClientEffect, ClientTimer};
use crate::model::message::Request;
use crate::model::step::Step;
use crate::model::two_stage::config::ClientConfig;

impl TwoStageClient {
    /// The process is told to stop in order. [`ClientEffect::Exited`] tells when it has.
    pub fn on_stop(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if self.life != Life::Running {
            return;
        }
        if !config.registers {
            self.exit(config, step);
            return;
        }
        if config.stop_heartbeat_before_deregister {
            self.end_heartbeats();
        }
        self.registration = Call::NONE;
        self.is_registered = false;
        self.cancellation = self.send(Request::Cancel { instance: self.instance }, step);
        let linger = SimDuration::from_millis(u64::from(config.deregister_linger_ms));
        self.life = Life::Stopping { lingered: linger.is_zero() };
        if !linger.is_zero() {
            self.timers.set(ClientTimer::ShutdownWait, linger, step.out);
        }
    }

    pub(super) fn has_lingered(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        self.life = Life::Stopping { lingered: true };
        self.exit_if_done(config, step);
    }

    pub(super) fn exit_if_done(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if self.life == (Life::Stopping { lingered: true }) && self.cancellation == Call::NONE {
            self.exit(config, step);
        }
    }

    fn exit(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        self.on_crash(config, step.now.mono);
        step.out.push(ClientEffect::Exited);
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Logged, REFUSED, Rig, at_ms, healthy, ms};
    use crate::model::message::{Reply, RequestKind};
    use crate::model::two_stage::config::Preset;

    fn exited_ms(rig: &Rig) -> Vec<u64> {
        rig.logged_ms(|logged| *logged == Logged::Exited)
    }

    #[test]
    fn a_polite_instance_deregisters_and_lingers_while_its_consumer_goes_on() {
        let mut rig = Rig::instance(Preset::TwoStage);
        rig.config.fetches = true;
        rig.start();
        rig.run_to(at_ms(9_000));
        rig.stop();
        rig.stop();
        assert!(!rig.client.is_registered());
        rig.run_to(at_ms(60_000));
        assert_eq!(rig.sent_ms(RequestKind::Cancel), [9_000]);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [5_000]);
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 0, 5_000, 10_000]);
        assert_eq!(exited_ms(&rig), [12_000]);
        assert!(!rig.client.is_running());
    }

    #[test]
    fn a_timer_that_was_forgotten_registers_the_dying_process_again() {
        let mut rig = Rig::instance(Preset::TwoStage);
        rig.config.stop_heartbeat_before_deregister = false;
        rig.run_to(at_ms(100));
        rig.start();
        rig.run_to(at_ms(23_000));
        rig.answer(|_, request, registry| match request.kind() {
            RequestKind::Renew => (ms(0), Ok(Reply::bare(404))),
            _ => healthy(request, registry),
        });
        rig.stop();
        rig.run_to(at_ms(60_000));
        assert_eq!(rig.sent_ms(RequestKind::Renew)[4..], [25_100]); // 5,100 + 4 · 5,000
        assert_eq!(rig.sent_ms(RequestKind::Register), [100, 25_100]);
        assert_eq!(exited_ms(&rig), [26_000]);
    }

    #[test]
    fn what_a_stopped_heartbeat_still_waits_for_leads_to_nothing() {
        let mut rig = Rig::instance(Preset::TwoStage);
        rig.answer(|_, request, registry| match request.kind() {
            RequestKind::Renew => (ms(50), Ok(Reply::bare(404))),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(5_020));
        rig.stop();
        rig.run_to(at_ms(60_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [0]);
        assert_eq!(exited_ms(&rig), [8_020]);
    }

    #[test]
    fn a_deregistration_that_fails_changes_nothing_for_the_process() {
        let mut rig = Rig::instance(Preset::TwoStage);
        rig.start();
        rig.run_to(at_ms(7_000));
        rig.answer(|_, _, _| REFUSED);
        rig.stop();
        rig.run_to(at_ms(60_000));
        assert_eq!(rig.sent_ms(RequestKind::Cancel), [7_000]);
        assert_eq!(exited_ms(&rig), [10_000]);
    }

    #[test]
    fn without_a_linger_it_exits_when_the_call_has_ended() {
        let mut rig = Rig::instance(Preset::Nacos1);
        rig.answer(|_, request, registry| (ms(40), Ok(registry.reply(request))));
        rig.start();
        rig.run_to(at_ms(7_000));
        rig.stop();
        rig.run_to(at_ms(60_000));
        assert_eq!(exited_ms(&rig), [7_040]);
    }

    #[test]
    fn a_consumer_has_nothing_to_deregister() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.start();
        rig.run_to(at_ms(7_000));
        rig.stop();
        rig.run_to(at_ms(60_000));
        assert!(rig.sent_ms(RequestKind::Cancel).is_empty());
        assert_eq!(exited_ms(&rig), [7_000]);
    }
}
