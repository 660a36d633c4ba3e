//! Things that have been treated alike so far, side by side: partition refinement.
//!
//! Items stand in a row. A *class* is a stretch of the row whose items nobody has told apart yet. When somebody
//! does, the class splits: those that were told move to its front and are a class of their own, and no other item
//! moves. So whoever keeps something about stretches of the row need not hear of a split, as long as what he
//! keeps is the same for a whole class.
//!
//! ```text
//!   0 1 2 3 4 | 5 6        1 and 3 are told apart        3 1 | 2 0 4 | 5 6
//! ```
//!
//! Paige and Tarjan, *Three Partition Refinement Algorithms*, SIAM J. Comput. 16(6), 1987.

use std::ops::Range;

/// Items in a row, each in a class that carries a `T`.
#[derive(Clone)]
pub(super) struct Partition<T> {
    /// The row: which item stands where.
    order: Vec<u32>,
    /// Where each item stands.
    position: Vec<u32>,
    /// Each item's class.
    class_of: Vec<u32>,
    classes: Vec<Class<T>>,
}

#[derive(Clone)]
struct Class<T> {
    start: u32,
    end: u32,
    data: T,
}

impl<T> Default for Partition<T> {
    fn default() -> Self {
        Self { order: Vec::new(), position: Vec::new(), class_of: Vec::new(), classes: Vec::new() }
    }
}

impl<T: Copy> Partition<T> {
    /// How many items there are.
    pub(super) fn len(&self) -> u32 {
        self.order.len() as u32
    }

    /// How many classes there are.
    pub(super) fn classes(&self) -> usize {
        self.classes.len()
    }

    /// A new item at the end of the row, in a class of its own.
    pub(super) fn push(&mut self, data: T) -> u32 {
        let class = self.classes.len() as u32;
        self.classes.push(Class { start: self.len(), end: self.len(), data });
        self.append(class)
    }

    /// A new item in the class at the end of the row.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn join(&mut self) -> u32 {
        let class = self.class_at(self.len() - 1);
        self.append(class)
    }

    fn append(&mut self, class: u32) -> u32 {
        let item = self.len();
        self.order.push(item);
        self.position.push(item);
        self.class_of.push(class);
        self.classes[class as usize].end += 1;
        item
    }

    /// Moves these items of `class`, but not all of it, to its front and into a new class with the same data.
    pub(super) fn split(&mut self, class: u32, items: &[u32]) -> u32 {
        let Class { start, end, data } = self.classes[class as usize];
        let middle = start + items.len() as u32;
        assert!(start < middle && middle < end, "a split leaves items on both sides");
        let front = self.classes.len() as u32;
        for (&item, to) in items.iter().zip(start..) {
            assert_eq!(self.class_of[item as usize], class, "an item is split off its own class");
            let from = self.position[item as usize];
            let other = self.order[to as usize];
            self.order.swap(from as usize, to as usize);
            (self.position[item as usize], self.position[other as usize]) = (to, from);
            self.class_of[item as usize] = front;
        }
        self.classes.push(Class { start, end: middle, data });
        self.classes[class as usize].start = middle;
        front
    }

    /// The item at this place of the row.
    pub(super) fn item_at(&self, position: u32) -> u32 {
        self.order[position as usize]
    }

    /// The items in this stretch of the row.
    pub(super) fn items(&self, range: Range<u32>) -> &[u32] {
        &self.order[range.start as usize..range.end as usize]
    }

    /// Where an item stands.
    pub(super) fn position(&self, item: u32) -> u32 {
        self.position[item as usize]
    }

    /// An item's class.
    pub(super) fn class_of(&self, item: u32) -> u32 {
        self.class_of[item as usize]
    }

    /// The class of the item at this place of the row.
    pub(super) fn class_at(&self, position: u32) -> u32 {
        self.class_of(self.item_at(position))
    }

    /// The stretch that a class takes up.
    pub(super) fn range(&self, class: u32) -> Range<u32> {
        let class = &self.classes[class as usize];
        class.start..class.end
    }

    /// What a class carries.
    pub(super) fn data(&self, class: u32) -> &T {
        &self.classes[class as usize].data
    }

    /// What a class carries, to change it.
    pub(super) fn data_mut(&mut self, class: u32) -> &mut T {
        &mut self.classes[class as usize].data
    }

    /// The class before this one in the row.
    pub(super) fn before(&self, class: u32) -> Option<u32> {
        let start = self.classes[class as usize].start;
        (start > 0).then(|| self.class_at(start - 1))
    }

    /// Calls `visit` for every class of a stretch that is made of whole classes, and what it carries.
    pub(super) fn each_class(&mut self, range: Range<u32>, mut visit: impl FnMut(u32, &mut T)) {
        let mut at = range.start;
        while at < range.end {
            let number = self.class_at(at);
            let class = &mut self.classes[number as usize];
            assert!(class.start == at && class.end <= range.end, "a stretch is made of whole classes");
            visit(number, &mut class.data);
            at = class.end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_told_apart_move_to_the_front_of_their_class() {
        let mut row = Partition::default();
        row.push('a');
        for _ in 1..5 {
            row.join();
        }
        row.push('b');
        row.join();
        let front = row.split(row.class_of(0), &[3, 1]);
        // 0 1 2 3 4: 3 changes places with 0, then 1 stands where it was.
        assert_eq!(row.items(0..7), [3, 1, 2, 0, 4, 5, 6]);
        assert_eq!(
            [row.range(front), row.range(row.class_of(4)), row.range(row.class_of(6))],
            [0..2, 2..5, 5..7]
        );
        assert_eq!(
            (0..7).map(|item| row.item_at(row.position(item))).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4, 5, 6]
        );
        let mut seen = Vec::new();
        row.each_class(2..7, |_, data| seen.push(*data));
        assert_eq!(seen, ['a', 'b']);
        assert_eq!(row.before(row.class_of(4)), Some(front));
        assert_eq!(row.before(front), None);
    }
}
