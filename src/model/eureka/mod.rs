//! Eureka. The server: leases, the registry, eviction, self-preservation and the response cache, each in a file of its
//! own, and the machine that puts them together. Its client, and the load balancer above it, in [`client`]. What a
//! registry must say of itself is in `kind`.

mod cache;
mod changed;
pub mod client;
mod config;
mod effect;
mod eviction;
mod kind;
mod lease;
mod meter;
mod registry;
mod release;
mod replication;
mod requests;
mod self_preservation;
mod server;
mod startup;
mod status;
mod timers;

pub use crate::model::clock::Due;
pub use config::{Flavour, ServerConfig, ServerRules};
pub use effect::{OwnRegistry, ServerEffect, ServerStep};
pub use eviction::{EVICTION_CHOICE, Round};
pub use kind::Eureka;
pub use lease::Lease;
pub use release::{EurekaVersion, Release, UnknownRelease};
pub use replication::{BatchId, BatchOutcome};
pub use server::EurekaServer;
pub use timers::ServerTimer;

#[cfg(test)]
mod tests;
