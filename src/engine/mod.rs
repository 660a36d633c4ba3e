//! The event engine: virtual time, one totally ordered queue, streams of chance, the loop and its digest.
//! It does not know what a registry is.

mod chance;
mod time;

pub use chance::{Chance, Dice, Purpose, Seed};
pub use time::{NANOS_PER_MS, NANOS_PER_S, SimDuration, SimTime};
