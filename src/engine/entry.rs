//! What stands in the queue, and the one key that orders it.
//!
//! Key and event are handed from function to function apart, and become an entry where it is stored. So they
//! travel in registers: an entry of three words would go by way of the stack, in halves that the processor must
//! wait to read as a whole.

use std::cmp::Ordering;

/// An event that waits. 24 bytes if the event has 8.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<E> {
    /// When it is due, in nanoseconds.
    pub(super) time: u64,
    /// How many were scheduled before it.
    pub(super) seq: u64,
    /// What happens.
    pub(super) event: E,
}

/// (time, seq) as one number: what is smaller comes first.
pub(super) type Key = u128;

/// The key of nothing: later than any entry, as no sequence number gets that far.
pub(super) const NOTHING: Key = Key::MAX;

impl<E> Entry<E> {
    /// The entry of `event` at `key`.
    #[inline]
    pub(super) fn new(key: Key, event: E) -> Self {
        Self { time: time_of(key), seq: key as u64, event }
    }

    /// Its place in the order.
    #[inline]
    pub(super) fn key(&self) -> Key {
        Key::from(self.time) << 64 | Key::from(self.seq)
    }
}

/// The key of `time` and `seq`.
#[inline]
pub(super) fn key_of(time: u64, seq: u64) -> Key {
    Key::from(time) << 64 | Key::from(seq)
}

/// The time in a key, in nanoseconds.
#[inline]
pub(super) fn time_of(key: Key) -> u64 {
    (key >> 64) as u64
}

/// The earliest is the greatest, as the standard library's heap gives the greatest first.
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}
