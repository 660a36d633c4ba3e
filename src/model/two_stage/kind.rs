//! The two-stage registry as a registry among others: what it answers to those who do not ask which one it is.

use std::sync::Arc;

use super::{ClientConfig, Discovery, ResumeOrder, Saved, ServerConfig, TwoStageClient, TwoStageServer};
use crate::engine::{SimDuration, SimTime};
use crate::model::effect::{
    Call, ClientEffect, ClientTimer, PushId, ServerEffect, ServiceTimer, Silence, Ticket,
};
use crate::model::eureka::OwnRegistry;
use crate::model::eureka::client::ServerUrls;
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::{Failure, Reply, Request, RequestKind};
use crate::model::registry::{ClientMachine, ClientSettings, Kind, Registry, ServerMachine, ServerSettings};
use crate::model::stage::Stage;
use crate::model::step::Step;
use crate::model::view::{LifeId, Payload, View};

type ClientStep<'a> = Step<'a, ClientEffect>;
type ServerStep<'a> = Step<'a, ServerEffect>;

/// The registry, whatever its preset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoStage;

impl Registry for TwoStage {
    const KIND: Kind = Kind::TwoStage;
    const STAGES: &'static [Stage] = &[Stage::Registry, Stage::Served, Stage::Client, Stage::Entry];
    const WAY: &'static [Stage] = &[Stage::Registry, Stage::Served, Stage::Client];
    const REQUESTS: &'static [RequestKind] = &[
        RequestKind::Register,
        RequestKind::Renew,
        RequestKind::Cancel,
        RequestKind::FetchFull,
        RequestKind::FetchService,
        RequestKind::Watch,
    ];

    type ServerConfig = ServerConfig;
    type ClientConfig = ClientConfig;
    type OwnClient = ();
    type Server = TwoStageServer;
    type Client = TwoStageClient;

    fn own_client((): &()) -> Option<&ClientConfig> {
        None
    }

    fn beats_in_time(server: &ServerConfig, client: &ClientConfig) -> bool {
        let first = client.first_heartbeat_delay_ms.max(client.heartbeat_interval_ms);
        server.register_stamps_heartbeat && server.soft_timeout_ms > first && server.worker_threads.is_none()
    }

    fn leaves_for_good(server: &ServerConfig, client: &ClientConfig) -> bool {
        let forgets_its_timer = client.registers && !client.stop_heartbeat_before_deregister;
        let is_pushed_again = client.fetches
            && client.discovery == Discovery::PushPlusPoll
            && server.push_loss > 0.0
            && server.push_max_resend > 0;
        !forgets_its_timer && !is_pushed_again
    }
}

impl ServerSettings for ServerConfig {
    fn sweeps_first_after_pause(&self) -> bool {
        self.resume_order == ResumeOrder::SweepFirst
    }

    fn datagram_loss(&self) -> f64 {
        self.push_loss
    }
}

impl ClientSettings for ClientConfig {
    fn registers(&self) -> bool {
        self.registers
    }

    fn fetches(&self) -> bool {
        self.fetches
    }

    fn heartbeat_interval(&self) -> SimDuration {
        ms(self.heartbeat_interval_ms)
    }

    fn fetch_interval(&self) -> SimDuration {
        ms(match self.discovery {
            Discovery::LongPoll => self.watch_timeout_ms,
            Discovery::Poll | Discovery::PushPlusPoll => self.poll_interval_ms,
        })
    }

    /// A long poll or a push is answered at once.
    fn notices_every(&self) -> SimDuration {
        match self.discovery {
            Discovery::Poll => self.fetch_interval(),
            Discovery::LongPoll | Discovery::PushPlusPoll => ms(1),
        }
    }

    fn read_limit(&self, request: &Request) -> SimDuration {
        let held_ms = if let Request::Watch { timeout_ms, .. } = *request { timeout_ms } else { 0 };
        SimDuration::from_millis(u64::from(self.request_timeout_ms) + u64::from(held_ms))
    }

    fn gives_up_after(&self, _: Call, request: &Request, _: Silence) -> (SimDuration, Failure) {
        (self.read_limit(request), Failure::ReadTimeout)
    }

    fn stall_after(&self) -> SimDuration {
        ms(self.request_timeout_ms)
    }

    fn services(&self) -> Option<&[AppId]> {
        (self.discovery != Discovery::Poll).then_some(&*self.services)
    }
}

/// A server has no peers.
impl ServerMachine for TwoStageServer {
    type Config = ServerConfig;
    type Saved = Saved;

    fn start(
        config: &ServerConfig,
        generation: u16,
        saved: Option<Saved>,
        _: &[ServerId],
        _: OwnRegistry<'_>,
        step: &mut ServerStep<'_>,
    ) -> Self {
        Self::start(Arc::new(config.clone()), generation as u8, saved, step)
    }

    #[inline]
    fn on_request(
        &mut self,
        request: &Request,
        ticket: Option<Ticket>,
        step: &mut ServerStep<'_>,
    ) -> Option<Reply> {
        self.on_request(request, ticket, step)
    }

    fn on_service_timer(
        &mut self,
        timer: ServiceTimer,
        number: u32,
        generation: u8,
        step: &mut ServerStep<'_>,
    ) {
        self.on_timer(timer, number, generation, step);
    }

    fn on_acknowledged(&mut self, from: ClientId, push: PushId) {
        self.on_acknowledged(from, push);
    }

    fn on_resume(&mut self, paused_since: SimTime, step: &mut ServerStep<'_>) {
        self.on_resume(paused_since, step);
    }

    #[inline]
    fn life(&self) -> LifeId {
        self.life()
    }

    fn registered(&self) -> u32 {
        self.registered()
    }

    fn is_protecting(&self) -> bool {
        self.guard_is_shut()
    }

    fn has(&self, instance: InstanceId) -> bool {
        self.has(instance)
    }

    fn held(&self) -> Vec<Ticket> {
        self.held()
    }

    fn next_generation(&self, generation: u16) -> u16 {
        generation.wrapping_add(1)
    }

    fn into_saved(self) -> Option<Saved> {
        self.into_saved()
    }
}

impl ClientMachine for TwoStageClient {
    type Config = ClientConfig;

    fn new(id: ClientId, app: AppId, instance: InstanceId, servers: ServerUrls<'_>) -> Self {
        let server = servers.own_zone.iter().chain(servers.other_zones).next();
        Self::new(app, instance, *server.expect("there is a registry"), id)
    }

    fn set_identity(&mut self, instance: InstanceId) {
        self.set_identity(instance);
    }

    fn on_start(&mut self, config: &ClientConfig, step: &mut ClientStep<'_>) {
        self.on_start(config, step);
    }

    fn on_stop(&mut self, config: &ClientConfig, step: &mut ClientStep<'_>) {
        self.on_stop(config, step);
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

    fn on_push(
        &mut self,
        config: &ClientConfig,
        (app, payload): (AppId, Payload),
        push: PushId,
        step: &mut ClientStep<'_>,
    ) {
        self.on_push(config, app, payload, push, step);
    }

    fn on_crash(&mut self, config: &ClientConfig, now: SimTime) {
        self.on_crash(config, now);
    }

    fn set_disk_full(&mut self, full: bool) {
        self.set_disk_full(full);
    }

    fn awaits(&self, call: Call) -> bool {
        self.awaits(call)
    }

    fn is_registered(&self) -> bool {
        self.is_registered()
    }

    fn is_running(&self) -> bool {
        self.is_running()
    }

    #[inline]
    fn view(&self) -> View {
        self.view()
    }

    fn views(&self) -> [View; 3] {
        let [file, before] = self.views_on_disk();
        [self.view(), file, before]
    }
}

fn ms(ms: u32) -> SimDuration {
    SimDuration::from_millis(u64::from(ms))
}
