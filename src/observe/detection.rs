//! T_D: how long each stage goes on showing an instance that is gone, and how long until it shows a new one.
//!
//! A *watch* begins with an event (a crash, an orderly stop, a registration) and holds one sighting for the
//! server's registry, one for its answers, and two for every observer that is up: its local registry and its
//! balancer's list. For an end the time that counts is the last one at which a sighting stopped showing the
//! instance: one that shows it again, because an older answer came late, is open again.
//!
//! Not an observation: an observer that never shows the instance after the event, one that goes down before it
//! could tell, and one that comes up after the event.

use std::collections::BTreeMap;

use super::data::{Detection, Outcome};
use crate::engine::SimTime;
use crate::model::id::InstanceId;
use crate::model::stage::{EventKind, Stage};
use crate::model::view::{View, Views};

/// What one watcher saw of one watched instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sighting {
    /// Nothing that counts yet: not shown since the event.
    None,
    /// An end is not seen yet, or a registration not yet.
    Open,
    /// Seen, at this time.
    Closed(SimTime),
    /// The instance came back first, at this time.
    Superseded(SimTime),
}

struct Watch {
    event: EventKind,
    instance: InstanceId,
    at: SimTime,
    /// Nothing may change any more: the instance came back, or ended, under the same id.
    frozen: bool,
    server: [Sighting; 2],
    observers: Vec<[Sighting; 2]>,
    /// Observers that were up at the event and have been since. Whoever comes later is another.
    watching: Vec<bool>,
    open: u64,
}

/// What the watchers show at one moment.
pub(super) struct Panorama<'a> {
    /// The registries and answers of the server.
    pub(super) server: [View; 2],
    /// Every observer's local registry and balancer list; `None` for one that is down.
    pub(super) observers: &'a [Option<[View; 2]>],
    /// What the views mean.
    pub(super) views: &'a Views,
}

/// All watches of a replicate.
#[derive(Default)]
pub(super) struct Detections {
    watches: Vec<Watch>,
    /// Watches that may still change.
    active: Vec<usize>,
    open: u64,
}

impl Watch {
    /// What counts as seen: an end is seen while the instance is not shown, a registration while it is.
    fn is_open(&self, shown: bool) -> bool {
        shown == self.event.is_end()
    }

    fn see(&mut self, which: Slot, shown: bool, now: SimTime) {
        if self.frozen {
            return;
        }
        let open = self.is_open(shown);
        let ends = self.event.is_end();
        let sighting = match which {
            Slot::Server(stage) => &mut self.server[stage],
            Slot::Observer(observer, _) if !self.is_watching(observer) => return,
            Slot::Observer(observer, stage) => &mut self.observers[observer][stage],
        };
        let before = *sighting;
        match before {
            Sighting::Open if !open => *sighting = Sighting::Closed(now),
            // Shown again, or for the first time since.
            Sighting::Closed(_) | Sighting::None if open && ends => *sighting = Sighting::Open,
            _ => return,
        }
        match before {
            Sighting::Open => self.open -= 1,
            _ => self.open += 1,
        }
    }

    fn is_watching(&self, observer: usize) -> bool {
        self.watching.get(observer).is_some_and(|&watching| watching)
    }

    fn sightings(&mut self) -> impl Iterator<Item = &mut Sighting> {
        self.server.iter_mut().chain(self.observers.iter_mut().flatten())
    }

    /// Turns everything open into `into`.
    fn freeze(&mut self, into: Sighting) {
        for sighting in self.sightings() {
            if *sighting == Sighting::Open {
                *sighting = into;
            }
        }
        self.open = 0;
        self.frozen = true;
    }
}

#[derive(Clone, Copy)]
enum Slot {
    Server(usize),
    Observer(usize, usize),
}

impl Detections {
    /// Begins to watch. `observer_of` is the instance's own place among the observers, which does not watch
    /// itself.
    pub(super) fn watch(
        &mut self,
        event: EventKind,
        instance: InstanceId,
        own_place: Option<usize>,
        at: SimTime,
        panorama: &Panorama<'_>,
    ) {
        let mut watch = Watch {
            event,
            instance,
            at,
            frozen: false,
            server: [Sighting::None; 2],
            observers: vec![[Sighting::None; 2]; panorama.observers.len()],
            watching: vec![false; panorama.observers.len()],
            open: 0,
        };
        let begin = |view: View| {
            let shown = panorama.views.is_up(view, instance);
            if shown == event.is_end() { Sighting::Open } else { Sighting::None }
        };
        watch.server = panorama.server.map(begin);
        for (place, views) in panorama.observers.iter().enumerate() {
            if let Some(views) = views.filter(|_| Some(place) != own_place) {
                watch.watching[place] = true;
                watch.observers[place] = views.map(begin);
            }
        }
        watch.open = watch.sightings().filter(|sighting| **sighting == Sighting::Open).count() as u64;
        self.open += watch.open;
        self.active.push(self.watches.len());
        self.watches.push(watch);
    }

    /// The server's registry or answers changed.
    pub(super) fn server_changed(&mut self, stage: Stage, to: View, now: SimTime, views: &Views) {
        self.see(Slot::Server(stage as usize), to, now, views);
    }

    /// An observer's local registry or balancer list changed.
    pub(super) fn observer_changed(
        &mut self,
        observer: usize,
        stage: Stage,
        to: View,
        now: SimTime,
        views: &Views,
    ) {
        self.see(Slot::Observer(observer, stage as usize - Stage::Client as usize), to, now, views);
    }

    fn see(&mut self, slot: Slot, to: View, now: SimTime, views: &Views) {
        for &number in &self.active {
            let watch = &mut self.watches[number];
            let before = watch.open;
            watch.see(slot, views.is_up(to, watch.instance), now);
            self.open = self.open - before + watch.open;
        }
    }

    /// An observer went down: what it had not noticed, nobody will.
    pub(super) fn observer_gone(&mut self, observer: usize) {
        for &number in &self.active {
            let watch = &mut self.watches[number];
            if !watch.is_watching(observer) {
                continue;
            }
            watch.watching[observer] = false;
            for sighting in &mut watch.observers[observer] {
                if *sighting == Sighting::Open {
                    *sighting = Sighting::None;
                    watch.open -= 1;
                    self.open -= 1;
                }
            }
        }
    }

    /// The process is back under the same id: ends that nobody noticed are superseded.
    pub(super) fn came_back(&mut self, instance: InstanceId, now: SimTime) {
        self.freeze(instance, EventKind::is_end, Sighting::Superseded(now));
    }

    /// The process is gone: whoever has not seen its registration will not.
    pub(super) fn went_away(&mut self, instance: InstanceId) {
        self.freeze(instance, |event| !event.is_end(), Sighting::None);
    }

    /// The instance is not well: whoever has not seen its recovery will not.
    pub(super) fn fell_ill(&mut self, instance: InstanceId) {
        self.freeze(instance, |event| event == EventKind::Recovery, Sighting::None);
    }

    /// The instance is well again: what nobody noticed meanwhile is superseded.
    pub(super) fn got_well(&mut self, instance: InstanceId, now: SimTime) {
        let illness = |event| matches!(event, EventKind::Unhealthy | EventKind::Override);
        self.freeze(instance, illness, Sighting::Superseded(now));
    }

    fn freeze(&mut self, instance: InstanceId, which: fn(EventKind) -> bool, into: Sighting) {
        let Self { watches, active, open } = self;
        active.retain(|&number| {
            let watch = &mut watches[number];
            let hit = watch.instance == instance && which(watch.event);
            if hit {
                *open -= watch.open;
                watch.freeze(into);
            }
            !hit
        });
    }

    /// Sightings that are still open.
    pub(super) fn open(&self) -> u64 {
        self.open
    }

    /// All observations, equal ones together, by event time, instance, event, stage and outcome.
    pub(super) fn finish(mut self, now: SimTime) -> Vec<Detection> {
        self.watches.sort_by_key(|watch| (watch.at, watch.instance, watch.event));
        // One watch after the other, each gone when its rows are there: there may be millions.
        self.watches.into_iter().flat_map(|watch| watch.rows(now)).collect()
    }
}

impl Watch {
    /// Its observations at the end of the run, equal ones together, by stage and outcome.
    fn rows(self, now: SimTime) -> impl Iterator<Item = Detection> {
        let mut counts = BTreeMap::new();
        let mut count = |stage: Stage, sighting: Sighting| {
            let outcome = match sighting {
                Sighting::None => return,
                Sighting::Open => Outcome::Censored(now.since(self.at)),
                Sighting::Closed(at) => Outcome::Detected(at.since(self.at)),
                Sighting::Superseded(at) => Outcome::Superseded(at.since(self.at)),
            };
            *counts.entry((stage, outcome)).or_insert(0_u64) += 1;
        };
        count(Stage::Registry, self.server[0]);
        count(Stage::Served, self.server[1]);
        for sightings in &self.observers {
            count(Stage::Client, sightings[0]);
            count(Stage::Balancer, sightings[1]);
        }
        let (event, instance, at) = (self.event, self.instance, self.at);
        counts.into_iter().map(move |((stage, outcome), count)| Detection {
            event,
            instance,
            instances: 1,
            at,
            stage,
            outcome,
            count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SimDuration;
    use crate::model::id::AppId;
    use crate::model::message::Status;
    use crate::model::view::{LifeId, Presence};

    const DEAD: InstanceId = InstanceId(0);
    const UP: Presence = Presence::Present(Status::Up);

    /// Version 1 shows the instance, version 2 does not, version 3 does again.
    fn history() -> (Views, [View; 4]) {
        let mut views = Views::default();
        let life = views.begin_life();
        for presence in [UP, Presence::Absent, UP] {
            views.log_mut(life).put(AppId(0), DEAD, presence);
        }
        (views, [0, 1, 2, 3].map(|version| View::of(LifeId(0), version)))
    }

    fn second(seconds: u64) -> SimTime {
        SimTime::from_secs(seconds)
    }

    fn outcomes(detections: Detections, stage: Stage, end: SimTime) -> Vec<(Outcome, u64)> {
        let rows = detections.finish(end).into_iter().filter(|row| row.stage == stage);
        rows.map(|row| (row.outcome, row.count)).collect()
    }

    /// A crash at 10 s, seen by the server and by three observers, of which the first is the victim itself.
    fn crash(views: &Views, shown: View) -> Detections {
        let mut detections = Detections::default();
        let observers = [Some([shown; 2]); 3];
        let panorama = Panorama { server: [shown; 2], observers: &observers, views };
        detections.watch(EventKind::Crash, DEAD, Some(0), second(10), &panorama);
        detections
    }

    #[test]
    fn the_last_time_it_stopped_being_shown_counts() {
        let (views, [_, up, gone, up_again]) = history();
        let mut detections = crash(&views, up);
        assert_eq!(detections.open(), 2 + 2 * 2);
        for (at, view) in [(20, gone), (30, up_again), (40, gone)] {
            detections.observer_changed(1, Stage::Client, view, second(at), &views);
        }
        // 40 s - 10 s for the one, the end at 100 s for the other.
        let expected = [
            (Outcome::Detected(SimDuration::from_secs(30)), 1),
            (Outcome::Censored(SimDuration::from_secs(90)), 1),
        ];
        assert_eq!(outcomes(detections, Stage::Client, second(100)), expected);
    }

    #[test]
    fn equal_observations_are_one_row() {
        let (views, [_, up, gone, _]) = history();
        let mut detections = crash(&views, up);
        for observer in [1, 2] {
            detections.observer_changed(observer, Stage::Balancer, gone, second(25), &views);
        }
        let rows = outcomes(detections, Stage::Balancer, second(100));
        assert_eq!(rows, [(Outcome::Detected(SimDuration::from_secs(15)), 2)]);
    }

    #[test]
    fn who_never_shows_it_or_goes_down_first_is_no_observation() {
        let (views, [never, up, gone, _]) = history();
        let unaware = crash(&views, never);
        assert_eq!(unaware.open(), 0);
        assert!(outcomes(unaware, Stage::Client, second(100)).is_empty());

        let mut detections = crash(&views, up);
        detections.observer_gone(1);
        detections.observer_changed(1, Stage::Client, gone, second(50), &views);
        let rows = outcomes(detections, Stage::Client, second(100));
        assert_eq!(rows, [(Outcome::Censored(SimDuration::from_secs(90)), 1)]);
    }

    #[test]
    fn who_comes_up_after_the_event_is_no_observation() {
        let (views, [_, up, _, _]) = history();
        let mut detections = crash(&views, up);
        let open = detections.open();
        // A new observer, a restarted one, and the victim itself under another id.
        detections.observer_gone(1);
        for observer in [3, 1, 0] {
            detections.observer_changed(observer, Stage::Client, up, second(20), &views);
        }
        assert_eq!(detections.open(), open - 2);
    }

    #[test]
    fn a_return_under_the_same_id_supersedes_what_nobody_noticed() {
        let (views, [_, up, gone, _]) = history();
        let mut detections = crash(&views, up);
        detections.observer_changed(1, Stage::Client, gone, second(15), &views);
        detections.came_back(DEAD, second(20));
        assert_eq!(detections.open(), 0);
        let expected = [
            (Outcome::Detected(SimDuration::from_secs(5)), 1),
            (Outcome::Superseded(SimDuration::from_secs(10)), 1),
        ];
        assert_eq!(outcomes(detections, Stage::Client, second(100)), expected);
    }

    #[test]
    fn a_registration_counts_when_it_is_first_shown() {
        let (views, [never, up, gone, _]) = history();
        let mut detections = Detections::default();
        let observers = [Some([never; 2]); 2];
        let panorama = Panorama { server: [never; 2], observers: &observers, views: &views };
        detections.watch(EventKind::Registration, DEAD, None, second(10), &panorama);
        detections.server_changed(Stage::Registry, up, second(11), &views);
        detections.server_changed(Stage::Registry, gone, second(12), &views);
        let rows = outcomes(detections, Stage::Registry, second(100));
        assert_eq!(rows, [(Outcome::Detected(SimDuration::from_secs(1)), 1)]);
    }
}
