//! The dashboard's two gauges, read once a second, against the model's.

use super::records::Gauge;
use super::{Outcome, TIE_MS};

/// A reading comes this long after the one before, at most.
pub(crate) const READING_MS: i64 = 1_500;

/// What the gauges show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) threshold: u32,
    pub(crate) renewals: u32,
    /// By so much the renewals may be wrong: 0 but for servers with peers.
    pub(crate) slack: u32,
}

impl Shown {
    fn fits(&self, row: &Gauge) -> bool {
        self.threshold == row.renews_threshold && self.renewals.abs_diff(row.renews_last_min) <= self.slack
    }
}

/// What the gauges showed, from when on, `None` while down.
#[derive(Default)]
pub(crate) struct GaugeHistory {
    entries: Vec<(i64, Option<Shown>)>,
}

impl GaugeHistory {
    pub(crate) fn push(&mut self, t_ms: i64, shown: Option<Shown>) {
        if self.entries.last().is_none_or(|last| last.1 != shown) {
            self.entries.push((t_ms, shown));
        }
    }

    /// Each row must be what the model shows at that moment, and nothing else may have stood long enough
    /// between two rows to be read.
    pub(crate) fn compare(&self, rows: &[Gauge], end_ms: i64, outcome: &mut Outcome) {
        for (at, row) in rows.iter().enumerate() {
            let there = (row.renews_threshold, row.renews_last_min);
            outcome.compared.gauges += 1;
            // The first page that a server renders takes its time.
            let first = self.starts_since(rows[..at].last().map_or(i64::MIN, |row| row.t_ms), row.t_ms);
            let before = if first { READING_MS } else { TIE_MS };
            let around: Vec<_> = self.between(row.t_ms - before, row.t_ms + TIE_MS).collect();
            if !around.iter().any(|entry| entry.1.is_some_and(|shown| shown.fits(row))) {
                outcome.differences.push(format!("{}: gauges {there:?} there, {around:?} here", row.t_ms));
            }
            let until = rows.get(at + 1).map_or(end_ms, |next| next.t_ms - READING_MS);
            for (t_ms, other) in self.between(row.t_ms + TIE_MS, until) {
                if other.is_some_and(|other| !other.fits(row)) && !self.goes_down_by(t_ms, t_ms + READING_MS)
                {
                    let difference = format!("{t_ms}: gauges {other:?} here, still {there:?} there");
                    outcome.differences.push(difference);
                }
            }
        }
    }

    /// Whether a life of the server began between the two.
    fn starts_since(&self, from: i64, to: i64) -> bool {
        let starts =
            self.entries.iter().enumerate().filter(|&(at, _)| at == 0 || self.entries[at - 1].1.is_none());
        starts.map(|(_, entry)| entry.0).any(|t_ms| (from..=to).contains(&t_ms))
    }

    fn goes_down_by(&self, from: i64, to: i64) -> bool {
        self.between(from, to).any(|entry| entry.1.is_none())
    }

    /// Entries that held at some moment from `from` to `to`.
    fn between(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, Option<Shown>)> + '_ {
        let next = |at: usize| self.entries.get(at + 1).map_or(i64::MAX, |entry| entry.0);
        let holds =
            move |at: usize, entry: &(i64, Option<Shown>)| from <= to && entry.0 <= to && next(at) > from;
        self.entries.iter().enumerate().filter(move |&(at, entry)| holds(at, entry)).map(|(_, entry)| *entry)
    }
}
