//! How a process stops: in order, or not.
//! Source: `DiscoveryClient.shutdown`, `EurekaAutoServiceRegistration.stop`; `eureka-client.md` section 5.
//!
//! Spring registers `DOWN` first and then de-registers; plain Netflix only de-registers. The drain of the web server
//! between the two is left out: the application is taken to have no requests under way.

use super::ClientConfig;
use super::client::{Client, Life};
use super::effect::{ClientEffect, ClientTimer};
use super::job::{Job, Phase, Task};
use crate::engine::SimDuration;
use crate::model::eureka::Flavour;
use crate::model::message::Status;
use crate::model::step::Step;

/// How long a stopping client waits for its replicator (`InstanceInfoReplicator.stop`).
const REPLICATOR_WAIT: SimDuration = SimDuration::from_secs(3);

impl Client {
    /// The process is told to stop, in order. [`ClientEffect::Exited`] tells when it has; a process that is still
    /// starting exits at once, since it has nothing to take back.
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
