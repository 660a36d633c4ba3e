//! What the guard bears, and what becomes of a service in which it shuts (`two-stage.md` C1 to C6).
//!
//! A sweep passes a service by if less than 85 % of its entries are healthy, and only a sweep removes entries that are
//! not. So as soon as more are unhealthy than the guard bears, they stay, and with them the state: a *jam*.

use crate::model::two_stage::{ClientConfig, Guard, ServerConfig};

/// How many of `entries` may be unhealthy and the guard passes: `floor(0.15 n)` by default (C2). `None`: any number,
/// because there is no guard, or the service is too small for it.
///
/// The guard compares `floor(100 h / n)` with a whole number of per cent, which is the same as `100 h / n` (C1).
pub fn unhealthy_tolerated(server: &ServerConfig, entries: u64) -> Option<u64> {
    if server.guard == Guard::None || entries < u64::from(server.guard_min_instances) {
        return None;
    }
    Some(u64::from(100_u32.saturating_sub(server.guard_min_healthy_pct)) * entries / 100)
}

/// Whether the guard of a service with so many `healthy` and `unhealthy` entries is shut.
pub fn is_jammed(server: &ServerConfig, healthy: u64, unhealthy: u64) -> bool {
    unhealthy_tolerated(server, healthy + unhealthy).is_some_and(|tolerated| unhealthy > tolerated)
}

/// How many newcomers open the guard of a service, at least (C3): `(100 u - 15 n) / 15` by default, rounded up. 0 if it
/// is open; `None` if a single unhealthy entry shuts it, however many are healthy.
pub fn newcomers_to_open(server: &ServerConfig, healthy: u64, unhealthy: u64) -> Option<u64> {
    if !is_jammed(server, healthy, unhealthy) {
        return Some(0);
    }
    let percent = u64::from(server.guard_min_healthy_pct);
    let spare = 100_u64.checked_sub(percent).filter(|spare| *spare > 0)?;
    // 100 (h + x) ≥ pct (h + u + x).
    Some((percent * unhealthy).saturating_sub(spare * healthy).div_ceil(spare))
}

/// How many unhealthy entries must be deregistered for the guard of a service to open, at least (C3): until
/// `h >= 17 u / 3` by default, or until the service is too small for a guard. 0 if it is open.
pub fn ghosts_to_deregister(server: &ServerConfig, healthy: u64, unhealthy: u64) -> u64 {
    let opens = |gone: &u64| !is_jammed(server, healthy, unhealthy - gone);
    // With all of them gone every entry is healthy.
    (0..=unhealthy).find(opens).unwrap_or(unhealthy)
}

/// A share of a service, 0 to 1: the least, the mean and the greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The least.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The greatest.
    pub max: f64,
}

/// The share of a large service that is lost to sweeps when all its instances are cut off for good at the same moment,
/// their heartbeats at uniform phases (C6).
///
/// Time-outs end one after the other over one heartbeat interval `H`, so the share that is silent for too long grows by
/// `K / H` from sweep to sweep. The guard lets every sweep pass that finds no more unhealthy entries than it bears, and
/// looks before it marks. So the last sweep that passes is the first that takes the total beyond what the guard bears,
/// 15 %, and comes at a uniform moment within `K / H` of that: with defaults between 15 % and 75 % are lost, 45 % on
/// average. Without a guard all is lost.
pub fn lost_in_a_cut(server: &ServerConfig, client: &ClientConfig) -> Share {
    let least = match server.guard {
        Guard::None => 1.0,
        Guard::Ratio => f64::from(100_u32.saturating_sub(server.guard_min_healthy_pct)) / 100.0,
    };
    let step = f64::from(server.sweep_interval_ms) / f64::from(client.heartbeat_interval_ms.max(1));
    if server.guard_cap || step == 0.0 {
        // A sweep stops at what the guard bears (1.9); what later sweeps take once ghosts are gone is not in this.
        return Share { min: least, mean: least, max: least };
    }
    // Uniform on (least, least + step], cut off at 1.
    let linear = step.min(1.0 - least);
    let mean = (linear * (least + linear / 2.0) + (step - linear)) / step;
    Share { min: least, mean, max: least + linear }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::two_stage::Preset;

    fn server() -> ServerConfig {
        ServerConfig::defaults(Preset::TwoStage)
    }

    /// The table of C2.
    #[test]
    fn what_a_service_bears() {
        let table = [(10..=13, 1), (14..=19, 2), (20..=26, 3), (27..=33, 4), (34..=39, 5), (40..=46, 6)];
        for (sizes, tolerated) in table {
            for entries in sizes {
                assert_eq!(unhealthy_tolerated(&server(), entries), Some(tolerated), "{entries} entries");
            }
        }
        assert_eq!([50, 100].map(|n| unhealthy_tolerated(&server(), n)), [Some(7), Some(15)]);
        assert_eq!(unhealthy_tolerated(&server(), 9), None);
        assert_eq!(unhealthy_tolerated(&ServerConfig::defaults(Preset::Nacos1), 100), None);
    }

    /// The rule as it is written: `healthy * 100 / size >= 85` in whole numbers.
    #[test]
    fn the_rule_word_for_word() {
        for percent in [0, 1, 50, 85, 99, 100] {
            let server = ServerConfig { guard_min_healthy_pct: percent, ..server() };
            for size in 10..200_u64 {
                for healthy in 0..=size {
                    let passes = healthy * 100 / size >= u64::from(percent);
                    assert_eq!(is_jammed(&server, healthy, size - healthy), !passes, "{healthy} of {size}");
                }
            }
        }
    }

    /// C3: of 16 + 4 seven newcomers or two ghosts less; 8 + 2 is jammed, 7 + 2 is exempt, and 20 + 4 is 83 %.
    #[test]
    fn ways_out_of_a_jam() {
        assert!(is_jammed(&server(), 16, 4) && !is_jammed(&server(), 17, 3));
        assert_eq!(newcomers_to_open(&server(), 16, 4), Some(7));
        assert_eq!(ghosts_to_deregister(&server(), 16, 4), 2);
        assert!(is_jammed(&server(), 8, 2) && !is_jammed(&server(), 7, 2) && is_jammed(&server(), 20, 4));
        assert_eq!(ghosts_to_deregister(&server(), 8, 2), 1);
        assert_eq!(
            (newcomers_to_open(&server(), 17, 3), ghosts_to_deregister(&server(), 17, 3)),
            (Some(0), 0)
        );
        let strict = ServerConfig { guard_min_healthy_pct: 100, ..server() };
        assert_eq!(newcomers_to_open(&strict, 19, 1), None);
    }

    /// The newcomers that are said to open it do, and one fewer does not.
    #[test]
    fn newcomers_are_just_enough() {
        for healthy in 0..60 {
            for unhealthy in 0..30 {
                let needed = newcomers_to_open(&server(), healthy, unhealthy).expect("85 % can be reached");
                assert!(!is_jammed(&server(), healthy + needed, unhealthy));
                assert!(needed == 0 || is_jammed(&server(), healthy + needed - 1, unhealthy));
            }
        }
    }

    /// ¼ · 67.5 % + ¾ · 37.5 % = 45 %.
    #[test]
    fn a_cut_costs_45_percent() {
        let close = |share: Share, expected: [f64; 3]| {
            [share.min, share.mean, share.max].iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12)
        };
        let mut client = ClientConfig::defaults(Preset::TwoStage);
        assert!(close(lost_in_a_cut(&server(), &client), [0.15, 0.45, 0.75]));
        // Sweeps every 3 s of heartbeats every 3 s: uniform on 15 % to 115 %, so ∫ = (0.85 · 0.575 + 0.15 · 1) / 1.
        client.heartbeat_interval_ms = 3_000;
        assert!(close(lost_in_a_cut(&server(), &client), [0.15, 0.85 * 0.575 + 0.15, 1.0]));
        let nacos = ServerConfig::defaults(Preset::Nacos1);
        assert!(close(lost_in_a_cut(&nacos, &client), [1.0; 3]));
    }
}
