//! Virtual time: integers, so that no rounding ever orders two events.
//!
//! [`SimTime`] is a point on the run's one axis, in nanoseconds since its start; [`SimDuration`] is a length
//! of it. What a node believes about time is another matter: see [`crate::model::clock`].

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// Nanoseconds in a millisecond.
pub const NANOS_PER_MS: u64 = 1_000_000;
/// Nanoseconds in a second.
pub const NANOS_PER_S: u64 = 1_000_000_000;
const NANOS_PER_DAY: u64 = 86_400 * NANOS_PER_S;

/// A point of virtual time: nanoseconds since the start of the run. Covers 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(u64);

/// A length of virtual time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimDuration(u64);

impl SimTime {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// A point later than any event.
    pub const MAX: Self = Self(u64::MAX);

    /// The point `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The point `millis` milliseconds after the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * NANOS_PER_MS)
    }

    /// The point `secs` seconds after the start.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * NANOS_PER_S)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the start, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / NANOS_PER_MS
    }

    /// How long after `earlier` this is; zero if it is not later.
    pub const fn since(self, earlier: Self) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0))
    }
}

impl SimDuration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * NANOS_PER_MS)
    }

    /// `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * NANOS_PER_S)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / NANOS_PER_MS
    }

    /// Seconds as a float, for display and charts only: no rule may use it.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_S as f64
    }

    /// Whether this is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, or the longest duration there is.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add<SimDuration> for SimTime {
    type Output = Self;
    fn add(self, length: SimDuration) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}

impl AddAssign<SimDuration> for SimTime {
    fn add_assign(&mut self, length: SimDuration) {
        *self = *self + length;
    }
}

impl Sub<SimTime> for SimTime {
    type Output = SimDuration;
    fn sub(self, earlier: SimTime) -> SimDuration {
        debug_assert!(self.0 >= earlier.0, "time runs forward");
        self.since(earlier)
    }
}

impl Add for SimDuration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

impl Mul<u64> for SimDuration {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SimDuration(self.0).fmt(f)
    }
}

/// Written as people write it: `5m 30s`, `35s`, `1ms`. Days are the largest unit: a year is `365days`, where
/// `humantime` has months of 30.44 of them.
impl fmt::Display for SimDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.0 / NANOS_PER_DAY, self.0 % NANOS_PER_DAY);
        match days {
            0 => {}
            1 => f.write_str("1day")?,
            _ => write!(f, "{days}days")?,
        }
        if days > 0 && rest > 0 {
            f.write_str(" ")?;
        }
        if days == 0 || rest > 0 {
            humantime::format_duration(std::time::Duration::from_nanos(rest)).fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_as_people_write_them() {
        assert_eq!(SimDuration::from_secs(330).to_string(), "5m 30s");
        assert_eq!(SimDuration::from_millis(1).to_string(), "1ms");
        assert_eq!(SimDuration::ZERO.to_string(), "0s");
        assert_eq!(SimDuration::from_secs(86_400).to_string(), "1day");
        // 2 days and 10 ms; a year of 365 days and an hour.
        assert_eq!(SimDuration::from_millis(172_800_010).to_string(), "2days 10ms");
        assert_eq!(SimDuration::from_secs(365 * 86_400 + 3_600).to_string(), "365days 1h");
    }

    #[test]
    fn milliseconds_round_down() {
        assert_eq!(SimTime::from_nanos(1_999_999).as_millis(), 1);
    }

    #[test]
    fn sums_stop_at_the_end_of_time() {
        assert_eq!(SimTime::MAX + SimDuration::from_secs(1), SimTime::MAX);
    }
}
