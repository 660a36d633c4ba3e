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
