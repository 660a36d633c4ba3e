//! What was served, against what observers saw.

use std::collections::BTreeMap;

use stillup::model::message::Status;
use stillup::model::view::View;

use super::records::Sight;
use super::{Outcome, TIE_MS};

/// A server that has just started takes this long, at most, to make its first answer that lists anybody: the
/// refill of the cache is logged when it begins.
const COLD_MS: i64 = 250;

/// Instances by name.
pub(crate) type Seen = BTreeMap<String, Status>;

/// What a full answer would show, from when on; `None` while down.
#[derive(Default)]
pub(crate) struct ServedHistory {
    entries: Vec<(i64, Option<Seen>)>,
    views: Vec<(i64, View)>,
}

impl ServedHistory {
    pub(crate) fn push(&mut self, t_ms: i64, seen: Option<Seen>) {
        if self.entries.last().is_none_or(|last| last.1 != seen) {
            self.entries.push((t_ms, seen));
        }
    }

    pub(crate) fn push_view(&mut self, t_ms: i64, view: View, seen: impl FnOnce() -> Seen) {
        if self.views.last().is_none_or(|last| last.1 != view) {
            self.views.push((t_ms, view));
            self.push(t_ms, Some(seen()));
        }
    }

    /// The views that were served at some moment since `t_ms`, newest first.
    pub(crate) fn views_since(&self, t_ms: i64) -> Vec<View> {
        let first = self.views.partition_point(|entry| entry.0 <= t_ms).saturating_sub(1);
        self.views[first..].iter().rev().map(|entry| entry.1).collect()
    }

    /// Every change that an observer saw must have been served between its two polls, and those that poll at
    /// a high rate must have missed none.
    pub(crate) fn compare(&self, sights: &[Sight], end_ms: i64, outcome: &mut Outcome) {
        let mut observers: Vec<&str> = sights.iter().map(|sight| sight.observer.as_str()).collect();
        observers.sort_unstable();
        observers.dedup();
        for observer in observers.into_iter().filter(|observer| !observer.starts_with("java")) {
            let own: Vec<&Sight> = sights
                .iter()
                .filter(|sight| sight.observer == observer && sight.change != "failed")
                .collect();
            self.compare_observer(observer, &own, end_ms, outcome);
        }
    }

    fn compare_observer(&self, observer: &str, sights: &[&Sight], end_ms: i64, outcome: &mut Outcome) {
        let dense = observer.starts_with("served");
        let mut seen = Seen::new();
        let mut since_ms: Option<i64> = None;
        for poll in sights.chunk_by(|one, other| one.sent_ms == other.sent_ms) {
            let first = poll[0];
            let before_ms = first.prev_sent_ms.filter(|&sent| sent >= 0);
            if let Some(before_ms) = before_ms {
                let tie = if seen.is_empty() { COLD_MS } else { TIE_MS };
                if !self.shows(before_ms - tie, before_ms + TIE_MS, &seen) {
                    outcome
                        .differences
                        .push(format!("{before_ms}: {observer} saw no change yet, but one here"));
                }
                let from = since_ms.filter(|_| dense).unwrap_or(before_ms);
                self.stands(from + TIE_MS, before_ms - tie, &seen, observer, outcome);
            }
            for sight in poll {
                outcome.compared.sights += 1;
                if let Err(difference) = apply(&mut seen, sight) {
                    outcome.differences.push(format!("{}: {observer}: {difference}", sight.done_ms));
                }
            }
            if first.instances_seen.is_some_and(|count| count as usize != seen.len())
                || hash(&seen) != first.hashcode
            {
                let here = (seen.len(), hash(&seen));
                let there = (first.instances_seen, &first.hashcode);
                outcome.differences.push(format!("{}: {observer}: {here:?}, not {there:?}", first.done_ms));
            }
            if !self.shows(first.sent_ms - TIE_MS, first.done_ms + TIE_MS, &seen) {
                outcome
                    .differences
                    .push(format!("{}: {observer} saw what is not served here", first.done_ms));
            }
            since_ms = Some(first.done_ms);
        }
        if let Some(since_ms) = since_ms.filter(|_| dense) {
            self.stands(since_ms + TIE_MS, end_ms, &seen, observer, outcome);
        }
    }

    /// Whether `seen` was served at some moment from `from` to `to`.
    fn shows(&self, from: i64, to: i64, seen: &Seen) -> bool {
        self.between(from, to).any(|(_, served)| served.as_ref() == Some(seen))
    }

    /// `seen` must have been served all the time from `from` to `to`, whenever anything was.
    fn stands(&self, from: i64, to: i64, seen: &Seen, observer: &str, outcome: &mut Outcome) {
        for (t_ms, served) in self.between(from, to) {
            if served.as_ref().is_some_and(|served| served != seen) {
                outcome
                    .differences
                    .push(format!("{t_ms}: {observer} did not see a change that is served here"));
            }
        }
    }

    fn between(&self, from: i64, to: i64) -> impl Iterator<Item = &(i64, Option<Seen>)> + '_ {
        let next = |at: usize| self.entries.get(at + 1).map_or(i64::MAX, |entry| entry.0);
        let holds =
            move |at: usize, entry: &(i64, Option<Seen>)| from <= to && entry.0 <= to && next(at) > from;
        self.entries.iter().enumerate().filter(move |&(at, entry)| holds(at, entry)).map(|(_, entry)| entry)
    }
}

fn apply(seen: &mut Seen, sight: &Sight) -> Result<(), String> {
    match sight.change.as_str() {
        "seen" => {
            seen.insert(sight.instance.clone(), Status::Up);
        }
        "gone" => {
            seen.remove(&sight.instance);
        }
        change => {
            let named = |status: &Status| change.strip_prefix("status=") == Some(status.name());
            let status = Status::ALL.into_iter().find(named).ok_or_else(|| format!("saw {change}"))?;
            seen.insert(sight.instance.clone(), status);
        }
    }
    Ok(())
}

/// `getReconcileHashCode`, from the names.
fn hash(seen: &Seen) -> String {
    let count = |status| seen.values().filter(|&&held| held == status).count();
    let counted = Status::ALL.into_iter().map(|status| (status.name(), count(status)));
    counted.filter(|entry| entry.1 > 0).map(|(name, count)| format!("{name}_{count}_")).collect()
}
