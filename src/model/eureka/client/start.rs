//! How a process starts: the constructor's full fetch, which nobody limits, then the timers, then the status
//! that brings the first registration. Source: `DiscoveryClient` constructor and `initScheduledTasks`,
//! `EurekaServiceRegistry.register`; `eureka-client.md` section 1.
//!
//! Spring and plain Netflix differ in who sets the status and when: Spring sets `initial-status` right after
//! the constructor; a Netflix application sets `UP` itself, or never, and is then registered by the 404 of
//! its first heartbeat. Of timers set at the same moment the heartbeat's comes before the fetch's.
//!
//! A health-check handler is attached once the status is set, by Spring a first time before that; each time asks for
//! a run on demand. Of Spring's requests the third is refused by the limiter (Netflix #1537; `eureka-client.md` 1.3).

use super::ClientConfig;
use super::grid::Grid;
use super::job::{Job, Phase, Task};
use super::machine::{Client, Life};
use super::record::OwnRecord;
use crate::model::effect::{ClientEffect, ClientTimer};
use crate::model::eureka::Flavour;
use crate::model::step::Step;

impl Client {
    /// A process starts. It must not be running.
    pub fn on_start(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        assert!(self.life == Life::Down, "a process starts once");
        self.life = Life::Starting;
        self.record = OwnRecord::new(config, step.now.wall);
        self.servers.reset();
        self.servers.resolve(config.server_order, &mut step.rng);
        self.await_first_call(config, step);
        if config.fetch_registry {
            let job = Job::new(Task::Start, step.now.mono);
            self.request(job, Phase::FetchFull, config, step);
        } else {
            self.fetched_at_start(config, step);
        }
    }

    /// The constructor's fetch ended; a failure leaves the local registry empty and is no obstacle.
    pub(super) fn fetched_at_start(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if config.register_with_eureka && config.should_enforce_registration_at_init {
            let job = Job::new(Task::Start, step.now.mono);
            self.request(job, Phase::Register, config, step);
        } else {
            self.run(config, step);
        }
    }

    /// The constructor's registration ended; it must have succeeded, or the process does not start.
    pub(super) fn registered_at_start(
        &mut self,
        ok: bool,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if ok {
            self.run(config, step);
        } else {
            self.exit(step);
        }
    }

    /// The constructor is done: the timers start, and the application sets its status.
    fn run(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        self.life = Life::Running;
        if config.register_with_eureka {
            self.timers.set(ClientTimer::Heartbeat, config.heartbeat_interval(), step.out);
        }
        if config.fetch_registry {
            self.timers.set(ClientTimer::Fetch, config.fetch_interval(), step.out);
        }
        self.balancer_may_read(config, step);
        if !config.register_with_eureka {
            return;
        }
        self.replicator.grid = Grid::starting_at(step.now.mono + config.initial_replication_delay());
        self.record.set_dirty(step.now.wall);
        let spring = config.flavour == Flavour::Spring;
        if config.healthcheck_enabled && spring {
            self.replicate_on_demand(config, step);
        }
        match self.replicator.early_status.take().or(config.initial_status) {
            Some(status) if status != self.record.status() => self.set_status(status, config, step),
            _ => self.wake_replicator(config, step),
        }
        if config.healthcheck_enabled {
            self.replicate_on_demand(config, step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Answer, Logged, RTT, Rig, at_ms, healthy, secs};
    use crate::model::eureka::Flavour;
    use crate::model::fact::Fact;
    use crate::model::message::{Failure, Reply, Request, RequestKind, Status};

    fn first_status(rig: &Rig) -> Status {
        let Request::Register(record) = rig.sent(RequestKind::Register)[0].1 else { unreachable!() };
        record.status
    }

    #[test]
    fn spring_registers_as_up_right_after_the_constructor() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.run_to(at_ms(125_000));
        // The constructor's fetch takes 2 ms. Heartbeats and fetches start 30 s after it and take 2 ms each.
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0]);
        assert_eq!(rig.sent_ms(RequestKind::Register), [2]);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 60_004, 90_006, 120_008]);
        assert_eq!(rig.sent_ms(RequestKind::FetchDelta), [30_002, 60_004, 90_006, 120_008]);
        assert_eq!(first_status(&rig), Status::Up);
        assert_eq!(rig.facts_ms(|fact| matches!(fact, Fact::RegistrationSent { .. })), [2]);
    }

    #[test]
    fn netflix_without_a_status_is_registered_by_its_first_heartbeat() {
        let mut rig = Rig::new(Flavour::Netflix);
        rig.config.initial_status = None;
        let mut known = false;
        rig.answer(move |_, request, _, registry| match request.kind() {
            RequestKind::Renew if !known => {
                known = true;
                Answer::Reply(RTT, Reply::bare(404))
            }
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(80_000));
        // The heartbeat at 30 s is answered 404; the replicator at 40 s finds the record clean.
        assert_eq!(rig.sent_ms(RequestKind::Register), [30_004]);
        assert_eq!(first_status(&rig), Status::Starting);
    }

    #[test]
    fn enabled_from_the_start_registers_at_the_replicators_first_run() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.config.instance_enabled_onit = true;
        rig.config.lease_renewal_interval_in_seconds = 1_000_000; // else the first heartbeat would
        rig.start();
        rig.run_to(at_ms(80_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [40_002]);
    }

    #[test]
    fn a_registration_enforced_at_start_says_starting() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.config.should_enforce_registration_at_init = true;
        rig.start();
        rig.run_to(at_ms(20_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [2, 4]);
        assert_eq!(first_status(&rig), Status::Starting);
    }

    #[test]
    fn a_registration_enforced_at_start_and_refused_ends_the_process() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.config.should_enforce_registration_at_init = true;
        rig.answer(|_, request, _, registry| match request.kind() {
            RequestKind::Register => Answer::Fail(RTT, Failure::Refused),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(100_000));
        assert_eq!(rig.log.last(), Some(&(at_ms(4), Logged::Exited)));
        assert!(!rig.client.is_running());
    }

    #[test]
    fn the_constructors_fetch_has_no_time_out_of_its_own() {
        let mut rig = Rig::new(Flavour::Spring);
        let mut first = true;
        rig.answer(move |_, request, _, registry| {
            if std::mem::take(&mut first) {
                return Answer::Fail(secs(134), Failure::ConnectTimeout);
            }
            healthy(request, registry)
        });
        rig.start();
        rig.run_to(at_ms(170_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [134_000]);
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 164_000]); // one server: one attempt; 30 s later again
        assert!(rig.facts_ms(|fact| *fact == Fact::SupervisorTimedOut).is_empty());
    }

    #[test]
    fn a_new_life_starts_afresh_and_drops_what_belongs_to_the_old() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.run_to(at_ms(30_002)); // a heartbeat and a fetch are under way
        rig.step(|client, _, _| client.on_crash());
        assert!(rig.client.view().is_initial() && !rig.client.is_registered());
        rig.run_to(at_ms(31_000));
        let before = rig.log.len();
        rig.start();
        rig.run_to(at_ms(62_000));
        let kinds: Vec<u64> = rig.log[before..].iter().map(|(at, _)| at.as_millis()).collect();
        assert_eq!(kinds[0], 31_000);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [30_002, 61_002]);
        assert_eq!(rig.facts_ms(|fact| matches!(fact, Fact::RegistrationSent { .. })), [2, 31_002]);
    }
}
