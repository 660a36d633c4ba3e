//! An exchange: one request, the connection that carries it, and its answer; from the sending until nobody will ask for
//! it any more.
//!
//! ```text
//!            leaves                 arrives             answers             arrives
//!   sender ────┬──► on its way ──────┬──────► at work ─────┬──► on its way ──────► over
//!              │                     │                     │
//!              └─► lost, swallowed ◄─┴─ turned away ◄──────┘
//!                        └─► sent again, or given up at the sender's limit
//! ```
//!
//! There are two kinds. A *call* is a client's; whether it finds a connection is for the client's transport to say. A
//! *batch* is a server's, and goes over a pooled connection if there is one. They differ in what they carry, in who
//! waits and for how long; how they stand, which is an [`Exchange`], and what becomes of it is the same.

use super::link::MessageDirection;
use crate::engine::SimTime;
use crate::model::effect::Silence;
use crate::model::id::{ClientId, ServerId};
use crate::model::message::Failure;

/// Names an exchange: its kind, and its place among those of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeId(u32);

/// Whose exchange it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::world) enum Kind {
    /// A client calls a server.
    Call,
    /// A server sends a batch to a peer.
    Batch,
}

/// An exchange that something will come back to, unless another has its place by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) struct Held {
    pub(in crate::world) id: ExchangeId,
    pub(in crate::world) generation: u16,
}

/// A host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) enum Host {
    /// A client's.
    Client(ClientId),
    /// A server's, which its own client shares.
    Server(ServerId),
}

/// From a host to a server that it calls, and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) struct Route {
    pub(in crate::world) from: Host,
    pub(in crate::world) to: ServerId,
}

/// Whether there is an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) enum Answer {
    /// Not yet.
    None,
    /// The server has answered.
    Given,
    /// The server's host has refused or reset the connection.
    Refused,
}

/// Who will come back to an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::world) enum Hold {
    /// Somebody: an event of the queue, or a process that stands still.
    UnderWay,
    /// Nobody but its sender's limit: it is lost, or a partition has it.
    Stuck,
    /// Somebody, who finds that the sender has given up: an answer would find nobody.
    GivenUp,
}

/// How an exchange stands.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct Exchange {
    pub(in crate::world) route: Route,
    /// When the sender's wait began that its limit counts from.
    pub(in crate::world) sent_at: SimTime,
    /// When what a partition has swallowed was sent first.
    pub(in crate::world) swallowed_at: SimTime,
    /// When its sender gives up, once that is set: places are used again so often that a generation alone might come
    /// round while an old limit waits.
    pub(in crate::world) limit_at: SimTime,
    /// How it fails then.
    pub(in crate::world) failure: Failure,
    pub(in crate::world) answer: Answer,
    /// Its connection is still to be made.
    pub(in crate::world) connects: bool,
    pub(in crate::world) hold: Hold,
}

impl ExchangeId {
    const BATCH: u32 = 1 << 31;

    pub(in crate::world) const fn new(kind: Kind, place: u32) -> Self {
        match kind {
            Kind::Call => Self(place),
            Kind::Batch => Self(place | Self::BATCH),
        }
    }

    pub(in crate::world) const fn kind(self) -> Kind {
        if self.0 & Self::BATCH == 0 { Kind::Call } else { Kind::Batch }
    }

    /// Its place among those of its kind.
    pub(in crate::world) const fn place(self) -> u32 {
        self.0 & !Self::BATCH
    }
}

impl Exchange {
    /// An exchange that begins now, over a connection that it `connects` first or that stands.
    pub(in crate::world) const fn new(route: Route, connects: bool, sent_at: SimTime) -> Self {
        Self {
            route,
            sent_at,
            swallowed_at: SimTime::MAX,
            limit_at: SimTime::MAX,
            failure: Failure::ReadTimeout,
            answer: Answer::None,
            connects,
            hold: Hold::UnderWay,
        }
    }

    /// Which way its next message goes: the request, or the answer once there is one.
    pub(in crate::world) fn way(&self) -> MessageDirection {
        if self.answer == Answer::None { MessageDirection::ToServer } else { MessageDirection::FromServer }
    }

    /// Which silence its sender meets while nothing comes back: that of a host, or that of a process.
    pub(in crate::world) const fn silence(&self) -> Silence {
        if self.connects { Silence::BlackHole } else { Silence::Paused }
    }

    /// Whether its next message is to be sent again, since a partition had it.
    pub(in crate::world) fn is_sent_again(&self, now: SimTime) -> bool {
        self.swallowed_at < now
    }

    /// Whether its sender's clock is set.
    pub(in crate::world) fn has_limit(&self) -> bool {
        self.limit_at != SimTime::MAX
    }

    /// Whether its sender waits no longer.
    pub(in crate::world) fn is_given_up(&self) -> bool {
        self.hold == Hold::GivenUp
    }

    /// Whether its limit has come, and somebody still waits.
    pub(in crate::world) fn is_due(&self, now: SimTime) -> bool {
        !self.is_given_up() && now >= self.limit_at
    }

    /// Its request has reached the server's process: the connection stands, and its data is acknowledged.
    pub(in crate::world) const fn has_connected(&mut self) {
        self.connects = false;
        self.swallowed_at = SimTime::MAX;
    }

    /// The host of the server makes no connection for it. The sender's kernel asks again.
    pub(super) fn refuse_connection(&mut self) {
        self.swallowed_at = self.swallowed_at.min(self.sent_at);
        self.becomes(Hold::Stuck);
    }

    /// A partition has its message.
    pub(super) fn swallow(&mut self, now: SimTime) {
        if self.answer == Answer::Refused {
            // Nobody repeats a refusal, but the sender's kernel asks again.
            self.answer = Answer::None;
            self.swallowed_at = self.swallowed_at.min(self.sent_at);
        }
        self.swallowed_at = self.swallowed_at.min(now);
        self.becomes(Hold::Stuck);
    }

    /// Somebody will come back to it, or nobody. That its sender has given up stays.
    pub(super) fn becomes(&mut self, hold: Hold) {
        if !self.is_given_up() {
            self.hold = hold;
        }
    }

    /// Only now does the wait begin that the read limit is for.
    pub(super) const fn wait_anew(&mut self, now: SimTime) {
        (self.sent_at, self.limit_at) = (now, SimTime::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_a_kind_and_a_place() {
        for kind in [Kind::Call, Kind::Batch] {
            let id = ExchangeId::new(kind, 77);
            assert_eq!((id.kind(), id.place()), (kind, 77));
        }
    }

    /// A million may be under way at once.
    #[test]
    fn how_an_exchange_stands_takes_forty_bytes() {
        assert_eq!(std::mem::size_of::<Exchange>(), 40);
    }
}
