//! Closed forms that share no code with the simulation, so that each can contradict the other.
//!
//! [`bounds()`] adds up what the clocks on the way of a death, a departure or an arrival cost: at least, on
//! average, at most. It knows the settings and the rules from the same papers as the simulation does, but it
//! runs nothing: a simulated T_D outside its bound means that one of the two is wrong. Where a closed form
//! does not hold there is none, with the reason. [`two_stage`] has those of the two-stage registry, and what else its
//! paper computes.
//!
//! [`ks`] is the statistic of the comparison with recordings.

mod assumptions;
mod bounds;
mod census;
mod eviction;
mod expected;
#[cfg(test)]
mod fixture;
mod fleet;
pub mod ks;
mod latency;
mod lease;
mod phases;
mod pipeline;
mod protection;
#[cfg(test)]
mod sampled;
mod tolerance;
pub mod two_stage;
mod types;

pub use bounds::bounds;
pub use tolerance::missed_heartbeats_tolerated;
pub use types::{Absence, Bound, BoundRange};
