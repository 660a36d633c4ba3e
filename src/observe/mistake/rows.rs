//! Rows of mistakes, and fewer of them where there would be too many.

use std::collections::BTreeMap;

use crate::engine::{NANOS_PER_MS, SimDuration, SimTime};
use crate::model::id::{InstanceId, ServerId};
use crate::model::stage::Stage;
use crate::observe::data::{Mistake, Removal};

/// Rows that a replicate leaves at most unless they are folded; about 100 MB.
const ROWS_MAX: usize = 2_000_000;

/// A mistake that has ended.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) stage: Stage,
    /// Whose registry or answers, or whose answer hid the instance.
    pub(super) server: Option<ServerId>,
    pub(super) removal: Removal,
    pub(super) since: SimTime,
    pub(super) until: SimTime,
    pub(super) corrected: bool,
}

/// How many mistakes a slot made, and how long they lasted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Mistakes that began.
    pub(super) mistakes: u64,
    /// Of these, corrected ones.
    pub(super) corrected: u64,
    /// How long those that ended lasted, ns.
    pub(super) nanos: u128,
}

impl Tally {
    /// So many mistakes ended alike.
    pub(super) fn end(&mut self, made: &Made, count: u64) {
        self.corrected += if made.corrected { count } else { 0 };
        self.nanos += u128::from(made.until.since(made.since).as_nanos()) * u128::from(count);
    }
}

/// Rows in the making.
#[derive(Clone)]
pub(super) struct MistakeRows {
    exact: Vec<Mistake>,
    fold: Option<BTreeMap<FoldKey, Mistake>>,
    max: usize,
}

/// Stage, server, how it came, whether it was corrected, whole milliseconds.
type FoldKey = (Stage, Option<ServerId>, Removal, bool, u64);

impl Default for MistakeRows {
    fn default() -> Self {
        Self::new(ROWS_MAX)
    }
}

impl MistakeRows {
    /// No rows yet; more than `max` are folded.
    fn new(max: usize) -> Self {
        Self { exact: Vec::new(), fold: None, max }
    }

    /// `count` mistakes about `instances` instances, of which `instance` is the first, ended alike.
    pub(super) fn push(&mut self, made: &Made, instance: InstanceId, instances: u32, count: u64) {
        let &Made { stage, server, removal, since: at, until, corrected } = made;
        let lasted = until.since(at);
        let row = Mistake { instance, instances, stage, server, at, lasted, removal, corrected, count };
        match &mut self.fold {
            Some(fold) => fold_in(fold, row),
            None => self.exact.push(row),
        }
        if self.exact.len() > self.max {
            self.merge_equal();
        }
    }

    /// Makes one row of equal ones. If that does not halve them, all are folded from now on.
    fn merge_equal(&mut self) {
        self.exact.sort_unstable_by_key(key);
        self.exact.dedup_by(|later, earlier| {
            let equal = key(later) == key(earlier);
            if equal {
                earlier.count += later.count;
            }
            equal
        });
        if self.exact.len() > self.max / 2 {
            let fold = self.fold.get_or_insert_default();
            self.exact.drain(..).for_each(|row| fold_in(fold, row));
        }
    }

    /// All rows, by time and instance; and whether they are folded.
    pub(super) fn finish(mut self) -> (Vec<Mistake>, bool) {
        let folded = self.fold.is_some();
        self.max = usize::MAX;
        self.exact.extend(self.fold.take().into_iter().flat_map(BTreeMap::into_values));
        self.merge_equal();
        (self.exact, folded)
    }
}

fn fold_in(fold: &mut BTreeMap<FoldKey, Mistake>, row: Mistake) {
    let ms = row.lasted.as_nanos() / NANOS_PER_MS;
    let into = fold.entry((row.stage, row.server, row.removal, row.corrected, ms)).or_insert_with(|| {
        Mistake { lasted: SimDuration::from_millis(ms), instances: 0, count: 0, ..row.clone() }
    });
    (into.at, into.instance) = (into.at, into.instance).min((row.at, row.instance));
    into.instances = into.instances.saturating_add(row.instances);
    into.count += row.count;
}

/// What rows are sorted by; those in which all of it is equal are one.
fn key(row: &Mistake) -> (SimTime, InstanceId, (Stage, Option<ServerId>), SimDuration, bool, Removal, u32) {
    let slot = (row.stage, row.server);
    (row.at, row.instance, slot, row.lasted, row.corrected, row.removal, row.instances)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(since_us: u64, until_us: u64) -> Made {
        let micros = |micros: u64| SimTime::from_nanos(micros * 1_000);
        Made {
            stage: Stage::Client,
            server: None,
            removal: Removal::NotShown,
            since: micros(since_us),
            until: micros(until_us),
            corrected: true,
        }
    }

    fn told(rows: MistakeRows) -> (Vec<(u32, u32, u64, u64)>, bool) {
        let (rows, folded) = rows.finish();
        let told = |row: &Mistake| (row.instance.0, row.instances, row.lasted.as_nanos() / 1_000, row.count);
        (rows.iter().map(told).collect(), folded)
    }

    #[test]
    fn equal_mistakes_are_one_row() {
        let mut rows = MistakeRows::new(4);
        for instance in [7, 7, 3, 7, 7, 7] {
            rows.push(&made(0, 2_500), InstanceId(instance), 2, 5);
        }
        assert_eq!(told(rows), (vec![(3, 2, 2_500, 5), (7, 2, 2_500, 25)], false));
    }

    #[test]
    fn too_many_that_differ_are_counted_in_whole_milliseconds() {
        let mut rows = MistakeRows::new(2);
        for until in [1_500, 1_600, 1_700, 2_000] {
            rows.push(&made(0, until), InstanceId(until as u32), 2, 3);
        }
        assert_eq!(told(rows), (vec![(1_500, 6, 1_000, 9), (2_000, 2, 2_000, 3)], true));
    }
}
