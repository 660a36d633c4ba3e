//! The closed set of things that happen. Eight bytes each: a kind and a few numbers; whatever a message says
//! stands in its flight, whatever a fault does in its plan.

use crate::engine::Fingerprint;
use crate::model::effect::ServiceTimer;
use crate::model::eureka::ServerTimer;
use crate::model::eureka::client::ClientTimer;
use crate::model::id::{ClientId, ServerId};

/// An event of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A client's process starts for the first time.
    ClientStarts {
        /// Which.
        client: ClientId,
    },
    /// A client's timer is due.
    ClientTimerDue {
        /// Whose.
        client: ClientId,
        /// Which.
        timer: ClientTimer,
        /// Set in which generation.
        generation: u16,
    },
    /// A server's timer is due.
    ServerTimerDue {
        /// Whose.
        server: ServerId,
        /// Which.
        timer: ServerTimer,
        /// Set in which generation.
        generation: u16,
    },
    /// A request reaches its server's host.
    RequestArrives {
        /// The call's flight.
        flight: u32,
    },
    /// An answer, or a refusal, reaches the client's host.
    AnswerArrives {
        /// The call's flight.
        flight: u32,
    },
    /// A caller's connect or read limit is reached.
    LimitReached {
        /// The call's flight.
        flight: u32,
        /// The flight's generation when the limit was set: flights are used again.
        generation: u16,
    },
    /// A fault of the scenario begins.
    FaultBegins {
        /// Its place in the scenario.
        fault: u32,
    },
    /// What a fault began ends: a pause is resumed, a partition healed, a restart comes back.
    FaultEnds {
        /// Its place in the scenario.
        fault: u32,
    },
    /// A fault that takes many steps takes its next one.
    FaultStep {
        /// Its place in the scenario.
        fault: u16,
        /// Which: what it means is the verb's own.
        step: u32,
    },
    /// A message leaves that its sender had held back: a slow heartbeat, or what TCP sends again after a partition.
    MessageLeaves {
        /// The call's flight.
        flight: u32,
    },
    /// A server's process starts for the first time, if not at the start of the run.
    ServerStarts {
        /// Which.
        server: ServerId,
    },
    /// A server is to look at a peer's queue. Numbers of servers fit a byte.
    PeerTimerDue {
        /// Whose.
        server: u8,
        /// Which peer's queue.
        peer: u8,
        /// Set in which generation.
        generation: u16,
    },
    /// A batch reaches a peer's host.
    BatchArrives {
        /// Its place.
        batch: u32,
    },
    /// The answer to a batch, or a refusal, reaches the sender's host.
    BatchAnswered {
        /// Its place.
        batch: u32,
    },
    /// The sender's connect or read limit for a batch is reached.
    BatchLimit {
        /// Its place.
        batch: u32,
        /// The place's generation when the limit was set: places are used again.
        generation: u16,
    },
    /// What a partition had swallowed of a batch, or of its answer, is sent again.
    BatchLeaves {
        /// Its place.
        batch: u32,
    },
    /// A timer is due of a server that has several of each kind.
    ServiceTimerDue {
        /// Whose.
        server: u8,
        /// Which kind.
        timer: ServiceTimer,
        /// In which life of the server it was set, round and round.
        generation: u8,
        /// Which of that kind.
        number: u32,
    },
    /// A datagram reaches a host.
    DatagramArrives {
        /// Its place.
        datagram: u32,
    },
    /// A thread of a server has finished with a request.
    WorkDone {
        /// Whose.
        server: u8,
        /// The place of its work.
        place: u32,
    },
}

impl Event {
    const fn packed(kind: u8, timer: u8, generation: u16, number: u32) -> u64 {
        (kind as u64) << 56 | (timer as u64) << 48 | (generation as u64) << 32 | number as u64
    }
}

impl Fingerprint for Event {
    #[inline]
    fn fingerprint(&self) -> u64 {
        match *self {
            Self::ClientStarts { client } => Self::packed(0, 0, 0, client.0),
            Self::ClientTimerDue { client, timer, generation } => {
                Self::packed(1, timer as u8, generation, client.0)
            }
            Self::ServerTimerDue { server, timer, generation } => {
                Self::packed(2, timer as u8, generation, server.0)
            }
            Self::RequestArrives { flight } => Self::packed(3, 0, 0, flight),
            Self::AnswerArrives { flight } => Self::packed(4, 0, 0, flight),
            Self::LimitReached { flight, generation } => Self::packed(5, 0, generation, flight),
            Self::FaultBegins { fault } => Self::packed(6, 0, 0, fault),
            Self::FaultEnds { fault } => Self::packed(7, 0, 0, fault),
            Self::FaultStep { fault, step } => Self::packed(8, 0, fault, step),
            Self::MessageLeaves { flight } => Self::packed(10, 0, 0, flight),
            Self::ServerStarts { server } => Self::packed(11, 0, 0, server.0),
            Self::PeerTimerDue { server, peer, generation } => {
                Self::packed(12, server, generation, peer as u32)
            }
            Self::BatchArrives { batch } => Self::packed(13, 0, 0, batch),
            Self::BatchAnswered { batch } => Self::packed(14, 0, 0, batch),
            Self::BatchLimit { batch, generation } => Self::packed(15, 0, generation, batch),
            Self::BatchLeaves { batch } => Self::packed(16, 0, 0, batch),
            Self::ServiceTimerDue { server, timer, generation, number } => {
                Self::packed(18, timer as u8, (server as u16) << 8 | generation as u16, number)
            }
            Self::DatagramArrives { datagram } => Self::packed(19, 0, 0, datagram),
            Self::WorkDone { server, place } => Self::packed(17, server, 0, place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_eight_bytes() {
        assert_eq!(std::mem::size_of::<Event>(), 8);
    }

    #[test]
    fn different_events_have_different_fingerprints() {
        let client = ClientId(7);
        let beat = Event::ClientTimerDue { client, timer: ClientTimer::Heartbeat, generation: 1 };
        let later = Event::ClientTimerDue { client, timer: ClientTimer::Heartbeat, generation: 2 };
        assert_ne!(beat.fingerprint(), later.fingerprint());
        assert_ne!(Event::ClientStarts { client }.fingerprint(), beat.fingerprint());
    }
}
