//! The Eureka server.

mod config;

pub use config::{Flavour, ServerConfig, ServerRules};
