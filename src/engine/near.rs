//! The near slots of the wheel: many short lists, each in order.

use super::entry::{Entry, Key, NOTHING};
use super::slots::SlotSet;

/// Slots, used in a circle.
pub(super) const NEAR_SLOTS: usize = 4096;

/// The end of a list.
const NIL: u32 = u32::MAX;

/// Lists of entries, whose nodes share one store: a node that becomes free is the next to be used, while it is
/// still at hand.
#[derive(Debug)]
pub(super) struct Near<E> {
    heads: Box<[u32; NEAR_SLOTS]>,
    used: SlotSet<{ NEAR_SLOTS / 64 }, { NEAR_SLOTS / 4096 }>,
    nodes: Vec<Node<E>>,
    /// The first of the nodes that are free.
    free: u32,
    /// What was last put into the middle or at the end of a list.
    recent: Recent,
}

/// An entry's slot, key and node. What comes next often comes right behind it: ties come in order.
#[derive(Clone, Copy, Debug)]
struct Recent {
    slot: usize,
    key: Key,
    node: u32,
}

impl Recent {
    const NONE: Self = Self { slot: usize::MAX, key: NOTHING, node: NIL };
}

#[derive(Clone, Copy, Debug)]
struct Node<E> {
    entry: Entry<E>,
    next: u32,
}

impl<E: Copy> Near<E> {
    /// Slots with nothing in them.
    pub(super) fn new() -> Self {
        Self {
            heads: Box::new([NIL; NEAR_SLOTS]),
            used: SlotSet::new(),
            nodes: Vec::new(),
            free: NIL,
            recent: Recent::NONE,
        }
    }

    /// The first key in the first slot at or after `from` that has one, going around once.
    #[inline]
    pub(super) fn first_from(&self, from: usize) -> Option<Key> {
        let slot = self.used.next_from(from)?;
        Some(self.nodes[self.heads[slot] as usize].entry.key())
    }

    /// Takes the first entry of `slot`, which has one; the key is that of the next there.
    #[inline]
    pub(super) fn pop(&mut self, slot: usize) -> (E, Key) {
        let head = self.heads[slot];
        let node = &mut self.nodes[head as usize];
        let (event, next) = (node.entry.event, node.next);
        node.next = self.free;
        self.free = head;
        self.heads[slot] = next;
        if next == NIL {
            self.used.remove(slot);
            return (event, NOTHING);
        }
        (event, self.nodes[next as usize].entry.key())
    }

    /// Adds an entry to `slot`, behind those that come before it. Returns how many it had to be held against.
    #[inline(always)]
    pub(super) fn insert(&mut self, slot: usize, key: Key, event: E) -> u32 {
        let head = self.heads[slot];
        if head == NIL {
            self.used.insert(slot);
            self.heads[slot] = self.node(key, event, NIL);
            0
        } else if key < self.nodes[head as usize].entry.key() {
            self.heads[slot] = self.node(key, event, head);
            0
        } else {
            self.insert_after(slot, key, event)
        }
    }

    #[inline(never)]
    fn insert_after(&mut self, slot: usize, key: Key, event: E) -> u32 {
        let (mut before, mut steps) = (self.start_of_search(slot, key), 1);
        loop {
            let next = self.nodes[before as usize].next;
            if next == NIL || key < self.nodes[next as usize].entry.key() {
                let node = self.node(key, event, next);
                self.nodes[before as usize].next = node;
                self.recent = Recent { slot, key, node };
                return steps;
            }
            before = next;
            steps += 1;
        }
    }

    /// The recent entry if it lies on the way to `key`, else the head. What was taken out meanwhile came before
    /// the present head, so a recent entry that comes after it is still there.
    fn start_of_search(&self, slot: usize, key: Key) -> u32 {
        let (head, recent) = (self.heads[slot], self.recent);
        let still_there = recent.slot == slot && recent.key > self.nodes[head as usize].entry.key();
        if still_there && recent.key < key { recent.node } else { head }
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
        self.recent = Recent::NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::time_of;
    use super::*;

    fn entry(time: u64, seq: u64) -> Entry<()> {
        Entry { time, seq, event: () }
    }

    #[test]
    fn a_list_is_in_order_whatever_the_order_of_insertion() {
        let mut near = Near::new();
        for (time, seq) in [(5, 3), (5, 1), (4, 9), (7, 2), (5, 2)] {
            near.insert(8, entry(time, seq).key(), ());
        }
        let mut order = Vec::new();
        while let Some(key) = near.first_from(0) {
            near.pop(8);
            order.push((time_of(key), key as u64));
        }
        assert_eq!(order, [(4, 9), (5, 1), (5, 2), (5, 3), (7, 2)]);
    }

    /// Each of 1,000 ties is held against the one before it only.
    #[test]
    fn ties_do_not_search() {
        let mut near = Near::new();
        for seq in 0..1_000 {
            assert!(near.insert(3, entry(5, seq).key(), ()) <= 1, "{seq}");
        }
        for seq in 0..999 {
            assert_eq!(near.pop(3).1, entry(5, seq + 1).key());
        }
    }

    #[test]
    fn nodes_are_used_again() {
        let mut near = Near::new();
        for seq in 0..100 {
            near.insert(seq as usize, entry(seq, seq).key(), ());
            near.insert(seq as usize, entry(seq + 1, seq).key(), ());
            assert_eq!(near.pop(seq as usize).1, entry(seq + 1, seq).key());
            assert_eq!(near.pop(seq as usize).1, NOTHING);
        }
        assert_eq!(near.nodes.len(), 2);
    }
}
