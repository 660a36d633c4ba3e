//! The eviction round (T6): who is expired, how many may go, and who goes.
//!
//! A round has two halves, so that victims recorded from a real server can stand in for chance:
//! `EurekaServer::open_round` decides the gate, the compensation, the expired and the limit;
//! `EurekaServer::close_round` removes the chosen.
//!
//! A round that runs late forgives the lateness: whatever the last run's distance exceeds the interval by is
//! added to every lease, which judges them as of the moment the round was due.
//!
//! Source: `eureka-server.md` section 3; `AbstractInstanceRegistry.evict`,
//! `AbstractInstanceRegistry.EvictionTask`.

use crate::engine::{Purpose, Rng, SimTime};
use crate::model::id::InstanceId;

/// The server's stream for the choice of victims.
pub const EVICTION_CHOICE: Purpose = Purpose(0);

/// The first half of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Whether lease expiration was enabled; if not, nobody looked further.
    pub enabled: bool,
    /// Forgiven lateness, ms. Computed even when the gate is shut.
    pub compensation_ms: i64,
    /// The expired, by number; empty when the gate was shut.
    pub expired: Vec<InstanceId>,
    /// The most that may go; 0 when the gate was shut.
    pub limit: u32,
    /// Leases before the round, expired ones included.
    pub registered: u32,
}

impl Round {
    /// How many go: all the expired, within the limit.
    pub fn quota(&self) -> usize {
        self.expired.len().min(self.limit as usize)
    }
}

/// `size − ⌊size × renewalPercentThreshold⌋` (`AbstractInstanceRegistry.evict`).
pub(super) fn limit(registered: u32, renewal_percent_threshold: f64) -> u32 {
    let kept = (f64::from(registered) * renewal_percent_threshold) as i32;
    (registered as i32 - kept).max(0) as u32
}

/// Remembers when the task ran last, evicting or not (`EvictionTask.lastExecutionNanosRef`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lateness {
    previous: Option<SimTime>,
}

impl Lateness {
    /// `getCompensationTimeMs`: whole milliseconds since the last run, less the interval; 0 on the first run.
    pub(super) fn compensation_ms(&mut self, now: SimTime, interval_ms: u32) -> i64 {
        let Some(previous) = self.previous.replace(now) else { return 0 };
        let elapsed_ms = now.since(previous).as_millis() as i64;
        (elapsed_ms - i64::from(interval_ms)).max(0)
    }
}

/// Draws `quota` of the expired uniformly, without replacement: the prefix of a Fisher–Yates shuffle.
pub(super) fn choose(mut expired: Vec<InstanceId>, quota: usize, rng: &mut Rng<'_>) -> Vec<InstanceId> {
    for at in 0..quota {
        let among = (expired.len() - at) as u64;
        if among > 1 {
            let drawn = rng.below(EVICTION_CHOICE, among) as usize;
            expired.swap(at, at + drawn);
        }
    }
    expired.truncate(quota);
    expired
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the rounds remove of `dead` expired among `size`, with protection off (section 3.3).
    fn rounds(mut size: u32, mut dead: u32) -> Vec<u32> {
        let mut removed = Vec::new();
        while dead > 0 {
            let going = dead.min(limit(size, 0.85));
            removed.push(going);
            size -= going;
            dead -= going;
        }
        removed
    }

    #[test]
    fn the_limit_by_size() {
        // size − ⌊0.85 size⌋; e.g. 7 − ⌊5.95⌋ = 2, 20 − ⌊17⌋ = 3, 50 − ⌊42.5⌋ = 8.
        let bands: [(u32, u32, u32); 6] =
            [(1, 6, 1), (7, 13, 2), (14, 20, 3), (21, 26, 4), (27, 33, 5), (34, 40, 6)];
        for (from, to, most) in bands {
            assert!((from..=to).all(|size| limit(size, 0.85) == most), "{from} to {to}");
        }
        assert_eq!([50, 60, 100, 200, 1_000].map(|size| limit(size, 0.85)), [8, 9, 15, 30, 150]);
        assert_eq!(limit(0, 0.85), 0);
    }

    #[test]
    fn v8_six_of_six_go_one_by_one() {
        assert_eq!(rounds(6, 6), [1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn v9_forty_of_a_hundred() {
        // 100 − 85 = 15; 85 − ⌊72.25⌋ = 13; 72 − ⌊61.2⌋ = 11; one is left.
        assert_eq!(rounds(100, 40), [15, 13, 11, 1]);
    }

    #[test]
    fn rounds_to_clear_the_dead() {
        assert_eq!(rounds(10, 5), [2, 2, 1]);
        assert_eq!(rounds(10, 10), [2, 2, 1, 1, 1, 1, 1, 1]);
        assert_eq!(rounds(20, 10), [3, 3, 3, 1]);
        assert_eq!(rounds(100, 100), [15, 13, 11, 10, 8, 7, 6, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1]);
        assert_eq!(rounds(100, 60), [15, 13, 11, 10, 8, 3]);
    }

    #[test]
    fn v10_the_extremes_of_the_percentage() {
        assert_eq!(limit(100, 1.0), 0);
        assert_eq!(limit(100, 0.0), 100);
    }

    #[test]
    fn v11_compensation_is_the_excess_over_the_interval() {
        let mut lateness = Lateness::default();
        let at = |lateness: &mut Lateness, ms| lateness.compensation_ms(SimTime::from_millis(ms), 60_000);
        assert_eq!(at(&mut lateness, 0), 0); // the first run
        assert_eq!(at(&mut lateness, 60_400), 400); // 60,400 − 60,000
        assert_eq!(at(&mut lateness, 120_400), 0); // exactly on time after the late one
    }

    #[test]
    fn v30_a_pause_is_compensated_from_the_due_time() {
        // Rounds at 0 and 60 s, the second due time falls 15 s into a 40 s pause: runs 25 s late.
        let mut lateness = Lateness::default();
        lateness.compensation_ms(SimTime::ZERO, 60_000);
        assert_eq!(lateness.compensation_ms(SimTime::from_secs(85), 60_000), 25_000);
    }

    #[test]
    fn a_millisecond_must_be_whole_to_count() {
        let mut lateness = Lateness::default();
        lateness.compensation_ms(SimTime::ZERO, 1_000);
        assert_eq!(lateness.compensation_ms(SimTime::from_nanos(1_000_999_999), 1_000), 0);
    }

    #[test]
    fn every_victim_is_as_likely_as_any_other() {
        use crate::engine::{Seed, Streams};
        let seed = Seed::new(1, 0);
        let mut streams = Streams::of("server/1");
        let mut hits = [0_u32; 10];
        for _ in 0..10_000 {
            let expired = (0..10).map(InstanceId).collect();
            let victims = choose(expired, 3, &mut streams.with(&seed));
            assert_eq!(victims.len(), 3);
            for victim in victims {
                hits[victim.index()] += 1;
            }
        }
        // Each is one of 3 in 10 with σ = √(10,000 * 0.3 * 0.7) ≈ 46: within 5 σ of 3,000.
        assert!(hits.iter().all(|&hit| (2_770..=3_230).contains(&hit)), "{hits:?}");
    }
}
