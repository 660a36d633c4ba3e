//! T_D: how long each stage goes on showing an instance that is gone, and how long until it shows a new one.
//!
//! A *watch* begins with an event (a crash, an orderly stop, a registration) and holds one sighting for every
//! stage that the registry has: of every server, its registry, its answers, what it stores; of every observer that is
//! up, its local registry and its balancer's list. For an end the time that counts is the last one at which a sighting
//! stopped showing the instance: one that shows it again, because an older answer came late, is open again.
//!
//! Not an observation: an observer that does not look at the instance's application, one that never shows the
//! instance after the event, one that goes down before it could tell, one that comes up after the event, and the
//! instance itself. So a consumer that starts with an old snapshot, in which there are instances long dead, observes
//! none of their ends, however long it goes on to show them: it was not there when they died, and what it makes of
//! them says nothing of how fast news travel.
//!
//! A fifth of 100,000 instances that die before the others make 3.2 thousand million sightings of observers. None of
//! these is kept. Watches stand in a row ([`Partition`]), those together that every observer has treated alike,
//! whatever their event times; and an observer keeps [marks](MarkPool) on stretches of the row. Where it has none, a
//! sighting is open. So what is kept grows with what observers noticed, one mark a change of view that told them
//! anything, and what a change of view tells is worked out once for all who make it ([`Memo`]).
//!
//! The victim's own sightings are kept like all others, so that it does not differ from its fellows, and are taken
//! off when sightings are counted.

mod fold;
mod looking_on;
mod rows;
mod servers;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::flips::Memo;
use super::layout::Layout;
use super::marks::MarkPool;
use super::observers::{NOBODY, Noticed, Observers};
use super::partition::Partition;
use super::scopes::Scope;
use super::servers::Servers;
use crate::engine::SimTime;
use crate::model::id::{InstanceId, ServerId};
use crate::model::stage::{EventKind, Stage};
use crate::model::view::{View, Views};
use servers::ServerObservations;

/// No watch.
const NONE: u32 = u32::MAX;
/// The mark of an observer that has not shown the instance since the event. Any other says since when it was seen.
const BLIND: Noticed = Noticed::NEVER;

/// What happened to whom.
pub(super) struct WatchedEvent {
    /// What.
    pub(super) event: EventKind,
    /// To whom.
    pub(super) instance: InstanceId,
    /// Its own place among the observers.
    pub(super) own: Option<u32>,
    /// When.
    pub(super) at: SimTime,
}

/// One event that is watched.
#[derive(Clone)]
struct Watch {
    event: EventKind,
    instance: InstanceId,
    at: SimTime,
    /// The instance's own place among the observers, if it was up.
    own: u32,
    /// The next older watch of the same instance that may still change.
    older: u32,
    frozen: Option<Frozen>,
}

/// Nothing of the watch changes any more: the instance came back, or ended, under the same id.
#[derive(Clone, Copy)]
struct Frozen {
    /// The moment's number among those of [`Detections::moments`].
    moment: u64,
    /// When the instance came back; `None` if what was open became void.
    superseded: Option<SimTime>,
}

/// What a class of watches of one event has in common.
#[derive(Clone, Copy)]
struct ClassState {
    /// Whether they may still change.
    active: bool,
    /// Slots of observers in which each of them is open.
    open: u32,
}

/// The class that the next watch may join.
#[derive(Clone)]
struct Fresh {
    /// One of its watches.
    item: u32,
    /// Slots that have not shown them since the event, or will not tell when they do, as (place, stage). Marked when
    /// the class is complete.
    blind: Vec<(u32, usize)>,
    /// Whether some of these are blind although they look: those that show a beginning already.
    some_look: bool,
}

/// The part of the row that an observer could tell of while it was up.
#[derive(Clone)]
struct Life {
    /// The row's length when it came up.
    from: u32,
    /// The moment's number at which it went down.
    ended: u64,
    /// Who had answered it last.
    server: Option<ServerId>,
}

/// What happens to a sighting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Transition {
    /// What was open is seen.
    Close,
    /// An end is shown again, or for the first time since.
    Reopen,
}

/// All watches of a replicate.
#[derive(Clone)]
pub(super) struct Detections {
    layout: Layout,
    watches: Vec<Watch>,
    /// What servers saw.
    servers: ServerObservations,
    row: Partition<ClassState>,
    /// Each instance's newest watch that may still change.
    newest: Vec<u32>,
    pool: MarkPool<Noticed>,
    /// Each observer's marks, by place and stage.
    lists: Vec<[u32; 2]>,
    /// The row's length when each observer came up.
    from: Vec<u32>,
    past: BTreeMap<u32, Vec<Life>>,
    fresh: Option<Fresh>,
    /// Active watches of what is an observer itself, by its place.
    own: BTreeMap<u32, Vec<u32>>,
    memo: Memo<Transition>,
    /// Watches that may still change.
    active: u32,
    /// Open sightings of observers; of these, those of an instance by itself.
    open: [u64; 2],
    /// Numbers freezes and ends of observers in order: which of two came first decides what is superseded.
    moments: u64,
}

impl Detections {
    /// Nothing is watched yet.
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            watches: Vec::new(),
            servers: ServerObservations::new(layout),
            row: Partition::default(),
            newest: Vec::new(),
            pool: MarkPool::default(),
            lists: Vec::new(),
            from: Vec::new(),
            past: BTreeMap::new(),
            fresh: None,
            own: BTreeMap::new(),
            memo: Memo::default(),
            active: 0,
            open: [0; 2],
            moments: 0,
        }
    }

    /// Begins to watch what the servers and all observers but the instance itself make of it.
    pub(super) fn watch(
        &mut self,
        watched: &WatchedEvent,
        servers: &Servers,
        observers: &Observers,
        views: &Views,
    ) {
        let &WatchedEvent { event, instance, own, at } = watched;
        let is_open = |view: View| views.is_up(view, instance) == event.is_end();
        let looks = |scope: Scope| observers.scopes.sees(scope, instance);
        let item = self.place_in_row(watched, observers, views);
        self.open[0] += u64::from(self.row.data(self.row.class_of(item)).open);
        self.servers.watch(servers, is_open);
        let own = own.and_then(|place| observers.shown(place).map(|shown| (place, shown)));
        if let Some((place, shown)) = own {
            let open = shown.iter().filter(|view| looks(observers.scope(place)) && is_open(**view));
            self.open[1] += open.count() as u64;
            self.own.entry(place).or_default().push(item);
        }
        if self.newest.len() <= instance.index() {
            self.newest.resize(instance.index() + 1, NONE);
        }
        let older = std::mem::replace(&mut self.newest[instance.index()], item);
        let own = own.map_or(NOBODY, |(place, _)| place);
        self.watches.push(Watch { event, instance, at, own, older, frozen: None });
        self.active += 1;
        self.memo.clear();
    }

    /// A server's stage changed.
    pub(super) fn server_changed(
        &mut self,
        slot: (ServerId, Stage),
        (from, to): (View, View),
        now: SimTime,
        views: &Views,
    ) {
        for (item, turn) in self.turned((from, to), views, |_| true) {
            self.servers.turn(item, slot, turn, now);
        }
    }

    /// One of several servers has started, or has ended: of what happened up to now it tells nothing more.
    pub(super) fn server_begins_anew(&mut self, server: ServerId) {
        self.servers.begin_anew(server);
    }

    /// The active watches of instances that somebody `observed_services` to which a change of view tells anything, and what.
    fn turned(
        &self,
        (from, to): (View, View),
        views: &Views,
        observed_services: impl Fn(InstanceId) -> bool,
    ) -> Vec<(u32, Transition)> {
        let mut turned = Vec::new();
        let mut look = |watch: &Watch, item: u32| {
            let shown = views.is_up(to, watch.instance);
            if shown == views.is_up(from, watch.instance) || !observed_services(watch.instance) {
                return;
            }
            match (watch.event.is_end(), shown) {
                (true, true) => turned.push((item, Transition::Reopen)),
                (true, false) | (false, true) => turned.push((item, Transition::Close)),
                (false, false) => {}
            }
        };
        if self.active == 0 {
            return turned;
        }
        if views.changes_between(from, to).is_none_or(|changes| changes >= self.active) {
            let all = self.watches.iter().zip(0..).filter(|(watch, _)| watch.frozen.is_none());
            all.for_each(|(watch, item)| look(watch, item));
            return turned;
        }
        for instance in views.changed_between(from, to) {
            self.watches_of(instance).for_each(|item| look(&self.watches[item as usize], item));
        }
        turned.sort_unstable();
        turned.dedup();
        turned
    }

    /// The active watches of an instance, newest first.
    fn watches_of(&self, instance: InstanceId) -> impl Iterator<Item = u32> + '_ {
        let known = |item: u32| Some(item).filter(|&item| item != NONE);
        let newest = self.newest.get(instance.index()).copied().and_then(known);
        std::iter::successors(newest, move |&item| known(self.watches[item as usize].older))
    }

    /// What was to be seen of the instance's ends no longer counts: it is back under the same id, or well again.
    pub(super) fn supersede(
        &mut self,
        instance: InstanceId,
        which: impl Fn(EventKind) -> bool,
        now: SimTime,
    ) {
        self.freeze(instance, which, Some(now));
    }

    /// Whoever has not seen the instance come will not.
    pub(super) fn void(&mut self, instance: InstanceId, which: impl Fn(EventKind) -> bool) {
        self.freeze(instance, which, None);
    }

    fn freeze(
        &mut self,
        instance: InstanceId,
        which: impl Fn(EventKind) -> bool,
        superseded: Option<SimTime>,
    ) {
        let items: Vec<u32> = self.watches_of(instance).collect();
        let Some(newest) = self.newest.get_mut(instance.index()).filter(|_| !items.is_empty()) else {
            return;
        };
        *newest = NONE;
        // Oldest first, so that those that stay are linked again in order.
        for item in items.into_iter().rev() {
            if which(self.watches[item as usize].event) {
                self.freeze_one(item, superseded);
            } else {
                let older = std::mem::replace(&mut self.newest[instance.index()], item);
                self.watches[item as usize].older = older;
            }
        }
        self.memo.clear();
    }

    fn freeze_one(&mut self, item: u32, superseded: Option<SimTime>) {
        let class = self.row.class_of(item);
        if self.fresh.as_ref().is_some_and(|fresh| self.row.class_of(fresh.item) == class) {
            self.complete_fresh();
        }
        let own = self.watches[item as usize].own;
        if let Some(items) = self.own.get_mut(&own).filter(|items| items.contains(&item)) {
            items.retain(|&other| other != item);
            self.open[1] -= self.own_open_of(own, item);
        }
        self.open[0] -= u64::from(self.row.data(class).open);
        let alone = self.row.range(class).len() == 1;
        let class = if alone { class } else { self.row.split(class, &[item]) };
        self.row.data_mut(class).active = false;
        let watch = &mut self.watches[item as usize];
        watch.frozen = Some(Frozen { moment: self.moments, superseded });
        self.servers.freeze(item, superseded);
        self.active -= 1;
        self.moments += 1;
    }

    /// Sightings that are still open.
    pub(super) fn open(&self) -> u64 {
        self.servers.open() + self.open[0] - self.open[1]
    }

    /// Forgets what it worked out about views that may be thrown away.
    pub(super) fn forget_views(&mut self) {
        self.memo.clear();
    }
}
