//! The replicator: registers the record anew when it is dirty, periodically and on demand.
//! Source: `InstanceInfoReplicator`; `eureka-client.md` section 4.
//!
//! A periodic run that finds the record clean does nothing, and most do. So the runs are a [`Grid`], and a timer
//! is set only while the record is dirty. Health-check handlers are left out: the status changes only by the
//! life of the process.

use super::ClientConfig;
use super::client::Client;
use super::effect::{ClientEffect, ClientTimer};
use super::grid::Grid;
use super::job::{Job, Phase, Task};
use super::rate_limiter::{RateLimiter, rate_per_minute};
use crate::engine::SimDuration;
use crate::model::message::Status;
use crate::model::step::Step;

/// The state of the replicator.
#[derive(Clone, Debug, Default)]
pub(super) struct Replicator {
    /// Its periodic runs, while none is under way.
    pub(super) grid: Grid,
    limiter: RateLimiter,
    /// Whether a run waits for its registration.
    pub(super) is_running: bool,
    /// On-demand runs that wait for the one thread.
    queued: u8,
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

    /// A run on demand (`onDemandUpdate`): now, or after the one that is under way. Refused by the limiter, it is
    /// forgotten; the next periodic run finds the record dirty.
    fn replicate_on_demand(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
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

    /// Makes sure that a dirty record is found by the next periodic run.
    pub(super) fn wake_replicator(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if self.replicator.is_running || self.record.dirty_since().is_none() {
            return;
        }
        let next = self.replicator.grid.at_or_after(step.now.mono, config.replication_interval());
        self.timers.set(ClientTimer::Replicator, next.since(step.now.mono), step.out);
    }

    /// One run: registers if the record is dirty.
    pub(super) fn run_replicator(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        match self.record.dirty_since() {
            Some(dirty) => {
                self.replicator.is_running = true;
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
