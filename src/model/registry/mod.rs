//! The seam between what a registry is and all that goes on around it: one type for every server, one for every client,
//! and one for the settings of each, whichever registry they are of.
//!
//! The world drives these, and never asks which registry it is. What one registry has and the other lacks has a neutral
//! answer here: a registry that holds no answer back holds none, one that knows no operator's overrides has none.
//!
//! Who must know it asks the settings: the scenario language, which has other keys for each, and the closed forms,
//! which are other forms for each.

mod client;
mod config;
mod server;

pub use client::Client;
pub use config::{ClientConfig, Kind, ServerConfig};
pub use server::{MinuteFigures, Saved, Server};
