//! The machine as a whole, on a bench that sends it requests and fires its timers.

mod freezes;
mod jams;
mod pushes;
mod serving;
mod settings;
mod vectors;
mod watches;
mod workers;

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::super::config::{GuardScope, Preset, ResumeOrder};
use super::*;
use crate::engine::{NANOS_PER_MS, Seed, Streams};
use crate::model::clock::{Now, WallMs};
use crate::model::fact::Sweep;
use crate::model::id::{AppId, ClientId, InstanceId};
use crate::model::message::{Record, Reply, Request, Status};
use crate::model::view::{Payload, Views};

/// The wall clock at the start.
const START: WallMs = WallMs(1_800_000_000_000);

/// The service of all tests that need but one.
const S: AppId = AppId(0);

/// A server with a world around it that sends it requests and fires its timers. Times are ms since the start.
struct Bench {
    server: TwoStageServer,
    generation: u8,
    views: Views,
    seed: Seed,
    streams: Streams,
    /// (when, order of setting, what): requests come before timers that are due at once.
    agenda: Vec<(u64, usize, Request)>,
    /// (due in ns, order of setting, kind, number, generation).
    timers: Vec<(u64, usize, ServiceTimer, u32, u8)>,
    settings: usize,
    now_ms: u64,
    /// The wall clock minus the monotonic one, from their common start.
    stepped_ms: i64,
    /// What happened, with the revision of the service after the step.
    facts: Vec<(u64, Fact, u32)>,
    /// (when, to which ticket, which).
    answers: Vec<(u64, u32, Reply)>,
    /// (when, to whom, which, number).
    pushes: Vec<(u64, u32, Payload, u32)>,
    tickets: u32,
    /// Whether subscribers acknowledge at once.
    acknowledges: bool,
}

fn two_stage() -> ServerConfig {
    ServerConfig::defaults(Preset::TwoStage)
}

fn nacos() -> ServerConfig {
    ServerConfig::defaults(Preset::Nacos1)
}

fn register(app: AppId, instance: u32) -> Request {
    Request::Register(Record {
        app,
        instance: InstanceId(instance),
        status: Status::Up,
        overridden: Status::Unknown,
        last_dirty: WallMs(100),
        duration_s: 0,
        renewal_s: 5,
    })
}

fn beat(instance: u32) -> Request {
    Request::Renew { instance: InstanceId(instance), last_dirty: WallMs(100) }
}

fn deregister(instance: u32) -> Request {
    Request::Cancel { instance: InstanceId(instance) }
}

impl Bench {
    fn new(config: ServerConfig) -> Self {
        let (seed, mut streams) = (Seed::new(7, 0), Streams::of("server/1"));
        let (mut views, mut out) = (Views::default(), Vec::new());
        let now = Now { mono: SimTime::ZERO, wall: START };
        let mut step = Step { now, rng: streams.with(&seed), views: &mut views, out: &mut out };
        let server = TwoStageServer::start(Arc::new(config), 0, None, &mut step);
        let mut bench = Self {
            server,
            generation: 0,
            views,
            seed,
            streams,
            agenda: Vec::new(),
            timers: Vec::new(),
            settings: 0,
            now_ms: 0,
            stepped_ms: 0,
            facts: Vec::new(),
            answers: Vec::new(),
            pushes: Vec::new(),
            tickets: 0,
            acknowledges: true,
        };
        bench.take(out);
        bench
    }

    /// Ends the life and begins the next, on the same clocks.
    fn restart(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        let (config, generation) = (Arc::clone(&self.server.config), self.generation);
        self.with(|server, step| {
            let fresh = TwoStageServer::start(Arc::clone(&config), generation, None, step);
            let saved = std::mem::replace(server, fresh).into_saved();
            if saved.is_some() {
                step.out.clear();
                *server = TwoStageServer::start(config, generation, saved, step);
            }
        });
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut TwoStageServer, &mut ServerStep<'_>) -> R) -> R {
        let mut out = Vec::new();
        let now = Now {
            mono: SimTime::from_millis(self.now_ms),
            wall: START.plus(self.now_ms as i64 + self.stepped_ms),
        };
        let mut step =
            Step { now, rng: self.streams.with(&self.seed), views: &mut self.views, out: &mut out };
        let result = act(&mut self.server, &mut step);
        self.take(out);
        result
    }

    fn take(&mut self, out: Vec<ServerEffect>) {
        let at = self.now_ms;
        for effect in out {
            match effect {
                ServerEffect::Fact(fact) => {
                    let app = if let Fact::SweepEnded(sweep) = fact { sweep.app } else { S };
                    self.facts.push((at, fact, self.server.revision(app).number));
                }
                ServerEffect::SetServiceTimer { timer, number, at, generation } => {
                    self.timers.push((at.as_nanos(), self.settings, timer, number, generation));
                    self.settings += 1;
                }
                ServerEffect::Answer { ticket, reply } => self.answers.push((at, ticket.place, reply)),
                ServerEffect::Push { to, payload, push, .. } => {
                    self.pushes.push((at, to.0, payload, push.0));
                    if self.acknowledges {
                        self.server.on_acknowledged(to, push);
                    }
                }
                effect => panic!("it does no such thing: {effect:?}"),
            }
        }
    }

    /// Puts a request on the agenda.
    fn at(&mut self, ms: u64, request: Request) {
        self.agenda.push((ms, self.settings, request));
        self.settings += 1;
    }

    /// Registrations of `instances`, `step` ms after each other.
    fn register_from(&mut self, from: u64, step: u64, instances: RangeInclusive<u32>) {
        for (nth, instance) in (0..).zip(instances) {
            self.at(from + nth * step, register(S, instance));
        }
    }

    /// Heartbeats of `instances` every 5 s: the first of each `step` ms after that of the one before.
    fn beats(&mut self, from: u64, step: u64, until: u64, instances: RangeInclusive<u32>) {
        for (nth, instance) in (0..).zip(instances) {
            for at in (from + nth * step..=until).step_by(5_000) {
                self.at(at, beat(instance));
            }
        }
    }

    /// Runs everything up to and including `ms`.
    fn run_to(&mut self, ms: u64) {
        loop {
            let timer = self.timers.iter().min().copied().filter(|timer| timer.0 <= ms * NANOS_PER_MS);
            let request = self.agenda.iter().min_by_key(|next| (next.0, next.1)).copied();
            let request = request.filter(|request| request.0 <= ms);
            match (request, timer) {
                (Some(request), timer) if timer.is_none_or(|timer| request.0 * NANOS_PER_MS <= timer.0) => {
                    self.agenda.retain(|other| other.1 != request.1);
                    self.now_ms = self.now_ms.max(request.0);
                    self.ask(request.2);
                }
                (_, Some(timer)) => {
                    self.timers.retain(|&other| other != timer);
                    self.now_ms = self.now_ms.max(timer.0.div_ceil(NANOS_PER_MS));
                    self.fire(timer.2, timer.3, timer.4);
                }
                _ => break,
            }
        }
        self.now_ms = ms;
    }

    /// Stands still until `ms`, as the world has it: sweeps first if they are to be, then requests, then timers.
    fn pause_to(&mut self, ms: u64) {
        let since = SimTime::from_millis(self.now_ms);
        self.now_ms = ms;
        self.with(|server, step| server.on_resume(since, step));
        if self.server.config.resume_order == ResumeOrder::SweepFirst {
            let due = |timer: &(u64, usize, ServiceTimer, u32, u8)| {
                timer.2 == ServiceTimer::Sweep && timer.0 <= ms * NANOS_PER_MS
            };
            for sweep in self.timers.extract_if(.., |timer| due(timer)).collect::<Vec<_>>() {
                self.fire(sweep.2, sweep.3, sweep.4);
            }
        }
        let mut waited: Vec<_> = self.agenda.extract_if(.., |request| request.0 <= ms).collect();
        waited.sort_by_key(|request| (request.0, request.1));
        for (_, _, request) in waited {
            self.ask(request);
        }
        self.run_to(ms);
    }

    fn fire(&mut self, timer: ServiceTimer, number: u32, generation: u8) {
        self.with(|server, step| server.on_timer(timer, number, generation, step));
    }

    /// Sends a request now. Its ticket is the next number.
    fn ask(&mut self, request: Request) -> Option<Reply> {
        let ticket = Ticket { place: self.tickets, generation: 0 };
        self.tickets += 1;
        self.with(|server, step| server.on_request(&request, Some(ticket), step))
    }

    /// Whom a fetch shows of the service.
    fn fetched(&mut self) -> Vec<u32> {
        let reply = self.with(|server, step| server.on_request(&Request::FetchFull, None, step));
        let payload = reply.and_then(|reply| reply.payload).expect("an operator waits for nobody");
        self.listed(payload)
    }

    fn listed(&self, payload: Payload) -> Vec<u32> {
        let shown = self.views.instances(payload.full_view()).into_iter();
        shown.filter(|entry| entry.1 == Status::Up).map(|entry| entry.0.0).collect()
    }

    /// What happened, as the specification's vectors have it: one row for neighbours of one kind and time.
    fn rows(&self) -> Vec<String> {
        let mut rows: Vec<(u64, &str, Vec<u32>, Vec<u32>)> = Vec::new();
        for &(at, fact, revision) in &self.facts {
            let (kind, instance) = match fact {
                Fact::LeaseRegistered { instance, new, .. } => {
                    (if new { "registered" } else { "reregistered" }, instance)
                }
                Fact::StatusChanged { instance, .. } => ("recovered", instance),
                Fact::LeaseCancelled { instance } => ("deregistered", instance),
                Fact::SoftEvicted { instance } => ("soft", instance),
                Fact::LeaseEvicted { instance } => ("removed", instance),
                _ => continue,
            };
            match rows.last_mut() {
                Some(row) if (row.0, row.1) == (at, kind) => {
                    row.2.push(instance.0);
                    row.3.push(revision);
                }
                _ => rows.push((at, kind, vec![instance.0], vec![revision])),
            }
        }
        let row = |(at, kind, instances, revisions): (u64, &str, Vec<u32>, Vec<u32>)| {
            format!("{at} {kind} {} @{}", range(&instances), range(&revisions))
        };
        rows.into_iter().map(row).collect()
    }

    /// The rows of what sweeps do.
    fn sweep_rows(&self) -> Vec<String> {
        let of_sweeps = |row: &String| !row.contains("register");
        self.rows().into_iter().filter(of_sweeps).collect()
    }

    fn sweeps(&self) -> impl Iterator<Item = (u64, Sweep)> {
        self.facts.iter().filter_map(|&(at, fact, _)| match fact {
            Fact::SweepEnded(sweep) => Some((at, sweep)),
            _ => None,
        })
    }

    /// When the guard's verdict turned, and what it saw.
    fn verdicts(&self) -> Vec<String> {
        let mut was_open = true;
        let mut verdicts = Vec::new();
        for (at, sweep) in self.sweeps() {
            if sweep.guard_open != was_open {
                was_open = sweep.guard_open;
                let verdict = if was_open { "open" } else { "closed" };
                verdicts.push(format!("{at} {verdict} {}/{}", sweep.healthy, sweep.entries));
            }
        }
        verdicts
    }
}

/// `3`, or `3-7`.
fn range(numbers: &[u32]) -> String {
    let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
    let is_range = numbers.iter().zip(first..).all(|(&number, expected)| number == expected);
    let is_constant = numbers.iter().all(|&number| number == first);
    assert!(is_range || is_constant, "{numbers:?}");
    if is_constant { format!("{first}") } else { format!("{first}-{last}") }
}
