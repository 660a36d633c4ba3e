//! What a registry is to all that goes on around it.
//!
//! [`Registry`] is a type without values for each of them: it names the types of the registry's servers, of its clients,
//! and of the settings of both, so that none is ever paired with another's. Whatever drives them is written once, over
//! any `R: Registry`, and never asks which it is. What one registry has and others lack has a neutral answer here: a
//! registry that holds no answer back holds none, one that knows no operator's overrides has none.
//!
//! | a registry says | in |
//! |---|---|
//! | its stages and its requests | [`Registry`] |
//! | what its settings mean to others | [`ServerSettings`], [`ClientSettings`] |
//! | what its servers and clients do | [`ServerMachine`], [`ClientMachine`] |
//!
//! Each does so in the file `kind.rs` of its own folder.

mod client;
mod config;
mod machines;
mod server;
mod settings;

use std::fmt::Debug;

pub use client::Client;
pub use config::{ClientConfig, Kind, ServerConfig};
pub use machines::{ClientMachine, MinuteFigures, ServerMachine};
pub use server::{Saved, Server};
pub use settings::{ClientSettings, ServerSettings};

use super::message::RequestKind;
use super::stage::Stage;

/// A registry: its types, and what they have in common with those of others.
pub trait Registry: Copy + Debug + PartialEq + 'static {
    /// Which one.
    const KIND: Kind;
    /// The stages that it has, in order.
    const STAGES: &'static [Stage];
    /// Of these, the stages on the way from the registry to the caller, in order.
    const WAY: &'static [Stage];
    /// The kinds of request that it knows, in order of their numbers.
    const REQUESTS: &'static [RequestKind];

    /// The settings of its servers.
    type ServerConfig: ServerSettings + Clone + Debug + PartialEq;
    /// The settings of an application's clients.
    type ClientConfig: ClientSettings + Clone + Debug + PartialEq;
    /// The settings of the clients that are a part of its servers; `()` if they have none.
    type OwnClient: Clone + Debug + PartialEq;
    /// One life of a server.
    type Server: ServerMachine<Config = Self::ServerConfig>;
    /// A process of an application.
    type Client: ClientMachine<Config = Self::ClientConfig>;

    /// The settings of the client that is a part of a server, if it has one.
    fn own_client(config: &Self::OwnClient) -> Option<&Self::ClientConfig>;

    /// Whether an instance that is well is never forgotten if all its heartbeats arrive at once.
    fn beats_in_time(server: &Self::ServerConfig, client: &Self::ClientConfig) -> bool;

    /// Whether nothing brings back an instance that has left, once everybody has seen it leave: no heartbeat that goes
    /// on until its process has ended, and no push of an older list that is sent again.
    fn leaves_for_good(_server: &Self::ServerConfig, _client: &Self::ClientConfig) -> bool {
        true
    }
}
