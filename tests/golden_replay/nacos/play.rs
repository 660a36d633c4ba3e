//! The server, driven by the recorded calls and by its own timer.

use std::collections::BTreeMap;
use std::fmt;

use stillup::engine::{Seed, SimTime, Streams};
use stillup::model::clock::{Now, WallMs};
use stillup::model::effect::{ServerEffect, ServiceTimer};
use stillup::model::eureka::OwnRegistry;
use stillup::model::fact::Fact;
use stillup::model::id::{AppId, InstanceId};
use stillup::model::message::{Record, Request, Status};
use stillup::model::registry;
use stillup::model::step::Step;
use stillup::model::two_stage::ServerConfig;
use stillup::model::view::{Presence, View, Views};

use super::super::Compared;
use super::super::records::Call;
use super::arrivals::{Arrival, arrivals};
use super::checks::Checks;
use super::guesses::Guesses;
use super::recording::Recording;
use super::sights::{History, State};
use super::{Bent, LATE_MS, TIE_MS};

/// The service.
const APP: AppId = AppId(0);

/// Something in which rules and recording differ.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    pub(super) at_ms: i64,
    pub(super) instance: String,
    pub(super) what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.at_ms, self.instance, self.what)
    }
}

/// What came of it.
pub(super) struct Played {
    pub(super) differences: Vec<Difference>,
    pub(super) compared: Compared,
    /// Of whom a check can hardly tell whether the silence was too long, or the beat before or after it, and by how
    /// much it was later or longer, ms.
    pub(super) ties: Vec<(String, i64)>,
}

/// A replay with certain guesses.
pub(super) struct Play<'a> {
    recording: &'a Recording,
    pauses: Vec<(i64, i64)>,
    config: &'a ServerConfig,
    bent: Bent,
    checks: Checks,
    server: Option<registry::Server>,
    views: Views,
    seed: Seed,
    streams: Streams,
    now_us: i64,
    /// When each timer of a check is due, by its number, with its generation.
    timers: BTreeMap<u32, (i64, u8)>,
    names: BTreeMap<String, InstanceId>,
    /// When each was heard of last, ms.
    heard_ms: BTreeMap<String, i64>,
    /// When each was removed last, ms.
    removed_ms: BTreeMap<String, i64>,
    flags: History,
    answers: History,
    played: Played,
}

impl<'a> Play<'a> {
    pub(super) fn new(
        recording: &'a Recording,
        config: &'a ServerConfig,
        bent: Bent,
        checks: Checks,
    ) -> Self {
        Self {
            recording,
            pauses: recording.pauses(),
            config,
            bent,
            checks,
            server: None,
            views: Views::default(),
            seed: Seed::new(0, 0),
            streams: Streams::of("server/1"),
            now_us: 0,
            timers: BTreeMap::new(),
            names: BTreeMap::new(),
            heard_ms: BTreeMap::new(),
            removed_ms: BTreeMap::new(),
            flags: History::default(),
            answers: History::default(),
            played: Played { differences: Vec::new(), compared: Compared::default(), ties: Vec::new() },
        }
    }

    pub(super) fn play(mut self, guesses: &Guesses) -> Played {
        self.start();
        for arrival in arrivals(self.recording, self.checks, guesses) {
            self.check_until(arrival.at_us);
            self.now_us = arrival.at_us;
            self.arrive(&arrival);
        }
        let end_ms = self.recording.end_ms();
        self.check_until(end_ms * 1_000);
        let Self { recording, flags, answers, mut played, .. } = self;
        flags.compare("catalog", recording, &mut played);
        answers.compare("query", recording, &mut played);
        played
    }

    fn start(&mut self) {
        let mut out = Vec::new();
        let config = registry::ServerConfig::TwoStage(self.config.clone());
        let mut step = Step {
            now: self.now(),
            rng: self.streams.with(&self.seed),
            views: &mut self.views,
            out: &mut out,
        };
        self.server = Some(registry::Server::start(&config, 0, None, &[], OwnRegistry::default(), &mut step));
        self.take(out, (0, 0));
    }

    /// Runs the checks that come before `until_us`.
    fn check_until(&mut self, until_us: i64) {
        loop {
            let runs = self.timers.iter().map(|(&number, &(due_us, generation))| {
                (self.checks.runs_at_us(due_us, &self.pauses), number, generation)
            });
            let Some((run_us, number, generation)) = runs.min().filter(|next| next.0 < until_us) else {
                return;
            };
            self.timers.remove(&number);
            self.now_us = run_us;
            self.played.compared.rounds += 1;
            let run_ms = run_us / 1_000;
            self.note_ties(run_ms);
            self.with((run_ms - TIE_MS, run_ms + LATE_MS), |server, step| {
                server.on_service_timer(ServiceTimer::Sweep, number, generation, step);
            });
        }
    }

    fn note_ties(&mut self, run_ms: i64) {
        let time_outs = [self.config.soft_timeout_ms, self.config.hard_timeout_ms].map(i64::from);
        for (name, heard_ms) in &self.heard_ms {
            let margins = time_outs.map(|time_out_ms| run_ms - heard_ms - time_out_ms);
            let ties = margins.into_iter().filter(|margin_ms| margin_ms.abs() <= TIE_MS);
            self.played.ties.extend(ties.map(|margin_ms| (name.clone(), margin_ms)));
        }
    }

    fn arrive(&mut self, arrival: &Arrival) {
        let name = &arrival.instance;
        let next = InstanceId(self.names.len() as u32);
        let instance = *self.names.entry(name.clone()).or_insert(next);
        self.note_race(arrival);
        let renews_only = self.bent == Bent::BeatsHealNobody && self.flags.state(name) == State::Unhealthy;
        let kind = arrival.call.as_ref().map_or("beat", |call| &call.kind);
        let request = match kind {
            "register" => register(instance),
            "beat" if renews_only => register(instance),
            "beat" => Request::Renew { instance, last_dirty: WallMs(0) },
            other => return self.differ(name, format!("made a call that the replay does not know: {other}")),
        };
        let (from_ms, to_ms) = arrival.within;
        let reply =
            self.with((from_ms, to_ms + LATE_MS), |server, step| server.on_request(&request, None, step));
        let status = reply.expect("only long polls are held").status;
        if status == 200 {
            self.heard_ms.insert(name.clone(), self.now_us / 1_000);
        }
        if let Some(call) = &arrival.call {
            self.compare_code(call, status);
        }
    }

    /// A removal comes a moment after the check that decides on it: until then beats are answered as if nothing were.
    fn compare_code(&mut self, call: &Call, status: u16) {
        let Ok(there) = call.status.parse::<u16>() else { return };
        self.played.compared.statuses += 1;
        let here = match (call.kind.as_str(), status) {
            ("beat", 200) => 10_200,
            ("beat", 404) => 20_404,
            (_, status) => status,
        };
        let removed_ms = self.removed_ms.get(&call.instance).copied();
        let goes = removed_ms.is_some_and(|removed| self.now_us / 1_000 - removed <= LATE_MS);
        if here != there && !(goes && (here, there) == (20_404, 10_200)) {
            self.differ(&call.instance, format!("{}: {here} here, {there} there", call.kind));
        }
    }

    /// After a pause the beats that waited and the check that is overdue race: who had been silent for too long by then
    /// may have been marked for a moment.
    fn note_race(&mut self, arrival: &Arrival) {
        let Some(to_ms) = arrival.held_until else { return };
        let name = &arrival.instance;
        let is_overdue =
            self.timers.values().any(|&(due_us, _)| due_us + self.checks.late_us < to_ms * 1_000);
        let silence_ms = self.heard_ms.get(name).map_or(0, |heard_ms| to_ms - heard_ms);
        if !is_overdue || silence_ms <= i64::from(self.config.soft_timeout_ms) {
            return;
        }
        let within = (to_ms, arrival.within.1 + LATE_MS);
        for history in [&mut self.flags, &mut self.answers] {
            if history.state(name) == State::Healthy {
                history.push(name, State::Unhealthy, within);
                history.push(name, State::Healthy, within);
            }
        }
    }

    /// A step of the server, whose doings show within these moments.
    fn with<R>(
        &mut self,
        within: (i64, i64),
        act: impl FnOnce(&mut registry::Server, &mut Step<'_, ServerEffect>) -> R,
    ) -> R {
        let mut out = Vec::new();
        let now = self.now();
        let server = self.server.as_mut().expect("it has started");
        let mut step =
            Step { now, rng: self.streams.with(&self.seed), views: &mut self.views, out: &mut out };
        let result = act(server, &mut step);
        let query = Request::FetchService { app: APP, subscriber: None };
        let answer = server.on_request(&query, None, &mut step).and_then(|reply| reply.payload);
        let life = server.life();
        self.take(out, within);
        self.note_answer(answer.expect("a list").full_view(), within);
        let flags = View::of(life, self.views.log(life).version());
        assert!(self.names.iter().all(|(name, &id)| self.flags.state(name) == self.state(flags, id)));
        result
    }

    fn take(&mut self, out: Vec<ServerEffect>, within: (i64, i64)) {
        let mut marked = Vec::new();
        for effect in out {
            match effect {
                ServerEffect::SetServiceTimer { timer: ServiceTimer::Sweep, number, at, generation } => {
                    self.timers.insert(number, (at.as_nanos() as i64 / 1_000, generation));
                }
                ServerEffect::Fact(Fact::LeaseRegistered { instance, new: true, .. })
                | ServerEffect::Fact(Fact::StatusChanged { instance, .. }) => {
                    self.flags.push(&self.name(instance), State::Healthy, within);
                }
                ServerEffect::Fact(Fact::SoftEvicted { instance }) => {
                    self.played.compared.victims += 1;
                    marked.push(instance);
                    self.flags.push(&self.name(instance), State::Unhealthy, within);
                }
                ServerEffect::Fact(Fact::LeaseEvicted { instance }) => {
                    self.played.compared.victims += 1;
                    let name = self.name(instance);
                    if marked.contains(&instance) && self.answers.state(&name) == State::Healthy {
                        self.answers.push(&name, State::Unhealthy, within);
                    }
                    self.flags.push(&name, State::Gone, within);
                    self.removed_ms.insert(name, self.now_us / 1_000);
                }
                _ => {}
            }
        }
    }

    fn note_answer(&mut self, view: View, within: (i64, i64)) {
        for (name, &instance) in &self.names {
            let state = self.state(view, instance);
            if state != self.answers.state(name) {
                self.answers.push(name, state, within);
            }
        }
    }

    fn state(&self, view: View, instance: InstanceId) -> State {
        match self.views.presence(view, instance) {
            Presence::Absent => State::Gone,
            presence if presence.is_up() => State::Healthy,
            Presence::Present(_) => State::Unhealthy,
        }
    }

    fn name(&self, instance: InstanceId) -> String {
        let named = self.names.iter().find(|entry| *entry.1 == instance);
        named.expect("who is told of has called").0.clone()
    }

    fn now(&self) -> Now {
        let mono = SimTime::from_nanos(self.now_us as u64 * 1_000);
        Now { mono, wall: WallMs(self.recording.experiment.t0_epoch_ms + self.now_us / 1_000) }
    }

    fn differ(&mut self, name: &str, what: String) {
        let (at_ms, instance) = (self.now_us / 1_000, name.to_owned());
        self.played.differences.push(Difference { at_ms, instance, what });
    }
}

fn register(instance: InstanceId) -> Request {
    Request::Register(Record {
        app: APP,
        instance,
        status: Status::Up,
        overridden: Status::Unknown,
        last_dirty: WallMs(0),
        duration_s: 0,
        renewal_s: 0,
    })
}
