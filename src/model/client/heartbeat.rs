//! The heartbeat, and the registration that a 404 makes of it.
//! Source: `DiscoveryClient.renew`, `DiscoveryClient.register`; `eureka-client.md` 2.3.

use super::ClientConfig;
use super::client::Client;
use super::effect::ClientEffect;
use super::job::{Job, Phase, Task};
use crate::model::step::Step;

impl Client {
    /// The next heartbeat is due.
    pub(super) fn heartbeat_due(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if let Some(job) = self.hand_off(Task::Heartbeat, config, step) {
            self.request(job, Phase::Renew, config, step);
        }
    }

    /// A heartbeat was answered. A 404 marks the record dirty anew, so that the registration that follows in the
    /// same job carries a timestamp that no server has seen; everything else has no effect.
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
