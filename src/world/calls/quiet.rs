//! Callers to whom nothing can go wrong but what the network always loses. Their calls are Poisson streams, and
//! so is the sum of them; sorted by what becomes of each, which no other call has part in, they are independent
//! Poisson streams again. So one number for each minute and outcome is drawn at the end, for all of them
//! together. That is no approximation.

use super::round::Policy;
use crate::engine::{NANOS_PER_S, Purpose, Rng, SimTime};
use crate::observe::{CallCounts, CallOutcome, CallTally};

/// Calls of quiet callers.
const CALLS: Purpose = Purpose(0);

/// How long callers of one application were quiet.
#[derive(Clone, Debug, Default)]
pub(super) struct Quiet {
    /// How many are, now.
    callers: u64,
    /// Up to when they are counted.
    since: SimTime,
    /// Caller-nanoseconds by minute.
    nanos: Vec<u64>,
}

impl Quiet {
    /// One more is quiet.
    pub(super) fn enter(&mut self, now: SimTime) {
        self.count_until(now);
        self.callers += 1;
    }

    /// One is quiet no longer.
    pub(super) fn leave(&mut self, now: SimTime) {
        self.count_until(now);
        self.callers -= 1;
    }

    /// Draws the calls that were made until `end`, `rate` a second and caller, each attempt of which was lost with
    /// probability `loss`.
    pub(super) fn draw(
        mut self,
        end: SimTime,
        rate: f64,
        loss: f64,
        policy: &Policy,
        rng: &mut Rng<'_>,
        mut into: impl FnMut(usize, CallTally),
    ) {
        self.count_until(end);
        let attempts = (u64::from(policy.retries_on_same) + 1) * (u64::from(policy.retries_on_next) + 1);
        for (minute, &nanos) in self.nanos.iter().enumerate().filter(|(_, nanos)| **nanos > 0) {
            let mean = rate * (nanos as f64 / NANOS_PER_S as f64);
            into(minute, drawn(mean, loss, attempts, rng));
        }
    }

    fn count_until(&mut self, now: SimTime) {
        while self.since < now {
            let minute = CallCounts::minute_of(self.since);
            let end = CallCounts::start_of(minute + 1).min(now);
            if self.callers > 0 {
                if self.nanos.len() <= minute {
                    self.nanos.resize(minute + 1, 0);
                }
                self.nanos[minute] += self.callers * end.since(self.since).as_nanos();
            }
            self.since = end;
        }
    }
}

/// Calls of which `mean` are expected, sorted by how many of their attempts, at most `attempts`, were lost.
fn drawn(mean: f64, loss: f64, attempts: u64, rng: &mut Rng<'_>) -> CallTally {
    let mut tally = CallTally::default();
    let mut lost_so_far = 1.0;
    for lost in 0..=attempts {
        let failed = lost == attempts;
        let share = if failed { lost_so_far } else { lost_so_far * (1.0 - loss) };
        let calls = rng.poisson(CALLS, mean * share);
        tally.calls += calls;
        tally.attempts[CallOutcome::CutOff as usize] += lost * calls;
        if failed {
            tally.failed += calls;
        } else {
            tally.attempts[CallOutcome::Answered as usize] += calls;
        }
        lost_so_far *= loss;
        if lost_so_far == 0.0 {
            break;
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Seed, SimDuration, Streams};

    const ONCE: Policy = Policy {
        retries_on_same: 0,
        retries_on_next: 0,
        avoids_previous: true,
        read_timeout: SimDuration::from_secs(1),
    };

    #[test]
    fn caller_time_is_split_at_minutes() {
        let mut quiet = Quiet::default();
        quiet.enter(SimTime::from_secs(30));
        quiet.enter(SimTime::from_secs(90));
        quiet.leave(SimTime::from_secs(190));
        quiet.count_until(SimTime::from_secs(200));
        // 30; 30 + 2 · 30; 2 · 60; 2 · 10 + 10 caller-seconds.
        assert_eq!(quiet.nanos, [30, 90, 120, 30].map(|secs| secs * NANOS_PER_S));
    }

    /// 20 callers at 5 a second for 10 minutes: 60,000 calls, deviation sqrt(60,000) = 245; five of them.
    #[test]
    fn calls_come_at_the_rate() {
        let (seed, mut streams) = (Seed::new(3, 0), Streams::of("test"));
        let mut quiet = Quiet::default();
        for _ in 0..20 {
            quiet.enter(SimTime::ZERO);
        }
        let (mut sum, mut rows) = (CallTally::default(), 0);
        let mut rng = streams.with(&seed);
        quiet.draw(SimTime::from_secs(600), 5.0, 0.0, &ONCE, &mut rng, |_, tally| {
            sum += tally;
            rows += 1;
        });
        assert_eq!((rows, sum.failed, sum.attempts[0]), (10, 0, sum.calls));
        assert!(sum.calls.abs_diff(60_000) < 1_225, "{}", sum.calls);
    }

    /// With three attempts and a loss of 0.2: 0.8 of a million calls need one, 0.16 two, 0.04 three, of which 0.008
    /// fail. Attempts lost: 0.16 + 2 · 0.032 + 3 · 0.008 = 0.248 a call. Five deviations each.
    #[test]
    fn loss_is_the_same_as_if_each_attempt_were_drawn() {
        let (seed, mut streams) = (Seed::new(3, 0), Streams::of("test"));
        let tally = drawn(1e6, 0.2, 3, &mut streams.with(&seed));
        assert!(tally.calls.abs_diff(1_000_000) < 5_000, "{tally:?}");
        assert!(tally.failed.abs_diff(8_000) < 450, "{tally:?}");
        assert!(tally.attempts[CallOutcome::CutOff as usize].abs_diff(248_000) < 3_000, "{tally:?}");
        assert_eq!(tally.attempts[CallOutcome::Answered as usize] + tally.failed, tally.calls);
    }

    #[test]
    fn where_everything_is_lost_everything_fails() {
        let (seed, mut streams) = (Seed::new(3, 0), Streams::of("test"));
        let tally = drawn(1_000.0, 1.0, 2, &mut streams.with(&seed));
        assert_eq!(
            (tally.failed, tally.attempts[CallOutcome::CutOff as usize]),
            (tally.calls, 2 * tally.calls)
        );
    }
}
