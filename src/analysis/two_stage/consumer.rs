//! From a change of what a fetch would show to the consumer that has taken it over: poll, long poll, push.
//!
//! A poll comes upon a change at a uniform moment of its period (`two-stage.md` 3). A long poll is looked at every park,
//! but for the change that falls into its last park (2.7); a push leaves after a delay, unless a poll was quicker, or
//! the consumer was no subscriber just then (4.2).

use super::super::latency::Latency;
use super::super::reason::Reason;
use super::super::types::{BoundRange, half};
use super::reason::TwoStageReason;
use super::silence::ms;
use crate::engine::SimDuration;
use crate::model::two_stage::{ClientConfig, Sanity, ServerConfig, WatchAck, WatchTimeoutPayload};

/// A wait and, if its mean does not hold, the reason.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wait {
    pub(super) range: BoundRange,
    pub(super) uneven: Option<TwoStageReason>,
}

impl From<BoundRange> for Wait {
    fn from(range: BoundRange) -> Self {
        Self { range, uneven: None }
    }
}

/// From the arrival of one poll to that of the next: the interval counts from the end of the poll.
fn polls_apart(interval: SimDuration, latency: &Latency) -> BoundRange {
    BoundRange::exactly(interval).then(latency.round_trip())
}

/// By polls.
pub(super) fn polled(client: &ClientConfig, latency: &Latency) -> BoundRange {
    let (apart, reply) = (polls_apart(ms(client.poll_interval_ms), latency), latency.range);
    let wait = half(apart.mean) + latency.length_bias(apart.mean);
    BoundRange { min: reply.min, mean: wait + reply.mean, max: apart.max + reply.max }
}

/// A long poll as its registry sees it: looked at when it comes, then after each park as long as its time is not up.
pub(super) struct Watching {
    park: SimDuration,
    /// How many parks it takes until its time is up.
    parks: u64,
    /// From an answer to the arrival of the next long poll.
    turnaround: BoundRange,
}

impl Watching {
    pub(super) fn of(server: &ServerConfig, client: &ClientConfig, latency: &Latency) -> Self {
        let parks = client.watch_timeout_ms.div_ceil(server.watch_park_ms.max(1));
        let gap = BoundRange::exactly(ms(client.watch_reissue_gap_ms));
        Self {
            park: ms(server.watch_park_ms),
            parks: u64::from(parks),
            turnaround: gap.then(latency.round_trip()),
        }
    }

    /// From the arrival of one to that of the next while nothing changes, on average.
    pub(super) fn cycle(&self) -> SimDuration {
        self.park * self.parks + self.turnaround.mean
    }

    /// For how long the registry holds one at most.
    pub(super) fn held(&self) -> SimDuration {
        self.park * self.parks
    }

    /// From one look to the next, and how long it takes from the last look at one long poll to the first at the next.
    pub(super) const fn gaps(&self) -> (SimDuration, SimDuration) {
        (self.park, self.turnaround.mean)
    }

    /// From a change to the look that finds it. A change in the last park waits for the first look at the next long
    /// poll if `swallowed`; else the answer at the end tells it.
    fn wait(&self, swallowed: bool) -> BoundRange {
        let [park, turnaround] = [self.park, self.turnaround.mean].map(SimDuration::as_nanos).map(u128::from);
        let parks = u128::from(self.parks);
        // The mean wait for the next of several gaps that follow each other: Σ gap² / 2 Σ gap.
        let squares = if swallowed {
            (parks - 1) * park * park + (park + turnaround) * (park + turnaround)
        } else {
            parks * park * park + turnaround * turnaround
        };
        let mean = squares / (2 * (parks * park + turnaround)).max(1);
        let longest = self.turnaround.max;
        let max = if swallowed { self.park + longest } else { self.park.max(longest) };
        BoundRange { min: SimDuration::ZERO, mean: SimDuration::from_nanos(mean as u64), max }
    }
}

/// By long polls. `may_be_first`: the consumer may hold nobody of the service before it.
///
/// # Errors
///
/// A change in the last park is lost until the next one: its revision is taken without its list.
pub(super) fn watched(
    server: &ServerConfig,
    client: &ClientConfig,
    latency: &Latency,
    may_be_first: bool,
) -> Result<BoundRange, Reason> {
    // Who holds nobody of the service has nothing to lose by half. Whoever takes the empty list forgets everybody, at
    // any change and not at this one only.
    let refuses_empty = match client.sanity {
        Sanity::Half => !may_be_first,
        Sanity::PushEmpty => true,
        Sanity::None => false,
    };
    let swallowed = match (server.watch_timeout_payload, client.watch_ack) {
        (WatchTimeoutPayload::Full, _) => false,
        (WatchTimeoutPayload::Empty, WatchAck::OnApply) if refuses_empty => true,
        (WatchTimeoutPayload::Empty, _) => {
            return Err(TwoStageReason::ToldWithoutList.into());
        }
    };
    let watching = Watching::of(server, client, latency);
    Ok(watching.wait(swallowed).then(latency.range))
}

/// By pushes and polls. `quiet`: no other push of the service came shortly before, so that no poll is thrown away and no
/// older list is sent again. `interval` is what a consumer waits between polls.
///
/// A push leaves `D` after the change. The next poll comes at a uniform moment `V` of its period `Q` after it, and tells
/// what has changed if it comes first. A consumer whose last poll is older than its time to live `L` when the push
/// leaves gets none, that is if `V < Q + D - L`.
///
/// # Errors
///
/// An older list may come after a newer one.
pub(super) fn pushed(
    server: &ServerConfig,
    client: &ClientConfig,
    latency: &Latency,
    interval: SimDuration,
    quiet: bool,
) -> Result<Wait, Reason> {
    let delay = ms(server.push_delay_ms);
    let (one_way, apart) = (latency.range, polls_apart(interval, latency));
    if delay + one_way.min < one_way.max {
        return Err(TwoStageReason::AnswerOvertakes.into());
    }
    let (loss, resent_after) = (server.push_loss, ms(server.push_ack_timeout_ms));
    let (some_lost, resends) = (loss > 0.0 && loss < 1.0, server.push_max_resend > 0);
    if !quiet && resends && (some_lost || latency.round_trip().max >= resent_after) {
        return Err(TwoStageReason::OlderPush.into());
    }
    let unsubscribed = apart.max.saturating_sub(ms(server.subscriber_ttl_ms));
    let longest = if loss > 0.0 { apart.max } else { apart.max.min(delay + unsubscribed) };
    let may_miss = loss > 0.0 || !unsubscribed.is_zero();
    let thrown_away = may_miss && !quiet && loss < 1.0 && client.discard_poll_after_push;
    let mean = mean_push(delay, apart.mean, ms(server.subscriber_ttl_ms), loss) + one_way.mean;
    let max = if thrown_away { longest + apart.max } else { longest } + one_way.max;
    let uneven = if thrown_away {
        Some(TwoStageReason::PollThrownAway)
    } else if some_lost && resends && delay + resent_after < apart.max {
        Some(TwoStageReason::PushSentAgain)
    } else {
        None
    };
    Ok(Wait { range: BoundRange { min: one_way.min, mean, max }, uneven })
}

/// The mean wait for the push or the poll, whichever comes first:
/// `[x² / 2 + (1 - p) D (Q - x) + p (Q² - x²) / 2] / Q`, with `x = Q + D - L` between `D` and `Q`, and loss `p`.
fn mean_push(delay: SimDuration, apart: SimDuration, ttl: SimDuration, loss: f64) -> SimDuration {
    let [d, q, l] = [delay, apart, ttl].map(|length| length.as_nanos() as f64);
    if d >= q {
        return half(apart);
    }
    let x = (q + d - l).clamp(d, q);
    let mean = (x * x / 2.0 + (1.0 - loss) * d * (q - x) + loss * (q * q - x * x) / 2.0) / q;
    SimDuration::from_nanos((mean + 0.5) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::two_stage::Preset;
    use crate::scenario::Delay;

    fn constant(millis: u64) -> Latency {
        Latency::of(Delay::Constant(SimDuration::from_millis(millis)))
    }

    fn micros(range: BoundRange) -> [u64; 3] {
        [range.min, range.mean, range.max].map(|length| length.as_nanos() / 1_000)
    }

    fn defaults(preset: Preset) -> (ServerConfig, ClientConfig) {
        (ServerConfig::defaults(preset), ClientConfig::defaults(preset))
    }

    #[test]
    fn a_poll_costs_its_interval_and_three_latencies() {
        let (_, client) = defaults(Preset::TwoStage);
        assert_eq!(micros(polled(&client, &constant(0))), [0, 2_500_000, 5_000_000]);
        // Answered just before the change: a reply, 5 s, a request, a reply. Mean 5.02 / 2 s + 10 ms.
        assert_eq!(micros(polled(&client, &constant(10))), [10_000, 2_520_000, 5_030_000]);
    }

    /// Nearly U(0, 0.2 s). The last gap, a park and a turnaround of 1 ms: (149 · 200² + 201²) / (2 · 30,001) ms.
    #[test]
    fn a_long_poll_costs_a_park() {
        let (mut server, mut client) = defaults(Preset::TwoStage);
        let wait = |server: &ServerConfig, client: &ClientConfig, may_be_first| {
            watched(server, client, &constant(0), may_be_first).map(micros)
        };
        assert_eq!(wait(&server, &client, false), Ok([0, 100_003, 201_000]));
        // Taken with its revision, the change of the last park is lost; so it is if the empty list is taken.
        assert!(wait(&server, &client, true).is_err());
        client.watch_ack = WatchAck::Always;
        assert!(wait(&server, &client, false).is_err());
        client.watch_ack = WatchAck::OnApply;
        client.sanity = Sanity::None;
        assert!(wait(&server, &client, false).is_err());
        server.watch_timeout_payload = WatchTimeoutPayload::Full;
        assert_eq!(wait(&server, &client, true), Ok([0, 99_996, 200_000]));
    }

    /// A round trip of 200 ms and a park of 200 ms: from the last look to the next long poll it takes 401 ms.
    #[test]
    fn a_turnaround_may_be_longer_than_a_park() {
        let (server, client) = defaults(Preset::TwoStage);
        let range = watched(&server, &client, &constant(100), false).expect("a closed form");
        // (149 · 200² + 401²) / (2 · 30,201) + 100 ms; 401 + 100 ms.
        assert_eq!(micros(range), [100_000, 201_334, 501_000]);
    }

    /// Without a round trip every consumer is subscribed at any time, and only a poll is quicker than 1 s: one in ten
    /// is, by half a second on average.
    #[test]
    fn a_push_costs_its_delay() {
        let (mut server, client) = defaults(Preset::Nacos1);
        let wait = |server: &ServerConfig, latency, quiet| {
            pushed(server, &client, &constant(latency), ms(client.poll_interval_ms), quiet)
        };
        let got = wait(&server, 0, false).expect("a closed form");
        assert_eq!((micros(got.range), got.uneven), ([0, 950_000, 1_000_000], None));
        // The whole way of the spec's table: 15 + 1 s, less 50 ms for polls; lost, 10 s more at most.
        server.push_loss = 1.0;
        let lost = wait(&server, 0, false).expect("a closed form");
        assert_eq!((micros(lost.range), lost.uneven), ([0, 5_000_000, 10_000_000], None));
        server.push_loss = 0.5;
        let half_lost = wait(&server, 0, true).expect("a closed form");
        assert_eq!(micros(half_lost.range), [0, 2_975_000, 10_000_000]); // (950 + 5,000) / 2
        assert!(wait(&server, 0, false).is_err());
    }

    /// With a round trip of 20 ms a poll comes every 10.02 s, and for 20 ms of these nobody is told. Then the poll comes
    /// at most 20 ms after the push; if that poll is thrown away, one period later.
    #[test]
    fn a_subscriber_may_be_late() {
        let (server, client) = defaults(Preset::Nacos1);
        let wait = |quiet| pushed(&server, &client, &constant(10), ms(client.poll_interval_ms), quiet);
        let quiet = wait(true).expect("a closed form");
        // x = 1.02 s: (1.02² / 2 + 1 · 9.00) / 10.02 s = 0.950119 s, and 10 ms.
        assert_eq!((micros(quiet.range), quiet.uneven), ([10_000, 960_119, 1_030_000], None));
        let busy = wait(false).expect("a closed form");
        assert_eq!(micros(busy.range)[2], 11_050_000);
        assert!(busy.uneven.is_some());
    }

    /// N4: a consumer that polls every 60 s and is told for 10 s of these sees the first instance after 21.8 s on
    /// average, 51 s at worst.
    #[test]
    fn a_consumer_of_an_empty_service_waits_long() {
        let (server, client) = defaults(Preset::Nacos1);
        let wait = pushed(&server, &client, &constant(0), SimDuration::from_secs(60), true);
        assert_eq!(micros(wait.expect("a closed form").range), [0, 21_825_000, 51_000_000]);
    }

    #[test]
    fn what_overtakes_has_no_closed_form() {
        let (mut server, client) = defaults(Preset::Nacos1);
        server.push_delay_ms = 0;
        let spread = Latency::of(Delay::Uniform(SimDuration::ZERO, SimDuration::from_millis(5)));
        assert!(pushed(&server, &client, &spread, ms(10_000), true).is_err());
        assert!(pushed(&server, &client, &constant(5), ms(10_000), true).is_ok());
    }
}
