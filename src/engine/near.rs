//! The near slots of the wheel: many short lists, each in order.

use super::entry::{Entry, Key, NOTHING};
use super::slots::SlotSet;

/// Slots, used in a circle.
pub(super) const NEAR_SLOTS: usize = 16_384;

/// The end of a list.
const NIL: u32 = u32::MAX;

/// Lists of entries, whose nodes share one store: a node that becomes free is the next to be used, while it is
/// still at hand. A list is a circle, held at its last node: what comes first and what comes last are both found
/// at once, however long it is.
#[derive(Debug)]
pub(super) struct Near<E> {
    lasts: Box<[u32; NEAR_SLOTS]>,
    used: SlotSet<{ NEAR_SLOTS / 64 }>,
    nodes: Vec<Node<E>>,
    /// The first of the nodes that are free.
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node<E> {
    entry: Entry<E>,
    /// The next in order; the first, for the last. The next free one, for a free node.
    next: u32,
}

impl<E: Copy> Near<E> {
    /// Slots with nothing in them.
    pub(super) fn new() -> Self {
        Self { lasts: Box::new([NIL; NEAR_SLOTS]), used: SlotSet::new(), nodes: Vec::new(), free: NIL }
    }

    /// The first key in the first slot at or after `from` that has one, going around once.
    #[inline]
    pub(super) fn first_from(&self, from: usize) -> Option<Key> {
        let slot = self.used.next_from(from)?;
        let last = &self.nodes[self.lasts[slot] as usize];
        Some(self.nodes[last.next as usize].entry.key())
    }

    /// Takes the first entry of `slot`, which has one; the key is that of the next there.
    #[inline]
    pub(super) fn pop(&mut self, slot: usize) -> (Entry<E>, Key) {
        let last = self.lasts[slot];
        let first = self.nodes[last as usize].next;
        let node = &mut self.nodes[first as usize];
        let (entry, next) = (node.entry, node.next);
        node.next = self.free;
        self.free = first;
        if first == last {
            self.lasts[slot] = NIL;
            self.used.remove(slot);
            return (entry, NOTHING);
        }
        self.nodes[last as usize].next = next;
        (entry, self.nodes[next as usize].entry.key())
    }

    /// Adds `entry` to `slot`, behind those that come before it. Returns how many it had to be held against
    /// besides the first and the last.
    #[inline]
    pub(super) fn insert(&mut self, slot: usize, entry: Entry<E>) -> u32 {
        let last = self.lasts[slot];
        if last == NIL {
            self.used.insert(slot);
            let node = self.node(entry, NIL);
            self.nodes[node as usize].next = node;
            self.lasts[slot] = node;
            return 0;
        }
        let first = self.nodes[last as usize].next;
        if entry.key() > self.nodes[last as usize].entry.key() {
            self.lasts[slot] = self.node(entry, first);
            self.nodes[last as usize].next = self.lasts[slot];
            0
        } else if entry.key() < self.nodes[first as usize].entry.key() {
            self.nodes[last as usize].next = self.node(entry, first);
            0
        } else {
            self.insert_between(first, entry)
        }
    }

    /// Adds `entry`, which comes after `first` and before the last of the same list.
    fn insert_between(&mut self, first: u32, entry: Entry<E>) -> u32 {
        let (key, mut before, mut steps) = (entry.key(), first, 1);
        loop {
            let next = self.nodes[before as usize].next;
            if key < self.nodes[next as usize].entry.key() {
                let node = self.node(entry, next);
                self.nodes[before as usize].next = node;
                return steps;
            }
            before = next;
            steps += 1;
        }
    }

    #[inline]
    fn node(&mut self, entry: Entry<E>, next: u32) -> u32 {
        let node = self.free;
        if let Some(place) = self.nodes.get_mut(node as usize) {
            self.free = place.next;
            *place = Node { entry, next };
            return node;
        }
        self.new_node(Node { entry, next })
    }

    #[cold]
    fn new_node(&mut self, node: Node<E>) -> u32 {
        let index = u32::try_from(self.nodes.len()).expect("fewer than 2^32 entries are near");
        self.nodes.push(node);
        index
    }

    /// Moves all entries to `entries`, in no promised order.
    pub(super) fn drain_into(&mut self, entries: &mut Vec<Entry<E>>) {
        for last in self.lasts.iter_mut().filter(|last| **last != NIL) {
            let end = std::mem::replace(last, NIL);
            let mut node = end;
            loop {
                entries.push(self.nodes[node as usize].entry);
                node = self.nodes[node as usize].next;
                if node == end {
                    break;
                }
            }
        }
        self.used = SlotSet::new();
        self.nodes.clear();
        self.free = NIL;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(time: u64, seq: u64) -> Entry<()> {
        Entry { time, seq, event: () }
    }

    #[test]
    fn a_list_is_in_order_whatever_the_order_of_insertion() {
        let mut near = Near::new();
        for (time, seq) in [(5, 3), (5, 1), (4, 9), (7, 2), (5, 2)] {
            near.insert(8, entry(time, seq));
        }
        let mut order = Vec::new();
        while let Some(key) = near.first_from(0) {
            let (taken, _) = near.pop(8);
            assert_eq!(taken.key(), key);
            order.push((taken.time, taken.seq));
        }
        assert_eq!(order, [(4, 9), (5, 1), (5, 2), (5, 3), (7, 2)]);
    }

    #[test]
    fn nodes_are_used_again() {
        let mut near = Near::new();
        for seq in 0..100 {
            near.insert(seq as usize, entry(seq, seq));
            near.insert(seq as usize, entry(seq + 1, seq));
            assert_eq!(near.pop(seq as usize).1, entry(seq + 1, seq).key());
            assert_eq!(near.pop(seq as usize).1, NOTHING);
        }
        assert_eq!(near.nodes.len(), 2);
    }
}
