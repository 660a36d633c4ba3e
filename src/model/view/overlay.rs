//! Overlays: what a view holds that differs from the version that it is based on.
//!
//! Equal overlays are one, whoever holds them. They come in numbers when many clients move from one life of a
//! server to the next, each at another moment; and each may be as large as the registry. A delta later most
//! are held by nobody, so they are thrown away now and then: whenever there is twice as much as was held the
//! last time.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Presence;
use crate::model::id::{AppId, InstanceId};

/// Instances in which a view differs, sorted by instance.
pub(super) type Overlay = [(InstanceId, AppId, Presence)];

/// Entries below which nothing is thrown away; about 12 MB.
const SWEPT_FROM: usize = 1 << 20;

/// All overlays of a run, by number. Number 0 is the empty one, for ever.
#[derive(Clone)]
pub(super) struct Overlays {
    /// `None` where one was thrown away.
    held: Vec<Option<Rc<Overlay>>>,
    numbers: BTreeMap<Rc<Overlay>, u32>,
    free: Vec<u32>,
    /// Entries of all of them.
    entries: usize,
    /// So many are too many.
    swept_from: usize,
}

impl Default for Overlays {
    fn default() -> Self {
        let empty: Rc<Overlay> = Rc::from([]);
        Self {
            held: vec![Some(Rc::clone(&empty))],
            numbers: BTreeMap::from([(empty, 0)]),
            free: Vec::new(),
            entries: 0,
            swept_from: SWEPT_FROM,
        }
    }
}

impl Overlays {
    /// The overlay with this number.
    pub(super) fn get(&self, number: u32) -> &Overlay {
        self.held[number as usize].as_deref().expect("an overlay that is held is kept")
    }

    /// The number of `overlay`, which is new or known.
    pub(super) fn number_of(&mut self, overlay: &Overlay) -> u32 {
        if let Some(&number) = self.numbers.get(overlay) {
            return number;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.held.push(None);
            self.held.len() as u32 - 1
        });
        let overlay: Rc<Overlay> = Rc::from(overlay);
        self.entries += overlay.len();
        self.held[number as usize] = Some(Rc::clone(&overlay));
        self.numbers.insert(overlay, number);
        number
    }

    /// Whether there are many more than were held the last time.
    pub(super) fn are_too_many(&self) -> bool {
        self.entries > self.swept_from
    }

    /// Throws away all but the empty one and those with these numbers.
    pub(super) fn keep_only(&mut self, numbers: &BTreeSet<u32>) {
        for number in 1..self.held.len() as u32 {
            if numbers.contains(&number) {
                continue;
            }
            if let Some(overlay) = self.held[number as usize].take() {
                self.entries -= overlay.len();
                self.numbers.remove(&overlay);
                self.free.push(number);
            }
        }
        self.swept_from = SWEPT_FROM.max(2 * self.entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlay(instance: u32) -> [(InstanceId, AppId, Presence); 1] {
        [(InstanceId(instance), AppId(0), Presence::Absent)]
    }

    #[test]
    fn equal_overlays_are_one_and_numbers_are_used_again() {
        let mut overlays = Overlays::default();
        assert_eq!([overlays.number_of(&[]), overlays.number_of(&overlay(7))], [0, 1]);
        assert_eq!([overlays.number_of(&overlay(7)), overlays.number_of(&overlay(8))], [1, 2]);
        overlays.keep_only(&BTreeSet::from([2]));
        assert_eq!((overlays.get(0), overlays.get(2)), (&[][..], &overlay(8)[..]));
        assert_eq!(overlays.entries, 1);
        // 1 is free; 8 keeps its number.
        assert_eq!([overlays.number_of(&overlay(8)), overlays.number_of(&overlay(9))], [2, 1]);
    }

    #[test]
    fn too_many_are_twice_what_was_held() {
        let mut overlays = Overlays { swept_from: 1, ..Overlays::default() };
        overlays.number_of(&overlay(7));
        assert!(!overlays.are_too_many()); // 1 > 1 is false
        overlays.number_of(&overlay(8));
        assert!(overlays.are_too_many());
        overlays.keep_only(&BTreeSet::new());
        assert_eq!((overlays.entries, overlays.swept_from), (0, SWEPT_FROM));
    }
}
