//! The machine: what a process holds, and the doors through which the world tells it what happened.
//!
//! The way of one poll: the world says that [`ClientTimer::Fetch`] is due; out comes a `Send`. The world brings the
//! answer; the view that it makes is the one that is held already, so out comes a `SetTimer` and nothing else. Nothing
//! is allocated, and nothing is looked up: most of a run is this and heartbeats.

use super::disk::Disk;
use super::heartbeat::Heartbeat;
use super::refresh::Refresh;
use super::services::ServiceLoop;
use crate::engine::SimTime;
use crate::model::effect::{Call, ClientEffect, ClientTimer, PushId};
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::{Failure, Reply, Request};
use crate::model::step::Step;
use crate::model::timers::Timers;
use crate::model::two_stage::config::{ClientConfig, Discovery};
use crate::model::view::{Payload, View};

/// Where a process is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// There is no process.
    Down,
    /// It runs.
    Running,
    /// It was told to stop and has begun to deregister.
    Stopping {
        /// Whether it has lingered for long enough.
        lingered: bool,
    },
}

/// A process that registers with a two-stage registry, looks others up in it, or both; through all its lives.
#[derive(Clone, Debug)]
pub struct TwoStageClient {
    pub(super) app: AppId,
    pub(super) instance: InstanceId,
    pub(super) server: ServerId,
    /// As whom it subscribes.
    pub(super) id: ClientId,
    pub(super) life: Life,
    /// Whether the last answer about its entry said that there is one.
    pub(super) is_registered: bool,
    /// The registration at the start, while that is under way.
    pub(super) registration: Call,
    /// The deregistration, while that is under way.
    pub(super) cancellation: Call,
    pub(super) heartbeat: Heartbeat,
    pub(super) refresh: Refresh,
    /// One for each service, unless it fetches everything. None while there is no process.
    pub(super) loops: Box<[ServiceLoop]>,
    /// For when the timer of all loops is set; [`SimTime::MAX`] if it is not.
    pub(super) loops_wake: SimTime,
    pub(super) view: View,
    pub(super) disk: Disk,
    pub(super) timers: Timers,
    /// The serial number of the last call.
    serial: u32,
}

impl TwoStageClient {
    /// Process `id` of `app`, which is not running yet, registers as `instance`, and knows `server`. Its disk is
    /// empty.
    pub fn new(app: AppId, instance: InstanceId, server: ServerId, id: ClientId) -> Self {
        Self {
            app,
            instance,
            server,
            id,
            life: Life::Down,
            is_registered: false,
            registration: Call::NONE,
            cancellation: Call::NONE,
            heartbeat: Heartbeat::NONE,
            refresh: Refresh::NONE,
            loops: Box::default(),
            loops_wake: SimTime::MAX,
            view: View::EMPTY,
            disk: Disk::EMPTY,
            timers: Timers::default(),
            serial: 0,
        }
    }

    /// The next process registers as `instance`.
    pub fn set_identity(&mut self, instance: InstanceId) {
        assert!(self.life == Life::Down, "a process keeps its identity");
        self.instance = instance;
    }

    /// A timer is due. A stale one is dropped.
    pub fn on_timer(
        &mut self,
        config: &ClientConfig,
        timer: ClientTimer,
        generation: u16,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if !self.timers.is_current(timer, generation) {
            return;
        }
        match (timer, config.discovery) {
            (ClientTimer::Heartbeat, _) => self.heartbeat_due(config, step),
            (ClientTimer::Fetch, Discovery::Poll) => self.fetch(step),
            (ClientTimer::Fetch, Discovery::LongPoll | Discovery::PushPlusPoll) => {
                self.loops_due(config, step);
            }
            (ClientTimer::ShutdownWait, _) => self.has_lingered(config, step),
            (
                ClientTimer::Replicator
                | ClientTimer::HeartbeatTimeout
                | ClientTimer::FetchTimeout
                | ClientTimer::BalancerRefresh
                | ClientTimer::ServerList,
                _,
            ) => unreachable!("it sets none of these"),
        }
    }

    /// A call was answered. An answer that nobody waits for is dropped.
    pub fn on_reply(
        &mut self,
        config: &ClientConfig,
        call: Call,
        reply: Reply,
        step: &mut Step<'_, ClientEffect>,
    ) {
        self.call_ended(config, call, Some(reply), step);
    }

    /// A call ended without an answer.
    pub fn on_failure(
        &mut self,
        config: &ClientConfig,
        call: Call,
        _failure: Failure,
        step: &mut Step<'_, ClientEffect>,
    ) {
        self.call_ended(config, call, None, step);
    }

    fn call_ended(
        &mut self,
        config: &ClientConfig,
        call: Call,
        reply: Option<Reply>,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if call == self.heartbeat.call {
            self.heartbeat_call_ended(reply, config, step);
        } else if call == self.refresh.call {
            self.fetch_ended(reply, config, step);
        } else if let Some(at) = self.loops.iter().position(|each| each.call == call) {
            self.loop_call_ended(at, reply, config, step);
        } else if call == self.registration {
            self.registered_at_start(reply);
        } else if call == self.cancellation {
            self.cancellation = Call::NONE;
            self.exit_if_done(config, step);
        }
    }

    /// A push came.
    pub fn on_push(
        &mut self,
        config: &ClientConfig,
        app: AppId,
        payload: Payload,
        push: PushId,
        step: &mut Step<'_, ClientEffect>,
    ) {
        self.pushed(config, (app, payload), push, step);
    }

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock. To be told before what
    /// arrived meanwhile and the timers that came due; these find for themselves that they are late.
    pub fn on_resume(
        &mut self,
        _config: &ClientConfig,
        _paused_since: SimTime,
        _step: &mut Step<'_, ClientEffect>,
    ) {
    }

    /// The process is gone at `now` on its monotonic clock, without a word. Its disk stays, as it was just then. What
    /// it waited for and its timers never match anything again.
    pub fn on_crash(&mut self, config: &ClientConfig, now: SimTime) {
        let blank = Self::new(self.app, self.instance, self.server, self.id);
        let before = std::mem::replace(self, blank);
        self.disk = before.disk;
        self.disk.process_ends(config, now);
        self.serial = before.serial;
        self.timers = before.timers;
        self.timers.cancel_all();
    }

    /// From now on its host's disk is full, or has room again. A write that has begun has its room.
    pub fn set_disk_full(&mut self, full: bool) {
        self.disk.is_full = full;
    }

    /// Whether the outcome of `call` would find somebody.
    pub fn awaits(&self, call: Call) -> bool {
        [self.heartbeat.call, self.refresh.call, self.registration, self.cancellation].contains(&call)
            || self.loops.iter().any(|each| each.call == call)
    }

    /// Whether there is a process: running or stopping.
    pub fn is_running(&self) -> bool {
        self.life != Life::Down
    }

    /// Whether, as far as it knows, it is registered: the last answer about its entry said so.
    pub const fn is_registered(&self) -> bool {
        self.is_registered
    }

    /// What it knows.
    pub const fn view(&self) -> View {
        self.view
    }

    /// What is in its file, or was before the file was last written: views that it may come to hold again.
    pub fn views_on_disk(&self) -> [View; 2] {
        self.disk.views()
    }

    /// Sends `request`; the call to wait for.
    pub(super) fn send(&mut self, request: Request, step: &mut Step<'_, ClientEffect>) -> Call {
        self.serial = Call::serial_after(self.serial);
        let call = Call::numbered(self.serial, false);
        step.out.push(ClientEffect::Send { call, to: self.server, request });
        call
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Rig, at_ms, ms};
    use super::*;
    use crate::model::message::RequestKind;
    use crate::model::two_stage::config::{DiskMode, Preset};

    #[test]
    fn a_new_life_starts_afresh_and_drops_what_belongs_to_the_old() {
        let mut rig = Rig::instance(Preset::TwoStage);
        rig.config.fetches = true;
        rig.config.disk_mode = DiskMode::None;
        rig.registry.up(0, 0..2);
        rig.answer(|_, request, registry| (ms(100), Ok(registry.reply(request))));
        rig.start();
        rig.run_to(at_ms(10_250)); // the second poll of the loop, sent at 10.3 s, is still to come
        let call = Call::numbered(1, false);
        assert!(rig.client.is_registered() && !rig.client.awaits(call));
        rig.crash();
        assert!(!rig.client.is_running() && !rig.client.is_registered() && rig.held().is_empty());
        rig.run_to(at_ms(11_000));
        rig.start();
        assert!(!rig.client.awaits(call)); // numbers go on
        rig.run_to(at_ms(17_000));
        assert_eq!(rig.sent_ms(RequestKind::Register), [0, 11_000]);
        assert_eq!(rig.sent_ms(RequestKind::Renew), [5_000, 10_000, 16_000]);
        // 0, 100, then 5.1 s apart.
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 100, 5_200, 11_000, 11_100, 16_200]);
    }

    #[test]
    fn a_client_is_small_at_rest() {
        assert!(size_of::<TwoStageClient>() <= 200, "{} bytes", size_of::<TwoStageClient>());
    }
}
