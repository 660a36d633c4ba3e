//! Health: what a health-check handler says of the application, and what the application says of itself.
//!
//! A handler says nothing on its own. Each run of the replicator asks it first, so a change waits for the next
//! periodic run, half a replication interval on average; it does not go with heartbeats. An application that sets
//! its own status is heard at once, within the limits of the replicator. With both, the handler has the last word.
//!
//! Spring's handler is asked while the process runs, whatever the status, and no more once it stops. That of plain
//! Netflix leaves `STARTING` and `OUT_OF_SERVICE` alone.
//!
//! Source: `DiscoveryClient.refreshInstanceInfo`, `DiscoveryClient.registerHealthCheck`,
//! `HealthCheckCallbackToHandlerBridge`, Spring's `EurekaHealthCheckHandler`; `eureka-client.md` 4.2, 4.3.

use super::ClientConfig;
use super::machine::{Client, Life};
use crate::model::effect::ClientEffect;
use crate::model::eureka::Flavour;
use crate::model::message::Status;
use crate::model::step::Step;

impl Client {
    /// From now on a health-check handler says `status`. Without one (`healthcheck.enabled`) nobody ever asks.
    /// A new process is healthy.
    pub fn on_health(&mut self, status: Status, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        self.replicator.health = status;
        if self.life == Life::Running {
            self.wake_replicator(config, step);
        }
    }

    /// The application sets its own status (`ApplicationInfoManager.setInstanceStatus`). One that is still starting
    /// does so when the constructor is done, instead of the initial status; one that stops, or registers nowhere, is past caring.
    pub fn on_status(&mut self, status: Status, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        match self.life {
            Life::Starting => self.replicator.early_status = Some(status),
            Life::Running if config.register_with_eureka => self.set_status(status, config, step),
            Life::Running | Life::Stopping | Life::Down => {}
        }
    }

    /// What the handler would change the status to.
    pub(super) fn health_differs(&self, config: &ClientConfig) -> Option<Status> {
        let status = self.record.status();
        let is_asked = config.healthcheck_enabled
            && config.register_with_eureka
            && self.life == Life::Running
            && (config.flavour == Flavour::Spring
                || !matches!(status, Status::Starting | Status::OutOfService));
        let health = self.replicator.health;
        (is_asked && health != status).then_some(health)
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Answer, RTT, Rig, at_ms, healthy};
    use super::*;
    use crate::model::message::{Failure, Reply, Request, RequestKind};

    fn rig(flavour: Flavour, has_handler: bool) -> Rig {
        let mut rig = Rig::new(flavour);
        rig.config.healthcheck_enabled = has_handler;
        rig.start();
        rig
    }

    /// When registrations were sent, ms, and with which status.
    fn registered(rig: &Rig) -> Vec<(u64, Status)> {
        let status = |request| match request {
            Request::Register(record) => record.status,
            _ => unreachable!("asked for registrations"),
        };
        let sent = rig.sent(RequestKind::Register).into_iter();
        sent.map(|(at, request, _)| (at.as_millis(), status(request))).collect()
    }

    fn health(rig: &mut Rig, at: u64, status: Status) {
        rig.run_to(at_ms(at));
        rig.step(|client, config, step| client.on_health(status, config, step));
    }

    fn set(rig: &mut Rig, at: u64, status: Status) {
        rig.run_to(at_ms(at));
        rig.step(|client, config, step| client.on_status(status, config, step));
    }

    #[test]
    fn a_handler_is_asked_by_the_periodic_runs() {
        let mut rig = rig(Flavour::Spring, true);
        health(&mut rig, 50_000, Status::Down);
        health(&mut rig, 100_000, Status::Up);
        rig.run_to(at_ms(200_000));
        // The first registration is answered at 4 ms: runs at 30.004, 60.004 (DOWN, answered at 60.006), 90.006,
        // 120.006 (UP).
        assert_eq!(registered(&rig), [(2, Status::Up), (60_004, Status::Down), (120_006, Status::Up)]);
    }

    #[test]
    fn a_change_that_is_over_before_the_next_run_is_never_seen() {
        let mut rig = rig(Flavour::Spring, true);
        health(&mut rig, 31_000, Status::Down);
        health(&mut rig, 59_000, Status::Up);
        rig.run_to(at_ms(200_000));
        assert_eq!(registered(&rig), [(2, Status::Up)]);
    }

    #[test]
    fn without_a_handler_nobody_asks() {
        let mut rig = rig(Flavour::Spring, false);
        health(&mut rig, 50_000, Status::Down);
        rig.run_to(at_ms(500_000));
        assert_eq!(registered(&rig), [(2, Status::Up)]);
    }

    #[test]
    fn an_application_that_sets_its_status_is_heard_at_once() {
        let mut rig = rig(Flavour::Spring, false);
        set(&mut rig, 50_000, Status::Down);
        set(&mut rig, 51_000, Status::Up);
        set(&mut rig, 52_000, Status::Down);
        rig.run_to(at_ms(200_000));
        // 50 s after the start both tokens are back. The third change has to wait: for the heartbeat of 60.004,
        // whose newer dirty timestamp would be answered with 404, or for the run 30 s after 51.002.
        assert_eq!(
            registered(&rig),
            [(2, Status::Up), (50_000, Status::Down), (51_000, Status::Up), (81_002, Status::Down)]
        );
    }

    #[test]
    fn a_status_that_the_limiter_held_back_comes_with_the_heartbeats_404() {
        let mut rig = rig(Flavour::Spring, false);
        let mut newest = None;
        rig.answer(move |_, request, _, registry| match *request {
            Request::Register(record) => {
                newest = Some(record.last_dirty);
                healthy(request, registry)
            }
            Request::Renew { last_dirty, .. } if newest.is_some_and(|newest| last_dirty > newest) => {
                Answer::Reply(RTT, Reply::bare(404))
            }
            _ => healthy(request, registry),
        });
        for (at, status) in [(50_000, Status::Down), (51_000, Status::Up), (52_000, Status::Down)] {
            set(&mut rig, at, status);
        }
        rig.run_to(at_ms(80_000));
        // The heartbeat of 60.004 is answered at 60.006.
        assert_eq!(registered(&rig).last(), Some(&(60_006, Status::Down)));
    }

    #[test]
    fn the_handler_has_the_last_word() {
        let mut rig = rig(Flavour::Spring, true);
        set(&mut rig, 50_000, Status::Down);
        rig.run_to(at_ms(200_000));
        // The run on demand asks the handler, which says UP: what is registered is what was there before.
        assert_eq!(registered(&rig), [(2, Status::Up), (50_000, Status::Up)]);
    }

    #[test]
    fn a_netflix_handler_leaves_starting_and_out_of_service_alone() {
        let mut rig = rig(Flavour::Netflix, true);
        set(&mut rig, 50_000, Status::OutOfService);
        health(&mut rig, 51_000, Status::Down);
        set(&mut rig, 100_000, Status::Up);
        rig.run_to(at_ms(300_000));
        assert_eq!(
            registered(&rig),
            [
                (2, Status::Up), // attaching it asks for one more run, which finds nothing to do
                (50_000, Status::OutOfService),
                (100_000, Status::Down), // the run on demand asks, and now is answered
            ]
        );
    }

    #[test]
    fn a_client_that_starts_unhealthy_never_says_that_it_is_up() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.config.healthcheck_enabled = true;
        rig.start();
        rig.step(|client, config, step| client.on_health(Status::Down, config, step));
        rig.run_to(at_ms(100_000));
        // Attached: DOWN. Then the initial status is set, which asks for a run that finds DOWN again.
        assert_eq!(registered(&rig), [(2, Status::Down), (4, Status::Down)]);
    }

    #[test]
    fn a_status_set_during_the_constructor_takes_the_place_of_the_initial_one() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.step(|client, config, step| client.on_status(Status::Down, config, step));
        rig.run_to(at_ms(20_000));
        assert_eq!(registered(&rig), [(2, Status::Down)]);
    }

    #[test]
    fn stopping_with_a_handler_registers_up_again() {
        let mut rig = rig(Flavour::Spring, true);
        rig.run_to(at_ms(70_000));
        rig.stop();
        rig.run_to(at_ms(100_000));
        assert_eq!(registered(&rig), [(2, Status::Up), (70_000, Status::Up)]);
        assert_eq!(rig.sent_ms(RequestKind::Cancel), [70_002]);
    }

    #[test]
    fn an_unregistered_client_tells_nobody() {
        let mut rig = Rig::new(Flavour::Spring);
        (rig.config.register_with_eureka, rig.config.healthcheck_enabled) = (false, true);
        rig.start();
        set(&mut rig, 10_000, Status::Down);
        health(&mut rig, 10_000, Status::Down);
        rig.run_to(at_ms(100_000));
        assert!(registered(&rig).is_empty());
    }

    #[test]
    fn a_new_process_is_healthy() {
        let mut rig = rig(Flavour::Spring, true);
        health(&mut rig, 50_000, Status::Down);
        rig.answer(|_, _, _, _| Answer::Fail(RTT, Failure::Refused));
        rig.step(|client, _, _| client.on_crash());
        rig.run_to(at_ms(60_000));
        rig.answer(|_, request, _, registry| healthy(request, registry));
        rig.start();
        rig.run_to(at_ms(100_000));
        assert_eq!(registered(&rig), [(2, Status::Up), (60_002, Status::Up)]);
    }
}
