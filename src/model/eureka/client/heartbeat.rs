//! The heartbeat, and the registration that a 404 makes of it.
//! Source: `DiscoveryClient.renew`, `DiscoveryClient.register`; `eureka-client.md` 2.3.

use super::ClientConfig;
use super::job::{Job, Phase, Task};
use super::machine::Client;
use crate::model::effect::ClientEffect;
use crate::model::step::Step;

impl Client {
    /// The next heartbeat is due.
    pub(super) fn heartbeat_due(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if let Some(job) = self.hand_off(Task::Heartbeat, config, step) {
            self.request(job, Phase::Renew, config, step);
        }
    }

    /// A heartbeat was answered. A 404 marks the record dirty anew, so that the registration that follows in
    /// the same job carries a timestamp that no server has seen; everything else has no effect.
    pub(super) fn renewed(
        &mut self,
        mut job: Job,
        status: u16,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if status != 404 {
            self.task_finished(&job, config, step);
            return;
        }
        self.is_registered = false;
        job.dirty = self.record.set_dirty(step.now.wall);
        self.wake_replicator(config, step);
        self.request(job, Phase::Register, config, step);
    }

    /// A registration was answered; `ok` if with 204.
    pub(super) fn registered(
        &mut self,
        job: Job,
        ok: bool,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        self.is_registered |= ok;
        match job.task {
            Task::Replicator => {
                // The replicator ignores the answer: only an exception keeps the record dirty.
                self.record.unset_dirty(job.dirty);
                self.replicator_ended(config, step);
            }
            Task::Start => self.registered_at_start(ok, config, step),
            Task::Heartbeat | Task::Fetch | Task::Stop => {
                if ok {
                    self.record.unset_dirty(job.dirty);
                }
                self.task_finished(&job, config, step);
            }
        }
    }

    /// A registration failed for good: the record stays dirty.
    pub(super) fn registration_failed(
        &mut self,
        job: Job,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        match job.task {
            Task::Replicator => self.replicator_ended(config, step),
            Task::Start => self.registered_at_start(false, config, step),
            Task::Heartbeat | Task::Fetch | Task::Stop => self.task_finished(&job, config, step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Answer, RTT, Rig, WALL_START, at_ms, healthy};
    use crate::engine::SimDuration;
    use crate::model::eureka::Flavour;
    use crate::model::message::{Failure, Reply, Request, RequestKind, Status};

    /// An answer that misses the replicator's run, which would fall on the same moment after one round trip.
    const LATE: SimDuration = SimDuration::from_millis(5);

    #[test]
    fn not_found_brings_a_new_timestamp_and_a_registration() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.answer(|now, request, _, registry| match request.kind() {
            RequestKind::Renew if now < at_ms(31_000) => Answer::Reply(LATE, Reply::bare(404)),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(61_000));
        // Heartbeat at 30.002, 404 at 30.007, registration until 30.009; the next heartbeat 30 s after that.
        assert_eq!(rig.sent_ms(RequestKind::Register), [2, 30_007]);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 60_009]);
        let Request::Register(record) = rig.sent(RequestKind::Register)[1].1 else { unreachable!() };
        assert_eq!((record.status, record.last_dirty.0), (Status::Up, WALL_START + 30_007));
        let Request::Renew { last_dirty, .. } = rig.sent(RequestKind::Renew)[1].1 else { unreachable!() };
        assert_eq!(last_dirty.0, WALL_START + 30_007);
        assert!(rig.client.is_registered());
    }

    #[test]
    fn a_registration_that_fails_is_made_up_for_by_the_replicator() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.answer(|now, request, _, registry| match request.kind() {
            RequestKind::Renew if now < at_ms(31_000) => Answer::Reply(LATE, Reply::bare(404)),
            RequestKind::Register if (30_000..31_000).contains(&now.as_millis()) => {
                Answer::Fail(RTT, Failure::Refused)
            }
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(59_000));
        // The delegate fails at 30.009, the list's only server at 30.011.
        assert_eq!(rig.sent_ms(RequestKind::Register), [2, 30_007, 30_009]);
        assert!(!rig.client.is_registered());
        rig.run_to(at_ms(60_005));
        // The first registration was answered at 4 ms; the replicator's runs come every 30 s from there. That
        // of 30.004 found the record clean.
        assert_eq!(*rig.sent_ms(RequestKind::Register).last().unwrap(), 60_004);
        rig.run_to(at_ms(60_006));
        assert!(rig.client.is_registered());
    }

    #[test]
    fn a_transport_that_does_not_understand_not_found_never_registers_again() {
        let mut rig = Rig::new(Flavour::Netflix);
        rig.config.transport.understands_not_found = false;
        rig.answer(|_, request, _, registry| match request.kind() {
            RequestKind::Renew => Answer::Reply(RTT, Reply::bare(404)),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(100_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [2]);
        // Two attempts while the registration's connection is the delegate, one from then on.
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 30_004, 60_006, 90_008]);
    }

    #[test]
    fn an_unaccepted_answer_has_no_effect_but_the_attempts() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.answer(|_, request, _, registry| match request.kind() {
            RequestKind::Renew => Answer::Reply(RTT, Reply::bare(503)),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(61_000));
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 30_004, 60_006]);
        assert_eq!(rig.sent_ms(RequestKind::Register), [2]);
    }
}
