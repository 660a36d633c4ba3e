//! The format as data: what stands above a client, its balancer, and below it, its transport. See
//! [`super::format`].

use super::format::{Key, LONGEST, Section, Shape, key, positive_length, section};
use crate::engine::SimDuration;

/// The kinds of balancer.
pub(super) const BALANCER_KINDS: &[&str] = &["spring-cloud-loadbalancer", "ribbon", "none"];
static BALANCER_KEYS: [Key; 5] = [
    key("kind", Shape::Choice(BALANCER_KINDS), "the release's", "Which balancer picks the instances."),
    key(
        "ttl",
        positive_length(&[]),
        "35s",
        "`spring.cloud.loadbalancer.cache.ttl`. Only with `spring-cloud-loadbalancer`.",
    ),
    key("refresh-interval", positive_length(&[]), "30s", "`ServerListRefreshInterval`. Only with `ribbon`."),
    key(
        "calls-per-second",
        Shape::Rate { words: &["dense"] },
        "dense",
        "Calls a second of one observer to each application; `dense`: some call comes at once. Only with \
         `spring-cloud-loadbalancer`.",
    ),
    key(
        "first-call",
        Shape::Length { min: SimDuration::ZERO, max: LONGEST, words: &["random"] },
        "random",
        "The moment of an observer's first call through its balancer, from its start; `random`: uniform over one \
         time to live or poll interval, counted from its start or, for those that start in the start window, from \
         one fetch interval after the window's end.",
    ),
];
section!(
    /// `[balancer]`
    BALANCER,
    "balancer",
    BALANCER_KEYS.iter().collect()
);

/// The kinds of transport.
pub(super) const TRANSPORT_KINDS: &[&str] = &["jersey", "rest-template", "rest-client", "web-client"];
static TRANSPORT_KEYS: [Key; 6] = [
    key("kind", Shape::Choice(TRANSPORT_KINDS), "the release's", "Which HTTP client."),
    key(
        "connect-timeout",
        positive_length(&["none"]),
        "the kind's",
        "Connect limit; `none` waits as long as the operating system does (127 s).",
    ),
    key(
        "read-timeout",
        positive_length(&["none"]),
        "the kind's",
        "Read limit; `none` waits as long as the operating system does (about 15 min).",
    ),
    key(
        "pooled",
        Shape::Flag,
        "the kind's",
        "Whether a call 30 s after the last one finds a pooled connection.",
    ),
    key(
        "interrupt-cancels-retries",
        Shape::Flag,
        "the kind's",
        "Whether a supervisor's interrupt makes every later attempt of the job fail.",
    ),
    key(
        "understands-not-found",
        Shape::Flag,
        "the release's",
        "Whether a heartbeat's 404 with a JSON body is understood.",
    ),
];
section!(
    /// `[transport]`
    TRANSPORT,
    "transport",
    TRANSPORT_KEYS.iter().collect()
);
