//! The format as data: what is between and around the processes, links, clocks and calls. See
//! [`super::format`].

use super::format::{Key, Section, Shape, count, key, positive_length, section};
use super::format_verb_keys::DRIFT;

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
