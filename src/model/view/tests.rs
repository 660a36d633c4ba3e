//! Shared views against what a client would compute by itself: a plain map for each client, on random
//! histories of one or two server lives with purged queues, missed deltas, late answers and answers of one service.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::model::id::AppId;

/// What one client holds, written out: application by instance, status.
type Plain = BTreeMap<u32, (u32, Status)>;

/// Three instances to an application.
fn app_of(instance: u32) -> AppId {
    AppId(instance / 3)
}

/// `DiscoveryClient.updateDelta` on maps, in the order of the reply. The entries of one application stand
/// together there; entries of different applications do not touch each other.
fn apply_plainly(held: &mut Plain, entries: &[(u32, Option<Status>, Status)]) {
    let apps: BTreeSet<u32> = entries.iter().map(|entry| app_of(entry.0).0).collect();
    for app in &apps {
        let object: Vec<_> = entries.iter().filter(|entry| app_of(entry.0).0 == *app).collect();
        for &&(instance, present, _) in &object {
            let Some(status) = present else {
                held.remove(&instance);
                continue;
            };
            if !held.values().any(|&(of, _)| of == *app) {
                // The whole object: those before this one that are deleted stay, those after are processed
                // yet, and those that are present are put again.
                for &&(other, other_present, last) in &object {
                    held.insert(other, (*app, other_present.unwrap_or(last)));
                }
            }
            held.insert(instance, (*app, status));
        }
    }
}

/// The instances of an application that are UP.
fn up_of(held: &Plain, app: u32) -> Vec<InstanceId> {
    let up = held.iter().filter(|&(_, &held)| held == (app, Status::Up));
    up.map(|(&instance, _)| InstanceId(instance)).collect()
}

fn hash(held: &Plain) -> String {
    let mut counts = StatusCounts::default();
    for &(_, status) in held.values() {
        counts.replace(Presence::Absent, Presence::Present(status));
    }
    counts.reconcile_hash()
}

/// A server's own history, written out.
#[derive(Default)]
struct PlainServer {
    registry: Plain,
    /// Last record of everybody who was ever here.
    last: BTreeMap<u32, Status>,
    queue: Vec<u32>,
    head: usize,
}

impl PlainServer {
    fn delta(&self) -> Vec<(u32, Option<Status>, Status)> {
        let mut order: Vec<u32> = Vec::new();
        for &instance in &self.queue[self.head..] {
            order.retain(|&other| other != instance);
            order.push(instance);
        }
        let entry =
            |&instance: &u32| (instance, self.registry.get(&instance).map(|at| at.1), self.last[&instance]);
        order.iter().map(entry).collect()
    }
}

#[derive(Clone, Debug)]
enum Act {
    /// Register or change, announced.
    Put(u32, Status),
    /// Change without an entry in the queue.
    Slip(u32, Status),
    Remove(u32),
    Purge(usize),
    /// Make a delta and a full answer, kept for later.
    Build,
    /// Client, age of the answer: the newest is 0.
    Delta(usize, usize),
    Full(usize, usize),
    /// Of a full answer one application only; of none, that it is empty.
    Service(usize, u32, Option<usize>),
    Restart,
    /// Forget the views that no client holds.
    Forget,
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![4 => Just(Status::Up), 1 => Just(Status::Down), 1 => Just(Status::OutOfService)]
}

fn act() -> impl Strategy<Value = Act> {
    let instance = 0..9_u32;
    prop_oneof![
        6 => (instance.clone(), status()).prop_map(|(instance, status)| Act::Put(instance, status)),
        1 => (instance.clone(), status()).prop_map(|(instance, status)| Act::Slip(instance, status)),
        5 => instance.prop_map(Act::Remove),
        2 => (1..6_usize).prop_map(Act::Purge),
        4 => Just(Act::Build),
        8 => (0..4_usize, 0..3_usize).prop_map(|(client, age)| Act::Delta(client, age)),
        2 => (0..4_usize, 0..3_usize).prop_map(|(client, age)| Act::Full(client, age)),
        4 => (0..4_usize, 0..3_u32, prop::option::weighted(0.9, 0..4_usize))
            .prop_map(|(client, app, age)| Act::Service(client, app, age)),
        1 => Just(Act::Restart),
        2 => Just(Act::Forget),
    ]
}

/// An answer as it was made, both ways.
struct Answer {
    payload: Payload,
    full: Plain,
    delta: Vec<(u32, Option<Status>, Status)>,
    hash: String,
}

/// The shared world and the plain one, side by side.
struct Pair {
    views: Views,
    life: LifeId,
    server: PlainServer,
    answers: Vec<Answer>,
    clients: Vec<(View, Plain)>,
}

impl Pair {
    fn new() -> Self {
        let mut views = Views::default();
        let life = views.begin_life();
        let clients = vec![(View::EMPTY, Plain::new()); 4];
        let mut pair = Self { views, life, server: PlainServer::default(), answers: Vec::new(), clients };
        pair.build();
        pair
    }

    fn put(&mut self, instance: u32, status: Status) {
        self.server.registry.insert(instance, (app_of(instance).0, status));
        self.server.last.insert(instance, status);
        let log = self.views.log_mut(self.life);
        log.put(app_of(instance), InstanceId(instance), Presence::Present(status));
    }

    fn announce(&mut self, instance: u32) {
        self.server.queue.push(instance);
        self.views.log_mut(self.life).announce(InstanceId(instance));
    }

    fn build(&mut self) {
        let log = self.views.log(self.life);
        let payload = Payload {
            life: self.life,
            version: log.version(),
            queue_head: self.server.head as u32,
            queue_tail: log.queued(),
        };
        let full = self.server.registry.clone();
        let answer = Answer { payload, hash: hash(&full), full, delta: self.server.delta() };
        self.answers.push(answer);
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::Put(instance, status) => {
                self.put(instance, status);
                self.announce(instance);
            }
            Act::Slip(instance, status) => {
                if self.server.registry.get(&instance).is_some_and(|&(_, held)| held != status) {
                    self.put(instance, status);
                    self.views.log_mut(self.life).leave_unannounced();
                }
            }
            Act::Remove(instance) => {
                if self.server.registry.remove(&instance).is_some() {
                    let log = self.views.log_mut(self.life);
                    log.put(app_of(instance), InstanceId(instance), Presence::Absent);
                    self.announce(instance);
                }
            }
            Act::Purge(count) => {
                self.server.head = (self.server.head + count).min(self.server.queue.len());
            }
            Act::Build => self.build(),
            Act::Restart => {
                self.life = self.views.begin_life();
                self.server = PlainServer::default();
                self.build();
            }
            Act::Forget => self.views.keep_only(self.clients.iter().map(|client| client.0)),
            Act::Full(client, age) => {
                let answer = &self.answers[self.answers.len().saturating_sub(1 + age)];
                self.clients[client] = (answer.payload.full_view(), answer.full.clone());
            }
            Act::Service(client, app, age) => {
                let answer = age.map(|age| &self.answers[self.answers.len().saturating_sub(1 + age)]);
                let (view, held) = &mut self.clients[client];
                held.retain(|_, (of, _)| *of != app);
                let told = answer.iter().flat_map(|answer| &answer.full);
                held.extend(
                    told.filter(|(_, told)| told.0 == app).map(|(&instance, &told)| (instance, told)),
                );
                let source = answer.map_or(View::EMPTY, |answer| answer.payload.full_view());
                *view = self.views.with_service(*view, AppId(app), source);
            }
            Act::Delta(client, age) => {
                let answer = &self.answers[self.answers.len().saturating_sub(1 + age)];
                let (view, held) = &mut self.clients[client];
                if view.is_initial() {
                    return; // a client without a registry never asks for a delta
                }
                let applied = self.views.apply_delta(*view, &answer.payload);
                apply_plainly(held, &answer.delta);
                assert_eq!(applied.hash_matches, hash(held) == answer.hash);
                *view = applied.view;
            }
        }
    }

    fn check(&mut self) {
        let newest = self.answers.last().expect("one is there from the start");
        for (view, held) in &self.clients {
            let loses = |app| !up_of(held, app).is_empty() && up_of(&newest.full, app).is_empty();
            assert_eq!(self.views.would_lose(*view, &newest.payload, Loss::All), (0..3).any(loses));
            let same = (0..3).all(|app| up_of(held, app) == up_of(&newest.full, app));
            assert_eq!(self.views.show_the_same(*view, newest.payload.full_view()), same);
            for app in 0..3 {
                let plain = up_of(held, app);
                assert_eq!(self.views.up_of(*view, AppId(app)), plain.len() as u32);
                let list = self.views.up_instances(*view, AppId(app));
                assert_eq!(*list, *plain);
                // The second time it is remembered.
                assert!(std::rc::Rc::ptr_eq(&list, &self.views.up_instances(*view, AppId(app))));
            }
            let shared = self.views.instances(*view).into_iter();
            let shared: Plain =
                shared.map(|(instance, status)| (instance.0, (app_of(instance.0).0, status))).collect();
            assert_eq!(&shared, held);
            assert_eq!(self.views.counts(*view).reconcile_hash(), hash(held));
            for instance in 0..9 {
                let up = held.get(&instance).is_some_and(|&(_, status)| status == Status::Up);
                assert_eq!(self.views.is_up(*view, InstanceId(instance)), up);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn every_client_holds_what_it_would_have_computed(acts in prop::collection::vec(act(), 1..60)) {
        let mut pair = Pair::new();
        for act in &acts {
            pair.act(act);
            pair.check();
        }
    }
}

fn run(acts: &[Act]) -> Pair {
    let mut pair = Pair::new();
    for act in acts {
        pair.act(act);
    }
    pair.check();
    pair
}

#[test]
fn a_delta_that_covers_everything_moves_the_version() {
    use Act::{Build, Delta, Full, Put, Remove};
    let pair = run(&[
        Put(0, Status::Up),
        Put(1, Status::Up),
        Build,
        Full(0, 0),
        Put(2, Status::Up),
        Remove(0),
        Build,
        Delta(0, 0),
    ]);
    assert_eq!(pair.clients[0].0, pair.answers.last().expect("built").payload.full_view());
}

#[test]
fn netflix_1528_brings_the_deleted_back() {
    use Act::{Build, Delta, Full, Put, Remove};
    // The client does not hold the application; the delta lists [0 DELETED, 1 ADDED].
    let mut pair = run(&[Full(0, 0), Put(0, Status::Up), Remove(0), Put(1, Status::Up), Build]);
    let (view, payload) = (pair.clients[0].0, pair.answers.last().expect("built").payload);
    let applied = pair.views.apply_delta(view, &payload);
    assert!(!applied.hash_matches); // UP_2_ here, UP_1_ there
    assert!(pair.views.is_up(applied.view, InstanceId(0)));
    // It holds the application, but only the instance that the delta deletes first: the same.
    let pair =
        run(&[Put(0, Status::Up), Build, Full(0, 0), Remove(0), Put(1, Status::Up), Build, Delta(0, 0)]);
    assert!(pair.views.is_up(pair.clients[0].0, InstanceId(0)));
    // It holds another instance of it: all is well.
    let pair = run(&[
        Put(0, Status::Up),
        Put(2, Status::Up),
        Build,
        Full(0, 0),
        Remove(0),
        Put(1, Status::Up),
        Build,
        Delta(0, 0),
    ]);
    assert!(!pair.views.is_up(pair.clients[0].0, InstanceId(0)));
}

#[test]
fn a_missed_delta_shows_in_the_hash() {
    use Act::{Build, Full, Purge, Put, Remove};
    let mut pair = run(&[
        Put(0, Status::Up),
        Put(1, Status::Up),
        Build,
        Full(0, 0),
        Remove(0),
        Purge(3), // the removal's entry has left the queue
        Build,
    ]);
    let (view, payload) = (pair.clients[0].0, pair.answers.last().expect("built").payload);
    let applied = pair.views.apply_delta(view, &payload);
    assert!(!applied.hash_matches);
    assert!(pair.views.is_up(applied.view, InstanceId(0)));
}

#[test]
fn equal_counts_hide_different_registries() {
    use Act::{Build, Full, Purge, Put, Remove};
    // 0 left and 2 came, both unseen by the client: UP_2_ on both sides.
    let mut pair = run(&[
        Put(0, Status::Up),
        Put(1, Status::Up),
        Build,
        Full(0, 0),
        Remove(0),
        Put(2, Status::Up),
        Purge(4),
        Build,
    ]);
    let (view, payload) = (pair.clients[0].0, pair.answers.last().expect("built").payload);
    let applied = pair.views.apply_delta(view, &payload);
    assert!(applied.hash_matches);
    assert!(pair.views.is_up(applied.view, InstanceId(0)));
    assert!(!pair.views.is_up(applied.view, InstanceId(2)));
}

#[test]
fn a_change_without_an_entry_is_a_mismatch_unless_its_instance_is_listed() {
    use Act::{Build, Full, Purge, Put, Slip};
    let acts = [Put(0, Status::Up), Put(1, Status::Up), Build, Full(0, 0), Slip(0, Status::Down), Build];
    let mut pair = run(&acts);
    let (view, payload) = (pair.clients[0].0, pair.answers.last().expect("built").payload);
    // Its registration is still in the queue and shows the status of now.
    assert!(pair.views.apply_delta(view, &payload).hash_matches);
    let mut acts = acts.to_vec();
    acts.insert(5, Purge(2));
    let mut pair = run(&acts);
    let (view, payload) = (pair.clients[0].0, pair.answers.last().expect("built").payload);
    assert!(!pair.views.apply_delta(view, &payload).hash_matches);
}

#[test]
fn the_hash_is_written_in_eurekas_order() {
    let mut counts = StatusCounts::default();
    for (status, count) in [(Status::Up, 7), (Status::Starting, 1), (Status::OutOfService, 2)] {
        for _ in 0..count {
            counts.replace(Presence::Absent, Presence::Present(status));
        }
    }
    assert_eq!(counts.reconcile_hash(), "OUT_OF_SERVICE_2_STARTING_1_UP_7_");
    assert_eq!((counts.total(), StatusCounts::default().reconcile_hash().as_str()), (10, ""));
}
