//! Links: what loses messages between two nodes, and what makes them take longer. Links to the server carry the
//! registry's traffic; links between instances carry calls.
//!
//! Two kinds of loss are told apart, since TCP shows them differently. What is lost *by probability* is one message
//! of a connection that stands: a request or an answer, whose caller waits until its read limit. What a *partition*
//! swallows, or a link that loses everything, is a whole connection: a new one is not even made, and what was under
//! way is sent again until the partition heals or the caller has had enough (`retransmission.rs`).

use super::World;
use super::event::Event;
use super::retransmission::Swallowed;
use super::setup::client_label;
use crate::engine::{Chance, Distribution, Purpose, Schedule, Seed, SimDuration, SimTime};
use crate::model::id::ClientId;
use crate::scenario::{Direction, Peer, ZoneId};

/// A link's draws of what is lost, each way.
const LOSS: [Purpose; 2] = [Purpose(0), Purpose(1)];
/// A link's draws of how much longer its messages take, each way.
const LATER: [Purpose; 2] = [Purpose(2), Purpose(3)];

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// From a client to the server.
    ToServer = 0,
    /// From the server to a client.
    FromServer = 1,
}

/// What becomes of a message that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It arrives after the network's latency and this.
    Passes {
        /// What faults add.
        later: SimDuration,
    },
    /// It is lost, and nobody sends it again.
    Lost,
    /// A partition has it.
    Swallowed,
}

/// A client's link to the server, as far as something is wrong with it.
#[derive(Default)]
pub(super) struct Link {
    /// How many partitions swallow what goes each way.
    cuts: [u32; 2],
    worse: Vec<Worse>,
    /// Flights that a partition has swallowed, each with its generation. Some may have landed.
    swallowed: Vec<(u32, u16)>,
    dice: Option<Chance>,
}

/// One degradation of a link.
pub(super) struct Worse {
    pub(super) fault: u32,
    pub(super) loss: f64,
    pub(super) latency: Option<Distribution>,
    pub(super) direction: Direction,
}

/// What stands between instances: calls across it are lost.
pub(super) struct Barrier {
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

impl Way {
    /// Whether a fault in `direction` hits what goes this way.
    const fn is_in(self, direction: Direction) -> bool {
        match direction {
            Direction::Both => true,
            Direction::ToServer => matches!(self, Self::ToServer),
            Direction::FromServer => matches!(self, Self::FromServer),
        }
    }
}

impl Link {
    /// Whether nothing that goes that way arrives.
    fn is_cut(&self, way: Way) -> bool {
        self.cuts[way as usize] > 0
            || self.worse.iter().any(|worse| worse.loss >= 1.0 && way.is_in(worse.direction))
    }

    /// One more partition.
    pub(super) fn cut(&mut self, lost: Direction) {
        self.count(lost, |cuts| cuts + 1);
    }

    /// One partition less.
    pub(super) fn mend(&mut self, lost: Direction) {
        self.count(lost, |cuts| cuts - 1);
    }

    fn count(&mut self, lost: Direction, change: fn(u32) -> u32) {
        for way in [Way::ToServer, Way::FromServer] {
            if way.is_in(lost) {
                self.cuts[way as usize] = change(self.cuts[way as usize]);
            }
        }
    }

    /// One more degradation.
    pub(super) fn worsen(&mut self, worse: Worse) {
        self.worse.push(worse);
    }

    /// The fault's degradation is over.
    pub(super) fn improve(&mut self, fault: u32) {
        self.worse.retain(|worse| worse.fault != fault);
    }

    /// Draws a message's fate; `base` is the network's own loss, and `label` names the link's dice.
    fn verdict(&mut self, way: Way, base: f64, label: impl FnOnce() -> String, seed: &Seed) -> Verdict {
        if base >= 1.0 || self.is_cut(way) {
            return Verdict::Swallowed;
        }
        let worse = || self.worse.iter().filter(|worse| way.is_in(worse.direction));
        let kept = worse().fold(1.0 - base, |kept, worse| kept * (1.0 - worse.loss));
        let dice = self.dice.get_or_insert_with(|| Chance::of(&label()));
        let mut dice = dice.with(seed);
        if kept < 1.0 && dice.unit(LOSS[way as usize]) >= kept {
            return Verdict::Lost;
        }
        let added = worse().filter_map(|worse| worse.latency);
        let later = added.fold(SimDuration::ZERO, |sum, latency| {
            sum.saturating_add(latency.sample(&mut dice, LATER[way as usize]))
        });
        Verdict::Passes { later }
    }
}

impl World<'_> {
    /// What becomes of a message between a client and the server that is sent now.
    #[inline]
    pub(super) fn verdict(&mut self, client: ClientId, way: Way) -> Verdict {
        let node = &self.clients[client.index()];
        if node.trouble.is_none() && self.lanes.loss(node.app) == 0.0 {
            return Verdict::Passes { later: SimDuration::ZERO };
        }
        self.verdict_in_trouble(client, way)
    }

    fn verdict_in_trouble(&mut self, client: ClientId, way: Way) -> Verdict {
        let node = &mut self.clients[client.index()];
        let base = self.lanes.loss(node.app);
        let (app, ordinal) = (node.app, node.ordinal);
        let link = &mut node.trouble().link;
        if base == 0.0 && link.worse.is_empty() && link.cuts == [0; 2] {
            return Verdict::Passes { later: SimDuration::ZERO };
        }
        let label = || {
            let name =
                self.scenario.applications.get(app.index()).map_or("", |application| &application.name);
            format!("link/{}", client_label(name, ordinal))
        };
        link.verdict(way, base, label, &self.seed)
    }

    /// Whether nothing passes between the client and the server that way.
    pub(super) fn is_cut(&self, client: ClientId, way: Way) -> bool {
        let node = &self.clients[client.index()];
        self.lanes.loss(node.app) >= 1.0 || node.trouble.as_ref().is_some_and(|it| it.link.is_cut(way))
    }

    /// Notes that a partition has the flight: its end will be felt.
    pub(super) fn note_swallowed(&mut self, client: ClientId, number: u32) {
        let generation = self.flights.generation(number);
        let link = &mut self.clients[client.index()].trouble().link;
        link.swallowed.retain(|&(number, generation)| self.flights.is_current(number, generation));
        link.swallowed.push((number, generation));
    }

    /// Something between the client and the server is over: what was swallowed is sent again where the way is free.
    pub(super) fn retransmit(&mut self, client: ClientId, now: SimTime, schedule: &mut Schedule<Event>) {
        let Some(trouble) = &mut self.clients[client.index()].trouble else { return };
        let swallowed = std::mem::take(&mut trouble.link.swallowed);
        for (number, generation) in swallowed {
            if !self.flights.is_current(number, generation) {
                continue;
            }
            let flight = self.flights.at(number);
            let is_free = if flight.connects {
                !self.is_cut(client, Way::ToServer) && !self.is_cut(client, Way::FromServer)
            } else {
                !self.is_cut(client, if flight.has_answer() { Way::FromServer } else { Way::ToServer })
            };
            if !is_free {
                self.note_swallowed(client, number);
                continue;
            }
            let what = if flight.connects { Swallowed::Syn } else { Swallowed::Data };
            if let Some(at) = what.sent_again(flight.swallowed_at, now) {
                self.flights.at_mut(number).is_under_way = true;
                schedule.at(at, Event::MessageLeaves { flight: number });
            }
        }
    }

    /// The probability, 0 to 1, that a call from one instance to another, or its answer, is lost: 1 if a partition
    /// stands between them.
    pub(super) fn loss_between(&self, caller: ClientId, callee: ClientId) -> f64 {
        let there_and_back = |loss: f64| (1.0 - loss) * (1.0 - loss);
        let mut kept = there_and_back(self.scenario.network.loss);
        for barrier in &self.barriers {
            if self.separates(barrier, caller, callee) || self.separates(barrier, callee, caller) {
                kept *= match barrier.direction {
                    Direction::Both => there_and_back(barrier.loss),
                    Direction::ToServer | Direction::FromServer => 1.0 - barrier.loss,
                };
            }
        }
        1.0 - kept
    }

    /// Whether `one` is a target whose link is bad and `other` is what it is kept from.
    fn separates(&self, barrier: &Barrier, one: ClientId, other: ClientId) -> bool {
        let Ok(place) = barrier.members.binary_search(&one) else { return false };
        let is_peer = match &barrier.peer {
            Peer::Servers | Peer::Named(_) => false,
            Peer::All => barrier.members.binary_search(&other).is_err(),
            Peer::Instances { application, zone } => {
                other != one
                    && application.is_none_or(|app| self.clients[other.index()].app == app)
                    && zone.is_none_or(|zone| self.zone_of(other) == Some(zone))
            }
        };
        barrier.stands[place] && is_peer
    }

    /// The zone that an instance is in.
    pub(super) fn zone_of(&self, client: ClientId) -> Option<ZoneId> {
        let node = &self.clients[client.index()];
        let zones = &self.scenario.applications.get(node.app.index())?.zones;
        zones.get((node.ordinal as usize - 1).checked_rem(zones.len())?).copied()
    }
}
