//! Workers: a long poll that is held occupies one, and when there is none left everybody else waits, heartbeats too.
//!
//! All other requests take no time, so nobody else ever occupies one. Filling the pool with long polls evicts healthy
//! instances, whose heartbeats wait for the end of the next of them (`two-stage.md` 2.7).

use super::{ServerStep, TwoStageServer};
use crate::model::effect::ServerEffect;

impl TwoStageServer {
    /// Whether no worker is free. Then none has been since the first of those who wait came.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        self.config.worker_threads.is_some_and(|workers| self.watches.len() >= workers as usize)
    }

    /// A worker has become free: it takes up what waits, until it has to hold a long poll.
    pub(super) fn take_up_waiting(&mut self, step: &mut ServerStep<'_>) {
        while !self.is_busy() {
            let Some((request, ticket)) = self.waiting.pop_front() else { return };
            if let Some(reply) = self.work(&request, Some(ticket), step) {
                step.out.push(ServerEffect::Answer { ticket, reply });
            }
        }
    }
}
