//! Faults: when they come, whom they hit, and what they do.
//!
//! A fault *begins* at a moment that was drawn before the run, and then hits whom it finds. What lasts also *ends*:
//! whatever the fault began it takes back, from whoever it hit. And what takes several *steps* (a roll-out's batches,
//! the crashes of a loop, the pauses of a garbage collector) counts them; what a step's number means is the verb's own,
//! and stands beside it. All three are [`Cue`]s for the verb to act.
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
use crate::engine::{Chance, Distribution, Purpose, Schedule, Seed, SimDuration, SimTime};
use crate::model::id::{ClientId, InstanceId, ServerId};
use crate::observe::Injected;
use crate::scenario::{Clock, Scenario, Verb};

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
struct Turn {
    target: u32,
    is_first: bool,
}

impl Turn {
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
pub(super) struct Cue<'s> {
    /// Its place in the scenario.
    fault: u32,
    schedule: &'s mut Schedule<Event>,
}

impl Cue<'_> {
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
struct Begun {
    /// Whom it hit. Steps count in this order.
    hit: Vec<ClientId>,
    /// Which servers it hit, if it hits servers. Steps count in this order.
    servers: Vec<ServerId>,
    /// The links of each target, for faults of links.
    links: Vec<Vec<links::LinkEnd>>,
    /// The identities of those, where it is them that were hit.
    instances: Vec<InstanceId>,
    /// The dice of each target.
    dice: Vec<Chance>,
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
    chances: Vec<Chance>,
    begun: Vec<Begun>,
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
        let mut chances = Vec::new();
        for (number, fault) in scenario.faults.iter().enumerate() {
            let mut chance = Chance::of(&format!("fault/{}", number + 1));
            let offset = fault.at + chance.with(seed).duration_below(MOMENT, fault.within);
            schedule.at(base + offset, Event::FaultBegins { fault: number as u32 });
            chances.push(chance);
        }
        let pending = scenario.faults.len() as u32;
        let begun = chances.iter().map(|_| Begun::default()).collect();
        Self { chances, begun, pending, lingering: BTreeMap::new() }
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
        let cue = &mut Cue { fault, schedule };
        self.step_at(LINGER_ENDS | client.0, until, cue);
    }

    /// The process is gone.
    pub(super) fn lingers_no_more(&mut self, client: ClientId) {
        self.lingering.remove(&client);
    }

    /// The fault ends at `at`.
    fn end_at(&mut self, at: SimTime, cue: &mut Cue<'_>) {
        self.pending += 1;
        cue.schedule.at(at, Event::FaultEnds { fault: cue.fault });
    }

    /// The fault takes its step `step` at `at`.
    fn step_at(&mut self, step: u32, at: SimTime, cue: &mut Cue<'_>) {
        let fault = u16::try_from(cue.fault).expect("a scenario has at most 65,536 faults");
        self.pending += 1;
        cue.schedule.at(at, Event::FaultStep { fault, step });
    }
}

impl Begun {
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
        let mut dice = self.dice[target as usize].with(seed);
        distribution.sample(&mut dice, purpose).max(STEP_MIN)
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
        let begun = self.begin(verb, &mut Cue { fault, schedule });
        let (until, targets) = (begun.until, begun.targets);
        self.recorder.injected(Injected { at: now, until, verb: verb.name(), targets });
        self.plan.begun[fault as usize] = begun;
    }

    /// Finds the targets, does what happens at once, and schedules what follows.
    fn begin(&mut self, verb: &Verb, cue: &mut Cue<'_>) -> Begun {
        match verb {
            Verb::Crash(targets) => self.begin_crash(targets, cue),
            Verb::Stop { targets, linger, over } => self.begin_stop(targets, *linger, *over, cue),
            Verb::Restart { targets, down_for, graceful, one_by_one, .. } => {
                self.begin_restart(targets, *down_for, *graceful, *one_by_one, cue)
            }
            Verb::CrashLoop { targets, length, .. } => self.begin_crash_loop(verb, targets, *length, cue),
            Verb::Pause { targets, length } => self.begin_pause(targets, *length, cue),
            Verb::Pauses { targets, every, length, .. } => self.begin_pauses(targets, *every, *length, cue),
            Verb::Partition { targets, peer, length, lost } => {
                self.begin_partition(targets, peer, *length, *lost, cue)
            }
            Verb::Flap { targets, length, .. } => self.begin_flap(verb, targets, *length, cue),
            Verb::Degrade { targets, length, .. } => self.begin_degrade(verb, targets, *length, cue),
            Verb::SlowHeartbeats { targets, delay, length } => self.begin_slow(targets, *delay, *length, cue),
            Verb::Clock { targets, step_ms, drift_ppm, length } => {
                let clock = Clock { offset_ms: *step_ms, drift_ppm: *drift_ppm };
                self.begin_clock(targets, clock, *length, cue)
            }
            Verb::Unhealthy { targets, via, length, calls_fail } => {
                self.begin_unhealthy(targets, *via, *calls_fail, *length, cue)
            }
            Verb::FullDisk { targets, length } => self.begin_full_disk(targets, *length, cue),
            Verb::Grey { targets, calls_fail, length } => self.begin_grey(targets, *calls_fail, *length, cue),
            Verb::Change(changes) => self.change(changes),
            Verb::Override { targets, at, status, length } => {
                self.begin_override(targets, *at, *status, *length, cue)
            }
            Verb::Delete { targets, at, dead } => self.delete(targets, *at, *dead, cue),
            Verb::Start { application, count, over } => self.begin_start(*application, *count, *over, cue),
            Verb::RollOut { .. } => self.begin_roll_out(verb, cue),
            Verb::BlueGreen { from, to, wait, .. } => self.begin_blue_green(*from, *to, *wait, cue),
            Verb::Reclaim { targets, notice, heeded } => self.begin_reclaim(targets, *notice, *heeded, cue),
        }
    }

    /// A fault ends: what it began is undone.
    pub(super) fn end_fault(&mut self, fault: u32, schedule: &mut Schedule<Event>) {
        self.plan.pending -= 1;
        let begun = std::mem::take(&mut self.plan.begun[fault as usize]);
        let cue = &mut Cue { fault, schedule };
        match &self.scenario.faults[fault as usize].verb {
            Verb::Restart { new_id, .. } => self.end_restart(&begun, *new_id, cue),
            Verb::CrashLoop { new_id, .. } => self.end_crash_loop(&begun, *new_id, cue),
            Verb::Pause { .. } => self.end_pause(&begun, cue),
            Verb::Partition { lost, .. } => self.end_partition(&begun, *lost, cue),
            Verb::Flap { lost, .. } => self.end_flap(&begun, *lost, cue),
            Verb::Degrade { .. } => self.end_degrade(&begun, cue),
            Verb::SlowHeartbeats { .. } => self.end_slow(&begun, cue),
            Verb::Clock { .. } => self.end_clock(&begun, cue),
            Verb::Unhealthy { via, .. } => self.end_unhealthy(&begun, *via, cue),
            Verb::FullDisk { .. } => self.end_full_disk(&begun),
            Verb::Grey { .. } => self.end_grey(&begun, cue),
            Verb::Override { at, .. } => self.end_override(&begun, *at, cue),
            Verb::Reclaim { .. } => self.end_reclaim(&begun, cue),
            Verb::Crash(_)
            | Verb::Stop { .. }
            | Verb::Pauses { .. }
            | Verb::Change(_)
            | Verb::Delete { .. }
            | Verb::Start { .. }
            | Verb::RollOut { .. }
            | Verb::BlueGreen { .. } => unreachable!("nobody schedules its end"),
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
        let cue = &mut Cue { fault: u32::from(fault), schedule };
        let verb = &self.scenario.faults[usize::from(fault)].verb;
        match verb {
            Verb::Stop { linger, .. } => self.step_of_stop(step, *linger, cue),
            Verb::Restart { .. } => self.step_of_restart(verb, step, cue),
            Verb::CrashLoop { .. } => self.step_of_crash_loop(verb, step, cue),
            Verb::Pause { .. } => self.step_of_pause(step, cue),
            Verb::Pauses { .. } => self.step_of_pauses(verb, step, cue),
            Verb::Flap { .. } => self.step_of_flap(verb, step, cue),
            Verb::Start { .. } => self.step_of_start(step, cue),
            Verb::RollOut { .. } => self.step_of_roll_out(verb, step, cue),
            Verb::BlueGreen { .. } => self.step_of_blue_green(verb, cue),
            Verb::Crash(_)
            | Verb::Partition { .. }
            | Verb::Degrade { .. }
            | Verb::SlowHeartbeats { .. }
            | Verb::Clock { .. }
            | Verb::Unhealthy { .. }
            | Verb::Grey { .. }
            | Verb::FullDisk { .. }
            | Verb::Change(_)
            | Verb::Override { .. }
            | Verb::Delete { .. }
            | Verb::Reclaim { .. } => unreachable!("it takes no steps"),
        }
    }

    fn begun(&mut self, cue: &Cue<'_>) -> &mut Begun {
        &mut self.plan.begun[cue.fault as usize]
    }
}
