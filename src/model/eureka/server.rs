//! The Eureka server as a machine: it is told of requests and of timers that fired, and answers with replies,
//! settings of timers and facts. One value is one life of a server process: a restart is a new value.
//!
//! What goes on inside stands in the files beside this one, by idea; the operations of the registry are in
//! `requests`. Here is the order in which things happen: the start, the timers, the eviction round, and what
//! a client would be served.
//!
//! Left out on purpose: remote regions, AWS and auto-scaling groups, queries by VIP, payload formats, and the
//! WAR's rate limiter, which no Spring server installs.
//!
//! Source: `eureka-server.md` sections 1 to 9.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cache::{self, Key, Loaded, ResponseCache};
use super::changed::ChangedQueue;
use super::config::ServerConfig;
use super::effect::{OwnRegistry, ServerEffect, ServerStep};
use super::eviction::{self, Lateness, Round};
use super::lease::Lease;
use super::meter::{self, MeasuredRate};
use super::registry::LeaseTable;
use super::replication::Peers;
use super::self_preservation::RenewalThreshold;
use super::startup::Startup;
use super::status::Overrides;
use super::timers::{ServerTimer, Timers};
use crate::model::clock::{Due, Now, WallMs};
use crate::model::fact::{EvictionRound, Fact};
use crate::model::id::{InstanceId, ServerId};
use crate::model::message::{Record, Status};
use crate::model::view::{LifeId, Payload, View, Views};

/// One life of a server.
#[derive(Clone)]
pub struct EurekaServer {
    pub(super) config: Arc<ServerConfig>,
    pub(super) life: LifeId,
    pub(super) leases: LeaseTable,
    pub(super) overrides: Overrides,
    pub(super) changed: ChangedQueue,
    pub(super) renewals: MeasuredRate,
    pub(super) threshold: RenewalThreshold,
    pub(super) cache: ResponseCache,
    pub(super) startup: Startup,
    /// The last records of instances that left, or registered with another status, before the server opened or, where
    /// servers fetch, at any time: a copy may bring them back, since what it copies is older.
    pub(super) departed: BTreeMap<InstanceId, Record>,
    pub(super) peers: Peers,
    /// How many records have been registered: the number of the last.
    pub(super) registrations: u32,
    lateness: Lateness,
    timers: Timers,
    served: View,
}

impl EurekaServer {
    /// Starts a server: its registry and timers exist at once, and the copy of what its own client holds begins.
    /// What clients tell it is passed on to `peers`, in this order; one that does not recognise its own URL is among
    /// its own peers.
    ///
    /// `generation` is 0 for the first life of a node and [`EurekaServer::next_generation`] of its
    /// predecessor for a later one, so that timers set by an earlier life are stale.
    pub fn start(
        config: Arc<ServerConfig>,
        generation: u16,
        peers: &[ServerId],
        own: OwnRegistry<'_>,
        step: &mut ServerStep<'_>,
    ) -> Self {
        let mut server = Self {
            life: step.views.begin_life(),
            leases: LeaseTable::default(),
            overrides: Overrides::default(),
            changed: ChangedQueue::default(),
            renewals: MeasuredRate::default(),
            threshold: RenewalThreshold::new(&config),
            cache: ResponseCache::new(
                config.use_read_only_response_cache,
                config.response_cache_auto_expiration_in_seconds,
            ),
            startup: Startup::Syncing { tries: 0 },
            departed: BTreeMap::new(),
            peers: Peers::new(peers, generation, &config),
            registrations: 0,
            lateness: Lateness::default(),
            timers: Timers::new(generation),
            served: View::EMPTY,
            config,
        };
        server.arm(ServerTimer::DeltaRetention, step);
        if server.config.use_read_only_response_cache {
            let first = cache::first_refresh(step.now.wall, server.config.response_cache_update_interval_ms);
            server.set(ServerTimer::CacheRefresh, Due::Wall(first), step);
        }
        server.arm(ServerTimer::ThresholdUpdate, step);
        server.sync_up(own, step);
        server.note_served(step);
        server
    }

    /// A timer fired.
    pub fn on_timer(
        &mut self,
        timer: ServerTimer,
        generation: u16,
        own: OwnRegistry<'_>,
        step: &mut ServerStep<'_>,
    ) {
        let Some(due) = self.timers.current(timer, generation) else { return };
        if !self.timers.is_due(timer, step.now) {
            // The wall clock was set back meanwhile: wait for the rest.
            self.set(timer, due, step);
            return;
        }
        let before = self.goes_before(timer);
        if let Some(first) = before.filter(|&first| self.timers.would_run(first, step.now)) {
            // Both are due at once: what the world scheduled first need not be what runs first.
            self.timers.forget(first);
            self.run(first, own, step);
        }
        self.run(timer, own, step);
        self.note_served(step);
    }

    /// The node's wall clock was stepped. Waiting timers do not notice (see [`ServerTimer`]'s module); what is
    /// served can change, since the refusal after an empty start goes by the wall clock.
    /// The queues towards peers do, since their loop looks at the clock all the time.
    pub fn on_clock_step(&mut self, step: &mut ServerStep<'_>) {
        self.look_at_all_peers(step);
        self.note_served(step);
    }

    /// Puts other settings in force, of those that the original reads anew each time: each shows where it is next
    /// read. The threshold, for one, is computed again only when the expected number of clients changes, whatever
    /// becomes of the settings that it was computed from (`eureka-server.md` 4.2).
    pub fn set_config(&mut self, config: Arc<ServerConfig>) {
        self.config = config;
    }

    /// The first half of an eviction round: who is expired and how many may go.
    pub fn open_round(&mut self, now: Now) -> Round {
        let interval_ms = self.config.eviction_interval_timer_in_ms;
        let compensation_ms = self.lateness.compensation_ms(now.mono, interval_ms);
        let registered = self.leases.registered();
        if !self.permits_expiration() {
            let expired = Vec::new();
            return Round { enabled: false, compensation_ms, expired, limit: 0, registered };
        }
        let expired = self.leases.expired(now.wall, compensation_ms).collect();
        let limit = eviction::limit(registered, self.config.renewal_percent_threshold);
        Round { enabled: true, compensation_ms, expired, limit, registered }
    }

    /// The second half: removes the chosen. They should be among the round's expired and within its limit;
    /// whoever has no lease is skipped.
    pub fn close_round(&mut self, round: &Round, chosen: &[InstanceId], step: &mut ServerStep<'_>) {
        let mut evicted = 0;
        for &instance in chosen {
            evicted += u32::from(self.evict(instance, step));
        }
        tell(
            step,
            Fact::EvictionRoundEnded(EvictionRound {
                enabled: round.enabled,
                compensation_ms: round.compensation_ms,
                expired: round.expired.len() as u32,
                limit: round.limit,
                evicted,
                registered: round.registered,
            }),
        );
        self.note_served(step);
    }

    /// Whether requests reach the server: plain Netflix serves nothing before it is open.
    pub fn is_serving(&self) -> bool {
        self.startup.is_serving(self.config.flavour)
    }

    /// Whether `openForTraffic` was called.
    pub fn is_open(&self) -> bool {
        self.startup.is_open()
    }

    /// What `GET /apps` would return now: [`View::EMPTY`] while nothing is served or fetches are refused.
    pub fn served_view(&self) -> View {
        self.served
    }

    /// The log of this life.
    pub fn life(&self) -> LifeId {
        self.life
    }

    /// The settings.
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// `expectedNumberOfClientsSendingRenews`.
    pub fn expected(&self) -> u32 {
        self.threshold.expected(&self.config)
    }

    /// `numberOfRenewsPerMinThreshold`.
    pub fn threshold(&self) -> u32 {
        self.threshold.threshold()
    }

    /// Renewals in the last closed minute.
    pub fn renews_last_min(&self) -> u32 {
        self.renewals.count()
    }

    /// Leases, expired ones included.
    pub fn registered(&self) -> u32 {
        self.leases.registered()
    }

    /// Leases that are expired, without compensation.
    pub fn expired(&self, now: WallMs) -> u32 {
        self.leases.expired(now, 0).count() as u32
    }

    /// The lease of an instance.
    pub fn lease(&self, instance: InstanceId) -> Option<&Lease> {
        self.leases.lease(instance)
    }

    /// The record behind an answer that shows an instance with this status: the one that is held, or the last that was
    /// like that, of an instance that has left or changed since. Those are forgotten where no server fetches.
    pub fn record_shown_as(&self, instance: InstanceId, status: Status) -> Option<Record> {
        let held = self.leases.lease(instance).map(|lease| &lease.record);
        let known = [held, self.departed.get(&instance)].into_iter().flatten();
        known.clone().find(|record| record.status == status).or(known.clone().next()).copied()
    }

    /// Whether self-preservation is on and holds evictions back.
    pub fn self_preservation_engaged(&self) -> bool {
        !self.permits_expiration()
    }

    /// When a timer is due next, and the generation of that setting.
    pub fn timer(&self, timer: ServerTimer) -> Option<(Due, u16)> {
        Some((self.timers.due(timer)?, self.timers.generation(timer)))
    }

    /// The generation with which the next life of this node must start.
    pub fn next_generation(&self) -> u16 {
        self.timers.next_generation().max(self.peers.next_generation())
    }

    /// `isLeaseExpirationEnabled`.
    pub(super) fn permits_expiration(&self) -> bool {
        self.threshold.permits_expiration(self.renewals.count(), &self.config)
    }

    /// Runs a job. The next due time counts from the start of the run, before it is decided what it does.
    fn run(&mut self, timer: ServerTimer, own: OwnRegistry<'_>, step: &mut ServerStep<'_>) {
        match timer {
            ServerTimer::DeltaRetention => {
                self.arm(timer, step);
                self.changed.purge(step.now.wall, self.config.retention_time_in_ms_in_delta_queue);
            }
            ServerTimer::CacheRefresh => {
                self.arm(timer, step);
                self.refresh_cache(step);
            }
            ServerTimer::ThresholdUpdate => {
                self.arm(timer, step);
                self.update_threshold(own.view, step);
            }
            ServerTimer::RenewalBucket => {
                self.arm(timer, step);
                let renewals = self.renewals.tick();
                tell(step, Fact::RenewalsCounted { renewals });
            }
            ServerTimer::Eviction => {
                self.arm(timer, step);
                let round = self.open_round(step.now);
                let quota = round.quota();
                let chosen = eviction::choose(round.expired.clone(), quota, &mut step.rng);
                self.close_round(&round, &chosen, step);
            }
            ServerTimer::SyncRetry => {
                self.timers.forget(timer);
                self.sync_up(own, step);
            }
            ServerTimer::WarmUpEnd => self.timers.forget(timer),
        }
    }

    /// The other of the two minute jobs, if it runs first when both are due (`eureka-server.md` 9.1).
    fn goes_before(&self, timer: ServerTimer) -> Option<ServerTimer> {
        match (timer, self.config.eviction_before_bucket) {
            (ServerTimer::Eviction, false) => Some(ServerTimer::RenewalBucket),
            (ServerTimer::RenewalBucket, true) => Some(ServerTimer::Eviction),
            _ => None,
        }
    }

    fn update_threshold(&mut self, own_view: Option<View>, step: &mut ServerStep<'_>) {
        let count = own_view.map_or(0, |view| {
            let counts = step.views.counts(view);
            if self.config.filter_only_up_instances { counts.of(Status::Up) } else { counts.total() }
        });
        if self.threshold.update(count, &self.config) {
            self.tell_threshold(step);
        }
    }

    fn refresh_cache(&mut self, step: &mut ServerStep<'_>) {
        let payload = self.payload(step.views);
        let leases = &self.leases;
        self.cache.refresh(step.now.mono, |key| load(key, payload, leases));
    }

    /// What a load now would give.
    pub(super) fn payload(&self, views: &Views) -> Payload {
        Payload {
            life: self.life,
            version: views.log(self.life).version(),
            queue_head: self.changed.head(),
            queue_tail: self.changed.tail(),
        }
    }

    /// Tells of a change in what is served, if there is one.
    pub(super) fn note_served(&mut self, step: &mut ServerStep<'_>) {
        let served = self.would_serve(step.now, step.views);
        if served != self.served {
            tell(step, Fact::ServedChanged { from: self.served, to: served });
            self.served = served;
        }
    }

    fn would_serve(&self, now: Now, views: &Views) -> View {
        if !self.is_serving() || !self.startup.allows_access(now.wall, &self.config) {
            return View::EMPTY;
        }
        let payload = self.cache.cached_full(now.mono);
        payload.unwrap_or_else(|| self.payload(views)).full_view()
    }

    pub(super) fn tell_threshold(&self, step: &mut ServerStep<'_>) {
        let (expected, threshold) = (self.expected(), self.threshold());
        tell(step, Fact::ThresholdUpdated { expected, threshold });
    }

    /// Sets a repeating timer one period from now.
    pub(super) fn arm(&mut self, timer: ServerTimer, step: &mut ServerStep<'_>) {
        let period_ms = match timer {
            ServerTimer::DeltaRetention => self.config.delta_retention_timer_interval_in_ms.into(),
            ServerTimer::CacheRefresh => self.config.response_cache_update_interval_ms.into(),
            ServerTimer::ThresholdUpdate => self.config.renewal_threshold_update_interval_ms.into(),
            ServerTimer::RenewalBucket => meter::PERIOD_MS,
            ServerTimer::Eviction => self.config.eviction_interval_timer_in_ms.into(),
            ServerTimer::SyncRetry | ServerTimer::WarmUpEnd => unreachable!("these fire once"),
        };
        // `java.util.Timer` refuses a period of 0; the smallest one keeps a run finite.
        self.set(timer, Due::Wall(step.now.wall.plus(period_ms.max(1))), step);
    }

    pub(super) fn set(&mut self, timer: ServerTimer, due: Due, step: &mut ServerStep<'_>) {
        let generation = self.timers.set(timer, due, step.now);
        step.out.push(ServerEffect::SetTimer { timer, due, generation });
    }
}

/// What the registry holds for `key`.
pub(super) fn load(key: Key, payload: Payload, leases: &LeaseTable) -> Loaded {
    let found = match key {
        Key::AllApps | Key::AllAppsDelta => true,
        Key::App(app) => leases.has_app(app),
    };
    Loaded { payload, found }
}

pub(super) fn tell(step: &mut ServerStep<'_>, fact: Fact) {
    step.out.push(ServerEffect::Fact(fact));
}
