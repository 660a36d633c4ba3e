//! Reviews miss nothing: after every event of a run with every kind of fault, what is known of each line is what a
//! fresh look at the world finds.

use super::super::Calls;
use super::super::line::{CallPrediction, Phase};
use super::{shop, some};
use crate::engine::{Distribution, Engine, Handler, Limits, Schedule, SimDuration, SimTime};
use crate::model::eureka::client::BalancerConfig;
use crate::model::id::{AppId, ClientId};
use crate::scenario::{
    Batch, Direction, Fault, FaultKind, HealthVia, Order, Peer, Scenario, ServerChoice, TargetChoice,
    Targets, Traffic,
};
use crate::world::World;
use crate::world::event::Event;
use crate::world::node::State;

const ORDERS: AppId = AppId(0);
const PAYMENTS: AppId = AppId(1);

/// A world that is looked at after each event.
struct Watched<'a> {
    world: World<'a>,
    /// Lines seen silent, quiet and watched.
    seen: [u64; 3],
}

impl Handler for Watched<'_> {
    type Event = Event;

    fn handle(&mut self, now: SimTime, event: Event, schedule: &mut Schedule<Event>) {
        self.world.handle(now, event, schedule);
        let mut calls = self.world.calls.take().unwrap();
        self.look_at_everybody(&mut calls);
        for number in 0..calls.lines.len() {
            let kind = self.look_at(&mut calls, number);
            let kind = kind.unwrap_or_else(|| {
                let name =
                    self.world.name_of(self.world.clients[calls.lines[number].client.index()].instance);
                panic!("{name} at {now}, after {event:?}: another phase or list")
            });
            self.seen[kind] += 1;
        }
        self.world.calls = Some(calls);
    }
}

impl Watched<'_> {
    fn look_at_everybody(&self, calls: &mut Calls) {
        let world = &self.world;
        let servers = world.server_views();
        assert_eq!(calls.servers, servers);
        for (number, node) in world.clients.iter().enumerate().filter(|(_, node)| calls.is_called(node.app)) {
            let fresh = world.condition_of(calls, ClientId(number as u32));
            assert!(calls.conditions[number] == fresh || node.state == State::Down, "{fresh:?}");
            assert_eq!(calls.conditions[number].answers, fresh.answers);
        }
        for ((view, callee), list_state) in &calls.standings {
            for &instance in &*list_state.members {
                let condition = world.condition_of(calls, world.process_of(instance));
                let shown = world.shown_by(&servers, instance);
                if !condition.is_alive_as(instance) && shown.iter().flatten().any(|&shown| shown) {
                    assert_eq!(calls.shown_dead.get(&instance), Some(&shown), "{view:?} {callee:?}");
                }
            }
        }
    }

    /// Whether what is known of a line is what a fresh look finds: 0 silent, 1 quiet, 2 watched.
    fn look_at(&mut self, calls: &mut Calls, number: usize) -> Option<usize> {
        let known = std::mem::take(&mut calls.standings);
        let fresh = self.world.prediction(calls, number);
        calls.standings = known;
        let line = &calls.lines[number];
        match (&line.phase, fresh) {
            (Phase::Silent, CallPrediction::Silent) => Some(0),
            (Phase::Quiet, CallPrediction::Quiet(view)) if line.view == view => Some(1),
            // Until the next sweep.
            (Phase::Watched(_), CallPrediction::Quiet(view)) if line.view == view => Some(2),
            (Phase::Watched(watch), CallPrediction::Watched(view, fresh)) => {
                let agrees = watch.list() == fresh.list() && watch.losses() == fresh.losses();
                (agrees && line.view == view).then_some(2)
            }
            _ => None,
        }
    }
}

const fn s(seconds: u64) -> SimDuration {
    SimDuration::from_secs(seconds)
}

fn every(seconds: u64) -> Distribution {
    Distribution::exponential(s(seconds)).unwrap()
}

/// Both applications call each other and themselves.
fn busy() -> Scenario {
    let mut scenario = shop();
    scenario.network.loss = 0.01;
    for application in &mut scenario.applications {
        application.instances = 6;
        application.traffic = Some(Traffic {
            calls_per_second: 0.5,
            to: vec![ORDERS, PAYMENTS],
            retries_on_same_instance: 1,
            retries_on_next_instance: 1,
            read_timeout: SimDuration::from_millis(1_500),
        });
    }
    scenario.setup.eureka_mut().unwrap().clients[1].healthcheck_enabled = true;
    scenario
}

fn processes() -> Vec<FaultKind> {
    let payments = |count| some(PAYMENTS, TargetChoice::Count(count));
    vec![
        FaultKind::Crash(Targets::Instances(payments(1))),
        FaultKind::CrashLoop {
            targets: payments(1),
            up_for: every(60),
            down_for: every(40),
            new_id: false,
            length: Some(s(400)),
        },
        FaultKind::Pause { targets: Targets::Instances(payments(2)), length: every(20) },
        FaultKind::Pauses {
            targets: Targets::Instances(some(ORDERS, TargetChoice::Count(2))),
            every: every(60),
            lasting: every(4),
            length: Some(s(400)),
        },
        FaultKind::Restart {
            one_by_one: None,
            targets: Targets::Instances(payments(2)),
            down_for: s(20),
            new_id: true,
            graceful: false,
        },
        FaultKind::Restart {
            one_by_one: None,
            targets: Targets::Servers(ServerChoice::All),
            down_for: s(30),
            new_id: false,
            graceful: false,
        },
        FaultKind::RollOut {
            application: PAYMENTS,
            batch: Batch::Count(2),
            wait: s(60),
            down_for: s(10),
            graceful: true,
            linger: s(20),
            new_id: true,
            order: Order::StopFirst,
        },
        FaultKind::Start { application: PAYMENTS, count: 2, over: s(30) },
        FaultKind::Stop { targets: payments(1), linger: s(15), over: s(60) },
        FaultKind::Reclaim { targets: payments(2), notice: s(20), heeded: 0.5 },
    ]
}

fn links_and_health() -> Vec<FaultKind> {
    let payments = |count| some(PAYMENTS, TargetChoice::Count(count));
    let between = Peer::Instances { application: Some(ORDERS), zone: None };
    vec![
        FaultKind::Flap {
            targets: payments(2).into(),
            peer: between.clone(),
            up_for: every(40),
            down_for: every(40),
            length: Some(s(300)),
            lost: Direction::Both,
        },
        FaultKind::Partition {
            targets: payments(1).into(),
            peer: Peer::All,
            length: Some(s(300)),
            lost: Direction::ToServer,
        },
        FaultKind::Degrade {
            targets: payments(2).into(),
            peer: between.clone(),
            loss: 0.3,
            latency: None,
            length: Some(s(200)),
            direction: Direction::Both,
        },
        FaultKind::Grey { targets: payments(2), calls_fail: 0.5, length: Some(s(200)) },
        FaultKind::Unhealthy {
            targets: payments(1),
            via: HealthVia::HealthCheck,
            length: Some(s(200)),
            calls_fail: 1.0,
        },
    ]
}

#[test]
fn what_is_known_of_each_line_is_what_a_fresh_look_finds() {
    let ribbon = BalancerConfig::Ribbon { refresh_interval: s(30) };
    let spring = BalancerConfig::SpringCloudLoadBalancer { ttl: s(35), call_rate: None };
    let together: Vec<FaultKind> = processes().into_iter().chain(links_and_health()).collect();
    for (number, verbs) in [processes(), links_and_health(), together].into_iter().enumerate() {
        for (which, balancer) in [BalancerConfig::None, ribbon, spring].into_iter().enumerate() {
            let mut scenario = busy();
            let clients = &mut scenario.setup.eureka_mut().unwrap().clients;
            clients.iter_mut().for_each(|client| client.balancer = balancer);
            let faults = verbs.iter().cloned().map(|verb| Fault { at: s(0), within: s(400), verb });
            scenario.faults = faults.collect();
            let mut engine = Engine::new();
            let world = World::new(&scenario, (3 * number + which) as u32, engine.schedule());
            let mut watched = Watched { world, seen: [0; 3] };
            engine.run(&mut watched, &Limits::until(SimTime::from_secs(1_500)));
            assert!(watched.seen.iter().all(|&seen| seen > 500), "{:?}", watched.seen);
        }
    }
}
