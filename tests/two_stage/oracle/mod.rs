//! The rules once more, as plainly as can be: sections 1.1 to 1.5, 1.8, 1.9, 2.1 to 2.4, 2.7 and 4.2 of the
//! specification with maps and sets, every millisecond looked at, every long poll checked on its grid, no timers and
//! no queue. It shares nothing with the rules that it judges but the names of settings.

mod clients;
mod consumer;
mod registry;

use std::collections::{BTreeMap, VecDeque};

use super::knobs::Knobs;
use super::row::{Row, What};
use super::vector::{Op, Vector};
use clients::{Provider, Subscriber, Watcher};
use consumer::Consumer;
use registry::{Registry, State};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Script,
    /// Which one, and its how-many-th question: it may have given up by the time of the answer.
    Provider(usize, u32),
    Consumer(usize, u32),
    Watcher(usize),
    Subscriber(usize),
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
enum Ask {
    Register(String, String),
    Beat(String, String),
    Leave(String, String),
    FetchAll,
    /// The service, the life and the revision that the caller knows, and how long it waits.
    Watch(String, (u32, u32), u64),
    Subscribe(String),
}

/// Everything.
struct Oracle {
    knobs: Knobs,
    t: u64,
    log: Vec<Row>,
    registry: Registry,
    /// Requests that reach the registry in this millisecond.
    arriving: VecDeque<(Who, Ask)>,
    providers: Vec<Provider>,
    consumers: Vec<Consumer>,
    watchers: Vec<Watcher>,
    subscribers: Vec<Subscriber>,
}

/// Plays a vector's script; the log, every row of it.
pub(crate) fn run(vector: &Vector) -> Vec<Row> {
    let mut oracle = Oracle {
        registry: Registry::new(&vector.knobs.server),
        knobs: vector.knobs.clone(),
        t: 0,
        log: Vec::new(),
        arriving: VecDeque::new(),
        providers: Vec::new(),
        consumers: Vec::new(),
        watchers: Vec::new(),
        subscribers: Vec::new(),
    };
    let mut faults: BTreeMap<u64, Vec<Fault>> = BTreeMap::new();
    let mut requests: BTreeMap<u64, Vec<Option<Ask>>> = BTreeMap::new();
    for op in &vector.script {
        oracle.plan(op, vector.horizon, &mut faults, &mut requests);
    }
    for t in 0..=vector.horizon {
        oracle.t = t;
        for fault in faults.remove(&t).unwrap_or_default() {
            oracle.fault(fault);
        }
        oracle.resume_if_due();
        oracle.client_timers();
        let own = std::mem::take(&mut oracle.arriving);
        for request in requests.remove(&t).unwrap_or_default() {
            match request {
                Some(ask) => oracle.arrive(Who::Script, ask),
                None => oracle.log_fetch(),
            }
        }
        // What an answer lets a client ask comes after what was asked before.
        let mut waiting = own;
        while let Some((who, ask)) = waiting.pop_front() {
            oracle.arrive(who, ask);
            waiting.append(&mut oracle.arriving);
        }
        oracle.sweeps();
        oracle.long_polls_and_pushes();
        while let Some((who, ask)) = oracle.arriving.pop_front() {
            oracle.arrive(who, ask);
        }
    }
    oracle.log
}

/// What happens to a process.
enum Fault {
    Down,
    Up,
    Pause(u64),
    ClockStep(i64),
    Provider(usize),
    Shutdown(usize),
    Consumer(usize),
    Kill(usize),
}

impl Oracle {
    fn plan(
        &mut self,
        op: &Op,
        horizon: u64,
        faults: &mut BTreeMap<u64, Vec<Fault>>,
        requests: &mut BTreeMap<u64, Vec<Option<Ask>>>,
    ) {
        let mut fault = |t: u64, fault| faults.entry(t).or_default().push(fault);
        let mut ask = |t: u64, ask| requests.entry(t).or_default().push(ask);
        match op {
            Op::Register(who) => {
                who.moments().for_each(|(t, id)| ask(t, Some(Ask::Register(who.svc.clone(), id.to_owned()))));
            }
            Op::Deregister(who) => {
                who.moments().for_each(|(t, id)| ask(t, Some(Ask::Leave(who.svc.clone(), id.to_owned()))));
            }
            Op::Beats { who, every, until } => {
                for (first, id) in who.moments() {
                    for t in (first..=(*until).min(horizon)).step_by(*every as usize) {
                        ask(t, Some(Ask::Beat(who.svc.clone(), id.to_owned())));
                    }
                }
            }
            Op::Fetch { t } => ask(*t, None),
            Op::Provider { who, stop_beats_first } => {
                for (t, id) in who.moments() {
                    fault(t, Fault::Provider(self.providers.len()));
                    self.providers.push(Provider::new(&who.svc, id, *stop_beats_first, &self.knobs.client));
                }
            }
            Op::Shutdown { who, .. } => {
                for (t, id) in who.moments() {
                    let at = self.providers.iter().position(|it| it.id == id);
                    fault(t, Fault::Shutdown(at.expect("a provider")));
                }
            }
            Op::Consumer { name, t, disk } => {
                fault(*t, Fault::Consumer(self.consumers.len()));
                self.consumers.push(Consumer::new(name, disk));
            }
            Op::ConsumerStop { name, t } => fault(*t, Fault::Kill(self.consumer_named(name))),
            Op::ConsumerStart { name, t } => fault(*t, Fault::Consumer(self.consumer_named(name))),
            Op::RegistryDown { t } => fault(*t, Fault::Down),
            Op::RegistryRestart { t } => fault(*t, Fault::Up),
            Op::RegistryPause { t, until } => fault(*t, Fault::Pause(*until)),
            Op::ClockStep { t, by } => fault(*t, Fault::ClockStep(*by)),
            Op::Watch(watch) => self.watchers.push(Watcher::new(watch)),
            Op::Subscribe { name, t, svc } => {
                self.subscribers.push(Subscriber { name: name.clone(), svc: svc.clone(), next: *t });
            }
        }
    }

    fn consumer_named(&self, name: &str) -> usize {
        self.consumers.iter().position(|it| it.name == name).expect("a consumer")
    }

    fn fault(&mut self, fault: Fault) {
        match fault {
            Fault::Down => self.go_down(),
            Fault::Up => {
                self.go_down();
                let kind = self.registry.come_up(&self.knobs.server, self.t);
                self.row(kind, "", What::Nothing);
            }
            Fault::Pause(until) => {
                if self.registry.state != State::Down {
                    self.registry.state = State::Paused { until };
                }
            }
            Fault::ClockStep(by) => self.registry.offset += by,
            Fault::Provider(at) => self.start_provider(at),
            Fault::Shutdown(at) => self.stop_provider(at),
            Fault::Consumer(at) => self.start_consumer(at),
            Fault::Kill(at) => self.kill_consumer(at),
        }
    }

    fn row(&mut self, kind: &'static str, of: &str, what: What) {
        self.log.push(Row::new(self.t, kind, of, what));
    }

    fn id_row(&mut self, kind: &'static str, svc: &str, id: &str, revision: Option<u32>) {
        self.log.push(Row::ids(self.t, kind, svc, [id], revision));
    }

    /// A request reaches the registry's host.
    fn arrive(&mut self, who: Who, ask: Ask) {
        match self.registry.state {
            State::Down => self.refused(who),
            State::Paused { .. } => self.registry.held.push_back((who, ask)),
            State::Running if self.registry.is_busy() => self.registry.backlog.push_back((who, ask)),
            State::Running => self.serve(who, ask),
        }
    }

    /// Nobody listens, or the process has just gone.
    fn refused(&mut self, who: Who) {
        match who {
            Who::Script | Who::Subscriber(_) => {}
            Who::Provider(at, question) => self.provider_call_ends(at, question, None),
            Who::Consumer(at, question) => self.fetch_ends(at, question, None),
            Who::Watcher(at) => self.watch_fails(at),
        }
    }

    fn go_down(&mut self) {
        if self.registry.state == State::Down {
            return;
        }
        self.row("registry_down", "", What::Nothing);
        for who in self.registry.go_down() {
            self.refused(who);
        }
    }

    fn resume_if_due(&mut self) {
        if self.registry.state != (State::Paused { until: self.t }) {
            return;
        }
        self.registry.state = State::Running;
        let sweep_first =
            self.knobs.server.resume_order == stillup::model::two_stage::ResumeOrder::SweepFirst;
        if sweep_first {
            self.overdue_sweeps();
        }
        for (who, ask) in std::mem::take(&mut self.registry.held) {
            self.arrive(who, ask);
        }
        if !sweep_first {
            self.overdue_sweeps();
        }
        self.registry.wake_late(self.t);
    }
}
