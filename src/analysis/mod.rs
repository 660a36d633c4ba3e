//! Closed forms that share no code with the simulation, so that each can contradict the other.

pub mod ks;
pub mod quantile;
mod types;

pub use types::{Absence, Bound, BoundRange};
