//! What a registry is: pure state machines for servers and clients. Time and chance come in as arguments,
//! effects go out as values; nothing here knows the engine's queue, files or terminals.

pub mod clock;
pub mod effect;
pub mod eureka;
pub mod fact;
pub mod id;
pub mod message;
pub mod registry;
#[cfg(test)]
mod rig;
pub mod stage;
pub mod step;
mod timers;
pub mod two_stage;
pub mod view;

pub use eureka::client;
