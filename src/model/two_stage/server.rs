//! The registry as a state machine, through one life.

use std::sync::Arc;

use super::config::ServerConfig;
use crate::engine::SimTime;
use crate::model::effect::{PushId, ServerEffect, ServiceTimer, Ticket};
use crate::model::id::{ClientId, InstanceId};
use crate::model::message::{Reply, Request};
use crate::model::step::Step;
use crate::model::view::LifeId;

/// What a registry leaves behind on disk for its next life (`registry_persistent`).
pub struct Saved {}

/// One life of a two-stage registry.
pub struct TwoStageServer {}

impl TwoStageServer {
    /// A life begins; what an earlier one has `saved` is read again. `generation` is handed back with each timer.
    pub fn start(
        _config: Arc<ServerConfig>,
        _generation: u8,
        _saved: Option<Saved>,
        _step: &mut Step<'_, ServerEffect>,
    ) -> Self {
        unreachable!("no scenario says so yet")
    }

    /// A request is taken up. `None`: it is held, or waits for a worker, and will be answered by
    /// [`ServerEffect::Answer`] with `ticket`. Requests without a ticket are an operator's: they wait for no worker.
    pub fn on_request(
        &mut self,
        _request: &Request,
        _ticket: Option<Ticket>,
        _step: &mut Step<'_, ServerEffect>,
    ) -> Option<Reply> {
        unreachable!("no scenario says so yet")
    }

    /// A timer is due. One of another generation is stale.
    pub fn on_timer(
        &mut self,
        _timer: ServiceTimer,
        _number: u32,
        _generation: u8,
        _step: &mut Step<'_, ServerEffect>,
    ) {
        unreachable!("no scenario says so yet")
    }

    /// A subscriber acknowledges a push, perhaps one of an earlier life.
    pub fn on_acknowledged(&mut self, _from: ClientId, _push: PushId) {
        unreachable!("no scenario says so yet")
    }

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock. To be told before what
    /// waited meanwhile.
    pub fn on_resume(&mut self, _paused_since: SimTime, _step: &mut Step<'_, ServerEffect>) {
        unreachable!("no scenario says so yet")
    }

    /// The log of this life: every entry's flag.
    pub fn life(&self) -> LifeId {
        unreachable!("no scenario says so yet")
    }

    /// Entries, unhealthy ones included.
    pub fn registered(&self) -> u32 {
        unreachable!("no scenario says so yet")
    }

    /// Whether it has an entry of the instance, healthy or not.
    pub fn has(&self, _instance: InstanceId) -> bool {
        unreachable!("no scenario says so yet")
    }

    /// Whether the guard of some service was shut when that was swept last.
    pub fn guard_is_shut(&self) -> bool {
        unreachable!("no scenario says so yet")
    }

    /// The requests that it has not answered yet, in the order in which they came.
    pub fn held(&self) -> Vec<Ticket> {
        unreachable!("no scenario says so yet")
    }

    /// The life is over: what it leaves on disk, if it keeps anything there.
    pub fn into_saved(self) -> Option<Saved> {
        unreachable!("no scenario says so yet")
    }
}
