//! What one watcher keeps about stretches of a row: sorted, disjoint, and nothing where nothing is to be said.
//!
//! A hundred thousand observers keep such a list each, and most hold none or a few marks. So a list is one number,
//! the place of its first node in a pool that all share; nodes that are free are used again. A list runs from the
//! end of the row to its start, since it is at the end that things change.

use std::ops::Range;

/// The empty list.
pub(super) const EMPTY: u32 = u32::MAX;

/// All nodes of all lists.
#[derive(Clone)]
pub(super) struct MarkPool<V> {
    nodes: Vec<Node<V>>,
    free: u32,
    /// The marks of the stretch at work, kept for its memory.
    scratch: Vec<Mark<V>>,
}

#[derive(Clone, Copy)]
struct Node<V> {
    mark: Mark<V>,
    next: u32,
}

/// What is kept about one stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark<V> {
    /// First place.
    pub(super) start: u32,
    /// One past the last place.
    pub(super) end: u32,
    /// What is said of each of them.
    pub(super) value: V,
}

impl<V> Default for MarkPool<V> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: EMPTY, scratch: Vec::new() }
    }
}

impl<V: Copy + PartialEq> MarkPool<V> {
    /// What the list says of one place.
    pub(super) fn at(&self, list: u32, position: u32) -> Option<V> {
        let mark = self.iter(list).find(|mark| mark.start <= position)?;
        (position < mark.end).then_some(mark.value)
    }

    /// The marks of a list, from the end of the row.
    pub(super) fn iter(&self, list: u32) -> impl Iterator<Item = Mark<V>> + '_ {
        let mut at = list;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize)?;
            at = node.next;
            Some(node.mark)
        })
    }

    /// Forgets a list; it is empty then.
    pub(super) fn clear(&mut self, list: &mut u32) {
        while let Some(node) = self.nodes.get_mut(*list as usize) {
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = std::mem::replace(list, next);
        }
    }

    /// Asks `change` what shall be said of each part of `range` of which one thing is said now, from its end.
    pub(super) fn update(
        &mut self,
        list: &mut u32,
        range: Range<u32>,
        mut change: impl FnMut(Range<u32>, Option<V>) -> Option<V>,
    ) {
        if range.is_empty() {
            return;
        }
        // Marks that begin behind the range stay as they are. Those that touch it are taken out, and may merge.
        let (mut above, mut at) = (EMPTY, *list);
        while let Some(node) = self.nodes.get(at as usize).filter(|node| node.mark.start > range.end) {
            (above, at) = (at, node.next);
        }
        let mut made = std::mem::take(&mut self.scratch);
        let mut top = range.end;
        while let Some(&Node { mark, next }) =
            self.nodes.get(at as usize).filter(|node| node.mark.end >= range.start)
        {
            lay(&mut made, mark.start.max(range.end)..mark.end, Some(mark.value));
            let inner = mark.start.clamp(range.start, top)..mark.end.clamp(range.start, top);
            ask(&mut made, inner.end..top, None, &mut change);
            ask(&mut made, inner.clone(), Some(mark.value), &mut change);
            lay(&mut made, mark.start..mark.end.min(range.start), Some(mark.value));
            top = inner.start;
            self.nodes[at as usize].next = std::mem::replace(&mut self.free, at);
            at = next;
        }
        ask(&mut made, range.start..top, None, &mut change);
        for mark in made.drain(..).rev() {
            at = self.node(mark, at);
        }
        self.scratch = made;
        match self.nodes.get_mut(above as usize) {
            Some(node) => node.next = at,
            None => *list = at,
        }
    }

    fn node(&mut self, mark: Mark<V>, next: u32) -> u32 {
        let node = Node { mark, next };
        let number = self.free;
        match self.nodes.get_mut(number as usize) {
            Some(free) => {
                self.free = free.next;
                *free = node;
                number
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }
}

fn ask<V: Copy + PartialEq>(
    made: &mut Vec<Mark<V>>,
    range: Range<u32>,
    now: Option<V>,
    change: &mut impl FnMut(Range<u32>, Option<V>) -> Option<V>,
) {
    if !range.is_empty() {
        let value = change(range.clone(), now);
        lay(made, range, value);
    }
}

/// Appends a mark below the last one, or makes that longer.
fn lay<V: Copy + PartialEq>(made: &mut Vec<Mark<V>>, range: Range<u32>, value: Option<V>) {
    let Some(value) = value.filter(|_| !range.is_empty()) else { return };
    match made.last_mut().filter(|last| last.start == range.end && last.value == value) {
        Some(last) => last.start = range.start,
        None => made.push(Mark { start: range.start, end: range.end, value }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLACES: u32 = 24;

    /// Every place's own value.
    fn spread(pool: &MarkPool<u8>, list: u32) -> Vec<Option<u8>> {
        (0..PLACES).map(|position| pool.at(list, position)).collect()
    }

    proptest! {
        /// Against a list with a value a place; two lists share the pool.
        #[test]
        fn marks_say_what_a_plain_list_says(
            steps in prop::collection::vec((0usize..2, 0..PLACES, 0..PLACES, 0u8..4), 1..60)
        ) {
            let mut pool = MarkPool::default();
            let mut lists = [EMPTY; 2];
            let mut plain = [vec![None; PLACES as usize], vec![None; PLACES as usize]];
            for (which, one, other, value) in steps {
                let range = one.min(other)..one.max(other);
                // 0 takes marks away, 3 turns what is marked into 2 and leaves the rest.
                let rule = |now: Option<u8>| match value {
                    0 => None,
                    3 => now.map(|_| 2),
                    _ => Some(value),
                };
                pool.update(&mut lists[which], range.clone(), |part, now| {
                    assert!(part.start >= range.start && part.end <= range.end && !part.is_empty());
                    rule(now)
                });
                for place in range {
                    let now = &mut plain[which][place as usize];
                    *now = rule(*now);
                }
                for (list, plain) in lists.iter().zip(&plain) {
                    prop_assert_eq!(&spread(&pool, *list), plain);
                    let marks: Vec<_> = pool.iter(*list).collect();
                    for pair in marks.windows(2) {
                        let apart = pair[1].end < pair[0].start;
                        prop_assert!(apart || (pair[1].end == pair[0].start && pair[1].value != pair[0].value));
                    }
                }
            }
            let [mut one, other] = lists;
            let nodes = pool.nodes.len();
            pool.clear(&mut one);
            prop_assert_eq!(one, EMPTY);
            prop_assert_eq!(&spread(&pool, other), &plain[1]);
            prop_assert!(nodes <= 2 * PLACES as usize, "freed nodes are used again");
        }
    }
}
