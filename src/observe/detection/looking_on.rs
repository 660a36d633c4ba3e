//! The observers' side of detection: how they come and go, and what a change of view makes them notice.

use std::rc::Rc;

use super::{BLIND, ClassState, Detections, Fresh, Life, Transition, WatchedEvent};
use crate::model::id::ServerId;
use crate::model::view::{View, Views};
use crate::observe::flips::{Flip, stretches};
use crate::observe::marks::EMPTY;
use crate::observe::observers::{Noticed, Observers};
use crate::observe::scopes::Scope;

impl Detections {
    /// A place at the end of the row: in the class there if it is all the same to every observer.
    pub(super) fn place_in_row(
        &mut self,
        &WatchedEvent { event, instance, .. }: &WatchedEvent,
        observers: &Observers,
        views: &Views,
    ) -> u32 {
        let Observers { scopes, .. } = observers;
        let is_open_of = |view, instance| views.is_up(view, instance) == event.is_end();
        let alike = self.fresh.as_ref().is_some_and(|fresh| {
            let fellow = &self.watches[fresh.item as usize];
            // Whoever was blind to a beginning stays so, whatever it shows later.
            let as_ever = event.is_end() || !fresh.some_look;
            let same = |((scope, view), _)| {
                !scopes.sees(scope, instance)
                    || is_open_of(view, instance) == is_open_of(view, fellow.instance)
            };
            let seen_alike = scopes.sees_alike(instance, fellow.instance);
            fellow.event == event && as_ever && seen_alike && observers.held().all(same)
        });
        if alike {
            return self.row.join();
        }
        self.complete_fresh();
        let (mut open, mut blind, mut some_look) = (0, Vec::new(), false);
        for ((scope, view), slots) in observers.held() {
            let looks = scopes.sees(scope, instance);
            if looks && is_open_of(view, instance) {
                open += slots;
            } else {
                blind.push((scope, view));
                some_look |= looks;
            }
        }
        let item = self.row.push(ClassState { active: true, open });
        let mut slots = Vec::new();
        if !blind.is_empty() {
            for (place, shown) in observers.up() {
                let scope = observers.scope(place);
                let is_blind = |&(_, &view): &(usize, &View)| blind.binary_search(&(scope, view)).is_ok();
                slots.extend(shown.iter().enumerate().filter(is_blind).map(|(stage, _)| (place, stage)));
            }
        }
        self.fresh = Some(Fresh { item, blind: slots, some_look });
        item
    }

    /// Nobody joins the class at the end of the row any more.
    pub(super) fn complete_fresh(&mut self) {
        let Some(Fresh { item, blind, .. }) = self.fresh.take() else { return };
        let range = self.row.range(self.row.class_of(item));
        for (place, stage) in blind {
            self.pool.update(&mut self.lists[place as usize][stage], range.clone(), |_, _| Some(BLIND));
        }
    }

    /// An observer comes up: what happened before is not for it to tell.
    pub(in crate::observe) fn observer_started(&mut self, place: u32) {
        self.complete_fresh();
        if self.lists.len() <= place as usize {
            self.lists.resize(place as usize + 1, [EMPTY; 2]);
            self.from.resize(place as usize + 1, 0);
        }
        self.from[place as usize] = self.row.len();
    }

    /// An observer went down, whom `server` had answered last: what it had not noticed, nobody will.
    pub(in crate::observe) fn observer_gone(&mut self, place: u32, server: Option<ServerId>) {
        let from = self.from[place as usize];
        if self.row.len() == from {
            return;
        }
        self.open[1] -= self.own_open(place);
        self.own.remove(&place);
        for stage in 0..self.layout.of_observer.len() {
            self.close_books(place, stage, from);
        }
        self.past.entry(place).or_default().push(Life { from, ended: self.moments, server });
        self.from[place as usize] = self.row.len();
        self.moments += 1;
    }

    /// Takes a slot's open sightings off the count.
    fn close_books(&mut self, place: u32, stage: usize, from: u32) {
        let mut marks = self.pool.iter(self.lists[place as usize][stage]).peekable();
        let fresh = self.fresh.as_ref().filter(|fresh| fresh.blind.binary_search(&(place, stage)).is_ok());
        let unmarked = fresh.map(|fresh| self.row.class_of(fresh.item));
        let mut next = Some(self.row.class_at(self.row.len() - 1));
        while let Some(class) = next {
            let range = self.row.range(class);
            if range.start < from {
                break;
            }
            while marks.next_if(|mark| mark.start > range.start).is_some() {}
            let marked = marks.peek().is_some_and(|mark| mark.end > range.start) || unmarked == Some(class);
            let class_state = self.row.data_mut(class);
            if class_state.active && !marked {
                class_state.open -= 1;
                self.open[0] -= u64::from(range.end - range.start);
            }
            next = self.row.before(class);
        }
    }

    /// How many of an observer's sightings of itself are open.
    fn own_open(&self, place: u32) -> u64 {
        let items = self.own.get(&place).into_iter().flatten();
        items.map(|&item| self.own_open_of(place, item)).sum()
    }

    pub(super) fn own_open_of(&self, place: u32, item: u32) -> u64 {
        let position = self.row.position(item);
        let fresh =
            self.fresh.as_ref().filter(|fresh| self.row.class_of(fresh.item) == self.row.class_of(item));
        let open = |&stage: &usize| {
            let unmarked = fresh.is_some_and(|fresh| fresh.blind.binary_search(&(place, stage)).is_ok());
            !unmarked && self.pool.at(self.lists[place as usize][stage], position).is_none()
        };
        (0..self.layout.of_observer.len()).filter(open).count() as u64
    }

    /// An observer's local registry (stage 0) or balancer list (1) changed.
    pub(in crate::observe) fn observer_changed(
        &mut self,
        (place, stage): (u32, usize),
        (from, to): (View, View),
        now: Noticed,
        observers: &Observers,
        views: &Views,
    ) {
        if self.active == 0 {
            return;
        }
        let scope = observers.scope(place);
        let flips = match self.memo.get(scope, (from, to)) {
            Some(flips) => flips,
            None => self.resolve(scope, (from, to), observers, views),
        };
        if flips.is_empty() {
            return;
        }
        let own = self.own_open(place);
        for flip in flips.iter() {
            self.turn(place, stage, flip, now);
        }
        self.open[1] = self.open[1] - own + self.own_open(place);
    }

    fn turn(&mut self, place: u32, stage: usize, flip: &Flip<Transition>, now: Noticed) {
        let Self { pool, lists, row, open: [open, _], .. } = self;
        let start = flip.range.start.max(self.from[place as usize]);
        let range = start..flip.range.end.max(start);
        pool.update(&mut lists[place as usize][stage], range, |part, seen| {
            let length = u64::from(part.end - part.start);
            match (flip.kind, seen) {
                (Transition::Close, None) => {
                    row.each_class(part, |_, class_state| class_state.open -= 1);
                    *open -= length;
                    Some(now)
                }
                (Transition::Reopen, Some(_)) => {
                    row.each_class(part, |_, class_state| class_state.open += 1);
                    *open += length;
                    None
                }
                _ => seen,
            }
        });
    }

    fn resolve(
        &mut self,
        scope: Scope,
        change: (View, View),
        observers: &Observers,
        views: &Views,
    ) -> Rc<[Flip<Transition>]> {
        let items = self.turned(change, views, |instance| observers.scopes.sees(scope, instance));
        let fresh = self.fresh.as_ref().map(|fresh| self.row.class_of(fresh.item));
        if items.iter().any(|&(item, _)| Some(self.row.class_of(item)) == fresh) {
            self.complete_fresh();
        }
        let classes = self.row.classes();
        let flips = stretches(&mut self.row, &items);
        if self.row.classes() > classes {
            self.memo.clear();
        }
        self.memo.put(scope, change, flips)
    }
}
