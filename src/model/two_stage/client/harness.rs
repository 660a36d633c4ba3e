//! A little world for the tests of one client: a queue of events, a scripted registry, and a log of what happened.

use std::collections::BTreeMap;

use super::TwoStageClient;
use crate::engine::{Chance, Seed, SimDuration, SimTime};
use crate::model::clock::{Now, WallMs};
use crate::model::effect::{Call, ClientEffect, ClientTimer, PushId};
use crate::model::fact::Fact;
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::{Failure, Reply, Request, RequestKind, Revision, Status};
use crate::model::step::Step;
use crate::model::two_stage::config::{ClientConfig, Preset};
use crate::model::view::{LifeId, Payload, Presence, View, Views};

/// What becomes of a request, and how long after it was sent.
pub(super) type Outcome = (SimDuration, Result<Reply, Failure>);

/// What the log holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Logged {
    Sent(Request),
    Acknowledged(PushId),
    Fact(Fact),
    Exited,
}

#[derive(Clone, Copy)]
enum Event {
    Timer(ClientTimer, u16),
    Ended(Call, Result<Reply, Failure>),
}

type Script = Box<dyn FnMut(SimTime, &Request, &mut Registry) -> Outcome>;

/// What the scripted registry holds.
pub(super) struct Registry {
    pub(super) views: Views,
    pub(super) life: LifeId,
}

impl Registry {
    /// Registers or heals an instance, marks it, or, without a status, removes it.
    pub(super) fn put(&mut self, app: u32, instance: u32, status: Option<Status>) {
        let presence = status.map_or(Presence::Absent, Presence::Present);
        self.views.log_mut(self.life).put(AppId(app), InstanceId(instance), presence);
    }

    /// Registers instances.
    pub(super) fn up(&mut self, app: u32, instances: std::ops::Range<u32>) {
        instances.for_each(|instance| self.put(app, instance, Some(Status::Up)));
    }

    /// Removes instances.
    pub(super) fn gone(&mut self, app: u32, instances: std::ops::Range<u32>) {
        instances.for_each(|instance| self.put(app, instance, None));
    }

    /// It restarts, and has forgotten everything.
    pub(super) fn restart(&mut self) {
        self.life = self.views.begin_life();
    }

    /// What a fetch would be answered now.
    pub(super) fn payload(&self) -> Payload {
        let version = self.views.log(self.life).version();
        Payload { life: self.life, version, queue_head: 0, queue_tail: 0 }
    }

    /// What a registry that knows everybody answers to `request`. A long poll is answered at once, with its number
    /// of versions as revision.
    pub(super) fn reply(&self, request: &Request) -> Reply {
        match request {
            Request::FetchFull | Request::FetchService { .. } => Reply::served(self.payload()),
            Request::Watch { .. } => self.news(self.payload().version),
            _ => Reply::bare(200),
        }
    }

    /// The answer to a long poll with `revision` and the list.
    pub(super) fn news(&self, revision: u32) -> Reply {
        Reply { revision: numbered(revision), ..Reply::served(self.payload()) }
    }
}

/// The answer to a long poll whose time is up.
pub(super) fn time_is_up(revision: u32) -> Reply {
    Reply { revision: numbered(revision), ..Reply::bare(200) }
}

fn numbered(number: u32) -> Revision {
    Revision { epoch: 0, number }
}

/// A client and its world. The client is process 3, instance 0 of application 0; nothing takes any time unless a script
/// says so.
pub(super) struct Rig {
    pub(super) client: TwoStageClient,
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

pub(super) const fn ms(ms: u64) -> SimDuration {
    SimDuration::from_millis(ms)
}

pub(super) const fn at_ms(ms: u64) -> SimTime {
    SimTime::from_millis(ms)
}

/// The answer of a healthy registry, in no time.
pub(super) fn healthy(request: &Request, registry: &Registry) -> Outcome {
    (SimDuration::ZERO, Ok(registry.reply(request)))
}

/// Nobody listens.
pub(super) const REFUSED: Outcome = (SimDuration::ZERO, Err(Failure::Refused));

impl Rig {
    /// With the preset's defaults, that of an instance.
    pub(super) fn instance(preset: Preset) -> Self {
        Self::with(ClientConfig { fetches: false, ..ClientConfig::defaults(preset) })
    }

    /// With the preset's defaults, that of a consumer of application 0.
    pub(super) fn consumer(preset: Preset) -> Self {
        let services = vec![AppId(0)];
        Self::with(ClientConfig { registers: false, services, ..ClientConfig::defaults(preset) })
    }

    fn with(config: ClientConfig) -> Self {
        let mut views = Views::default();
        let life = views.begin_life();
        Self {
            client: TwoStageClient::new(AppId(0), InstanceId(0), ServerId(0), ClientId(3)),
            config,
            registry: Registry { views, life },
            log: Vec::new(),
            now: SimTime::ZERO,
            queue: BTreeMap::new(),
            scheduled: 0,
            script: Box::new(|_, request, registry| healthy(request, registry)),
            seed: Seed::new(1, 0),
            chance: Chance::of("client/test/1"),
        }
    }

    /// Lets `script` answer from now on.
    pub(super) fn answer(
        &mut self,
        script: impl FnMut(SimTime, &Request, &mut Registry) -> Outcome + 'static,
    ) {
        self.script = Box::new(script);
    }

    /// Nobody listens from now on.
    pub(super) fn registry_is_down(&mut self) {
        self.answer(|_, _, _| REFUSED);
    }

    /// The registry answers again.
    pub(super) fn registry_is_up(&mut self) {
        self.answer(|_, request, registry| healthy(request, registry));
    }

    /// Runs one step of the client now.
    pub(super) fn step(
        &mut self,
        act: impl FnOnce(&mut TwoStageClient, &ClientConfig, &mut Step<'_, ClientEffect>),
    ) {
        let mut out = Vec::new();
        let wall = WallMs(1_700_000_000_000 + self.now.as_millis() as i64);
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
            ClientEffect::Send { call, to, request } => {
                assert_eq!(to, ServerId(0));
                self.log.push((self.now, Logged::Sent(request)));
                let (delay, outcome) = (self.script)(self.now, &request, &mut self.registry);
                self.schedule(delay, Event::Ended(call, outcome));
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

    pub(super) fn start(&mut self) {
        self.step(|client, config, step| client.on_start(config, step));
    }

    pub(super) fn stop(&mut self) {
        self.step(|client, config, step| client.on_stop(config, step));
    }

    pub(super) fn crash(&mut self) {
        self.client.on_crash(&self.config, self.now);
    }

    /// A push of what `payload` shows of an application comes.
    pub(super) fn push(&mut self, app: u32, payload: Payload, push: u32) {
        self.step(|client, config, step| client.on_push(config, AppId(app), payload, PushId(push), step));
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
            Event::Ended(call, Ok(reply)) => client.on_reply(config, call, reply, step),
            Event::Ended(call, Err(failure)) => client.on_failure(config, call, failure, step),
        });
    }

    /// When requests of `kind` were sent, ms.
    pub(super) fn sent_ms(&self, kind: RequestKind) -> Vec<u64> {
        self.logged_ms(|logged| matches!(logged, Logged::Sent(request) if request.kind() == kind))
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

    /// The instances that the consumer holds.
    pub(super) fn held(&self) -> Vec<u32> {
        self.shown(self.client.view())
    }

    /// The instances of `view` that are UP.
    pub(super) fn shown(&self, view: View) -> Vec<u32> {
        let instances = self.registry.views.instances(view).into_iter();
        instances.filter(|(_, status)| *status == Status::Up).map(|(instance, _)| instance.0).collect()
    }

    /// Each change of what the consumer holds: when, ms, and to which instances.
    pub(super) fn changes(&self) -> Vec<(u64, Vec<u32>)> {
        let change = |&(at, logged): &(SimTime, Logged)| match logged {
            Logged::Fact(Fact::ViewChanged { to, .. }) => Some((at.as_millis(), self.shown(to))),
            _ => None,
        };
        self.log.iter().filter_map(change).collect()
    }
}
