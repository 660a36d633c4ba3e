//! Batches on their way between servers, and the connections that carry them.
//!
//! A batch has a place until nobody will ask for it any more; places are used again, so each carries a generation. A
//! server keeps the connections that worked and uses the youngest again. The others are closed after 30 s.

use crate::engine::{SimDuration, SimTime};
use crate::model::eureka::BatchId;
use crate::model::id::ServerId;
use crate::model::message::{Failure, ItemReply, Replicated};

/// A pooled connection is closed after so long without use (`eureka-peers.md` section 9).
const IDLE_LIMIT: SimDuration = SimDuration::from_secs(30);

/// How a batch comes back.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// Not answered yet.
    None,
    /// With an answer for each item.
    Items(Vec<ItemReply>),
    /// With a reset or a refused connection.
    Refused,
}

/// A batch on its way.
pub(super) struct Flight {
    pub(super) from: ServerId,
    pub(super) to: ServerId,
    /// Of which process of the sender: see [`super::node::ServerNode::ended`].
    pub(super) sender_ended: u32,
    pub(super) batch: BatchId,
    pub(super) items: Box<[Replicated]>,
    pub(super) answer: Answer,
    pub(super) sent_at: SimTime,
    /// When what a partition has swallowed was sent first.
    pub(super) swallowed_at: SimTime,
    /// Its connection is still to be made.
    pub(super) connects: bool,
    /// The sender has given up: an answer would find nobody.
    pub(super) given_up: bool,
    /// When the sender gives up, and how it fails then; [`SimTime::MAX`] while all is well.
    pub(super) limit_at: SimTime,
    pub(super) failure: Failure,
    /// Somebody still holds it who will come back to it.
    pub(super) is_under_way: bool,
}

#[derive(Default)]
struct Place {
    generation: u16,
    flight: Option<Flight>,
}

/// All batches on their way, in places that are used again, and the connections that wait for one.
pub(super) struct Batches {
    places: Vec<Place>,
    free: Vec<u32>,
    servers: usize,
    /// Since when each pooled connection is idle, from one server to another; the youngest last.
    pools: Vec<Vec<SimTime>>,
}

impl Batches {
    /// None yet, between so many servers.
    pub(super) fn new(servers: usize) -> Self {
        let pools = (0..servers * servers).map(|_| Vec::new()).collect();
        Self { places: Vec::new(), free: Vec::new(), servers, pools }
    }

    /// The pooled connections from one server to another.
    pub(super) fn pool(&mut self, from: ServerId, to: ServerId) -> &mut Vec<SimTime> {
        &mut self.pools[from.index() * self.servers + to.index()]
    }

    /// The youngest connection that is still open, if there is one.
    pub(super) fn reuse(&mut self, from: ServerId, to: ServerId, now: SimTime) -> bool {
        let pool = self.pool(from, to);
        pool.retain(|&idle_since| now.since(idle_since) < IDLE_LIMIT);
        pool.pop().is_some()
    }

    /// A server's process has ended: connections to it are reset, its own are gone.
    pub(super) fn reset(&mut self, server: ServerId) {
        for other in (0..self.servers as u32).map(ServerId) {
            self.pool(server, other).clear();
            self.pool(other, server).clear();
        }
    }

    /// Takes off; returns the place.
    pub(super) fn take_off(&mut self, flight: Flight) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() as u32 - 1
        });
        self.places[number as usize].flight = Some(flight);
        number
    }

    /// The batch at a place that is taken.
    pub(super) fn at(&mut self, number: u32) -> &mut Flight {
        self.places[number as usize].flight.as_mut().expect("an event points at a batch that has landed")
    }

    /// The generation of a place.
    pub(super) fn generation(&self, number: u32) -> u16 {
        self.places[number as usize].generation
    }

    /// Whether the batch of that generation is still on its way.
    pub(super) fn is_current(&self, number: u32, generation: u16) -> bool {
        let place = &self.places[number as usize];
        place.generation == generation && place.flight.is_some()
    }

    /// Lands: frees the place and returns what was there.
    pub(super) fn land(&mut self, number: u32) -> Flight {
        let place = &mut self.places[number as usize];
        place.generation = place.generation.wrapping_add(1);
        self.free.push(number);
        place.flight.take().expect("a batch lands once")
    }
}
