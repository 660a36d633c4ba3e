//! The guard: a service of some size is swept only while enough of its entries are healthy.
//!
//! It looks once, before the marks of a sweep, and counts unhealthy entries as entries. Hence two of its defects: one
//! sweep may empty a healthy service (`two-stage.md` C6), and entries that it keeps from being removed keep it shut (C3).
//!
//! Source: `two-stage.md` 1.3, 1.9, C1, C2.

use super::super::config::{Guard, GuardScope, ServerConfig};

/// What the guard lets a sweep do with a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Whether the guard passes, and so entries may be marked.
    pub(super) is_open: bool,
    /// Whether entries may be removed.
    pub(super) may_remove: bool,
    /// Whether the ratio was looked at: the service is large enough.
    looked: bool,
}

impl Verdict {
    /// Of a service with so many entries, of which so many are healthy.
    pub(super) fn of(config: &ServerConfig, healthy: u32, entries: u32) -> Self {
        let looked = config.guard == Guard::Ratio && entries >= config.guard_min_instances;
        let is_open = !looked || healthy >= least_healthy(config, entries);
        let may_remove = is_open || config.guard_scope == GuardScope::SoftOnly;
        Self { is_open, may_remove, looked }
    }

    /// The most entries that may be marked, if the service has so many entries by then: with `guard_cap`, no mark breaks
    /// the ratio.
    pub(super) fn marks_max(self, config: &ServerConfig, healthy: u32, entries: u32) -> usize {
        match (self.is_open, config.guard_cap && self.looked) {
            (false, _) => 0,
            (true, true) => healthy.saturating_sub(least_healthy(config, entries)) as usize,
            (true, false) => usize::MAX,
        }
    }
}

/// The fewest healthy entries of so many that pass. The original's integer division rounds `100 h / n` down, and the
/// least percentage is an integer, so that makes no difference (C1): `100 h >= pct n`.
fn least_healthy(config: &ServerConfig, entries: u32) -> u32 {
    (u64::from(config.guard_min_healthy_pct) * u64::from(entries)).div_ceil(100) as u32
}

#[cfg(test)]
mod tests {
    use super::super::super::config::Preset;
    use super::*;

    fn unhealthy_tolerated(config: &ServerConfig, entries: u32) -> u32 {
        let passes = |unhealthy: &u32| Verdict::of(config, entries - unhealthy, entries).is_open;
        (0..=entries).take_while(passes).count() as u32 - 1
    }

    #[test]
    fn c1_the_integer_division_is_harmless() {
        let config = ServerConfig::defaults(Preset::TwoStage);
        for entries in 10..=500 {
            for healthy in 0..=entries {
                let as_written = healthy * 100 / entries >= 85;
                assert_eq!(Verdict::of(&config, healthy, entries).is_open, as_written);
                let in_plain_terms = 3 * healthy >= 17 * (entries - healthy); // C2: h >= 17 u / 3
                assert_eq!(as_written, in_plain_terms, "{healthy} of {entries}");
            }
        }
    }

    #[test]
    fn c2_so_many_unhealthy_entries_are_tolerated() {
        let config = ServerConfig::defaults(Preset::TwoStage);
        let table = [(10..=13, 1), (14..=19, 2), (20..=26, 3), (27..=33, 4), (34..=39, 5), (40..=46, 6)];
        for (sizes, tolerated) in table.into_iter().chain([(50..=50, 7), (100..=100, 15)]) {
            for entries in sizes {
                assert_eq!(unhealthy_tolerated(&config, entries), tolerated, "{entries} entries");
            }
        }
        // C7: below ten it always passes, and without a guard everywhere.
        assert_eq!(unhealthy_tolerated(&config, 9), 9);
        assert_eq!(unhealthy_tolerated(&ServerConfig::defaults(Preset::Nacos1), 100), 100);
    }

    #[test]
    fn with_a_cap_the_last_mark_leaves_the_ratio_whole() {
        let config = ServerConfig { guard_cap: true, ..ServerConfig::defaults(Preset::TwoStage) };
        let marks =
            |healthy, entries| Verdict::of(&config, healthy, entries).marks_max(&config, healthy, entries);
        assert_eq!(marks(100, 100), 15); // 85 of 100
        assert_eq!(marks(85, 85), 12); // 73 of 85 is 85.9 %, 72 would be 84.7 %
        assert_eq!(marks(85, 100), 0);
        assert_eq!(marks(84, 100), 0); // shut
        assert_eq!(marks(9, 9), usize::MAX); // too small to be looked at
    }
}
