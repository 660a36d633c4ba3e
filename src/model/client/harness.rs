//! A little world for the tests of one client: a queue of events, a scripted server, and a log of what
//! happened.

use std::collections::BTreeMap;

use super::{Call, Client, ClientConfig, ClientEffect, ClientTimer, ServerUrls, Silence};
use crate::engine::{Chance, Seed, SimDuration, SimTime};
use crate::model::clock::{Now, WallMs};
use crate::model::eureka::Flavour;
use crate::model::fact::Fact;
use crate::model::id::{AppId, InstanceId, ServerId};
use crate::model::message::{Failure, Reply, Request, RequestKind, Status};
use crate::model::step::Step;
use crate::model::view::{LifeId, Payload, Presence, View, Views};

/// What the scripted server does with a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// It answers, this long after the request was sent.
    Reply(SimDuration, Reply),
    /// The call fails, this long after the request was sent.
    Fail(SimDuration, Failure),
    /// Nobody answers, for as long as the transport's limits matter.
    Silence(Silence),
}

/// What the log holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Logged {
    Sent(Request, ServerId),
    Fact(Fact),
    Exited,
}

#[derive(Clone, Copy)]
enum Event {
    Timer(ClientTimer, u16),
    Outcome(Call, Result<Reply, Failure>),
}

type Script = Box<dyn FnMut(SimTime, &Request, ServerId, &mut Registry) -> Answer>;

/// What the scripted server holds.
pub(super) struct Registry {
    pub(super) views: Views,
    pub(super) life: LifeId,
    pub(super) queue_head: u32,
}

impl Registry {
    /// Registers `instance`, changes its status or, without one, removes it; announced in the delta queue.
    pub(super) fn put(&mut self, app: u32, instance: u32, status: Option<Status>) {
        let presence = status.map_or(Presence::Absent, Presence::Present);
        let log = self.views.log_mut(self.life);
        log.put(AppId(app), InstanceId(instance), presence);
        log.announce(InstanceId(instance));
    }

    /// What a fetch would be answered now.
    pub(super) fn payload(&self) -> Payload {
        let log = self.views.log(self.life);
        Payload {
            life: self.life,
            version: log.version(),
            queue_head: self.queue_head,
            queue_tail: log.queued(),
        }
    }

    /// What a healthy server answers to `request`.
    pub(super) fn reply(&self, request: &Request) -> Reply {
        match request.kind() {
            RequestKind::Register => Reply::bare(204),
            RequestKind::FetchFull | RequestKind::FetchDelta => Reply::served(self.payload()),
            _ => Reply::bare(200),
        }
    }
}

/// A client and its world. The wall clock shows [`Rig::WALL_START`] at time zero.
pub(super) struct Rig {
    pub(super) client: Client,
    pub(super) config: ClientConfig,
    pub(super) registry: Registry,
    pub(super) log: Vec<(SimTime, Logged)>,
    now: SimTime,
    queue: BTreeMap<(SimTime, u64), Event>,
    scheduled: u64,
    script: Script,
    seed: Seed,
    chance: Chance,
}

pub(super) const RTT: SimDuration = SimDuration::from_millis(2);

pub(super) const fn secs(secs: u64) -> SimDuration {
    SimDuration::from_secs(secs)
}

pub(super) const fn at_ms(ms: u64) -> SimTime {
    SimTime::from_millis(ms)
}

/// The answer of a healthy server after one round trip.
pub(super) fn healthy(request: &Request, registry: &Registry) -> Answer {
    Answer::Reply(RTT, registry.reply(request))
}

impl Rig {
    pub(super) const WALL_START: i64 = 1_700_000_000_000;

    /// A client of one healthy server that already holds instance 9 of application 0. The client is instance
    /// 0.
    pub(super) fn new(flavour: Flavour) -> Self {
        Self::with_servers(flavour, &[ServerId(0)])
    }

    pub(super) fn with_servers(flavour: Flavour, servers: &[ServerId]) -> Self {
        Self::with_urls(flavour, ServerUrls::in_one_zone(servers))
    }

    pub(super) fn with_urls(flavour: Flavour, urls: ServerUrls<'_>) -> Self {
        let mut views = Views::default();
        let life = views.begin_life();
        let mut registry = Registry { views, life, queue_head: 0 };
        registry.put(0, 9, Some(Status::Up));
        Self {
            client: Client::new(AppId(0), InstanceId(0), urls),
            config: ClientConfig::defaults(flavour),
            registry,
            log: Vec::new(),
            now: SimTime::ZERO,
            queue: BTreeMap::new(),
            scheduled: 0,
            script: Box::new(|_, request, _, registry| healthy(request, registry)),
            seed: Seed::new(1, 0),
            chance: Chance::of("client/test/1"),
        }
    }

    /// Lets `script` answer from now on.
    pub(super) fn answer(
        &mut self,
        script: impl FnMut(SimTime, &Request, ServerId, &mut Registry) -> Answer + 'static,
    ) {
        self.script = Box::new(script);
    }

    /// Runs one step of the client now.
    pub(super) fn step(&mut self, act: impl FnOnce(&mut Client, &ClientConfig, &mut Step<'_, ClientEffect>)) {
        let mut out = Vec::new();
        let wall = WallMs(Self::WALL_START + self.now.as_millis() as i64);
        let mut step = Step {
            now: Now { mono: self.now, wall },
            dice: self.chance.with(&self.seed),
            views: &mut self.registry.views,
            out: &mut out,
        };
        act(&mut self.client, &self.config, &mut step);
        for effect in out {
            self.follow(effect);
        }
    }

    fn follow(&mut self, effect: ClientEffect) {
        match effect {
            ClientEffect::Acknowledge { .. } => panic!("nobody pushes to a client of Eureka"),
            ClientEffect::Send { call, to, request } => {
                self.log.push((self.now, Logged::Sent(request, to)));
                let (delay, outcome) = match (self.script)(self.now, &request, to, &mut self.registry) {
                    Answer::Reply(delay, reply) => (delay, Ok(reply)),
                    Answer::Fail(delay, failure) => (delay, Err(failure)),
                    Answer::Silence(silence) => {
                        let (delay, failure) = self.config.transport.call_gives_up_after(call, silence);
                        (delay, Err(failure))
                    }
                };
                self.schedule(delay, Event::Outcome(call, outcome));
                if delay > Client::patience(&self.config) {
                    self.step(|client, config, step| client.on_stall(config, call, step));
                }
            }
            ClientEffect::SetTimer { timer, delay, generation } => {
                self.schedule(delay, Event::Timer(timer, generation));
            }
            ClientEffect::Fact(fact) => self.log.push((self.now, Logged::Fact(fact))),
            ClientEffect::Exited => self.log.push((self.now, Logged::Exited)),
        }
    }

    fn schedule(&mut self, delay: SimDuration, event: Event) {
        self.scheduled += 1;
        self.queue.insert((self.now + delay, self.scheduled), event);
    }

    pub(super) fn start(&mut self) {
        self.step(|client, config, step| client.on_start(config, step));
    }

    pub(super) fn stop(&mut self) {
        self.step(|client, config, step| client.on_stop(config, step));
    }

    /// Runs everything that is due up to and including `until`.
    pub(super) fn run_to(&mut self, until: SimTime) {
        while let Some((&key, &event)) = self.queue.first_key_value().filter(|(key, _)| key.0 <= until) {
            self.queue.remove(&key);
            self.now = key.0;
            self.deliver(event);
        }
        self.now = until;
    }

    /// Lets the process stand still from now until `until`: outcomes and timers of that time wait.
    pub(super) fn pause_to(&mut self, until: SimTime) {
        let since = std::mem::replace(&mut self.now, until);
        self.step(|client, config, step| client.on_resume(config, since, step));
        let later = self.queue.split_off(&(until, u64::MAX));
        let mut due: Vec<Event> = std::mem::replace(&mut self.queue, later).into_values().collect();
        due.sort_by_key(|event| matches!(event, Event::Timer(..)));
        due.into_iter().for_each(|event| self.deliver(event));
    }

    fn deliver(&mut self, event: Event) {
        self.step(|client, config, step| match event {
            Event::Timer(timer, generation) => client.on_timer(config, timer, generation, step),
            Event::Outcome(call, Ok(reply)) => client.on_reply(config, call, reply, step),
            Event::Outcome(call, Err(failure)) => client.on_failure(config, call, failure, step),
        });
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
        let picked = |&(at, logged): &(SimTime, Logged)| match logged {
            Logged::Fact(fact) if wanted(&fact) => Some(at.as_millis()),
            _ => None,
        };
        self.log.iter().filter_map(picked).collect()
    }

    /// When the balancer's list changed, ms, and to what.
    pub(super) fn balancer_changes(&self) -> Vec<(u64, View)> {
        let change = |&(at, logged): &(SimTime, Logged)| match logged {
            Logged::Fact(Fact::BalancerChanged { to, .. }) => Some((at.as_millis(), to)),
            _ => None,
        };
        self.log.iter().filter_map(change).collect()
    }
}
