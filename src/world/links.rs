//! Links: what loses messages between two nodes, and what makes them take longer. Links to the server carry the
//! registry's traffic; links between instances carry calls.

use super::World;
use crate::model::id::ClientId;

impl World<'_> {
    /// The probability, 0 to 1, that a call from one instance to another, or its answer, is lost: 1 if a partition
    /// stands between them.
    pub(super) fn loss_between(&self, caller: ClientId, callee: ClientId) -> f64 {
        let _ = (caller, callee);
        self.scenario.network.loss
    }
}
