//! Links: what loses messages between two hosts, and what makes them take longer. Those of clients to servers carry the
//! registry's traffic, those between servers replication and what servers' own clients say.
//!
//! Two kinds of loss are told apart, since TCP shows them differently. What is lost *by probability* is one message
//! of a connection that stands: a request or an answer, whose sender waits until its read limit. What a *partition*
//! swallows, or a link that loses everything, is a whole connection: a new one is not even made, and what was under
//! way is sent again until the partition heals or the sender has had enough (`tcp.rs`).

use super::exchange::{Held, Host, Route};
use crate::engine::{Distribution, Purpose, Rng, Seed, SimDuration, Streams};
use crate::scenario::{Delay, Direction};

/// A link's draws of what is lost, each way.
const LOSS: [Purpose; 2] = [Purpose(0), Purpose(1)];
/// A link's draws of how much longer its messages take, each way.
const LATER: [Purpose; 2] = [Purpose(2), Purpose(3)];
/// A link between servers draws its latency too, each way.
const LATENCY: [Purpose; 2] = [Purpose(4), Purpose(5)];

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) enum MessageDirection {
    /// From the sender of a request to the server that it calls.
    ToServer = 0,
    /// From that server back.
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

/// A link to a server, as far as something is wrong with it.
#[derive(Clone, Default)]
pub(in crate::world) struct Link {
    /// How many partitions swallow what goes each way.
    cuts: [u32; 2],
    degradations: Vec<Degradation>,
    /// What a partition has swallowed. Some may be over.
    pub(super) swallowed: Vec<Held>,
    streams: Option<Streams>,
}

/// One degradation of a link.
#[derive(Clone)]
pub(in crate::world) struct Degradation {
    pub(in crate::world) fault: u32,
    pub(in crate::world) loss: f64,
    pub(in crate::world) latency: Option<Distribution>,
    pub(in crate::world) direction: Direction,
}

/// All links to servers.
#[derive(Clone)]
pub(in crate::world) struct Links {
    servers: usize,
    /// From one server to another, or to itself.
    between: Vec<Link>,
    /// By client, where in [`Self::clients`] its links are. Those beyond the end are fine, as is [`Self::FINE`].
    of_client: Vec<u32>,
    /// By server; those beyond the end are fine.
    clients: Vec<Vec<Link>>,
}

impl MessageDirection {
    pub(super) const BOTH: [Self; 2] = [Self::ToServer, Self::FromServer];

    /// Whether a fault in `direction` hits what goes this way.
    const fn is_in(self, direction: Direction) -> bool {
        match direction {
            Direction::Both => true,
            Direction::ToServer => matches!(self, Self::ToServer),
            Direction::FromServer => matches!(self, Self::FromServer),
        }
    }
}

impl Links {
    const FINE: u32 = u32::MAX;

    /// Links with which nothing is wrong.
    pub(super) fn new(servers: usize) -> Self {
        let between = vec![Link::default(); servers * servers];
        Self { servers, between, of_client: Vec::new(), clients: Vec::new() }
    }

    /// The link from a host to a server; `None` if nothing was ever wrong with it.
    #[inline]
    pub(super) fn get(&self, Route { from, to }: Route) -> Option<&Link> {
        match from {
            Host::Server(server) => Some(&self.between[server.index() * self.servers + to.index()]),
            Host::Client(client) => {
                let place = *self.of_client.get(client.index())?;
                // The place of those that are fine is behind all others.
                self.clients.get(place as usize)?.get(to.index())
            }
        }
    }

    /// The same, to change.
    pub(in crate::world) fn get_mut(&mut self, Route { from, to }: Route) -> &mut Link {
        let client = match from {
            Host::Server(server) => return &mut self.between[server.index() * self.servers + to.index()],
            Host::Client(client) => client.index(),
        };
        if self.of_client.len() <= client {
            self.of_client.resize(client + 1, Self::FINE);
        }
        if self.of_client[client] == Self::FINE {
            self.of_client[client] = self.clients.len() as u32;
            self.clients.push(Vec::new());
        }
        let links = &mut self.clients[self.of_client[client] as usize];
        if links.len() <= to.index() {
            links.resize_with(to.index() + 1, Link::default);
        }
        &mut links[to.index()]
    }
}

impl Link {
    /// Whether nothing is wrong with it.
    pub(super) fn is_fine(&self) -> bool {
        self.degradations.is_empty() && self.cuts == [0; 2]
    }

    /// Whether nothing that goes that way arrives.
    pub(super) fn is_cut(&self, way: MessageDirection) -> bool {
        self.cuts[way as usize] > 0
            || self
                .degradations
                .iter()
                .any(|degradation| degradation.loss >= 1.0 && way.is_in(degradation.direction))
    }

    /// One more partition.
    pub(in crate::world) fn cut(&mut self, lost: Direction) {
        self.count(lost, |cuts| cuts + 1);
    }

    /// One partition less.
    pub(in crate::world) fn heal(&mut self, lost: Direction) {
        self.count(lost, |cuts| cuts - 1);
    }

    fn count(&mut self, lost: Direction, change: fn(u32) -> u32) {
        for way in MessageDirection::BOTH.into_iter().filter(|way| way.is_in(lost)) {
            self.cuts[way as usize] = change(self.cuts[way as usize]);
        }
    }

    /// One more degradation.
    pub(in crate::world) fn add_degradation(&mut self, degradation: Degradation) {
        self.degradations.push(degradation);
    }

    /// The fault's degradation is over.
    pub(in crate::world) fn remove_degradations(&mut self, fault: u32) {
        self.degradations.retain(|degradation| degradation.fault != fault);
    }

    /// Draws a message's fate; `base` is the network's own loss, and `label` names the link's streams.
    pub(super) fn verdict(
        &mut self,
        way: MessageDirection,
        base: f64,
        label: impl FnOnce() -> String,
        seed: &Seed,
    ) -> Verdict {
        if base >= 1.0 || self.is_cut(way) {
            return Verdict::Swallowed;
        }
        let degradation = || self.degradations.iter().filter(|degradation| way.is_in(degradation.direction));
        let kept = degradation().fold(1.0 - base, |kept, degradation| kept * (1.0 - degradation.loss));
        let streams = self.streams.get_or_insert_with(|| Streams::of(&label()));
        let mut rng = streams.with(seed);
        if kept < 1.0 && rng.unit(LOSS[way as usize]) >= kept {
            return Verdict::Lost;
        }
        let added = degradation().filter_map(|degradation| degradation.latency);
        let later = added.fold(SimDuration::ZERO, |sum, latency| {
            sum.saturating_add(latency.sample(&mut rng, LATER[way as usize]))
        });
        Verdict::Passes { later }
    }

    /// Draws a latency from the link's own streams.
    pub(super) fn latency(
        &mut self,
        delay: Delay,
        way: MessageDirection,
        label: impl FnOnce() -> String,
        seed: &Seed,
    ) -> SimDuration {
        match delay {
            Delay::Constant(delay) => delay,
            drawn => {
                let streams = self.streams.get_or_insert_with(|| Streams::of(&label()));
                draw(drawn, &mut streams.with(seed), LATENCY[way as usize])
            }
        }
    }
}

/// Draws how long a message takes.
pub(super) fn draw(delay: Delay, rng: &mut Rng<'_>, purpose: Purpose) -> SimDuration {
    match delay {
        Delay::Constant(delay) => delay,
        Delay::Uniform(least, most) => {
            let width = most.saturating_sub(least) + SimDuration::from_nanos(1);
            least + rng.duration_below(purpose, width)
        }
        Delay::Drawn(distribution) => distribution.sample(rng, purpose),
    }
}
