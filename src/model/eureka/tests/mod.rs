//! The machine as a whole: the vectors of `eureka-server.md` 14.2 that need more than one idea at once, on a
//! bench that fires the timers.

mod clocks;
mod cluster;
mod eviction;
mod partitions;
mod peers;
mod replication;
mod requests;
mod serving;

use std::sync::Arc;

use super::*;
use crate::engine::{Seed, SimTime, Streams};
use crate::model::clock::{Now, WallMs};
use crate::model::fact::Fact;
use crate::model::id::{AppId, InstanceId};
use crate::model::message::{Record, Reply, Request, Status};
use crate::model::step::Step;
use crate::model::view::{Presence, View, Views};

/// The wall clock at the start: a whole minute.
const START: WallMs = WallMs(1_800_000_000_000);

/// A server with a world around it that does nothing but fire its timers.
struct Bench {
    server: EurekaServer,
    own_view: Option<View>,
    views: Views,
    seed: Seed,
    streams: Streams,
    /// (due in ms since the start, order of setting, timer, generation).
    timers: Vec<(i64, usize, ServerTimer, u16)>,
    settings: usize,
    facts: Vec<(i64, Fact)>,
    now_ms: i64,
    /// The wall clock minus the monotonic one, from their common start.
    stepped_ms: i64,
}

fn spring() -> ServerConfig {
    ServerConfig::defaults(Flavour::Spring)
}

fn record(instance: u32) -> Record {
    Record {
        app: AppId(0),
        instance: InstanceId(instance),
        status: Status::Up,
        overridden: Status::Unknown,
        last_dirty: WallMs(100),
        duration_s: 90,
        renewal_s: 30,
    }
}

impl Bench {
    fn start(config: ServerConfig) -> Self {
        Self::start_with(config, None)
    }

    fn start_with(config: ServerConfig, own_view: Option<View>) -> Self {
        let (seed, mut streams) = (Seed::new(7, 0), Streams::of("server/1"));
        let (mut views, mut out) = (Views::default(), Vec::new());
        let mut step = Step {
            now: Now { mono: SimTime::ZERO, wall: START },
            rng: streams.with(&seed),
            views: &mut views,
            out: &mut out,
        };
        let own = OwnRegistry::of_itself(own_view);
        let server = EurekaServer::start(Arc::new(config), 0, &[], own, &mut step);
        let mut bench = Self {
            server,
            own_view,
            views,
            seed,
            streams,
            timers: Vec::new(),
            settings: 0,
            facts: Vec::new(),
            now_ms: 0,
            stepped_ms: 0,
        };
        bench.take(out);
        bench
    }

    fn now(&self) -> Now {
        Now {
            mono: SimTime::from_millis(self.now_ms as u64),
            wall: START.plus(self.now_ms + self.stepped_ms),
        }
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut EurekaServer, &mut ServerStep<'_>) -> R) -> R {
        let mut out = Vec::new();
        let now = self.now();
        let mut step =
            Step { now, rng: self.streams.with(&self.seed), views: &mut self.views, out: &mut out };
        let result = act(&mut self.server, &mut step);
        self.take(out);
        result
    }

    fn take(&mut self, out: Vec<ServerEffect>) {
        for effect in out {
            match effect {
                ServerEffect::Fact(fact) => self.facts.push((self.now_ms, fact)),
                ServerEffect::SetTimer { timer, due, generation } => {
                    let due_ms = match due {
                        Due::Wall(due) => due.since(START) - self.stepped_ms,
                        Due::Mono(due) => due.as_millis() as i64,
                    };
                    self.timers.push((due_ms, self.settings, timer, generation));
                    self.settings += 1;
                }
                effect => panic!("a server without peers does no such thing: {effect:?}"),
            }
        }
    }

    /// Runs all timers due up to and including `ms`, in order of time, then of setting.
    fn run_to(&mut self, ms: i64) {
        while let Some(&next) = self.timers.iter().filter(|timer| timer.0 <= ms).min() {
            self.timers.retain(|&timer| timer != next);
            let (due_ms, _, timer, generation) = next;
            self.now_ms = self.now_ms.max(due_ms);
            let own = OwnRegistry::of_itself(self.own_view);
            self.with(|server, step| server.on_timer(timer, generation, own, step));
        }
        self.now_ms = ms;
    }

    /// Stands still until `ms`: what was due meanwhile runs then.
    fn pause_to(&mut self, ms: i64) {
        self.now_ms = ms;
        self.run_to(ms);
    }

    fn ask(&mut self, request: Request) -> Reply {
        self.with(|server, step| server.on_request(&request, step))
    }

    fn register(&mut self, instance: u32) {
        assert_eq!(self.ask(Request::Register(record(instance))).status, 204);
    }

    fn renew(&mut self, instance: u32) -> u16 {
        let (instance, last_dirty) = (InstanceId(instance), WallMs(100));
        self.ask(Request::Renew { instance, last_dirty }).status
    }

    /// Renews `instances` every 30 s, first at `from`, with the timers between.
    fn renew_until(&mut self, instances: std::ops::Range<u32>, from: i64, to: i64) {
        for at in (from..=to).step_by(30_000) {
            self.run_to(at);
            for instance in instances.clone() {
                self.renew(instance);
            }
        }
        self.run_to(to);
    }

    fn evicted(&self) -> Vec<u32> {
        let evicted = |&(_, fact): &(i64, Fact)| match fact {
            Fact::LeaseEvicted { instance } => Some(instance.0),
            _ => None,
        };
        self.facts.iter().filter_map(evicted).collect()
    }

    fn rounds_with_victims(&self) -> Vec<u32> {
        let victims = |&(_, fact): &(i64, Fact)| match fact {
            Fact::EvictionRoundEnded(round) if round.evicted > 0 => Some(round.evicted),
            _ => None,
        };
        self.facts.iter().filter_map(victims).collect()
    }

    fn served(&self, instance: u32) -> bool {
        self.views.is_up(self.server.served_view(), InstanceId(instance))
    }

    fn delta(&mut self) -> (Vec<(u32, Presence)>, String) {
        let payload = self.ask(Request::FetchDelta).payload.expect("served");
        let entries = self.views.delta_entries(&payload).into_iter();
        let hash = self.views.payload_counts(&payload).reconcile_hash();
        (entries.map(|(instance, presence)| (instance.0, presence)).collect(), hash)
    }
}
