//! What a played client should have logged and shown, against what the recorded one did.
//!
//! Allowances, ms: [`WATCH_MS`] for a change, which was polled for; [`FIRST_MS`] for what an observer saw first,
//! since it runs only once the application does.

use std::collections::BTreeSet;

use super::calls::FIRST_MS;
use super::client::Player;
use super::tape::sights;

/// How far a change may lie from its time: the call's allowance and the observer's poll.
pub(super) const WATCH_MS: i64 = 120;
/// Lines that close together may have become one in the log.
const TWINS_MS: i64 = 10;
/// How far a balancer's refresh may drift in one time to live from its average, which has the observer's poll
/// in it.
const DRIFT_MS: i64 = 15;

impl Player<'_> {
    /// Compares what the client's log should say with what it says.
    pub(super) fn compare_log(&mut self) {
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
            let mut ours: Vec<i64> =
                self.said.iter().filter(|said| said.0 == event).map(|said| said.1).collect();
            ours.sort_unstable();
            if !agree(&recorded, &ours) {
                let at_ms = recorded.iter().chain(&ours).copied().min().unwrap_or(0);
                self.differ(at_ms, format!("{event} at {recorded:?}, by the rules at {ours:?}"));
            }
        }
    }

    /// Compares the changes that an observer inside the client saw with those of a stage.
    pub(super) fn compare_sights(&mut self, stage: &str, index: usize) {
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

/// Whether two lists of moments agree. Of two that the rules have as good as together, as the supervisors of
/// heartbeats and of fetches may act, one may be missing in the log.
fn agree(recorded: &[i64], ours: &[i64]) -> bool {
    let mut left = recorded.iter().peekable();
    for (at, &ours_ms) in ours.iter().enumerate() {
        let has_twin = |other: Option<&i64>| other.is_some_and(|other| (other - ours_ms).abs() <= TWINS_MS);
        let logged = left.next_if(|recorded_ms| (**recorded_ms - ours_ms).abs() <= WATCH_MS).is_some();
        if !logged && !has_twin(at.checked_sub(1).and_then(|before| ours.get(before))) {
            return false;
        }
    }
    left.next().is_none()
}
