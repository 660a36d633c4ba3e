//! A script played with the real rules: `TwoStageServer` and `TwoStageClient`, and around them as little of a world as
//! it takes.
//!
//! Messages take no time. Events of one millisecond run in the order of section 0 of the specification, and inside a
//! class in the order in which they were scheduled. Where an operation has no client machine behind it, the loop is the
//! client. Rows come from facts and answers; what the facts say is held against what the registry itself says after
//! each of its steps (`ledger`).

mod agents;
mod host;
mod ledger;
mod lists;
mod prelude;
mod watchers;

use std::collections::BTreeMap;

use stillup::engine::{Seed, SimTime, Streams};
use stillup::model::effect::{Call, ClientTimer, ServiceTimer};
use stillup::model::message::{Record, Request};
use stillup::model::view::Views;

use super::row::{Row, What};
use super::vector::{Crowd, Op, Vector};
use agents::Agent;
use host::Host;
use lists::Names;
use watchers::{Subscriber, Watcher};

/// The script's time zero on the engine's clock, ms: what a disk holds at the start is written before.
const ORIGIN_MS: u64 = 1_000_000;

/// The wall clocks' reading at the engine's time zero.
const WALL_START_MS: i64 = 1_700_000_000_000;

/// More events than this are a loop in which time stands still.
const EVENTS_MAX: u64 = 3_000_000;

/// Classes of events at one moment, in their order.
mod class {
    pub(super) const FAULT: u8 = 1;
    pub(super) const CLIENT: u8 = 2;
    pub(super) const REQUEST: u8 = 3;
    pub(super) const SWEEP: u8 = 4;
    pub(super) const LATE: u8 = 5;
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    /// The script itself.
    Script,
    /// A client machine.
    Agent(usize, Call),
    /// A loop of long polls.
    Watcher(usize),
    /// A target of pushes.
    Subscriber(usize),
}

#[derive(Clone, Debug)]
enum Event {
    Down,
    Up,
    Pause { until: u64 },
    Resume,
    ClockStep { by: i64 },
    Starts { agent: usize },
    Killed { agent: usize },
    Stops { agent: usize },
    ClientTimer { agent: usize, timer: ClientTimer, generation: u16 },
    Limit { agent: usize, call: Call },
    WatchIssued { watcher: usize },
    Poll { subscriber: usize },
    Fetch,
    Arrives { caller: Caller, request: Request },
    ServerTimer { timer: ServiceTimer, number: u32, generation: u8 },
}

/// The loop.
pub(crate) struct Machine {
    vector: Vector,
    names: Names,
    views: Views,
    seed: Seed,
    streams: Streams,
    /// ms since the script's time zero.
    now: u64,
    queue: BTreeMap<(u64, u8, u64), Event>,
    scheduled: u64,
    host: Host,
    agents: Vec<Agent>,
    watchers: Vec<Watcher>,
    subscribers: Vec<Subscriber>,
    log: Vec<Row>,
}

/// Plays a vector's script; the log, every row of it.
///
/// # Panics
///
/// If what the registry says of itself is not what its facts say.
pub(crate) fn run(vector: &Vector) -> Result<Vec<Row>, String> {
    let loss = vector.knobs.server.push_loss;
    if loss != 0.0 && loss != 1.0 {
        return Err(format!("{}: a vector cannot say which datagrams are lost", vector.id));
    }
    let mut machine = Machine::new(vector.clone());
    machine.start_registry(None);
    for op in vector.script.clone() {
        machine.plan(&op)?;
    }
    for events in 0.. {
        if events > EVENTS_MAX {
            return Err(format!("{}: time stands still at {} ms", vector.id, machine.now));
        }
        match machine.queue.pop_first() {
            Some(((t, ..), event)) if t <= vector.horizon => {
                machine.now = t;
                machine.dispatch(event);
            }
            _ => break,
        }
    }
    machine.now = vector.horizon;
    machine.check_everything();
    Ok(machine.log)
}

impl Machine {
    fn new(vector: Vector) -> Self {
        let names = Names::new(vector.services(), &vector.script);
        Self {
            names,
            views: Views::default(),
            seed: Seed::new(1, 0),
            streams: Streams::of("server/1"),
            now: 0,
            queue: BTreeMap::new(),
            scheduled: 0,
            host: Host::default(),
            agents: Vec::new(),
            watchers: Vec::new(),
            subscribers: Vec::new(),
            log: Vec::new(),
            vector,
        }
    }

    fn at(&mut self, t: u64, class: u8, event: Event) {
        self.scheduled += 1;
        self.queue.insert((t.max(self.now), class, self.scheduled), event);
    }

    fn row(&mut self, kind: &'static str, of: &str, what: What) {
        self.log.push(Row::new(self.now, kind, of, what));
    }

    /// The engine's clock at `t` of the script.
    fn mono(t: u64) -> SimTime {
        SimTime::from_millis(ORIGIN_MS + t)
    }

    /// Schedules what an operation does.
    fn plan(&mut self, op: &Op) -> Result<(), String> {
        match op {
            Op::Register(who) => self.plan_requests(who, 0, u64::MAX, Request::Register),
            Op::Deregister(who) => {
                self.plan_requests(who, 0, u64::MAX, |record| Request::Cancel { instance: record.instance });
            }
            Op::Beats { who, every, until } => self.plan_requests(who, *every, *until, |record| {
                Request::Renew { instance: record.instance, last_dirty: record.last_dirty }
            }),
            Op::Fetch { t } => self.at(*t, class::REQUEST, Event::Fetch),
            Op::Provider { who, stop_beats_first } => {
                for (t, id) in who.moments().map(|(t, id)| (t, id.to_owned())).collect::<Vec<_>>() {
                    let agent = self.provider(&who.svc, &id, *stop_beats_first);
                    self.at(t, class::FAULT, Event::Starts { agent });
                }
            }
            Op::Shutdown { who, stop_beats_first } => {
                for (t, id) in who.moments().map(|(t, id)| (t, id.to_owned())).collect::<Vec<_>>() {
                    let agents = self.providers_of(&who.svc, &id, *stop_beats_first);
                    if agents.is_empty() {
                        return Err(format!("no provider {id} before its shutdown"));
                    }
                    agents.into_iter().for_each(|agent| self.at(t, class::FAULT, Event::Stops { agent }));
                }
            }
            Op::Consumer { name, t, disk } => {
                let agent = self.consumer(name, disk);
                self.at(*t, class::FAULT, Event::Starts { agent });
            }
            Op::ConsumerStop { name, t } => {
                let agent = self.consumer_named(name)?;
                self.at(*t, class::FAULT, Event::Killed { agent });
            }
            Op::ConsumerStart { name, t } => {
                let agent = self.consumer_named(name)?;
                self.at(*t, class::FAULT, Event::Starts { agent });
            }
            Op::RegistryDown { t } => self.at(*t, class::FAULT, Event::Down),
            Op::RegistryRestart { t } => self.at(*t, class::FAULT, Event::Up),
            Op::RegistryPause { t, until } => self.at(*t, class::FAULT, Event::Pause { until: *until }),
            Op::ClockStep { t, by } => self.at(*t, class::FAULT, Event::ClockStep { by: *by }),
            Op::Watch(watch) => {
                let watcher = self.watchers.len();
                self.watchers.push(Watcher::new(watch.clone()));
                self.at(watch.t, class::CLIENT, Event::WatchIssued { watcher });
            }
            Op::Subscribe { name, t, svc } => {
                let subscriber = self.subscribers.len();
                self.subscribers.push(Subscriber { name: name.clone(), svc: svc.clone() });
                self.at(*t, class::CLIENT, Event::Poll { subscriber });
            }
        }
        Ok(())
    }

    /// Requests of the script itself: one of each of `who`, and then others every `every` until `until`.
    fn plan_requests(&mut self, who: &Crowd, every: u64, until: u64, request: impl Fn(Record) -> Request) {
        for (first, id) in who.moments() {
            let request = request(self.names.record(&who.svc, id));
            let mut t = first;
            while t <= until.min(self.vector.horizon) {
                self.at(t, class::REQUEST, Event::Arrives { caller: Caller::Script, request });
                if every == 0 {
                    break;
                }
                t += every;
            }
        }
    }

    fn dispatch(&mut self, event: Event) {
        match event {
            Event::Down => self.registry_goes_down(),
            Event::Up => self.registry_comes_up(),
            Event::Pause { until } => self.pause(until),
            Event::Resume => self.resume(),
            Event::ClockStep { by } => self.host.skew_ms += by,
            Event::Starts { agent } => self.start_agent(agent),
            Event::Killed { agent } => self.kill_agent(agent),
            Event::Stops { agent } => self.stop_agent(agent),
            Event::ClientTimer { agent, timer, generation } => {
                self.step_agent(agent, |client, config, step| {
                    client.on_timer(config, timer, generation, step)
                });
            }
            Event::Limit { agent, call } => self.limit_reached(agent, call),
            Event::WatchIssued { watcher } => self.issue_watch(watcher),
            Event::Poll { subscriber } => self.poll(subscriber),
            Event::Fetch => self.log_fetch(),
            Event::Arrives { caller, request } => self.request_arrives(caller, request),
            Event::ServerTimer { timer, number, generation } => {
                self.server_timer_due(timer, number, generation);
            }
        }
    }
}
