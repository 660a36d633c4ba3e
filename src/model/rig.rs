//! A little world for the tests of one client, of either registry: a queue of events, a scripted registry, and a log of
//! what happened. What a client, its settings and its registry are, and what a script may answer, is its room's own
//! (`harness.rs` of each).

use std::collections::BTreeMap;

use super::clock::{Now, WallMs};
use super::effect::{Call, ClientEffect, ClientTimer, PushId};
use super::fact::Fact;
use super::id::ServerId;
use super::message::{Failure, Reply, Request, RequestKind};
use super::step::Step;
use super::view::Views;
use crate::engine::{Seed, SimDuration, SimTime, Streams};

/// What becomes of a request, and how long after it was sent.
pub(super) type Outcome = (SimDuration, Result<Reply, Failure>);

/// What the log holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Logged {
    Sent(Request, ServerId),
    Acknowledged(PushId),
    Fact(Fact),
    Exited,
}

/// What a client is told.
#[derive(Clone, Copy)]
pub(super) enum Event {
    Start,
    Stop,
    Resume { since: SimTime },
    Timer(ClientTimer, u16),
    Ended(Call, Result<Reply, Failure>),
    Stall(Call),
}

/// A client as the rig drives it.
pub(super) trait Machine {
    type Config;
    /// What its scripted registry holds.
    type Registry: Scripted;
    /// What a script says.
    type Answer;

    fn on(&mut self, event: Event, config: &Self::Config, step: &mut Step<'_, ClientEffect>);

    fn outcome(answer: Self::Answer, call: Call, config: &Self::Config) -> Outcome;

    /// A call that takes longer than this is told to stall.
    fn stall_after(config: &Self::Config) -> SimDuration;
}

/// What a scripted registry holds.
pub(super) trait Scripted {
    fn views(&mut self) -> &mut Views;
}

/// What a script answers at that moment to a request to that server.
pub(super) type Script<M> =
    Box<dyn FnMut(SimTime, &Request, ServerId, &mut <M as Machine>::Registry) -> <M as Machine>::Answer>;

/// A client and its world. The wall clock shows [`WALL_START`] at time zero.
pub(super) struct Rig<M: Machine> {
    pub(super) client: M,
    pub(super) config: M::Config,
    pub(super) registry: M::Registry,
    pub(super) log: Vec<(SimTime, Logged)>,
    pub(super) script: Script<M>,
    pub(super) now: SimTime,
    queue: BTreeMap<(SimTime, u64), Event>,
    scheduled: u64,
    seed: Seed,
    streams: Streams,
}

pub(super) const WALL_START: i64 = 1_700_000_000_000;

pub(super) const fn at_ms(ms: u64) -> SimTime {
    SimTime::from_millis(ms)
}

impl<M: Machine> Rig<M> {
    pub(super) fn of(client: M, config: M::Config, registry: M::Registry, script: Script<M>) -> Self {
        Self {
            client,
            config,
            registry,
            log: Vec::new(),
            script,
            now: SimTime::ZERO,
            queue: BTreeMap::new(),
            scheduled: 0,
            seed: Seed::new(1, 0),
            streams: Streams::of("client/test/1"),
        }
    }

    /// Runs one step of the client now.
    pub(super) fn step(&mut self, act: impl FnOnce(&mut M, &M::Config, &mut Step<'_, ClientEffect>)) {
        let mut out = Vec::new();
        let wall = WallMs(WALL_START + self.now.as_millis() as i64);
        let mut step = Step {
            now: Now { mono: self.now, wall },
            rng: self.streams.with(&self.seed),
            views: self.registry.views(),
            out: &mut out,
        };
        act(&mut self.client, &self.config, &mut step);
        for effect in out {
            self.follow(effect);
        }
    }

    pub(super) fn start(&mut self) {
        self.tell(Event::Start);
    }

    pub(super) fn stop(&mut self) {
        self.tell(Event::Stop);
    }

    /// Runs everything that is due up to and including `until`.
    pub(super) fn run_to(&mut self, until: SimTime) {
        while let Some((&key, &event)) = self.queue.first_key_value().filter(|(key, _)| key.0 <= until) {
            self.queue.remove(&key);
            self.now = key.0;
            self.tell(event);
        }
        self.now = until;
    }

    /// Lets the process stand still from now until `until`: outcomes and timers of that time wait.
    pub(super) fn pause_to(&mut self, until: SimTime) {
        let since = std::mem::replace(&mut self.now, until);
        self.tell(Event::Resume { since });
        let later = self.queue.split_off(&(until, u64::MAX));
        let mut due: Vec<Event> = std::mem::replace(&mut self.queue, later).into_values().collect();
        due.sort_by_key(|event| matches!(event, Event::Timer(..)));
        due.into_iter().for_each(|event| self.tell(event));
    }

    /// When requests of `kind` were sent, ms.
    pub(super) fn sent_ms(&self, kind: RequestKind) -> Vec<u64> {
        self.sent(kind).into_iter().map(|(at, _, _)| at.as_millis()).collect()
    }

    /// The requests of `kind` that were sent.
    pub(super) fn sent(&self, kind: RequestKind) -> Vec<(SimTime, Request, ServerId)> {
        let sent = |&(at, logged): &(SimTime, Logged)| match logged {
            Logged::Sent(request, to) if request.kind() == kind => Some((at, request, to)),
            _ => None,
        };
        self.log.iter().filter_map(sent).collect()
    }

    /// When facts happened that `wanted` picks, ms.
    pub(super) fn facts_ms(&self, wanted: impl Fn(&Fact) -> bool) -> Vec<u64> {
        self.logged_ms(|logged| matches!(logged, Logged::Fact(fact) if wanted(fact)))
    }

    /// When something happened that `wanted` picks, ms.
    pub(super) fn logged_ms(&self, wanted: impl Fn(&Logged) -> bool) -> Vec<u64> {
        let picked = self.log.iter().filter(|(_, logged)| wanted(logged));
        picked.map(|(at, _)| at.as_millis()).collect()
    }

    fn tell(&mut self, event: Event) {
        self.step(|client, config, step| client.on(event, config, step));
    }

    fn follow(&mut self, effect: ClientEffect) {
        match effect {
            ClientEffect::Send { call, to, request } => {
                self.log.push((self.now, Logged::Sent(request, to)));
                let answer = (self.script)(self.now, &request, to, &mut self.registry);
                let (delay, outcome) = M::outcome(answer, call, &self.config);
                self.schedule(delay, Event::Ended(call, outcome));
                if delay > M::stall_after(&self.config) {
                    self.tell(Event::Stall(call));
                }
            }
            ClientEffect::SetTimer { timer, delay, generation } => {
                self.schedule(delay, Event::Timer(timer, generation));
            }
            ClientEffect::Acknowledge { push, .. } => self.log.push((self.now, Logged::Acknowledged(push))),
            ClientEffect::Fact(fact) => self.log.push((self.now, Logged::Fact(fact))),
            ClientEffect::Exited => self.log.push((self.now, Logged::Exited)),
        }
    }

    fn schedule(&mut self, delay: SimDuration, event: Event) {
        self.scheduled += 1;
        self.queue.insert((self.now + delay, self.scheduled), event);
    }
}
