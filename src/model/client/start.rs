//! How a process starts: the constructor's full fetch, which nobody limits, then the timers, then the status that
//! brings the first registration.
//! Source: `DiscoveryClient` constructor and `initScheduledTasks`, `EurekaServiceRegistry.register`;
//! `eureka-client.md` section 1.
//!
//! Spring and plain Netflix differ in who sets the status and when: Spring sets `initial-status` right after the
//! constructor; a Netflix application sets `UP` itself, or never, and is then registered by the 404 of its first
//! heartbeat. Of timers set at the same moment the heartbeat's comes before the fetch's.

use super::ClientConfig;
use super::client::{Client, Life};
use super::effect::{ClientEffect, ClientTimer};
use super::grid::Grid;
use super::job::{Job, Phase, Task};
use super::purpose;
use super::record::OwnRecord;
use crate::model::step::Step;

impl Client {
    /// A process starts. It must not be running.
    pub fn on_start(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        assert!(self.life == Life::Down, "a process starts once");
        self.life = Life::Starting;
        self.record = OwnRecord::new(config, step.now.wall);
        self.servers.reset();
        self.servers.shuffle(&mut step.dice, purpose::SERVER_ORDER);
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
        match config.initial_status {
            Some(status) if status != self.record.status() => self.set_status(status, config, step),
            _ => self.wake_replicator(config, step),
        }
    }
}
