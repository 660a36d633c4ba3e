//! What a node's own clocks show. Eureka reads two: the wall clock (`System.currentTimeMillis`, whole
//! milliseconds, may be stepped) judges leases, and the monotonic one (`System.nanoTime`) paces client tasks,
//! ages cache entries and measures eviction lateness.

use crate::engine::SimTime;

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
