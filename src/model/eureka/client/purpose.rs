//! What a client's draws are for. A client has at most eight streams of chance; all are named here, so that
//! no two rules ever draw from the same one.

use crate::engine::Purpose;

/// The length of a session of the registration stack (`eureka-client.md` 6.5).
pub const SESSION_OF_REGISTRATION: Purpose = Purpose(0);
/// The length of a session of the query stack (`eureka-client.md` 6.5).
pub const SESSION_OF_QUERY: Purpose = Purpose(1);
/// The order of the server list, anew at each start and each refresh (`eureka-client.md` 6.3).
pub const SERVER_ORDER: Purpose = Purpose(2);
/// The moment of an observer's first call through its balancer; drawn by the world.
pub const BALANCER_FIRST_CALL: Purpose = Purpose(3);
/// The gaps between calls through a balancer that is not called densely (`eureka-client.md` 8.3).
pub const BALANCER_CALLS: Purpose = Purpose(4);
/// Whether a datagram to or from it is lost; drawn by the world.
pub const DATAGRAM_LOSS: Purpose = Purpose(5);
/// When the process starts; drawn by the world.
pub const START_OFFSET: Purpose = Purpose(6);
/// The latencies of the client's messages; drawn by the world.
pub const LATENCY: Purpose = Purpose(7);

/// Every purpose of a client.
pub const ALL: [Purpose; Purpose::COUNT] = [
    SESSION_OF_REGISTRATION,
    SESSION_OF_QUERY,
    SERVER_ORDER,
    BALANCER_FIRST_CALL,
    BALANCER_CALLS,
    DATAGRAM_LOSS,
    START_OFFSET,
    LATENCY,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_purposes_share_a_stream() {
        for (at, purpose) in ALL.iter().enumerate() {
            assert_eq!(purpose.0 as usize, at);
        }
    }
}
