//! What a registry lets a live instance miss.

use super::{lease, two_stage};
use crate::model::registry::{ClientConfig, ServerConfig};

/// How many heartbeats in a row a live instance may miss, and it is at no moment up for eviction: of Eureka the lease is
/// not expired, of the two-stage registry the silence is no longer than the soft time-out. `None` if it can be although
/// none is missed.
///
/// With 90 s and heartbeats every 30 s that is 4 for Eureka, which doubles the lease; with 15 s and heartbeats every 5 s
/// it is 2 for the two-stage registry.
pub fn missed_heartbeats_tolerated(server: &ServerConfig, client: &ClientConfig) -> Option<u64> {
    match server {
        ServerConfig::Eureka(_) => lease::missed_heartbeats_tolerated(client.eureka()),
        ServerConfig::TwoStage(server) => two_stage::missed_heartbeats_tolerated(server, client.two_stage()),
    }
}
