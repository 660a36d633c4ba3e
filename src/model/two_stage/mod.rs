//! The two-stage registry: silence first takes an instance out of the answers (soft eviction), then has it forgotten
//! (hard deletion), and a guard per service is meant to keep a sweep from emptying it.
//!
//! [`TwoStageServer`] is the registry, [`TwoStageClient`] a process that registers, looks others up, or both. Defects of
//! the original are kept as they are; each repair is a setting that is off.
//!
//! # The preset `nacos-1`
//!
//! [`Preset::Nacos1`] is a single node of Nacos 1.4.x as far as it can be told in these parameters (`two-stage.md` 4.5).
//! Left out: the cluster and with it the delay of health between nodes and the sweep of a dead node's services; time-outs
//! and intervals of single instances; weights, clusters, selectors and metadata; persistent instances and active probing;
//! the operator's fail-over directory; the removal of empty services; a full heartbeat by which the server registers (the
//! client does, a round trip later); a file for each service (there is one for all). Nacos 2.x is another protocol.
//!
//! Source: `two-stage.md`.

mod client;
mod config;
mod kind;
mod server;

pub use client::TwoStageClient;
pub use config::{
    Backoff, ClientConfig, Discovery, DiskMode, DiskWriteOn, Guard, GuardScope, OnCorruptFile, Preset,
    RegisterExisting, ResumeOrder, Sanity, Schedule, ServerConfig, SweepPasses, SweepPhase, WatchAck,
    WatchTimeoutPayload,
};
pub use kind::TwoStage;
pub use server::{Saved, TwoStageServer};
