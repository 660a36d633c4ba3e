//! A fixed-delay task that usually finds nothing to do, kept as an anchor instead of a running timer.
//!
//! A task that runs every period and takes no time runs at `next`, `next + period`, `next + 2 periods` and so
//! on. As long as a run would do nothing, nobody needs to be woken: when there is something to do, the next
//! point of the grid is computed. Only a pause of the process can move the grid (`eureka-client.md` 9.1).

use crate::engine::{SimDuration, SimTime};

/// The points at which an idle fixed-delay task would run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Grid {
    /// A point of the grid: the next run, or one that passed idly.
    next: SimTime,
}

impl Grid {
    /// The grid whose next point is `next`.
    pub(super) const fn starting_at(next: SimTime) -> Self {
        Self { next }
    }

    /// The point that it was last known to have.
    pub(super) const fn next(&self) -> SimTime {
        self.next
    }

    /// The earliest point of the grid that is not before `now`. A period of zero means: always.
    pub(super) fn at_or_after(&self, now: SimTime, period: SimDuration) -> SimTime {
        if self.next >= now || period.is_zero() {
            return self.next.max(now);
        }
        let period = period.as_nanos();
        let periods = now.since(self.next).as_nanos().div_ceil(period);
        self.next + SimDuration::from_nanos(periods.saturating_mul(period))
    }

    /// Whether a point fell into a pause that began at `paused_since` and ends now.
    pub(super) fn missed(&self, paused_since: SimTime, now: SimTime, period: SimDuration) -> bool {
        self.at_or_after(paused_since, period) <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> SimTime {
        SimTime::from_secs(secs)
    }

    #[test]
    fn the_next_point_is_counted_in_whole_periods() {
        let grid = Grid::starting_at(at(40));
        let period = SimDuration::from_secs(30);
        assert_eq!(grid.at_or_after(at(0), period), at(40));
        assert_eq!(grid.at_or_after(at(40), period), at(40));
        assert_eq!(grid.at_or_after(at(41), period), at(70));
        assert_eq!(grid.at_or_after(at(130), period), at(130)); // 40 + 3 * 30
        assert_eq!(grid.at_or_after(at(131), SimDuration::ZERO), at(131));
    }

    #[test]
    fn a_pause_misses_a_point_if_one_lies_in_it() {
        let grid = Grid::starting_at(at(40));
        let period = SimDuration::from_secs(30);
        assert!(!grid.missed(at(41), at(69), period));
        assert!(grid.missed(at(41), at(70), period));
        assert!(grid.missed(at(41), at(500), period));
    }
}
