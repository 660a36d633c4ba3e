//! Processes with a client machine: providers, which register, and consumers, which look others up.

use std::collections::{BTreeMap, BTreeSet};

use stillup::engine::{SimDuration, Streams};
use stillup::model::clock::{Now, WallMs};
use stillup::model::effect::{Call, ClientEffect, ClientTimer, PushId};
use stillup::model::fact::Fact;
use stillup::model::id::{AppId, ClientId, ServerId};
use stillup::model::message::{Failure, Reply, Request};
use stillup::model::registry::ClientSettings;
use stillup::model::step::Step;
use stillup::model::two_stage::{ClientConfig, TwoStageClient};
use stillup::model::view::Payload;

use super::{Caller, Event, Machine, ORIGIN_MS, WALL_START_MS, class};
use crate::row::{Map, Row, What};
use crate::vector::Disk;

/// What a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// An instance of a service.
    Provider { svc: String, id: String },
    /// A consumer.
    Consumer { name: String },
}

/// A process through all its lives.
pub(super) struct Agent {
    pub(super) role: Role,
    pub(super) client: TwoStageClient,
    pub(super) config: ClientConfig,
    /// What it holds, as the rows say it.
    pub(super) map: Map,
    /// Calls that are not over, with what they ask.
    calls: BTreeMap<Call, Request>,
    /// What it has asked for since it started: the first answer to each is that of the start.
    asked_for: BTreeSet<Option<AppId>>,
    /// Failed refreshes in a row, by what was asked for.
    failures: BTreeMap<Option<AppId>, u64>,
}

/// What a refresh asks for: one service, or everything.
fn subject(request: &Request) -> Option<Option<AppId>> {
    match *request {
        Request::FetchFull => Some(None),
        Request::FetchService { app, .. } | Request::Watch { app, .. } => Some(Some(app)),
        _ => None,
    }
}

impl Machine {
    /// The provider of this service and id; one who comes back at the same address is the same.
    pub(super) fn provider(&mut self, svc: &str, id: &str, stop_beats_first: Option<bool>) -> usize {
        if let Some(&agent) = self.providers_of(svc, id, stop_beats_first).first() {
            return agent;
        }
        let config = ClientConfig { registers: true, fetches: false, ..self.vector.knobs.client.clone() };
        let role = Role::Provider { svc: svc.to_owned(), id: id.to_owned() };
        let agent = self.add_agent(role, svc, id, config);
        self.heed(agent, stop_beats_first);
        agent
    }

    /// The providers with an id, of one service or of any.
    pub(super) fn providers_of(&mut self, svc: &str, id: &str, stop_beats_first: Option<bool>) -> Vec<usize> {
        let is_it = |role: &Role| match role {
            Role::Provider { svc: of, id: own } => own == id && (svc.is_empty() || of == svc),
            Role::Consumer { .. } => false,
        };
        let found: Vec<usize> = (0..self.agents.len()).filter(|&at| is_it(&self.agents[at].role)).collect();
        found.iter().for_each(|&agent| self.heed(agent, stop_beats_first));
        found
    }

    fn heed(&mut self, agent: usize, stop_beats_first: Option<bool>) {
        let config = &mut self.agents[agent].config;
        config.stop_heartbeat_before_deregister =
            stop_beats_first.unwrap_or(config.stop_heartbeat_before_deregister);
    }

    /// A consumer with this on its disk.
    pub(super) fn consumer(&mut self, name: &str, disk: &Disk) -> usize {
        let config = ClientConfig {
            registers: false,
            fetches: true,
            services: self.names.apps(),
            ..self.vector.knobs.client.clone()
        };
        let svc = self.names.svc(AppId(0)).to_owned();
        let role = Role::Consumer { name: name.to_owned() };
        let agent = self.add_agent(role, &svc, name, config);
        self.prepare_disk(agent, disk);
        agent
    }

    pub(super) fn consumer_named(&self, name: &str) -> Result<usize, String> {
        let role = Role::Consumer { name: name.to_owned() };
        self.agents.iter().position(|it| it.role == role).ok_or_else(|| format!("no consumer {name}"))
    }

    fn add_agent(&mut self, role: Role, svc: &str, id: &str, config: ClientConfig) -> usize {
        let (app, instance) = (self.names.app(svc), self.names.instance(svc, id));
        let agent = self.agents.len();
        let client = TwoStageClient::new(app, instance, ServerId(0), ClientId(agent as u32));
        self.agents.push(Agent {
            role,
            client,
            config,
            map: Map::new(),
            calls: BTreeMap::new(),
            asked_for: BTreeSet::new(),
            failures: BTreeMap::new(),
        });
        agent
    }

    pub(super) fn start_agent(&mut self, agent: usize) {
        if self.agents[agent].client.is_running() {
            self.kill_agent(agent);
        }
        let it = &mut self.agents[agent];
        (it.map, it.asked_for, it.failures) = Default::default();
        let effects = self.lend_to_agent(agent, |client, config, step| client.on_start(config, step));
        self.show_map(agent, "view_from_disk");
        self.follow_agent(agent, effects);
    }

    pub(super) fn kill_agent(&mut self, agent: usize) {
        let now = Self::mono(self.now);
        let it = &mut self.agents[agent];
        if it.client.is_running() {
            it.client.on_crash(&it.config, now);
        }
        it.calls.clear();
    }

    pub(super) fn stop_agent(&mut self, agent: usize) {
        if self.agents[agent].client.is_running() {
            self.step_agent(agent, |client, config, step| client.on_stop(config, step));
        }
    }

    pub(super) fn lend_to_agent(
        &mut self,
        agent: usize,
        act: impl FnOnce(&mut TwoStageClient, &ClientConfig, &mut Step<'_, ClientEffect>),
    ) -> Vec<ClientEffect> {
        let wall = WallMs(WALL_START_MS).plus((ORIGIN_MS + self.now) as i64);
        let now = Now { mono: Self::mono(self.now), wall };
        // No rule of such a client draws.
        let (mut streams, mut out) = (Streams::of("client/1"), Vec::new());
        let it = &mut self.agents[agent];
        let rng = streams.with(&self.seed);
        let mut step = Step { now, rng, views: &mut self.views, out: &mut out };
        act(&mut it.client, &it.config, &mut step);
        out
    }

    /// One step of a process, and what follows from it.
    pub(super) fn step_agent(
        &mut self,
        agent: usize,
        act: impl FnOnce(&mut TwoStageClient, &ClientConfig, &mut Step<'_, ClientEffect>),
    ) {
        let effects = self.lend_to_agent(agent, act);
        self.show_map(agent, "view");
        self.follow_agent(agent, effects);
    }

    fn follow_agent(&mut self, agent: usize, effects: Vec<ClientEffect>) {
        for effect in effects {
            match effect {
                ClientEffect::Send { call, request, .. } => {
                    self.agents[agent].calls.insert(call, request);
                    let arrival = Event::Arrives { caller: Caller::Agent(agent, call), request };
                    self.at(self.now, class::REQUEST, arrival);
                }
                ClientEffect::SetTimer { timer, delay, generation } => {
                    let t = self.now + delay.as_millis();
                    self.at(t, class::CLIENT, Event::ClientTimer { agent, timer, generation });
                }
                ClientEffect::Acknowledge { push, .. } => {
                    self.acknowledged(ClientId(agent as u32), push);
                }
                ClientEffect::Fact(Fact::RefreshWarned) => self.agent_row("warn", agent, What::Nothing),
                ClientEffect::Fact(Fact::StartFailed) => self.agent_row("start_failed", agent, What::Nothing),
                ClientEffect::Fact(_) => {}
                ClientEffect::Exited => self.exited(agent),
            }
        }
    }

    fn exited(&mut self, agent: usize) {
        let it = &mut self.agents[agent];
        it.calls.clear();
        assert!(!it.client.is_running(), "who has exited does not run");
        if let Role::Provider { svc, id } = &it.role {
            self.log.push(Row::ids(self.now, "exit", svc, [id], None));
        }
    }

    fn agent_row(&mut self, kind: &'static str, agent: usize, what: What) {
        let Role::Consumer { name } = &self.agents[agent].role else { return };
        let name = name.clone();
        self.row(kind, &name, what);
    }

    /// A row, if what a consumer holds has changed.
    fn show_map(&mut self, agent: usize, kind: &'static str) {
        if !self.agents[agent].client.is_running() {
            return;
        }
        let before = std::mem::take(&mut self.agents[agent].map);
        let map = self.map(self.agents[agent].client.view(), &before);
        self.agents[agent].map = map.clone();
        if map != before {
            self.agent_row(kind, agent, What::Map(map));
        }
    }

    /// A call that is not answered at once ends after its limit.
    pub(super) fn limit(&mut self, caller: Caller, request: &Request) {
        let Caller::Agent(agent, call) = caller else { return };
        let t = self.now + self.agents[agent].config.read_limit(request).as_millis();
        self.at(t, class::CLIENT, Event::Limit { agent, call });
    }

    pub(super) fn limit_reached(&mut self, agent: usize, call: Call) {
        self.agent_fails(agent, call, Failure::ReadTimeout);
    }

    pub(super) fn refuse_agent(&mut self, agent: usize, call: Call) {
        self.agent_fails(agent, call, Failure::Refused);
    }

    fn agent_fails(&mut self, agent: usize, call: Call, failure: Failure) {
        let Some(request) = self.agents[agent].calls.remove(&call) else { return };
        let effects =
            self.lend_to_agent(agent, |client, config, step| client.on_failure(config, call, failure, step));
        self.refreshed(agent, &request, false, &effects);
        self.follow_agent(agent, effects);
    }

    pub(super) fn answer_agent(&mut self, agent: usize, call: Call, request: &Request, reply: Reply) {
        if self.agents[agent].calls.remove(&call).is_none() {
            // It has given up, or is gone.
            return;
        }
        let effects =
            self.lend_to_agent(agent, |client, config, step| client.on_reply(config, call, reply, step));
        self.show_map(agent, "view");
        let is_empty = reply.payload.is_none_or(|payload| match *request {
            Request::FetchService { app, .. } => self.list(payload.full_view(), app).is_empty(),
            _ => self.views.counts(payload.full_view()).total() == 0,
        });
        let fails = self.agents[agent].config.empty_is_failure && is_empty;
        self.refused(agent, subject(request), reply.payload, &effects);
        self.refreshed(agent, request, !fails, &effects);
        self.follow_agent(agent, effects);
    }

    /// A row, if the consumer has refused what it was offered.
    fn refused(
        &mut self,
        agent: usize,
        subject: Option<Option<AppId>>,
        payload: Option<Payload>,
        effects: &[ClientEffect],
    ) {
        if !effects.contains(&ClientEffect::Fact(Fact::AnswerRefused)) {
            return;
        }
        let offered = payload.map_or_else(Map::new, |payload| self.map(payload.full_view(), &Map::new()));
        let only = subject.flatten().map(|app| self.names.svc(app).to_owned());
        let counts = |svc: &String| only.as_ref().is_none_or(|it| it == svc);
        let mut sizes: BTreeMap<String, u64> = offered
            .iter()
            .filter(|it| counts(it.0))
            .map(|(svc, ids)| (svc.clone(), ids.len() as u64))
            .collect();
        sizes.extend(only.filter(|svc| !offered.contains_key(svc)).map(|svc| (svc, 0)));
        self.agent_row("reject", agent, What::Sizes(sizes));
    }

    /// A refresh has ended: a row, if it has failed. What a process asks for when it starts is no refresh.
    fn refreshed(&mut self, agent: usize, request: &Request, succeeded: bool, effects: &[ClientEffect]) {
        let Some(subject) = subject(request) else { return };
        let it = &mut self.agents[agent];
        if it.asked_for.insert(subject) || succeeded {
            it.failures.remove(&subject);
            return;
        }
        let failures = it.failures.entry(subject).or_default();
        *failures += 1;
        let failures = *failures;
        let wait = effects.iter().find_map(|effect| match effect {
            ClientEffect::SetTimer { timer: ClientTimer::Fetch, delay, .. } => Some(*delay),
            _ => None,
        });
        let wait = wait.unwrap_or(SimDuration::ZERO).as_millis();
        self.agent_row("refresh_fail", agent, What::Failure(failures, wait));
    }

    /// A datagram of the registry reaches a subscriber or a consumer.
    pub(super) fn pushed(&mut self, to: ClientId, app: AppId, payload: Payload, push: PushId) {
        if self.vector.knobs.server.push_loss >= 1.0 {
            return;
        }
        let name = match self.subscriber_name(to) {
            Some(name) => name,
            None => match &self.agents[to.index()].role {
                Role::Consumer { name } => name.clone(),
                Role::Provider { .. } => unreachable!("a provider subscribes to nothing"),
            },
        };
        let pushed = What::Pushed(self.names.svc(app).to_owned(), self.list(payload.full_view(), app));
        self.row("push", &name, pushed);
        if self.subscriber_name(to).is_some() {
            self.acknowledged(to, push);
        } else if self.agents[to.index()].client.is_running() {
            let effects = self.lend_to_agent(to.index(), |client, config, step| {
                client.on_push(config, app, payload, push, step);
            });
            self.show_map(to.index(), "view");
            self.refused(to.index(), Some(Some(app)), Some(payload), &effects);
            self.follow_agent(to.index(), effects);
        }
    }
}
