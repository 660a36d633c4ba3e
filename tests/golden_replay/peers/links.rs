//! When one server could tell another, and when it is anybody's guess how soon.

use std::collections::BTreeMap;

use stillup::model::id::ServerId;

use super::LAG_MS;
use crate::golden_replay::records::Recording;
use crate::golden_replay::timeline::{Timeline, What};

/// A server that has just been reached for the first time, or again, is slow and is told some things twice: all is as
/// usual this long after, at the latest, ms. Nothing is known of the batches that failed meanwhile but that they wait
/// 1,000 ms after a read time-out of 200 ms.
pub(super) const SETTLING_MS: i64 = 2_500;

/// A read time-out and the wait after it: so often, ms, a paused server is told the same again.
const REPEATED_MS: i64 = 1_200;

/// From, to: not included.
type Spell = (i64, i64);

/// What is known of the links between servers, by (from, to).
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// Nothing gets there.
    cut: BTreeMap<(ServerId, ServerId), Vec<Spell>>,
    /// By server: its process is not there.
    down: BTreeMap<ServerId, Vec<Spell>>,
    /// By server: its process stands still.
    paused: BTreeMap<ServerId, Vec<Spell>>,
    unsettled: BTreeMap<(ServerId, ServerId), Vec<Spell>>,
}

impl Links {
    pub(super) fn of(recording: &Recording, timelines: &[Timeline]) -> Self {
        let mut links = Self::default();
        for (at, timeline) in timelines.iter().enumerate() {
            let server = ServerId(at as u32);
            links.down.insert(server, downs(timeline));
            links.paused.insert(server, recording.pauses_of(&timeline.server));
        }
        let servers = || (0..timelines.len()).map(|at| (ServerId(at as u32), &timelines[at]));
        for (from, sender) in servers() {
            for (to, receiver) in servers().filter(|other| other.0 != from) {
                let name = format!("{}>{}", sender.server, receiver.server);
                let cut = recording.spells(&name, "cut", "heal");
                let mut unsettled: Vec<Spell> = cut
                    .iter()
                    .map(|&(begin, end)| (begin - LAG_MS, end.saturating_add(SETTLING_MS)))
                    .collect();
                links.cut.insert((from, to), cut);
                for pauses in [&links.paused[&from], &links.paused[&to]] {
                    let around = |&(begin, end): &Spell| (begin - LAG_MS, end.saturating_add(SETTLING_MS));
                    unsettled.extend(pauses.iter().map(around));
                }
                for (begin, end) in links.down[&from].iter().chain(&links.down[&to]) {
                    let calls = recording.calls.iter().filter(|call| call.server == sender.server);
                    let first_told = calls.map(|call| call.done_ms).find(|&done_ms| done_ms >= *end);
                    let settled = first_told.map_or(i64::MAX, |first| first + SETTLING_MS);
                    unsettled.push((begin.saturating_sub(LAG_MS), settled));
                }
                links.unsettled.insert((from, to), unsettled);
            }
        }
        links
    }

    pub(super) fn is_cut(&self, from: ServerId, to: ServerId, t_ms: i64) -> bool {
        self.cut.get(&(from, to)).is_some_and(|spells| covers(spells, t_ms, t_ms))
    }

    /// Whether it is anybody's guess at some moment between the two how soon one hears of the other.
    pub(super) fn is_unsettled(&self, from: ServerId, to: ServerId, since_ms: i64, until_ms: i64) -> bool {
        let spells = self.unsettled.get(&(from, to));
        spells.is_some_and(|spells| spells.iter().any(|spell| spell.0 <= until_ms && since_ms < spell.1))
    }

    /// Whether nothing can have got there all the time between the two.
    pub(super) fn is_out_of_reach(&self, from: ServerId, to: ServerId, since_ms: i64, until_ms: i64) -> bool {
        let cut = self.cut.get(&(from, to)).is_some_and(|spells| covers(spells, since_ms, until_ms));
        cut || covers(&self.down[&to], since_ms, until_ms)
    }

    /// How often something that was to be told then may have been told, at most.
    pub(super) fn tellings_max(&self, from: ServerId, to: ServerId, since_ms: i64, until_ms: i64) -> u32 {
        let stood = self.paused[&from].iter().chain(&self.paused[&to]);
        let stood_ms: i64 = stood.map(|&(begin, end)| (end.min(until_ms) - begin.max(since_ms)).max(0)).sum();
        1 + (stood_ms / REPEATED_MS) as u32
    }

    /// When links have settled, from whom to whom.
    pub(super) fn settled(&self) -> Vec<(i64, ServerId, ServerId)> {
        let mut settled = Vec::new();
        for (&(from, to), spells) in &self.unsettled {
            let ends = spells.iter().map(|spell| spell.1).filter(|&end| end < i64::MAX);
            let last = ends.filter(|&end| !spells.iter().any(|spell| spell.0 <= end && end < spell.1));
            settled.extend(last.map(|end| (end, from, to)));
        }
        settled.sort_unstable();
        settled
    }
}

/// Spells before, between and after the lives of a server. One that is told to stop answers for a while, and then it
/// has gone.
fn downs(timeline: &Timeline) -> Vec<Spell> {
    let mut starts = timeline.lives.iter().map(|life| life.start_ms);
    let mut downs = vec![(i64::MIN, starts.next().expect("a server that opened"))];
    for (t_ms, what) in &timeline.events {
        if matches!(what, What::Down) {
            let next = timeline.lives.iter().map(|life| life.start_ms).find(|start| start > t_ms);
            downs.push((*t_ms, next.unwrap_or(i64::MAX)));
        }
    }
    downs
}

fn covers(spells: &[Spell], since_ms: i64, until_ms: i64) -> bool {
    spells.iter().any(|spell| spell.0 <= since_ms && until_ms < spell.1)
}
