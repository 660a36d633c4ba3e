//! Replays what real clients did: the recorded answers drive the client rules, one client at a time, and
//! everything that the rules then do is compared with the recording.
//!
//! A client's clock is the recording's: it starts when its log says that it fetches for the first time, and
//! each of its calls ends when the recorded one did, so no difference adds up. A call that the server did not
//! log failed: the client's own log says when. Compared are the moment and kind of every call, registrations
//! after a 404, the supervisors' time-outs and rejections, and every change of the local registry and of the
//! balancer's list.
//!
//! Allowances, ms: [`WARM_MS`] for a call, and [`COLD_MS`] for the first calls of a JVM that has just
//! started; [`WATCH_MS`] for a change, which was polled for. Left out: the calls that a stopping Spring
//! client makes while its web server drains.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use stillup::engine::{Chance, Seed, SimDuration, SimTime};
use stillup::model::client::{
    BalancerConfig, Call, Client, ClientConfig, ClientEffect, ClientTimer, ServerUrls, Silence,
};
use stillup::model::clock::{Now, WallMs};
use stillup::model::fact::Fact;
use stillup::model::id::{AppId, InstanceId, ServerId};
use stillup::model::message::{Failure, Reply, Request, RequestKind};
use stillup::model::step::Step;
use stillup::model::view::View;

use super::answers::Answers;
use super::records::{LogLine, Recording};
use super::tape::{Tape, config, is_fetch, sights};

/// How far a call may lie from its time.
const WARM_MS: i64 = 60;
/// The same for the first calls of a kind, [`COLD_CALLS`] of them: code is loaded, and the end of the
/// constructor, from which the timers count, is not known better.
const COLD_MS: i64 = 1_000;
const COLD_CALLS: u32 = 3;
/// The same for the very first call, which also loads the HTTP client, and for what an observer saw first: it
/// runs only once the application does.
const FIRST_MS: i64 = 3_000;
/// How far a change may lie from its time: the call's allowance and the observer's poll.
const WATCH_MS: i64 = 120;
/// How far a balancer's refresh may drift in one time to live from its average, which has the observer's poll
/// in it.
const DRIFT_MS: i64 = 15;

/// Replays the real clients of a folder.
pub(crate) fn replay(recording: &Recording) -> Vec<String> {
    let mut tape = Tape::of(recording);
    let mut differences = Vec::new();
    let mut answers = Answers::of(recording);
    let starts = recording.faults.iter().filter(|row| row.fault == "start");
    let clients: BTreeSet<&str> =
        starts.map(|row| row.target.as_str()).filter(|target| target.starts_with("java")).collect();
    for name in clients {
        differences.extend(Player::new(name, recording, &mut tape, &mut answers).play());
    }
    differences.extend(tape.unclaimed(recording));
    differences
}

/// What happens to the client that is played.
#[derive(Clone, Copy)]
enum Event {
    Timer(ClientTimer, u16),
    Outcome(Call, Result<Reply, Failure>),
    Start,
    Pause { until: SimTime },
    Stop,
    Crash,
}

/// One client, driven by the recording.
struct Player<'a> {
    name: &'a str,
    recording: &'a Recording,
    tape: &'a mut Tape,
    answers: &'a mut Answers,
    client: Client,
    config: ClientConfig,
    now: SimTime,
    queue: BTreeMap<(SimTime, u64), Event>,
    scheduled: u64,
    /// Calls made so far, by kind; a delta counts as a full fetch.
    made: [u32; RequestKind::COUNT],
    /// What the client's log should say: (event, when).
    said: Vec<(&'static str, i64)>,
    /// Changes of what it showed: local registry and balancer.
    shown: [Vec<(i64, View)>; 2],
    after_not_found: bool,
    after_mismatch: bool,
    differences: Vec<String>,
}

fn millis(at_ms: i64) -> SimTime {
    SimTime::from_millis(at_ms as u64)
}

impl<'a> Player<'a> {
    fn new(name: &'a str, recording: &'a Recording, tape: &'a mut Tape, answers: &'a mut Answers) -> Self {
        let instance = answers.numbers.get(name).copied().unwrap_or(InstanceId(u32::MAX));
        let mut player = Self {
            name,
            recording,
            tape,
            answers,
            client: Client::new(AppId(1), instance, ServerUrls::in_one_zone(&[ServerId(0)])),
            config: config(recording),
            now: SimTime::ZERO,
            queue: BTreeMap::new(),
            scheduled: 0,
            made: [0; RequestKind::COUNT],
            said: Vec::new(),
            shown: [Vec::new(), Vec::new()],
            after_not_found: false,
            after_mismatch: false,
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

    fn differ(&mut self, at_ms: i64, what: String) {
        self.differences.push(format!("{at_ms}: {}: {what}", self.name));
    }

    fn schedule(&mut self, at: SimTime, event: Event) {
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
                self.step(|client, config, step| match outcome {
                    Ok(reply) => client.on_reply(config, call, reply, step),
                    Err(failure) => client.on_failure(config, call, failure, step),
                });
                self.after_not_found = false;
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

    fn step(&mut self, act: impl FnOnce(&mut Client, &ClientConfig, &mut Step<'_, ClientEffect>)) {
        let (seed, mut chance) = (Seed::new(0, 0), Chance::of(self.name));
        let mut out = Vec::new();
        let wall = WallMs(self.recording.experiment.t0_epoch_ms + self.now.as_millis() as i64);
        let mut step = Step {
            now: Now { mono: self.now, wall },
            dice: chance.with(&seed),
            views: &mut self.answers.views,
            out: &mut out,
        };
        act(&mut self.client, &self.config, &mut step);
        out.into_iter().for_each(|effect| self.follow(effect));
    }

    fn now_ms(&self) -> i64 {
        self.now.as_millis() as i64
    }

    fn follow(&mut self, effect: ClientEffect) {
        match effect {
            ClientEffect::Send { call, request, .. } => self.find(call, &request),
            ClientEffect::SetTimer { timer, delay, generation } => {
                self.schedule(self.now + delay, Event::Timer(timer, generation));
            }
            ClientEffect::Fact(fact) => self.note(fact),
            ClientEffect::Exited => {}
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

    /// Finds the recorded call that this one is, and lets it end as that did.
    fn find(&mut self, call: Call, request: &Request) {
        let (now_ms, kind) = (self.now_ms(), request.kind());
        // The full fetch after a mismatch is not announced in the log.
        if kind == RequestKind::FetchFull && !std::mem::take(&mut self.after_mismatch) {
            self.said.push(("full-fetch", now_ms));
        }
        if kind == RequestKind::Register && self.after_not_found {
            self.said.push(("re-registering", now_ms));
        }
        let range_ms = self.range_ms(kind, now_ms);
        let Some(row) = self.tape.claim(self.name, kind, now_ms, range_ms) else {
            let failed_ms = self.failure_of(kind, now_ms);
            if failed_ms.is_none() {
                self.differ(now_ms, format!("{} was not recorded", kind.name()));
            }
            let at = failed_ms.map_or(self.now, millis);
            self.schedule(at, Event::Outcome(call, Err(Failure::Refused)));
            return;
        };
        let (sent_ms, done_ms, status, recorded) = (row.sent_ms, row.done_ms, row.status, row.kind);
        if recorded != kind {
            self.differ(sent_ms, format!("{} where {} was recorded", kind.name(), recorded.name()));
        }
        let payload = if is_fetch(recorded) && status == 200 {
            self.answers.at(recorded == RequestKind::FetchFull, done_ms)
        } else {
            None
        };
        let (patience, failure) = self.config.transport.call_gives_up_after(call, Silence::Paused);
        let (at, outcome) = if millis(done_ms) > self.now + patience {
            (self.now + patience, Err(failure))
        } else {
            (millis(done_ms).max(self.now), Ok(Reply { status, payload }))
        };
        self.schedule(at, Event::Outcome(call, outcome));
        if at > self.now + Client::patience(&self.config) {
            self.step(|client, config, step| client.on_stall(config, call, step));
        }
    }

    /// When the recorded call may have been taken up.
    fn range_ms(&mut self, kind: RequestKind, now_ms: i64) -> RangeInclusive<i64> {
        let made = &mut self.made[if is_fetch(kind) { RequestKind::FetchFull } else { kind } as usize];
        *made += 1;
        let allowance_ms = match kind {
            // The web server drains first.
            RequestKind::Cancel => return now_ms - WARM_MS..=i64::MAX,
            _ if is_fetch(kind) && *made == 1 => FIRST_MS,
            _ if *made <= COLD_CALLS => COLD_MS,
            _ => WARM_MS,
        };
        // A server that stands still takes a call up when it goes on.
        let pauses = self.recording.experiment.servers.keys().flat_map(|name| self.recording.pauses_of(name));
        let standing = pauses.filter(|&(from, to)| (from - allowance_ms..to).contains(&now_ms));
        let latest_ms = standing.map(|(_, to)| to).max().unwrap_or(now_ms);
        now_ms - allowance_ms..=latest_ms + allowance_ms
    }

    /// When a call that began now failed by the client's own log. The second attempt of a job fails with the
    /// job.
    fn failure_of(&mut self, kind: RequestKind, now_ms: i64) -> Option<i64> {
        let event = match kind {
            RequestKind::Renew | RequestKind::Register => "heartbeat-failed",
            RequestKind::FetchFull | RequestKind::FetchDelta => "fetch-failed",
            RequestKind::Cancel | RequestKind::Status | RequestKind::Replicate => return None,
        };
        let is_mine = |line: &&LogLine| {
            line.server == self.name && line.event == event && (0..1_000).contains(&(line.t_ms - now_ms))
        };
        let at_ms = self.recording.log.iter().find(is_mine)?.t_ms;
        if self.said.last() != Some(&(event, at_ms)) {
            self.said.push((event, at_ms));
        }
        Some(at_ms)
    }

    /// Compares what the client's log should say with what it says.
    fn compare_log(&mut self) {
        for event in [
            "supervisor-timed-out",
            "supervisor-rejected",
            "heartbeat-failed",
            "fetch-failed",
            "re-registering",
            "full-fetch",
        ] {
            let lines = self.recording.log.iter().filter(|l| l.server == self.name && l.event == event);
            let recorded: Vec<i64> = lines.map(|line| line.t_ms).collect();
            let ours: Vec<i64> = self.said.iter().filter(|said| said.0 == event).map(|said| said.1).collect();
            let agree = recorded.len() == ours.len()
                && recorded.iter().zip(&ours).all(|(a, b)| (a - b).abs() <= WATCH_MS);
            if !agree {
                let at_ms = recorded.iter().chain(&ours).copied().min().unwrap_or(0);
                self.differ(at_ms, format!("{event} at {recorded:?}, by the rules at {ours:?}"));
            }
        }
    }

    /// Compares the changes that an observer inside the client saw with those of a stage.
    fn compare_sights(&mut self, stage: &str, index: usize) {
        let recorded = sights(&format!("{}.{stage}", self.name), self.recording);
        let watched: BTreeSet<&str> = recorded.iter().flat_map(|(_, seen)| seen.iter().copied()).collect();
        let mut ours: Vec<(i64, BTreeSet<&str>)> = Vec::new();
        for &(at_ms, view) in &self.shown[index] {
            let shows = |name: &&&str| self.answers.views.is_up(view, self.answers.numbers[**name]);
            let seen: BTreeSet<&str> = watched.iter().filter(shows).copied().collect();
            if ours.last().map_or(!seen.is_empty(), |(_, before)| *before != seen) {
                ours.push((at_ms, seen));
            }
        }
        if recorded.len() != ours.len() {
            let times = |changes: &[(i64, BTreeSet<&str>)]| changes.iter().map(|c| c.0).collect::<Vec<_>>();
            let (recorded, ours) = (times(&recorded), times(&ours));
            let at_ms = recorded.iter().chain(&ours).copied().min().unwrap_or(0);
            self.differ(at_ms, format!("{stage} changes at {recorded:?}, by the rules at {ours:?}"));
        }
        let mut first_ms = None;
        for ((recorded_ms, recorded), (ours_ms, ours)) in recorded.iter().zip(&ours) {
            let first_ms = *first_ms.get_or_insert(*recorded_ms);
            let drift_ms = if index == 1 { (recorded_ms - first_ms) / 35_000 * DRIFT_MS } else { 0 };
            let allowance_ms = drift_ms + if *recorded_ms == first_ms { FIRST_MS } else { WATCH_MS };
            if recorded != ours || (recorded_ms - ours_ms).abs() > allowance_ms {
                let what = format!("{stage} {recorded:?}, by the rules at {ours_ms} ms {ours:?}");
                self.differences.push(format!("{recorded_ms}: {}: {what}", self.name));
            }
        }
    }
}
