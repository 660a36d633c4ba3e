//! The same record kept the plain way: one state for every instance and every observer, and every one of them looked
//! at whenever anything is shown. Too slow and too large for a fleet, and simple enough to be believed.

use std::collections::{BTreeMap, BTreeSet};

use super::data::{Outcome, Removal};
use crate::engine::SimTime;
use crate::model::fact::Fact;
use crate::model::id::{AppId, InstanceId, ServerId};
use crate::model::message::Status;
use crate::model::stage::{EventKind, Stage};
use crate::model::view::{View, Views};

/// Who looks: a server, or the observer at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Watcher {
    Server(ServerId),
    Observer(u32),
}

/// A watcher's stage.
type Slot = (Watcher, Stage);

/// What a slot saw of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PendingObservation {
    None,
    Open,
    /// At this time, while this server's answer was the last.
    Closed(SimTime, Option<ServerId>),
    Superseded(SimTime),
}

struct Watch {
    event: EventKind,
    instance: InstanceId,
    at: SimTime,
    frozen: bool,
    observations: BTreeMap<Slot, PendingObservation>,
    /// Slots that have been up since the event.
    watching: BTreeSet<Slot>,
    /// Who answered each of them last, while it was up.
    answered_by: BTreeMap<Slot, Option<ServerId>>,
}

/// What the record says of an instance.
#[derive(Clone, Default)]
struct Instance {
    alive: bool,
    /// Servers whose last word is that it is UP, and that it has left.
    up_at: BTreeSet<ServerId>,
    cancelled_at: BTreeSet<ServerId>,
    stopping: bool,
    unwell: bool,
}

impl Instance {
    fn is_well(&self) -> bool {
        self.alive && !self.up_at.is_empty() && !self.stopping && !self.unwell
    }
}

/// Good time, mistaken time, mistakes, corrected ones.
pub(super) type Figures = (u128, u128, u64, u64);
/// Where: the stage, and which server's, or which server's answer it was.
type StageAndServer = (Stage, Option<ServerId>);
/// How often it was seen, by event, time, stage and outcome; and of how many instances.
pub(super) type Seen = BTreeMap<(EventKind, SimTime, StageAndServer, Outcome), (u64, u32)>;
/// How often it happened, by stage, time, end, whether it was corrected, and how it came.
pub(super) type MistakeCounts = BTreeMap<(StageAndServer, SimTime, SimTime, bool, Removal), u64>;

/// Who looks at whom.
#[derive(Default)]
struct Interests {
    /// Who each observer is.
    own: BTreeMap<u32, InstanceId>,
    /// What those observers look at that do not look at everything.
    subscribed: BTreeMap<u32, Vec<AppId>>,
    /// Each instance's application.
    apps: BTreeMap<InstanceId, AppId>,
}

impl Interests {
    /// Whether what a slot shows of an instance counts: nobody looks at itself, nor at what it has not subscribed to.
    fn concerns(&self, (watcher, _): Slot, instance: InstanceId) -> bool {
        let Watcher::Observer(place) = watcher else { return true };
        let services = self.subscribed.get(&place);
        self.own[&place] != instance
            && services
                .is_none_or(|services| self.apps.get(&instance).is_some_and(|app| services.contains(app)))
    }
}

/// The record.
pub(super) struct Oracle {
    now: SimTime,
    servers: u32,
    /// The stages of each server, and of each observer.
    stages: [Vec<Stage>; 2],
    /// Servers that are looked at: those that run, and always a lone one.
    running: BTreeSet<ServerId>,
    instances: Vec<Instance>,
    /// Who answered each observer's last fetch.
    answered_by: BTreeMap<u32, ServerId>,
    /// What each slot shows; none while an observer is down.
    shown: BTreeMap<Slot, View>,
    interests: Interests,
    watches: Vec<Watch>,
    mistaken: BTreeMap<(Slot, InstanceId), (SimTime, Removal, Option<ServerId>)>,
    wrong: MistakeCounts,
    figures: BTreeMap<Slot, Figures>,
}

impl Oracle {
    pub(super) fn new(instances: usize, servers: u32, stages: &[Stage]) -> Self {
        let is_observers = |stage: &&Stage| matches!(stage, Stage::Client | Stage::Balancer);
        let (of_observer, of_server): (Vec<Stage>, Vec<Stage>) = stages.iter().partition(is_observers);
        let slots = (0..servers).map(ServerId).flat_map(|server| slots(Watcher::Server(server), &of_server));
        Self {
            now: SimTime::ZERO,
            servers,
            running: if servers == 1 { BTreeSet::from([ServerId(0)]) } else { BTreeSet::new() },
            answered_by: BTreeMap::new(),
            instances: vec![Instance::default(); instances],
            shown: slots.map(|slot| (slot, View::EMPTY)).collect(),
            stages: [of_server, of_observer],
            interests: Interests::default(),
            watches: Vec::new(),
            mistaken: BTreeMap::new(),
            wrong: MistakeCounts::new(),
            figures: BTreeMap::new(),
        }
    }

    /// Time passes: everybody that looks has known, or not, who is well.
    pub(super) fn pass(&mut self, now: SimTime) {
        let nanos = u128::from(now.since(self.now).as_nanos());
        let well = |&number: &usize| self.instances[number].is_well();
        for &slot in self.shown.keys() {
            for number in (0..self.instances.len()).filter(well) {
                let instance = InstanceId(number as u32);
                if self.interests.concerns(slot, instance) {
                    let figures = self.figures.entry(slot).or_default();
                    figures.0 += nanos;
                    figures.1 += if self.mistaken.contains_key(&(slot, instance)) { nanos } else { 0 };
                }
            }
        }
        self.now = now;
    }

    /// The observer at a place looks at these applications only.
    pub(super) fn subscribes(&mut self, place: u32, services: &[AppId]) {
        self.interests.subscribed.insert(place, services.to_vec());
    }

    pub(super) fn started(&mut self, place: Option<u32>, instance: InstanceId, app: AppId) {
        self.interests.apps.insert(instance, app);
        self.freeze(instance, EventKind::is_end, PendingObservation::Superseded(self.now));
        self.change(instance, |condition| *condition = Instance { alive: true, ..Instance::default() });
        if let Some(place) = place {
            self.interests.own.insert(place, instance);
            self.answered_by.remove(&place);
            for slot in slots(Watcher::Observer(place), &self.stages[1]) {
                self.shown.insert(slot, View::EMPTY);
            }
        }
    }

    pub(super) fn ended(&mut self, place: Option<u32>, instance: InstanceId) {
        self.freeze(instance, |event| !event.is_end(), PendingObservation::None);
        self.change(instance, |condition| condition.alive = false);
        let Some(place) = place else { return };
        for slot in slots(Watcher::Observer(place), &self.stages[1]) {
            self.shown.remove(&slot);
            self.look_away(slot);
            for number in 0..self.instances.len() as u32 {
                self.end((slot, InstanceId(number)), false);
            }
        }
    }

    pub(super) fn server_started(&mut self, server: ServerId) {
        self.running.insert(server);
    }

    pub(super) fn server_ended(&mut self, server: ServerId, views: &Views) {
        for slot in slots(Watcher::Server(server), &self.stages[0]) {
            if self.servers > 1 {
                self.running.remove(&server);
                self.look_away(slot);
            }
            self.show(slot, View::EMPTY, Removal::LostWithServer, views);
        }
    }

    /// A slot tells nothing more of what has happened up to now.
    fn look_away(&mut self, slot: Slot) {
        for watch in &mut self.watches {
            let watched = watch.watching.remove(&slot);
            match watch.observations.get_mut(&slot).filter(|_| watched) {
                Some(observation) if *observation == PendingObservation::Open => {
                    *observation = PendingObservation::None
                }
                _ => {}
            }
        }
    }

    pub(super) fn answered(&mut self, place: u32, server: ServerId) {
        self.answered_by.insert(place, server);
        for slot in slots(Watcher::Observer(place), &self.stages[1]) {
            for watch in self.watches.iter_mut().filter(|watch| watch.watching.contains(&slot)) {
                watch.answered_by.insert(slot, Some(server));
            }
        }
    }

    /// Whose answers a slot has now.
    fn server_of(&self, (watcher, _): Slot) -> Option<ServerId> {
        match watcher {
            Watcher::Server(server) => Some(server),
            Watcher::Observer(_) if self.servers == 1 => Some(ServerId(0)),
            Watcher::Observer(place) => self.answered_by.get(&place).copied(),
        }
    }

    fn looks(&self, (watcher, _): Slot) -> bool {
        !matches!(watcher, Watcher::Server(server) if !self.running.contains(&server))
    }

    pub(super) fn set_unwell(&mut self, instance: InstanceId, unwell: bool) {
        match unwell {
            true => self.freeze(instance, |event| event == EventKind::Recovery, PendingObservation::None),
            false => self.freeze(
                instance,
                |event| matches!(event, EventKind::Unhealthy | EventKind::Override),
                PendingObservation::Superseded(self.now),
            ),
        }
        self.change(instance, |condition| condition.unwell = unwell);
    }

    pub(super) fn watch(&mut self, event: EventKind, instance: InstanceId, views: &Views) {
        if event == EventKind::Stop {
            self.change(instance, |condition| condition.stopping = true);
        }
        let mut observations = BTreeMap::new();
        let others = self.shown.iter().filter(|&(&slot, _)| self.interests.concerns(slot, instance));
        for (&slot, &view) in others.filter(|&(&slot, _)| self.looks(slot)) {
            let open = views.is_up(view, instance) == event.is_end();
            observations.insert(slot, if open { PendingObservation::Open } else { PendingObservation::None });
        }
        let watching = observations.keys().copied().collect();
        let answered_by = observations.keys().map(|&slot| (slot, self.server_of(slot))).collect();
        let at = self.now;
        self.watches.push(Watch { event, instance, at, frozen: false, observations, watching, answered_by });
    }

    pub(super) fn server_fact(&mut self, server: ServerId, fact: Fact) {
        match fact {
            Fact::LeaseRegistered { instance, status: Status::Up, .. } => {
                self.change(instance, |condition| {
                    if condition.cancelled_at.contains(&server) {
                        condition.unwell = false;
                        condition.cancelled_at.clear();
                    }
                    condition.up_at.insert(server);
                });
            }
            Fact::LeaseRegistered { instance, .. } => self.change(instance, |condition| {
                condition.cancelled_at.remove(&server);
                condition.up_at.remove(&server);
            }),
            Fact::StatusChanged { instance, status } => self.change(instance, |condition| {
                condition.up_at.remove(&server);
                if status == Status::Up {
                    condition.up_at.insert(server);
                }
            }),
            Fact::LeaseCancelled { instance } => self.change(instance, |condition| {
                condition.up_at.remove(&server);
                condition.cancelled_at.insert(server);
            }),
            _ => {}
        }
    }

    pub(super) fn show(&mut self, slot: Slot, to: View, removal: Removal, views: &Views) {
        let server = self.server_of(slot);
        let Some(shown) = self.shown.get_mut(&slot) else { return };
        let from = std::mem::replace(shown, to);
        for watch in self.watches.iter_mut().filter(|watch| !watch.frozen) {
            if !watch.watching.contains(&slot) {
                continue;
            }
            let observation = watch.observations.get_mut(&slot).expect("who watches has a sighting");
            let open = views.is_up(to, watch.instance) == watch.event.is_end();
            *observation = match *observation {
                PendingObservation::Open if !open => PendingObservation::Closed(self.now, server),
                PendingObservation::Closed(..) | PendingObservation::None if open && watch.event.is_end() => {
                    PendingObservation::Open
                }
                same => same,
            };
        }
        for number in 0..self.instances.len() {
            let instance = InstanceId(number as u32);
            let (before, after) = (views.is_up(from, instance), views.is_up(to, instance));
            if before && !after && self.instances[number].is_well() && self.interests.concerns(slot, instance)
            {
                self.mistaken.insert((slot, instance), (self.now, removal, server));
                self.figures.entry(slot).or_default().2 += 1;
            } else if after {
                self.end((slot, instance), true);
            }
        }
    }

    /// Sightings and mistakes that are open.
    pub(super) fn open(&self) -> (usize, usize) {
        let observations = self.watches.iter().flat_map(|watch| watch.observations.values());
        (
            observations.filter(|observation| **observation == PendingObservation::Open).count(),
            self.mistaken.len(),
        )
    }

    /// What was seen, what was wrong, and everybody's figures.
    pub(super) fn finish(mut self) -> (Seen, MistakeCounts, BTreeMap<Slot, Figures>) {
        for (slot, instance) in self.mistaken.keys().copied().collect::<Vec<_>>() {
            self.end((slot, instance), false);
        }
        let mut seen = Seen::new();
        for watch in &self.watches {
            let mut by_instance = BTreeMap::new();
            for (&slot, &observation) in &watch.observations {
                let mut server = watch.answered_by[&slot];
                let outcome = match observation {
                    PendingObservation::None => continue,
                    PendingObservation::Open => Outcome::Censored(self.now.since(watch.at)),
                    PendingObservation::Closed(at, then) => {
                        server = then;
                        Outcome::Detected(at.since(watch.at))
                    }
                    PendingObservation::Superseded(at) => Outcome::Superseded(at.since(watch.at)),
                };
                *by_instance.entry((watch.event, watch.at, (slot.1, server), outcome)).or_insert(0) += 1;
            }
            for (key, count) in by_instance {
                let (all, instances) = seen.entry(key).or_default();
                *all += count;
                *instances += 1;
            }
        }
        (seen, self.wrong, self.figures)
    }

    fn change(&mut self, instance: InstanceId, change: impl FnOnce(&mut Instance)) {
        change(&mut self.instances[instance.index()]);
        if !self.instances[instance.index()].is_well() {
            let slots: Vec<Slot> = self.shown.keys().copied().collect();
            slots.into_iter().for_each(|slot| self.end((slot, instance), false));
        }
    }

    fn end(&mut self, pair: (Slot, InstanceId), corrected: bool) {
        let Some((since, removal, server)) = self.mistaken.remove(&pair) else { return };
        let (slot, _) = pair;
        *self.wrong.entry(((slot.1, server), since, self.now, corrected, removal)).or_insert(0) += 1;
        self.figures.entry(slot).or_default().3 += u64::from(corrected);
    }

    fn freeze(&mut self, instance: InstanceId, which: impl Fn(EventKind) -> bool, into: PendingObservation) {
        for watch in self.watches.iter_mut().filter(|watch| !watch.frozen) {
            if watch.instance == instance && which(watch.event) {
                watch.frozen = true;
                let open = watch
                    .observations
                    .values_mut()
                    .filter(|observation| **observation == PendingObservation::Open);
                open.for_each(|observation| *observation = into);
            }
        }
    }
}

fn slots(watcher: Watcher, stages: &[Stage]) -> Vec<Slot> {
    stages.iter().map(|&stage| (watcher, stage)).collect()
}
