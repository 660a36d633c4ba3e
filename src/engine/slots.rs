//! A set of slots of a wheel: which are in use, and the next of them, in a few instructions.

/// Slot numbers below `64 · WORDS` as bits, and one bit more for each word that has any. `WORDS` is
/// `64 · GROUPS`.
#[derive(Clone, Debug)]
pub(super) struct SlotSet<const WORDS: usize, const GROUPS: usize> {
    words: [u64; WORDS],
    /// A bit for each word in use.
    groups: [u64; GROUPS],
}

impl<const WORDS: usize, const GROUPS: usize> SlotSet<WORDS, GROUPS> {
    /// No slot.
    pub(super) fn new() -> Self {
        const { assert!(WORDS == 64 * GROUPS) };
        Self { words: [0; WORDS], groups: [0; GROUPS] }
    }

    /// Adds `slot`.
    #[inline]
    pub(super) fn insert(&mut self, slot: usize) {
        let word = slot / 64;
        self.words[word] |= 1 << (slot % 64);
        self.groups[word / 64] |= 1 << (word % 64);
    }

    /// Removes `slot`.
    #[inline]
    pub(super) fn remove(&mut self, slot: usize) {
        let word = slot / 64;
        self.words[word] &= !(1 << (slot % 64));
        // Without a branch, as whether a word becomes empty is hard to guess.
        self.groups[word / 64] &= !(u64::from(self.words[word] == 0) << (word % 64));
    }

    /// The first slot in the set at or after `from`, going around once.
    #[inline]
    pub(super) fn next_from(&self, from: usize) -> Option<usize> {
        let word = from / 64;
        let ahead = self.words[word] & (!0 << (from % 64));
        if ahead != 0 {
            return Some(word * 64 + ahead.trailing_zeros() as usize);
        }
        // Its own word comes last: what it has then lies before `from`.
        let word = self.next_word((word + 1) % WORDS)?;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }

    #[inline]
    fn next_word(&self, from: usize) -> Option<usize> {
        let group = from / 64;
        let ahead = self.groups[group] & (!0 << (from % 64));
        if ahead != 0 {
            return Some(group * 64 + ahead.trailing_zeros() as usize);
        }
        let groups = (group + 1..GROUPS).chain(0..=group);
        groups
            .map(|group| (group, self.groups[group]))
            .find(|&(_, words)| words != 0)
            .map(|(group, words)| group * 64 + words.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_slot_is_found_around_the_wheel() {
        let mut set = SlotSet::<64, 1>::new();
        assert_eq!(set.next_from(7), None);
        for slot in [5, 64, 4095] {
            set.insert(slot);
        }
        for (from, next) in [(0, 5), (5, 5), (6, 64), (64, 64), (65, 4095), (4095, 4095)] {
            assert_eq!(set.next_from(from), Some(next), "from {from}");
        }
        set.remove(4095);
        assert_eq!(set.next_from(65), Some(5));
        set.remove(64);
        assert_eq!(set.next_from(6), Some(5), "its own word comes last");
        set.remove(5);
        assert_eq!(set.next_from(0), None);
    }

    /// Every pair of a `from` and a single slot in a set of 256 words would be 2⁵² steps: a stride of 61 meets
    /// all residues of 64.
    #[test]
    fn a_single_slot_is_found_from_everywhere() {
        let mut set = SlotSet::<256, 4>::new();
        for slot in (0..256 * 64).step_by(61) {
            set.insert(slot);
            for from in (0..256 * 64).step_by(509) {
                assert_eq!(set.next_from(from), Some(slot), "from {from}");
            }
            set.remove(slot);
        }
    }
}
