//! When a draw makes a phase uniform.
//!
//! A draw over a multiple of a period is uniform over the period; one over many periods nearly so.

use crate::engine::SimDuration;

/// From so many periods on, a draw is as good as uniform: the mean wait is off by at most an eighth of a period
/// in so many.
pub(super) const MANY: u64 = 10;

/// Whether a uniform draw from `length` is uniform, or nearly so, modulo `period`.
pub(super) fn evens(length: SimDuration, period: SimDuration) -> bool {
    let (length, period) = (length.as_nanos(), period.as_nanos().max(1));
    length > 0 && (length.is_multiple_of(period) || length / period >= MANY)
}

pub(super) fn gcd(a: SimDuration, b: SimDuration) -> SimDuration {
    let (mut a, mut b) = (a.as_nanos(), b.as_nanos());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    SimDuration::from_nanos(a.max(1))
}

pub(super) fn lcm(a: SimDuration, b: SimDuration) -> SimDuration {
    let times = b.as_nanos() / gcd(a, b).as_nanos();
    SimDuration::from_nanos(a.as_nanos().saturating_mul(times))
}
