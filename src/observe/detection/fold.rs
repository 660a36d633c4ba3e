//! Rows of detections, and fewer of them where there would be too many.
//!
//! A row stands for observations that are equal to the nanosecond. Where many die one after the other before many
//! observers, nearly none are equal: there would be as many rows as observations. Past [`ROWS_MAX`] rows T_D is
//! counted in whole milliseconds, over all moments of a replicate.

use std::collections::BTreeMap;

use crate::engine::{SimDuration, SimTime};
use crate::model::id::{InstanceId, ServerId};
use crate::model::stage::{EventKind, Stage};
use crate::observe::data::{Detection, Outcome};

/// Rows that a replicate leaves at most unless they are folded; about 100 MB.
pub(super) const ROWS_MAX: usize = 2_000_000;
/// Milliseconds that are counted in one page.
const PAGE_MS: u64 = 1_024;

/// Rows in the making.
#[derive(Clone)]
pub(super) struct Rows {
    exact: Vec<Detection>,
    fold: Option<Fold>,
    max: usize,
}

impl Rows {
    /// No rows yet; more than `max` are folded.
    pub(super) fn new(max: usize) -> Self {
        Self { exact: Vec::new(), fold: None, max }
    }

    /// One more row. Rows of the same instances have the same `group`, and follow each other.
    pub(super) fn push(&mut self, group: u32, row: Detection) {
        if let Some(fold) = &mut self.fold {
            fold.add(group, &row);
            return;
        }
        self.exact.push(row);
        if self.exact.len() > self.max {
            self.fold = Some(Fold::default());
        }
    }

    /// Whether there are too many.
    pub(super) fn is_folded(&self) -> bool {
        self.fold.is_some()
    }

    /// No rows yet, to be folded whatever their number.
    pub(super) fn folded() -> Self {
        Self { exact: Vec::new(), fold: Some(Fold::default()), max: 0 }
    }

    /// All rows, by event time, instance, event, stage, server and outcome.
    pub(super) fn finish(self) -> Vec<Detection> {
        let mut rows = self.fold.map_or(self.exact, Fold::finish);
        rows.sort_by_key(|row| (row.at, row.instance, row.event, row.stage, row.server, row.outcome));
        rows
    }
}

/// Observations by whole milliseconds of T_D.
#[derive(Clone, Default)]
struct Fold {
    numbers: BTreeMap<PageKey, usize>,
    pages: Vec<Box<[Cell]>>,
    /// The page that was written last: rows come by time.
    last: Option<(PageKey, usize)>,
}

/// Event, stage, server, how it ended, and the page's number.
type PageKey = (EventKind, Stage, Option<ServerId>, u8, u64);

#[derive(Clone, Copy)]
struct Cell {
    count: u64,
    /// The earliest moment.
    at: SimTime,
    /// The first instance at that moment.
    first: InstanceId,
    instances: u32,
    /// The group that came last, plus one.
    group: u32,
}

const NOTHING: Cell =
    Cell { count: 0, at: SimTime::MAX, first: InstanceId(u32::MAX), instances: 0, group: 0 };

impl Fold {
    fn add(&mut self, group: u32, row: &Detection) {
        let (ending, length) = match row.outcome {
            Outcome::Detected(length) => (0, length),
            Outcome::Censored(length) => (1, length),
            Outcome::Superseded(length) => (2, length),
        };
        let ms = length.as_millis();
        let page = self.page((row.event, row.stage, row.server, ending, ms / PAGE_MS));
        let cell = &mut self.pages[page][(ms % PAGE_MS) as usize];
        cell.count += row.count;
        (cell.at, cell.first) = (cell.at, cell.first).min((row.at, row.instance));
        if cell.group != group + 1 {
            cell.group = group + 1;
            cell.instances += row.instances;
        }
    }

    fn page(&mut self, key: PageKey) -> usize {
        if let Some((_, page)) = self.last.filter(|(last, _)| *last == key) {
            return page;
        }
        let pages = &mut self.pages;
        let page = *self.numbers.entry(key).or_insert_with(|| {
            pages.push(vec![NOTHING; PAGE_MS as usize].into());
            pages.len() - 1
        });
        self.last = Some((key, page));
        page
    }

    fn finish(self) -> Vec<Detection> {
        let mut rows = Vec::new();
        for ((event, stage, server, ending, page), number) in self.numbers {
            for (cell, ms) in self.pages[number].iter().zip(page * PAGE_MS..) {
                if cell.count == 0 {
                    continue;
                }
                let length = SimDuration::from_millis(ms);
                let outcome = match ending {
                    0 => Outcome::Detected(length),
                    1 => Outcome::Censored(length),
                    _ => Outcome::Superseded(length),
                };
                let &Cell { count, at, first: instance, instances, .. } = cell;
                rows.push(Detection { event, instance, instances, at, stage, server, outcome, count });
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(instance: u32, at_ms: u64, after_us: u64) -> Detection {
        Detection {
            event: EventKind::Crash,
            instance: InstanceId(instance),
            instances: 2,
            at: SimTime::from_millis(at_ms),
            stage: Stage::Client,
            server: None,
            outcome: Outcome::Detected(SimDuration::from_nanos(after_us * 1_000)),
            count: 3,
        }
    }

    #[test]
    fn a_fold_counts_in_whole_milliseconds_and_instances_once() {
        let mut rows = Rows::folded();
        // 1.5 ms twice in one group, 1.9 ms in another, 2,000 ms in that one too.
        for (group, row) in [
            (0, row(5, 20, 1_500)),
            (0, row(5, 20, 1_700)),
            (1, row(7, 10, 1_900)),
            (1, row(7, 10, 2_000_000)),
        ] {
            rows.push(group, row);
        }
        let millis = |ms| Outcome::Detected(SimDuration::from_millis(ms));
        let folded = rows.finish();
        let told: Vec<_> =
            folded.iter().map(|row| (row.instance.0, row.instances, row.outcome, row.count)).collect();
        assert_eq!(told, [(7, 4, millis(1), 9), (7, 2, millis(2_000), 3)]);
    }

    #[test]
    fn more_rows_than_allowed_are_too_many() {
        let mut rows = Rows::new(2);
        for at_ms in [2, 1] {
            rows.push(0, row(0, at_ms, 1));
        }
        assert!(!rows.is_folded());
        rows.push(0, row(0, 3, 1));
        assert!(rows.is_folded());
    }
}
