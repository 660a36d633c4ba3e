//! What machines want done: calls, timers, answers, datagrams, facts. The world decides what that means; which registry
//! it is makes no difference to it.

#[cfg(doc)]
use super::eureka::EurekaServer;
use super::eureka::{BatchId, Due, ServerTimer};
use super::fact::Fact;
use super::id::{AppId, ClientId, ServerId};
use super::message::{Replicated, Reply, Request};
use super::view::Payload;
use crate::engine::{SimDuration, SimTime};

/// Names one attempt at one request, so that its outcome finds the job that waits for it. Outcomes of calls
/// that nobody waits for any more (given up, or of an earlier life of the process) match nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call(u32);

impl Call {
    /// No call: what an idle job waits for.
    pub(in crate::model) const NONE: Self = Self(0);
    const FRESH: u32 = 1 << 31;

    /// The call with this serial number.
    pub(in crate::model) const fn numbered(serial: u32, fresh: bool) -> Self {
        Self(if fresh { serial | Self::FRESH } else { serial })
    }

    /// The serial number after `serial`: never 0, and never touching the bit for fresh connections.
    pub(in crate::model) const fn serial_after(serial: u32) -> u32 {
        if serial + 1 == Self::FRESH { 1 } else { serial + 1 }
    }

    /// Whether the call opens its own connection, because the client has none that worked before
    /// (`eureka-client.md` 6.2: no delegate), or another call waits over it (6.7). Such a call never finds a
    /// pooled connection.
    pub const fn is_fresh(self) -> bool {
        self.0 & Self::FRESH != 0
    }
}

/// The timers of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ClientTimer {
    /// When to start the next heartbeat.
    Heartbeat = 0,
    /// When to start the next registry fetch.
    Fetch = 1,
    /// When to look whether the record must be registered anew.
    Replicator = 2,
    /// When to stop waiting for the heartbeat that runs.
    HeartbeatTimeout = 3,
    /// When to stop waiting for the fetch that runs.
    FetchTimeout = 4,
    /// When the balancer's list is taken anew from the local registry.
    BalancerRefresh = 5,
    /// When to shuffle the server list anew.
    ServerList = 6,
    /// When a process that stops gives up waiting for its replicator, or has lingered for long enough.
    ShutdownWait = 7,
}

impl ClientTimer {
    /// How many timers a client has.
    pub const COUNT: usize = 8;
}

/// What a client wants done, in the order in which it happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClientEffect {
    /// A request goes out.
    Send {
        /// To be named with its outcome.
        call: Call,
        /// The server it goes to.
        to: ServerId,
        /// What is asked.
        request: Request,
    },
    /// A timer is set; an earlier setting of the same timer is stale from now on.
    SetTimer {
        /// Which timer.
        timer: ClientTimer,
        /// From now, on the monotonic clock.
        delay: SimDuration,
        /// To be handed back when the timer is due.
        generation: u16,
    },
    /// A datagram goes out that acknowledges a push. Nobody answers it, and nobody learns if it is lost.
    Acknowledge {
        /// The server that pushed.
        to: ServerId,
        /// The number of the push.
        push: PushId,
    },
    /// Something worth knowing happened.
    Fact(Fact),
    /// The process has ended in order, or could not start.
    Exited,
}

/// What follows from a step of the server.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerEffect {
    /// Call [`EurekaServer::on_timer`] with these at `due`.
    SetTimer {
        /// Which timer.
        timer: ServerTimer,
        /// When it fires.
        due: Due,
        /// Handed back when it fires; a setting with another generation than the newest is stale.
        generation: u16,
    },
    /// Call [`EurekaServer::on_peer_timer`] with these at `due`.
    SetPeerTimer {
        /// Whose queue is to be looked at.
        peer: ServerId,
        /// When.
        due: Due,
        /// Handed back when it fires; a setting with another generation than the newest is stale.
        generation: u16,
    },
    /// A batch goes to a peer. Its end, however it ends, is told by [`EurekaServer::on_batch_outcome`].
    Replicate {
        /// To whom.
        to: ServerId,
        /// To be named with its outcome; no two batches of one life to one peer have the same.
        batch: BatchId,
        /// In the order in which they are to be processed; at least one, at most 250.
        items: Box<[Replicated]>,
    },
    /// Call [`super::two_stage::TwoStageServer::on_timer`] with these at `at`.
    SetServiceTimer {
        /// Which kind of timer.
        timer: ServiceTimer,
        /// Which of that kind: what the number means is the kind's own.
        number: u32,
        /// When, on the monotonic clock.
        at: SimTime,
        /// Handed back when it fires: the number of the server's life, round and round.
        generation: u8,
    },
    /// The answer to a request that was not answered at once.
    Answer {
        /// Which.
        ticket: Ticket,
        /// The answer.
        reply: Reply,
    },
    /// A datagram goes out to a subscriber: the list of one service. Nobody learns if it is lost.
    Push {
        /// To whom.
        to: ClientId,
        /// Which service.
        app: AppId,
        /// What is shown of it, as of then.
        payload: Payload,
        /// To be acknowledged.
        push: PushId,
    },
    /// Something that is worth knowing.
    Fact(Fact),
}

/// Names a request that a server has not answered yet, by what the world knows it by. A server gives it back with the
/// answer and makes nothing else of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    /// The call's place among those on their way.
    pub place: u32,
    /// How often that place had been used before.
    pub generation: u16,
}

/// Names a push among those of one life of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PushId(pub u32);

/// The timers of a registry that has several of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ServiceTimer {
    /// When to sweep.
    Sweep = 0,
    /// When a held request is to be looked at.
    Watch = 1,
    /// When to push what has changed of a service.
    Push = 2,
    /// When to send a push again that nobody has acknowledged.
    Resend = 3,
}

/// How a peer fails to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Nothing comes back: a partition, or the host is gone.
    BlackHole,
    /// The process stands still, but its kernel accepts connections and data.
    Paused,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_go_round_without_zero_or_the_fresh_bit() {
        assert_eq!(Call::serial_after(0), 1);
        assert_eq!(Call::serial_after(Call::FRESH - 1), 1);
        assert!(Call::numbered(5, true).is_fresh());
        assert!(!Call::numbered(5, false).is_fresh());
    }
}
