//! The near slots of the wheel: many short lists, each in order.

use super::entry::{Entry, Key, NOTHING};
use super::slots::SlotSet;

/// Slots, used in a circle.
pub(super) const NEAR_SLOTS: usize = 4096;

/// No node: the end of a list.
const NIL: u32 = u32::MAX;

/// Lists of entries, whose nodes share one store: a node that becomes free is the next to be used, while it is
/// still at hand.
#[derive(Clone, Debug)]
pub(super) struct Near<E> {
    lists: Box<[List; NEAR_SLOTS]>,
    used: SlotSet<{ NEAR_SLOTS / 64 }, { NEAR_SLOTS / 4096 }>,
    nodes: Vec<Node<E>>,
    /// The first of the nodes that are free.
    free: u32,
}

/// Where a list begins and ends: however long it is, what comes first and what comes last are found at once.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    /// Of no meaning while there is no first.
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node<E> {
    entry: Entry<E>,
    /// The next in order, or the next free one.
    next: u32,
}

impl<E: Copy> Near<E> {
    /// Slots with nothing in them.
    pub(super) fn new() -> Self {
        let empty = List { first: NIL, last: NIL };
        Self { lists: Box::new([empty; NEAR_SLOTS]), used: SlotSet::new(), nodes: Vec::new(), free: NIL }
    }

    /// The first key in the first slot at or after `from` that has one, going around once.
    #[inline]
    pub(super) fn first_from(&self, from: usize) -> Option<Key> {
        let slot = self.used.next_from(from)?;
        Some(self.nodes[self.lists[slot].first as usize].entry.key())
    }

    /// Takes the first event of `slot`, which has one; the key is that of the next there.
    #[inline]
    pub(super) fn pop(&mut self, slot: usize) -> (E, Key) {
        let first = self.lists[slot].first;
        let node = &mut self.nodes[first as usize];
        let (event, next) = (node.entry.event, node.next);
        node.next = self.free;
        self.free = first;
        self.lists[slot].first = next;
        if next == NIL {
            self.used.remove(slot);
            return (event, NOTHING);
        }
        (event, self.nodes[next as usize].entry.key())
    }

    /// Adds an entry to `slot`, behind those that come before it.
    pub(super) fn insert(&mut self, slot: usize, key: Key, event: E) {
        if !self.insert_first(slot, key, event) {
            self.insert_behind(slot, key, event);
        }
    }

    /// Adds an entry to `slot` if it comes first there, and says whether it did. Nearly all do.
    #[inline(always)]
    pub(super) fn insert_first(&mut self, slot: usize, key: Key, event: E) -> bool {
        let first = self.lists[slot].first;
        if first == NIL {
            self.used.insert(slot);
            let node = self.node(key, event, NIL);
            self.lists[slot] = List { first: node, last: node };
            return true;
        }
        let comes_first = key < self.nodes[first as usize].entry.key();
        if comes_first {
            self.lists[slot].first = self.node(key, event, first);
        }
        comes_first
    }

    /// Adds an entry to `slot` that does not come first there. Returns how many it had to be held against
    /// besides the first and the last.
    pub(super) fn insert_behind(&mut self, slot: usize, key: Key, event: E) -> u32 {
        let List { first, last } = self.lists[slot];
        if key > self.nodes[last as usize].entry.key() {
            let node = self.node(key, event, NIL);
            self.nodes[last as usize].next = node;
            self.lists[slot].last = node;
            return 0;
        }
        let (mut before, mut steps) = (first, 1);
        loop {
            let next = self.nodes[before as usize].next;
            if key < self.nodes[next as usize].entry.key() {
                self.nodes[before as usize].next = self.node(key, event, next);
                return steps;
            }
            before = next;
            steps += 1;
        }
    }

    #[inline]
    fn node(&mut self, key: Key, event: E, next: u32) -> u32 {
        let node = self.free;
        if let Some(place) = self.nodes.get_mut(node as usize) {
            self.free = place.next;
            *place = Node { entry: Entry::new(key, event), next };
            return node;
        }
        self.new_node(key, event, next)
    }

    #[cold]
    fn new_node(&mut self, key: Key, event: E, next: u32) -> u32 {
        let index = u32::try_from(self.nodes.len()).expect("fewer than 2^32 entries are near");
        self.nodes.push(Node { entry: Entry::new(key, event), next });
        index
    }

    /// Moves all entries to `entries`, in no promised order.
    pub(super) fn drain_into(&mut self, entries: &mut Vec<Entry<E>>) {
        for list in self.lists.iter_mut() {
            let mut node = std::mem::replace(&mut list.first, NIL);
            while node != NIL {
                entries.push(self.nodes[node as usize].entry);
                node = self.nodes[node as usize].next;
            }
        }
        self.used = SlotSet::new();
        self.nodes.clear();
        self.free = NIL;
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::key_of;
    use super::*;

    #[test]
    fn a_list_is_in_order_whatever_the_order_of_insertion() {
        let mut near = Near::new();
        for (time, seq) in [(5, 3), (5, 1), (4, 9), (7, 2), (5, 2)] {
            near.insert(8, key_of(time, seq), (time, seq));
        }
        let mut order = Vec::new();
        while let Some(key) = near.first_from(0) {
            let (event, _) = near.pop(8);
            assert_eq!(key_of(event.0, event.1), key);
            order.push(event);
        }
        assert_eq!(order, [(4, 9), (5, 1), (5, 2), (5, 3), (7, 2)]);
    }

    /// Each of 1,000 ties is held against the first and the last only.
    #[test]
    fn ties_do_not_search() {
        let mut near = Near::new();
        near.insert(3, key_of(5, 0), ());
        for seq in 1..1_000 {
            assert_eq!(near.insert_behind(3, key_of(5, seq), ()), 0, "{seq}");
        }
        for seq in 1..1_000 {
            assert_eq!(near.pop(3).1, key_of(5, seq));
        }
    }

    #[test]
    fn nodes_are_used_again() {
        let mut near = Near::new();
        for seq in 0..100 {
            near.insert(seq as usize, key_of(seq, seq), ());
            near.insert(seq as usize, key_of(seq + 1, seq), ());
            assert_eq!(near.pop(seq as usize).1, key_of(seq + 1, seq));
            assert_eq!(near.pop(seq as usize).1, NOTHING);
        }
        assert_eq!(near.nodes.len(), 2);
    }
}
