//! A process of an application as a state machine, through all its lives: instance, consumer, or both.

use super::config::ClientConfig;
use crate::engine::SimTime;
use crate::model::effect::{Call, ClientEffect, ClientTimer, PushId};
use crate::model::id::{AppId, InstanceId, ServerId};
use crate::model::message::{Failure, Reply};
use crate::model::step::Step;
use crate::model::view::{Payload, View};

/// A process that registers with a two-stage registry, looks others up in it, or both.
#[derive(Clone, Debug)]
pub struct TwoStageClient {}

impl TwoStageClient {
    /// A process of `app` that is not running yet, registers as `instance`, and knows `server`. Its disk is empty.
    pub fn new(_app: AppId, _instance: InstanceId, _server: ServerId) -> Self {
        Self {}
    }

    /// The next process registers as `instance`.
    pub fn set_identity(&mut self, _instance: InstanceId) {
        unreachable!("no scenario says so yet")
    }

    /// A process starts. It must not be running.
    pub fn on_start(&mut self, _config: &ClientConfig, _step: &mut Step<'_, ClientEffect>) {
        unreachable!("no scenario says so yet")
    }

    /// The process is told to stop in order.
    pub fn on_stop(&mut self, _config: &ClientConfig, _step: &mut Step<'_, ClientEffect>) {
        unreachable!("no scenario says so yet")
    }

    /// A timer is due. A stale one is dropped.
    pub fn on_timer(
        &mut self,
        _config: &ClientConfig,
        _timer: ClientTimer,
        _generation: u16,
        _step: &mut Step<'_, ClientEffect>,
    ) {
        unreachable!("no scenario says so yet")
    }

    /// A call was answered. An answer that nobody waits for is dropped.
    pub fn on_reply(
        &mut self,
        _config: &ClientConfig,
        _call: Call,
        _reply: Reply,
        _step: &mut Step<'_, ClientEffect>,
    ) {
        unreachable!("no scenario says so yet")
    }

    /// A call ended without an answer.
    pub fn on_failure(
        &mut self,
        _config: &ClientConfig,
        _call: Call,
        _failure: Failure,
        _step: &mut Step<'_, ClientEffect>,
    ) {
        unreachable!("no scenario says so yet")
    }

    /// A push came.
    pub fn on_push(
        &mut self,
        _config: &ClientConfig,
        _app: AppId,
        _payload: Payload,
        _push: PushId,
        _step: &mut Step<'_, ClientEffect>,
    ) {
        unreachable!("no scenario says so yet")
    }

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock.
    pub fn on_resume(
        &mut self,
        _config: &ClientConfig,
        _paused_since: SimTime,
        _step: &mut Step<'_, ClientEffect>,
    ) {
        unreachable!("no scenario says so yet")
    }

    /// The process is gone at `now` on its monotonic clock, without a word. Its disk stays, as it was just then.
    pub fn on_crash(&mut self, _config: &ClientConfig, _now: SimTime) {
        unreachable!("no scenario says so yet")
    }

    /// From now on its disk is full, or has room again.
    pub fn set_disk_full(&mut self, _full: bool) {
        unreachable!("no scenario says so yet")
    }

    /// Whether the outcome of `call` would find somebody.
    pub fn awaits(&self, _call: Call) -> bool {
        unreachable!("no scenario says so yet")
    }

    /// Whether there is a process: starting, running or stopping.
    pub fn is_running(&self) -> bool {
        false
    }

    /// Whether, as far as it knows, it is registered.
    pub fn is_registered(&self) -> bool {
        false
    }

    /// What it knows.
    pub fn view(&self) -> View {
        View::EMPTY
    }

    /// What is in its file, or was before the file was last written: views that it may come to hold again.
    pub fn views_on_disk(&self) -> [View; 2] {
        [View::EMPTY; 2]
    }
}
