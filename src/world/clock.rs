//! Wall clocks: virtual time laid onto a calendar, so that caches tick on its grid, and how far a node's own is off.
//! Monotonic clocks are exact. All of it is integer arithmetic.

use crate::engine::{NANOS_PER_MS, SimTime};
use crate::model::clock::{Now, WallMs};
use crate::scenario::Clock;

/// A midnight, in milliseconds since the Unix epoch.
pub(super) const MIDNIGHT: WallMs = WallMs(1_700_006_400_000);

/// Minutes in a day.
pub(super) const MINUTES_PER_DAY: u64 = 1_440;

/// What a right wall clock shows at a point of virtual time.
#[derive(Clone, Copy)]
pub(super) struct WallClock {
    /// At the start of the run; a whole millisecond.
    at_start: WallMs,
}

/// How far a node's wall clock is off: the sum of what was wrong from the start and of what faults add.
#[derive(Clone, Default)]
pub(super) struct Skew {
    parts: Vec<Part>,
}

#[derive(Clone, Copy)]
struct Part {
    /// The fault that brought it; `None`: from the start.
    fault: Option<u32>,
    clock: Clock,
    since: SimTime,
}

impl WallClock {
    /// A clock that shows `at_start` at the start of the run.
    pub(super) const fn starting_at(at_start: WallMs) -> Self {
        Self { at_start }
    }

    /// Both readings of a node whose clock is right.
    #[inline]
    pub(super) const fn now(&self, time: SimTime) -> Now {
        Now { mono: time, wall: self.at_start.plus((time.as_nanos() / NANOS_PER_MS) as i64) }
    }

    /// Both readings of a node whose clock is off.
    pub(super) fn now_off(&self, time: SimTime, skew: &Skew) -> Now {
        if skew.is_exact() {
            return self.now(time);
        }
        let nanos = i128::from(time.as_nanos()) + skew.nanos(time);
        let ms = nanos.div_euclid(i128::from(NANOS_PER_MS));
        let ms = ms.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        Now { mono: time, wall: self.at_start.plus(ms) }
    }
}

impl Skew {
    /// What is wrong from the start.
    pub(super) fn from_the_start(clock: Clock) -> Self {
        let mut skew = Self::default();
        if clock != Clock::default() {
            skew.parts.push(Part { fault: None, clock, since: SimTime::ZERO });
        }
        skew
    }

    /// Whether the clock is right, and stays so by itself.
    pub(super) fn is_exact(&self) -> bool {
        self.parts.is_empty()
    }

    /// From now on the clock is off by so much more.
    pub(super) fn add(&mut self, fault: u32, clock: Clock, now: SimTime) {
        self.parts.push(Part { fault: Some(fault), clock, since: now });
    }

    /// All that the fault brought about is taken back, what has drifted included.
    pub(super) fn remove(&mut self, fault: u32) {
        self.parts.retain(|part| part.fault != Some(fault));
    }

    /// How far the clock is ahead, ns.
    fn nanos(&self, time: SimTime) -> i128 {
        self.parts.iter().map(|part| part.nanos(time)).sum()
    }
}

impl Part {
    fn nanos(&self, time: SimTime) -> i128 {
        let step = i128::from(self.clock.offset_ms) * i128::from(NANOS_PER_MS);
        let elapsed = i128::from(time.since(self.since).as_nanos());
        step + (elapsed * i128::from(self.clock.drift_ppm)).div_euclid(1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::eureka::Due;

    const CLOCK: WallClock = WallClock::starting_at(WallMs(1_000_000));

    fn ms(ms: u64) -> SimTime {
        SimTime::from_millis(ms)
    }

    /// How far the clock is ahead, ms.
    fn ahead(skew: &Skew, at: SimTime) -> i64 {
        CLOCK.now_off(at, skew).wall.since(CLOCK.now(at).wall)
    }

    #[test]
    fn midnight_is_a_whole_day() {
        assert_eq!(MIDNIGHT.0 % 86_400_000, 0);
    }

    #[test]
    fn a_right_clock_shows_what_is_due_when_its_timer_looks() {
        let now = SimTime::from_nanos(2_999_999);
        let shown = CLOCK.now(now);
        assert_eq!(shown.wall, WallMs(1_000_002));
        let due = Due::Wall(WallMs(1_000_003)).observed_services(shown);
        assert_eq!((due, CLOCK.now(due).wall), (ms(3), WallMs(1_000_003)));
        assert_eq!(Due::Wall(WallMs(0)).observed_services(shown), ms(2)); // overdue: the caller makes that now
    }

    #[test]
    fn offset_and_drift_add_up() {
        let mut skew = Skew::from_the_start(Clock { offset_ms: -500, drift_ppm: 100 });
        assert_eq!(ahead(&skew, ms(0)), -500);
        assert_eq!(ahead(&skew, ms(10_000_000)), 500); // 10,000 s · 100 ppm = 1 s
        skew.add(3, Clock { offset_ms: 60_000, drift_ppm: -100 }, ms(10_000_000));
        assert_eq!(ahead(&skew, ms(10_000_000)), 60_500);
        assert_eq!(ahead(&skew, ms(20_000_000)), 60_500); // the drifts cancel out
        skew.remove(3);
        assert_eq!(ahead(&skew, ms(20_000_000)), 1_500);
        assert!(Skew::from_the_start(Clock::default()).is_exact());
    }

    #[test]
    fn a_slow_clock_makes_a_timer_look_twice() {
        // 1,000 ppm slow: after 60 s the clock lacks 60 ms; after these it lacks 0.06 ms, so one more.
        let skew = Skew::from_the_start(Clock { offset_ms: 0, drift_ppm: -1_000 });
        let due = CLOCK.now(ms(0)).wall.plus(60_000);
        let (mut at, mut looks) = (ms(0), Vec::new());
        while CLOCK.now_off(at, &skew).wall < due {
            at = Due::Wall(due).observed_services(CLOCK.now_off(at, &skew));
            looks.push(at.as_millis());
        }
        assert_eq!(looks, [60_000, 60_060, 60_061]);
    }
}
