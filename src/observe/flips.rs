//! What a change of view turns over, remembered for all who make the same change and look at the same applications.
//!
//! Thousands of observers go from one version of a log to the next within half a minute. What that means for the
//! items of a row is worked out once: stretches of the row and what happens to each. It holds until the row
//! changes, or what is known about its items.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::partition::Partition;
use super::scopes::Scope;
use crate::model::view::View;

/// Changes remembered at most; past this the memory is dropped and made anew.
const REMEMBERED_MAX: usize = 4_096;

/// What happens to a stretch of whole classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flip<K> {
    /// The stretch.
    pub(super) range: Range<u32>,
    /// The first item in it: the one with the smallest number.
    pub(super) first: u32,
    /// What happens to each item of it.
    pub(super) kind: K,
}

/// What whoever changes looks at, and the views before and after.
type Change = (Scope, View, View);

/// Flips by change of view.
#[derive(Clone)]
pub(super) struct Memo<K> {
    known: BTreeMap<Change, Rc<[Flip<K>]>>,
}

impl<K> Default for Memo<K> {
    fn default() -> Self {
        Self { known: BTreeMap::new() }
    }
}

impl<K> Memo<K> {
    /// What is known of a change.
    pub(super) fn get(&self, scope: Scope, (from, to): (View, View)) -> Option<Rc<[Flip<K>]>> {
        self.known.get(&(scope, from, to)).cloned()
    }

    /// Remembers a change.
    pub(super) fn put(
        &mut self,
        scope: Scope,
        (from, to): (View, View),
        flips: Vec<Flip<K>>,
    ) -> Rc<[Flip<K>]> {
        if self.known.len() >= REMEMBERED_MAX {
            self.known.clear();
        }
        let flips: Rc<[Flip<K>]> = flips.into();
        self.known.insert((scope, from, to), Rc::clone(&flips));
        flips
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}

/// The stretches that hold just these items, by place; stretches of one kind that touch are one. A class of which
/// some items are named and others not, or not alike, splits.
pub(super) fn stretches<T: Copy, K: Copy + Ord>(row: &mut Partition<T>, items: &[(u32, K)]) -> Vec<Flip<K>> {
    let mut by_class: BTreeMap<(u32, K), Vec<u32>> = BTreeMap::new();
    for &(item, kind) in items {
        by_class.entry((row.class_of(item), kind)).or_default().push(item);
    }
    let mut flips: Vec<Flip<K>> = Vec::new();
    for ((class, kind), members) in by_class {
        let whole = members.len() as u32 == row.range(class).len() as u32;
        let class = if whole { class } else { row.split(class, &members) };
        let first = members.iter().copied().min().expect("a stretch holds an item");
        flips.push(Flip { range: row.range(class), first, kind });
    }
    flips.sort_by_key(|flip| flip.range.start);
    flips.dedup_by(|later, earlier| {
        let one = earlier.range.end == later.range.start && earlier.kind == later.kind;
        if one {
            earlier.range.end = later.range.end;
            earlier.first = earlier.first.min(later.first);
        }
        one
    });
    flips
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_splits_where_items_are_not_treated_alike() {
        let mut row = Partition::default();
        row.push(());
        for _ in 1..6 {
            row.join();
        }
        row.push(());
        // 4 and 2 go one way, 5 the other, 6 like 5; 0, 1 and 3 stay.
        let flips = stretches(&mut row, &[(4, 'a'), (5, 'b'), (2, 'a'), (6, 'b')]);
        assert_eq!(flips.iter().map(|flip| flip.first).collect::<Vec<_>>(), [2, 5, 6]);
        let told: Vec<_> =
            flips.iter().map(|flip| (row.items(flip.range.clone()).to_vec(), flip.kind)).collect();
        assert_eq!(told, [(vec![4, 2], 'a'), (vec![5], 'b'), (vec![6], 'b')]);
        // The same again: nothing is left to split, and what touches is one stretch.
        assert_eq!(stretches(&mut row, &[(2, 'c'), (5, 'c'), (4, 'c')]).len(), 1);
        assert_eq!(flips, stretches(&mut row, &[(2, 'a'), (4, 'a'), (5, 'b'), (6, 'b')]));
    }
}
