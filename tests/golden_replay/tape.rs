//! What a recording holds of its real clients: their calls, as the servers' access logs have them, what
//! observers inside them saw, and their settings.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use stillup::engine::SimDuration;
use stillup::model::eureka::client::{BalancerConfig, ClientConfig};
use stillup::model::eureka::{Flavour, Release};
use stillup::model::id::ServerId;
use stillup::model::message::RequestKind;

use super::records::Recording;

/// The observer asked its balancer about every 50 ms, so a list was refreshed half of that after its time to
/// live on the average.
const BALANCER_POLL_MS: u64 = 50;

/// Whether a request is a fetch of either kind.
pub(crate) fn is_fetch(kind: RequestKind) -> bool {
    matches!(kind, RequestKind::FetchFull | RequestKind::FetchDelta)
}

/// A recorded call of a real client.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) sent_ms: i64,
    pub(crate) done_ms: i64,
    pub(crate) kind: RequestKind,
    server: ServerId,
    instance: String,
    pub(crate) status: u16,
    claimed: bool,
}

/// The recorded calls of all real clients, and who they have turned out to be.
#[derive(Clone)]
pub(crate) struct Tape {
    rows: Vec<Row>,
}

impl Tape {
    pub(crate) fn of(recording: &Recording) -> Self {
        let real = |actor: &str| actor.contains("HttpClient") || actor.contains("EurekaClient");
        let servers: Vec<&String> = recording.experiment.servers.keys().collect();
        let rows = recording.calls.iter().filter(|call| real(&call.actor)).filter_map(|call| {
            let kind = RequestKind::ALL.into_iter().find(|kind| kind.name() == call.kind)?;
            Some(Row {
                sent_ms: call.sent_ms,
                done_ms: call.done_ms,
                kind,
                server: ServerId(servers.iter().position(|name| **name == call.server)? as u32),
                instance: call.instance.clone(),
                status: call.status.parse().ok()?,
                claimed: false,
            })
        });
        Self { rows: rows.collect() }
    }

    /// When the last call ended.
    pub(crate) fn ends_ms(&self) -> i64 {
        self.rows.iter().map(|row| row.done_ms).max().unwrap_or(0)
    }

    /// The call to `server` nearest to `at_ms` and within `range_ms` that nobody has claimed and that can be
    /// `name`'s. Rows of fetches name no client: with fixed delays their phases tell them apart.
    pub(crate) fn claim(
        &mut self,
        name: &str,
        (kind, server): (RequestKind, ServerId),
        at_ms: i64,
        range_ms: RangeInclusive<i64>,
    ) -> Option<&Row> {
        let row = self
            .rows
            .iter_mut()
            .filter(|row| !row.claimed && row.server == server)
            .filter(|row| row.instance.is_empty() || row.instance == name)
            .filter(|row| row.kind == kind || (is_fetch(row.kind) && is_fetch(kind)))
            .filter(|row| range_ms.contains(&row.sent_ms))
            .min_by_key(|row| (row.sent_ms - at_ms).abs())?;
        row.claimed = true;
        Some(row)
    }

    /// How many calls were claimed.
    pub(crate) fn claimed(&self) -> u32 {
        self.rows.iter().filter(|row| row.claimed).count() as u32
    }

    /// Recorded calls that no client made.
    pub(crate) fn unclaimed(&self, recording: &Recording) -> Vec<String> {
        let stops: Vec<i64> =
            recording.faults.iter().filter(|r| r.fault == "shutdown").map(|r| r.t_ms).collect();
        let drains = |row: &Row| {
            let cancelled = |stop: i64| {
                let cancels = self.rows.iter().filter(|row| row.kind == RequestKind::Cancel);
                cancels.map(|row| row.sent_ms).find(|&at| at >= stop).unwrap_or(stop)
            };
            stops.iter().any(|&stop| (stop..=cancelled(stop)).contains(&row.sent_ms))
        };
        let left = self.rows.iter().filter(|row| !row.claimed && !drains(row));
        left.map(|row| {
            format!("{}: {} {}: nobody made this call", row.sent_ms, row.kind.name(), row.instance)
        })
        .collect()
    }
}

/// What an observer saw after each of its changes.
pub(crate) fn sights<'a>(observer: &str, recording: &'a Recording) -> Vec<(i64, BTreeSet<&'a str>)> {
    let mut changes: Vec<(i64, BTreeSet<&str>)> = Vec::new();
    for sight in recording.sights.iter().filter(|sight| sight.observer == observer) {
        if changes.last().is_none_or(|(at_ms, _)| *at_ms != sight.done_ms) {
            let before = changes.last().map(|(_, seen)| seen.clone()).unwrap_or_default();
            changes.push((sight.done_ms, before));
        }
        let seen = &mut changes.last_mut().expect("just pushed").1;
        match sight.change.as_str() {
            "seen" => drop(seen.insert(&sight.instance)),
            "gone" => drop(seen.remove(sight.instance.as_str())),
            _ => {}
        }
    }
    changes
}

/// The settings that the folder's clients ran with.
pub(crate) fn config(recording: &Recording) -> ClientConfig {
    let experiment = &recording.experiment;
    let release = experiment.spring_cloud_netflix.as_deref().map(|name| {
        // A patch that is too new for us is like the newest that we know.
        let line = name.rsplit_once('.').map_or(name, |(line, _)| line);
        let parsed = [name, line].into_iter().find_map(|name| Release::parse(name, Flavour::Spring).ok());
        parsed.unwrap_or_else(|| Release::newest(Flavour::Spring))
    });
    let release = release.unwrap_or_else(|| Release::newest(Flavour::Netflix));
    let words = experiment.java_clients.as_ref().unwrap_or(&experiment.about);
    let balancer = match release.balancer() {
        BalancerConfig::SpringCloudLoadBalancer { .. } => {
            let ttl_ms = u64::from(seconds(words, "balancer cache ").unwrap_or(35)) * 1_000;
            let ttl = SimDuration::from_millis(ttl_ms + BALANCER_POLL_MS / 2);
            BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: None }
        }
        other => other,
    };
    ClientConfig {
        lease_renewal_interval_in_seconds: experiment.heartbeat_s as u32,
        lease_expiration_duration_in_seconds: experiment.lease_s as u32,
        registry_fetch_interval_seconds: seconds(words, "fetch ").unwrap_or(30),
        transport: release.transport(),
        server_order: release.server_order(),
        balancer,
        ..ClientConfig::defaults(Flavour::Spring)
    }
}

/// The number in `fetch 4 s`.
fn seconds(words: &str, what: &str) -> Option<u32> {
    words.split(what).skip(1).find_map(|after| after.split(' ').next()?.parse().ok())
}
