//! The rules of detection, one at a time.

use super::*;
use crate::engine::SimDuration;
use crate::model::id::{AppId, ClientId};
use crate::model::message::Status;
use crate::model::view::{LifeId, Presence};
use crate::observe::data::{Detection, Outcome};
use crate::observe::observers;
use crate::observe::scopes::ObservedServices;

const DEAD: InstanceId = InstanceId(0);
const LONE: ServerId = ServerId(0);
const UP: Presence = Presence::Present(Status::Up);

fn second(seconds: u64) -> SimTime {
    SimTime::from_secs(seconds)
}

const fn secs(seconds: u64) -> SimDuration {
    SimDuration::from_secs(seconds)
}

/// A server and observers who all show the same at first.
struct Scene {
    views: Views,
    observers: Observers,
    detections: Detections,
    servers: Servers,
}

impl Scene {
    /// Version 1 of the only log shows the instance, version 2 does not, version 3 does again.
    fn new(observers: u32, shown: View) -> Self {
        let mut views = Views::default();
        let life = views.begin_life();
        for presence in [UP, Presence::Absent, UP] {
            views.log_mut(life).put(AppId(0), DEAD, presence);
        }
        let mut scene = Self {
            views,
            observers: Observers::new(Layout::of_eureka(1)),
            detections: Detections::new(Layout::of_eureka(1)),
            servers: Servers::new(Layout::of_eureka(1)),
        };
        scene.servers_show(shown);
        for number in 0..observers {
            scene.add(number);
            scene.start(number, shown);
        }
        scene
    }

    /// One more client, which looks at everything.
    fn add(&mut self, client: u32) {
        self.observers.add(ClientId(client), AppId(0), ObservedServices::Everything);
    }

    fn start(&mut self, place: u32, shown: View) {
        self.observers.start(place, InstanceId(place));
        self.detections.observer_started(place);
        for stage in [Stage::Client, Stage::Balancer] {
            self.observer(place, stage, shown, 0);
        }
    }

    /// So many servers, all up, that show the same.
    fn with_servers(mut self, servers: usize, shown: View) -> Self {
        self.detections = Detections::new(Layout::of_eureka(servers));
        self.servers = Servers::new(Layout::of_eureka(servers));
        (0..servers as u32).for_each(|server| self.servers.set_up(ServerId(server), true));
        self.servers_show(shown);
        self
    }

    fn servers_show(&mut self, shown: View) {
        for server in (0..self.servers.len() as u32).map(ServerId) {
            for stage in [Stage::Registry, Stage::Served] {
                self.servers.change(server, stage, shown);
            }
        }
    }

    fn gone(&mut self, place: u32) {
        self.detections.observer_gone(place, self.observers.answered_by(place));
        self.observers.stop(place);
    }

    fn watch(&mut self, event: EventKind, own: Option<u32>, at: u64) {
        self.watch_for(event, DEAD, own, at);
    }

    fn watch_for(&mut self, event: EventKind, instance: InstanceId, own: Option<u32>, at: u64) {
        let watched = WatchedEvent { event, instance, own, at: second(at) };
        self.detections.watch(&watched, &self.servers, &self.observers, &self.views);
    }

    fn observer(&mut self, place: u32, stage: Stage, to: View, at: u64) {
        let slot = (place, observers::number_of(stage));
        let from = self.observers.change(slot, to).expect("it is up");
        let noticed = Noticed::new(second(at), self.observers.answered_by(place));
        self.detections.observer_changed(slot, (from, to), noticed, &self.observers, &self.views);
    }

    fn server(&mut self, server: ServerId, stage: Stage, to: View, at: u64) {
        let from = self.servers.change(server, stage, to);
        self.detections.server_changed((server, stage), (from, to), second(at), &self.views);
    }

    fn server_up(&mut self, server: ServerId, up: bool) {
        self.servers.set_up(server, up);
        self.detections.server_begins_anew(server);
    }

    fn rows(self, stage: Stage, end: u64) -> Vec<Detection> {
        let (rows, folded) = self.detections.finish(second(end), &self.observers);
        assert!(!folded);
        rows.into_iter().filter(|row| row.stage == stage).collect()
    }

    fn outcomes(self, stage: Stage, end: u64) -> Vec<(Outcome, u64)> {
        self.rows(stage, end).into_iter().map(|row| (row.outcome, row.count)).collect()
    }
}

fn version(version: u32) -> View {
    View::of(LifeId(0), version)
}

/// Versions in which the instance never was, is, is gone, and is again.
fn history() -> [View; 4] {
    [0, 1, 2, 3].map(version)
}

/// A crash at 10 s, seen by the server and by three observers, of which the first is the victim itself.
fn crash(shown: View) -> Scene {
    let mut scene = Scene::new(3, shown);
    scene.gone(0);
    scene.watch(EventKind::Crash, Some(0), 10);
    scene
}

#[test]
fn the_last_time_it_stopped_being_shown_counts() {
    let [_, up, gone, up_again] = history();
    let mut scene = crash(up);
    assert_eq!(scene.detections.open(), 2 + 2 * 2);
    for (at, view) in [(20, gone), (30, up_again), (40, gone)] {
        scene.observer(1, Stage::Client, view, at);
    }
    // 40 s - 10 s for the one, the end at 100 s for the other.
    let expected = [(Outcome::Detected(secs(30)), 1), (Outcome::Censored(secs(90)), 1)];
    assert_eq!(scene.outcomes(Stage::Client, 100), expected);
}

#[test]
fn equal_observations_are_one_row() {
    let [_, up, gone, _] = history();
    let mut scene = crash(up);
    for observer in [1, 2] {
        scene.observer(observer, Stage::Balancer, gone, 25);
    }
    assert_eq!(scene.outcomes(Stage::Balancer, 100), [(Outcome::Detected(secs(15)), 2)]);
}

#[test]
fn who_never_shows_it_or_goes_down_first_is_no_observation() {
    let [never, up, gone, _] = history();
    let unaware = crash(never);
    assert_eq!(unaware.detections.open(), 0);
    assert!(unaware.outcomes(Stage::Client, 100).is_empty());

    let mut scene = crash(up);
    scene.gone(1);
    scene.observer(2, Stage::Balancer, gone, 50);
    assert_eq!(scene.detections.open(), 2 + 1);
    assert_eq!(scene.outcomes(Stage::Client, 100), [(Outcome::Censored(secs(90)), 1)]);
}

#[test]
fn who_comes_up_after_the_event_is_no_observation() {
    let [_, up, _, _] = history();
    let mut scene = crash(up);
    let open = scene.detections.open();
    // A new observer, a restarted one, and the victim itself under another id.
    scene.add(3);
    scene.gone(1);
    for observer in [3, 1, 0] {
        scene.start(observer, up);
    }
    assert_eq!(scene.detections.open(), open - 2);
    assert_eq!(scene.outcomes(Stage::Client, 100), [(Outcome::Censored(secs(90)), 1)]);
}

#[test]
fn a_return_under_the_same_id_supersedes_what_nobody_noticed() {
    let [_, up, gone, _] = history();
    let mut scene = crash(up);
    scene.observer(1, Stage::Client, gone, 15);
    scene.detections.supersede(DEAD, EventKind::is_end, second(20));
    assert_eq!(scene.detections.open(), 0);
    // Who goes down later makes no difference.
    scene.gone(2);
    let expected = [(Outcome::Detected(secs(5)), 1), (Outcome::Superseded(secs(10)), 1)];
    assert_eq!(scene.outcomes(Stage::Client, 100), expected);
}

#[test]
fn a_registration_counts_when_it_is_first_shown() {
    let [never, up, gone, _] = history();
    let mut scene = Scene::new(2, never);
    scene.watch(EventKind::Registration, None, 10);
    scene.server(LONE, Stage::Registry, up, 11);
    scene.server(LONE, Stage::Registry, gone, 12);
    assert_eq!(scene.outcomes(Stage::Registry, 100), [(Outcome::Detected(secs(1)), 1)]);
}

/// Instances 1 to 4 are in version 7; 2 and 4 are gone in version 9.
fn four_more(scene: &mut Scene) -> [View; 2] {
    for (instance, presence) in
        [(1, UP), (2, UP), (3, UP), (4, UP), (2, Presence::Absent), (4, Presence::Absent)]
    {
        scene.views.log_mut(LifeId(0)).put(AppId(0), InstanceId(instance), presence);
    }
    [version(7), version(9)]
}

#[test]
fn those_seen_alike_are_one_row_however_they_are_named() {
    let mut scene = Scene::new(0, version(0));
    let [all, some] = four_more(&mut scene);
    scene.servers_show(all);
    for place in 0..3 {
        scene.add(10 + place);
        scene.start(place, all);
    }
    for (instance, at) in [(1, 10), (2, 10), (3, 10), (4, 12)] {
        scene.watch_for(EventKind::Crash, InstanceId(instance), None, at);
    }
    assert_eq!(scene.detections.row.classes(), 1);
    for place in 0..2 {
        scene.observer(place, Stage::Client, some, 20);
    }
    assert_eq!(scene.detections.open(), 4 * 2 + 4 * 3 * 2 - 2 * 2);
    let rows = scene.rows(Stage::Client, 100);
    let told: Vec<_> =
        rows.iter().map(|row| (row.instance.0, row.instances, row.outcome, row.count)).collect();
    let expected = [
        (1, 2, Outcome::Censored(secs(90)), 2 * 3),
        (2, 1, Outcome::Detected(secs(10)), 2),
        (2, 1, Outcome::Censored(secs(90)), 1),
        (4, 1, Outcome::Detected(secs(8)), 2),
        (4, 1, Outcome::Censored(secs(88)), 1),
    ];
    assert_eq!(told, expected);
}

#[test]
fn what_an_instance_sees_of_itself_is_no_observation_among_its_fellows() {
    let mut scene = Scene::new(0, version(0));
    let [all, some] = four_more(&mut scene);
    scene.servers_show(all);
    for place in 0..5 {
        scene.add(place);
        scene.start(place, all);
    }
    // 2 and 4 stop at once and go on looking: eight sightings each, less two of itself.
    for instance in [2, 4] {
        scene.watch_for(EventKind::Stop, InstanceId(instance), Some(instance), 10);
    }
    assert_eq!(scene.detections.open(), 2 * (2 + 10 - 2));
    for place in 0..5 {
        scene.observer(place, Stage::Client, some, 15);
    }
    scene.gone(2);
    // At the server four; at the balancers 0, 1 and 3 watch both, 4 watches 2 only.
    assert_eq!(scene.detections.open(), 4 + 3 * 2 + 1);
    let rows = scene.rows(Stage::Client, 100);
    // Each is seen by the four others.
    assert_eq!((rows.len(), rows[0].instances, rows[0].count), (1, 2, 8));
}

#[test]
fn too_many_rows_are_folded_over_all_moments() {
    let mut scene = Scene::new(0, version(0));
    let [all, some] = four_more(&mut scene);
    scene.servers_show(all);
    for place in 0..3 {
        scene.add(10 + place);
        scene.start(place, all);
    }
    // 1 ms before and half a millisecond after 10 s; noticed at 20 s: after 10,001 ms, and 9,999.5 ms.
    for (instance, micros) in [(2, 9_999_000), (4, 10_000_500)] {
        let at = SimTime::from_nanos(micros * 1_000);
        let watched = WatchedEvent { event: EventKind::Crash, instance: InstanceId(instance), own: None, at };
        scene.detections.watch(&watched, &scene.servers, &scene.observers, &scene.views);
    }
    for place in 0..3 {
        scene.observer(place, Stage::Client, some, 20);
    }
    let (rows, folded) = scene.detections.finish_in(3, second(100), &scene.observers);
    assert!(folded);
    let told = rows.iter().filter(|row| row.stage == Stage::Client);
    let told: Vec<_> = told.map(|row| (row.instance.0, row.instances, row.outcome, row.count)).collect();
    let millis = |ms| Outcome::Detected(SimDuration::from_millis(ms));
    assert_eq!(told, [(2, 1, millis(10_001), 3), (4, 1, millis(9_999), 3)]);
}

/// By server: its number from 1, or 0 for none.
fn by_server(rows: &[Detection]) -> Vec<(u32, Outcome, u64)> {
    let number = |row: &Detection| row.server.map_or(0, |server| server.0 + 1);
    rows.iter().map(|row| (number(row), row.outcome, row.count)).collect()
}

#[test]
fn each_server_is_watched_by_itself() {
    let [never, up, gone, _] = history();
    let [one, two, three] = [0, 1, 2].map(ServerId);
    let mut scene = Scene::new(0, up).with_servers(4, up);
    // The third never had it, the fourth is down.
    scene.servers.change(three, Stage::Registry, never);
    scene.server_up(ServerId(3), false);
    scene.watch(EventKind::Crash, None, 10);
    assert_eq!(scene.detections.open(), 2 + 2 + 1);
    scene.server(one, Stage::Registry, gone, 40);
    scene.server(two, Stage::Registry, gone, 70);
    let expected = [(1, Outcome::Detected(secs(30)), 1), (2, Outcome::Detected(secs(60)), 1)];
    assert_eq!(by_server(&scene.rows(Stage::Registry, 100)), expected);
}

#[test]
fn a_server_that_learns_of_the_dead_from_a_peer_is_watched_from_then_on() {
    let [never, up, gone, _] = history();
    let two = ServerId(1);
    let mut scene = Scene::new(0, never).with_servers(2, never);
    scene.server(LONE, Stage::Registry, up, 9);
    scene.watch(EventKind::Crash, None, 10);
    for (at, view) in [(11, up), (101, gone)] {
        scene.server(two, Stage::Registry, view, at);
    }
    // 101 s - 10 s; the first server still has it at 200 s.
    let expected = [(1, Outcome::Censored(secs(190)), 1), (2, Outcome::Detected(secs(91)), 1)];
    assert_eq!(by_server(&scene.rows(Stage::Registry, 200)), expected);
}

#[test]
fn a_server_that_ends_before_it_could_tell_is_no_observation() {
    let [_, up, gone, _] = history();
    let (empty, two) = (View::EMPTY, ServerId(1));
    let mut scene = Scene::new(0, up).with_servers(2, up);
    scene.watch(EventKind::Crash, None, 10);
    scene.server(two, Stage::Served, gone, 15);
    scene.server_up(two, false);
    for stage in [Stage::Registry, Stage::Served] {
        scene.server(two, stage, empty, 20);
    }
    assert_eq!(scene.detections.open(), 2);
    // It comes back and copies what the first still has: that is not for it to tell.
    scene.server_up(two, true);
    for stage in [Stage::Registry, Stage::Served] {
        scene.server(two, stage, up, 30);
    }
    scene.watch(EventKind::Override, None, 40);
    assert_eq!(scene.detections.open(), 2 + 4);
    let mut rows = scene.rows(Stage::Served, 100);
    rows.retain(|row| row.event == EventKind::Crash);
    let expected = [(1, Outcome::Censored(secs(90)), 1), (2, Outcome::Detected(secs(5)), 1)];
    assert_eq!(by_server(&rows), expected);
}

#[test]
fn an_observer_saw_it_in_the_answer_that_it_had_last() {
    let [_, up, gone, _] = history();
    let mut scene = Scene::new(0, up).with_servers(2, up);
    scene.observers = Observers::new(Layout::of_eureka(2));
    for place in 0..4 {
        scene.add(place);
        scene.start(place, up);
    }
    scene.watch(EventKind::Crash, None, 10);
    scene.observers.answer(0, ServerId(0));
    scene.observers.answer(1, ServerId(1));
    for place in [0, 1] {
        scene.observer(place, Stage::Client, gone, 25);
    }
    // What they ask later changes nothing of what they saw; who has not seen it is told with whom it asks.
    for place in [0, 1, 2] {
        scene.observers.answer(place, ServerId(1));
    }
    let expected = [
        (0, Outcome::Censored(secs(90)), 1),
        (1, Outcome::Detected(secs(15)), 1),
        (2, Outcome::Detected(secs(15)), 1),
        (2, Outcome::Censored(secs(90)), 1),
    ];
    assert_eq!(by_server(&scene.rows(Stage::Client, 100)), expected);
}
