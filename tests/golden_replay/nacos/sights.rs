//! What the server shows, against what an observer saw, instance by instance.
//!
//! An observer polls: between two of its polls lies whatever it sees change, and what lasts shorter than two polls it
//! may miss.

use std::collections::{BTreeMap, BTreeSet};

use super::play::{Difference, Played};
use super::recording::{Recording, Sight};

/// How an instance is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Not at all.
    #[default]
    Gone,
    Unhealthy,
    Healthy,
}

/// An instance is shown otherwise from some moment within these on, ms.
#[derive(Clone, Copy, Debug)]
struct Change {
    state: State,
    within: (i64, i64),
}

/// How instances are shown, from when on.
#[derive(Default)]
pub(super) struct History {
    changes: BTreeMap<String, Vec<Change>>,
}

impl History {
    /// How an instance is shown now.
    pub(super) fn state(&self, name: &str) -> State {
        self.changes.get(name).and_then(|own| own.last()).map_or(State::Gone, |change| change.state)
    }

    pub(super) fn push(&mut self, name: &str, state: State, within: (i64, i64)) {
        self.changes.entry(name.to_owned()).or_default().push(Change { state, within });
    }

    /// Compares with what `observer` saw.
    pub(super) fn compare(&self, observer: &str, recording: &Recording, played: &mut Played) {
        let sights: Vec<&Sight> = recording.sights_of(observer).collect();
        let mut differ = |at_ms, instance: &str, what: String| {
            let (instance, what) = (instance.to_owned(), format!("{what}, by {observer}"));
            played.differences.push(Difference { at_ms, instance, what });
        };
        let mut seen = Seen::default();
        for poll in sights.chunk_by(|one, other| one.sent_ms == other.sent_ms) {
            for sight in poll {
                if let Err(what) = seen.apply(sight) {
                    differ(sight.done_ms, &sight.instance, what);
                }
            }
            let last = poll[poll.len() - 1];
            let here = (Some(seen.instances()), seen.healthy().to_string());
            let there = (last.instances_seen, last.healthy_seen.clone());
            if here != there {
                differ(last.done_ms, &last.instance, format!("is counted among {there:?}, not {here:?}"));
            }
        }
        let polls = Polls { period_ms: period_ms(&sights), end_ms: recording.end_ms() };
        let nothing = Vec::new();
        let names: BTreeSet<&String> = self.changes.keys().chain(seen.by_instance.keys()).collect();
        for name in names {
            let own = seen.by_instance.get(name).unwrap_or(&nothing);
            let here = self.changes.get(name).map_or(&[][..], Vec::as_slice);
            if let Err((at_ms, what)) = polls.align(here, own) {
                differ(at_ms, name, what);
            }
        }
        played.compared.sights += sights.len() as u32;
    }
}

/// What an observer saw.
#[derive(Default)]
struct Seen {
    by_instance: BTreeMap<String, Vec<Change>>,
}

impl Seen {
    fn apply(&mut self, sight: &Sight) -> Result<(), String> {
        let own = self.by_instance.entry(sight.instance.clone()).or_default();
        let before = own.last().map_or(State::Gone, |change| change.state);
        let state = match (before, sight.change.as_str()) {
            (State::Gone, "seen healthy") | (State::Unhealthy, "healthy") => State::Healthy,
            (State::Gone, "seen unhealthy") | (State::Healthy, "unhealthy") => State::Unhealthy,
            (State::Healthy | State::Unhealthy, "gone") => State::Gone,
            (before, change) => return Err(format!("was {before:?} and then {change}")),
        };
        own.push(Change { state, within: (sight.prev_sent_ms, sight.done_ms) });
        Ok(())
    }

    fn count(&self, is_meant: impl Fn(State) -> bool) -> usize {
        self.by_instance.values().filter(|own| own.last().is_some_and(|last| is_meant(last.state))).count()
    }

    fn instances(&self) -> usize {
        self.count(|state| state != State::Gone)
    }

    fn healthy(&self) -> usize {
        self.count(|state| state == State::Healthy)
    }
}

/// From one poll to the next, ms: the median.
fn period_ms(sights: &[&Sight]) -> i64 {
    let told = sights.iter().filter(|sight| sight.prev_sent_ms >= 0);
    let mut periods: Vec<i64> = told.map(|sight| sight.sent_ms - sight.prev_sent_ms).collect();
    periods.sort_unstable();
    periods.get(periods.len() / 2).copied().unwrap_or(0)
}

/// How an observer polled.
struct Polls {
    period_ms: i64,
    end_ms: i64,
}

impl Polls {
    /// Whether what an observer saw of an instance can have come of what is shown of it. If not: the first moment at
    /// which it cannot, and why.
    fn align(&self, shown: &[Change], seen: &[Change]) -> Result<(), (i64, String)> {
        let (mut next, mut state) = (0, State::Gone);
        for sight in seen {
            let mut found = next;
            while shown
                .get(found)
                .is_some_and(|it| !matches(it, sight) && self.may_be_missed(shown, found, state))
            {
                found += 1;
            }
            if !shown.get(found).is_some_and(|it| matches(it, sight)) {
                let here = shown.get(found).map(|it| (it.state, it.within));
                let what = format!("{:?} there within {:?}, here next {here:?}", sight.state, sight.within);
                return Err((sight.within.1, what));
            }
            (next, state) = (found + 1, sight.state);
        }
        let unseen = (next..shown.len()).find(|&at| !self.may_be_missed(shown, at, state));
        unseen.map_or(Ok(()), |at| {
            Err((
                shown[at].within.0,
                format!("{:?} here within {:?}, not there", shown[at].state, shown[at].within),
            ))
        })
    }

    /// Whether an observer that has seen `state` need not see this change: it saw no other, it was over too soon, or it
    /// saw nothing any more.
    fn may_be_missed(&self, shown: &[Change], at: usize, state: State) -> bool {
        let ends_ms = shown.get(at + 1).map_or(self.end_ms, |next| next.within.0);
        shown[at].state == state || ends_ms - shown[at].within.1 < 2 * self.period_ms
    }
}

fn matches(shown: &Change, seen: &Change) -> bool {
    shown.state == seen.state && shown.within.0 <= seen.within.1 && seen.within.0 <= shown.within.1
}
