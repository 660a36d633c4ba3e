//! A server of whichever registry, for whoever is not written over [`Registry`](super::Registry) yet.

use super::config::ServerConfig;
use super::{MinuteFigures, ServerMachine};
use crate::engine::SimTime;
use crate::model::clock::WallMs;
use crate::model::effect::{PushId, ServerEffect, ServiceTimer, Ticket};
use crate::model::eureka::{BatchId, BatchOutcome, EurekaServer, OwnRegistry, ServerTimer};
use crate::model::id::{ClientId, InstanceId, ServerId};
use crate::model::message::{ItemReply, Record, Replicated, Reply, Request, Status};
use crate::model::step::Step;
use crate::model::two_stage::{self, TwoStageServer};
use crate::model::view::LifeId;

/// What a server leaves on disk for its next life.
pub type Saved = two_stage::Saved;

type ServerStep<'a> = Step<'a, ServerEffect>;

/// A server that has booted.
pub enum Server {
    /// Of Eureka.
    Eureka(Box<EurekaServer>),
    /// Of the two-stage registry.
    TwoStage(Box<TwoStageServer>),
}

/// The same of either.
macro_rules! either {
    ($it:expr, $server:ident => $call:expr) => {
        match $it {
            Self::Eureka($server) => $call,
            Self::TwoStage($server) => $call,
        }
    };
}

impl Server {
    /// A life begins. `generation` is [`Self::next_generation`] of the life before, 0 at first; `saved` is what that
    /// left on disk.
    pub fn start(
        config: &ServerConfig,
        generation: u16,
        saved: Option<Saved>,
        peers: &[ServerId],
        own: OwnRegistry<'_>,
        step: &mut ServerStep<'_>,
    ) -> Self {
        match config {
            ServerConfig::Eureka(config) => {
                let server = ServerMachine::start(config, generation, None, peers, own, step);
                Self::Eureka(Box::new(server))
            }
            ServerConfig::TwoStage(config) => {
                let server = ServerMachine::start(config, generation, saved, peers, own, step);
                Self::TwoStage(Box::new(server))
            }
        }
    }

    /// The Eureka server that it is.
    #[cfg(test)]
    pub fn eureka(&self) -> &EurekaServer {
        match self {
            Self::Eureka(server) => server,
            Self::TwoStage(_) => panic!("not Eureka"),
        }
    }

    /// Takes up a request. `None`: it will be answered by [`ServerEffect::Answer`]. Requests without a ticket are an
    /// operator's, and answered at once.
    #[inline]
    pub fn on_request(
        &mut self,
        request: &Request,
        ticket: Option<Ticket>,
        step: &mut ServerStep<'_>,
    ) -> Option<Reply> {
        either!(self, server => ServerMachine::on_request(&mut **server, request, ticket, step))
    }

    /// A timer of Eureka's is due.
    pub fn on_timer(
        &mut self,
        timer: ServerTimer,
        generation: u16,
        own: OwnRegistry<'_>,
        step: &mut ServerStep<'_>,
    ) {
        either!(self, server => ServerMachine::on_timer(&mut **server, timer, generation, own, step));
    }

    /// A timer of a registry that has several of each kind is due.
    pub fn on_service_timer(
        &mut self,
        timer: ServiceTimer,
        number: u32,
        generation: u8,
        step: &mut ServerStep<'_>,
    ) {
        either!(self, server => ServerMachine::on_service_timer(&mut **server, timer, number, generation, step));
    }

    /// A peer's queue is to be looked at.
    pub fn on_peer_timer(&mut self, peer: ServerId, generation: u16, step: &mut ServerStep<'_>) {
        either!(self, server => ServerMachine::on_peer_timer(&mut **server, peer, generation, step));
    }

    /// A peer's batch came.
    pub fn on_batch(&mut self, items: &[Replicated], step: &mut ServerStep<'_>) -> Vec<ItemReply> {
        either!(self, server => ServerMachine::on_batch(&mut **server, items, step))
    }

    /// A batch to a peer has ended.
    pub fn on_batch_outcome(
        &mut self,
        peer: ServerId,
        batch: BatchId,
        outcome: BatchOutcome<'_>,
        step: &mut ServerStep<'_>,
    ) {
        either!(self, server => ServerMachine::on_batch_outcome(&mut **server, peer, batch, outcome, step));
    }

    /// A client acknowledges a push.
    pub fn on_acknowledged(&mut self, from: ClientId, push: PushId) {
        either!(self, server => ServerMachine::on_acknowledged(&mut **server, from, push));
    }

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock. To be told before what
    /// waited meanwhile.
    pub fn on_resume(&mut self, paused_since: SimTime, step: &mut ServerStep<'_>) {
        either!(self, server => ServerMachine::on_resume(&mut **server, paused_since, step));
    }

    /// The wall clock was set.
    pub fn on_clock_step(&mut self, step: &mut ServerStep<'_>) {
        either!(self, server => ServerMachine::on_clock_step(&mut **server, step));
    }

    /// Settings that it reads anew each time have changed.
    pub fn set_config(&mut self, config: &ServerConfig) {
        match (self, config) {
            (Self::Eureka(server), ServerConfig::Eureka(config)) => {
                ServerMachine::set_config(&mut **server, config);
            }
            (Self::TwoStage(server), ServerConfig::TwoStage(config)) => {
                ServerMachine::set_config(&mut **server, config);
            }
            _ => unreachable!("a server has the settings of its own registry"),
        }
    }

    /// Whether fetches are answered.
    #[inline]
    pub fn is_serving(&self) -> bool {
        either!(self, server => ServerMachine::is_serving(&**server))
    }

    /// The log of this life.
    #[inline]
    pub fn life(&self) -> LifeId {
        either!(self, server => ServerMachine::life(&**server))
    }

    /// How many instances it knows, be they shown or not.
    pub fn registered(&self) -> u32 {
        either!(self, server => ServerMachine::registered(&**server))
    }

    /// Whether something keeps it from evicting: self-preservation, or the guard of some service.
    pub fn is_protecting(&self) -> bool {
        either!(self, server => ServerMachine::is_protecting(&**server))
    }

    /// Whether it knows the instance, be it shown or not.
    pub fn has(&self, instance: InstanceId) -> bool {
        either!(self, server => ServerMachine::has(&**server, instance))
    }

    /// Whether it would not answer 404 to a request about the instance.
    pub fn finds(&self, instance: InstanceId, wall: WallMs) -> bool {
        either!(self, server => ServerMachine::finds(&**server, instance, wall))
    }

    /// Whether an operator has overridden the instance's status.
    pub fn overrides(&self, instance: InstanceId) -> bool {
        either!(self, server => ServerMachine::overrides(&**server, instance))
    }

    /// The record that it shows, or showed, with this status.
    pub fn record_shown_as(&self, instance: InstanceId, status: Status) -> Option<Record> {
        either!(self, server => ServerMachine::record_shown_as(&**server, instance, status))
    }

    /// Requests that wait for their answers, in the order in which they came.
    pub fn held(&self) -> Vec<Ticket> {
        either!(self, server => ServerMachine::held(&**server))
    }

    /// What it counts by the minute, for a row of the timeline.
    pub fn minute_figures(&self, wall: WallMs) -> Option<MinuteFigures> {
        either!(self, server => ServerMachine::minute_figures(&**server, wall))
    }

    /// With which generation of timers the next life begins, if this one began with `generation`.
    pub fn next_generation(&self, generation: u16) -> u16 {
        either!(self, server => ServerMachine::next_generation(&**server, generation))
    }

    /// The life is over: what it leaves on disk.
    pub fn into_saved(self) -> Option<Saved> {
        match self {
            Self::Eureka(_) => None,
            Self::TwoStage(server) => (*server).into_saved(),
        }
    }
}
