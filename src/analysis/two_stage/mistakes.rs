//! How likely it is that an instance that is alive is marked (`two-stage.md` 3, "False evictions").
//!
//! An instance is marked if a sweep falls into the time for which its silence exceeds the soft time-out. Of an excess of
//! `y` a sweep meets the share `min(1, y / K)`; over excesses up to `y` that adds up to `Φ(y)`, which is `y² / 2K` up to
//! `K` and `y - K / 2` beyond.

use crate::model::two_stage::{ClientConfig, ServerConfig};

/// `Φ(y)`, `y` in milliseconds.
fn met_up_to(excess_ms: f64, sweep_ms: f64) -> f64 {
    if excess_ms <= 0.0 {
        0.0
    } else if excess_ms < sweep_ms {
        excess_ms * excess_ms / (2.0 * sweep_ms)
    } else {
        excess_ms - sweep_ms / 2.0
    }
}

/// The probability that a live instance is marked because it stands still for `pause_ms` from a uniform moment on, and
/// sends the overdue heartbeat as soon as it goes on: `[Φ(G + H - S) - Φ(G - S)] / H`. The guard permitting, without
/// latency, and if heartbeats come more often than the soft time-out.
pub fn chance_that_a_pause_evicts(server: &ServerConfig, client: &ClientConfig, pause_ms: u64) -> f64 {
    let [soft, sweep] = [server.soft_timeout_ms, server.sweep_interval_ms].map(f64::from);
    let interval = f64::from(client.heartbeat_interval_ms.max(1));
    // From a pause right after a heartbeat to one right before the next.
    let excess = pause_ms as f64 - soft;
    (met_up_to(excess + interval, sweep) - met_up_to(excess, sweep)) / interval
}

/// How often, by heartbeat, a live instance is marked if each heartbeat is lost with probability `loss`, 0 to below 1,
/// independently of all others. The guard permitting, and with a latency that never varies.
///
/// A run of just `m` losses, `(1 - p)² pᵐ` by heartbeat, makes a silence of `m + 1` intervals. With defaults two losses
/// make 15 s, which is not *more* than 15 s, and three are always enough: `p³ (1 - p)`.
pub fn false_evictions_per_heartbeat(server: &ServerConfig, client: &ClientConfig, loss: f64) -> f64 {
    assert!((0.0..1.0).contains(&loss), "{loss} is no probability of a loss");
    let [soft, sweep, interval] =
        [server.soft_timeout_ms, server.sweep_interval_ms.max(1), client.heartbeat_interval_ms.max(1)]
            .map(u64::from);
    let received = 1.0 - loss;
    let (mut lost, mut power, mut sum) = (0, 1.0, 0.0);
    loop {
        let excess = ((lost + 1) * interval).saturating_sub(soft);
        if excess >= sweep {
            // From here on every run is enough, whatever its length.
            return sum + power * received;
        }
        sum += received * received * power * (excess as f64 / sweep as f64);
        power *= loss;
        lost += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::two_stage::Preset;

    fn defaults(preset: Preset) -> (ServerConfig, ClientConfig) {
        (ServerConfig::defaults(preset), ClientConfig::defaults(preset))
    }

    /// The table of `two-stage.md` 3.
    #[test]
    fn pauses() {
        let (server, client) = defaults(Preset::TwoStage);
        let table = [
            (9, 0.0),
            (10, 0.0),
            (11, 0.033),
            (12, 0.133),
            (13, 0.300),
            (14, 0.500),
            (15, 0.700),
            (16, 0.867),
            (17, 0.967),
            (18, 1.0),
            (70, 1.0),
        ];
        for (seconds, expected) in table {
            let chance = chance_that_a_pause_evicts(&server, &client, seconds * 1_000);
            assert!((chance - expected).abs() < 0.000_5, "{seconds} s: {chance}");
        }
    }

    /// Nacos, sweeps every 5 s: 12 s from a uniform moment exceed 15 s by up to 2 s: 2² / (2 · 5) / 5 = 0.08.
    #[test]
    fn other_intervals() {
        let (server, client) = defaults(Preset::Nacos1);
        assert!((chance_that_a_pause_evicts(&server, &client, 12_000) - 0.08).abs() < 1e-12);
    }

    /// p = 1 %: once in 58 days; 5 %: once in 11.7 hours.
    #[test]
    fn losses() {
        let (server, client) = defaults(Preset::TwoStage);
        let seconds_apart = |loss| 5.0 / false_evictions_per_heartbeat(&server, &client, loss);
        assert!((seconds_apart(0.01) / 86_400.0 - 58.0).abs() < 0.5);
        assert!((seconds_apart(0.05) / 3_600.0 - 11.7).abs() < 0.05);
        assert_eq!(false_evictions_per_heartbeat(&server, &client, 0.0), 0.0);
        let loss: f64 = 0.2;
        let closed = loss * loss * loss * (1.0 - loss);
        assert!((false_evictions_per_heartbeat(&server, &client, loss) - closed).abs() < 1e-15);
    }

    /// Heartbeats every 6 s: two losses make 18 s, which a sweep always meets; every 5.5 s two make 16.5 s, which half
    /// of all sweeps meet, and three 22 s.
    #[test]
    fn a_run_may_be_just_enough() {
        let (server, mut client) = defaults(Preset::TwoStage);
        let p: f64 = 0.1;
        client.heartbeat_interval_ms = 6_000;
        let rate = false_evictions_per_heartbeat(&server, &client, p);
        assert!((rate - p * p * 0.9).abs() < 1e-15);
        client.heartbeat_interval_ms = 5_500;
        let rate = false_evictions_per_heartbeat(&server, &client, p);
        assert!((rate - (0.5 * 0.81 * p * p + p * p * p * 0.9)).abs() < 1e-15);
    }
}
