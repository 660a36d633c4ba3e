//! A process of an application with a client of either registry.

use super::config::ClientConfig;
use crate::engine::{SimDuration, SimTime};
use crate::model::client::{self, ServerUrls};
use crate::model::effect::{Call, ClientEffect, ClientTimer, PushId};
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
        config: &ClientConfig,
        id: ClientId,
        app: AppId,
        instance: InstanceId,
        servers: ServerUrls<'_>,
    ) -> Self {
        match config {
            ClientConfig::Eureka(_) => Self::Eureka(client::Client::new(app, instance, servers)),
            ClientConfig::TwoStage(_) => {
                let server = servers.own_zone.iter().chain(servers.other_zones).next();
                let server = *server.expect("there is a registry");
                Self::TwoStage(TwoStageClient::new(app, instance, server, id))
            }
        }
    }

    /// The next process registers as `instance`.
    pub fn set_identity(&mut self, instance: InstanceId) {
        either!(self, client => client.set_identity(instance));
    }

    /// The next process calls through its balancer for the first time `first_call` after its start.
    pub fn set_first_call(&mut self, first_call: SimDuration) {
        if let Self::Eureka(client) = self {
            client.set_first_call(first_call);
        }
    }

    /// A process starts. It must not be running.
    pub fn on_start(&mut self, config: &ClientConfig, step: &mut ClientStep<'_>) {
        either!(self, config, client, config => client.on_start(config, step));
    }

    /// The process is told to stop in order.
    pub fn on_stop(&mut self, config: &ClientConfig, step: &mut ClientStep<'_>) {
        either!(self, config, client, config => client.on_stop(config, step));
    }

    /// The application sets its status, if its registry knows such a thing.
    pub fn on_status(&mut self, status: Status, config: &ClientConfig, step: &mut ClientStep<'_>) {
        if let (Self::Eureka(client), ClientConfig::Eureka(config)) = (self, config) {
            client.on_status(status, config, step);
        }
    }

    /// A health check finds the application so, if its registry asks one.
    pub fn on_health(&mut self, status: Status, config: &ClientConfig, step: &mut ClientStep<'_>) {
        if let (Self::Eureka(client), ClientConfig::Eureka(config)) = (self, config) {
            client.on_health(status, config, step);
        }
    }

    /// A timer is due. A stale one is dropped.
    #[inline]
    pub fn on_timer(
        &mut self,
        config: &ClientConfig,
        timer: ClientTimer,
        generation: u16,
        step: &mut ClientStep<'_>,
    ) {
        either!(self, config, client, config => client.on_timer(config, timer, generation, step));
    }

    /// A call was answered. An answer that nobody waits for is dropped.
    #[inline]
    pub fn on_reply(&mut self, config: &ClientConfig, call: Call, reply: Reply, step: &mut ClientStep<'_>) {
        either!(self, config, client, config => client.on_reply(config, call, reply, step));
    }

    /// A call ended without an answer.
    pub fn on_failure(
        &mut self,
        config: &ClientConfig,
        call: Call,
        failure: Failure,
        step: &mut ClientStep<'_>,
    ) {
        either!(self, config, client, config => client.on_failure(config, call, failure, step));
    }

    /// A call will not be answered soon, or ever.
    pub fn on_stall(&mut self, config: &ClientConfig, call: Call, step: &mut ClientStep<'_>) {
        if let (Self::Eureka(client), ClientConfig::Eureka(config)) = (self, config) {
            client.on_stall(config, call, step);
        }
    }

    /// A push came.
    pub fn on_push(
        &mut self,
        config: &ClientConfig,
        (app, payload): (AppId, Payload),
        push: PushId,
        step: &mut ClientStep<'_>,
    ) {
        match (self, config) {
            (Self::TwoStage(client), ClientConfig::TwoStage(config)) => {
                client.on_push(config, app, payload, push, step);
            }
            _ => unreachable!("only the two-stage registry pushes"),
        }
    }

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock.
    pub fn on_resume(&mut self, config: &ClientConfig, paused_since: SimTime, step: &mut ClientStep<'_>) {
        either!(self, config, client, config => client.on_resume(config, paused_since, step));
    }

    /// The process is gone at `now` on its monotonic clock, without a word.
    pub fn on_crash(&mut self, config: &ClientConfig, now: SimTime) {
        match (self, config) {
            (Self::Eureka(client), _) => client.on_crash(),
            (Self::TwoStage(client), ClientConfig::TwoStage(config)) => client.on_crash(config, now),
            (Self::TwoStage(_), ClientConfig::Eureka(_)) => {
                unreachable!("a client has the settings of its own registry")
            }
        }
    }

    /// From now on its host's disk is full, or has room again.
    pub fn set_disk_full(&mut self, full: bool) {
        if let Self::TwoStage(client) = self {
            client.set_disk_full(full);
        }
    }

    /// Whether the outcome of `call` would find somebody.
    pub fn awaits(&self, call: Call) -> bool {
        either!(self, client => client.awaits(call))
    }

    /// The status of its own record, as it would be shown.
    pub fn status(&self) -> Status {
        match self {
            Self::Eureka(client) => client.status(),
            Self::TwoStage(_) => Status::Up,
        }
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
        match self {
            Self::Eureka(client) => client.has_started(),
            Self::TwoStage(client) => client.is_running(),
        }
    }

    /// Its local registry.
    #[inline]
    pub fn view(&self) -> View {
        either!(self, client => client.view())
    }

    /// The list that its callers pick from.
    #[inline]
    pub fn balancer_view(&self) -> View {
        match self {
            Self::Eureka(client) => client.balancer_view(),
            Self::TwoStage(client) => client.view(),
        }
    }

    /// Every view that it holds, or may come to hold again.
    pub fn views(&self) -> [View; 3] {
        match self {
            Self::Eureka(client) => [client.view(), client.balancer_view(), View::EMPTY],
            Self::TwoStage(client) => {
                let [file, before] = client.views_on_disk();
                [client.view(), file, before]
            }
        }
    }

    /// Whether it calls others: once it has started, and has a list to pick from.
    pub fn makes_calls(&self, config: &ClientConfig) -> bool {
        match (self, config) {
            (Self::Eureka(client), ClientConfig::Eureka(config)) => client.makes_calls(config),
            (Self::TwoStage(client), _) => client.is_running(),
            (Self::Eureka(_), ClientConfig::TwoStage(_)) => {
                unreachable!("a client has the settings of its own registry")
            }
        }
    }
}
