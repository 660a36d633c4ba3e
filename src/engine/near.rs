//! The near slots of the wheel: many short lists, each in order.

use super::entry::{Entry, Key, NOTHING};
use super::slots::SlotSet;

/// Slots, used in a circle.
pub(super) const NEAR_SLOTS: usize = 16_384;

/// The end of a list.
const NIL: u32 = u32::MAX;

/// Lists of entries, whose nodes share one store: a node that becomes free is the next to be used, while it is
/// still at hand.
#[derive(Debug)]
pub(super) struct Near<E> {
    heads: Box<[u32; NEAR_SLOTS]>,
    used: SlotSet<{ NEAR_SLOTS / 64 }>,
    nodes: Vec<Node<E>>,
    /// The first of the nodes that are free.
    free: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node<E> {
    entry: Entry<E>,
    next: u32,
}

impl<E: Copy> Near<E> {
    /// Slots with nothing in them.
    pub(super) fn new() -> Self {
        Self { heads: Box::new([NIL; NEAR_SLOTS]), used: SlotSet::new(), nodes: Vec::new(), free: NIL }
    }

    /// The first key in the first slot at or after `from` that has one, going around once.
    #[inline]
    pub(super) fn first_from(&self, from: usize) -> Option<Key> {
        let slot = self.used.next_from(from)?;
        Some(self.nodes[self.heads[slot] as usize].entry.key())
    }

    /// Takes the first entry of `slot`, which has one; the key is that of the next there.
    #[inline]
    pub(super) fn pop(&mut self, slot: usize) -> (Entry<E>, Key) {
        let head = self.heads[slot];
        let node = &mut self.nodes[head as usize];
        let (entry, next) = (node.entry, node.next);
        node.next = self.free;
        self.free = head;
        self.heads[slot] = next;
        if next == NIL {
            self.used.remove(slot);
            return (entry, NOTHING);
        }
        (entry, self.nodes[next as usize].entry.key())
    }

    /// Adds `entry` to `slot`, behind those that come before it.
    #[inline]
    pub(super) fn insert(&mut self, slot: usize, entry: Entry<E>) {
        let head = self.heads[slot];
        if head == NIL {
            self.used.insert(slot);
            self.heads[slot] = self.node(entry, NIL);
        } else if entry.key() < self.nodes[head as usize].entry.key() {
            self.heads[slot] = self.node(entry, head);
        } else {
            self.insert_after(head, entry);
        }
    }

    fn insert_after(&mut self, head: u32, entry: Entry<E>) {
        let key = entry.key();
        let mut before = head;
        loop {
            let next = self.nodes[before as usize].next;
            if next == NIL || key < self.nodes[next as usize].entry.key() {
                let node = self.node(entry, next);
                self.nodes[before as usize].next = node;
                return;
            }
            before = next;
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
        for head in self.heads.iter_mut() {
            let mut node = std::mem::replace(head, NIL);
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
