//! The registry: entries, sweeps, long polls, pushes.

use std::collections::{BTreeMap, VecDeque};

use stillup::model::two_stage::{
    Guard, GuardScope, RegisterExisting, Schedule, ServerConfig, SweepPasses, SweepPhase, WatchTimeoutPayload,
};

use super::{Ask, Oracle, Who};
use crate::ids::Ids;
use crate::row::{Map, Row, What};

/// Whether the registry's process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Running,
    Paused { until: u64 },
    Down,
}

struct Entry {
    last: i64,
    healthy: bool,
}

#[derive(Default)]
struct Service {
    entries: BTreeMap<String, Entry>,
    revision: u32,
    shut: bool,
}

/// A long poll that is held.
struct Held {
    who: Who,
    svc: String,
    known: (u32, u32),
    since: u64,
    timeout: u64,
    /// When it looks next.
    looks: u64,
}

/// The registry.
pub(super) struct Registry {
    pub(super) state: State,
    /// Registry's clock less ours.
    pub(super) offset: i64,
    life: u32,
    services: BTreeMap<String, Service>,
    /// When each service is swept next; under the empty name, when all are.
    sweeps: BTreeMap<String, u64>,
    /// Requests that arrived while it stood still.
    pub(super) held: VecDeque<(Who, Ask)>,
    /// Requests that wait for a worker.
    pub(super) backlog: VecDeque<(Who, Ask)>,
    workers: Option<u32>,
    watches: Vec<Held>,
    /// When each service is pushed.
    pushes: BTreeMap<String, u64>,
    /// Each service's subscribers, and when they asked last.
    subscribers: BTreeMap<(String, usize), i64>,
    park: u64,
}

impl Registry {
    pub(super) fn new(config: &ServerConfig) -> Self {
        let mut registry = Self {
            state: State::Down,
            offset: 0,
            life: 0,
            services: BTreeMap::new(),
            sweeps: BTreeMap::new(),
            held: VecDeque::new(),
            backlog: VecDeque::new(),
            workers: config.worker_threads,
            watches: Vec::new(),
            pushes: BTreeMap::new(),
            subscribers: BTreeMap::new(),
            park: u64::from(config.watch_park_ms),
        };
        registry.come_up(config, 0);
        registry
    }

    /// The process ends; everybody who waited for an answer.
    pub(super) fn go_down(&mut self) -> Vec<Who> {
        self.state = State::Down;
        let watching = self.watches.drain(..).map(|watch| watch.who);
        watching
            .chain(self.backlog.drain(..).map(|it| it.0))
            .chain(self.held.drain(..).map(|it| it.0))
            .collect()
    }

    pub(super) fn come_up(&mut self, config: &ServerConfig, t: u64) -> &'static str {
        self.state = State::Running;
        self.life += 1;
        if !config.registry_persistent {
            self.services.clear();
        }
        self.pushes.clear();
        self.subscribers.clear();
        self.sweeps.clear();
        let first = t + u64::from(config.sweep_initial_delay_ms);
        match config.sweep_phase {
            SweepPhase::Global => drop(self.sweeps.insert(String::new(), first)),
            SweepPhase::ServiceCreation => {
                self.sweeps.extend(self.services.keys().map(|svc| (svc.clone(), first)));
            }
        }
        self.services.values_mut().for_each(|service| service.shut = false);
        if config.registry_persistent { "registry_up" } else { "registry_up_empty" }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.workers.is_some_and(|workers| self.watches.len() >= workers as usize)
    }

    /// Who should have looked, or been pushed, while the process stood still does so now.
    pub(super) fn wake_late(&mut self, t: u64) {
        self.watches.iter_mut().for_each(|watch| watch.looks = watch.looks.max(t));
        self.pushes.values_mut().for_each(|due| *due = (*due).max(t));
    }
}

impl Oracle {
    fn clock(&self) -> i64 {
        self.t as i64 + self.registry.offset
    }

    pub(super) fn revision(&self, svc: &str) -> (u32, u32) {
        let number = self.registry.services.get(svc).map_or(0, |service| service.revision);
        let epoch = if self.knobs.server.epoch && number > 0 { self.registry.life } else { 0 };
        (epoch, number)
    }

    /// What is handed out of a service.
    fn list(&self, svc: &str) -> Ids {
        let Some(service) = self.registry.services.get(svc) else { return Ids::default() };
        let healthy = service.entries.values().filter(|entry| entry.healthy).count();
        let all = self
            .knobs
            .server
            .read_protect_threshold
            .is_some_and(|threshold| healthy as f64 / service.entries.len().max(1) as f64 <= threshold);
        service.entries.iter().filter(|it| all || it.1.healthy).map(|it| it.0.as_str()).collect()
    }

    fn everything(&self) -> Map {
        self.registry.services.keys().map(|svc| (svc.clone(), self.list(svc))).collect()
    }

    pub(super) fn log_fetch(&mut self) {
        if self.registry.state != State::Down {
            let map = self.everything();
            self.row("fetch", "", What::Map(map));
        }
    }

    /// The revision moves, and subscribers are to be told.
    fn changed(&mut self, svc: &str) -> u32 {
        let due = self.t + u64::from(self.knobs.server.push_delay_ms);
        self.registry.pushes.entry(svc.to_owned()).or_insert(due);
        let service = self.registry.services.get_mut(svc).expect("a service");
        service.revision += 1;
        service.revision
    }

    pub(super) fn serve(&mut self, who: Who, ask: Ask) {
        match ask {
            Ask::Register(svc, id) => {
                self.register(&svc, &id);
                self.answer(who, true);
            }
            Ask::Beat(svc, id) => {
                let known = self.beat(&svc, &id);
                self.answer(who, known);
            }
            Ask::Leave(svc, id) => {
                let entries = self.registry.services.get_mut(&svc).map(|service| &mut service.entries);
                if entries.is_some_and(|entries| entries.remove(&id).is_some()) {
                    let revision = self.changed(&svc);
                    self.id_row("deregistered", &svc, &id, Some(revision));
                }
                self.answer(who, true);
            }
            Ask::FetchAll => {
                let Who::Consumer(at, question) = who else { unreachable!("only consumers fetch") };
                let map = self.everything();
                self.fetch_ends(at, question, Some(map));
            }
            Ask::Subscribe(svc) => {
                let Who::Subscriber(at) = who else { unreachable!("only subscribers subscribe") };
                self.registry.subscribers.insert((svc, at), self.clock());
            }
            Ask::Watch(svc, known, timeout) => {
                if self.revision(&svc) != known {
                    return self.answer_watch(who, &svc, false);
                }
                let (since, looks) = (self.t, self.t + self.registry.park);
                self.registry.watches.push(Held { who, svc, known, since, timeout, looks });
            }
        }
    }

    fn answer(&mut self, who: Who, outcome: bool) {
        if let Who::Provider(at, question) = who {
            self.provider_call_ends(at, question, Some(outcome));
        }
    }

    fn register(&mut self, svc: &str, id: &str) {
        let config = self.knobs.server.clone();
        let now = self.clock();
        if !self.registry.services.contains_key(svc) && config.sweep_phase == SweepPhase::ServiceCreation {
            let first = self.t + u64::from(config.sweep_initial_delay_ms);
            self.registry.sweeps.insert(svc.to_owned(), first);
        }
        let service = self.registry.services.entry(svc.to_owned()).or_default();
        let Some(entry) = service.entries.get_mut(id) else {
            let last = if config.register_stamps_heartbeat { now } else { i64::MIN / 4 };
            service.entries.insert(id.to_owned(), Entry { last, healthy: true });
            let revision = self.changed(svc);
            return self.id_row("registered", svc, id, Some(revision));
        };
        entry.last = now;
        if !entry.healthy && config.register_existing == RegisterExisting::Heal {
            entry.healthy = true;
            let revision = self.changed(svc);
            return self.id_row("recovered", svc, id, Some(revision));
        }
        let state = Some(if entry.healthy { "healthy" } else { "unhealthy" }.to_owned());
        let revision = if config.notify_on_reregister { self.changed(svc) } else { self.revision(svc).1 };
        let what = What::Ids { ids: Ids::from_iter([id]), revision: Some((revision, revision)), state };
        self.row("reregistered", svc, what);
    }

    fn beat(&mut self, svc: &str, id: &str) -> bool {
        let now = self.clock();
        let entry = self.registry.services.get_mut(svc).and_then(|service| service.entries.get_mut(id));
        let Some(entry) = entry else {
            self.id_row("hb_false", svc, id, None);
            return false;
        };
        entry.last = now;
        if !std::mem::replace(&mut entry.healthy, true) {
            let revision = self.changed(svc);
            self.id_row("recovered", svc, id, Some(revision));
        }
        true
    }

    /// Sweeps whose millisecond it is.
    pub(super) fn sweeps(&mut self) {
        if self.registry.state == State::Running {
            self.sweep_those(|due, t| due == t);
        }
    }

    /// Sweeps that were missed while the process stood still.
    pub(super) fn overdue_sweeps(&mut self) {
        self.sweep_those(|due, t| due < t);
    }

    fn sweep_those(&mut self, is_due: impl Fn(u64, u64) -> bool) {
        let interval = u64::from(self.knobs.server.sweep_interval_ms);
        let timers: Vec<String> = self.registry.sweeps.keys().cloned().collect();
        for timer in timers {
            let mut due = self.registry.sweeps[&timer];
            if !is_due(due, self.t) {
                continue;
            }
            if self.knobs.server.sweep_mode == Schedule::FixedRate {
                // One that falls into this very millisecond is among them.
                while due <= self.t {
                    self.sweep(&timer);
                    due += interval;
                }
            } else {
                self.sweep(&timer);
                due = self.t + interval;
            }
            self.registry.sweeps.insert(timer, due);
        }
    }

    fn sweep(&mut self, timer: &str) {
        let all: Vec<String> = self.registry.services.keys().cloned().collect();
        for svc in all.iter().filter(|svc| timer.is_empty() || *svc == timer) {
            self.sweep_service(svc);
        }
    }

    fn sweep_service(&mut self, svc: &str) {
        let config = self.knobs.server.clone();
        let now = self.clock();
        let service = self.registry.services.get_mut(svc).expect("a service");
        let size = service.entries.len();
        let healthy = service.entries.values().filter(|entry| entry.healthy).count();
        let guarded = config.guard == Guard::Ratio && size >= config.guard_min_instances as usize;
        let ratio_holds =
            |healthy: usize, size: usize| healthy * 100 / size >= config.guard_min_healthy_pct as usize;
        let passes = !guarded || ratio_holds(healthy, size);
        if std::mem::replace(&mut service.shut, !passes) == passes {
            let kind = if passes { "guard_open" } else { "guard_closed" };
            let what = What::Guard(healthy as u64, size as u64, service.revision);
            self.log.push(Row::new(self.t, kind, svc, what));
        }
        let silent = |entry: &Entry, limit: u32| now - entry.last > i64::from(limit);
        let may_remove = passes || config.guard_scope == GuardScope::SoftOnly;
        let either_or = config.sweep_passes == SweepPasses::ElseIf;
        let mut removed = Vec::new();
        if may_remove && either_or {
            service.entries.retain(|id, entry| {
                let goes = !entry.healthy && silent(entry, config.hard_timeout_ms);
                removed.extend(goes.then(|| id.clone()));
                !goes
            });
        }
        let mut by_silence: Vec<(i64, String)> =
            service.entries.iter().map(|(id, entry)| (entry.last, id.clone())).collect();
        by_silence.sort();
        let (mut marked, mut left, size) = (Vec::new(), healthy, service.entries.len());
        for (_, id) in by_silence {
            let entry = service.entries.get_mut(&id).expect("an entry");
            let breaks = config.guard_cap && guarded && !ratio_holds(left.saturating_sub(1), size);
            if passes && entry.healthy && silent(entry, config.soft_timeout_ms) && !breaks {
                entry.healthy = false;
                left -= 1;
                marked.push(id);
            }
        }
        if may_remove && !either_or {
            service.entries.retain(|id, entry| {
                let goes = silent(entry, config.hard_timeout_ms);
                removed.extend(goes.then(|| id.clone()));
                !goes
            });
        }
        if marked.is_empty() && removed.is_empty() {
            return;
        }
        let revision = self.changed(svc);
        for (kind, ids) in [("soft", marked), ("removed", removed)] {
            if !ids.is_empty() {
                self.log.push(Row::ids(self.t, kind, svc, ids, Some(revision)));
            }
        }
    }

    /// Every held long poll whose grid has a point here, and every push that is due.
    pub(super) fn long_polls_and_pushes(&mut self) {
        if self.registry.state != State::Running {
            return;
        }
        let t = self.t;
        loop {
            let ends = |it: &Held| {
                it.looks == t && (t - it.since >= it.timeout || self.revision(&it.svc) != it.known)
            };
            let Some(at) = self.registry.watches.iter().position(ends) else { break };
            let Held { who, svc, since, timeout, .. } = self.registry.watches.remove(at);
            self.answer_watch(who, &svc, t - since >= timeout);
            while !self.registry.is_busy()
                && let Some((who, ask)) = self.registry.backlog.pop_front()
            {
                self.serve(who, ask);
            }
        }
        let park = self.registry.park;
        self.registry.watches.iter_mut().filter(|it| it.looks == t).for_each(|it| it.looks = t + park);
        let due: Vec<String> =
            self.registry.pushes.iter().filter(|it| *it.1 == t).map(|it| it.0.clone()).collect();
        for svc in due {
            self.registry.pushes.remove(&svc);
            self.push(&svc);
        }
    }

    fn push(&mut self, svc: &str) {
        let (now, ttl) = (self.clock(), i64::from(self.knobs.server.subscriber_ttl_ms));
        self.registry.subscribers.retain(|it, &mut asked| it.0 != svc || now - asked <= ttl);
        let list = self.list(svc);
        let to: Vec<usize> =
            self.registry.subscribers.keys().filter(|it| it.0 == svc).map(|it| it.1).collect();
        for at in to {
            let name = self.subscribers[at].name.clone();
            self.row("push", &name, What::Pushed(svc.to_owned(), list.clone()));
        }
    }

    fn answer_watch(&mut self, who: Who, svc: &str, time_is_up: bool) {
        let full = !time_is_up || self.knobs.server.watch_timeout_payload == WatchTimeoutPayload::Full;
        let length = if full { self.list(svc).len() as u64 } else { 0 };
        let revision = self.revision(svc);
        let Who::Watcher(at) = who else { unreachable!("only watchers watch") };
        self.watch_ends(at, revision, length, time_is_up);
    }
}
