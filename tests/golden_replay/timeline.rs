//! From rows to one timeline: what happened to the server, in order.

use std::collections::BTreeSet;

use stillup::model::eureka::{Flavour, ServerConfig};
use stillup::model::message::Status;

use super::TIE_MS;
use super::records::{Call, FaultRow, LogLine, Recording};

/// One eviction round as the server logged it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedRound {
    pub(crate) compensation_ms: i64,
    pub(crate) gate_shut: bool,
    /// (evicted, expired, limit), logged only if anything was expired.
    pub(crate) batch: Option<(u32, u32, u32)>,
    pub(crate) victims: Vec<String>,
}

/// Something that drives the replay.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A life of the server begins: an index into [`Timeline::lives`].
    Start(usize),
    /// The server's process is killed.
    Down,
    /// A call of an instance, at the moment it was answered.
    Call(Call),
    /// A registration, at the moment the server logged it.
    Registered { instance: String, status: Status, replica: bool },
    /// A cancellation, at the moment the server logged it.
    Cancelled { instance: String, replica: bool },
    /// An observer's first successful poll of this life.
    FirstFetch,
    /// The read-only cache was refilled.
    Refresh,
    /// An eviction round.
    Round(RecordedRound),
    /// A threshold update, and the threshold after it.
    Threshold(u32),
    /// An instance is killed.
    Killed { instance: String },
    /// A heartbeat that the server sent on to itself.
    Echo { instance: String },
}

/// One life of the server.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) start_ms: i64,
    pub(crate) open_ms: i64,
    pub(crate) open_count: u32,
    pub(crate) open_threshold: Option<u32>,
    /// Instances that it registered anew from its own client's view before it opened.
    pub(crate) copied: BTreeSet<String>,
}

/// All of it.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) server: String,
    pub(crate) lives: Vec<Life>,
    pub(crate) events: Vec<(i64, What)>,
    /// Until when observers and gauges are known to have been read.
    pub(crate) end_ms: i64,
    /// Instances whose heartbeats nobody recorded: the server's own.
    pub(crate) unrecorded: BTreeSet<String>,
    /// Whether the server has a client that fetches, and so may copy what it holds before it opens.
    fetches: bool,
    /// What does not fit in the recording itself.
    pub(crate) oddities: Vec<String>,
}

impl Timeline {
    pub(crate) fn of(recording: &Recording, config: &ServerConfig) -> Result<Self, String> {
        let server = recording.experiment.servers.keys().next().ok_or("no server")?.clone();
        let log: Vec<&LogLine> = recording.log.iter().filter(|line| line.server == server).collect();
        let lives = lives(recording, &log, config, &server)?;
        let last_line = log.last().ok_or("an empty server log")?.t_ms;
        let mut timeline = Self {
            server: server.clone(),
            lives,
            events: Vec::new(),
            // Readers are stopped shortly before the server.
            end_ms: last_line - 2_500,
            unrecorded: BTreeSet::new(),
            fetches: config.fetch_registry,
            oddities: Vec::new(),
        };
        for (number, life) in timeline.lives.iter().enumerate() {
            timeline.events.push((life.start_ms, What::Start(number)));
        }
        let downs = recording.faults.iter().filter(|row| row.fault == "crash" && row.target == server);
        timeline.events.extend(downs.map(|row| (row.t_ms, What::Down)));
        let killed = recording.faults.iter().filter(|row| row.fault == "crash" && row.target != server);
        let killed = killed.map(|row| (row.t_ms, What::Killed { instance: row.target.clone() }));
        timeline.events.extend(killed);
        timeline.take_calls(recording);
        timeline.take_log(&log)?;
        timeline.take_first_fetches(recording);
        timeline.check_registrations(recording, &log);
        timeline.events.sort_by_key(|event| event.0);
        Ok(timeline)
    }

    /// The life in which `t_ms` falls.
    pub(crate) fn life_at(&self, t_ms: i64) -> Option<&Life> {
        self.lives.iter().rev().find(|life| life.start_ms <= t_ms)
    }

    /// Whether somebody came or left within a tie of `t_ms`.
    pub(crate) fn population_changes_at(&self, t_ms: i64) -> bool {
        let from = self.events.partition_point(|event| event.0 < t_ms - TIE_MS);
        let near = self.events[from..].iter().take_while(|event| event.0 <= t_ms + TIE_MS);
        near.map(|event| &event.1)
            .any(|what| matches!(what, What::Registered { .. } | What::Cancelled { .. }))
    }

    /// Heartbeats and fetches stand as they were answered. Registrations and cancellations that went through
    /// come from the server's own log, which knows better when they happened.
    fn take_calls(&mut self, recording: &Recording) {
        for call in &recording.calls {
            let logged =
                matches!((call.kind.as_str(), call.status.as_str()), ("register", "204") | ("cancel", "200"));
            if !logged {
                self.events.push((call.done_ms, What::Call(call.clone())));
            }
        }
    }

    fn take_log(&mut self, log: &[&LogLine]) -> Result<(), String> {
        let mut evicting = BTreeSet::new();
        let mut round: Option<usize> = None;
        for line in log {
            match line.event.as_str() {
                "cache-refresh" => self.events.push((line.t_ms, What::Refresh)),
                "evict-task" => {
                    let compensation_ms = number(line)?;
                    round = Some(self.events.len());
                    let opened = RecordedRound { compensation_ms, ..RecordedRound::default() };
                    self.events.push((line.t_ms, What::Round(opened)));
                }
                "evict-disabled" | "evict-batch" | "expired" => {
                    let at = round.ok_or_else(|| format!("{} outside a round", line.event))?;
                    let What::Round(round) = &mut self.events[at].1 else { unreachable!("kept above") };
                    round.take(line)?;
                    if line.event == "expired" {
                        evicting.insert(line.instance.clone());
                    }
                }
                "cancelled" if evicting.remove(&line.instance) => {}
                "cancelled" => {
                    let instance = line.instance.clone();
                    let replica = line.value.ends_with("replication=true");
                    self.events.push((line.t_ms, What::Cancelled { instance, replica }));
                }
                "registered" => self.take_registration(line)?,
                "threshold" => {
                    let update = self.life_at(line.t_ms).is_some_and(|life| line.t_ms > life.open_ms + 1_000);
                    if update {
                        self.events.push((line.t_ms, What::Threshold(number(line)?)));
                    }
                }
                // The first two were read with the lives; a 404 is also in the calls.
                "open-for-traffic" | "status-up" | "renew-unknown" => {}
                other => {
                    return Err(format!("a line of the server's log that the replay does not know: {other}"));
                }
            }
        }
        Ok(())
    }

    fn take_registration(&mut self, line: &LogLine) -> Result<(), String> {
        let (status, replica) = registration(line)?;
        let life = self.lives.iter_mut().rev().find(|life| life.start_ms <= line.t_ms);
        let instance = line.instance.clone();
        match life {
            Some(life) if replica && self.fetches && line.t_ms <= life.open_ms => {
                life.copied.insert(instance);
            }
            _ => self.events.push((line.t_ms, What::Registered { instance, status, replica })),
        }
        Ok(())
    }

    /// When the key of the full answer was asked for first. An observer that started on an empty registry has
    /// no row for it: it is taken to have polled from the start, and had it found anybody there would be a
    /// row without a poll before it.
    fn take_first_fetches(&mut self, recording: &Recording) {
        let observed = |sight: &&super::records::Sight| !sight.observer.starts_with("java");
        let sights: Vec<_> = recording.sights.iter().filter(observed).collect();
        for life in &self.lives {
            let first =
                sights.iter().filter(|sight| sight.change != "failed" && sight.sent_ms >= life.start_ms);
            let Some(first) = first.min_by_key(|sight| sight.sent_ms) else { continue };
            let polled_before = first.prev_sent_ms.is_some_and(|sent| sent >= life.start_ms);
            let at = if polled_before { life.start_ms } else { first.done_ms };
            self.events.push((at, What::FirstFetch));
        }
    }

    /// Each registration that was answered must stand in the log, and the other way round.
    fn check_registrations(&mut self, recording: &Recording, log: &[&LogLine]) {
        let calls: Vec<&Call> = recording.calls.iter().collect();
        let called: BTreeSet<&str> =
            calls.iter().map(|call| call.instance.as_str()).filter(|name| !name.is_empty()).collect();
        let lines: Vec<&&LogLine> = log.iter().filter(|line| line.event == "registered").collect();
        let direct = |line: &&&&LogLine| line.value.ends_with("replication=false");
        for call in calls.iter().filter(|call| call.kind == "register" && !call.instance.is_empty()) {
            let span = call.sent_ms - TIE_MS..=call.done_ms + TIE_MS;
            let is_it = |line: &&&&LogLine| line.instance == call.instance && span.contains(&line.t_ms);
            if call.status == "204" && !lines.iter().filter(direct).any(|line| is_it(&line)) {
                self.oddities
                    .push(format!("{}: {} registered unseen by the server", call.done_ms, call.instance));
            }
        }
        for line in lines.iter().filter(direct) {
            if !called.contains(line.instance.as_str()) {
                self.unrecorded.insert(line.instance.clone());
            }
        }
        let echoes = lines.iter().filter(|line| {
            let opened = self.life_at(line.t_ms).is_some_and(|life| line.t_ms > life.open_ms);
            opened && line.value.ends_with("replication=true")
        });
        if echoes.count() > 0 {
            // The server takes itself for a peer: it sends each heartbeat on to itself (section 4.7).
            let renewals = calls.iter().filter(|call| call.kind == "renew" && call.status == "200");
            for call in renewals {
                let instance = call.instance.clone();
                self.events.push((call.done_ms + ECHO_MS, What::Echo { instance }));
            }
        }
    }
}

/// A replication batch waits this long for its oldest item (`eureka-server.md` section 13).
const ECHO_MS: i64 = 505;

impl RecordedRound {
    fn take(&mut self, line: &LogLine) -> Result<(), String> {
        match line.event.as_str() {
            "evict-disabled" => self.gate_shut = true,
            "expired" => self.victims.push(line.instance.clone()),
            _ => {
                let parts: Result<Vec<u32>, _> = line.value.split('/').map(str::parse).collect();
                let Ok([evicted, expired, limit]) = parts.as_deref() else {
                    return Err(format!("evict-batch of {}", line.value));
                };
                self.batch = Some((*evicted, *expired, *limit));
            }
        }
        Ok(())
    }
}

fn lives(
    recording: &Recording,
    log: &[&LogLine],
    config: &ServerConfig,
    server: &str,
) -> Result<Vec<Life>, String> {
    let mut lives: Vec<Life> = Vec::new();
    for open in log.iter().filter(|line| line.event == "open-for-traffic") {
        // One that is told to stop goes on answering while it drains; only its next life begins anew.
        let ends = |row: &&FaultRow| matches!(row.fault.as_str(), "crash" | "shutdown");
        let downs = recording.faults.iter().filter(ends).filter(|row| row.target == server);
        let born_after = downs.map(|row| row.t_ms).filter(|&t| t < open.t_ms).max().unwrap_or(i64::MIN);
        let first_sign = log.iter().find(|line| line.t_ms > born_after).map_or(open.t_ms, |line| line.t_ms);
        let wait = i64::from(config.registry_sync_retry_wait_ms);
        let waits_max = i64::from(config.registry_sync_retries.saturating_sub(1));
        let waits = (0..waits_max).find(|waits| open.t_ms - waits * wait <= first_sign).unwrap_or(waits_max);
        let waits = if config.flavour == Flavour::Netflix { waits_max } else { waits };
        let begun = open.t_ms - waits * wait;
        let threshold = |line: &&&LogLine| line.event == "threshold";
        let at_open = log.iter().filter(threshold).find(|line| (0..1_000).contains(&(line.t_ms - open.t_ms)));
        let first_update = log.iter().filter(threshold).find(|line| line.t_ms > open.t_ms + 1_000);
        // The update's timer was set a moment before the copy began; that moment is not logged.
        let lead = first_update
            .map(|line| begun - (line.t_ms - i64::from(config.renewal_threshold_update_interval_ms)))
            .filter(|lead| (0..5_000).contains(lead));
        lives.push(Life {
            start_ms: begun - lead.unwrap_or(0),
            open_ms: open.t_ms,
            open_count: number(open)?,
            open_threshold: at_open.map(|line| number(line)).transpose()?,
            copied: BTreeSet::new(),
        });
    }
    if lives.is_empty() { Err("the server never opened".into()) } else { Ok(lives) }
}

fn number<T: std::str::FromStr>(line: &LogLine) -> Result<T, String> {
    line.value.parse().map_err(|_| format!("{} of {:?} at {}", line.event, line.value, line.t_ms))
}

/// `UP;replication=false`.
fn registration(line: &LogLine) -> Result<(Status, bool), String> {
    let bad = || format!("registered as {:?} at {}", line.value, line.t_ms);
    let (status, replica) = line.value.split_once(";replication=").ok_or_else(bad)?;
    let status = Status::ALL.into_iter().find(|known| known.name() == status).ok_or_else(bad)?;
    Ok((status, replica.parse().map_err(|_| bad())?))
}
