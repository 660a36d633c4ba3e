//! How long the recorded crashes took to show, stage by stage.

use std::collections::BTreeMap;

use stillup::model::stage::Stage;

use super::records::{LogLine, Recording};

/// Observers inside real clients leave only the moment at which they saw a change; they looked at least this
/// often.
const INSIDE_POLL_MS: i64 = 60;

/// A recorded T_D.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// From the crash until a poll no longer showed the instance.
    pub(crate) latest_ms: i64,
    /// How much earlier that can have been so.
    pub(crate) poll_ms: i64,
}

/// A crash that the registry was free to answer: alone in its time, and with no shut gate until the lease was
/// removed.
#[derive(Clone, Debug)]
pub(crate) struct Death {
    pub(crate) at_ms: i64,
    pub(crate) instance: String,
    /// From the eviction round that removed it to the next refill of the read-only cache; 0 without one.
    pub(crate) gap_ms: i64,
    /// By stage and observer.
    pub(crate) measured: BTreeMap<Stage, BTreeMap<String, Measured>>,
}

impl Death {
    /// T_D at a stage that has one observer, or the first one's.
    pub(crate) fn first(&self, stage: Stage) -> Option<Measured> {
        self.measured.get(&stage)?.values().next().copied()
    }
}

/// The crashes of a recording that can be compared one by one. None where something was done to the server
/// itself, which shifts its phases.
pub(crate) fn deaths(recording: &Recording) -> Vec<Death> {
    let is_server = |target: &str| recording.experiment.servers.contains_key(target);
    if recording.faults.iter().any(|row| is_server(&row.target)) {
        return Vec::new();
    }
    let crashes: Vec<_> = recording.faults.iter().filter(|row| row.fault == "crash").collect();
    let heartbeat_ms = i64::from(recording.experiment.heartbeat_s) * 1_000;
    let near = |at_ms: i64| crashes.iter().filter(|row| (row.t_ms - at_ms).abs() < heartbeat_ms).count();
    let alone = crashes.iter().filter(|row| near(row.t_ms) == 1);
    alone.filter_map(|row| death(recording, &row.target, row.t_ms)).collect()
}

/// Whom the log never names after the crash was held by a shut gate or outlived the recording; the replay
/// tells whether rightly.
fn death(recording: &Recording, instance: &str, at_ms: i64) -> Option<Death> {
    let since: Vec<&LogLine> = recording.log.iter().filter(|line| line.t_ms > at_ms).collect();
    let removed =
        |line: &LogLine| line.instance == instance && ["expired", "cancelled"].contains(&line.event.as_str());
    let removal = since.iter().position(|line| removed(line))?;
    let (before, after) = since.split_at(removal);
    if before.iter().any(|line| line.event == "evict-disabled") {
        return None;
    }
    let round_ms = before.iter().rfind(|line| line.event == "evict-task")?.t_ms;
    let refill = after.iter().find(|line| line.event == "cache-refresh");
    let registry = Measured { latest_ms: since[removal].t_ms - at_ms, poll_ms: 0 };
    let mut measured = seen(recording, instance, at_ms);
    measured.insert(Stage::Registry, BTreeMap::from([(String::new(), registry)]));
    Some(Death {
        at_ms,
        instance: instance.to_owned(),
        gap_ms: refill.map_or(0, |line| line.t_ms - round_ms),
        measured,
    })
}

fn seen(recording: &Recording, instance: &str, at_ms: i64) -> BTreeMap<Stage, BTreeMap<String, Measured>> {
    let mut seen: BTreeMap<Stage, BTreeMap<String, Measured>> = BTreeMap::new();
    let gone = recording
        .sights
        .iter()
        .filter(|sight| sight.change == "gone" && sight.instance == instance && sight.done_ms > at_ms);
    for sight in gone {
        let Some(stage) = stage_of(&sight.observer) else { continue };
        let poll_ms = match sight.prev_sent_ms {
            None => INSIDE_POLL_MS,
            // Its polls are the fetches that are simulated.
            Some(_) if stage == Stage::Client => 0,
            Some(before) => sight.done_ms - before,
        };
        let measured = Measured { latest_ms: sight.done_ms - at_ms, poll_ms };
        seen.entry(stage).or_default().entry(sight.observer.clone()).or_insert(measured);
    }
    seen
}

/// What an observer watches, by its name.
pub(crate) fn stage_of(observer: &str) -> Option<Stage> {
    match observer.rsplit_once('.') {
        Some((_, "client")) => Some(Stage::Client),
        Some((_, "balancer")) => Some(Stage::Balancer),
        None if observer.starts_with("served") => Some(Stage::Served),
        None if observer.starts_with("client") => Some(Stage::Client),
        _ => None,
    }
}
