//! The format as data: what is between and around the processes, links, clocks and calls. See
//! [`crate::scenario::file::format`].

use crate::scenario::format::distribution;
use crate::scenario::format::duration::print_shift_ms;
use crate::scenario::format::page::{Page, string};
use crate::scenario::format::values::Values;
use crate::scenario::format::{Key, Section, Shape, count, key, positive_length, section};
use crate::scenario::types::{Clock, Network, Scenario, ZoneId};

static NETWORK_KEYS: [Key; 2] = [
    key("latency", Shape::Distribution { zero: true }, "1ms", "One way, between any two nodes."),
    key(
        "loss",
        Shape::Share,
        "0",
        "The probability that a message is lost for good; what TCP repairs itself is in the latency.",
    ),
];
section!(
    /// `[network]` and `[application.network]`
    NETWORK,
    "network",
    NETWORK_KEYS.iter().collect()
);

/// `drift-ppm` of a clock.
pub(crate) const DRIFT: Key = key(
    "drift-ppm",
    Shape::Signed { min: -DRIFT_PPM_MAX, max: DRIFT_PPM_MAX, unit: "parts per million" },
    "0",
    "How much faster it runs (slower if negative), parts per million.",
);
/// A tenth of the time: far more than a quartz that is broken.
const DRIFT_PPM_MAX: i64 = 100_000;

static CLOCK_KEYS: [Key; 2] =
    [key("offset", Shape::Shift, "0s", "How far it is ahead (behind if negative)."), DRIFT];
section!(
    /// `[server.clock]` and `[application.clock]`
    CLOCK,
    "clock",
    CLOCK_KEYS.iter().collect()
);

static TRAFFIC_KEYS: [Key; 5] = [
    key(
        "calls-per-second",
        Shape::Rate { words: &[] },
        "",
        "Calls a second of one instance to each application of `to`, at random moments.",
    ),
    key("to", Shape::Names, "all other applications, or the only one", "Which applications are called."),
    key(
        "retries-on-same-instance",
        count(0, RETRIES_MAX),
        "0",
        "Further attempts at the same instance (`max-retries-on-same-service-instance`, Ribbon's `MaxAutoRetries`).",
    ),
    key(
        "retries-on-next-instance",
        count(0, RETRIES_MAX),
        "0",
        "Further instances that are tried (`max-retries-on-next-service-instance`, Ribbon's \
         `MaxAutoRetriesNextServer`).",
    ),
    key(
        "read-timeout",
        positive_length(&[]),
        "5s",
        "How long an attempt waits for an instance that stands still or is cut off.",
    ),
];
/// More retries of a call than anybody sets.
const RETRIES_MAX: u64 = 100;
section!(
    /// `[traffic]` and `[application.traffic]`
    TRAFFIC,
    "traffic",
    TRAFFIC_KEYS.iter().collect()
);

/// Links as a section says, as `base` where it does not.
pub(crate) fn network(values: Values<'_>, base: Network) -> Network {
    Network {
        latency: values.delay("latency").unwrap_or(base.latency),
        loss: values.number("loss").unwrap_or(base.loss),
    }
}

/// A clock as a section says, exact where it does not.
pub(crate) fn clock(values: Values<'_>) -> Clock {
    Clock {
        offset_ms: values.shift_ms("offset").unwrap_or_default(),
        drift_ppm: values.signed("drift-ppm").unwrap_or_default(),
    }
}

/// Writes links.
pub(crate) fn print_network(lines: &mut Page, network: &Network) {
    lines.line("latency", distribution::print_delay(network.latency));
    lines.number("loss", network.loss);
}

/// A clock that is exact is not written.
pub(crate) fn print_clock(lines: &mut Page, clock: Clock) {
    if clock != Clock::default() {
        lines.line("offset", print_shift_ms(clock.offset_ms));
        lines.line("drift-ppm", clock.drift_ppm);
    }
}

/// Zones as texts.
pub(crate) fn zone_names<'a>(
    scenario: &'a Scenario,
    zones: &'a [ZoneId],
) -> impl Iterator<Item = String> + use<'a> {
    zones.iter().map(|zone| string(&scenario.zones[usize::from(zone.0)]))
}
