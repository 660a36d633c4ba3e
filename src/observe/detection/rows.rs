//! From marks to rows. The row of watches is walked once, from its start: where an observer's sightings change,
//! it is moved from one count to another, and between two such places all watches have the same counts. So the
//! work grows with the marks and with what is written.

use std::collections::BTreeMap;

use super::fold::{ROWS_MAX, Rows};
use super::servers::PendingObservation;
use super::{BLIND, Detections, Life, Watch};
use crate::engine::SimTime;
use crate::model::id::{InstanceId, ServerId};
use crate::model::stage::{EventKind, Stage};
use crate::observe::data::{Detection, Outcome};
use crate::observe::marks::MarkPool;
use crate::observe::observers::{NOBODY, Noticed, Observers, STAGES};

/// What one slot says of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// Nothing that counts.
    Nothing,
    /// Seen, at this time.
    Closed(Noticed),
    /// Open until the observer ended, at the moment of this number, whom this server had answered last.
    OpenUntil(u64, Option<ServerId>),
}

/// The observer is still up.
const STILL: u64 = u64::MAX;

/// From this place of the row on a slot says something else.
struct Change {
    position: u32,
    slot: u32,
    state: State,
}

/// Watches of one stretch that are alike in all that a row tells: event time, event, and, if they are frozen, when
/// and after how many of the stretch's observers had ended.
type Kind = (SimTime, EventKind, Option<(Option<SimTime>, usize)>);

/// What all observers together say of the watches of a stretch.
struct Counts {
    /// Seen: by stage, time and server.
    closed: Vec<(Stage, Noticed, u64)>,
    /// Open, until the moment of this number, of those whom this server had answered last.
    open: Vec<(Stage, u64, Option<ServerId>, u64)>,
    /// The moments at which observers with open sightings ended, ascending.
    ends: Vec<u64>,
}

impl Detections {
    /// All observations at the end of the run, by event time, instance, event, stage, server and outcome; and
    /// whether they are folded.
    pub(in crate::observe) fn finish(self, now: SimTime, observers: &Observers) -> (Vec<Detection>, bool) {
        self.finish_in(ROWS_MAX, now, observers)
    }

    /// The same, folded if there are more than `max` rows.
    pub(super) fn finish_in(
        mut self,
        max: usize,
        now: SimTime,
        observers: &Observers,
    ) -> (Vec<Detection>, bool) {
        self.complete_fresh();
        let mut changes = self.changes(observers);
        self.pool = MarkPool::default();
        changes.sort_unstable_by_key(|change| (change.position, change.slot));
        let mut rows = Rows::new(max);
        self.walk(&changes, now, &mut rows);
        if rows.is_folded() {
            rows = Rows::folded();
            self.walk(&changes, now, &mut rows);
        }
        let folded = rows.is_folded();
        (rows.finish(), folded)
    }

    fn changes(&self, observers: &Observers) -> Vec<Change> {
        let mut changes = Vec::new();
        for place in 0..self.lists.len() as u32 {
            let mut lives: Vec<(u32, State)> = Vec::new();
            for &Life { from, ended, server } in self.past.get(&place).into_iter().flatten() {
                lives.push((from, State::OpenUntil(ended, server)));
            }
            if observers.shown(place).is_some() {
                let open = State::OpenUntil(STILL, observers.answered_by(place));
                lives.push((self.from[place as usize], open));
            }
            for stage in 0..observers.stages().len() {
                self.changes_of(place, stage, &lives, &mut changes);
            }
        }
        changes
    }

    fn changes_of(&self, place: u32, stage: usize, lives: &[(u32, State)], changes: &mut Vec<Change>) {
        let mut marks: Vec<_> = self.pool.iter(self.lists[place as usize][stage]).collect();
        marks.reverse();
        let mut places: Vec<u32> = lives.iter().map(|life| life.0).collect();
        places.extend(marks.iter().flat_map(|mark| [mark.start, mark.end]));
        places.sort_unstable();
        places.dedup();
        for position in places.into_iter().filter(|&position| position < self.row.len()) {
            let at = marks.partition_point(|mark| mark.end <= position);
            let state = match marks.get(at).filter(|mark| mark.start <= position) {
                Some(mark) if mark.value == BLIND => State::Nothing,
                Some(mark) => State::Closed(mark.value),
                None => {
                    let life = lives.partition_point(|life| life.0 <= position);
                    lives[..life].last().map_or(State::Nothing, |life| life.1)
                }
            };
            changes.push(Change { position, slot: 2 * place + stage as u32, state });
        }
    }

    fn walk(&self, changes: &[Change], now: SimTime, rows: &mut Rows) {
        let mut slots = vec![State::Nothing; 2 * self.lists.len()];
        let mut counts: BTreeMap<(Stage, State), u64> = BTreeMap::new();
        let (mut group, mut start) = (0, 0);
        for here in changes.chunk_by(|one, other| one.position == other.position) {
            self.stretch(start..here[0].position, &counts, &slots, now, &mut group, rows);
            start = here[0].position;
            for &Change { slot, state, .. } in here {
                let stage = STAGES[slot as usize % 2];
                let before = std::mem::replace(&mut slots[slot as usize], state);
                if before != State::Nothing {
                    let left = counts.get_mut(&(stage, before)).expect("a slot is counted where it is");
                    *left -= 1;
                    if *left == 0 {
                        counts.remove(&(stage, before));
                    }
                }
                if state != State::Nothing {
                    *counts.entry((stage, state)).or_insert(0) += 1;
                }
            }
        }
        self.stretch(start..self.row.len(), &counts, &slots, now, &mut group, rows);
    }

    /// The rows of a stretch throughout which every slot says the same.
    fn stretch(
        &self,
        range: std::ops::Range<u32>,
        counts: &BTreeMap<(Stage, State), u64>,
        slots: &[State],
        now: SimTime,
        group: &mut u32,
        rows: &mut Rows,
    ) {
        if range.is_empty() {
            return;
        }
        let counts = Counts::of(counts);
        let mut kinds: BTreeMap<Kind, Vec<u32>> = BTreeMap::new();
        for &item in self.row.items(range) {
            let watch = &self.watches[item as usize];
            let frozen = watch
                .frozen
                .map(|frozen| (frozen.superseded, counts.ends.partition_point(|&end| end < frozen.moment)));
            kinds.entry((watch.at, watch.event, frozen)).or_default().push(item);
        }
        for ((at, event, _), items) in kinds {
            let watches: Vec<&Watch> = items.iter().map(|&item| &self.watches[item as usize]).collect();
            let instance = watches.iter().map(|watch| watch.instance).min().expect("a kind has a watch");
            let row = Detection {
                event,
                instance,
                instances: watches.len() as u32,
                at,
                stage: Stage::Registry,
                server: None,
                outcome: Outcome::Censored(now.since(at)),
                count: 0,
            };
            self.server_rows(&items, &row, now, |row| rows.push(*group, row));
            observer_rows(&watches, &counts, slots, &row, now, |row| rows.push(*group, row));
            *group += 1;
        }
    }

    /// What the servers saw of these watches.
    fn server_rows(&self, items: &[u32], row: &Detection, now: SimTime, mut push: impl FnMut(Detection)) {
        let mut seen: BTreeMap<(Stage, ServerId, Outcome), (u32, InstanceId)> = BTreeMap::new();
        for &item in items {
            let instance = self.watches[item as usize].instance;
            for (server, stage, observation) in self.servers.of(item) {
                let outcome = match observation {
                    PendingObservation::None => continue,
                    PendingObservation::Open => Outcome::Censored(now.since(row.at)),
                    PendingObservation::Closed(at) => Outcome::Detected(at.since(row.at)),
                    PendingObservation::Superseded(at) => Outcome::Superseded(at.since(row.at)),
                };
                let (instances, first) = seen.entry((stage, server, outcome)).or_insert((0, instance));
                *instances += 1;
                *first = instance.min(*first);
            }
        }
        for ((stage, server, outcome), (instances, instance)) in seen {
            let server = Some(server);
            push(Detection { stage, server, outcome, instance, instances, count: instances.into(), ..*row });
        }
    }
}

impl Counts {
    fn of(counts: &BTreeMap<(Stage, State), u64>) -> Self {
        let (mut closed, mut open, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for (&(stage, state), &count) in counts {
            match state {
                State::Nothing => {}
                State::Closed(seen) => closed.push((stage, seen, count)),
                State::OpenUntil(end, server) => {
                    open.push((stage, end, server, count));
                    ends.push(end);
                }
            }
        }
        ends.sort_unstable();
        ends.dedup();
        Self { closed, open, ends }
    }
}

/// What the observers saw of these watches, less what an instance saw of itself.
fn observer_rows(
    watches: &[&Watch],
    counts: &Counts,
    slots: &[State],
    row: &Detection,
    now: SimTime,
    mut push: impl FnMut(Detection),
) {
    let each = u64::from(row.instances);
    let mut own: BTreeMap<(Stage, State), u64> = BTreeMap::new();
    for watch in watches.iter().filter(|watch| watch.own != NOBODY) {
        for (stage, number) in STAGES.into_iter().zip(0..) {
            let state = slots[2 * watch.own as usize + number];
            *own.entry((stage, state)).or_insert(0) += 1;
        }
    }
    let others = |stage, state, count: u64| count * each - own.get(&(stage, state)).copied().unwrap_or(0);
    for &(stage, seen, count) in &counts.closed {
        let count = others(stage, State::Closed(seen), count);
        if count > 0 {
            let outcome = Outcome::Detected(seen.at().since(row.at));
            push(Detection { stage, server: seen.server(), outcome, count, ..*row });
        }
    }
    let frozen = watches[0].frozen;
    let mut open: BTreeMap<(Stage, Option<ServerId>, Outcome), u64> = BTreeMap::new();
    for &(stage, end, server, count) in &counts.open {
        let outcome = match frozen {
            // Whoever ended first could not tell.
            Some(frozen) if frozen.moment < end => {
                frozen.superseded.map(|at| Outcome::Superseded(at.since(row.at)))
            }
            None if end == STILL => Some(Outcome::Censored(now.since(row.at))),
            _ => None,
        };
        if let Some(outcome) = outcome {
            let count = others(stage, State::OpenUntil(end, server), count);
            *open.entry((stage, server, outcome)).or_insert(0) += count;
        }
    }
    for ((stage, server, outcome), count) in open.into_iter().filter(|(_, count)| *count > 0) {
        push(Detection { stage, server, outcome, count, ..*row });
    }
}
