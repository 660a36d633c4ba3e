//! Links: what loses messages between two nodes, and what makes them take longer. Links of clients to servers carry
//! the registry's traffic, those between servers replication and what servers' own clients say; links between
//! instances carry calls.
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
use crate::model::id::{ClientId, ServerId};
use crate::scenario::{Delay, Direction, Network, Peer, ZoneId};

/// A link's draws of what is lost, each way.
const LOSS: [Purpose; 2] = [Purpose(0), Purpose(1)];
/// A link's draws of how much longer its messages take, each way.
const LATER: [Purpose; 2] = [Purpose(2), Purpose(3)];
/// A link between servers draws its latency too, each way.
const LATENCY: [Purpose; 2] = [Purpose(4), Purpose(5)];

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// From the caller to the server that it calls.
    ToServer = 0,
    /// From that server to the caller.
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

/// A caller's link to a server, as far as something is wrong with it.
#[derive(Clone, Default)]
pub(super) struct Link {
    /// How many partitions swallow what goes each way.
    cuts: [u32; 2],
    worse: Vec<Worse>,
    /// Flights that a partition has swallowed, each with its generation. Some may have landed.
    swallowed: Vec<(u32, u16)>,
    /// The same of batches.
    pub(super) swallowed_batches: Vec<(u32, u16)>,
    dice: Option<Chance>,
}

/// Links between servers, each from the one that calls to the one that is called.
#[derive(Clone)]
pub(super) struct Between {
    servers: usize,
    links: Vec<Link>,
}

impl Between {
    /// Links with which nothing is wrong.
    pub(super) fn new(servers: usize) -> Self {
        Self { servers, links: (0..servers * servers).map(|_| Link::default()).collect() }
    }

    /// The link over which one server calls another, or itself.
    pub(super) fn link(&mut self, caller: ServerId, called: ServerId) -> &mut Link {
        &mut self.links[caller.index() * self.servers + called.index()]
    }

    fn is_cut(&self, caller: ServerId, called: ServerId, way: Way) -> bool {
        self.links[caller.index() * self.servers + called.index()].is_cut(way)
    }
}

/// One degradation of a link.
#[derive(Clone)]
pub(super) struct Worse {
    pub(super) fault: u32,
    pub(super) loss: f64,
    pub(super) latency: Option<Distribution>,
    pub(super) direction: Direction,
}

/// What stands between instances: calls across it are lost.
#[derive(Clone)]
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
    /// Whether nothing is wrong with it.
    fn is_fine(&self) -> bool {
        self.worse.is_empty() && self.cuts == [0; 2]
    }

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
    /// What becomes of a message between a client and a server that is sent now.
    #[inline]
    pub(super) fn verdict(&mut self, client: ClientId, server: ServerId, way: Way) -> Verdict {
        let node = &self.clients[client.index()];
        let is_own = node.app.index() == self.scenario.applications.len();
        if node.trouble.is_none() && !is_own && self.lanes.loss(node.app) == 0.0 {
            return Verdict::Passes { later: SimDuration::ZERO };
        }
        match self.server_of(client) {
            Some(own) if own == server => Verdict::Passes { later: SimDuration::ZERO },
            Some(own) => self.verdict_between(own, server, way),
            None => self.verdict_in_trouble(client, server, way),
        }
    }

    fn verdict_in_trouble(&mut self, client: ClientId, server: ServerId, way: Way) -> Verdict {
        let node = &mut self.clients[client.index()];
        let base = self.lanes.loss(node.app);
        let (app, ordinal) = (node.app, node.ordinal);
        let link = node.trouble().link(server);
        if base == 0.0 && link.is_fine() {
            return Verdict::Passes { later: SimDuration::ZERO };
        }
        let label = || {
            let name = client_label(&self.scenario.applications[app.index()].name, ordinal);
            match server.0 {
                0 => format!("link/{name}"),
                number => format!("link/{name}/server/{}", number + 1),
            }
        };
        link.verdict(way, base, label, &self.seed)
    }

    /// What becomes of a message that belongs to a call of one server to another.
    pub(super) fn verdict_between(&mut self, caller: ServerId, called: ServerId, way: Way) -> Verdict {
        let base = if caller == called { 0.0 } else { self.network_between().loss };
        let link = self.between.link(caller, called);
        if base == 0.0 && link.is_fine() {
            return Verdict::Passes { later: SimDuration::ZERO };
        }
        link.verdict(way, base, || label_between(caller, called), &self.seed)
    }

    /// How long a message between servers takes that passes, without what faults add.
    pub(super) fn latency_between(&mut self, caller: ServerId, called: ServerId, way: Way) -> SimDuration {
        let latency = self.network_between().latency;
        let link = self.between.link(caller, called);
        let label = || label_between(caller, called);
        match latency {
            Delay::Constant(delay) => delay,
            Delay::Uniform(least, most) => {
                let width = most.saturating_sub(least) + SimDuration::from_nanos(1);
                let dice = link.dice.get_or_insert_with(|| Chance::of(&label()));
                least + dice.with(&self.seed).duration_below(LATENCY[way as usize], width)
            }
            Delay::Drawn(distribution) => {
                let dice = link.dice.get_or_insert_with(|| Chance::of(&label()));
                distribution.sample(&mut dice.with(&self.seed), LATENCY[way as usize])
            }
        }
    }

    /// The links between servers.
    fn network_between(&self) -> Network {
        self.scenario.server_network.unwrap_or(self.scenario.network)
    }

    /// Whether nothing passes between a client and a server that way.
    pub(super) fn is_cut(&self, client: ClientId, server: ServerId, way: Way) -> bool {
        match self.server_of(client) {
            Some(own) => own != server && self.is_cut_between(own, server, way),
            None => {
                let node = &self.clients[client.index()];
                let link = node.trouble.as_ref().and_then(|trouble| trouble.links.get(server.index()));
                self.lanes.loss(node.app) >= 1.0 || link.is_some_and(|link| link.is_cut(way))
            }
        }
    }

    /// Whether nothing passes that way that belongs to a call of one server to another.
    pub(super) fn is_cut_between(&self, caller: ServerId, called: ServerId, way: Way) -> bool {
        caller != called && self.network_between().loss >= 1.0 || self.between.is_cut(caller, called, way)
    }

    /// The link of a client to a server, to change.
    fn link(&mut self, client: ClientId, server: ServerId) -> &mut Link {
        match self.server_of(client) {
            Some(own) => self.between.link(own, server),
            None => self.clients[client.index()].trouble().link(server),
        }
    }

    /// Notes that a partition has the flight: its end will be felt.
    pub(super) fn note_swallowed(&mut self, client: ClientId, server: ServerId, number: u32) {
        let generation = self.flights.generation(number);
        let mut swallowed = std::mem::take(&mut self.link(client, server).swallowed);
        swallowed.retain(|&(number, generation)| self.flights.is_current(number, generation));
        swallowed.push((number, generation));
        self.link(client, server).swallowed = swallowed;
    }

    /// Something between a client and a server is over: what was swallowed is sent again where the way is free.
    pub(super) fn retransmit(
        &mut self,
        client: ClientId,
        server: ServerId,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        let swallowed = std::mem::take(&mut self.link(client, server).swallowed);
        self.send_again(swallowed, now, schedule);
    }

    /// The same of a link between servers: what a server's own client says goes over it too.
    pub(super) fn retransmit_between(
        &mut self,
        caller: ServerId,
        called: ServerId,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        let swallowed = std::mem::take(&mut self.between.link(caller, called).swallowed);
        self.send_again(swallowed, now, schedule);
        self.send_batches_again(caller, called, now, schedule);
    }

    /// What a partition swallowed, or a server that stands still turned away, is sent again where the way is free.
    pub(super) fn send_again(
        &mut self,
        swallowed: Vec<(u32, u16)>,
        now: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        for (number, generation) in swallowed {
            if !self.flights.is_current(number, generation) {
                continue;
            }
            let flight = self.flights.at(number);
            let (client, server) = (flight.client, flight.server);
            let is_free =
                is_free(flight.connects, flight.has_answer(), |way| self.is_cut(client, server, way));
            if !is_free {
                self.note_swallowed(client, server, number);
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
            Peer::All | Peer::Instances { application: None, zone: None } => {
                barrier.members.binary_search(&other).is_err()
            }
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

/// Whether what was swallowed can pass, given which ways are cut: a connection that is still to be made needs both,
/// a request or an answer its own.
pub(super) fn is_free(connects: bool, answered: bool, is_cut: impl Fn(Way) -> bool) -> bool {
    match (connects, answered) {
        (true, _) => !is_cut(Way::ToServer) && !is_cut(Way::FromServer),
        (false, true) => !is_cut(Way::FromServer),
        (false, false) => !is_cut(Way::ToServer),
    }
}

fn label_between(caller: ServerId, called: ServerId) -> String {
    format!("link/server/{}/server/{}", caller.0 + 1, called.0 + 1)
}
