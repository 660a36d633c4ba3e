//! The two-stage registry: silence first takes an instance out of the answers (soft eviction), then has it forgotten
//! (hard deletion), and a guard per service is meant to keep a sweep from emptying it.
//!
//! Source: `two-stage.md`.

mod client;
mod config;
mod server;

pub use client::TwoStageClient;
pub use config::{
    Backoff, ClientConfig, Discovery, DiskMode, DiskWriteOn, Guard, GuardScope, OnCorruptFile, Preset,
    RegisterExisting, ResumeOrder, Sanity, Schedule, ServerConfig, SweepPasses, SweepPhase, WatchAck,
    WatchTimeoutPayload,
};
pub use server::{Saved, TwoStageServer};
