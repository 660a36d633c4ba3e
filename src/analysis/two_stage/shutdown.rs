//! What an orderly stop leaves behind: consumers that have not heard of it, and, if the heartbeat's timer goes on, the
//! instance itself (`two-stage.md` 2.6, C12).

use super::super::types::{BoundRange, half};
use super::silence::{ms, wait_for_sweep};
use crate::model::two_stage::{ClientConfig, ServerConfig};

/// What consumers that poll every so often know of an instance whose port closes one linger after it deregistered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaleConsumers {
    /// The share of consumers that still hold its address, 0 to 1.
    pub share: f64,
    /// For how long they do, ms: 0 for those that have heard, the mean over all.
    pub mean_ms: f64,
    /// The longest, ms.
    pub max_ms: f64,
}

/// What polling consumers know of a polite shutdown (2.6): with polls every 5 s and a linger of 3 s 40 % still hold the
/// address, for up to 2 s, 0.4 s on average over all. Without latency.
pub fn stale_consumers_at_port_close(poll_interval_ms: u32, linger_ms: u32) -> StaleConsumers {
    let [poll, linger] = [poll_interval_ms.max(1), linger_ms].map(f64::from);
    let max_ms = (poll - linger).max(0.0);
    StaleConsumers { share: max_ms / poll, mean_ms: max_ms * max_ms / (2.0 * poll), max_ms }
}

/// A process that registered itself again while it was stopping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateReregistration {
    /// How likely that is, 0 to 1.
    pub probability: f64,
    /// For how long it is shown at the registry after the process is gone.
    pub shown: BoundRange,
}

/// A shutdown that deregisters and goes on to send heartbeats through its linger (C12): one of them is answered false,
/// and the client registers again. `None` if its settings rule that out. With defaults three in five do, and are shown
/// for 15.0 s on average after they have gone: longer than after a crash. Without latency, the guard permitting.
pub fn late_reregistration(server: &ServerConfig, client: &ClientConfig) -> Option<LateReregistration> {
    let [interval, linger] = [client.heartbeat_interval_ms.max(1), client.deregister_linger_ms];
    if client.stop_heartbeat_before_deregister || linger == 0 {
        return None;
    }
    // The last sign of life came at a uniform moment of the linger's end, at most one interval before it.
    let (timeout, age) = (ms(server.soft_timeout_ms), ms(interval.min(linger)));
    let silent = BoundRange {
        min: timeout.saturating_sub(age),
        mean: timeout.saturating_sub(half(age)),
        max: timeout,
    };
    let probability = f64::from(interval.min(linger)) / f64::from(interval);
    Some(LateReregistration { probability, shown: silent.then(wait_for_sweep(server)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SimDuration;
    use crate::model::two_stage::Preset;

    #[test]
    fn forty_percent_have_not_heard() {
        let unheard = stale_consumers_at_port_close(5_000, 3_000);
        assert_eq!(unheard, StaleConsumers { share: 0.4, mean_ms: 400.0, max_ms: 2_000.0 });
        // A linger of one poll interval or more.
        let unheard = stale_consumers_at_port_close(5_000, 6_000);
        assert_eq!(unheard, StaleConsumers { share: 0.0, mean_ms: 0.0, max_ms: 0.0 });
        assert_eq!(stale_consumers_at_port_close(5_000, 0).share, 1.0);
    }

    /// 3 s of 5; 15 - U(0, 3) + U(0, 3) s.
    #[test]
    fn a_forgotten_timer_makes_a_ghost() {
        let server = ServerConfig::defaults(Preset::TwoStage);
        let mut client = ClientConfig::defaults(Preset::TwoStage);
        assert_eq!(late_reregistration(&server, &client), None);
        client.stop_heartbeat_before_deregister = false;
        let ghost = late_reregistration(&server, &client).expect("it lingers for 3 s");
        let shown = [ghost.shown.min, ghost.shown.mean, ghost.shown.max].map(SimDuration::as_millis);
        assert_eq!((ghost.probability, shown), (0.6, [12_000, 15_000, 18_000]));
        client.deregister_linger_ms = 60_000;
        let ghost = late_reregistration(&server, &client).expect("it lingers for a minute");
        assert_eq!((ghost.probability, ghost.shown.min.as_millis()), (1.0, 10_000));
        client.deregister_linger_ms = 0;
        assert_eq!(late_reregistration(&server, &client), None);
    }
}
