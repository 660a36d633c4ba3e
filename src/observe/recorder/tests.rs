//! What a two-stage registry and its consumers leave behind.

use super::*;
use crate::engine::SimDuration;
use crate::model::fact::Sweep;
use crate::model::message::Status;
use crate::model::view::{LifeId, Presence};
use crate::observe::data::Outcome;

const SERVER: ServerId = ServerId(0);
/// An instance of `orders`, which is client 0.
const ORDERS_1: InstanceId = InstanceId(0);
/// An instance of `stock`, which is client 1.
const STOCK_1: InstanceId = InstanceId(1);
const ORDERS: AppId = AppId(0);
const STOCK: AppId = AppId(1);
const SHOP: AppId = AppId(2);
/// A consumer of `shop` that looks at everything. It does not register.
const ALL: ClientId = ClientId(2);
/// One that looks at `orders` alone.
const SOME: ClientId = ClientId(3);

/// A registry, two instances and two consumers, of whom the instances run and are registered.
struct Scene {
    recorder: Recorder,
    views: Views,
    /// The logs of flags and of entries.
    shown: LifeId,
    stored: LifeId,
}

impl Scene {
    fn new() -> Self {
        let mut views = Views::default();
        let (shown, stored) = (views.begin_life(), views.begin_life());
        let recorder = Recorder::new(1, Kind::TwoStage.stages());
        let mut scene = Self { recorder, views, shown, stored };
        scene.recorder.add_client(ClientId(0), ORDERS, ObservedServices::Nothing);
        scene.recorder.add_client(ClientId(1), STOCK, ObservedServices::Nothing);
        scene.recorder.add_client(ALL, SHOP, ObservedServices::Everything);
        scene.recorder.add_client(SOME, SHOP, ObservedServices::Services(&[ORDERS]));
        for instance in [ORDERS_1, STOCK_1] {
            scene.recorder.process_started(ClientId(instance.0), instance, SimTime::ZERO);
            scene.register(instance, 0);
        }
        scene
    }

    /// What the registry shows.
    fn now(&self) -> View {
        View::of(self.shown, self.views.log(self.shown).version())
    }

    fn flag(&mut self, instance: InstanceId, presence: Presence, fact: Fact, at: u64) {
        let from = self.now();
        self.views.log_mut(self.shown).put(AppId(instance.0), instance, presence);
        self.tell(fact, at);
        self.tell(Fact::ServedChanged { from, to: self.now() }, at);
    }

    fn store(&mut self, instance: InstanceId, presence: Presence, at: u64) {
        let version = |views: &Views, life| View::of(life, views.log(life).version());
        let from = version(&self.views, self.stored);
        self.views.log_mut(self.stored).put(AppId(instance.0), instance, presence);
        let to = version(&self.views, self.stored);
        self.tell(Fact::StoredChanged { from, to }, at);
    }

    fn tell(&mut self, fact: Fact, at: u64) {
        let registry = self.now();
        self.recorder.server_fact(SERVER, fact, registry, SimTime::from_secs(at), &self.views);
    }

    fn register(&mut self, instance: InstanceId, at: u64) {
        let up = Presence::Present(Status::Up);
        let fact = Fact::LeaseRegistered { instance, status: Status::Up, new: true };
        self.flag(instance, up, fact, at);
        self.store(instance, up, at);
    }

    fn mark(&mut self, instance: InstanceId, at: u64) {
        let down = Presence::Present(Status::Down);
        self.flag(instance, down, Fact::SoftEvicted { instance }, at);
    }

    fn remove(&mut self, instance: InstanceId, at: u64) {
        self.flag(instance, Presence::Absent, Fact::LeaseEvicted { instance }, at);
        self.store(instance, Presence::Absent, at);
    }

    /// A consumer starts, under an identity of its own that it does not register, and holds `view` at once.
    fn start(&mut self, consumer: ClientId, view: View, at: u64) {
        self.recorder.process_started(consumer, InstanceId(consumer.0), SimTime::from_secs(at));
        self.hold(consumer, view, at);
    }

    fn hold(&mut self, consumer: ClientId, to: View, at: u64) {
        let fact = Fact::ViewChanged { from: View::EMPTY, to };
        self.recorder.client_fact(consumer, fact, SimTime::from_secs(at), &self.views);
    }

    fn crash(&mut self, instance: InstanceId, at: u64) {
        self.recorder.process_ended(ClientId(instance.0), instance, SimTime::from_secs(at));
        self.watch(EventKind::Crash, instance, at);
    }

    fn watch(&mut self, event: EventKind, instance: InstanceId, at: u64) {
        self.recorder.watch(event, ClientId(instance.0), instance, SimTime::from_secs(at), &self.views);
    }

    fn finish(self, at: u64) -> Recorded {
        self.recorder.finish(SimTime::from_secs(at))
    }
}

const fn secs(secs: u64) -> SimDuration {
    SimDuration::from_secs(secs)
}

fn seen(recorded: &Recorded) -> Vec<(Stage, Outcome, u64)> {
    recorded.detections.iter().map(|row| (row.stage, row.outcome, row.count)).collect()
}

/// (stage, how it came, since, lasted in s, corrected)
fn wrong(recorded: &Recorded) -> Vec<(Stage, Removal, u64, u64, bool)> {
    let secs = |ms: u64| ms / 1_000;
    let told = |row: &Mistake| {
        (row.stage, row.removal, secs(row.at.as_millis()), secs(row.lasted.as_millis()), row.corrected)
    };
    recorded.mistakes.iter().map(told).collect()
}

#[test]
fn a_death_is_seen_at_every_stage_that_there_is() {
    let mut scene = Scene::new();
    let before = scene.now();
    scene.start(ALL, before, 1);
    scene.crash(ORDERS_1, 10);
    scene.mark(ORDERS_1, 24);
    let marked = scene.now();
    scene.hold(ALL, marked, 26);
    assert!(!scene.recorder.is_settled(), "its entry is still there");
    scene.remove(ORDERS_1, 69);
    assert!(scene.recorder.is_settled());
    let recorded = scene.finish(100);
    let at = |after| Outcome::Detected(secs(after));
    let expected =
        [(Stage::Registry, at(14)), (Stage::Served, at(14)), (Stage::Client, at(16)), (Stage::Entry, at(59))];
    assert_eq!(seen(&recorded), expected.map(|(stage, outcome)| (stage, outcome, 1)));
    assert!(recorded.mistakes.is_empty());
    assert_eq!((recorded.leases.soft_evicted, recorded.leases.evicted), (1, 1));
    let stages: Vec<Stage> = recorded.quality.iter().map(|row| row.stage).collect();
    assert_eq!(stages, [Stage::Registry, Stage::Served, Stage::Entry, Stage::Client]);
}

#[test]
fn a_live_instance_that_is_marked_and_forgotten_is_two_mistakes_of_the_server() {
    let mut scene = Scene::new();
    scene.mark(ORDERS_1, 24);
    scene.remove(ORDERS_1, 69);
    scene.register(ORDERS_1, 70);
    let recorded = scene.finish(100);
    let expected = [
        (Stage::Registry, Removal::Evicted, 24, 46, true),
        (Stage::Served, Removal::NotShown, 24, 46, true),
        (Stage::Entry, Removal::Evicted, 69, 1, true),
    ];
    assert_eq!(wrong(&recorded), expected);
}

#[test]
fn one_sweep_may_mark_and_remove() {
    let mut scene = Scene::new();
    // What the sweep changed is there when the first fact is told, be it another's removal.
    for (instance, presence) in [(STOCK_1, Presence::Present(Status::Down)), (ORDERS_1, Presence::Absent)] {
        scene.views.log_mut(scene.shown).put(AppId(instance.0), instance, presence);
    }
    scene.tell(Fact::LeaseEvicted { instance: ORDERS_1 }, 30);
    scene.tell(Fact::SoftEvicted { instance: STOCK_1 }, 30);
    scene.store(ORDERS_1, Presence::Absent, 30);
    let recorded = scene.finish(100);
    let expected = [
        (Stage::Registry, Removal::Evicted, 30, 70, false),
        (Stage::Entry, Removal::Evicted, 30, 70, false),
        (Stage::Registry, Removal::Evicted, 30, 70, false),
    ];
    assert_eq!(wrong(&recorded), expected);
}

#[test]
fn what_is_stored_is_lost_with_the_server() {
    let mut scene = Scene::new();
    scene.recorder.server_ended(SERVER, 2, SimTime::from_secs(50), &scene.views);
    let recorded = scene.finish(100);
    let stages: Vec<_> = recorded.mistakes.iter().map(|row| (row.stage, row.removal, row.count)).collect();
    let lost = |stage| (stage, Removal::LostWithServer, 1);
    let each = [Stage::Registry, Stage::Served, Stage::Entry].map(lost);
    assert_eq!(stages, [each, each].concat());
}

#[test]
fn who_looks_at_orders_alone_observes_nothing_of_stock() {
    let mut scene = Scene::new();
    let both = scene.now();
    for consumer in [ALL, SOME] {
        // Even if its view shows the other application: it was not asked for.
        scene.start(consumer, both, 1);
    }
    scene.crash(STOCK_1, 10);
    scene.mark(STOCK_1, 24);
    let one = scene.now();
    for consumer in [ALL, SOME] {
        scene.hold(consumer, one, 25);
        scene.hold(consumer, both, 30);
        scene.hold(consumer, one, 40);
    }
    // A newcomer that it will never be told of is nothing to wait for.
    let newcomer = InstanceId(9);
    scene.recorder.add_client(ClientId(9), STOCK, ObservedServices::Nothing);
    scene.recorder.process_started(ClientId(9), newcomer, SimTime::from_secs(50));
    scene.watch(EventKind::Registration, newcomer, 50);
    scene.register(newcomer, 51);
    let now = scene.now();
    scene.hold(ALL, now, 55);
    scene.remove(STOCK_1, 69);
    assert!(scene.recorder.is_settled());
    let recorded = scene.finish(100);
    let at_client: Vec<_> = seen(&recorded).into_iter().filter(|row| row.0 == Stage::Client).collect();
    let at = |after| (Stage::Client, Outcome::Detected(secs(after)), 1);
    assert_eq!(at_client, [at(30), at(5)]);
}

#[test]
fn who_looks_at_orders_alone_makes_no_mistake_about_stock() {
    let mut scene = Scene::new();
    let both = scene.now();
    for consumer in [ALL, SOME] {
        scene.start(consumer, both, 10);
        scene.hold(consumer, View::EMPTY, 20);
        scene.hold(consumer, both, 25);
    }
    let recorded = scene.finish(110);
    let at_client: Vec<_> =
        recorded.mistakes.iter().map(|row| (row.stage, row.instances, row.count)).collect();
    // `orders` by the one, both by the other.
    assert_eq!(at_client, [(Stage::Client, 1, 1), (Stage::Client, 2, 2)]);
    let good = |observer: ClientId| {
        let of = |row: &&Quality| row.observer == Some(InstanceId(observer.0));
        let row = recorded.quality.iter().find(of).expect("it was mistaken");
        (row.good_nanos / 1_000_000_000, row.mistaken_nanos / 1_000_000_000, row.mistakes)
    };
    // 100 s of two instances, and of one.
    assert_eq!([good(ALL), good(SOME)], [(200, 10, 2), (100, 5, 1)]);
}

#[test]
fn an_old_snapshot_that_shows_the_dead_is_no_observation_of_their_death() {
    let mut scene = Scene::new();
    let snapshot = scene.now();
    scene.crash(ORDERS_1, 10);
    scene.mark(ORDERS_1, 24);
    scene.start(ALL, snapshot, 200);
    let now = scene.now();
    scene.hold(ALL, now, 230);
    // What dies while it looks on is one, though it holds the snapshot again.
    scene.hold(ALL, snapshot, 240);
    scene.crash(STOCK_1, 250);
    scene.mark(STOCK_1, 264);
    let now = scene.now();
    scene.hold(ALL, now, 266);
    let recorded = scene.finish(300);
    let at_client: Vec<_> = seen(&recorded).into_iter().filter(|row| row.0 == Stage::Client).collect();
    assert_eq!(at_client, [(Stage::Client, Outcome::Detected(secs(16)), 1)]);
    assert!(recorded.mistakes.is_empty());
}

#[test]
fn a_good_snapshot_that_an_empty_answer_replaces_is_a_mistake() {
    let mut scene = Scene::new();
    let snapshot = scene.now();
    // The registry begins anew, and nobody has registered again when the consumer fetches for the first time.
    scene.recorder.server_ended(SERVER, 2, SimTime::from_secs(90), &scene.views);
    scene.shown = scene.views.begin_life();
    scene.recorder.server_started(SERVER, SimTime::from_secs(95));
    let empty = scene.now();
    scene.start(ALL, snapshot, 100);
    scene.hold(ALL, empty, 100);
    scene.register(ORDERS_1, 103);
    let one = scene.now();
    scene.hold(ALL, one, 105);
    let recorded = scene.finish(110);
    let at_client: Vec<_> = wrong(&recorded).into_iter().filter(|row| row.0 == Stage::Client).collect();
    let expected = [
        (Stage::Client, Removal::NotShown, 100, 5, true),
        (Stage::Client, Removal::NotShown, 100, 10, false),
    ];
    assert_eq!(at_client, expected);
}

#[test]
fn sweeps_and_what_consumers_did_are_kept_whoever_observes() {
    let mut scene = Scene::new();
    for fact in [Fact::AnswerRefused, Fact::AnswerRefused, Fact::RefreshWarned, Fact::StartFailed] {
        scene.recorder.client_fact(ClientId(0), fact, SimTime::ZERO, &scene.views);
    }
    let sweep = Sweep { app: ORDERS, entries: 20, healthy: 16, guard_open: false, marked: 0, removed: 0 };
    scene.tell(Fact::SweepEnded(sweep), 39);
    scene.tell(Fact::SweepEnded(sweep), 42);
    let recorded = scene.finish(100);
    let counts = ConsumerCounts { refused_answers: 2, refresh_warnings: 1, failed_starts: 1 };
    assert_eq!(recorded.consumers, counts);
    let row = SweepRow { at: SimTime::from_secs(39), server: SERVER, sweep };
    assert_eq!(recorded.sweeps, [row]);
}
