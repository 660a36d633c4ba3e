//! From a crash to the sweep that marks the instance, and to the one that forgets it.
//!
//! Silence is counted from the arrival of the last heartbeat, and a sweep acts on what is silent for *more* than the
//! time-out (`two-stage.md` 1.3, 3). With heartbeat interval `H`, soft and hard time-outs `S` and `R`, sweeps every `K`
//! and one-way latency `a`, seen from a crash
//!
//! ```text
//!   just before the next heartbeat is sent:  the last one arrived H - a ago
//!   just after one was sent:                 it arrives a from now
//! ```
//!
//! then come `S` or `R`, and the first sweep strictly after that: up to `K` more. The registry compares whole
//! milliseconds. That moves nothing for sweeps on whole milliseconds: a heartbeat's millisecond is rounded down, and
//! whole numbers differ by more than `S` just when the sweep comes later than `S` after the arrival. Sweeps that start
//! with a service fall anywhere in a millisecond, and may find an entry one millisecond too young.

use super::super::latency::Latency;
use super::super::types::{BoundRange, half};
use crate::engine::SimDuration;
use crate::model::two_stage::{ClientConfig, Schedule, ServerConfig, SweepPasses, SweepPhase};

/// Milliseconds of a setting.
pub(super) fn ms(setting: u32) -> SimDuration {
    SimDuration::from_millis(u64::from(setting))
}

/// From one heartbeat to the next, as they are sent: the interval, and with fixed delay the round trip, too.
pub(super) fn period(client: &ClientConfig, latency: &Latency) -> BoundRange {
    let interval = BoundRange::exactly(ms(client.heartbeat_interval_ms));
    match client.heartbeat_schedule {
        Schedule::FixedRate => interval,
        Schedule::FixedDelay => interval.then(latency.round_trip()),
    }
}

/// From the arrival of one heartbeat to that of the next, at most; also of a registration and the first heartbeat.
pub(super) fn longest_silence(client: &ClientConfig, latency: &Latency) -> SimDuration {
    let late = latency.range.max.saturating_sub(latency.range.min);
    // The first delay counts from the registration's request.
    period(client, latency).max.max(ms(client.first_heartbeat_delay_ms)) + late
}

/// From a crash to the moment since when the instance has been silent for `timeout_ms`, the crash coming at a uniform
/// moment of the heartbeat's period.
fn silent_for(timeout_ms: u32, client: &ClientConfig, latency: &Latency) -> BoundRange {
    let timeout = ms(timeout_ms);
    let interval = ms(client.heartbeat_interval_ms);
    let (a, half_way) = (latency.range, half(interval));
    match client.heartbeat_schedule {
        // The next is sent H after the last, which took at least the shortest latency.
        Schedule::FixedRate => BoundRange {
            min: (timeout + a.min).saturating_sub(interval),
            mean: (timeout + a.mean).saturating_sub(half_way),
            max: timeout + a.max,
        },
        // The next is sent H and a reply after the arrival of the last. Long periods are met more often, by which the
        // heartbeat's own latency is longer, too: on average the two cancel.
        Schedule::FixedDelay => BoundRange {
            min: timeout.saturating_sub(interval + a.max),
            mean: timeout.saturating_sub(half_way),
            max: timeout + a.max,
        },
    }
}

/// The wait for the first sweep that finds an entry silent for too long.
pub(super) fn wait_for_sweep(server: &ServerConfig) -> BoundRange {
    let wait = BoundRange::wait_for_tick(ms(server.sweep_interval_ms));
    match server.sweep_phase {
        SweepPhase::Global => wait,
        SweepPhase::ServiceCreation => {
            let grain = SimDuration::from_millis(1);
            wait.then(BoundRange { min: SimDuration::ZERO, mean: half(grain), max: grain })
        }
    }
}

/// From a crash to the sweep after which the instance is no healthy entry any more: marked, or removed unmarked.
pub(super) fn until_hidden(server: &ServerConfig, client: &ClientConfig, latency: &Latency) -> BoundRange {
    let timeout_ms = match server.sweep_passes {
        SweepPasses::ElseIf => server.soft_timeout_ms,
        SweepPasses::MarkThenDelete => server.soft_timeout_ms.min(server.hard_timeout_ms),
    };
    silent_for(timeout_ms, client, latency).then(wait_for_sweep(server))
}

/// From a crash to the sweep that removes the entry.
pub(super) fn until_forgotten(server: &ServerConfig, client: &ClientConfig, latency: &Latency) -> BoundRange {
    let by_timeout = || silent_for(server.hard_timeout_ms, client, latency).then(wait_for_sweep(server));
    match server.sweep_passes {
        SweepPasses::MarkThenDelete => by_timeout(),
        SweepPasses::ElseIf if outlasts_a_sweep(server) => by_timeout(),
        // The sweep after the one that marked it finds it silent for long enough in any case.
        SweepPasses::ElseIf => {
            until_hidden(server, client, latency).then(BoundRange::exactly(ms(server.sweep_interval_ms)))
        }
    }
}

/// Whether the sweep that marks an entry cannot find it silent for the hard time-out, too.
fn outlasts_a_sweep(server: &ServerConfig) -> bool {
    let least = u64::from(server.soft_timeout_ms) + u64::from(server.sweep_interval_ms);
    u64::from(server.hard_timeout_ms) >= least
}

/// How many heartbeats in a row a live instance may miss, and it is never marked. `None` if it can be although none is
/// missed.
///
/// When `k` are missed, the next one comes `k + 1` intervals after the last: at a fixed rate that may be the time-out
/// itself, which is not *more* (`two-stage.md` 3); after a fixed delay round trips come on top. That takes latencies to
/// be steady, the registry's clock too, and missed heartbeats to cost no time.
pub(super) fn missed_heartbeats_tolerated(server: &ServerConfig, client: &ClientConfig) -> Option<u64> {
    let timeout = u64::from(server.soft_timeout_ms);
    let interval = u64::from(client.heartbeat_interval_ms.max(1));
    let intervals = match client.heartbeat_schedule {
        Schedule::FixedRate => timeout / interval,
        Schedule::FixedDelay => timeout.div_ceil(interval) - u64::from(timeout > 0),
    };
    intervals.checked_sub(1)
}

/// From the mark of an entry to its removal by sweeps that run undisturbed, the guard permitting (`two-stage.md` C8).
/// Exactly 45 s with the default settings of the two-stage registry, since that is a multiple of the interval. Zero if
/// the entry is never marked.
pub fn ghost_lives(server: &ServerConfig) -> BoundRange {
    let (soft, hard) = (u64::from(server.soft_timeout_ms), u64::from(server.hard_timeout_ms));
    let interval = u64::from(server.sweep_interval_ms.max(1));
    let rest = hard.saturating_sub(soft);
    let sweeps = |count: u64| SimDuration::from_millis(count * interval);
    if server.sweep_passes == SweepPasses::ElseIf && !outlasts_a_sweep(server) {
        return BoundRange::exactly(sweeps(1));
    }
    let [min, max] = [rest / interval, rest.div_ceil(interval)].map(sweeps);
    BoundRange { min, mean: SimDuration::from_millis(rest), max }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::two_stage::Preset;
    use crate::scenario::Delay;

    fn figures(range: BoundRange) -> [u64; 3] {
        [range.min, range.mean, range.max].map(SimDuration::as_millis)
    }

    fn constant(millis: u64) -> Latency {
        Latency::of(Delay::Constant(SimDuration::from_millis(millis)))
    }

    fn defaults(preset: Preset) -> (ServerConfig, ClientConfig) {
        (ServerConfig::defaults(preset), ClientConfig::defaults(preset))
    }

    /// The table of `two-stage.md` 3: 15 - 5, 15 - 2.5 + 1.5, 15 + 3 s; 60 in place of 15; with Nacos 5 in place of 3
    /// and 30 in place of 60 s, and a millisecond of rounding.
    #[test]
    fn the_spec_s_table() {
        let (server, client) = defaults(Preset::TwoStage);
        let (hidden, forgotten) = (until_hidden, until_forgotten);
        assert_eq!(figures(hidden(&server, &client, &constant(0))), [10_000, 14_000, 18_000]);
        assert_eq!(figures(forgotten(&server, &client, &constant(0))), [55_000, 59_000, 63_000]);
        let (server, client) = defaults(Preset::Nacos1);
        assert_eq!(figures(hidden(&server, &client, &constant(0))), [10_000, 15_000, 20_001]);
        assert_eq!(figures(forgotten(&server, &client, &constant(0))), [25_000, 30_000, 35_001]);
    }

    /// At a fixed rate a constant latency of 100 ms delays all by 100 ms. After a fixed delay the next heartbeat would
    /// have been sent 5.1 s after the last one's arrival, so the least is 15 - 5.1 s, and the mean stays.
    #[test]
    fn latency_counts_from_the_arrival() {
        let (server, client) = defaults(Preset::TwoStage);
        assert_eq!(figures(until_hidden(&server, &client, &constant(100))), [10_100, 14_100, 18_100]);
        let (server, client) = defaults(Preset::Nacos1);
        assert_eq!(figures(until_hidden(&server, &client, &constant(100))), [9_900, 15_000, 20_101]);
        let spread = Latency::of(Delay::Uniform(SimDuration::ZERO, SimDuration::from_millis(200)));
        let (server, client) = defaults(Preset::TwoStage);
        assert_eq!(figures(until_hidden(&server, &client, &spread)), [10_000, 14_100, 18_200]);
        // A heartbeat that took no time, and one that took 0.2 s.
        assert_eq!(longest_silence(&client, &spread).as_millis(), 5_200);
    }

    #[test]
    fn a_hard_time_out_within_a_sweep_of_the_soft_one() {
        let (mut server, client) = defaults(Preset::TwoStage);
        // Marked after 10 to 18 s, and 3 s later removed, whether the hard time-out is 17 or 5 s.
        for hard_ms in [17_000, 5_000] {
            server.hard_timeout_ms = hard_ms;
            assert_eq!(figures(until_forgotten(&server, &client, &constant(0))), [13_000, 17_000, 21_000]);
        }
        // With two passes the sweep that marks may remove; below the soft time-out nothing is ever marked.
        server.sweep_passes = SweepPasses::MarkThenDelete;
        assert_eq!(figures(until_forgotten(&server, &client, &constant(0))), [0, 4_000, 8_000]);
        assert_eq!(figures(until_hidden(&server, &client, &constant(0))), [0, 4_000, 8_000]);
    }

    /// 15 / 5 = 3 intervals are not more than 15 s, so two may be missed; with round trips on top only one.
    #[test]
    fn so_many_heartbeats_may_be_missed() {
        let (server, client) = defaults(Preset::TwoStage);
        assert_eq!(missed_heartbeats_tolerated(&server, &client), Some(2));
        let (server, mut client) = defaults(Preset::Nacos1);
        assert_eq!(missed_heartbeats_tolerated(&server, &client), Some(1));
        client.heartbeat_interval_ms = 4_000; // 3 · 4 < 15
        assert_eq!(missed_heartbeats_tolerated(&server, &client), Some(2));
        client.heartbeat_interval_ms = 15_000;
        assert_eq!(missed_heartbeats_tolerated(&server, &client), None);
    }

    #[test]
    fn a_ghost_lives_for_45_s() {
        let (mut server, _) = defaults(Preset::TwoStage);
        assert_eq!(figures(ghost_lives(&server)), [45_000; 3]);
        server.hard_timeout_ms = 61_000; // 46 s are 15 sweeps or 16.
        assert_eq!(figures(ghost_lives(&server)), [45_000, 46_000, 48_000]);
        server.hard_timeout_ms = 16_000;
        assert_eq!(figures(ghost_lives(&server)), [3_000; 3]);
    }
}
