//! The sections that a scenario has under any registry: the fleet, the servers, what is between them.

pub(crate) mod application;
pub(crate) mod fleet;
pub(crate) mod network;
pub(crate) mod registry;
pub(crate) mod server;
pub(crate) mod servers;
pub(crate) mod servers_print;
pub(crate) mod start;
pub(crate) mod traffic;
