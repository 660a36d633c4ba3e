//! What TCP does about a message that a partition swallowed: it sends it again, at longer and longer intervals, for as
//! long as the connection lives. So the end of a partition is felt at the next of these moments.
//!
//! Data on an established connection goes out again 0.2 s after it was sent, then after twice that, and so on, never
//! more than two minutes apart; after fifteen times, 924.6 s, the kernel gives up (Linux, `tcp_retries2`). The SYN of
//! a new connection goes out again after 1, 3, 7, 15, 31 and 63 s (`tcp_syn_retries`).

use crate::engine::{SimDuration, SimTime};

/// What was swallowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Swallowed {
    /// The first packet of a connection.
    Syn,
    /// A request or an answer on an established connection.
    Data,
}

impl Swallowed {
    /// The least time between two transmissions, in ms, the greatest, and how often it is sent again.
    const fn schedule(self) -> (SimDuration, SimDuration, u32) {
        match self {
            Self::Syn => (SimDuration::from_secs(1), SimDuration::MAX, 6),
            Self::Data => (SimDuration::from_millis(200), SimDuration::from_secs(120), 15),
        }
    }

    /// When what was `sent` first goes out again, now at the earliest; `None` once the kernel has given up.
    pub(super) fn sent_again(self, sent: SimTime, now: SimTime) -> Option<SimTime> {
        let (mut step, longest, times) = self.schedule();
        let mut at = sent;
        for _ in 0..times {
            at += step;
            if at >= now {
                return Some(at);
            }
            step = (step * 2).min(longest);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All transmissions but the first, ms after it.
    fn again(what: Swallowed) -> Vec<u64> {
        let sent = SimTime::from_secs(1_000);
        let mut now = sent + SimDuration::from_nanos(1);
        let mut all = Vec::new();
        while let Some(at) = what.sent_again(sent, now) {
            all.push(at.since(sent).as_millis());
            now = at + SimDuration::from_nanos(1);
        }
        all
    }

    #[test]
    fn data_goes_out_again_after_twice_the_time_up_to_two_minutes() {
        let first = [200, 600, 1_400, 3_000, 6_200, 12_600, 25_400, 51_000, 102_200, 204_600];
        let all = again(Swallowed::Data);
        assert_eq!(all[..10], first);
        assert_eq!(all[10..], [324_600, 444_600, 564_600, 684_600, 804_600]);
    }

    #[test]
    fn a_syn_goes_out_again_six_times() {
        assert_eq!(again(Swallowed::Syn), [1_000, 3_000, 7_000, 15_000, 31_000, 63_000]);
    }

    #[test]
    fn a_moment_that_has_just_come_counts() {
        let sent = SimTime::from_secs(10);
        let due = sent + SimDuration::from_millis(600);
        assert_eq!(Swallowed::Data.sent_again(sent, due), Some(due));
    }
}
