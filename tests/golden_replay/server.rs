//! The server's replay: recorded calls and timer ticks drive the rules, and everything that the server did is
//! compared with what they do.
//!
//! The allowances: [`TIE_MS`] where two things happen so close together that their order is anybody's guess.
//! The minute bucket's ticks are not logged: each comes at its due time, or within the tie of it where that
//! makes the count right. A server that renews its own lease does so unseen, twice a minute.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use stillup::engine::{Seed, SimTime, Streams};
use stillup::model::clock::{Now, WallMs};
use stillup::model::eureka::{Due, EurekaServer, OwnRegistry, ServerConfig, ServerEffect, ServerStep};
use stillup::model::fact::Fact;
use stillup::model::id::{AppId, InstanceId};
use stillup::model::message::{Record, Replicated, Request, Status};
use stillup::model::step::Step;
use stillup::model::view::Views;

use super::bucket::Bucket;
use super::gauges::{GaugeHistory, Shown};
use super::peers::Membership;
use super::records::{Call, Recording};
use super::served::ServedHistory;
use super::settings::{self, OwnClient};
use super::timeline::{Timeline, What};
use super::{Mutation, Outcome, TIE_MS};

/// The monotonic clock shows this at the recording's zero, so that a server may have started before it.
const MONO_AT_ZERO_MS: i64 = 1_000_000;

/// Replays a recording of one server.
pub(crate) fn replay(recording: &Recording, mutation: Mutation) -> Result<Outcome, String> {
    let (mut config, own) = settings::server_config(&recording.experiment)?;
    let timeline = Timeline::of(recording, &config)?;
    mutation.change(&mut config);
    let mut replay = Replay::new(recording, &timeline, config, own, mutation);
    for (t_ms, what) in &timeline.events {
        replay.run_unlogged(*t_ms);
        replay.now_ms = *t_ms;
        replay.happen(what);
        replay.note();
    }
    Ok(replay.finish())
}

pub(super) struct Replay<'a> {
    pub(super) recording: &'a Recording,
    pub(super) timeline: &'a Timeline,
    pub(super) config: Arc<ServerConfig>,
    pub(super) own: OwnClient,
    pub(super) mutation: Mutation,
    pub(super) pauses: Vec<(i64, i64)>,
    pub(super) server: Option<EurekaServer>,
    pub(super) views: Views,
    pub(super) seed: Seed,
    pub(super) streams: Streams,
    pub(super) now_ms: i64,
    pub(super) ids: BTreeMap<String, InstanceId>,
    /// When somebody was last registered or removed.
    pub(super) touched: BTreeMap<InstanceId, i64>,
    pub(super) bucket: Bucket,
    pub(super) last_round_ms: Option<i64>,
    pub(super) rounds: i64,
    /// The server before the last tick of the bucket, and when that was.
    pub(super) before_tick: Option<(i64, EurekaServer)>,
    pub(super) copied: BTreeSet<InstanceId>,
    /// Killed when its next heartbeat was due, and when: that one may have arrived, which nobody recorded.
    pub(super) doubtful: BTreeMap<InstanceId, i64>,
    pub(super) served: ServedHistory,
    pub(super) gauges: GaugeHistory,
    /// What the other servers have to do with it.
    pub(super) membership: Membership,
    pub(super) outcome: Outcome,
}

impl<'a> Replay<'a> {
    pub(super) fn new(
        recording: &'a Recording,
        timeline: &'a Timeline,
        config: ServerConfig,
        own: OwnClient,
        mutation: Mutation,
    ) -> Self {
        let outcome = Outcome { differences: timeline.oddities.clone(), ..Outcome::default() };
        Self {
            recording,
            timeline,
            config: Arc::new(config),
            own,
            mutation,
            pauses: recording.pauses_of(&timeline.server),
            server: None,
            views: Views::default(),
            seed: Seed::new(0, 0),
            streams: Streams::of("server/1"),
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
            membership: Membership::default(),
            outcome,
        }
    }

    pub(super) fn finish(mut self) -> Outcome {
        let end_ms = self.timeline.end_ms;
        self.served.compare(&self.recording.sights, end_ms, &mut self.outcome);
        self.gauges.compare(&self.recording.gauges, end_ms, &mut self.outcome);
        self.outcome
    }

    pub(super) fn happen(&mut self, what: &What) {
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
            What::Cancelled { instance, replica } => self.cancel(instance, *replica),
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
            rng: self.streams.with(&self.seed),
            views: &mut self.views,
            out: &mut out,
        };
        self.server = Some(EurekaServer::start(
            self.config.clone(),
            number as u16,
            &self.membership.peers,
            OwnRegistry::default(),
            &mut step,
        ));
        self.bucket.due_ms = Some(life.open_ms + 60_000);
        self.bucket.since_ms = life.start_ms;
        self.served.push(self.now_ms, Some(BTreeMap::new()));
        self.take(out);
    }

    fn call(&mut self, call: &Call) {
        let request = match call.kind.as_str() {
            // Those that went through come from the server's own log; this server refuses none.
            "register" => return self.compare_refused(call),
            "renew" => {
                let instance = self.id(&call.instance);
                let lease = self.server.as_ref().and_then(|server| server.lease(instance));
                let last_dirty = lease.map_or(WallMs(0), |lease| lease.record.last_dirty);
                Request::Renew { instance, last_dirty }
            }
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

    /// A registration that was not answered with 204: fine if it got no answer at all.
    fn compare_refused(&mut self, call: &Call) {
        if call.status.parse::<u16>().is_ok() {
            self.differ(format!("registration of {}: 204 here, {} there", call.instance, call.status));
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
        let own = self.timeline.unrecorded.contains(name) && self.config.register_with_eureka;
        let lease_s = if own {
            self.own.lease_s
        } else {
            self.recording.experiment.lease_s + self.mutation.extra_lease_s()
        };
        Record {
            app: AppId(0),
            instance,
            status,
            overridden: Status::Unknown,
            last_dirty: self.last_dirty(name),
            duration_s: lease_s,
            renewal_s: self.recording.experiment.heartbeat_s,
        }
    }

    /// Its record is as young as its last call to any server.
    fn last_dirty(&self, name: &str) -> WallMs {
        let mut registered = self.membership.registered_ms.get(name).into_iter().flatten();
        let last = registered.rfind(|&&t_ms| t_ms <= self.now_ms);
        last.map_or(WallMs(0), |t_ms| WallMs(self.recording.experiment.t0_epoch_ms + t_ms))
    }

    fn cancel(&mut self, name: &str, replica: bool) {
        let instance = self.id(name);
        self.touched.insert(instance, self.now_ms);
        let status = self.with(|server, step| {
            if replica {
                server.on_batch(&[Replicated::Cancel { instance }], step)[0].status
            } else {
                server.on_request(&Request::Cancel { instance }, step).status
            }
        });
        if status != Some(200) {
            self.differ(format!("{name} cancelled, but not registered here"));
        }
    }

    pub(super) fn with<R>(
        &mut self,
        act: impl FnOnce(&mut EurekaServer, &mut ServerStep<'_>) -> R,
    ) -> Option<R> {
        let now = self.now();
        let mut out = Vec::new();
        let mut step =
            Step { now, rng: self.streams.with(&self.seed), views: &mut self.views, out: &mut out };
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
                    self.gauges.push(self.now_ms, Some(self.shown(threshold, last)));
                }
                ServerEffect::SetPeerTimer { .. } | ServerEffect::Replicate { .. } => {
                    self.membership.outbox.push(effect);
                }
                _ => {}
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
    pub(super) fn note(&mut self) {
        let Some(server) = &self.server else { return };
        let view = server.served_view();
        let served = self.views.instances(view);
        let names =
            |id: InstanceId| self.ids.iter().find(|entry| *entry.1 == id).map(|entry| entry.0.clone());
        let named = served.into_iter().filter_map(|(id, status)| Some((names(id)?, status)));
        self.served.push_view(self.now_ms, view, || named.collect());
        let shown = self.shown(server.threshold(), server.renews_last_min());
        self.gauges.push(self.now_ms, Some(shown));
    }

    fn shown(&self, threshold: u32, renewals: u32) -> Shown {
        Shown { threshold, renewals, slack: self.membership.slack }
    }

    fn was_touched_since(&self, instance: InstanceId, t_ms: i64) -> bool {
        self.touched.get(&instance).is_some_and(|&at| at >= t_ms)
    }

    pub(super) fn now(&self) -> Now {
        let mono = SimTime::from_millis((self.now_ms + MONO_AT_ZERO_MS) as u64);
        Now { mono, wall: WallMs(self.recording.experiment.t0_epoch_ms + self.now_ms) }
    }

    pub(super) fn in_recording(&self, due: Due) -> i64 {
        match due {
            Due::Wall(due) => due.0 - self.recording.experiment.t0_epoch_ms,
            Due::Mono(due) => due.as_millis() as i64 - MONO_AT_ZERO_MS,
        }
    }

    /// The moment itself, or the end of the pause that it falls in.
    pub(super) fn after_pause(&self, t_ms: i64) -> i64 {
        let pause = self.pauses.iter().find(|&&(from, to)| (from..to).contains(&t_ms));
        pause.map_or(t_ms, |&(_, to)| to)
    }

    pub(super) fn id(&mut self, name: &str) -> InstanceId {
        let next = InstanceId(self.ids.len() as u32);
        *self.ids.entry(name.to_owned()).or_insert(next)
    }

    pub(super) fn differ(&mut self, what: String) {
        self.outcome.differences.push(format!("{}: {what}", self.now_ms));
    }
}
