//! The Eureka client and the load balancer above it, as one pure state machine.
//!
//! [`Client`] is told what happens (it starts, a timer is due, an answer came) and answers with
//! [`ClientEffect`]s. Its parts, by idea:
//!
//! ```text
//!   start, shutdown          the life of the process
//!   heartbeat, fetch         the two supervised tasks      supervisor: fixed delay, time-out, back-off
//!   replicator               registers a dirty record      rate_limiter, record, health
//!   balancer                 follows the local registry
//!   job                      a run: requests, made of attempts
//!   transport, servers       which server an attempt goes to; delegate, quarantine, session, limits
//! ```
//!
//! Source: `eureka-client.md` sections 1 to 9.

mod balancer;
mod config;
#[cfg(test)]
mod failover;
mod fetch;
mod grid;
#[cfg(test)]
mod harness;
mod health;
mod heartbeat;
mod java_random;
mod job;
mod machine;
pub mod purpose;
mod rate_limiter;
mod record;
mod replicator;
mod servers;
mod shutdown;
mod start;
mod supervisor;
mod transport;

pub use crate::model::effect::{Call, ClientEffect, ClientTimer};
pub use config::{
    BalancerConfig, ClientConfig, OS_CONNECT_LIMIT, OS_SEND_LIMIT, ServerOrder, TransportConfig,
    TransportKind,
};
pub use machine::Client;
pub use servers::ServerUrls;
pub use transport::Silence;
