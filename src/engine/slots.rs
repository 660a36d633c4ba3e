//! A set of slots of a wheel: which of 4,096 are in use, and the next of them, in a few instructions.

/// Slots of a wheel.
pub(super) const SLOTS: usize = 4096;

/// Slot numbers as bits, and one more word that says which of the 64 words have any.
#[derive(Debug)]
pub(super) struct SlotSet {
    words: [u64; SLOTS / 64],
    summary: u64,
}

impl SlotSet {
    /// No slot.
    pub(super) fn new() -> Self {
        Self { words: [0; SLOTS / 64], summary: 0 }
    }

    /// Adds `slot`.
    #[inline]
    pub(super) fn insert(&mut self, slot: usize) {
        self.words[slot / 64] |= 1 << (slot % 64);
        self.summary |= 1 << (slot / 64);
    }

    /// Removes `slot`.
    #[inline]
    pub(super) fn remove(&mut self, slot: usize) {
        let word = &mut self.words[slot / 64];
        *word &= !(1 << (slot % 64));
        if *word == 0 {
            self.summary &= !(1 << (slot / 64));
        }
    }

    /// The first slot in the set at or after `from`, going around once.
    #[inline]
    pub(super) fn next_from(&self, from: usize) -> Option<usize> {
        let word = from / 64;
        let ahead = self.words[word] & (!0 << (from % 64));
        if ahead != 0 {
            return Some(word * 64 + ahead.trailing_zeros() as usize);
        }
        if self.summary == 0 {
            return None;
        }
        // The words behind this one first, this one itself (its slots before `from`) last.
        let skipped = self.summary.rotate_right(word as u32 + 1).trailing_zeros() as usize;
        let word = (word + 1 + skipped) % 64;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_slot_is_found_around_the_wheel() {
        let mut set = SlotSet::new();
        assert_eq!(set.next_from(7), None);
        for slot in [5, 64, 4095] {
            set.insert(slot);
        }
        let cases = [(0, 5), (5, 5), (6, 64), (64, 64), (65, 4095), (4095, 4095)]
            .map(|(from, next)| (from, Some(next)));
        for (from, next) in cases {
            assert_eq!(set.next_from(from), next, "from {from}");
        }
        set.remove(4095);
        assert_eq!(set.next_from(65), Some(5));
        set.remove(64);
        assert_eq!(set.next_from(6), Some(5), "its own word comes last");
        set.remove(5);
        assert_eq!(set.next_from(0), None);
    }
}
