//! The wall clock of the world: virtual time laid onto a calendar, so that caches tick on its grid.

use crate::engine::{NANOS_PER_MS, SimTime};
use crate::model::clock::{Now, WallMs};

/// A midnight, in milliseconds since the Unix epoch.
pub(super) const MIDNIGHT: WallMs = WallMs(1_700_006_400_000);

/// Minutes in a day.
pub(super) const MINUTES_PER_DAY: u64 = 1_440;

/// What the wall clock shows at a point of virtual time.
#[derive(Clone, Copy)]
pub(super) struct WallClock {
    /// At the start of the run; a whole millisecond.
    at_start: WallMs,
}

impl WallClock {
    /// A clock that shows `at_start` at the start of the run.
    pub(super) const fn starting_at(at_start: WallMs) -> Self {
        Self { at_start }
    }

    /// Both readings of a node at `time`.
    #[inline]
    pub(super) const fn now(&self, time: SimTime) -> Now {
        Now { mono: time, wall: self.at_start.plus((time.as_nanos() / NANOS_PER_MS) as i64) }
    }

    /// The first point of virtual time at which the clock shows `wall`; the start if that has passed.
    pub(super) fn when(&self, wall: WallMs) -> SimTime {
        SimTime::from_millis(wall.since(self.at_start).max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midnight_is_a_whole_day() {
        assert_eq!(MIDNIGHT.0 % 86_400_000, 0);
    }

    #[test]
    fn when_is_the_first_point_that_shows_it() {
        let clock = WallClock::starting_at(WallMs(1_000));
        assert_eq!(clock.when(WallMs(1_003)), SimTime::from_millis(3));
        assert_eq!(clock.now(SimTime::from_nanos(3_999_999)).wall, WallMs(1_003));
        assert_eq!(clock.now(SimTime::from_nanos(2_999_999)).wall, WallMs(1_002));
    }
}
