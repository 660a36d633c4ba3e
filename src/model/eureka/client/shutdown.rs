//! How a process stops: in order, or not.
//! Source: `DiscoveryClient.shutdown`, `EurekaAutoServiceRegistration.stop`; `eureka-client.md` section 5.
//!
//! Spring registers `DOWN` first and then de-registers; plain Netflix only de-registers. The drain of the web
//! server between the two is left out: the application is taken to have no requests under way.
//!
//! A trap of the original: with a health-check handler the run that is to register `DOWN` asks the handler first,
//! which still says `UP`, and so `UP` is registered again just before the de-registration (`eureka-client.md` 5.2).

use super::ClientConfig;
use super::job::{Job, Phase, Task};
use super::machine::{Client, Life};
use crate::engine::SimDuration;
use crate::model::effect::{ClientEffect, ClientTimer};
use crate::model::eureka::Flavour;
use crate::model::message::Status;
use crate::model::step::Step;

/// How long a stopping client waits for its replicator (`InstanceInfoReplicator.stop`).
const REPLICATOR_WAIT: SimDuration = SimDuration::from_secs(3);

impl Client {
    /// The process is told to stop, in order. [`ClientEffect::Exited`] tells when it has; a process that is
    /// still starting exits at once, since it has nothing to take back.
    pub fn on_stop(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        match self.life {
            Life::Down | Life::Stopping => return,
            Life::Starting => return self.exit(step),
            Life::Running => {}
        }
        if config.flavour == Flavour::Spring && config.register_with_eureka {
            self.set_status(Status::Down, config, step);
        }
        self.life = Life::Stopping;
        self.drop_jobs_of_pools();
        for timer in [
            ClientTimer::Heartbeat,
            ClientTimer::Fetch,
            ClientTimer::Replicator,
            ClientTimer::HeartbeatTimeout,
            ClientTimer::FetchTimeout,
            ClientTimer::BalancerRefresh,
        ] {
            self.timers.cancel(timer);
        }
        if self.replicator.is_running {
            self.timers.set(ClientTimer::ShutdownWait, REPLICATOR_WAIT, step.out);
        } else {
            self.cancel_registration(config, step);
        }
    }

    /// The replicator is done, or has had its time: the de-registration goes out.
    pub(super) fn cancel_registration(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        self.timers.cancel(ClientTimer::ShutdownWait);
        self.background = None;
        if config.register_with_eureka && config.should_unregister_on_shutdown {
            self.record.set_status(Status::Down, step.now.wall);
            self.is_registered = false;
            let job = Job::new(Task::Stop, step.now.mono);
            self.request(job, Phase::Cancel, config, step);
        } else {
            self.exit(step);
        }
    }

    /// The process has ended in order, or its constructor threw.
    pub(super) fn exit(&mut self, step: &mut Step<'_, ClientEffect>) {
        self.on_crash();
        step.out.push(ClientEffect::Exited);
    }

    /// Whether the process is stopping.
    pub(super) fn is_stopping(&self) -> bool {
        self.life == Life::Stopping
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Answer, Logged, Rig, at_ms, healthy, secs};
    use crate::model::eureka::Flavour;
    use crate::model::message::{Failure, Request, RequestKind, Status};

    fn stopped_at_40_s(mut rig: Rig) -> Rig {
        rig.start();
        rig.run_to(at_ms(40_000));
        rig.stop();
        rig.run_to(at_ms(400_000));
        rig
    }

    fn exited_ms(rig: &Rig) -> u64 {
        let (at, last) = rig.log.last().unwrap();
        assert_eq!(*last, Logged::Exited);
        at.as_millis()
    }

    #[test]
    fn spring_registers_down_and_then_leaves() {
        let rig = stopped_at_40_s(Rig::new(Flavour::Spring));
        assert_eq!(rig.sent_ms(RequestKind::Register), [2, 40_000]);
        let Request::Register(record) = rig.sent(RequestKind::Register)[1].1 else { unreachable!() };
        assert_eq!(record.status, Status::Down);
        assert_eq!(rig.sent_ms(RequestKind::Cancel), [40_002]); // after the registration's answer
        assert_eq!(exited_ms(&rig), 40_004);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002]);
    }

    #[test]
    fn netflix_just_leaves() {
        let rig = stopped_at_40_s(Rig::new(Flavour::Netflix));
        assert_eq!(rig.sent_ms(RequestKind::Register), [2]);
        assert_eq!(rig.sent_ms(RequestKind::Cancel), [40_000]);
        assert_eq!(exited_ms(&rig), 40_002);
    }

    #[test]
    fn a_hung_registration_is_waited_for_three_seconds() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.answer(|now, request, _, registry| match request.kind() {
            RequestKind::Register if now > at_ms(1_000) => Answer::Fail(secs(180), Failure::ReadTimeout),
            _ => healthy(request, registry),
        });
        let rig = stopped_at_40_s(rig);
        assert_eq!(rig.sent_ms(RequestKind::Cancel), [43_000]);
        assert_eq!(exited_ms(&rig), 43_002);
    }

    #[test]
    fn a_refused_cancellation_is_tried_again_and_given_up() {
        let mut rig = Rig::new(Flavour::Netflix);
        rig.answer(|_, request, _, registry| match request.kind() {
            RequestKind::Cancel => Answer::Fail(secs(5), Failure::ConnectTimeout),
            _ => healthy(request, registry),
        });
        let rig = stopped_at_40_s(rig);
        assert_eq!(rig.sent_ms(RequestKind::Cancel), [40_000, 45_000]); // the delegate, then the list
        assert_eq!(exited_ms(&rig), 50_000);
    }

    #[test]
    fn without_unregistering_it_is_just_gone() {
        let mut rig = Rig::new(Flavour::Netflix);
        rig.config.should_unregister_on_shutdown = false;
        let rig = stopped_at_40_s(rig);
        assert!(rig.sent_ms(RequestKind::Cancel).is_empty());
        assert_eq!(exited_ms(&rig), 40_000);
    }

    #[test]
    fn a_process_that_is_still_starting_exits_at_once() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.stop();
        rig.run_to(at_ms(100_000));
        assert_eq!(exited_ms(&rig), 0);
    }
}
