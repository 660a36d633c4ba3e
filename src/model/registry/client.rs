//! A client of whichever registry, for whoever is not written over [`Registry`](super::Registry) yet.

use super::ClientMachine;
use super::config::ClientConfig;
use crate::engine::{SimDuration, SimTime};
use crate::model::effect::{Call, ClientEffect, ClientTimer, PushId};
use crate::model::eureka::client::{self, ServerUrls};
use crate::model::id::{AppId, ClientId, InstanceId};
use crate::model::message::{Failure, Reply, Status};
use crate::model::step::Step;
use crate::model::two_stage::TwoStageClient;
use crate::model::view::{Payload, View};

type ClientStep<'a> = Step<'a, ClientEffect>;

/// A process with a registry client, through all its lives.
///
/// Its settings are those of the registry that it was made for: it panics at others.
#[derive(Clone, Debug)]
pub enum Client {
    /// Of Eureka, and the load balancer above it.
    Eureka(client::Client),
    /// Of the two-stage registry.
    TwoStage(TwoStageClient),
}

/// Calls the same method of either client, with its own settings if it wants them.
macro_rules! either {
    ($it:expr, $config:expr, $client:ident, $settings:ident => $call:expr) => {
        match ($it, $config) {
            (Self::Eureka($client), ClientConfig::Eureka($settings)) => $call,
            (Self::TwoStage($client), ClientConfig::TwoStage($settings)) => $call,
            _ => unreachable!("a client has the settings of its own registry"),
        }
    };
    ($it:expr, $client:ident => $call:expr) => {
        match $it {
            Self::Eureka($client) => $call,
            Self::TwoStage($client) => $call,
        }
    };
}

impl Client {
    /// A client of `app` with settings like `config` that is not running yet, registers as `instance`, and knows
    /// `servers`. It is process `id`.
    pub fn new(
        config: ClientConfig<'_>,
        id: ClientId,
        app: AppId,
        instance: InstanceId,
        servers: ServerUrls<'_>,
    ) -> Self {
        match config {
            ClientConfig::Eureka(_) => Self::Eureka(ClientMachine::new(id, app, instance, servers)),
            ClientConfig::TwoStage(_) => Self::TwoStage(ClientMachine::new(id, app, instance, servers)),
        }
    }

    /// The next process registers as `instance`.
    pub fn set_identity(&mut self, instance: InstanceId) {
        either!(self, client => client.set_identity(instance));
    }

    /// The next process calls through its balancer for the first time `first_call` after its start.
    pub fn set_first_call(&mut self, first_call: SimDuration) {
        either!(self, client => ClientMachine::set_first_call(client, first_call));
    }

    /// A process starts. It must not be running.
    pub fn on_start(&mut self, config: ClientConfig<'_>, step: &mut ClientStep<'_>) {
        either!(self, config, client, config => client.on_start(config, step));
    }

    /// The process is told to stop in order.
    pub fn on_stop(&mut self, config: ClientConfig<'_>, step: &mut ClientStep<'_>) {
        either!(self, config, client, config => client.on_stop(config, step));
    }

    /// The application sets its status, if its registry knows such a thing.
    pub fn on_status(&mut self, status: Status, config: ClientConfig<'_>, step: &mut ClientStep<'_>) {
        either!(self, config, client, config => ClientMachine::on_status(client, status, config, step));
    }

    /// A health check finds the application so, if its registry asks one.
    pub fn on_health(&mut self, status: Status, config: ClientConfig<'_>, step: &mut ClientStep<'_>) {
        either!(self, config, client, config => ClientMachine::on_health(client, status, config, step));
    }

    /// A timer is due. A stale one is dropped.
    #[inline]
    pub fn on_timer(
        &mut self,
        config: ClientConfig<'_>,
        timer: ClientTimer,
        generation: u16,
        step: &mut ClientStep<'_>,
    ) {
        either!(self, config, client, config => client.on_timer(config, timer, generation, step));
    }

    /// A call was answered. An answer that nobody waits for is dropped.
    #[inline]
    pub fn on_reply(
        &mut self,
        config: ClientConfig<'_>,
        call: Call,
        reply: Reply,
        step: &mut ClientStep<'_>,
    ) {
        either!(self, config, client, config => client.on_reply(config, call, reply, step));
    }

    /// A call ended without an answer.
    pub fn on_failure(
        &mut self,
        config: ClientConfig<'_>,
        call: Call,
        failure: Failure,
        step: &mut ClientStep<'_>,
    ) {
        either!(self, config, client, config => client.on_failure(config, call, failure, step));
    }

    /// A call will not be answered soon, or ever.
    pub fn on_stall(&mut self, config: ClientConfig<'_>, call: Call, step: &mut ClientStep<'_>) {
        either!(self, config, client, config => ClientMachine::on_stall(client, config, call, step));
    }

    /// A push came.
    pub fn on_push(
        &mut self,
        config: ClientConfig<'_>,
        (app, payload): (AppId, Payload),
        push: PushId,
        step: &mut ClientStep<'_>,
    ) {
        either!(self, config, client, config => ClientMachine::on_push(client, config, (app, payload), push, step));
    }

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock.
    pub fn on_resume(&mut self, config: ClientConfig<'_>, paused_since: SimTime, step: &mut ClientStep<'_>) {
        either!(self, config, client, config => ClientMachine::on_resume(client, config, paused_since, step));
    }

    /// The process is gone at `now` on its monotonic clock, without a word.
    pub fn on_crash(&mut self, config: ClientConfig<'_>, now: SimTime) {
        either!(self, config, client, config => ClientMachine::on_crash(client, config, now));
    }

    /// From now on its host's disk is full, or has room again.
    pub fn set_disk_full(&mut self, full: bool) {
        either!(self, client => ClientMachine::set_disk_full(client, full));
    }

    /// Whether the outcome of `call` would find somebody.
    pub fn awaits(&self, call: Call) -> bool {
        either!(self, client => client.awaits(call))
    }

    /// The status of its own record, as it would be shown.
    pub fn status(&self) -> Status {
        either!(self, client => ClientMachine::status(client))
    }

    /// Whether, as far as it knows, it is registered.
    pub fn is_registered(&self) -> bool {
        either!(self, client => client.is_registered())
    }

    /// Whether there is a process: starting, running or stopping.
    pub fn is_running(&self) -> bool {
        either!(self, client => client.is_running())
    }

    /// Whether its constructor has returned: it runs, or is stopping.
    pub fn has_started(&self) -> bool {
        either!(self, client => ClientMachine::has_started(client))
    }

    /// Its local registry.
    #[inline]
    pub fn view(&self) -> View {
        either!(self, client => client.view())
    }

    /// The list that its callers pick from.
    #[inline]
    pub fn balancer_view(&self) -> View {
        either!(self, client => ClientMachine::balancer_view(client))
    }

    /// Every view that it holds, or may come to hold again.
    pub fn views(&self) -> [View; 3] {
        either!(self, client => ClientMachine::views(client))
    }

    /// Whether it calls others: once it has started, and has a list to pick from.
    pub fn makes_calls(&self, config: ClientConfig<'_>) -> bool {
        either!(self, config, client, config => ClientMachine::makes_calls(client, config))
    }
}
