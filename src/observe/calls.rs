//! Calls through load balancers: counted by minute, caller and callee, never kept one by one.

use std::ops::AddAssign;

use super::data::{CallMinute, CallOutcome};
use crate::engine::{SimDuration, SimTime};
use crate::model::id::AppId;
use crate::model::stage::Stage;

/// The length of a row.
const ROW: SimDuration = SimDuration::from_secs(60);

/// What became of some calls of one application to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallTally {
    /// Calls.
    pub calls: u64,
    /// Of these, failed after all retries.
    pub failed: u64,
    /// Attempts by [`CallOutcome`].
    pub attempts: [u64; CallOutcome::COUNT],
    /// Attempts that met a dead instance, by the [`Stage`] to blame.
    pub dead_by_stage: [u64; Stage::WAY.len()],
}

/// The counts of one replicate.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallCounts {
    /// Caller and callee; their place is the pair's number.
    pairs: Vec<(AppId, AppId)>,
    /// By minute, then by pair.
    minutes: Vec<Vec<CallTally>>,
}

impl AddAssign for CallTally {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        for (sum, count) in self.attempts.iter_mut().zip(other.attempts) {
            *sum += count;
        }
        for (sum, count) in self.dead_by_stage.iter_mut().zip(other.dead_by_stage) {
            *sum += count;
        }
    }
}

impl CallCounts {
    /// Nothing counted yet, for these callers and callees in ascending order.
    pub(crate) fn new(pairs: Vec<(AppId, AppId)>) -> Self {
        assert!(pairs.is_sorted(), "rows come out in the order of the pairs");
        Self { pairs, minutes: Vec::new() }
    }

    /// The number of the minute that `at` falls into.
    pub(crate) const fn minute_of(at: SimTime) -> usize {
        (at.as_nanos() / ROW.as_nanos()) as usize
    }

    /// When that minute begins.
    pub(crate) fn start_of(minute: usize) -> SimTime {
        SimTime::ZERO + ROW * minute as u64
    }

    /// Counts calls of pair `pair` in minute `minute`.
    pub(crate) fn add(&mut self, pair: usize, minute: usize, tally: CallTally) {
        if self.minutes.len() <= minute {
            self.minutes.resize(minute + 1, vec![CallTally::default(); self.pairs.len()]);
        }
        self.minutes[minute][pair] += tally;
    }

    /// The rows: minutes without a call have none.
    pub(crate) fn finish(self) -> Vec<CallMinute> {
        let mut rows = Vec::new();
        for (number, minute) in self.minutes.iter().enumerate() {
            for (&(caller, callee), tally) in self.pairs.iter().zip(minute) {
                if tally.calls > 0 {
                    rows.push(CallMinute {
                        from: Self::start_of(number),
                        caller,
                        callee,
                        calls: tally.calls,
                        failed: tally.failed,
                        attempts: tally.attempts,
                        dead_by_stage: tally.dead_by_stage,
                    });
                }
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_by_minute_and_pair_and_hold_their_sums() {
        let (a, b) = (AppId(0), AppId(1));
        let mut counts = CallCounts::new(vec![(a, b), (b, a)]);
        let one =
            CallTally { calls: 3, failed: 1, attempts: [2, 1, 0, 0, 0, 0], dead_by_stage: [1, 0, 0, 0] };
        let second = CallCounts::minute_of(SimTime::from_secs(61));
        counts.add(1, second, one);
        counts.add(0, second, one);
        counts.add(1, second, one);
        let rows = counts.finish();
        assert_eq!(rows.iter().map(|row| (row.caller, row.calls)).collect::<Vec<_>>(), [(a, 3), (b, 6)]);
        assert_eq!(rows[0].from, SimTime::from_secs(60));
        assert_eq!((rows[1].attempts, rows[1].dead_by_stage), ([4, 2, 0, 0, 0, 0], [2, 0, 0, 0]));
    }
}
