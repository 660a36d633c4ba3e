//! Registrations and cancellations that servers passed on to one another, and heartbeats that a peer had no lease for:
//! those of the model against those of the logs.
//!
//! The registry of a replayed server follows its own log, as with one server. So each line that tells of replication
//! must have a counterpart among what its peers passed on in the model, and the other way round.

use stillup::model::id::{InstanceId, ServerId};

use super::LAG_MS;
use super::links::{Links, SETTLING_MS};
use crate::golden_replay::TIE_MS;
use crate::golden_replay::records::{LogLine, Recording};

/// What a server heard of an instance from a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Heard {
    Registered,
    Cancelled,
    /// A heartbeat without a lease.
    Unknown,
}

impl Heard {
    /// What a line of a log tells of, if it may come from a peer.
    fn of(line: &LogLine) -> Option<Self> {
        match line.event.as_str() {
            "registered" if line.value.ends_with("replication=true") => Some(Self::Registered),
            "cancelled" if line.value.ends_with("replication=true") => Some(Self::Cancelled),
            "renew-unknown" => Some(Self::Unknown),
            _ => None,
        }
    }
}

/// One item of a batch, in the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) at_ms: i64,
    pub(super) from: ServerId,
    pub(super) to: ServerId,
    pub(super) instance: InstanceId,
    pub(super) heard: Heard,
    /// Whether the receiver must have logged it: it logs no cancellation of somebody that it does not know.
    pub(super) is_logged: bool,
}

/// A line of a log.
struct Line {
    t_ms: i64,
    at: ServerId,
    instance: InstanceId,
    heard: Heard,
}

/// How long something took to be passed on by the logs of both servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lag {
    pub(crate) from: ServerId,
    pub(crate) to: ServerId,
    pub(crate) ms: i64,
    /// Whether the two had been talking for a while.
    pub(crate) is_settled: bool,
}

/// Compares both ways; says what differs, by server, and how many lines it looked at. After `ends_ms` the logs are not
/// complete.
pub(super) fn compare(
    recording: &Recording,
    items: &[Item],
    links: &Links,
    ends_ms: &[i64],
    ids: &dyn Fn(&str) -> Option<InstanceId>,
) -> (Vec<(ServerId, String)>, u32) {
    let servers: Vec<&String> = recording.experiment.servers.keys().collect();
    let lines = lines(recording, &servers, ids);
    let name = |id: InstanceId| recording.log.iter().find(|line| ids(&line.instance) == Some(id));
    let name = |id| name(id).map_or("?", |line| line.instance.as_str());
    let allowance_ms = |from: ServerId, to: ServerId, t_ms: i64| {
        let unsettled = links.is_unsettled(from, to, t_ms - LAG_MS, t_ms + LAG_MS);
        TIE_MS + if unsettled { SETTLING_MS } else { LAG_MS }
    };
    let mut differences = Vec::new();
    for line in &lines {
        let counterpart = |item: &Item| {
            let same = (item.to, item.instance, item.heard) == (line.at, line.instance, line.heard);
            same && (item.at_ms - line.t_ms).abs() <= allowance_ms(item.from, line.at, line.t_ms)
        };
        if !items.iter().any(counterpart) {
            let what =
                format!("{}: {:?} there, which no peer passed on here", name(line.instance), line.heard);
            differences.push((line.at, format!("{}: {what}", line.t_ms)));
        }
    }
    for item in items.iter().filter(|item| item.is_logged) {
        let allowance_ms = allowance_ms(item.from, item.to, item.at_ms);
        let same =
            |line: &&Line| (item.to, item.instance, item.heard) == (line.at, line.instance, line.heard);
        let mut near = lines.iter().filter(same);
        let ends = item.at_ms + allowance_ms > ends_ms[item.to.index()];
        if !ends && !near.any(|line| (item.at_ms - line.t_ms).abs() <= allowance_ms) {
            let what = format!(
                "{}: {:?} here, passed on by server {}",
                name(item.instance),
                item.heard,
                item.from.0
            );
            differences.push((item.to, format!("{}: {what}", item.at_ms)));
        }
    }
    for (line, lag) in lags(recording, links) {
        if lag.is_settled && !(0..=LAG_MS).contains(&lag.ms) {
            differences
                .push((lag.to, format!("{}: {} heard of after {} ms", line.t_ms, line.instance, lag.ms)));
        }
    }
    (differences, lines.len() as u32)
}

fn lines(recording: &Recording, servers: &[&String], ids: &dyn Fn(&str) -> Option<InstanceId>) -> Vec<Line> {
    let answered_404 = |line: &LogLine| {
        recording.calls.iter().any(|call| {
            let near = (call.sent_ms - TIE_MS..=call.done_ms + TIE_MS).contains(&line.t_ms);
            near && call.status == "404" && (&call.server, &call.instance) == (&line.server, &line.instance)
        })
    };
    let line = |line: &LogLine| {
        let heard = Heard::of(line)?;
        if heard == Heard::Unknown && answered_404(line) {
            return None;
        }
        let at = servers.iter().position(|name| **name == line.server)?;
        Some(Line { t_ms: line.t_ms, at: ServerId(at as u32), instance: ids(&line.instance)?, heard })
    };
    recording.log.iter().filter_map(line).collect()
}

/// By line that tells of replication: how long it came after the line of the server that the client had called, if it
/// is no answer to a 404.
pub(crate) fn lags<'a>(recording: &'a Recording, links: &Links) -> Vec<(&'a LogLine, Lag)> {
    let server = |line: &LogLine| {
        let at = recording.experiment.servers.keys().position(|name| *name == line.server);
        ServerId(at.expect("a server of the experiment") as u32)
    };
    let mut lags = Vec::new();
    for line in &recording.log {
        let Some(heard @ (Heard::Registered | Heard::Cancelled)) = Heard::of(line) else { continue };
        let since_ms = line.t_ms - 2 * LAG_MS - SETTLING_MS;
        let earlier = recording.log.iter().filter(|other| (since_ms..=line.t_ms).contains(&other.t_ms));
        let about_it: Vec<&LogLine> = earlier.filter(|other| other.instance == line.instance).collect();
        let unknown =
            about_it.iter().any(|other| other.event == "renew-unknown" && other.server == line.server);
        let origin = about_it.iter().rfind(|other| {
            let direct = other.value.ends_with("replication=false") && other.event == line.event;
            direct && other.server != line.server
        });
        let Some(origin) = origin.filter(|_| !unknown || heard == Heard::Cancelled) else { continue };
        let (from, to) = (server(origin), server(line));
        let is_settled = !links.is_unsettled(from, to, origin.t_ms, line.t_ms);
        lags.push((line, Lag { from, to, ms: line.t_ms - origin.t_ms, is_settled }));
    }
    lags
}
