//! The rig of one two-stage client: a scripted registry, and what it answers.

use super::TwoStageClient;
use crate::engine::{SimDuration, SimTime};
use crate::model::effect::{Call, ClientEffect, PushId};
use crate::model::fact::Fact;
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::{Failure, Reply, Request, Revision, Status};
use crate::model::rig::{self, Event, Machine, Outcome, Scripted};
pub(super) use crate::model::rig::{Logged, at_ms};
use crate::model::step::Step;
use crate::model::two_stage::config::{ClientConfig, Preset};
use crate::model::view::{LifeId, Payload, Presence, View, Views};

/// What the scripted registry holds.
pub(in crate::model) struct Registry {
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

impl Scripted for Registry {
    fn views(&mut self) -> &mut Views {
        &mut self.views
    }
}

impl Machine for TwoStageClient {
    type Config = ClientConfig;
    type Registry = Registry;
    type Answer = Outcome;

    fn on(&mut self, event: Event, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        match event {
            Event::Start => self.on_start(config, step),
            Event::Stop => self.on_stop(config, step),
            Event::Resume { since } => self.on_resume(config, since, step),
            Event::Timer(timer, generation) => self.on_timer(config, timer, generation, step),
            Event::Ended(call, Ok(reply)) => self.on_reply(config, call, reply, step),
            Event::Ended(call, Err(failure)) => self.on_failure(config, call, failure, step),
            Event::Stall(_) => unreachable!("it has no end of patience"),
        }
    }

    fn outcome(answer: Outcome, _call: Call, _config: &ClientConfig) -> Outcome {
        answer
    }

    fn stall_after(_config: &ClientConfig) -> SimDuration {
        SimDuration::MAX
    }
}

/// A client and its world. The client is process 3, instance 0 of application 0; nothing takes any time unless a script
/// says so.
pub(super) type Rig = rig::Rig<TwoStageClient>;

pub(super) const fn ms(ms: u64) -> SimDuration {
    SimDuration::from_millis(ms)
}

/// The answer of a healthy registry, in no time.
pub(super) fn healthy(request: &Request, registry: &Registry) -> Outcome {
    (SimDuration::ZERO, Ok(registry.reply(request)))
}

/// Nobody listens.
pub(super) const REFUSED: Outcome = (SimDuration::ZERO, Err(Failure::Refused));

/// There is one registry to ask.
fn answered(to: ServerId, outcome: Outcome) -> Outcome {
    assert_eq!(to, ServerId(0));
    outcome
}

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
        let client = TwoStageClient::new(AppId(0), InstanceId(0), ServerId(0), ClientId(3));
        let script =
            Box::new(|_, request: &_, to, registry: &mut _| answered(to, healthy(request, registry)));
        Self::of(client, config, Registry { views, life }, script)
    }

    /// Lets `script` answer from now on.
    pub(super) fn answer(
        &mut self,
        mut script: impl FnMut(SimTime, &Request, &mut Registry) -> Outcome + 'static,
    ) {
        self.script = Box::new(move |at, request, to, registry| answered(to, script(at, request, registry)));
    }

    /// Nobody listens from now on.
    pub(super) fn registry_is_down(&mut self) {
        self.answer(|_, _, _| REFUSED);
    }

    /// The registry answers again.
    pub(super) fn registry_is_up(&mut self) {
        self.answer(|_, request, registry| healthy(request, registry));
    }

    pub(super) fn crash(&mut self) {
        self.client.on_crash(&self.config, self.now);
    }

    /// A push of what `payload` shows of an application comes.
    pub(super) fn push(&mut self, app: u32, payload: Payload, push: u32) {
        self.step(|client, config, step| client.on_push(config, AppId(app), payload, PushId(push), step));
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
