//! One lease: how long a registration is believed without a word from its owner.
//!
//! The idea, and its famous flaw: a renewal sets `lastUpdateTimestamp` to *now plus the duration*, and the
//! expiry test adds the duration again. So a lease that was renewed lives two durations, one that was never
//! renewed lives one, and registering anew shortens the life of a healthy lease. The maintainers documented
//! it and kept it (Netflix #531, #1277, #1341, #1450).
//!
//! ```text
//! registered t, never renewed      t ───── D ─────▶ expired from t + D + 1 ms
//! renewed r                        r ───── D ─────┼───── D ─────▶ expired from r + 2D + 1 ms
//! ```
//!
//! Three timestamps of the original decide nothing and are left out: `registrationTimestamp` and
//! `serviceUpTimestamp` are only shown, and `evictionTimestamp` is set on a lease that has just left the map.
//!
//! Source: `eureka-server.md` section 1; `com.netflix.eureka.lease.Lease`.

use crate::model::clock::WallMs;
use crate::model::message::Record;

/// `Lease.DEFAULT_DURATION_IN_SECS`: for a registration that brings no duration above zero, seconds.
pub(super) const DEFAULT_DURATION_S: i32 = 90;

/// A registration and its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The instance as the server knows it.
    pub record: Record,
    last_update: WallMs,
    duration_ms: i32,
    registration: u32,
}

impl Lease {
    /// A lease that was just created and never renewed. The duration in milliseconds wraps as Java's `int`
    /// does: above 2,147,483 seconds it is negative.
    pub(super) fn new(record: Record, duration_s: i32, now: WallMs) -> Self {
        Self { record, last_update: now, duration_ms: duration_s.wrapping_mul(1_000), registration: 0 }
    }

    /// The same lease, of the record that was registered as number `registration` of its server's life.
    pub(super) fn numbered(self, registration: u32) -> Self {
        Self { registration, ..self }
    }

    /// Which record this is: where the original refers to the record *object*, whoever remembers the number can tell
    /// whether the lease still has it. A new lease that keeps a dirtier record keeps its number.
    pub(super) fn registration(&self) -> u32 {
        self.registration
    }

    /// `Lease.renew`: the duration is added here, and again in [`Lease::is_expired`].
    pub(super) fn renew(&mut self, now: WallMs) {
        self.last_update = now.plus(i64::from(self.duration_ms));
    }

    /// `Lease.isExpired`: strictly later than the last update plus the duration plus `extra_ms`.
    pub fn is_expired(&self, now: WallMs, extra_ms: i64) -> bool {
        now > self.last_update.plus(i64::from(self.duration_ms)).plus(extra_ms)
    }

    /// `lastUpdateTimestamp`; after a renewal one duration in the future.
    pub fn last_update(&self) -> WallMs {
        self.last_update
    }

    /// The duration, ms.
    pub fn duration_ms(&self) -> i32 {
        self.duration_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{AppId, InstanceId};
    use crate::model::message::Status;

    fn lease_at(ms: i64) -> Lease {
        let record = Record {
            app: AppId(0),
            instance: InstanceId(0),
            status: Status::Up,
            overridden: Status::Unknown,
            last_dirty: WallMs(0),
            duration_s: 90,
            renewal_s: 30,
        };
        Lease::new(record, 90, WallMs(ms))
    }

    fn first_expired(lease: &Lease, at: i64, extra: i64) -> bool {
        !lease.is_expired(WallMs(at - 1), extra) && lease.is_expired(WallMs(at), extra)
    }

    #[test]
    fn v1_an_unrenewed_lease_lives_one_duration() {
        // 0 + 90,000 is still good (strict), 90,001 is not.
        assert!(first_expired(&lease_at(0), 90_001, 0));
    }

    #[test]
    fn v2_a_renewed_lease_lives_two() {
        let mut lease = lease_at(0);
        lease.renew(WallMs(30_000));
        // 30,000 + 90,000 = 120,000; + 90,000 again = 210,000.
        assert_eq!(lease.last_update(), WallMs(120_000));
        assert!(first_expired(&lease, 210_001, 0));
    }

    #[test]
    fn v3_registering_anew_shortens_the_lease() {
        // The new object of 35,000 is good to 125,000, although the old one was good to 210,000.
        assert!(first_expired(&lease_at(35_000), 125_001, 0));
    }

    #[test]
    fn v4_compensation_is_added_once() {
        let mut lease = lease_at(0);
        lease.renew(WallMs(30_000));
        assert!(first_expired(&lease, 210_501, 500)); // 210,000 + 500, strict
    }

    #[test]
    fn a_pause_is_forgiven_from_the_due_time_on() {
        // Section 9: e > r + 2D + c with e = d + c is d > r + 2D. r = 0, 2D = 180,000, round due at 180,000
        // runs 25,000 late: judged as of 180,000, so not expired; due 1 ms later it is.
        let mut lease = lease_at(0);
        lease.renew(WallMs(0));
        assert!(!lease.is_expired(WallMs(205_000), 25_000));
        assert!(lease.is_expired(WallMs(205_001), 25_000));
    }

    #[test]
    fn a_huge_duration_wraps_to_a_negative_one() {
        // 2,147,484 s * 1000 = 2,147,484,000 = 2^31 + 352, that is -2,147,483,296 as an int.
        let lease = Lease::new(lease_at(0).record, 2_147_484, WallMs(0));
        assert_eq!(lease.duration_ms(), -2_147_483_296);
        assert!(lease.is_expired(WallMs(0), 0));
    }

    #[test]
    fn a_lease_fits_a_cache_line() {
        assert!(size_of::<Option<Lease>>() <= 48);
    }
}
