//! Eureka as a registry among others: what it answers to those who do not ask which one it is.

use std::convert::Infallible;
use std::sync::Arc;

use super::client::{BalancerConfig, Client, ClientConfig, ServerUrls};
use super::{BatchId, BatchOutcome, EurekaServer, OwnRegistry, ServerConfig, ServerStep, ServerTimer};
use crate::engine::{SimDuration, SimTime};
use crate::model::clock::WallMs;
use crate::model::effect::{Call, ClientEffect, ClientTimer, Silence, Ticket};
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::{Failure, ItemReply, Record, Replicated, Reply, Request, RequestKind, Status};
use crate::model::registry::{
    ClientMachine, ClientSettings, Kind, MinuteFigures, Registry, ServerMachine, ServerSettings,
};
use crate::model::stage::Stage;
use crate::model::step::Step;
use crate::model::view::{LifeId, View};

type ClientStep<'a> = Step<'a, ClientEffect>;

/// The registry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eureka;

impl Registry for Eureka {
    const KIND: Kind = Kind::Eureka;
    const STAGES: &'static [Stage] = &Stage::WAY;
    const WAY: &'static [Stage] = &Stage::WAY;
    const REQUESTS: &'static [RequestKind] = &[
        RequestKind::Register,
        RequestKind::Renew,
        RequestKind::Cancel,
        RequestKind::FetchFull,
        RequestKind::FetchDelta,
        RequestKind::Status,
        RequestKind::Replicate,
    ];

    type ServerConfig = ServerConfig;
    type ClientConfig = ClientConfig;
    type OwnClient = ClientConfig;
    type Server = EurekaServer;
    type Client = Client;

    fn own_client(config: &ClientConfig) -> Option<&ClientConfig> {
        Some(config)
    }

    fn beats_in_time(_: &ServerConfig, client: &ClientConfig) -> bool {
        client.lease_expiration_duration_in_seconds > client.lease_renewal_interval_in_seconds
    }
}

impl ServerSettings for ServerConfig {
    fn serves_after(&self) -> SimDuration {
        self.serves_after()
    }

    fn has_own_client(&self) -> bool {
        self.register_with_eureka || self.fetch_registry
    }

    fn own_client_fetches(&self) -> bool {
        self.fetch_registry
    }

    fn answers_backlog(&self) -> bool {
        self.process_backlog_after_pause
    }

    fn peer_limits(&self) -> (SimDuration, SimDuration) {
        let ms = |ms: u32| SimDuration::from_millis(u64::from(ms));
        (ms(self.peer_node_connect_timeout_ms), ms(self.peer_node_read_timeout_ms))
    }
}

impl ClientSettings for ClientConfig {
    fn registers(&self) -> bool {
        self.register_with_eureka
    }

    fn is_shown_at_first(&self) -> bool {
        self.register_with_eureka && self.initial_status == Some(Status::Up)
    }

    fn fetches(&self) -> bool {
        self.fetch_registry
    }

    fn heartbeat_interval(&self) -> SimDuration {
        SimDuration::from_secs(u64::from(self.lease_renewal_interval_in_seconds))
    }

    fn fetch_interval(&self) -> SimDuration {
        SimDuration::from_secs(u64::from(self.registry_fetch_interval_seconds))
    }

    fn read_limit(&self, _: &Request) -> SimDuration {
        self.transport.read_limit()
    }

    fn gives_up_after(&self, call: Call, _: &Request, silence: Silence) -> (SimDuration, Failure) {
        self.transport.call_gives_up_after(call, silence)
    }

    fn stall_after(&self) -> SimDuration {
        Client::stall_after(self).min(self.transport.read_limit())
    }

    fn balancer(&self) -> BalancerConfig {
        self.balancer
    }

    fn pools_connections(&self) -> bool {
        self.transport.pooled
    }
}

/// A server leaves nothing on disk.
impl ServerMachine for EurekaServer {
    type Config = ServerConfig;
    type Saved = Infallible;

    fn start(
        config: &ServerConfig,
        generation: u16,
        _: Option<Infallible>,
        peers: &[ServerId],
        own: OwnRegistry<'_>,
        step: &mut ServerStep<'_>,
    ) -> Self {
        Self::start(Arc::new(config.clone()), generation, peers, own, step)
    }

    #[inline]
    fn on_request(
        &mut self,
        request: &Request,
        _: Option<Ticket>,
        step: &mut ServerStep<'_>,
    ) -> Option<Reply> {
        Some(self.on_request(request, step))
    }

    fn on_timer(
        &mut self,
        timer: ServerTimer,
        generation: u16,
        own: OwnRegistry<'_>,
        step: &mut ServerStep<'_>,
    ) {
        self.on_timer(timer, generation, own, step);
    }

    fn on_peer_timer(&mut self, peer: ServerId, generation: u16, step: &mut ServerStep<'_>) {
        self.on_peer_timer(peer, generation, step);
    }

    fn on_batch(&mut self, items: &[Replicated], step: &mut ServerStep<'_>) -> Vec<ItemReply> {
        self.on_batch(items, step)
    }

    fn on_batch_outcome(
        &mut self,
        peer: ServerId,
        batch: BatchId,
        outcome: BatchOutcome<'_>,
        step: &mut ServerStep<'_>,
    ) {
        self.on_batch_outcome(peer, batch, outcome, step);
    }

    fn on_clock_step(&mut self, step: &mut ServerStep<'_>) {
        self.on_clock_step(step);
    }

    fn set_config(&mut self, config: &ServerConfig) {
        self.set_config(Arc::new(config.clone()));
    }

    #[inline]
    fn is_serving(&self) -> bool {
        self.is_serving()
    }

    #[inline]
    fn life(&self) -> LifeId {
        self.life()
    }

    fn registered(&self) -> u32 {
        self.registered()
    }

    fn is_protecting(&self) -> bool {
        self.self_preservation_engaged()
    }

    fn has(&self, instance: InstanceId) -> bool {
        self.lease(instance).is_some()
    }

    fn finds(&self, instance: InstanceId, wall: WallMs) -> bool {
        self.finds(instance, wall)
    }

    fn overrides(&self, instance: InstanceId) -> bool {
        self.lease(instance).is_some_and(|lease| lease.record.overridden != Status::Unknown)
    }

    fn record_shown_as(&self, instance: InstanceId, status: Status) -> Option<Record> {
        self.record_shown_as(instance, status)
    }

    fn minute_figures(&self, wall: WallMs) -> Option<MinuteFigures> {
        Some(MinuteFigures {
            registered: self.registered(),
            expired: self.expired(wall),
            threshold: self.threshold(),
            expected: self.expected(),
            self_preservation: self.self_preservation_engaged(),
        })
    }

    fn next_generation(&self, _: u16) -> u16 {
        self.next_generation()
    }
}

impl ClientMachine for Client {
    type Config = ClientConfig;

    fn new(_: ClientId, app: AppId, instance: InstanceId, servers: ServerUrls<'_>) -> Self {
        Self::new(app, instance, servers)
    }

    fn set_identity(&mut self, instance: InstanceId) {
        self.set_identity(instance);
    }

    fn set_first_call(&mut self, first_call: SimDuration) {
        self.set_first_call(first_call);
    }

    fn on_start(&mut self, config: &ClientConfig, step: &mut ClientStep<'_>) {
        self.on_start(config, step);
    }

    fn on_stop(&mut self, config: &ClientConfig, step: &mut ClientStep<'_>) {
        self.on_stop(config, step);
    }

    fn on_status(&mut self, status: Status, config: &ClientConfig, step: &mut ClientStep<'_>) {
        self.on_status(status, config, step);
    }

    fn on_health(&mut self, status: Status, config: &ClientConfig, step: &mut ClientStep<'_>) {
        self.on_health(status, config, step);
    }

    #[inline]
    fn on_timer(
        &mut self,
        config: &ClientConfig,
        timer: ClientTimer,
        generation: u16,
        step: &mut ClientStep<'_>,
    ) {
        self.on_timer(config, timer, generation, step);
    }

    #[inline]
    fn on_reply(&mut self, config: &ClientConfig, call: Call, reply: Reply, step: &mut ClientStep<'_>) {
        self.on_reply(config, call, reply, step);
    }

    fn on_failure(&mut self, config: &ClientConfig, call: Call, failure: Failure, step: &mut ClientStep<'_>) {
        self.on_failure(config, call, failure, step);
    }

    fn on_stall(&mut self, config: &ClientConfig, call: Call, step: &mut ClientStep<'_>) {
        self.on_stall(config, call, step);
    }

    fn on_resume(&mut self, config: &ClientConfig, paused_since: SimTime, step: &mut ClientStep<'_>) {
        self.on_resume(config, paused_since, step);
    }

    fn on_crash(&mut self, _: &ClientConfig, _: SimTime) {
        self.on_crash();
    }

    fn awaits(&self, call: Call) -> bool {
        self.awaits(call)
    }

    fn status(&self) -> Status {
        self.status()
    }

    fn is_registered(&self) -> bool {
        self.is_registered()
    }

    fn is_running(&self) -> bool {
        self.is_running()
    }

    fn has_started(&self) -> bool {
        self.has_started()
    }

    #[inline]
    fn view(&self) -> View {
        self.view()
    }

    #[inline]
    fn balancer_view(&self) -> View {
        self.balancer_view()
    }

    fn views(&self) -> [View; 3] {
        [self.view(), self.balancer_view(), View::EMPTY]
    }

    fn makes_calls(&self, config: &ClientConfig) -> bool {
        self.makes_calls(config)
    }
}
