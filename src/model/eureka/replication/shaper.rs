//! How long a peer is left alone after a batch has failed: a second if it is overloaded, a tenth of one if it cannot
//! be reached.
//!
//! The delay is looked up once the previous one is over, so the latest failure counts. All of it is read from the wall
//! clock: one that is set back holds everything up until it shows again what it showed before, since the loop has
//! noted that time as the one from which it may send.
//!
//! Source: `eureka-peers.md` 4.2; `TrafficShaper.transmissionDelay`, `AcceptorExecutor.AcceptorRunner`.

use crate::model::clock::WallMs;

/// `PeerEurekaNode.SERVER_UNAVAILABLE_SLEEP_TIME_MS`, ms.
const CONGESTION_DELAY_MS: i64 = 1_000;

/// `PeerEurekaNode.RETRY_SLEEP_TIME_MS`, ms.
const NETWORK_FAILURE_DELAY_MS: i64 = 100;

/// When batches may go out.
#[derive(Clone, Default)]
pub(super) struct TrafficShaper {
    last_congestion: Option<WallMs>,
    last_network_failure: Option<WallMs>,
    /// `scheduleTime`: nothing is sent before.
    scheduled: Option<WallMs>,
}

impl TrafficShaper {
    /// The peer is overloaded.
    pub(super) fn congested(&mut self, now: WallMs) {
        self.last_congestion = Some(now);
    }

    /// The peer was not reached.
    pub(super) fn network_failed(&mut self, now: WallMs) {
        self.last_network_failure = Some(now);
    }

    /// From when on batches may be sent: `now`, or when to ask again.
    pub(super) fn opens_at(&mut self, now: WallMs) -> WallMs {
        match self.scheduled {
            Some(scheduled) if scheduled > now => scheduled,
            _ => {
                let opens = now.plus(self.transmission_delay_ms(now));
                self.scheduled = Some(opens);
                opens
            }
        }
    }

    /// Congestion first. A failure whose delay is over, or that lies in the future, is forgotten.
    fn transmission_delay_ms(&mut self, now: WallMs) -> i64 {
        let failures = [
            (&mut self.last_congestion, CONGESTION_DELAY_MS),
            (&mut self.last_network_failure, NETWORK_FAILURE_DELAY_MS),
        ];
        for (last, delay_ms) in failures {
            let elapsed_ms = last.map(|last| now.since(last));
            if let Some(elapsed_ms) = elapsed_ms.filter(|elapsed_ms| (0..delay_ms).contains(elapsed_ms)) {
                return delay_ms - elapsed_ms;
            }
            *last = None;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opens_at(shaper: &mut TrafficShaper, now: i64) -> i64 {
        shaper.opens_at(WallMs(now)).0
    }

    #[test]
    fn a_failure_delays_from_its_own_moment() {
        let mut shaper = TrafficShaper::default();
        assert_eq!(opens_at(&mut shaper, 0), 0);
        shaper.network_failed(WallMs(1_000));
        assert_eq!(opens_at(&mut shaper, 1_040), 1_100);
        assert_eq!(opens_at(&mut shaper, 1_100), 1_100);
        shaper.congested(WallMs(2_000));
        assert_eq!(opens_at(&mut shaper, 2_000), 3_000);
    }

    #[test]
    fn congestion_is_looked_at_first_and_the_later_end_counts() {
        let mut shaper = TrafficShaper::default();
        shaper.congested(WallMs(0));
        shaper.network_failed(WallMs(950)); // to 1,050
        assert_eq!(opens_at(&mut shaper, 960), 1_000);
        assert_eq!(opens_at(&mut shaper, 1_000), 1_050);
        assert_eq!(opens_at(&mut shaper, 1_050), 1_050);
    }

    #[test]
    fn a_failure_while_a_delay_runs_delays_anew_at_its_end() {
        let mut shaper = TrafficShaper::default();
        shaper.network_failed(WallMs(0));
        assert_eq!(opens_at(&mut shaper, 0), 100);
        shaper.network_failed(WallMs(60)); // another batch
        assert_eq!(opens_at(&mut shaper, 60), 100);
        assert_eq!(opens_at(&mut shaper, 100), 160);
    }

    #[test]
    fn a_clock_set_back_holds_everything_up() {
        let mut shaper = TrafficShaper::default();
        assert_eq!(opens_at(&mut shaper, 60_000), 60_000);
        assert_eq!(opens_at(&mut shaper, 30_000), 60_000);
        // A failure in the future is none.
        shaper.congested(WallMs(70_000));
        assert_eq!(opens_at(&mut shaper, 60_000), 60_000);
    }
}
