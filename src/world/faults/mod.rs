//! Faults: when they come, whom they hit, and what they do.
//!
//! A fault *begins* at a moment that was drawn before the run, and then hits whom it finds. What lasts also *ends*:
//! whatever the fault began it takes back, from whoever it hit. And what takes several *steps* (a roll-out's batches,
//! the crashes of a loop, the pauses of a garbage collector) counts them; what a step's number means is the verb's own,
//! and stands beside it. All three are [`FaultContext`]s for the verb to act.
//!
//! A process, its host and its identity are three things. With the process ends what is wrong with it: health, grey
//! failure, slow heartbeats. Links and clocks belong to the host and stay as they are. What an operator does belongs
//! to the identity, and its server keeps it.
//!
//! Chance: each fault has its dice, for its moment and its targets. A process that goes on at random, such as pauses,
//! has dice for each of its targets, by name, so that one target more changes nothing for the others.

mod clocks;
mod fleet;
mod health;
mod links;
mod operator;
mod pauses;
mod processes;
mod targets;

use std::collections::BTreeMap;

use super::World;
use super::event::Event;
use crate::engine::{Distribution, Purpose, Schedule, Seed, SimDuration, SimTime, Streams};
use crate::model::id::{ClientId, InstanceId, ServerId};
use crate::observe::Injected;
use crate::scenario::{Clock, FaultKind, Scenario};

/// A fault's draw of its moment.
const MOMENT: Purpose = Purpose(0);

/// A target's draws of when something happens to it, or for how long it is left alone.
const WHEN: Purpose = Purpose(0);
/// A target's draws of how long something lasts.
const HOW_LONG: Purpose = Purpose(1);

/// The shortest step of anything that goes on at random: a run stays finite whatever is drawn.
const STEP_MIN: SimDuration = SimDuration::from_millis(1);

/// A step with this bit is the end of a linger: the rest of the number is the client's.
const LINGER_ENDS: u32 = 1 << 31;

/// A step of a verb whose targets, or batches, take two kinds of step in turn: step `2 n` is the first kind of target
/// `n`, step `2 n + 1` the second.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PairedStep {
    target: u32,
    is_first: bool,
}

impl PairedStep {
    const fn first(target: u32) -> Self {
        Self { target, is_first: true }
    }

    const fn of_step(step: u32) -> Self {
        Self { target: step >> 1, is_first: step & 1 == 0 }
    }

    const fn step(self) -> u32 {
        self.target << 1 | !self.is_first as u32
    }

    /// The same target's other kind.
    const fn other(self) -> Self {
        Self { target: self.target, is_first: !self.is_first }
    }
}

/// A fault's turn to act.
pub(super) struct FaultContext<'s> {
    /// Its place in the scenario.
    fault: u32,
    schedule: &'s mut Schedule<Event>,
}

impl FaultContext<'_> {
    fn now(&self) -> SimTime {
        self.schedule.now()
    }
}

/// One that a fault hits.
#[derive(Clone, Copy)]
enum Target {
    Server(ServerId),
    Instance(ClientId),
}

/// What a fault that began has done so far.
#[derive(Clone, Default)]
struct ActiveFault {
    /// Whom it hit. Steps count in this order.
    hit: Vec<ClientId>,
    /// Which servers it hit, if it hits servers. Steps count in this order.
    servers: Vec<ServerId>,
    /// The links of each target, for faults of links.
    links: Vec<Vec<links::LinkEnd>>,
    /// The identities of those, where it is them that were hit.
    instances: Vec<InstanceId>,
    /// The dice of each target.
    streams: Vec<Streams>,
    /// When it ends, or its last step comes; `None`: never, or at once.
    until: Option<SimTime>,
    /// How many it hits, for the record.
    targets: u32,
    /// Of each target, whether its link is down.
    is_down: Vec<bool>,
    /// How many instances a batch has.
    batch: usize,
}

/// The faults of one replicate.
#[derive(Clone)]
pub(super) struct FaultPlan {
    /// Each fault's own dice.
    fault_streams: Vec<Streams>,
    active: Vec<ActiveFault>,
    /// Begins, ends and steps that are still to come.
    pending: u32,
    /// Processes that are to answer calls for a while after they have stopped: the fault, for how long, and until
    /// when once they have stopped.
    lingering: BTreeMap<ClientId, Linger>,
}

#[derive(Clone)]
struct Linger {
    fault: u32,
    length: SimDuration,
    until: Option<SimTime>,
}

impl FaultPlan {
    /// Draws every fault's moment and schedules it.
    pub(super) fn new(scenario: &Scenario, seed: &Seed, schedule: &mut Schedule<Event>) -> Self {
        let base = SimTime::ZERO + scenario.all_serve_after() + scenario.start_window + scenario.warm_up;
        let mut fault_streams = Vec::new();
        for (number, fault) in scenario.faults.iter().enumerate() {
            let mut streams = Streams::of(&format!("fault/{}", number + 1));
            let offset = fault.at + streams.with(seed).duration_below(MOMENT, fault.within);
            schedule.at(base + offset, Event::FaultBegins { fault: number as u32 });
            fault_streams.push(streams);
        }
        let pending = scenario.faults.len() as u32;
        let active = fault_streams.iter().map(|_| ActiveFault::default()).collect();
        Self { fault_streams, active, pending, lingering: BTreeMap::new() }
    }

    /// Whether everything that was planned has begun and ended.
    pub(super) fn is_over(&self) -> bool {
        self.pending == 0
    }

    /// How long a client that has just stopped goes on to answer calls, and by which fault.
    pub(super) fn linger_of(&self, client: ClientId) -> Option<(u32, SimDuration)> {
        self.lingering.get(&client).map(|linger| (linger.fault, linger.length))
    }

    /// It does so until then.
    pub(super) fn linger_until(
        &mut self,
        client: ClientId,
        fault: u32,
        until: SimTime,
        schedule: &mut Schedule<Event>,
    ) {
        if let Some(linger) = self.lingering.get_mut(&client) {
            linger.until = Some(until);
        }
        let context = &mut FaultContext { fault, schedule };
        self.step_at(LINGER_ENDS | client.0, until, context);
    }

    /// The process is gone.
    pub(super) fn lingers_no_more(&mut self, client: ClientId) {
        self.lingering.remove(&client);
    }

    /// The fault ends at `at`.
    fn end_at(&mut self, at: SimTime, context: &mut FaultContext<'_>) {
        self.pending += 1;
        context.schedule.at(at, Event::FaultEnds { fault: context.fault });
    }

    /// The fault takes its step `step` at `at`.
    fn step_at(&mut self, step: u32, at: SimTime, context: &mut FaultContext<'_>) {
        let fault = u16::try_from(context.fault).expect("a scenario has at most 65,536 faults");
        self.pending += 1;
        context.schedule.at(at, Event::FaultStep { fault, step });
    }
}

impl ActiveFault {
    /// The target of a step.
    fn target(&self, number: u32) -> Target {
        match self.servers.get(number as usize) {
            Some(&server) => Target::Server(server),
            None => Target::Instance(self.hit[number as usize]),
        }
    }

    /// It hits these, and has no end.
    fn hits(hit: Vec<ClientId>) -> Self {
        Self { targets: hit.len() as u32, hit, ..Self::default() }
    }

    /// It hits these servers, and has no end.
    fn hits_servers(servers: Vec<ServerId>) -> Self {
        Self { targets: servers.len() as u32, servers, ..Self::default() }
    }

    /// It ends at `until`, if that is given.
    fn until(self, until: Option<SimTime>) -> Self {
        Self { until, ..self }
    }

    /// A length drawn from a target's own dice, at least [`STEP_MIN`].
    fn draw(
        &mut self,
        target: u32,
        distribution: Distribution,
        purpose: Purpose,
        seed: &Seed,
    ) -> SimDuration {
        let mut rng = self.streams[target as usize].with(seed);
        distribution.sample(&mut rng, purpose).max(STEP_MIN)
    }

    /// Whether it goes on beyond `at`.
    fn goes_on(&self, at: SimTime) -> bool {
        self.until.is_none_or(|until| at < until)
    }
}

impl World<'_> {
    /// A fault begins.
    pub(super) fn begin_fault(&mut self, fault: u32, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        self.plan.pending -= 1;
        let verb = &self.scenario.faults[fault as usize].verb;
        let active = self.begin(verb, &mut FaultContext { fault, schedule });
        let (until, targets) = (active.until, active.targets);
        self.recorder.injected(Injected { at: now, until, verb: verb.name(), targets });
        self.plan.active[fault as usize] = active;
    }

    /// Finds the targets, does what happens at once, and schedules what follows.
    fn begin(&mut self, verb: &FaultKind, context: &mut FaultContext<'_>) -> ActiveFault {
        match verb {
            FaultKind::Crash(targets) => self.begin_crash(targets, context),
            FaultKind::Stop { targets, linger, over } => self.begin_stop(targets, *linger, *over, context),
            FaultKind::Restart { targets, down_for, graceful, one_by_one, .. } => {
                self.begin_restart(targets, *down_for, *graceful, *one_by_one, context)
            }
            FaultKind::CrashLoop { targets, length, .. } => {
                self.begin_crash_loop(verb, targets, *length, context)
            }
            FaultKind::Pause { targets, length } => self.begin_pause(targets, *length, context),
            FaultKind::Pauses { targets, every, length, .. } => {
                self.begin_pauses(targets, *every, *length, context)
            }
            FaultKind::Partition { targets, peer, length, lost } => {
                self.begin_partition(targets, peer, *length, *lost, context)
            }
            FaultKind::Flap { targets, length, .. } => self.begin_flap(verb, targets, *length, context),
            FaultKind::Degrade { targets, length, .. } => self.begin_degrade(verb, targets, *length, context),
            FaultKind::SlowHeartbeats { targets, delay, length } => {
                self.begin_slow(targets, *delay, *length, context)
            }
            FaultKind::Clock { targets, step_ms, drift_ppm, length } => {
                let clock = Clock { offset_ms: *step_ms, drift_ppm: *drift_ppm };
                self.begin_clock(targets, clock, *length, context)
            }
            FaultKind::Unhealthy { targets, via, length, calls_fail } => {
                self.begin_unhealthy(targets, *via, *calls_fail, *length, context)
            }
            FaultKind::FullDisk { targets, length } => self.begin_full_disk(targets, *length, context),
            FaultKind::Grey { targets, calls_fail, length } => {
                self.begin_grey(targets, *calls_fail, *length, context)
            }
            FaultKind::Change(changes) => self.change(changes),
            FaultKind::Override { targets, at, status, length } => {
                self.begin_override(targets, *at, *status, *length, context)
            }
            FaultKind::Delete { targets, at, dead } => self.delete(targets, *at, *dead, context),
            FaultKind::Start { application, count, over } => {
                self.begin_start(*application, *count, *over, context)
            }
            FaultKind::RollOut { .. } => self.begin_roll_out(verb, context),
            FaultKind::BlueGreen { from, to, wait, .. } => self.begin_blue_green(*from, *to, *wait, context),
            FaultKind::Reclaim { targets, notice, heeded } => {
                self.begin_reclaim(targets, *notice, *heeded, context)
            }
        }
    }

    /// A fault ends: what it began is undone.
    pub(super) fn end_fault(&mut self, fault: u32, schedule: &mut Schedule<Event>) {
        self.plan.pending -= 1;
        let active = std::mem::take(&mut self.plan.active[fault as usize]);
        let context = &mut FaultContext { fault, schedule };
        match &self.scenario.faults[fault as usize].verb {
            FaultKind::Restart { new_id, .. } => self.end_restart(&active, *new_id, context),
            FaultKind::CrashLoop { new_id, .. } => self.end_crash_loop(&active, *new_id, context),
            FaultKind::Pause { .. } => self.end_pause(&active, context),
            FaultKind::Partition { lost, .. } => self.end_partition(&active, *lost, context),
            FaultKind::Flap { lost, .. } => self.end_flap(&active, *lost, context),
            FaultKind::Degrade { .. } => self.end_degrade(&active, context),
            FaultKind::SlowHeartbeats { .. } => self.end_slow(&active, context),
            FaultKind::Clock { .. } => self.end_clock(&active, context),
            FaultKind::Unhealthy { via, .. } => self.end_unhealthy(&active, *via, context),
            FaultKind::FullDisk { .. } => self.end_full_disk(&active),
            FaultKind::Grey { .. } => self.end_grey(&active, context),
            FaultKind::Override { at, .. } => self.end_override(&active, *at, context),
            FaultKind::Reclaim { .. } => self.end_reclaim(&active, context),
            FaultKind::Crash(_)
            | FaultKind::Stop { .. }
            | FaultKind::Pauses { .. }
            | FaultKind::Change(_)
            | FaultKind::Delete { .. }
            | FaultKind::Start { .. }
            | FaultKind::RollOut { .. }
            | FaultKind::BlueGreen { .. } => unreachable!("nobody schedules its end"),
        }
    }

    /// A fault takes its next step.
    pub(super) fn fault_step(&mut self, fault: u16, step: u32, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        self.plan.pending -= 1;
        if step & LINGER_ENDS != 0 {
            self.linger_ends(ClientId(step & !LINGER_ENDS), now);
            return;
        }
        let context = &mut FaultContext { fault: u32::from(fault), schedule };
        let verb = &self.scenario.faults[usize::from(fault)].verb;
        match verb {
            FaultKind::Stop { linger, .. } => self.step_of_stop(step, *linger, context),
            FaultKind::Restart { .. } => self.step_of_restart(verb, step, context),
            FaultKind::CrashLoop { .. } => self.step_of_crash_loop(verb, step, context),
            FaultKind::Pause { .. } => self.step_of_pause(step, context),
            FaultKind::Pauses { .. } => self.step_of_pauses(verb, step, context),
            FaultKind::Flap { .. } => self.step_of_flap(verb, step, context),
            FaultKind::Start { .. } => self.step_of_start(step, context),
            FaultKind::RollOut { .. } => self.step_of_roll_out(verb, step, context),
            FaultKind::BlueGreen { .. } => self.step_of_blue_green(verb, context),
            FaultKind::Crash(_)
            | FaultKind::Partition { .. }
            | FaultKind::Degrade { .. }
            | FaultKind::SlowHeartbeats { .. }
            | FaultKind::Clock { .. }
            | FaultKind::Unhealthy { .. }
            | FaultKind::Grey { .. }
            | FaultKind::FullDisk { .. }
            | FaultKind::Change(_)
            | FaultKind::Override { .. }
            | FaultKind::Delete { .. }
            | FaultKind::Reclaim { .. } => unreachable!("it takes no steps"),
        }
    }

    fn active(&mut self, context: &FaultContext<'_>) -> &mut ActiveFault {
        &mut self.plan.active[context.fault as usize]
    }
}
