//! How many heartbeats an instance of a two-stage registry may miss without being marked unhealthy.
//!
//! A sweep marks an entry that is silent for strictly more than the soft time-out (`two-stage.md` 1.3). When `k`
//! heartbeats are missed the next one comes `k + 1` intervals after the last that arrived. Heartbeats at a fixed rate,
//! all equally long on their way, come to the millisecond, so `(k + 1) × H = S` is survived. At a fixed delay each
//! period is longer by a round trip, and with latencies that vary one may be later than another: then it is not.

use crate::model::two_stage::{ClientConfig, Schedule};

/// How many heartbeats in a row a live instance may miss, and its entry is at no moment silent for longer than the
/// soft time-out. `None` if it can be although none is missed. `is_steady`: whether all messages take equally long.
pub fn missed_heartbeats_before_mark(
    client: &ClientConfig,
    soft_timeout_ms: u32,
    is_steady: bool,
) -> Option<u64> {
    let (interval, limit) = (u64::from(client.heartbeat_interval_ms), u64::from(soft_timeout_ms));
    let is_exact = client.heartbeat_schedule == Schedule::FixedRate && is_steady;
    let longest = if is_exact { limit } else { limit.saturating_sub(1) };
    (longest / interval.max(1)).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::two_stage::Preset;

    #[test]
    fn the_third_heartbeat_comes_just_in_time_if_nothing_varies() {
        // Of 15 s and heartbeats every 5 s: two missed are 15 s of silence, which is not more than 15 s.
        let two_stage = ClientConfig::defaults(Preset::TwoStage);
        assert_eq!(missed_heartbeats_before_mark(&two_stage, 15_000, true), Some(2));
        assert_eq!(missed_heartbeats_before_mark(&two_stage, 15_000, false), Some(1));
        assert_eq!(missed_heartbeats_before_mark(&two_stage, 14_999, true), Some(1));
        // Each period of a fixed delay is a round trip longer.
        let nacos = ClientConfig::defaults(Preset::Nacos1);
        assert_eq!(missed_heartbeats_before_mark(&nacos, 15_000, true), Some(1));
        assert_eq!(missed_heartbeats_before_mark(&two_stage, 4_999, true), None);
    }
}
