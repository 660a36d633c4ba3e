//! The Eureka client and the load balancer above it.

mod config;

pub use config::{
    BalancerConfig, ClientConfig, OS_CONNECT_LIMIT, OS_SEND_LIMIT, TransportConfig, TransportKind,
};
