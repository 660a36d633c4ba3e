//! The rig of one Eureka client: a scripted server, and what it may do with a request.

use super::{Call, Client, ClientConfig, ClientEffect, ServerUrls, Silence};
use crate::engine::{SimDuration, SimTime};
use crate::model::eureka::Flavour;
use crate::model::fact::Fact;
use crate::model::id::{AppId, InstanceId, ServerId};
use crate::model::message::{Failure, Reply, Request, RequestKind, Status};
use crate::model::rig::{self, Event, Machine, Outcome, Scripted};
pub(super) use crate::model::rig::{Logged, WALL_START, at_ms};
use crate::model::step::Step;
use crate::model::view::{LifeId, Payload, Presence, View, Views};

/// What the scripted server does with a request.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) enum Answer {
    /// It answers, this long after the request was sent.
    Reply(SimDuration, Reply),
    /// The call fails, this long after the request was sent.
    Fail(SimDuration, Failure),
    /// Nobody answers, for as long as the transport's limits matter.
    Silence(Silence),
}

/// What the scripted server holds.
pub(in crate::model) struct Registry {
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

impl Scripted for Registry {
    fn views(&mut self) -> &mut Views {
        &mut self.views
    }
}

impl Machine for Client {
    type Config = ClientConfig;
    type Registry = Registry;
    type Answer = Answer;

    fn on(&mut self, event: Event, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        match event {
            Event::Start => self.on_start(config, step),
            Event::Stop => self.on_stop(config, step),
            Event::Resume { since } => self.on_resume(config, since, step),
            Event::Timer(timer, generation) => self.on_timer(config, timer, generation, step),
            Event::Ended(call, Ok(reply)) => self.on_reply(config, call, reply, step),
            Event::Ended(call, Err(failure)) => self.on_failure(config, call, failure, step),
            Event::Stall(call) => self.on_stall(config, call, step),
        }
    }

    fn outcome(answer: Answer, call: Call, config: &ClientConfig) -> Outcome {
        match answer {
            Answer::Reply(delay, reply) => (delay, Ok(reply)),
            Answer::Fail(delay, failure) => (delay, Err(failure)),
            Answer::Silence(silence) => {
                let (delay, failure) = config.transport.call_gives_up_after(call, silence);
                (delay, Err(failure))
            }
        }
    }

    fn stall_after(config: &ClientConfig) -> SimDuration {
        Self::stall_after(config)
    }
}

/// A client and its world.
pub(super) type Rig = rig::Rig<Client>;

pub(super) const RTT: SimDuration = SimDuration::from_millis(2);

pub(super) const fn secs(secs: u64) -> SimDuration {
    SimDuration::from_secs(secs)
}

/// The answer of a healthy server after one round trip.
pub(super) fn healthy(request: &Request, registry: &Registry) -> Answer {
    Answer::Reply(RTT, registry.reply(request))
}

impl Rig {
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
        let client = Client::new(AppId(0), InstanceId(0), urls);
        let script = Box::new(|_, request: &_, _, registry: &mut _| healthy(request, registry));
        Self::of(client, ClientConfig::defaults(flavour), registry, script)
    }

    /// Lets `script` answer from now on.
    pub(super) fn answer(
        &mut self,
        script: impl FnMut(SimTime, &Request, ServerId, &mut Registry) -> Answer + 'static,
    ) {
        self.script = Box::new(script);
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
