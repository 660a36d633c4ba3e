//! What everybody may ask of the settings of a registry.

use crate::engine::SimDuration;
use crate::model::effect::{Call, Silence};
use crate::model::eureka::client::BalancerConfig;
use crate::model::id::AppId;
use crate::model::message::{Failure, Request};

/// The settings of a registry's servers, as others see them.
pub trait ServerSettings {
    /// How long after its start a server accepts requests, if nobody is there to copy from.
    fn serves_after(&self) -> SimDuration {
        SimDuration::ZERO
    }

    /// Whether a server has a client of its own.
    fn has_own_client(&self) -> bool {
        false
    }

    /// Whether a server's own client fetches.
    fn own_client_fetches(&self) -> bool {
        false
    }

    /// Whether requests that queued up while the process stood still are answered after it.
    fn answers_backlog(&self) -> bool {
        true
    }

    /// Whether sweeps that were missed while the process stood still come before requests that waited.
    fn sweeps_first_after_pause(&self) -> bool {
        false
    }

    /// How long a server waits for a connection to a peer, and how long for the peer's answer.
    fn peer_limits(&self) -> (SimDuration, SimDuration) {
        (SimDuration::MAX, SimDuration::MAX)
    }

    /// The probability that a datagram between a server and a client is lost beside what the network loses.
    fn datagram_loss(&self) -> f64 {
        0.0
    }
}

/// The settings of an application's clients, as others see them.
pub trait ClientSettings {
    /// Whether the process registers itself.
    fn registers(&self) -> bool;

    /// Whether the process registers as one that is shown.
    fn is_shown_at_first(&self) -> bool {
        self.registers()
    }

    /// Whether the process looks others up.
    fn fetches(&self) -> bool;

    /// From one heartbeat to the next.
    fn heartbeat_interval(&self) -> SimDuration;

    /// From one fetch to the next; how long a long poll may take.
    fn fetch_interval(&self) -> SimDuration;

    /// At least so long after it noticed something it may notice the next change: when it fetches again.
    fn notices_every(&self) -> SimDuration {
        self.fetch_interval()
    }

    /// How long an answer may take before its caller gives up.
    fn read_limit(&self, request: &Request) -> SimDuration;

    /// How long a call waits for a silent server, and how it then fails.
    fn gives_up_after(&self, call: Call, request: &Request, silence: Silence) -> (SimDuration, Failure);

    /// How long a call may take before anything follows from that.
    fn stall_after(&self) -> SimDuration;

    /// What stands above the client.
    fn balancer(&self) -> BalancerConfig {
        BalancerConfig::None
    }

    /// Whether calls go over connections that are there already.
    fn pools_connections(&self) -> bool {
        true
    }

    /// Which applications it hears of, if not of all.
    fn services(&self) -> Option<&[AppId]> {
        None
    }
}
