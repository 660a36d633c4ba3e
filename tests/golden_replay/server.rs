//! The server's replay: recorded calls and timer ticks drive the rules, and everything that the server did is
//! compared with what they do.
//!
//! The allowances: [`TIE_MS`] where two things happen so close together that their order is anybody's guess.
//! The minute bucket's ticks are not logged: each comes at its due time, or within the tie of it where that
//! makes the count right. A server that renews its own lease does so unseen, twice a minute.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use stillup::engine::{Chance, Seed, SimTime};
use stillup::model::clock::{Now, WallMs};
use stillup::model::eureka::{Due, EurekaServer, Round, ServerConfig, ServerEffect, ServerStep, ServerTimer};
use stillup::model::fact::Fact;
use stillup::model::id::{AppId, InstanceId};
use stillup::model::message::{Record, Request, Status};
use stillup::model::step::Step;
use stillup::model::view::{View, Views};

use super::gauges::{GaugeHistory, READING_MS};
use super::records::{Call, FaultRow, Recording};
use super::served::ServedHistory;
use super::timeline::{RecordedRound, Timeline, What};
use super::{LATE_MS, Mutation, Outcome, TIE_MS, settings};

/// The monotonic clock shows this at the recording's zero, so that a server may have started before it.
const MONO_AT_ZERO_MS: i64 = 1_000_000;

/// Replays a recording of one server.
pub(crate) fn replay(recording: &Recording, mutation: Mutation) -> Result<Outcome, String> {
    let (mut config, fetch_interval_ms) = settings::server_config(&recording.experiment)?;
    let timeline = Timeline::of(recording, &config)?;
    mutation.change(&mut config);
    let mut replay = Replay::new(recording, &timeline, config, fetch_interval_ms, mutation);
    for (t_ms, what) in &timeline.events {
        replay.run_unlogged(*t_ms);
        replay.now_ms = *t_ms;
        replay.happen(what);
        replay.note();
    }
    Ok(replay.finish())
}

struct Replay<'a> {
    recording: &'a Recording,
    timeline: &'a Timeline,
    config: Arc<ServerConfig>,
    fetch_interval_ms: i64,
    mutation: Mutation,
    pauses: Vec<(i64, i64)>,
    server: Option<EurekaServer>,
    views: Views,
    seed: Seed,
    chance: Chance,
    now_ms: i64,
    ids: BTreeMap<String, InstanceId>,
    /// When somebody was last registered or removed.
    touched: BTreeMap<InstanceId, i64>,
    bucket: Bucket,
    last_round_ms: Option<i64>,
    rounds: i64,
    /// The server before the last tick of the bucket, and when that was.
    before_tick: Option<(i64, EurekaServer)>,
    copied: BTreeSet<InstanceId>,
    /// Killed when its next heartbeat was due, and when: that one may have arrived, which nobody recorded.
    doubtful: BTreeMap<InstanceId, i64>,
    served: ServedHistory,
    gauges: GaugeHistory,
    outcome: Outcome,
}

/// What is known of the minute bucket's next tick.
#[derive(Clone, Copy, Default)]
struct Bucket {
    /// Renewals since the last tick.
    renewals: u32,
    /// When the last tick was.
    since_ms: i64,
    /// Nominal moment of the next tick, if the server is open.
    due_ms: Option<i64>,
    /// The count at which it ticks, if the nominal moment would give another.
    target: Option<u32>,
    planned: bool,
}

impl<'a> Replay<'a> {
    fn new(
        recording: &'a Recording,
        timeline: &'a Timeline,
        config: ServerConfig,
        fetch_interval_ms: i64,
        mutation: Mutation,
    ) -> Self {
        let outcome = Outcome { differences: timeline.oddities.clone(), ..Outcome::default() };
        Self {
            recording,
            timeline,
            config: Arc::new(config),
            fetch_interval_ms,
            mutation,
            pauses: recording.pauses_of(&timeline.server),
            server: None,
            views: Views::default(),
            seed: Seed::new(0, 0),
            chance: Chance::of("server/1"),
            now_ms: i64::MIN,
            ids: BTreeMap::new(),
            touched: BTreeMap::new(),
            bucket: Bucket::default(),
            last_round_ms: None,
            rounds: 0,
            before_tick: None,
            copied: BTreeSet::new(),
            doubtful: BTreeMap::new(),
            served: ServedHistory::default(),
            gauges: GaugeHistory::default(),
            outcome,
        }
    }

    fn finish(mut self) -> Outcome {
        let end_ms = self.timeline.end_ms;
        self.served.compare(&self.recording.sights, end_ms, &mut self.outcome);
        self.gauges.compare(&self.recording.gauges, end_ms, &mut self.outcome);
        self.outcome
    }

    fn happen(&mut self, what: &What) {
        match what {
            What::Start(life) => self.start(*life),
            What::Down => {
                self.server = None;
                self.bucket = Bucket::default();
                self.last_round_ms = None;
                self.served.push(self.now_ms, None);
                self.gauges.push(self.now_ms, None);
            }
            What::Call(call) => self.call(call),
            What::Registered { instance, status, replica } => self.register(instance, *status, *replica),
            What::Cancelled { instance } => self.cancel(instance),
            What::FirstFetch => {
                self.with(|server, step| server.on_request(&Request::FetchFull, step));
            }
            What::Refresh => self.refresh(),
            What::Round(round) => self.round(round),
            What::Threshold(threshold) => self.update_threshold(*threshold),
            What::Killed { instance } => self.kill(instance),
            What::Echo { instance } => {
                let id = self.id(instance);
                self.with(|server, step| server.on_replicated_renew(id, WallMs(0), step));
            }
        }
    }

    fn start(&mut self, number: usize) {
        let life = &self.timeline.lives[number];
        let mut out = Vec::new();
        let mut step = Step {
            now: self.now(),
            dice: self.chance.with(&self.seed),
            views: &mut self.views,
            out: &mut out,
        };
        self.server = Some(EurekaServer::start(self.config.clone(), number as u16, None, &mut step));
        self.bucket.due_ms = Some(life.open_ms + 60_000);
        self.bucket.since_ms = life.start_ms;
        self.served.push(self.now_ms, Some(BTreeMap::new()));
        self.take(out);
    }

    fn call(&mut self, call: &Call) {
        let request = match call.kind.as_str() {
            "renew" => Request::Renew { instance: self.id(&call.instance), last_dirty: WallMs(0) },
            "cancel" => Request::Cancel { instance: self.id(&call.instance) },
            "fetch-full" => Request::FetchFull,
            "fetch-delta" => Request::FetchDelta,
            other => {
                return self.differ(format!("a call that the replay does not know: {other} {}", call.status));
            }
        };
        let Ok(recorded) = call.status.parse::<u16>() else { return };
        let Some(reply) = self.with(|server, step| server.on_request(&request, step)) else {
            return self.differ(format!("{} answered {recorded} by a server that is down", call.kind));
        };
        self.outcome.compared.statuses += 1;
        if let Request::Renew { instance, .. } = request {
            self.bucket.renewals += u32::from(recorded == 200);
            if reply.status != recorded && !self.was_touched_since(instance, call.sent_ms - TIE_MS) {
                self.differ(format!(
                    "heartbeat of {}: {} here, {recorded} there",
                    call.instance, reply.status
                ));
            }
        } else if reply.status != recorded {
            self.differ(format!(
                "{} of {}: {} here, {recorded} there",
                call.kind, call.instance, reply.status
            ));
        }
        if self.bucket.target == Some(self.bucket.renewals) {
            self.tick();
        }
    }

    fn register(&mut self, name: &str, status: Status, replica: bool) {
        let instance = self.id(name);
        let record = self.record(instance, status, name);
        self.touched.insert(instance, self.now_ms);
        self.with(|server, step| {
            if replica {
                server.on_replicated_register(&record, step)
            } else {
                server.on_request(&Request::Register(record), step)
            }
        });
    }

    fn record(&self, instance: InstanceId, status: Status, name: &str) -> Record {
        // The server's own client has the defaults.
        let own = self.timeline.unrecorded.contains(name) && self.config.register_with_eureka;
        let lease_s =
            if own { 90 } else { self.recording.experiment.lease_s + self.mutation.extra_lease_s() };
        Record {
            app: AppId(0),
            instance,
            status,
            overridden: Status::Unknown,
            last_dirty: WallMs(0),
            duration_s: lease_s,
            renewal_s: self.recording.experiment.heartbeat_s,
        }
    }

    fn cancel(&mut self, name: &str) {
        let instance = self.id(name);
        self.touched.insert(instance, self.now_ms);
        let reply = self.with(|server, step| server.on_request(&Request::Cancel { instance }, step));
        if reply.is_none_or(|reply| reply.status != 200) {
            self.differ(format!("{name} cancelled, but not registered here"));
        }
    }

    fn refresh(&mut self) {
        self.run_logged(ServerTimer::CacheRefresh, &[None], |_| true);
    }

    fn update_threshold(&mut self, recorded: u32) {
        let views = self.own_views();
        self.run_logged(ServerTimer::ThresholdUpdate, &views, |server| server.threshold() == recorded);
        self.outcome.compared.thresholds += 1;
        let here = self.server.as_ref().map(EurekaServer::threshold);
        if here != Some(recorded) {
            self.differ(format!("threshold after its update: {here:?} here, {recorded} there"));
        }
    }

    /// What the server's own client may hold now: anything that was served since it may have fetched last.
    fn own_views(&self) -> Vec<Option<View>> {
        if !self.config.fetch_registry {
            return vec![None];
        }
        let oldest = self.now_ms - self.fetch_interval_ms - 1_000;
        self.served.views_since(oldest).into_iter().map(Some).collect()
    }

    /// A tick that was logged. It must come when it is due, give or take a tie; among the views that the
    /// server's own client may hold, the first that fits the recording counts.
    fn run_logged(
        &mut self,
        timer: ServerTimer,
        own_views: &[Option<View>],
        fits: impl Fn(&EurekaServer) -> bool,
    ) {
        let Some((due, generation)) = self.server.as_ref().and_then(|server| server.timer(timer)) else {
            // A refill of a life whose start is not logged, before it opened.
            return;
        };
        let due_ms = self.after_pause(self.in_recording(due));
        self.compare_due(&format!("{timer:?}"), due_ms);
        let logged_ms = self.now_ms;
        self.now_ms = self.now_ms.max(self.in_recording(due));
        let before = self.server.clone();
        for (at, &own_view) in own_views.iter().enumerate() {
            self.server.clone_from(&before);
            self.with(|server, step| server.on_timer(timer, generation, own_view, step));
            if at + 1 == own_views.len() || self.server.as_ref().is_some_and(&fits) {
                break;
            }
        }
        self.now_ms = logged_ms;
    }

    /// No timer runs before it is due, nor much later.
    fn compare_due(&mut self, timer: &str, due_ms: i64) {
        if !(-TIE_MS..=LATE_MS).contains(&(self.now_ms - due_ms)) {
            self.differ(format!("{timer}: due at {due_ms} here"));
        }
    }

    /// Somebody is killed. If a heartbeat was due just then, and the dashboard counted one more than was
    /// recorded, then it arrived.
    fn kill(&mut self, name: &str) {
        let own = |call: &&Call| call.instance == name && call.done_ms <= self.now_ms;
        let Some(last) = self.recording.calls.iter().rfind(own) else { return };
        if last.done_ms + self.recording.experiment.heartbeat_s as i64 * 1_000 > self.now_ms + TIE_MS {
            return;
        }
        let instance = self.id(name);
        self.doubtful.insert(instance, self.now_ms);
        let Some(due_ms) = self.bucket.due_ms else { return };
        let counted = self.bucket.renewals + self.successes(self.now_ms, due_ms);
        if self.recorded_renewals(due_ms).is_some_and(|recorded| recorded > counted) {
            let renewal = Request::Renew { instance, last_dirty: WallMs(0) };
            self.with(|server, step| server.on_request(&renewal, step));
            self.bucket.renewals += 1;
        }
    }

    /// Heartbeats that were answered with 200 from a moment until before another.
    fn successes(&self, from_ms: i64, before_ms: i64) -> u32 {
        let success = |call: &&Call| call.kind == "renew" && call.status == "200";
        let calls = self.recording.calls.iter().filter(success);
        calls.filter(|call| (from_ms..before_ms).contains(&call.done_ms)).count() as u32
    }

    fn round(&mut self, recorded: &RecordedRound) {
        let Some(server) = self.server.clone() else {
            return self.differ("a round of a server that is down".into());
        };
        let interval = i64::from(self.config.eviction_interval_timer_in_ms);
        let due_ms = self.last_round_ms.map_or_else(
            || self.timeline.life_at(self.now_ms).map_or(0, |life| life.open_ms + interval),
            |last| last + interval,
        );
        self.compare_due("Eviction", self.after_pause(due_ms));
        self.last_round_ms = Some(self.now_ms);
        self.rounds += 1;
        let now = self.now_for_round();
        let (mut opened, round) = self.open(server, now, recorded);
        self.compare_round(&mut opened, &round, now, recorded);
        let victims: Vec<InstanceId> = recorded.victims.iter().map(|name| self.id(name)).collect();
        for &victim in &victims {
            self.touched.insert(victim, self.now_ms);
        }
        self.server = Some(opened);
        self.with(|server, step| server.close_round(&round, &victims, step));
    }

    /// Opens the round, before or after a tick of the bucket that is within a tie of it: the order that gives
    /// the recorded gate, else the nominal one.
    fn open(&mut self, server: EurekaServer, now: Now, recorded: &RecordedRound) -> (EurekaServer, Round) {
        let mut nominal = server;
        let round = nominal.open_round(now);
        if round.enabled != recorded.gate_shut {
            return (nominal, round);
        }
        if let Some((at, before)) = &self.before_tick {
            let other = before.clone().open_round(now);
            if self.now_ms - at <= TIE_MS && other.enabled != recorded.gate_shut {
                return (nominal, Round { compensation_ms: round.compensation_ms, ..other });
            }
        }
        if self.bucket.due_ms.is_some_and(|due| due - self.now_ms <= TIE_MS) {
            self.tick();
            let mut ticked = self.server.clone().expect("it has just ticked");
            let other = ticked.open_round(now);
            if other.enabled != recorded.gate_shut {
                return (ticked, other);
            }
        }
        (nominal, round)
    }

    fn compare_round(
        &mut self,
        server: &mut EurekaServer,
        round: &Round,
        now: Now,
        recorded: &RecordedRound,
    ) {
        self.outcome.compared.rounds += 1;
        if round.enabled == recorded.gate_shut {
            let (last, threshold) = (server.renews_last_min(), server.threshold());
            self.differ(format!("gate: {} here ({last} against {threshold})", round.enabled));
        }
        if (round.compensation_ms - recorded.compensation_ms).abs() > TIE_MS {
            let (here, there) = (round.compensation_ms, recorded.compensation_ms);
            self.differ(format!("compensation: {here} here, {there} there"));
        }
        if recorded.gate_shut {
            return;
        }
        let expired_at = |ms: i64| -> BTreeSet<InstanceId> {
            let expired = |id: &InstanceId| {
                server.lease(*id).is_some_and(|it| it.is_expired(now.wall.plus(ms), round.compensation_ms))
            };
            self.ids.values().copied().filter(expired).collect()
        };
        let (mut surely, perhaps) = (expired_at(-TIE_MS), expired_at(TIE_MS));
        surely.retain(|&id| !self.may_have_renewed(id));
        let (evicted, expired, limit) = recorded.batch.unwrap_or((0, 0, round.limit));
        let mut differences = Vec::new();
        if !(surely.len()..=perhaps.len()).contains(&(expired as usize)) {
            differences.push(format!("expired: {} to {} here, {expired} there", surely.len(), perhaps.len()));
        }
        if limit != round.limit && !self.timeline.population_changes_at(self.now_ms) {
            differences.push(format!("limit: {} here, {limit} there", round.limit));
        }
        if evicted != expired.min(limit) || evicted as usize != recorded.victims.len() {
            differences.push(format!("evicted: {} here, {evicted} there", round.quota()));
        }
        for name in &recorded.victims {
            self.outcome.compared.victims += 1;
            if !self.ids.get(name).is_some_and(|id| perhaps.contains(id)) {
                differences.push(format!("victim {name} is not expired here"));
            }
        }
        for difference in differences {
            self.differ(difference);
        }
    }

    /// Whether a heartbeat may have reached the server in time for this round, although the model has it later
    /// or not at all: a call that was under way, or the last one of the killed.
    fn may_have_renewed(&self, instance: InstanceId) -> bool {
        let lease_ms = i64::from(self.recording.experiment.lease_s) * 1_000;
        let doubtful = self.doubtful.get(&instance);
        if doubtful.is_some_and(|killed_ms| self.now_ms <= killed_ms + 2 * lease_ms + TIE_MS) {
            return true;
        }
        self.recording.calls.iter().any(|call| {
            let under_way = call.sent_ms - TIE_MS <= self.now_ms && self.now_ms <= call.done_ms + TIE_MS;
            under_way && call.kind == "renew" && self.ids.get(&call.instance) == Some(&instance)
        })
    }

    /// Runs the timers that no log tells of, as far as they are due by `until_ms`.
    fn run_unlogged(&mut self, until_ms: i64) {
        loop {
            self.plan_tick(until_ms);
            let once = [ServerTimer::DeltaRetention, ServerTimer::SyncRetry, ServerTimer::WarmUpEnd];
            let due = |timer| {
                let (due, _) = self.server.as_ref()?.timer(timer)?;
                Some((self.after_pause(self.in_recording(due)), Some(timer)))
            };
            let late = if self.bucket.target.is_some() { TIE_MS } else { 0 };
            let bucket = self.bucket.due_ms.map(|due_ms| (due_ms + late, None));
            let next = once.into_iter().filter_map(due).chain(bucket).min_by_key(|next| next.0);
            let Some((at_ms, timer)) = next.filter(|next| next.0 <= until_ms) else { return };
            self.now_ms = self.now_ms.max(at_ms);
            match timer {
                None => self.tick(),
                Some(ServerTimer::SyncRetry) => self.retry_sync(),
                Some(timer) => self.fire(timer, None),
            }
            self.note();
        }
    }

    fn retry_sync(&mut self) {
        let life = self.timeline.life_at(self.now_ms).expect("a server runs");
        let (last, life_open) = (self.now_ms + 5_000 >= life.open_ms, life.open_count);
        let views = if last { self.own_views() } else { vec![None] };
        let (count, copied) = (life.open_count, life.copied.clone());
        self.copied.clear();
        self.run_logged(ServerTimer::SyncRetry, &views, |server| {
            server.is_open() && server.expected() == count
        });
        let here: BTreeSet<InstanceId> = self.copied.clone();
        let there: BTreeSet<InstanceId> = copied.iter().map(|name| self.id(name)).collect();
        if here != there {
            self.differ(format!("copied at the start: {} here, {} there", here.len(), there.len()));
        }
        let opened = self.server.as_ref().map(EurekaServer::is_open);
        if opened != Some(last) {
            self.differ(format!("open: {opened:?} here; with {life_open} there at {}", life.open_ms));
        }
    }

    /// Decides, a tie before the bucket is due, at which count it must tick.
    fn plan_tick(&mut self, until_ms: i64) {
        let Some(due_ms) = self.bucket.due_ms else { return };
        if self.bucket.planned || until_ms < due_ms - TIE_MS {
            return;
        }
        self.bucket.planned = true;
        let Some(recorded) = self.recorded_renewals(due_ms) else { return };
        let coming = self.successes(self.now_ms.max(due_ms - TIE_MS), due_ms);
        if self.own_renewals() == 0 && self.bucket.renewals + coming != recorded {
            self.bucket.target = Some(recorded);
            if self.bucket.renewals == recorded {
                self.tick();
            }
        }
    }

    /// What the dashboard showed after the tick at `due_ms`, if it was read.
    fn recorded_renewals(&self, due_ms: i64) -> Option<u32> {
        let read_by = due_ms + READING_MS;
        let open_ms = self.timeline.life_at(due_ms)?.open_ms;
        let stops = |row: &&FaultRow| {
            let stops = matches!(row.fault.as_str(), "crash" | "pause") && row.target == self.timeline.server;
            stops && (due_ms..=read_by).contains(&row.t_ms)
        };
        if self.recording.faults.iter().any(|row| stops(&row)) || read_by > self.timeline.end_ms {
            return None;
        }
        let row = self.recording.gauges.iter().rev().find(|row| row.t_ms <= read_by)?;
        (row.t_ms >= open_ms).then_some(row.renews_last_min)
    }

    /// How many instances renew unseen.
    fn own_renewals(&self) -> usize {
        if self.config.register_with_eureka { self.timeline.unrecorded.len() } else { 0 }
    }

    fn tick(&mut self) {
        self.renew_own();
        self.before_tick = self.server.clone().map(|server| (self.now_ms, server));
        self.fire(ServerTimer::RenewalBucket, None);
        let next = self.server.as_ref().and_then(|server| server.timer(ServerTimer::RenewalBucket));
        let due_ms = next.map(|(due, _)| self.after_pause(self.in_recording(due)));
        self.bucket = Bucket { due_ms, since_ms: self.now_ms, ..Bucket::default() };
    }

    /// The renewals that the server sent to itself in the bucket that is about to be closed.
    fn renew_own(&mut self) {
        if self.own_renewals() == 0 {
            return;
        }
        let Some(recorded) = self.recorded_renewals(self.now_ms) else { return };
        let unseen = i64::from(recorded) - i64::from(self.bucket.renewals);
        let beats = (self.now_ms - self.bucket.since_ms) / 30_000;
        if !(beats - 1..=beats + 1).contains(&unseen) {
            self.differ(format!("{unseen} renewals unseen, for {beats} beats of the server's own"));
        }
        let own: Vec<InstanceId> = self.timeline.unrecorded.iter().map(|name| self.id(name)).collect();
        for &instance in own.iter().cycle().take(unseen.max(0) as usize) {
            self.with(|server, step| {
                server.on_request(&Request::Renew { instance, last_dirty: WallMs(0) }, step)
            });
        }
    }

    fn fire(&mut self, timer: ServerTimer, own_view: Option<View>) {
        let Some((due, generation)) = self.server.as_ref().and_then(|server| server.timer(timer)) else {
            return;
        };
        let now_ms = self.now_ms;
        self.now_ms = now_ms.max(self.in_recording(due));
        self.with(|server, step| server.on_timer(timer, generation, own_view, step));
        self.now_ms = now_ms;
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut EurekaServer, &mut ServerStep<'_>) -> R) -> Option<R> {
        let now = self.now();
        let mut out = Vec::new();
        let mut step =
            Step { now, dice: self.chance.with(&self.seed), views: &mut self.views, out: &mut out };
        let result = act(self.server.as_mut()?, &mut step);
        self.take(out);
        Some(result)
    }

    fn take(&mut self, out: Vec<ServerEffect>) {
        let mut opened = false;
        for effect in out {
            match effect {
                ServerEffect::Fact(Fact::LeaseRegistered { instance, .. }) => {
                    self.copied.insert(instance);
                }
                ServerEffect::Fact(Fact::OpenedForTraffic { expected }) => {
                    opened = true;
                    self.compare_opening(expected);
                }
                ServerEffect::Fact(Fact::ThresholdUpdated { threshold, .. }) => {
                    if std::mem::take(&mut opened) {
                        self.compare_opening_threshold(threshold);
                    }
                    // One round lowers it step by step, and the dashboard may be read between two steps.
                    let last = self.server.as_ref().map_or(0, EurekaServer::renews_last_min);
                    self.gauges.push(self.now_ms, Some((threshold, last)));
                }
                ServerEffect::Fact(_) | ServerEffect::SetTimer { .. } => {}
            }
        }
    }

    fn compare_opening(&mut self, expected: u32) {
        let Some(life) = self.timeline.life_at(self.now_ms) else { return };
        if expected != life.open_count {
            self.differ(format!("opened with {expected} here, {} there", life.open_count));
        }
    }

    fn compare_opening_threshold(&mut self, threshold: u32) {
        let life = self.timeline.life_at(self.now_ms);
        let recorded = life.and_then(|life| life.open_threshold);
        self.outcome.compared.thresholds += u32::from(recorded.is_some());
        if recorded.is_some_and(|recorded| recorded != threshold) {
            self.differ(format!("threshold at opening: {threshold} here, {recorded:?} there"));
        }
    }

    /// Notes what is served and what the dashboard shows after something happened.
    fn note(&mut self) {
        let Some(server) = &self.server else { return };
        let view = server.served_view();
        let served = self.views.instances(view);
        let names =
            |id: InstanceId| self.ids.iter().find(|entry| *entry.1 == id).map(|entry| entry.0.clone());
        let named = served.into_iter().filter_map(|(id, status)| Some((names(id)?, status)));
        self.served.push_view(self.now_ms, view, || named.collect());
        self.gauges.push(self.now_ms, Some((server.threshold(), server.renews_last_min())));
    }

    fn was_touched_since(&self, instance: InstanceId, t_ms: i64) -> bool {
        self.touched.get(&instance).is_some_and(|&at| at >= t_ms)
    }

    fn now(&self) -> Now {
        let mono = SimTime::from_millis((self.now_ms + MONO_AT_ZERO_MS) as u64);
        Now { mono, wall: WallMs(self.recording.experiment.t0_epoch_ms + self.now_ms) }
    }

    fn now_for_round(&self) -> Now {
        let now = self.now();
        if self.mutation != Mutation::NoCompensation {
            return now;
        }
        let interval = i64::from(self.config.eviction_interval_timer_in_ms);
        Now { mono: SimTime::from_millis((self.rounds * interval) as u64), ..now }
    }

    fn in_recording(&self, due: Due) -> i64 {
        match due {
            Due::Wall(due) => due.0 - self.recording.experiment.t0_epoch_ms,
            Due::Mono(due) => due.as_millis() as i64 - MONO_AT_ZERO_MS,
        }
    }

    /// The moment itself, or the end of the pause that it falls in.
    fn after_pause(&self, t_ms: i64) -> i64 {
        let pause = self.pauses.iter().find(|&&(from, to)| (from..to).contains(&t_ms));
        pause.map_or(t_ms, |&(_, to)| to)
    }

    fn id(&mut self, name: &str) -> InstanceId {
        let next = InstanceId(self.ids.len() as u32);
        *self.ids.entry(name.to_owned()).or_insert(next)
    }

    fn differ(&mut self, what: String) {
        self.outcome.differences.push(format!("{}: {what}", self.now_ms));
    }
}
