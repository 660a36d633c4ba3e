//! stillup: the instance is dead, so why is it still UP, and for how long?
//!
//! A deterministic discrete-event simulator of service registries. Start at [`scenario::Scenario`], which says
//! what to run, and `docs/ARCHITECTURE.md`, which shows the house.

pub mod analysis;
pub mod cli;
pub mod engine;
pub mod model;
pub mod observe;
pub mod report;
pub mod scenario;
pub mod sweep;
pub mod world;
