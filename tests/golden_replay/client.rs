//! Replays what real clients did: the recorded answers drive the client rules, one client at a time, and
//! everything that the rules then do is compared with the recording.
//!
//! A client's clock is the recording's: it starts when its log says that it fetches for the first time, and
//! each of its calls ends when the recorded one did ([`super::calls`]), so no difference adds up. Compared are
//! the moment, kind and server of every call, registrations after a 404, the supervisors' time-outs and
//! rejections, and every change of the local registry and of the balancer's list ([`super::compared`]).
//!
//! With several servers one thing is not recorded: the orders in which a client tried them, which it drew, or
//! which followed from an address that nobody wrote down. They are inferred from the calls: the client is played
//! with other dice, or another address, until it does what the recorded one did. The orders stay within the
//! rules: one for every start and every refresh, or one for all clients of a host for ever.
//!
//! Left out: the calls that a stopping Spring client makes while its web server drains.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use stillup::engine::{Seed, SimDuration, SimTime, Streams};
use stillup::model::clock::{Now, WallMs};
use stillup::model::eureka::client::{
    BalancerConfig, Call, Client, ClientConfig, ClientEffect, ClientTimer, ServerOrder, ServerUrls,
};
use stillup::model::fact::Fact;
use stillup::model::id::{AppId, InstanceId, ServerId};
use stillup::model::message::{Failure, Reply, RequestKind};
use stillup::model::step::Step;
use stillup::model::view::View;

use super::Mutation;
use super::answers::Answers;
use super::records::{LogLine, Recording};
use super::tape::{Tape, config, sights};

/// So many orders are tried. A recording has at most three shuffles of two servers, so all eight outcomes have
/// come up long before.
const ORDERS_MAX: u8 = 64;

/// What the replay of a folder's clients found.
pub(crate) struct Played {
    /// Where rules and recording differ, each with its moment.
    pub(crate) differences: Vec<String>,
    /// Calls that were compared.
    pub(crate) calls: u32,
}

/// Replays the real clients of a folder.
pub(crate) fn replay(recording: &Recording, mutation: Mutation) -> Played {
    let mut tape = Tape::of(recording);
    let mut config = config(recording);
    mutation.change_client(&mut config);
    let mut answers = Answers::of(recording);
    let starts = recording.faults.iter().filter(|row| row.fault == "start");
    let clients: BTreeSet<&str> =
        starts.map(|row| row.target.as_str()).filter(|target| target.starts_with("java")).collect();
    let clients: Vec<&str> = clients.into_iter().collect();
    // Clients of one host share its order; others draw their own.
    let alike = if config.server_order == ServerOrder::ByHost { clients.len().max(1) } else { 1 };
    let orders = if recording.experiment.servers.len() == 1 { 1 } else { ORDERS_MAX };
    let mut played = Played { differences: Vec::new(), calls: 0 };
    for group in clients.chunks(alike) {
        let mut best: Option<(Tape, Vec<String>)> = None;
        for order in 0..orders {
            let mut claimed = tape.clone();
            let mut differences = Vec::new();
            for name in group {
                let player = Player::new(name, recording, &config, order, &mut claimed, &mut answers);
                differences.extend(player.play());
            }
            if best.as_ref().is_none_or(|(_, fewest)| differences.len() < fewest.len()) {
                best = Some((claimed, differences));
            }
            if best.as_ref().is_some_and(|(_, fewest)| fewest.is_empty()) {
                break;
            }
        }
        let (claimed, differences) = best.expect("some order was tried");
        tape = claimed;
        played.differences.extend(differences);
    }
    played.differences.extend(tape.unclaimed(recording));
    played.calls = tape.claimed();
    played
}

/// What happens to the client that is played.
#[derive(Clone, Copy)]
pub(super) enum Event {
    Timer(ClientTimer, u16),
    Outcome(Call, Result<Reply, Failure>),
    Start,
    Pause { until: SimTime },
    Stop,
    Crash,
}

/// One client, driven by the recording.
pub(super) struct Player<'a> {
    pub(super) name: &'a str,
    pub(super) recording: &'a Recording,
    pub(super) tape: &'a mut Tape,
    pub(super) answers: &'a mut Answers,
    pub(super) client: Client,
    pub(super) config: &'a ClientConfig,
    /// Which order of servers is tried.
    order: u8,
    streams: Streams,
    pub(super) now: SimTime,
    queue: BTreeMap<(SimTime, u64), Event>,
    scheduled: u64,
    /// Calls made so far, by kind; a delta counts as a full fetch.
    pub(super) made: [u32; RequestKind::COUNT],
    /// What the client's log should say: (event, when).
    pub(super) said: Vec<(&'static str, i64)>,
    /// Changes of what it showed: local registry and balancer.
    pub(super) shown: [Vec<(i64, View)>; 2],
    pub(super) after_not_found: bool,
    pub(super) after_mismatch: bool,
    /// Whether what is sent now is the next attempt of a request whose last one failed.
    pub(super) after_failure: bool,
    pub(super) differences: Vec<String>,
}

pub(super) fn millis(at_ms: i64) -> SimTime {
    SimTime::from_millis(at_ms as u64)
}

impl<'a> Player<'a> {
    fn new(
        name: &'a str,
        recording: &'a Recording,
        config: &'a ClientConfig,
        order: u8,
        tape: &'a mut Tape,
        answers: &'a mut Answers,
    ) -> Self {
        let instance = answers.numbers.get(name).copied().unwrap_or(InstanceId(u32::MAX));
        let servers: Vec<ServerId> = (0..recording.experiment.servers.len() as u32).map(ServerId).collect();
        let address = Ipv4Addr::new(10, 0, 1, order + 1);
        let urls = ServerUrls { address, ..ServerUrls::in_one_zone(&servers) };
        let mut player = Self {
            name,
            recording,
            tape,
            answers,
            client: Client::new(AppId(1), instance, urls),
            config,
            order,
            streams: Streams::of(name),
            now: SimTime::ZERO,
            queue: BTreeMap::new(),
            scheduled: 0,
            made: [0; RequestKind::COUNT],
            said: Vec::new(),
            shown: [Vec::new(), Vec::new()],
            after_not_found: false,
            after_mismatch: false,
            after_failure: false,
            differences: Vec::new(),
        };
        player.schedule_faults();
        player
    }

    fn schedule_faults(&mut self) {
        for (from, to) in self.recording.pauses_of(self.name) {
            self.schedule(millis(from), Event::Pause { until: millis(to) });
        }
        let (recording, name) = (self.recording, self.name);
        for row in recording.faults.iter().filter(|row| row.target == name) {
            match row.fault.as_str() {
                "start" => match self.first_fetch_ms(row.t_ms) {
                    Some(at_ms) => self.schedule(millis(at_ms), Event::Start),
                    None => self.differ(row.t_ms, "its log tells no first fetch".to_owned()),
                },
                "shutdown" => self.schedule(millis(row.t_ms), Event::Stop),
                "crash" => self.schedule(millis(row.t_ms), Event::Crash),
                _ => {}
            }
        }
    }

    /// When the client that was started at `from_ms` fetched for the first time, by its own log.
    fn first_fetch_ms(&self, from_ms: i64) -> Option<i64> {
        let mut lines = self.recording.log.iter();
        let first =
            |line: &&LogLine| line.server == self.name && line.event == "full-fetch" && line.t_ms >= from_ms;
        lines.find(first).map(|line| line.t_ms)
    }

    /// When the balancer of the process that starts now was first called, which gives its phase. An empty
    /// list is looked up again at each call, so the first list that an observer saw was then written; Ribbon
    /// polls by the clock, whatever it finds.
    fn first_call(&self) -> SimDuration {
        let now_ms = self.now_ms();
        let changes = sights(&format!("{}.balancer", self.name), self.recording);
        let since_start_ms = changes.iter().map(|(at_ms, _)| at_ms - now_ms).find(|&since| since >= 0);
        let at_ms = match self.config.balancer {
            BalancerConfig::Ribbon { refresh_interval } => {
                (since_start_ms.unwrap_or(0) - 1_000).rem_euclid(refresh_interval.as_millis() as i64)
            }
            BalancerConfig::None | BalancerConfig::SpringCloudLoadBalancer { .. } => {
                since_start_ms.unwrap_or(0)
            }
        };
        SimDuration::from_millis(at_ms as u64)
    }

    pub(super) fn differ(&mut self, at_ms: i64, what: String) {
        self.differences.push(format!("{at_ms}: {}: {what}", self.name));
    }

    pub(super) fn schedule(&mut self, at: SimTime, event: Event) {
        self.scheduled += 1;
        self.queue.insert((at, self.scheduled), event);
    }

    /// Plays to the end of the recording and tells the differences.
    fn play(mut self) -> Vec<String> {
        let ends_ms = self.tape.ends_ms();
        while let Some((key, event)) = self.queue.pop_first() {
            if key.0 > millis(ends_ms) {
                break;
            }
            self.now = key.0;
            self.deliver(event);
        }
        self.compare_log();
        self.compare_sights("client", 0);
        self.compare_sights("balancer", 1);
        self.differences
    }

    fn deliver(&mut self, event: Event) {
        match event {
            Event::Timer(timer, generation) => {
                self.step(|client, config, step| client.on_timer(config, timer, generation, step));
            }
            Event::Outcome(call, outcome) => {
                self.after_not_found = matches!(outcome, Ok(Reply { status: 404, .. }));
                self.after_failure = outcome.is_err();
                self.step(|client, config, step| match outcome {
                    Ok(reply) => client.on_reply(config, call, reply, step),
                    Err(failure) => client.on_failure(config, call, failure, step),
                });
                (self.after_not_found, self.after_failure) = (false, false);
            }
            Event::Start => {
                self.client.on_crash();
                self.made = [0; RequestKind::COUNT];
                self.client.set_first_call(self.first_call());
                self.step(|client, config, step| client.on_start(config, step));
            }
            Event::Pause { until } => self.pause(until),
            Event::Stop => self.step(|client, config, step| client.on_stop(config, step)),
            Event::Crash => self.client.on_crash(),
        }
    }

    fn pause(&mut self, until: SimTime) {
        let since = std::mem::replace(&mut self.now, until);
        self.step(|client, config, step| client.on_resume(config, since, step));
        let later = self.queue.split_off(&(until, u64::MAX));
        let mut due: Vec<Event> = std::mem::replace(&mut self.queue, later).into_values().collect();
        due.sort_by_key(|event| matches!(event, Event::Timer(..)));
        due.into_iter().for_each(|event| self.deliver(event));
    }

    pub(super) fn step(&mut self, act: impl FnOnce(&mut Client, &ClientConfig, &mut Step<'_, ClientEffect>)) {
        let seed = Seed::new(u64::from(self.order), 0);
        let mut out = Vec::new();
        let wall = WallMs(self.recording.experiment.t0_epoch_ms + self.now.as_millis() as i64);
        let mut step = Step {
            now: Now { mono: self.now, wall },
            rng: self.streams.with(&seed),
            views: &mut self.answers.views,
            out: &mut out,
        };
        act(&mut self.client, self.config, &mut step);
        out.into_iter().for_each(|effect| self.follow(effect));
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.now.as_millis() as i64
    }

    fn follow(&mut self, effect: ClientEffect) {
        match effect {
            ClientEffect::Send { call, to, request } => self.find(call, to, &request),
            ClientEffect::SetTimer { timer, delay, generation } => {
                self.schedule(self.now + delay, Event::Timer(timer, generation));
            }
            ClientEffect::Fact(fact) => self.note(fact),
            ClientEffect::Exited => {}
            ClientEffect::Acknowledge { .. } => unreachable!("nobody pushes to a client of Eureka"),
        }
    }

    fn note(&mut self, fact: Fact) {
        let now_ms = self.now_ms();
        match fact {
            Fact::ViewChanged { to, .. } => self.shown[0].push((now_ms, to)),
            Fact::BalancerChanged { to, .. } => self.shown[1].push((now_ms, to)),
            Fact::SupervisorTimedOut => self.said.push(("supervisor-timed-out", now_ms)),
            Fact::SupervisorRejected => self.said.push(("supervisor-rejected", now_ms)),
            Fact::HashMismatched => self.after_mismatch = true,
            _ => {}
        }
    }
}
