//! Faults: when they come, whom they hit, and what they do. Verbs come in pairs: what a fault begins
//! (a pause, a partition, an absence) it also ends.

use super::World;
use super::event::Event;
use super::node::State;
use crate::engine::{Chance, Purpose, Schedule, Seed, SimDuration, SimTime};
use crate::model::id::ClientId;
use crate::model::stage::EventKind;
use crate::observe::Injected;
use crate::scenario::{Direction, Scenario, Selection, Targets, Verb, Which};

/// A fault's draw of its moment.
const MOMENT: Purpose = Purpose(0);
/// A fault's draws of its targets.
const TARGETS: Purpose = Purpose(1);

/// The faults of one replicate.
pub(super) struct FaultPlan {
    /// Each fault's own dice.
    chances: Vec<Chance>,
    /// Whom each fault hit.
    hit: Vec<Vec<ClientId>>,
    /// Begins and ends that are still to come.
    pending: u32,
}

impl FaultPlan {
    /// Draws every fault's moment and schedules it.
    pub(super) fn new(scenario: &Scenario, seed: &Seed, schedule: &mut Schedule<Event>) -> Self {
        let base = SimTime::ZERO + scenario.server.serves_after() + scenario.start_window + scenario.warm_up;
        let mut chances = Vec::new();
        for (number, fault) in scenario.faults.iter().enumerate() {
            let mut chance = Chance::of(&format!("fault/{}", number + 1));
            let offset = fault.at + chance.with(seed).duration_below(MOMENT, fault.within);
            schedule.at(base + offset, Event::FaultBegins { fault: number as u32 });
            chances.push(chance);
        }
        let pending = scenario.faults.len() as u32;
        Self { hit: vec![Vec::new(); chances.len()], chances, pending }
    }

    /// Whether everything that was planned has begun and ended.
    pub(super) fn is_over(&self) -> bool {
        self.pending == 0
    }
}

impl World<'_> {
    /// Does what the fault does.
    pub(super) fn begin_fault(&mut self, fault: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        let scenario = self.scenario;
        let verb = &scenario.faults[fault as usize].verb;
        self.plan.pending -= 1;
        let hit = self.pick(fault, verb);
        let targets = if verb.hits_server() { 1 } else { hit.len() as u32 };
        let until = length_of(verb).map(|length| now + length);
        match verb {
            Verb::Crash(Targets::Server) => self.crash_server(now, schedule),
            Verb::Crash(Targets::Instances(_)) => self.crash(&hit, now),
            Verb::Stop { .. } => self.stop(&hit, now, schedule),
            Verb::Restart { targets: Targets::Server, .. } => self.crash_server(now, schedule),
            Verb::Restart { graceful: true, .. } => self.stop(&hit, now, schedule),
            Verb::Restart { graceful: false, .. } => self.crash(&hit, now),
            Verb::Pause { targets: Targets::Server, .. } => self.pause_server(now, until.unwrap_or(now)),
            Verb::Pause { .. } => self.pause(&hit, now, until.unwrap_or(now)),
            Verb::Partition { lost, .. } => self.cut(&hit, *lost),
            Verb::Start { application, count, .. } => {
                for _ in 0..*count {
                    let client = self.add_newcomer(*application);
                    self.start_client(client, now, schedule);
                }
            }
            _ => unreachable!("no scenario reads one yet"),
        }
        if let Some(until) = until {
            self.plan.pending += 1;
            schedule.at(until, Event::FaultEnds { fault });
        }
        let targets = if let Verb::Start { count, .. } = verb { *count } else { targets };
        self.recorder.injected(Injected { at: now, until, verb: verb.name(), targets });
        self.plan.hit[fault as usize] = hit;
    }

    /// Undoes what the fault began.
    pub(super) fn end_fault(&mut self, fault: u32, now: SimTime, schedule: &mut Schedule<Event>) {
        self.plan.pending -= 1;
        let hit = std::mem::take(&mut self.plan.hit[fault as usize]);
        match &self.scenario.faults[fault as usize].verb {
            Verb::Restart { targets: Targets::Server, .. } => self.start_server(now, schedule),
            Verb::Restart { new_id, .. } => self.bring_back(&hit, *new_id, now, schedule),
            Verb::Pause { targets: Targets::Server, .. } => self.resume_server(now, schedule),
            Verb::Pause { .. } => self.resume(&hit, now, schedule),
            Verb::Partition { lost, .. } => self.heal(&hit, *lost),
            _ => unreachable!("has no end"),
        }
    }

    /// Draws the targets among the instances that run.
    fn pick(&mut self, fault: u32, verb: &Verb) -> Vec<ClientId> {
        let Some(selection) = verb.selection() else { return Vec::new() };
        let mut candidates = self.candidates(selection);
        let count = match selection.which {
            Which::All | Which::Named(_) => return candidates,
            Which::Count(count) => (count as usize).min(candidates.len()),
            Which::Share(share) => (share * candidates.len() as f64 + 0.5) as usize,
        };
        let mut dice = self.plan.chances[fault as usize].with(&self.seed);
        for place in 0..count {
            let left = (candidates.len() - place) as u64;
            let drawn = place + dice.below(TARGETS, left) as usize;
            candidates.swap(place, drawn);
        }
        candidates.truncate(count);
        candidates
    }

    /// Who may be hit, by application and ordinal.
    fn candidates(&self, selection: &Selection) -> Vec<ClientId> {
        let named: Vec<ClientId> = match &selection.which {
            Which::Named(names) => {
                names.iter().map(|&(app, ordinal)| self.members[app.index()][ordinal as usize - 1]).collect()
            }
            _ => match selection.application {
                Some(app) => self.members[app.index()].clone(),
                None => self.members.concat(),
            },
        };
        let runs = |client: &ClientId| {
            let node = &self.clients[client.index()];
            node.state == State::Running && !node.stopping
        };
        named.into_iter().filter(runs).collect()
    }

    /// `kill -9`.
    fn crash(&mut self, hit: &[ClientId], now: SimTime) {
        for &client in hit {
            self.end_process(client, now);
        }
        for &client in hit {
            let instance = self.clients[client.index()].instance;
            self.recorder.watch(EventKind::Crash, client, instance, now, &self.views);
        }
    }

    /// An orderly stop.
    fn stop(&mut self, hit: &[ClientId], now: SimTime, schedule: &mut Schedule<Event>) {
        for &client in hit {
            let node = &mut self.clients[client.index()];
            node.stopping = true;
            self.recorder.watch(EventKind::Stop, client, node.instance, now, &self.views);
            self.step_client(client, now, schedule, |client, config, step| client.on_stop(config, step));
        }
    }

    fn bring_back(&mut self, hit: &[ClientId], new_id: bool, now: SimTime, schedule: &mut Schedule<Event>) {
        for &client in hit {
            if self.clients[client.index()].state != State::Down {
                // It was still busy with its orderly stop: the supervisor of processes loses patience.
                self.end_process(client, now);
            }
            if new_id {
                let instance = self.new_identity(client);
                let node = &mut self.clients[client.index()];
                node.instance = instance;
                node.client.set_identity(instance);
            }
            self.clients[client.index()].newcomer = true;
            self.draw_first_call(client, SimDuration::ZERO);
            self.start_client(client, now, schedule);
        }
    }

    fn cut(&mut self, hit: &[ClientId], lost: Direction) {
        for client in hit {
            let node = &mut self.clients[client.index()];
            node.lost_to_server += u32::from(lost != Direction::FromServer);
            node.lost_from_server += u32::from(lost != Direction::ToServer);
        }
    }

    fn heal(&mut self, hit: &[ClientId], lost: Direction) {
        for client in hit {
            let node = &mut self.clients[client.index()];
            node.lost_to_server -= u32::from(lost != Direction::FromServer);
            node.lost_from_server -= u32::from(lost != Direction::ToServer);
        }
    }

    /// A process is gone: whatever it had or waited for is gone with it.
    pub(super) fn end_process(&mut self, client: ClientId, now: SimTime) {
        let node = &mut self.clients[client.index()];
        node.state = State::Down;
        node.stopping = false;
        for flight in node.waiting.take().into_iter().flat_map(|waiting| waiting.arrivals) {
            self.flights.land(flight);
        }
        if std::mem::take(&mut node.newcomer) {
            self.awaited_registrations -= 1;
        }
        node.client.on_crash();
        self.recorder.process_ended(client, node.instance, now);
        self.touch(client);
    }

    /// A process starts.
    pub(super) fn start_client(&mut self, client: ClientId, now: SimTime, schedule: &mut Schedule<Event>) {
        let node = &mut self.clients[client.index()];
        assert_eq!(node.state, State::Down, "a process that runs is not started");
        node.state = State::Running;
        if node.newcomer {
            self.awaited_registrations += 1;
        }
        self.recorder.process_started(client, node.instance, now);
        self.touch(client);
        self.step_client(client, now, schedule, |client, config, step| client.on_start(config, step));
    }

    /// The server and its own client start.
    pub(super) fn start_server(&mut self, now: SimTime, schedule: &mut Schedule<Event>) {
        if self.server.state != State::Down {
            return;
        }
        self.server.state = State::Running;
        if let Some(client) = self.own_client() {
            self.start_client(client, now, schedule);
        }
        self.boot_server(now, schedule);
    }

    fn crash_server(&mut self, now: SimTime, schedule: &mut Schedule<Event>) {
        if self.server.state == State::Down {
            return;
        }
        self.server.state = State::Down;
        let life = self.server.server.take().expect("a server that is not down is alive");
        self.server.next_generation = life.next_generation();
        let waiting = std::mem::take(&mut self.server.waiting);
        for flight in waiting.arrivals {
            self.refuse(flight, now, schedule);
        }
        self.recorder.server_ended(life.registered(), now, &self.views);
        if let Some(client) = self.own_client {
            self.end_process(client, now);
        }
    }
}

fn length_of(verb: &Verb) -> Option<SimDuration> {
    match verb {
        Verb::Restart { down_for: length, .. } => Some(*length),
        Verb::Pause { length, .. } => length.greatest(),
        Verb::Partition { length, .. } => *length,
        _ => None,
    }
}
