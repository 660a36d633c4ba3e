//! The digest of a run: one number for which events ran, when and in which order.
//!
//! It is always on, so that any two runs can be compared for nothing. It is made to notice differences, not to
//! resist an attacker.

use std::fmt;

use super::time::SimTime;

/// What tells events apart. Different events should give different numbers.
pub trait Fingerprint {
    /// The event as a number: a function of its contents only, the same on every machine and in every version
    /// that promises the same digests.
    fn fingerprint(&self) -> u64;
}

/// A number stands for itself.
impl Fingerprint for u64 {
    #[inline]
    fn fingerprint(&self) -> u64 {
        *self
    }
}

/// The order digest so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderDigest(u64);

/// Odd, with bits well spread: the multipliers of SplitMix64 and of the mixer by Pelle Evensen.
const TIME_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
const STATE_FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;

impl OrderDigest {
    /// The digest of no events.
    pub const fn new() -> Self {
        Self(0)
    }

    /// Takes in that an event with this fingerprint ran at `time`.
    ///
    /// For a given digest so far this is one-to-one in the fingerprint and in the time: two runs that differ in
    /// one event only, and only in one of the two, always get different digests.
    #[inline]
    pub fn add(&mut self, time: SimTime, fingerprint: u64) {
        let event = fingerprint ^ time.as_nanos().wrapping_mul(TIME_FACTOR);
        let state = (self.0 ^ event).wrapping_mul(STATE_FACTOR);
        self.0 = (state ^ (state >> 32)).wrapping_add(1);
    }

    /// The digest as a number.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl Default for OrderDigest {
    fn default() -> Self {
        Self::new()
    }
}

/// Sixteen hexadecimal digits.
impl fmt::Display for OrderDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(events: &[(u64, u64)]) -> OrderDigest {
        let mut digest = OrderDigest::new();
        for &(time, fingerprint) in events {
            digest.add(SimTime::from_nanos(time), fingerprint);
        }
        digest
    }

    #[test]
    fn what_when_and_in_which_order_all_count() {
        let run = digest(&[(1, 10), (1, 20), (5, 30)]);
        assert_ne!(run, digest(&[(1, 20), (1, 10), (5, 30)]), "order");
        assert_ne!(run, digest(&[(1, 10), (2, 20), (5, 30)]), "time");
        assert_ne!(run, digest(&[(1, 10), (1, 21), (5, 30)]), "event");
        assert_ne!(run, digest(&[(1, 10), (1, 20)]), "number");
        assert_ne!(digest(&[(0, 0)]), digest(&[]), "an event of zeros counts too");
    }

    /// The value comes from the formula written out in Python.
    #[test]
    fn it_is_the_same_on_every_machine() {
        assert_eq!(digest(&[(1, 10), (1, 20), (5, 30)]).to_string(), "4dcf2c3f3a079ec0");
    }
}
