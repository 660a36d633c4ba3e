//! The replay of servers that are peers: each is replayed as if it were alone, from the calls that it got and the ticks
//! and lines of its log, and between them go the batches that their rules make.
//!
//! When a batch arrived is not recorded. It is delivered after 3 ms, and what follows has allowances:
//!
//! - What a server hears from a peer comes up to [`LAG_MS`] after the client's call, and so up to that much earlier or
//!   later than here; up to [`links::SETTLING_MS`] while their link is unsettled: just begun, healed, back after a pause.
//! - Registrations and cancellations that came by replication are in the log of the server that heard them. Its replay
//!   takes them from there, so that its threshold and what it serves are as exact as those of a server alone, and what
//!   the model's peers pass on is compared with them ([`passed_on`]).
//! - Heartbeats that came by replication are in no log. The renewals of a minute may differ by those that were under
//!   way at its edges ([`membership::Membership::take_slack`]), and an expiry by the lag of the heartbeat before it.

mod cluster;
mod links;
mod membership;
mod passed_on;
mod scenario;
mod simulate;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use stillup::model::id::ServerId;

use super::records::{Recording, ServerSettings};
use super::server::Replay;
use super::timeline::{Timeline, What};
use super::{Mutation, Outcome, settings};
use cluster::Cluster;
use links::Links;
use membership::{Beat, Hearsay};

pub(super) use membership::Membership;
pub(crate) use simulate::simulate;

/// What a server tells its peers they know this long after, at the latest, ms: a batch waits 500 ms for its oldest item.
const LAG_MS: i64 = 600;

/// Replays a recording of several servers that scripts call.
pub(super) fn replay(recording: &Recording, mutation: Mutation) -> Result<Outcome, String> {
    let names: Vec<&String> = recording.experiment.servers.keys().collect();
    let parts: Vec<Recording> = names.iter().map(|name| recording.part_of(name)).collect();
    let mut timelines = Vec::new();
    let mut configs = Vec::new();
    for part in &parts {
        if part.log.is_empty() {
            return Err("a kind of recording that the replay does not know: a server without a log".into());
        }
        let (mut config, own) = settings::server_config(&part.experiment)?;
        if config.register_with_eureka || config.fetch_registry {
            return Err("a kind of recording that the replay does not know: peers with own clients".into());
        }
        let mut timeline = Timeline::of(part, &config)?;
        timeline.events.retain(|event| !matches!(event.1, What::Echo { .. }));
        timelines.push(timeline);
        mutation.change(&mut config);
        configs.push((config, own));
    }
    let mut replays: Vec<Replay<'_>> = Vec::new();
    for ((part, timeline), (config, own)) in parts.iter().zip(&timelines).zip(configs) {
        replays.push(Replay::new(part, timeline, config, own, mutation));
    }
    introduce(&mut replays, recording, Links::of(recording, &timelines));
    let mut cluster = Cluster::of(recording, replays, mutation);
    let mut events: Vec<(i64, usize, &What)> = Vec::new();
    for (at, timeline) in timelines.iter().enumerate() {
        events.extend(timeline.events.iter().map(|(t_ms, what)| (*t_ms, at, what)));
    }
    events.sort_by_key(|event| event.0);
    for (t_ms, server, what) in events {
        cluster.run_until(t_ms);
        cluster.happen(server, t_ms, what);
    }
    Ok(cluster.finish())
}

/// Whom each server tells what it is told: those that its service URLs name, or all. A URL with a server's own host is
/// itself (`eureka-peers.md` section 1).
fn peers(recording: &Recording) -> Vec<Vec<ServerId>> {
    let servers: Vec<_> = recording.experiment.servers.values().collect();
    let peers_of = |me: &ServerSettings| {
        let urls = me.settings.iter().find(|(name, _)| {
            let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            plain.to_ascii_lowercase().contains("serviceurldefault")
        });
        let urls = urls.and_then(|(_, value)| value.as_str());
        let named = |host: &str| {
            urls.is_none_or(|urls| urls.split(['/', ':', '@', ',']).any(|part| part.trim() == host))
        };
        let is_peer = |other: &ServerSettings| match (&me.url_host, &other.url_host) {
            (Some(own), Some(host)) => own != host && named(host),
            _ => !std::ptr::eq(me, other),
        };
        let all = servers.iter().enumerate().filter(|(_, other)| is_peer(other));
        all.map(|(at, _)| ServerId(at as u32)).collect()
    };
    servers.iter().map(|me| peers_of(me)).collect()
}

/// Tells each server's replay of the others.
fn introduce(replays: &mut [Replay<'_>], recording: &Recording, links: Links) {
    let named = recording.calls.iter().map(|call| &call.instance);
    let named: BTreeSet<&String> = named.chain(recording.log.iter().map(|line| &line.instance)).collect();
    for replay in replays.iter_mut() {
        for name in named.iter().filter(|name| !name.is_empty()) {
            replay.id(name);
        }
    }
    let ids = replays[0].ids.clone();
    let servers: Vec<String> = recording.experiment.servers.keys().cloned().collect();
    let mut registered_ms: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for line in recording.log.iter().filter(|line| line.event == "registered") {
        if line.value.ends_with("replication=false") {
            registered_ms.entry(line.instance.clone()).or_default().push(line.t_ms);
        }
    }
    registered_ms.values_mut().for_each(|times| times.sort_unstable());
    let beats = recording.calls.iter().filter(|call| call.kind == "renew" && call.status == "200");
    let mut beats: Vec<Beat> = beats
        .filter_map(|call| {
            let server = servers.iter().position(|name| *name == call.server)?;
            Some(Beat {
                at_ms: call.done_ms,
                server: ServerId(server as u32),
                instance: *ids.get(&call.instance)?,
            })
        })
        .collect();
    beats.sort_by_key(|beat| beat.at_ms);
    let killed = recording.faults.iter().filter(|row| row.fault == "crash" && !servers.contains(&row.target));
    let hearsay = Rc::new(Hearsay {
        beats,
        kills_ms: killed.map(|row| row.t_ms).collect(),
        heartbeat_ms: i64::from(recording.experiment.heartbeat_s) * 1_000,
        links,
    });
    let registered_ms = Rc::new(registered_ms);
    let all = || (0..servers.len() as u32).map(ServerId);
    for ((replay, server), peers) in replays.iter_mut().zip(all()).zip(peers(recording)) {
        replay.membership = Membership {
            server,
            peers,
            registered_ms: registered_ms.clone(),
            hearsay: hearsay.clone(),
            ..Membership::default()
        };
    }
}
