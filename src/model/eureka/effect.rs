//! What a server is lent for a step, and what it may look at in its own client.

pub use crate::model::effect::ServerEffect;
use crate::model::message::Record;
use crate::model::step::Step;
use crate::model::view::View;

/// What the server's own client holds: what the start-up copy and the threshold update look at.
#[derive(Clone, Copy, Default)]
pub struct OwnRegistry<'a> {
    /// Its local registry; `None` if the server has no client that fetches.
    pub view: Option<View>,
    /// The records of its instances, as the server that it fetched from has them, by instance. Needed for a copy
    /// ([`super::EurekaServer::start`], [`super::ServerTimer::SyncRetry`]); whoever is missing there is looked for among the
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
