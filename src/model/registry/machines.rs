//! The servers and the clients of a registry as whoever drives them sees them: state machines that are told what
//! happened and answer with effects.

use crate::engine::{SimDuration, SimTime};
use crate::model::clock::WallMs;
use crate::model::effect::{Call, ClientEffect, ClientTimer, PushId, ServerEffect, ServiceTimer, Ticket};
use crate::model::eureka::client::ServerUrls;
use crate::model::eureka::{BatchId, BatchOutcome, OwnRegistry, ServerTimer};
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::{Failure, ItemReply, Record, Replicated, Reply, Request, Status};
use crate::model::step::Step;
use crate::model::view::{LifeId, Payload, View};

type ClientStep<'a> = Step<'a, ClientEffect>;
type ServerStep<'a> = Step<'a, ServerEffect>;

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

/// One life of a server, from its boot on. What it is not told of cannot happen to it.
pub trait ServerMachine: Sized {
    /// Its settings.
    type Config;
    /// What it leaves on disk for its next life.
    type Saved;

    /// A life begins. `generation` is [`Self::next_generation`] of the life before, 0 at first; `saved` is what that
    /// left on disk.
    fn start(
        config: &Self::Config,
        generation: u16,
        saved: Option<Self::Saved>,
        peers: &[ServerId],
        own: OwnRegistry<'_>,
        step: &mut ServerStep<'_>,
    ) -> Self;

    /// Takes up a request. `None`: it will be answered by [`ServerEffect::Answer`]. Requests without a ticket are an
    /// operator's, and answered at once.
    fn on_request(
        &mut self,
        request: &Request,
        ticket: Option<Ticket>,
        step: &mut ServerStep<'_>,
    ) -> Option<Reply>;

    /// A timer of a registry that has one of each kind is due.
    fn on_timer(&mut self, _: ServerTimer, _generation: u16, _: OwnRegistry<'_>, _: &mut ServerStep<'_>) {}

    /// A timer of a registry that has several of each kind is due.
    fn on_service_timer(&mut self, _: ServiceTimer, _number: u32, _generation: u8, _: &mut ServerStep<'_>) {}

    /// A peer's queue is to be looked at.
    fn on_peer_timer(&mut self, _: ServerId, _generation: u16, _: &mut ServerStep<'_>) {}

    /// A peer's batch came.
    fn on_batch(&mut self, _: &[Replicated], _: &mut ServerStep<'_>) -> Vec<ItemReply> {
        Vec::new()
    }

    /// A batch to a peer has ended.
    fn on_batch_outcome(&mut self, _: ServerId, _: BatchId, _: BatchOutcome<'_>, _: &mut ServerStep<'_>) {}

    /// A client acknowledges a push.
    fn on_acknowledged(&mut self, _from: ClientId, _: PushId) {}

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock. To be told before what
    /// waited meanwhile.
    fn on_resume(&mut self, _paused_since: SimTime, _: &mut ServerStep<'_>) {}

    /// The wall clock was set.
    fn on_clock_step(&mut self, _: &mut ServerStep<'_>) {}

    /// Settings that it reads anew each time have changed.
    fn set_config(&mut self, _: &Self::Config) {}

    /// Whether fetches are answered.
    fn is_serving(&self) -> bool {
        true
    }

    /// The log of this life.
    fn life(&self) -> LifeId;

    /// How many instances it knows, be they shown or not.
    fn registered(&self) -> u32;

    /// Whether something keeps it from removing who is silent: self-preservation, or the guard of some service.
    fn is_protecting(&self) -> bool;

    /// Whether it knows the instance, be it shown or not.
    fn has(&self, instance: InstanceId) -> bool;

    /// Whether it would not answer 404 to a request about the instance.
    fn finds(&self, instance: InstanceId, _: WallMs) -> bool {
        self.has(instance)
    }

    /// Whether an operator has overridden the instance's status.
    fn overrides(&self, _: InstanceId) -> bool {
        false
    }

    /// The record that it shows, or showed, with this status.
    fn record_shown_as(&self, _: InstanceId, _: Status) -> Option<Record> {
        None
    }

    /// Requests that wait for their answers, in the order in which they came.
    fn held(&self) -> Vec<Ticket> {
        Vec::new()
    }

    /// What it counts by the minute, for a row of the timeline.
    fn minute_figures(&self, _: WallMs) -> Option<MinuteFigures> {
        None
    }

    /// With which generation of timers the next life begins, if this one began with `generation`.
    fn next_generation(&self, generation: u16) -> u16;

    /// The life is over: what it leaves on disk.
    fn into_saved(self) -> Option<Self::Saved> {
        None
    }
}

/// A process with a registry client, through all its lives.
pub trait ClientMachine: Sized {
    /// Its settings.
    type Config;

    /// Process `id` of `app`, which is not running yet, registers as `instance`, and knows `servers`.
    fn new(id: ClientId, app: AppId, instance: InstanceId, servers: ServerUrls<'_>) -> Self;

    /// The next process registers as `instance`.
    fn set_identity(&mut self, instance: InstanceId);

    /// The next process calls through its balancer for the first time `first_call` after its start.
    fn set_first_call(&mut self, _first_call: SimDuration) {}

    /// A process starts. It must not be running.
    fn on_start(&mut self, config: &Self::Config, step: &mut ClientStep<'_>);

    /// The process is told to stop in order.
    fn on_stop(&mut self, config: &Self::Config, step: &mut ClientStep<'_>);

    /// The application sets its status, if its registry knows such a thing.
    fn on_status(&mut self, _: Status, _: &Self::Config, _: &mut ClientStep<'_>) {}

    /// A health check finds the application so, if its registry asks one.
    fn on_health(&mut self, _: Status, _: &Self::Config, _: &mut ClientStep<'_>) {}

    /// A timer is due. A stale one is dropped.
    fn on_timer(
        &mut self,
        config: &Self::Config,
        timer: ClientTimer,
        generation: u16,
        step: &mut ClientStep<'_>,
    );

    /// A call was answered. An answer that nobody waits for is dropped.
    fn on_reply(&mut self, config: &Self::Config, call: Call, reply: Reply, step: &mut ClientStep<'_>);

    /// A call ended without an answer.
    fn on_failure(&mut self, config: &Self::Config, call: Call, failure: Failure, step: &mut ClientStep<'_>);

    /// A call will not be answered soon, or ever.
    fn on_stall(&mut self, _: &Self::Config, _: Call, _: &mut ClientStep<'_>) {}

    /// A push came: what is shown of an application.
    fn on_push(&mut self, _: &Self::Config, _: (AppId, Payload), _: PushId, _: &mut ClientStep<'_>) {}

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock.
    fn on_resume(&mut self, _: &Self::Config, _paused_since: SimTime, _: &mut ClientStep<'_>) {}

    /// The process is gone at `now` on its monotonic clock, without a word.
    fn on_crash(&mut self, config: &Self::Config, now: SimTime);

    /// From now on its host's disk is full, or has room again.
    fn set_disk_full(&mut self, _full: bool) {}

    /// Whether the outcome of `call` would find somebody.
    fn awaits(&self, call: Call) -> bool;

    /// The status of its own record, as it would be shown.
    fn status(&self) -> Status {
        Status::Up
    }

    /// Whether, as far as it knows, it is registered.
    fn is_registered(&self) -> bool;

    /// Whether there is a process: starting, running or stopping.
    fn is_running(&self) -> bool;

    /// Whether its constructor has returned: it runs, or is stopping.
    fn has_started(&self) -> bool {
        self.is_running()
    }

    /// Its local registry.
    fn view(&self) -> View;

    /// The list that its callers pick from.
    fn balancer_view(&self) -> View {
        self.view()
    }

    /// Every view that it holds, or may come to hold again.
    fn views(&self) -> [View; 3];

    /// Whether it calls others: once it has started, and has a list to pick from.
    fn makes_calls(&self, _: &Self::Config) -> bool {
        self.is_running()
    }
}
