//! The observers' mistakes: well instances that their local registries or balancer lists cease to show.
//!
//! The machinery is that of detections. Suspects stand in a row, those together that every observer has treated
//! alike, and an observer has a mark, *since when*, on those that it suspects. An instance comes into the row when
//! the first observer suspects it and leaves it when nobody does any more, or when it is not well any more. So fifty
//! live instances that are evicted before ten thousand observers cost two marks an observer.
//!
//! An observer's suspicion of itself is kept like all others, so that it does not differ from its fellows, and not
//! counted.

use std::ops::Range;
use std::rc::Rc;

use super::rows::{Made, MistakeRows, Tally};
use super::shown_changes::{InstanceState, ShownChange, turned, turns_nobody};
use crate::engine::SimTime;
use crate::model::id::InstanceId;
use crate::model::view::View;
use crate::observe::data::Removal;
use crate::observe::flips::{Flip, Memo, stretches};
use crate::observe::marks::{EMPTY, MarkPool};
use crate::observe::observers::{Noticed, Observers, STAGES};
use crate::observe::partition::Partition;
use crate::observe::scopes::Scope;

/// No place in the row.
const NONE: u32 = u32::MAX;

/// The mistakes of all observers.
#[derive(Clone, Default)]
pub(super) struct Suspicions {
    /// Suspects; a class carries how many slots suspect each of it.
    row: Partition<u32>,
    /// Who stands for each item of the row.
    suspects: Vec<InstanceId>,
    /// Each instance's item, while it is a suspect.
    items: Vec<u32>,
    /// How many are suspects.
    active: u32,
    pool: MarkPool<Noticed>,
    /// Each observer's marks, by place and stage.
    lists: Vec<[u32; 2]>,
    /// Mistakes that last.
    open: u64,
    memo: Memo<ShownChange>,
    /// Where each observer's figures are, if it made a mistake.
    tallied: Vec<u32>,
    tallies: Vec<[Tally; 2]>,
}

/// One slot at one moment.
#[derive(Clone, Copy)]
struct Slot {
    place: u32,
    stage: usize,
    /// Where the observer itself stands in the row, or [`NONE`].
    own: u32,
}

impl Suspicions {
    /// An observer comes up.
    pub(super) fn observer_started(&mut self, place: u32) {
        if self.lists.len() <= place as usize {
            self.lists.resize(place as usize + 1, [EMPTY; 2]);
            self.tallied.resize(place as usize + 1, NONE);
        }
    }

    /// An observer's local registry (stage 0) or balancer list (1) changed.
    pub(super) fn observer_changed(
        &mut self,
        (place, stage): (u32, usize),
        change: (View, View),
        now: SimTime,
        (observers, known): (&Observers, InstanceState<'_>),
        rows: &mut MistakeRows,
    ) {
        if self.active == 0 && turns_nobody(change, known.views) {
            return;
        }
        let scope = observers.scope(place);
        let flips = match self.memo.get(scope, change) {
            Some(flips) => flips,
            None => self.resolve(scope, change, known),
        };
        let slot = self.slot(place, stage, observers);
        for flip in flips.iter() {
            match flip.kind {
                ShownChange::Hidden => {
                    let since = Noticed::new(now, observers.answered_by(place));
                    self.begin(slot, flip.range.clone(), since);
                }
                ShownChange::Shown => self.correct(slot, flip, now, rows),
            }
        }
    }

    fn slot(&self, place: u32, stage: usize, observers: &Observers) -> Slot {
        let item = self.items.get(observers.own(place).index()).copied().filter(|&item| item != NONE);
        Slot { place, stage, own: item.map_or(NONE, |item| self.row.position(item)) }
    }

    fn resolve(
        &mut self,
        scope: Scope,
        change: (View, View),
        known: InstanceState<'_>,
    ) -> Rc<[Flip<ShownChange>]> {
        let Self { items, suspects, active, .. } = &*self;
        let is_suspect = |instance: InstanceId| items.get(instance.index()).is_some_and(|&item| item != NONE);
        let all = || {
            let now = suspects.iter().zip(0..).filter(|&(suspect, item)| items[suspect.index()] == item);
            now.map(|(&suspect, _)| suspect)
        };
        let found = turned(scope, change, known, *active as usize, is_suspect, all);
        let classes = self.row.classes();
        let first = self.suspects.len();
        let items: Vec<(u32, ShownChange)> =
            found.into_iter().map(|(instance, turn)| (self.item(instance, first), turn)).collect();
        let flips = stretches(&mut self.row, &items);
        if self.row.classes() > classes {
            self.memo.clear();
        }
        self.memo.put(scope, change, flips)
    }

    /// A suspect's item. Those that become suspects together, from number `first` on, are one class.
    fn item(&mut self, instance: InstanceId, first: usize) -> u32 {
        if self.items.len() <= instance.index() {
            self.items.resize(instance.index() + 1, NONE);
        }
        if self.items[instance.index()] == NONE {
            let item = if self.suspects.len() == first { self.row.push(0) } else { self.row.join() };
            self.items[instance.index()] = item;
            self.suspects.push(instance);
            self.active += 1;
        }
        self.items[instance.index()]
    }

    fn begin(&mut self, slot: Slot, range: Range<u32>, now: Noticed) {
        let (row, mut count) = (&mut self.row, 0);
        let list = &mut self.lists[slot.place as usize][slot.stage];
        self.pool.update(list, range, |part, since| {
            if since.is_some() {
                return since;
            }
            count += slot.count(&part);
            row.each_class(part, |_, slots| *slots += 1);
            Some(now)
        });
        self.open += count;
        if count > 0 {
            self.tally(slot.place)[slot.stage].mistakes += count;
        }
    }

    fn correct(&mut self, slot: Slot, flip: &Flip<ShownChange>, now: SimTime, rows: &mut MistakeRows) {
        let mut ended: Vec<(Range<u32>, Noticed)> = Vec::new();
        let list = &mut self.lists[slot.place as usize][slot.stage];
        self.pool.update(list, flip.range.clone(), |part, since| {
            ended.extend(since.map(|since| (part, since)));
            None
        });
        for (part, since) in ended {
            let first = (part == flip.range).then_some(flip.first);
            self.end(slot, part, first, (since, now), true, rows);
        }
    }

    /// A slot's mark on a stretch is gone; tells what it meant.
    fn end(
        &mut self,
        slot: Slot,
        part: Range<u32>,
        first: Option<u32>,
        (since, until): (Noticed, SimTime),
        corrected: bool,
        rows: &mut MistakeRows,
    ) {
        let (length, count) = (part.end - part.start, slot.count(&part));
        let (stage, server, since) = (STAGES[slot.stage], since.server(), since.at());
        let made = Made { stage, server, removal: Removal::NotShown, since, until, corrected };
        if count > 0 {
            let smallest = || self.row.items(part.clone()).iter().copied().min();
            let item = first.or_else(smallest).expect("a mark is on somebody");
            rows.push(&made, self.suspects[item as usize], length, count);
            self.tally(slot.place)[slot.stage].end(&made, count);
            self.open -= count;
        }
        let mut idle = Vec::new();
        self.row.each_class(part, |class, slots| {
            *slots -= 1;
            if *slots == 0 {
                idle.push(class);
            }
        });
        idle.into_iter().for_each(|class| self.retire(class));
    }

    /// Nobody suspects those of the class any more.
    fn retire(&mut self, class: u32) {
        for &item in self.row.items(self.row.range(class)) {
            self.items[self.suspects[item as usize].index()] = NONE;
            self.active -= 1;
        }
        self.memo.clear();
        if self.active == 0 {
            // Nobody has a mark either: the row begins anew.
            self.row = Partition::default();
            self.suspects.clear();
        }
    }

    /// An instance has become well: to cease to show it counts from now on.
    pub(super) fn well(&mut self) {
        self.memo.clear();
    }

    /// An instance is not well any more: who suspected it was right in the end.
    pub(super) fn not_well(
        &mut self,
        instance: InstanceId,
        now: SimTime,
        observers: &Observers,
        rows: &mut MistakeRows,
    ) {
        let Some(&item) = self.items.get(instance.index()).filter(|&&item| item != NONE) else { return };
        let class = self.row.class_of(item);
        let alone = self.row.range(class).len() == 1;
        let class = if alone { class } else { self.row.split(class, &[item]) };
        let part = self.row.range(class);
        self.memo.clear();
        let mut left = *self.row.data(class);
        assert!(left > 0, "a suspect is suspected by somebody");
        let slots = (0..self.lists.len() as u32).flat_map(|place| [(place, 0), (place, 1)]);
        for (place, stage) in slots {
            let mut since = None;
            self.pool.update(&mut self.lists[place as usize][stage], part.clone(), |_, mark| {
                since = mark;
                None
            });
            if let Some(since) = since {
                let slot = self.slot(place, stage, observers);
                self.end(slot, part.clone(), Some(item), (since, now), false, rows);
                left -= 1;
            }
            if left == 0 {
                break;
            }
        }
    }

    /// An observer goes down, and its mistakes with it.
    pub(super) fn observer_gone(
        &mut self,
        place: u32,
        now: SimTime,
        observers: &Observers,
        rows: &mut MistakeRows,
    ) {
        for stage in 0..2 {
            let marks: Vec<_> = self.pool.iter(self.lists[place as usize][stage]).collect();
            self.pool.clear(&mut self.lists[place as usize][stage]);
            for mark in marks {
                let slot = self.slot(place, stage, observers);
                self.end(slot, mark.start..mark.end, None, (mark.value, now), false, rows);
            }
        }
    }

    fn tally(&mut self, place: u32) -> &mut [Tally; 2] {
        let number = &mut self.tallied[place as usize];
        if *number == NONE {
            *number = self.tallies.len() as u32;
            self.tallies.push(Default::default());
        }
        &mut self.tallies[*number as usize]
    }

    /// How many mistakes an observer made at each stage, and how long they lasted.
    pub(super) fn tally_of(&self, place: u32) -> [Tally; 2] {
        let number = self.tallied.get(place as usize).copied().filter(|&number| number != NONE);
        number.map(|number| self.tallies[number as usize]).unwrap_or_default()
    }

    /// Mistakes that last.
    pub(super) fn open(&self) -> u64 {
        self.open
    }

    /// Forgets what it worked out about views that may be thrown away.
    pub(super) fn forget_views(&mut self) {
        self.memo.clear();
    }
}

impl Slot {
    /// How many of a stretch count: all but itself.
    fn count(self, part: &Range<u32>) -> u64 {
        u64::from(part.end - part.start) - u64::from(part.contains(&self.own))
    }
}
