//! One life of a server of either registry.

use std::sync::Arc;

use super::config::ServerConfig;
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
#[derive(Clone)]
pub enum Server {
    /// Of Eureka.
    Eureka(Box<EurekaServer>),
    /// Of the two-stage registry.
    TwoStage(Box<TwoStageServer>),
}

/// What a server's minute is made of, besides what the recorder knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinuteFigures {
    /// Leases in the registry.
    pub registered: u32,
    /// Of these, leases that are expired (without compensation).
    pub expired: u32,
    /// `numberOfRenewsPerMinThreshold`.
    pub threshold: u32,
    /// `expectedNumberOfClientsSendingRenews`.
    pub expected: u32,
    /// Whether self-preservation keeps it from evicting.
    pub self_preservation: bool,
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
                let config = Arc::new(config.clone());
                Self::Eureka(Box::new(EurekaServer::start(config, generation, peers, own, step)))
            }
            ServerConfig::TwoStage(config) => {
                let config = Arc::new(config.clone());
                Self::TwoStage(Box::new(TwoStageServer::start(config, generation as u8, saved, step)))
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
        match self {
            Self::Eureka(server) => Some(server.on_request(request, step)),
            Self::TwoStage(server) => server.on_request(request, ticket, step),
        }
    }

    /// A timer of Eureka's is due.
    pub fn on_timer(
        &mut self,
        timer: ServerTimer,
        generation: u16,
        own: OwnRegistry<'_>,
        step: &mut ServerStep<'_>,
    ) {
        match self {
            Self::Eureka(server) => server.on_timer(timer, generation, own, step),
            Self::TwoStage(_) => unreachable!("it sets none of these"),
        }
    }

    /// A timer of a registry that has several of each kind is due.
    pub fn on_service_timer(
        &mut self,
        timer: ServiceTimer,
        number: u32,
        generation: u8,
        step: &mut ServerStep<'_>,
    ) {
        match self {
            Self::TwoStage(server) => server.on_timer(timer, number, generation, step),
            Self::Eureka(_) => unreachable!("it sets none of these"),
        }
    }

    /// A peer's queue is to be looked at.
    pub fn on_peer_timer(&mut self, peer: ServerId, generation: u16, step: &mut ServerStep<'_>) {
        self.replicating().on_peer_timer(peer, generation, step);
    }

    /// A peer's batch came.
    pub fn on_batch(&mut self, items: &[Replicated], step: &mut ServerStep<'_>) -> Vec<ItemReply> {
        self.replicating().on_batch(items, step)
    }

    /// A batch to a peer has ended.
    pub fn on_batch_outcome(
        &mut self,
        peer: ServerId,
        batch: BatchId,
        outcome: BatchOutcome<'_>,
        step: &mut ServerStep<'_>,
    ) {
        self.replicating().on_batch_outcome(peer, batch, outcome, step);
    }

    fn replicating(&mut self) -> &mut EurekaServer {
        match self {
            Self::Eureka(server) => server,
            Self::TwoStage(_) => unreachable!("it has no peers"),
        }
    }

    /// A client acknowledges a push.
    pub fn on_acknowledged(&mut self, from: ClientId, push: PushId) {
        match self {
            Self::TwoStage(server) => server.on_acknowledged(from, push),
            Self::Eureka(_) => unreachable!("it pushes nothing"),
        }
    }

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock. To be told before what
    /// waited meanwhile.
    pub fn on_resume(&mut self, paused_since: SimTime, step: &mut ServerStep<'_>) {
        match self {
            Self::Eureka(_) => {}
            Self::TwoStage(server) => server.on_resume(paused_since, step),
        }
    }

    /// The wall clock was set.
    pub fn on_clock_step(&mut self, step: &mut ServerStep<'_>) {
        match self {
            Self::Eureka(server) => server.on_clock_step(step),
            Self::TwoStage(_) => {}
        }
    }

    /// Settings that it reads anew each time have changed.
    pub fn set_config(&mut self, config: &ServerConfig) {
        match (self, config) {
            (Self::Eureka(server), ServerConfig::Eureka(config)) => {
                server.set_config(Arc::new(config.clone()))
            }
            _ => unreachable!("only Eureka reads settings anew"),
        }
    }

    /// Whether fetches are answered.
    #[inline]
    pub fn is_serving(&self) -> bool {
        match self {
            Self::Eureka(server) => server.is_serving(),
            Self::TwoStage(_) => true,
        }
    }

    /// The log of this life.
    #[inline]
    pub fn life(&self) -> LifeId {
        match self {
            Self::Eureka(server) => server.life(),
            Self::TwoStage(server) => server.life(),
        }
    }

    /// How many instances it knows, be they shown or not.
    pub fn registered(&self) -> u32 {
        match self {
            Self::Eureka(server) => server.registered(),
            Self::TwoStage(server) => server.registered(),
        }
    }

    /// Whether something keeps it from evicting: self-preservation, or the guard of some service.
    pub fn is_protecting(&self) -> bool {
        match self {
            Self::Eureka(server) => server.self_preservation_engaged(),
            Self::TwoStage(server) => server.guard_is_shut(),
        }
    }

    /// Whether it knows the instance, be it shown or not.
    pub fn has(&self, instance: InstanceId) -> bool {
        match self {
            Self::Eureka(server) => server.lease(instance).is_some(),
            Self::TwoStage(server) => server.has(instance),
        }
    }

    /// Whether it would not answer 404 to a request about the instance.
    pub fn finds(&self, instance: InstanceId, wall: WallMs) -> bool {
        match self {
            Self::Eureka(server) => server.finds(instance, wall),
            Self::TwoStage(server) => server.has(instance),
        }
    }

    /// Whether an operator has overridden the instance's status.
    pub fn overrides(&self, instance: InstanceId) -> bool {
        match self {
            Self::Eureka(server) => {
                server.lease(instance).is_some_and(|lease| lease.record.overridden != Status::Unknown)
            }
            Self::TwoStage(_) => false,
        }
    }

    /// The record that it shows, or showed, with this status.
    pub fn record_shown_as(&self, instance: InstanceId, status: Status) -> Option<Record> {
        match self {
            Self::Eureka(server) => server.record_shown_as(instance, status),
            Self::TwoStage(_) => None,
        }
    }

    /// Requests that wait for their answers, in the order in which they came.
    pub fn held(&self) -> Vec<Ticket> {
        match self {
            Self::Eureka(_) => Vec::new(),
            Self::TwoStage(server) => server.held(),
        }
    }

    /// What it counts by the minute, for a row of the timeline.
    pub fn minute_figures(&self, wall: WallMs) -> Option<MinuteFigures> {
        match self {
            Self::Eureka(server) => Some(MinuteFigures {
                registered: server.registered(),
                expired: server.expired(wall),
                threshold: server.threshold(),
                expected: server.expected(),
                self_preservation: server.self_preservation_engaged(),
            }),
            Self::TwoStage(_) => None,
        }
    }

    /// With which generation of timers the next life begins, if this one began with `generation`.
    pub fn next_generation(&self, generation: u16) -> u16 {
        match self {
            Self::Eureka(server) => server.next_generation(),
            Self::TwoStage(_) => generation.wrapping_add(1),
        }
    }

    /// The life is over: what it leaves on disk.
    pub fn into_saved(self) -> Option<Saved> {
        match self {
            Self::Eureka(_) => None,
            Self::TwoStage(server) => server.into_saved(),
        }
    }
}
