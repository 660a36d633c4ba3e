//! Limits on-demand registrations: a token bucket on the wall clock, in the original's integer arithmetic.
//! Source: `RateLimiter.acquire`, `InstanceInfoReplicator`; `eureka-client.md` 4.1, 4.4.

use crate::model::clock::WallMs;

/// On-demand registrations that may come at once.
const BURST: i64 = 2;

/// The bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateLimiter {
    /// Wall clock of the last refill, ms; 0 before the first.
    last_refill: i64,
    /// Tokens taken and not refilled yet.
    consumed: u8,
}

/// Registrations a minute that the limiter allows beyond the burst, for a replication interval in seconds:
/// 60 × 2 / interval, rounded down. 0, from 121 s on, means no limit.
pub(super) const fn rate_per_minute(interval_s: u32) -> i64 {
    match (60 * BURST).checked_div(interval_s as i64) {
        Some(rate) => rate,
        None => 0,
    }
}

impl RateLimiter {
    /// Takes a token; false if there is none.
    pub(super) fn acquire(&mut self, now: WallMs, rate_per_minute: i64) -> bool {
        if rate_per_minute <= 0 {
            return true;
        }
        self.refill(now, rate_per_minute);
        if i64::from(self.consumed) >= BURST {
            return false;
        }
        self.consumed += 1;
        true
    }

    /// Gives back the tokens of the whole periods that passed. A clock that was set back gives none until it
    /// has caught up.
    fn refill(&mut self, now: WallMs, rate_per_minute: i64) {
        let elapsed_ms = now.0.saturating_sub(self.last_refill);
        let tokens = elapsed_ms.saturating_mul(rate_per_minute) / 60_000;
        if tokens <= 0 {
            return;
        }
        self.last_refill =
            if self.last_refill == 0 { now.0 } else { self.last_refill + tokens * 60_000 / rate_per_minute };
        self.consumed = i64::from(self.consumed).saturating_sub(tokens).max(0) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: i64 = 1_700_000_000_000;

    #[test]
    fn the_rate_is_divided_as_integers() {
        let rates = [30, 60, 120, 121].map(rate_per_minute);
        assert_eq!(rates, [4, 2, 1, 0]); // 120 / 30, 120 / 60, 120 / 120, 120 / 121
    }

    #[test]
    fn two_pass_then_one_every_fifteen_seconds() {
        let mut limiter = RateLimiter::default();
        let mut ask = |ms: i64| limiter.acquire(WallMs(START + ms), 4);
        assert!(ask(0) && ask(0) && !ask(0));
        assert!(!ask(14_999)); // 14,999 * 4 / 60,000 = 0 tokens
        assert!(ask(15_000) && !ask(15_000)); // 1 token
        assert!(ask(45_000) && ask(45_000) && !ask(45_000)); // 30 s later: 2 tokens
    }

    #[test]
    fn refills_keep_the_remainder() {
        let mut limiter = RateLimiter::default();
        let mut ask = |ms: i64| limiter.acquire(WallMs(START + ms), 4);
        assert!(ask(0) && ask(0));
        assert!(ask(29_000)); // 1 token; the refill is dated 15,000, so 14 s are kept
        assert!(ask(30_000) && !ask(30_000)); // 15,000 later: the next token
    }

    #[test]
    fn a_clock_set_back_blocks_refills() {
        let mut limiter = RateLimiter::default();
        let mut ask = |ms: i64| limiter.acquire(WallMs(START + ms), 4);
        assert!(ask(0) && ask(0));
        assert!(!ask(-60_000) && !ask(14_000) && ask(15_000));
    }

    #[test]
    fn a_long_interval_is_not_limited() {
        let mut limiter = RateLimiter::default();
        assert!((0..10).all(|_| limiter.acquire(WallMs(START), rate_per_minute(121))));
    }
}
