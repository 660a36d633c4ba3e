//! The replicator: registers the record anew when it is dirty, periodically and on demand.
//! Source: `InstanceInfoReplicator`; `eureka-client.md` section 4.
//!
//! A periodic run that finds the record clean does nothing, and most do. So the runs are a [`Grid`], and a
//! timer is set only while the record is dirty, or while the health-check handler, which each run asks first,
//! would make it so (`health`).

use super::ClientConfig;
use super::grid::Grid;
use super::job::{Job, Phase, Task};
use super::machine::Client;
use super::rate_limiter::{RateLimiter, rate_per_minute};
use crate::engine::SimDuration;
use crate::model::effect::{ClientEffect, ClientTimer};
use crate::model::message::Status;
use crate::model::step::Step;

/// The state of the replicator.
#[derive(Clone, Debug)]
pub(super) struct Replicator {
    /// Its periodic runs, while none is under way.
    pub(super) grid: Grid,
    limiter: RateLimiter,
    /// Whether a run waits for its registration.
    pub(super) is_running: bool,
    /// On-demand runs that wait for the one thread.
    queued: u8,
    /// What the health-check handler says when it is asked.
    pub(super) health: Status,
    /// The status that the application set while the constructor was at work.
    pub(super) early_status: Option<Status>,
}

impl Default for Replicator {
    fn default() -> Self {
        Self {
            grid: Grid::default(),
            limiter: RateLimiter::default(),
            is_running: false,
            queued: 0,
            health: Status::Up,
            early_status: None,
        }
    }
}

impl ClientConfig {
    /// Time between a replicator's run and the next.
    pub(super) fn replication_interval(&self) -> SimDuration {
        SimDuration::from_secs(u64::from(self.instance_info_replication_interval_seconds))
    }

    /// Time from the start of the timers to the replicator's first run.
    pub(super) fn initial_replication_delay(&self) -> SimDuration {
        SimDuration::from_secs(u64::from(self.initial_instance_info_replication_interval_seconds))
    }
}

impl Client {
    /// Changes the status of the record; a change asks for a run on demand if the listener is there
    /// (`onDemandUpdateStatusChange`).
    pub(super) fn set_status(
        &mut self,
        status: Status,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if !self.record.set_status(status, step.now.wall) {
            return;
        }
        if config.on_demand_update_status_change {
            self.replicate_on_demand(config, step);
        } else {
            self.wake_replicator(config, step);
        }
    }

    /// A run on demand (`onDemandUpdate`): now, or after the one that is under way. Refused by the limiter,
    /// it is forgotten; the next periodic run finds the record dirty.
    pub(super) fn replicate_on_demand(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        let rate = rate_per_minute(config.instance_info_replication_interval_seconds);
        if !self.replicator.limiter.acquire(step.now.wall, rate) {
            self.wake_replicator(config, step);
        } else if self.replicator.is_running {
            self.replicator.queued = self.replicator.queued.saturating_add(1);
        } else {
            self.timers.cancel(ClientTimer::Replicator);
            self.run_replicator(config, step);
        }
    }

    /// Makes sure that a dirty record, or a change of health, is found by the next periodic run.
    pub(super) fn wake_replicator(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        let finds_something = self.record.dirty_since().is_some() || self.health_differs(config).is_some();
        if self.replicator.is_running || !finds_something {
            return;
        }
        let next = self.replicator.grid.at_or_after(step.now.mono, config.replication_interval());
        self.timers.set(ClientTimer::Replicator, next.since(step.now.mono), step.out);
    }

    /// One run: asks the health-check handler, and registers if the record is dirty.
    pub(super) fn run_replicator(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        self.replicator.is_running = true;
        if let Some(status) = self.health_differs(config) {
            // The change asks for a run on demand, which waits behind this one and mostly finds nothing to do.
            self.set_status(status, config, step);
        }
        match self.record.dirty_since() {
            Some(dirty) => {
                let mut job = Job::new(Task::Replicator, step.now.mono);
                job.dirty = dirty;
                self.request(job, Phase::Register, config, step);
            }
            None => self.replicator_ended(config, step),
        }
    }

    /// A run ended; the next comes one interval later, unless another is asked for.
    pub(super) fn replicator_ended(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        self.replicator.is_running = false;
        self.replicator.grid = Grid::starting_at(step.now.mono + config.replication_interval());
        if self.replicator.queued > 0 {
            self.replicator.queued -= 1;
            self.run_replicator(config, step);
        } else if self.is_stopping() {
            self.cancel_registration(config, step);
        } else {
            self.wake_replicator(config, step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Answer, RTT, Rig, at_ms, healthy};
    use crate::model::eureka::Flavour;
    use crate::model::message::{Failure, RequestKind, Status};

    /// A client whose registrations are refused before `until_ms`.
    fn refused_until(until_ms: u64) -> Rig {
        let mut rig = Rig::new(Flavour::Spring);
        rig.config.lease_renewal_interval_in_seconds = 1_000_000; // no heartbeats
        rig.answer(move |now, request, _, registry| match request.kind() {
            RequestKind::Register if now < at_ms(until_ms) => Answer::Fail(RTT, Failure::Refused),
            _ => healthy(request, registry),
        });
        rig.start();
        rig
    }

    #[test]
    fn a_refused_registration_is_repeated_every_interval() {
        let mut rig = refused_until(50_000);
        rig.run_to(at_ms(200_000));
        // Refused at 4 ms and at 30.006; each run 30 s after the end of the one before.
        assert_eq!(rig.sent_ms(RequestKind::Register), [2, 30_004, 60_006]);
    }

    #[test]
    fn a_pause_moves_the_runs() {
        let mut rig = refused_until(101_000);
        rig.run_to(at_ms(20_000));
        rig.pause_to(at_ms(100_000));
        rig.run_to(at_ms(140_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [2, 100_000, 130_002]);
    }

    #[test]
    fn an_idle_run_in_a_pause_moves_the_later_ones_too() {
        let mut rig = refused_until(0);
        rig.run_to(at_ms(20_000));
        rig.pause_to(at_ms(100_000));
        rig.run_to(at_ms(101_000));
        rig.config.on_demand_update_status_change = false;
        rig.step(|client, config, step| client.set_status(Status::OutOfService, config, step));
        rig.run_to(at_ms(140_000));
        // The run of 30.004 was made up for at 100.000; without the pause the next would be at 120.004.
        assert_eq!(rig.sent_ms(RequestKind::Register), [2, 130_000]);
    }

    /// Two changes of status, a millisecond apart: the second comes while the first is being registered.
    fn change_twice(rig: &mut Rig, at_first_ms: u64) {
        for (after_ms, status) in [(0, Status::OutOfService), (1, Status::Up)] {
            rig.run_to(at_ms(at_first_ms + after_ms));
            rig.step(|client, config, step| client.set_status(status, config, step));
        }
    }

    #[test]
    fn a_change_that_the_limiter_refuses_waits_for_the_periodic_run() {
        let mut rig = refused_until(0);
        change_twice(&mut rig, 1_000);
        rig.run_to(at_ms(40_000));
        // The start and the first change take the two tokens. The second change leaves the record dirty
        // beyond the run that is under way, which ends at 1.002.
        assert_eq!(rig.sent_ms(RequestKind::Register), [2, 1_000, 31_002]);
    }

    #[test]
    fn a_change_during_a_run_is_registered_right_after_it() {
        let mut rig = refused_until(0);
        change_twice(&mut rig, 20_000); // 15 s after the start one token is back: both changes pass
        rig.run_to(at_ms(49_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [2, 20_000, 20_002]);
    }
}
