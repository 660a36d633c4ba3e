//! What stands between instances. No message travels there: a barrier says with what probability a call is lost.

use super::World;
use crate::model::id::ClientId;
use crate::scenario::{Direction, Peer, ZoneId};

/// What stands between instances: calls across it are lost.
#[derive(Clone)]
pub(super) struct InstanceLinkFault {
    pub(super) fault: u32,
    /// Its targets, in order.
    pub(super) members: Vec<ClientId>,
    /// Of each member, whether its link is bad now.
    pub(super) stands: Vec<bool>,
    pub(super) peer: Peer,
    /// The probability that a message is lost.
    pub(super) loss: f64,
    pub(super) direction: Direction,
}

impl World<'_> {
    /// The probability, 0 to 1, that a call from one instance to another, or its answer, is lost: 1 if a partition
    /// stands between them.
    pub(super) fn loss_between(&self, caller: ClientId, callee: ClientId) -> f64 {
        let there_and_back = |loss: f64| (1.0 - loss) * (1.0 - loss);
        let mut kept = there_and_back(self.scenario.network.loss);
        for link_fault in &self.link_faults {
            if self.separates(link_fault, caller, callee) || self.separates(link_fault, callee, caller) {
                kept *= match link_fault.direction {
                    Direction::Both => there_and_back(link_fault.loss),
                    Direction::ToServer | Direction::FromServer => 1.0 - link_fault.loss,
                };
            }
        }
        1.0 - kept
    }

    /// Whether `one` is a target whose link is bad and `other` is what it is kept from.
    fn separates(&self, link_fault: &InstanceLinkFault, one: ClientId, other: ClientId) -> bool {
        let Ok(place) = link_fault.members.binary_search(&one) else { return false };
        let is_peer = match &link_fault.peer {
            Peer::Servers | Peer::Named(_) => false,
            Peer::All | Peer::Instances { application: None, zone: None } => {
                link_fault.members.binary_search(&other).is_err()
            }
            Peer::Instances { application, zone } => {
                other != one
                    && application.is_none_or(|app| self.clients[other.index()].app == app)
                    && zone.is_none_or(|zone| self.zone_of(other) == Some(zone))
            }
        };
        link_fault.stands[place] && is_peer
    }

    /// The zone that an instance is in.
    pub(super) fn zone_of(&self, client: ClientId) -> Option<ZoneId> {
        let node = &self.clients[client.index()];
        let zones = &self.scenario.applications.get(node.app.index())?.zones;
        zones.get((node.ordinal as usize - 1).checked_rem(zones.len())?).copied()
    }
}
