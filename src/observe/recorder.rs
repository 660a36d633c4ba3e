//! The one place where facts arrive. It keeps what the rows of a run are made of and changes nothing else: a
//! run's digest is the same with and without it.

use std::collections::BTreeSet;

use super::data::{Detection, Injected, LeaseCounts, LoadMinute, Minute, Mistake};
use super::detection::{Detections, Panorama};
use super::mistake::Mistakes;
use crate::engine::{SimDuration, SimTime};
use crate::model::fact::{EvictionRound, Fact};
use crate::model::id::{ClientId, InstanceId};
use crate::model::message::{Reply, RequestKind};
use crate::model::stage::{EventKind, Stage};
use crate::model::view::{View, Views};

/// The length of a row of the load table.
const LOAD_ROW: SimDuration = SimDuration::from_secs(60);

/// Keeps what a replicate leaves behind.
pub struct Recorder {
    detections: Detections,
    mistakes: Mistakes,
    /// A client's place among the observers.
    places: Vec<Option<u32>>,
    /// Each observer's local registry and balancer list; `None` while it is down.
    shown: Vec<Option<[View; 2]>>,
    /// Instances whose process is alive, paused ones included.
    alive: Vec<bool>,
    /// Of these, those that nobody need show.
    not_well: BTreeSet<InstanceId>,
    server: [View; 2],
    timeline: Vec<Minute>,
    load: Vec<LoadMinute>,
    faults: Vec<Injected>,
    rounds: Vec<(SimTime, EvictionRound)>,
    evicted_since_minute: u32,
    leases: LeaseCounts,
}

/// Everything a recorder has kept, ready for a [`super::ReplicateData`].
pub struct Recorded {
    /// Observations.
    pub detections: Vec<Detection>,
    /// Mistakes.
    pub mistakes: Vec<Mistake>,
    /// The server's minutes.
    pub timeline: Vec<Minute>,
    /// The server's load.
    pub load: Vec<LoadMinute>,
    /// The faults.
    pub faults: Vec<Injected>,
    /// Eviction rounds that found something.
    pub rounds: Vec<(SimTime, EvictionRound)>,
    /// What became of leases.
    pub leases: LeaseCounts,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            detections: Detections::default(),
            mistakes: Mistakes::default(),
            places: Vec::new(),
            shown: Vec::new(),
            alive: Vec::new(),
            not_well: BTreeSet::new(),
            server: [View::EMPTY; 2],
            timeline: Vec::new(),
            load: Vec::new(),
            faults: Vec::new(),
            rounds: Vec::new(),
            evicted_since_minute: 0,
            leases: LeaseCounts::default(),
        }
    }
}

impl Recorder {
    /// A client exists; `observes` if its views count.
    pub fn add_client(&mut self, client: ClientId, observes: bool) {
        if self.places.len() <= client.index() {
            self.places.resize(client.index() + 1, None);
        }
        if observes {
            self.places[client.index()] = Some(self.shown.len() as u32);
            self.shown.push(None);
        }
    }

    /// A process starts, or starts again, under `instance`.
    pub fn process_started(&mut self, client: ClientId, instance: InstanceId, now: SimTime) {
        if self.alive.len() <= instance.index() {
            self.alive.resize(instance.index() + 1, false);
        }
        self.alive[instance.index()] = true;
        self.not_well.remove(&instance);
        self.detections.came_back(instance, now);
        if let Some(place) = self.place(client) {
            self.shown[place] = Some([View::EMPTY; 2]);
        }
    }

    /// A process has ended, by whatever cause.
    pub fn process_ended(&mut self, client: ClientId, instance: InstanceId, now: SimTime) {
        self.alive[instance.index()] = false;
        self.detections.went_away(instance);
        self.mistakes.end(instance, false, now);
        if let Some(place) = self.place(client) {
            self.detections.observer_gone(place);
            self.shown[place] = None;
        }
    }

    /// An instance whose process is alive is not to be expected in any view from now on: it is unhealthy, overridden,
    /// stopping, or was deleted. That it is missing is no mistake.
    pub fn not_well(&mut self, instance: InstanceId, now: SimTime) {
        let _ = now;
        self.not_well.insert(instance);
        self.detections.fell_ill(instance);
    }

    /// An instance whose process is alive is well again: nobody need notice any more that it was not.
    pub fn well_again(&mut self, instance: InstanceId, now: SimTime) {
        self.not_well.remove(&instance);
        self.detections.got_well(instance, now);
    }

    /// Begins to watch for an event of `instance`, whose process is `client`.
    pub fn watch(
        &mut self,
        event: EventKind,
        client: ClientId,
        instance: InstanceId,
        now: SimTime,
        views: &Views,
    ) {
        let own_place = self.place(client);
        let panorama = Panorama { server: self.server, observers: &self.shown, views };
        self.detections.watch(event, instance, own_place, now, &panorama);
    }

    /// A client reports a fact.
    #[inline]
    pub fn client_fact(&mut self, client: ClientId, fact: Fact, now: SimTime, views: &Views) {
        let (stage, to) = match fact {
            Fact::ViewChanged { to, .. } => (Stage::Client, to),
            Fact::BalancerChanged { to, .. } => (Stage::Balancer, to),
            _ => return,
        };
        let Some(place) = self.place(client) else { return };
        if let Some(shown) = &mut self.shown[place] {
            shown[stage as usize - Stage::Client as usize] = to;
            self.detections.observer_changed(place, stage, to, now, views);
        }
    }

    /// The server reports a fact; `registry` is what it holds now.
    pub fn server_fact(&mut self, fact: Fact, registry: View, now: SimTime, views: &Views) {
        match fact {
            Fact::LeaseEvicted { instance } => {
                self.evicted_since_minute += 1;
                self.leases.evicted += 1;
                let is_alive = self.alive.get(instance.index()).copied().unwrap_or(false);
                if is_alive && !self.not_well.contains(&instance) {
                    self.mistakes.begin(instance, now);
                }
            }
            Fact::LeaseRegistered { instance, new, .. } => {
                self.leases.created += u64::from(new);
                self.mistakes.end(instance, true, now);
            }
            Fact::LeaseCancelled { .. } => self.leases.cancelled += 1,
            Fact::EvictionRoundEnded(round) if round.expired > 0 => self.rounds.push((now, round)),
            Fact::ServedChanged { to, .. } => {
                self.server[1] = to;
                self.detections.server_changed(Stage::Served, to, now, views);
            }
            _ => {}
        }
        if self.server[0] != registry {
            self.server[0] = registry;
            self.detections.server_changed(Stage::Registry, registry, now, views);
        }
    }

    /// The server has ended, and `leases` with it: it holds and serves nothing.
    pub fn server_ended(&mut self, leases: u32, now: SimTime, views: &Views) {
        self.leases.lost += u64::from(leases);
        self.server = [View::EMPTY; 2];
        self.detections.server_changed(Stage::Registry, View::EMPTY, now, views);
        self.detections.server_changed(Stage::Served, View::EMPTY, now, views);
    }

    /// The server's minute bucket was closed; the rest of `minute` is filled in here.
    pub fn minute(&mut self, minute: Minute) {
        let evicted = std::mem::take(&mut self.evicted_since_minute);
        self.timeline.push(Minute { evicted, ..minute });
    }

    /// The server answered a request.
    #[inline]
    pub fn answered(&mut self, kind: RequestKind, reply: &Reply, now: SimTime) {
        let row = (now.as_nanos() / LOAD_ROW.as_nanos()) as usize;
        if row >= self.load.len() {
            self.fill_load(row);
        }
        let minute = &mut self.load[row];
        minute.requests[kind as usize] += 1;
        minute.refused += u64::from(reply.status >= 400);
    }

    #[cold]
    fn fill_load(&mut self, row: usize) {
        for number in self.load.len()..=row {
            let from = SimTime::ZERO + LOAD_ROW * number as u64;
            self.load.push(LoadMinute { from, requests: [0; RequestKind::COUNT], refused: 0 });
        }
    }

    /// A fault was injected.
    pub fn injected(&mut self, fault: Injected) {
        self.faults.push(fault);
    }

    /// The views that it may still ask about.
    pub fn views(&self) -> impl Iterator<Item = View> + '_ {
        self.shown.iter().flatten().flatten().copied().chain(self.server)
    }

    /// What the server's registry and its answers show.
    pub fn server_views(&self) -> [View; 2] {
        self.server
    }

    /// Whether nothing that is watched is still open.
    pub fn is_settled(&self) -> bool {
        self.detections.open() == 0 && self.mistakes.open() == 0
    }

    /// Ends the record at `now`.
    pub fn finish(self, now: SimTime) -> Recorded {
        Recorded {
            detections: self.detections.finish(now),
            mistakes: self.mistakes.finish(now),
            timeline: self.timeline,
            load: self.load,
            faults: self.faults,
            rounds: self.rounds,
            leases: self.leases,
        }
    }

    fn place(&self, client: ClientId) -> Option<usize> {
        self.places[client.index()].map(|place| place as usize)
    }
}
