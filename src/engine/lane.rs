//! A lane: the events that were scheduled with one and the same delay from now.
//!
//! They come due in the order in which they were scheduled, since now never runs backwards. So a lane needs no
//! sorting at all: it is a ring buffer, and only its head takes part in the order of the whole queue.

use super::entry::{Entry, Key, NOTHING};

/// A first-in, first-out ring. It grows to what was ever in it at once and stays that large.
#[derive(Clone, Debug)]
pub(super) struct Lane<E> {
    /// Its length is a power of two, or 0 before the first entry.
    ring: Vec<Entry<E>>,
    head: usize,
    len: usize,
}

impl<E: Copy> Lane<E> {
    /// A lane with nothing in it.
    pub(super) fn new() -> Self {
        Self { ring: Vec::new(), head: 0, len: 0 }
    }

    /// Puts an entry behind the others; it must not come before them in the order.
    #[inline]
    pub(super) fn push(&mut self, key: Key, event: E) {
        if self.len == self.ring.len() {
            self.grow(key, event);
        }
        let mask = self.ring.len() - 1;
        debug_assert!(
            self.len == 0 || self.ring[(self.head + self.len - 1) & mask].key() < key,
            "a lane is in order by itself"
        );
        self.ring[(self.head + self.len) & mask] = Entry::new(key, event);
        self.len += 1;
    }

    /// Takes the event of the head. There must be one.
    #[inline]
    pub(super) fn pop(&mut self) -> E {
        debug_assert!(self.len > 0, "only a head that was seen is taken");
        let event = self.ring[self.head].event;
        self.head = (self.head + 1) & (self.ring.len() - 1);
        self.len -= 1;
        event
    }

    /// How many wait in it.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The key of the head, or of nothing.
    #[inline]
    pub(super) fn first(&self) -> Key {
        if self.len == 0 { NOTHING } else { self.ring[self.head].key() }
    }

    /// Doubles the ring. The entry to be pushed stands in the new places until they are written.
    #[cold]
    fn grow(&mut self, key: Key, event: E) {
        let places = (self.ring.len() * 2).max(16);
        let mut ring = Vec::with_capacity(places);
        ring.extend_from_slice(&self.ring[self.head..]);
        ring.extend_from_slice(&self.ring[..self.head]);
        ring.resize(places, Entry::new(key, event));
        self.ring = ring;
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::key_of;
    use super::*;

    fn key(seq: u64) -> Key {
        key_of(10 * seq, seq)
    }

    #[test]
    fn first_in_first_out_across_the_seam_and_through_growth() {
        let mut lane = Lane::new();
        let (mut pushed, mut popped) = (0, 0);
        // Three in, two out, 100 times: the head goes around a ring of 16 several times while it grows to 128.
        for _ in 0..100 {
            for _ in 0..3 {
                lane.push(key(pushed), pushed);
                pushed += 1;
            }
            for _ in 0..2 {
                assert_eq!(lane.first(), key(popped));
                assert_eq!(lane.pop(), popped);
                popped += 1;
            }
        }
        assert_eq!((lane.len, lane.ring.len()), (100, 128));
    }

    #[test]
    fn an_empty_lane_never_comes_first() {
        let mut lane = Lane::new();
        assert_eq!(lane.first(), NOTHING);
        lane.push(key(0), 0);
        lane.pop();
        assert_eq!(lane.first(), NOTHING);
    }
}
