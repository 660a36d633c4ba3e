//! What a node's own clocks show. Eureka reads two: the wall clock (`System.currentTimeMillis`, whole
//! milliseconds, may be stepped) judges leases, and the monotonic one (`System.nanoTime`) paces client tasks,
//! ages cache entries and measures eviction lateness.

use crate::engine::{NANOS_PER_MS, SimDuration, SimTime};

/// A wall-clock reading: whole milliseconds since the Unix epoch. May go back when a clock is stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallMs(pub i64);

impl WallMs {
    /// The reading `ms` milliseconds later (earlier if negative).
    pub const fn plus(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this reading; negative if the clock was set back between.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Both readings of one node at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The node's monotonic clock.
    pub mono: SimTime,
    /// The node's wall clock.
    pub wall: WallMs,
}

/// When a timer fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// After as many milliseconds as this node's wall clock lacks to this now, whatever that clock does meanwhile.
    Wall(WallMs),
    /// At this reading of the monotonic clock (a `Thread.sleep`).
    Mono(SimTime),
}

impl Due {
    /// When a timer that begins to wait `now` looks at the clock. It waits as many milliseconds by the monotonic clock
    /// as the wall clock lacks, and may find that the wall clock has gone slower, or was set back: then it waits again
    /// for the rest. It counts from whole milliseconds, so that a right clock shows exactly what is due.
    pub fn observed_services(self, now: Now) -> SimTime {
        match self {
            Self::Wall(due) => {
                let lacking_ms = due.since(now.wall).max(0) as u64;
                let lacking = SimDuration::from_nanos(lacking_ms.saturating_mul(NANOS_PER_MS));
                SimTime::from_millis(now.mono.as_millis()) + lacking
            }
            Self::Mono(due) => due,
        }
    }

    pub(super) fn has_come(self, now: Now) -> bool {
        match self {
            Self::Wall(due) => now.wall >= due,
            Self::Mono(due) => now.mono >= due,
        }
    }
}
