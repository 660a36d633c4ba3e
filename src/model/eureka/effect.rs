//! What a server is lent for a step, and what follows from one.

use super::replication::BatchId;
use super::timers::{Due, ServerTimer};
use crate::model::fact::Fact;
use crate::model::id::ServerId;
use crate::model::message::{Record, Replicated};
use crate::model::step::Step;
use crate::model::view::View;

/// What follows from a step of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEffect {
    /// Call [`super::EurekaServer::on_timer`] with these at `due`.
    SetTimer {
        /// Which timer.
        timer: ServerTimer,
        /// When it fires.
        due: Due,
        /// Handed back when it fires; a setting with another generation than the newest is stale.
        generation: u16,
    },
    /// Call [`super::EurekaServer::on_peer_timer`] with these at `due`.
    SetPeerTimer {
        /// Whose queue is to be looked at.
        peer: ServerId,
        /// When.
        due: Due,
        /// Handed back when it fires; a setting with another generation than the newest is stale.
        generation: u16,
    },
    /// A batch goes to a peer. Its end, however it ends, is told by [`super::EurekaServer::on_batch_outcome`].
    Replicate {
        /// To whom.
        to: ServerId,
        /// To be named with its outcome; no two batches of one life to one peer have the same.
        batch: BatchId,
        /// In the order in which they are to be processed; at least one, at most 250.
        items: Box<[Replicated]>,
    },
    /// Something that is worth knowing.
    Fact(Fact),
}

/// What the server's own client holds: what the start-up copy and the threshold update look at.
#[derive(Clone, Copy, Default)]
pub struct OwnRegistry<'a> {
    /// Its local registry; `None` if the server has no client that fetches.
    pub view: Option<View>,
    /// The records of its instances, as the server that it fetched from has them, by instance. Needed for a copy
    /// ([`super::EurekaServer::start`], [`ServerTimer::SyncRetry`]); whoever is missing there is looked for among the
    /// server's own leases.
    pub records: &'a [Record],
}

impl OwnRegistry<'_> {
    /// What a client holds that fetched from the server itself: the records are the server's own.
    pub const fn of_itself(view: Option<View>) -> Self {
        Self { view, records: &[] }
    }
}

/// What the machine is lent for a step.
pub type ServerStep<'a> = Step<'a, ServerEffect>;
