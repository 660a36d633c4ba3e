//! The bodies of recorded answers: what each server served when, told from its log: the registry from its
//! `registered` and `cancelled` lines (a peer's copy is one like any other), the read-only cache from its ticks.
//! The client replay feeds real clients with them.
//!
//! One race is part of it: a change that comes while an entry of the read-write cache is being loaded does
//! not invalidate it (so Guava's `LoadingCache` has it), and the entry stays stale until it expires. In
//! `client-defaults-1` the registration of `java4` at 62.671 s fell into the first delta, asked at 62.637 s:
//! every client met a hash mismatch at the first tick after that entry's 180 s.

use std::collections::BTreeMap;

use stillup::model::id::{AppId, InstanceId, ServerId};
use stillup::model::message::Status;
use stillup::model::view::{LifeId, Payload, Presence, Views};

use super::records::Recording;

/// `retention-time-in-m-s-in-delta-queue`, ms.
const RETENTION_MS: i64 = 180_000;
/// `delta-retention-timer-interval-in-ms`: how often what is older is dropped.
const RETENTION_TIMER_MS: i64 = 30_000;
/// `response-cache-auto-expiration-in-seconds`, ms.
const EXPIRATION_MS: i64 = 180_000;

/// What the servers' two cache entries held, and the registry logs behind them.
pub(crate) struct Answers {
    pub(crate) views: Views,
    pub(crate) numbers: BTreeMap<String, InstanceId>,
    /// By server.
    served: Vec<Served>,
}

/// What one server's two cache entries held.
#[derive(Default)]
struct Served {
    /// Changes of the entry for the full registry: (from when, what).
    full: Vec<(i64, Payload)>,
    /// Changes of the entry for the delta.
    delta: Vec<(i64, Payload)>,
}

/// An entry of the read-write cache.
#[derive(Clone, Copy)]
struct Loaded {
    payload: Payload,
    /// When it was loaded; changes until then do not invalidate it.
    at_ms: i64,
}

/// One life of the server.
struct ServerLife {
    life: LifeId,
    opened_ms: i64,
    /// When each entry of the delta queue was queued.
    queued_at: Vec<i64>,
    full: Option<Loaded>,
    delta: Option<Loaded>,
    /// Whether the read-only cache has an entry for the delta, which each tick then renews.
    delta_is_cached: bool,
}

/// A moment at which something changes.
enum Moment<'a> {
    Opened,
    Registered(&'a str, Status),
    Removed(&'a str),
    CacheTick,
    DeltaAsked { done_ms: i64 },
}

impl Answers {
    /// Works through the servers' logs of a folder.
    pub(crate) fn of(recording: &Recording) -> Self {
        let mut answers = Self { views: Views::default(), numbers: BTreeMap::new(), served: Vec::new() };
        for name in recording.experiment.servers.keys() {
            answers.served.push(Served::default());
            answers.work_through(moments(recording, name));
        }
        answers
    }

    /// Works through the log of the server that was pushed last.
    fn work_through(&mut self, moments: Vec<(i64, Moment<'_>)>) {
        let answers = self;
        let mut server: Option<ServerLife> = None;
        for (at_ms, moment) in moments {
            if let Moment::Opened = moment {
                let life = answers.views.begin_life();
                let (queued_at, delta_is_cached) = (Vec::new(), false);
                let opened = server.insert(ServerLife {
                    life,
                    opened_ms: at_ms,
                    queued_at,
                    full: None,
                    delta: None,
                    delta_is_cached,
                });
                // A poll of the recording's own observer loads the entry as soon as the server answers.
                answers.serve_full(opened, at_ms);
            }
            let Some(server) = &mut server else { continue };
            match moment {
                Moment::Opened => {}
                Moment::Registered(name, status) => {
                    answers.put(server, name, Presence::Present(status), at_ms);
                }
                Moment::Removed(name) => answers.put(server, name, Presence::Absent, at_ms),
                Moment::DeltaAsked { done_ms } => {
                    if !std::mem::replace(&mut server.delta_is_cached, true) {
                        answers.serve_delta(server, at_ms, done_ms);
                    }
                }
                Moment::CacheTick => {
                    answers.serve_full(server, at_ms);
                    if server.delta_is_cached {
                        answers.serve_delta(server, at_ms, at_ms);
                    }
                }
            }
        }
    }

    /// What a fetch that `server` answered at `at_ms` got.
    pub(crate) fn at(&self, server: ServerId, full: bool, at_ms: i64) -> Option<Payload> {
        let served = &self.served[server.0 as usize];
        let entry = if full { &served.full } else { &served.delta };
        entry.iter().rev().find(|(from, _)| *from <= at_ms).map(|&(_, payload)| payload)
    }

    /// Changes the registry, queues the change and invalidates what was loaded before it.
    fn put(&mut self, server: &mut ServerLife, name: &str, presence: Presence, at_ms: i64) {
        let next = InstanceId(self.numbers.len() as u32);
        let instance = *self.numbers.entry(name.to_owned()).or_insert(next);
        let app = AppId(u32::from(name.starts_with("java")));
        let log = self.views.log_mut(server.life);
        log.put(app, instance, presence);
        log.announce(instance);
        server.queued_at.push(at_ms);
        for entry in [&mut server.full, &mut server.delta] {
            *entry = entry.filter(|loaded| at_ms <= loaded.at_ms);
        }
    }

    /// The read-only cache takes over the entry for the full registry.
    fn serve_full(&mut self, server: &mut ServerLife, at_ms: i64) {
        server.full = self.load(server, server.full, at_ms, at_ms);
        self.last().full.extend(server.full.map(|loaded| (at_ms, loaded.payload)));
    }

    /// The read-only cache takes over the entry for the delta, which takes until `done_ms` to load.
    fn serve_delta(&mut self, server: &mut ServerLife, at_ms: i64, done_ms: i64) {
        server.delta = self.load(server, server.delta, at_ms, done_ms);
        self.last().delta.extend(server.delta.map(|loaded| (at_ms, loaded.payload)));
    }

    fn last(&mut self) -> &mut Served {
        self.served.last_mut().expect("a server is worked through")
    }

    /// The entry as it is, or loaded anew if there is none or it has expired.
    fn load(&self, server: &ServerLife, held: Option<Loaded>, at_ms: i64, done_ms: i64) -> Option<Loaded> {
        let fresh = || {
            let log = self.views.log(server.life);
            // The timer starts with the registry, a moment before it opens.
            let swept_ms = at_ms - (at_ms - server.opened_ms).rem_euclid(RETENTION_TIMER_MS);
            let purged = server.queued_at.partition_point(|&at| at < swept_ms - RETENTION_MS) as u32;
            let (life, version, queue_tail) = (server.life, log.version(), log.queued());
            Loaded { payload: Payload { life, version, queue_head: purged, queue_tail }, at_ms: done_ms }
        };
        Some(held.filter(|loaded| at_ms < loaded.at_ms + EXPIRATION_MS).unwrap_or_else(fresh))
    }
}

/// Everything that changes what `server` serves, in order.
fn moments<'a>(recording: &'a Recording, server: &str) -> Vec<(i64, Moment<'a>)> {
    let mut moments = Vec::new();
    for line in recording.log.iter().filter(|line| line.server == server) {
        let moment = match line.event.as_str() {
            "open-for-traffic" => Moment::Opened,
            "registered" => Moment::Registered(&line.instance, status(&line.value)),
            "cancelled" => Moment::Removed(&line.instance),
            "cache-refresh" => Moment::CacheTick,
            _ => continue,
        };
        moments.push((line.t_ms, moment));
    }
    let deltas = recording.calls.iter().filter(|call| call.server == server && call.kind == "fetch-delta");
    moments.extend(deltas.map(|call| (call.sent_ms, Moment::DeltaAsked { done_ms: call.done_ms })));
    moments.sort_by_key(|&(at_ms, _)| at_ms);
    moments
}

/// The status in a line like `UP;replication=false`.
fn status(value: &str) -> Status {
    let name = value.split(';').next().unwrap_or_default();
    Status::ALL.into_iter().find(|status| status.name() == name).unwrap_or(Status::Unknown)
}
