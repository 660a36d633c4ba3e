//! The format as data: every section, every key, its type and range, its default and what it means.
//!
//! One table, many readers: the shape check and its suggestions ([`super::shape`]), the JSON schema
//! ([`super::schema`]) and the test that holds `docs/SCENARIO.md` complete. Eureka's own properties are in
//! [`super::properties`], where each also knows its field.

use super::format_client::{BALANCER, TRANSPORT};
use super::format_fault::{EXPECT, FAULT};
use super::format_server::SERVER;
use super::format_two_stage::{OWN_TWO_STAGE, REGISTRIES, TWO_STAGE};
use super::format_world::{CLOCK, NETWORK, TRAFFIC};
use super::properties;
use crate::engine::SimDuration;

/// A key of a section.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// The default, in words; empty if the key must be there or has none.
    pub(super) default: &'static str,
    pub(super) doc: &'static str,
}

/// What may stand behind a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A text of one line: it is shown in tables and in charts.
    Text,
    /// A text of any number of lines.
    Lines,
    /// `true` or `false`.
    Flag,
    /// A whole number in a range, in a unit (empty: things).
    Count { min: u64, max: u64, unit: &'static str },
    /// A whole number of seconds of which the client takes zero or less for its default
    /// (`eureka-client.md` section 7).
    CountOrDefault { max: u64, default: u32, unit: &'static str },
    /// A whole number in a range that reaches below zero, in a unit.
    Signed { min: i64, max: i64, unit: &'static str },
    /// A whole number in a range, in a unit, or a word.
    CountOr { min: u64, max: u64, unit: &'static str, word: &'static str },
    /// A number from 0 to 1.
    Share,
    /// A number from 0 to 1, or a word.
    ShareOr { word: &'static str },
    /// A number above 0, at most 1.
    PositiveShare,
    /// A number above 0, or one of some words.
    Rate { words: &'static [&'static str] },
    /// A duration in a range, or one of some words.
    Length { min: SimDuration, max: SimDuration, words: &'static [&'static str] },
    /// One of some words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    Names,
    /// A list of texts, or one of some words.
    NamesOr(&'static [&'static str]),
    /// A list of durations.
    Lengths,
    /// An IPv4 address.
    Address,
    /// A table that gives servers by name a list of names of servers.
    PeersByServer,
    /// Servers: `"all"`, how many, or a list of their names.
    Servers,
    /// A duration, or a distribution of durations ([`super::values::distribution`]); whether all of its values may
    /// be zero.
    Distribution { zero: bool },
    /// A duration of whole milliseconds, negative or not.
    Shift,
    /// The other end of a link: a word, a table of `application` and `zone`, or one of `servers`.
    Peer,
    /// `"all"`, or a number above 0, at most 1.
    ShareOfReplicates,
    /// A table.
    Table(&'static Section),
    /// A list of tables.
    Tables(&'static Section),
}

/// A table of the format.
#[derive(Debug)]
pub(super) struct Section {
    /// As it is written in a file: `eureka.server`, `application`; empty for the top.
    pub(super) path: &'static str,
    pub(super) keys: fn() -> Vec<&'static Key>,
}

impl Section {
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        (self.keys)().into_iter().find(|key| key.name == name)
    }
}

const ONE_NANO: SimDuration = SimDuration::from_nanos(1);
pub(super) const LONGEST: SimDuration = super::duration::LONGEST;

/// Instances that may run at once, those that faults start included.
pub(super) const INSTANCES_MAX: u64 = 1_000_000;

pub(super) const fn key(name: &'static str, shape: Shape, default: &'static str, doc: &'static str) -> Key {
    Key { name, shape, default, doc }
}

/// A duration that may be zero.
pub(super) const fn length() -> Shape {
    Shape::Length { min: SimDuration::ZERO, max: LONGEST, words: &[] }
}

/// A duration that may not be zero.
pub(super) const fn positive_length(words: &'static [&'static str]) -> Shape {
    Shape::Length { min: ONE_NANO, max: LONGEST, words }
}

pub(super) const fn count(min: u64, max: u64) -> Shape {
    Shape::Count { min, max, unit: "" }
}

/// A section as a static.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident, $path:literal, $keys:expr) => {
        $(#[$doc])*
        pub(in crate::scenario) static $name: Section = Section { path: $path, keys: || $keys };
    };
}

pub(super) use section;

static TOP_KEYS: [Key; 19] = [
    key("title", Shape::Text, "`untitled`", "One line: what the scenario shows."),
    key("about", Shape::Lines, "empty", "A paragraph: why, and what to expect."),
    key("seed", count(0, u64::MAX), "1", "The seed of all chance."),
    key(
        "replicates",
        count(1, 1_000_000),
        "100",
        "How often the scenario is run, each time with other draws.",
    ),
    key(
        "duration",
        positive_length(&[]),
        "30m",
        "The end of a replicate, from the start of its first server.",
    ),
    key(
        "stop-when-settled",
        Shape::Flag,
        "true",
        "Whether a replicate ends earlier, once nothing watched can change any more.",
    ),
    key(
        "event-budget",
        count(1, u64::MAX),
        "1_000_000_000",
        "Events that one replicate may need at most; one that needs more ends the run with exit code 4.",
    ),
    key(
        "registry",
        Shape::Choice(REGISTRIES),
        "eureka",
        "Which registry: Eureka, the two-stage registry, or its preset for Nacos 1.4.",
    ),
    key(
        "flavour",
        Shape::Choice(&["spring", "netflix"]),
        "spring",
        "Eureka only: whose defaults and start-up rules.",
    ),
    key(
        "release",
        Shape::Text,
        "the newest",
        "Eureka only: a Spring Cloud train, a Spring Cloud Netflix version or a Eureka version. Sets the servers' rules, the \
         transport, the balancer and the order in which servers are tried.",
    ),
    key("start", Shape::Table(&START), "", "How the fleet starts."),
    key("eureka", Shape::Table(&EUREKA), "", "Settings under Eureka's own names."),
    key("two-stage", Shape::Table(&TWO_STAGE), "", "Settings of the two-stage registry and its clients."),
    key("balancer", Shape::Table(&BALANCER), "", "What stands above the clients."),
    key("transport", Shape::Table(&TRANSPORT), "", "What stands below the clients."),
    key("server", Shape::Table(&SERVER), "", "The registry servers."),
    key("network", Shape::Table(&NETWORK), "", "The links."),
    key("traffic", Shape::Table(&TRAFFIC), "none", "The calls of applications to each other."),
    key("application", Shape::Tables(&APPLICATION), "", "The fleet, a table an application. At least one."),
];
static LIST_KEYS: [Key; 2] = [
    key("fault", Shape::Tables(&FAULT), "none", "What happens to the fleet."),
    key("expect", Shape::Tables(&EXPECT), "none", "What must come out."),
];
section!(
    /// The top of the file.
    TOP,
    "",
    TOP_KEYS.iter().chain(&LIST_KEYS).collect()
);

static START_KEYS: [Key; 2] = [
    key(
        "window",
        length(),
        "the fleet's longest heartbeat interval",
        "Instances start at a uniform moment in this window, which opens when all servers accept requests.",
    ),
    key("warm-up", length(), "5m", "From the end of the start window until faults are timed."),
];
section!(
    /// `[start]`
    START,
    "start",
    START_KEYS.iter().collect()
);

static EUREKA_KEYS: [Key; 3] = [
    key("server", Shape::Table(&EUREKA_SERVER), "", "`eureka.server.…`"),
    key("client", Shape::Table(&EUREKA_CLIENT), "", "`eureka.client.…` of the fleet"),
    key("instance", Shape::Table(&EUREKA_INSTANCE), "", "`eureka.instance.…` of the fleet"),
];
section!(
    /// `[eureka]`
    EUREKA,
    "eureka",
    EUREKA_KEYS.iter().collect()
);
section!(
    /// `[application.eureka]` and `[server.eureka]`
    OWN_EUREKA,
    "eureka",
    EUREKA_KEYS[1..2].iter().chain([&OWN_INSTANCE_KEY]).collect()
);
static OWN_INSTANCE_KEY: Key =
    key("instance", Shape::Table(&OWN_INSTANCE), "", "`eureka.instance.…` of these instances");
section!(
    /// `[eureka.server]`
    EUREKA_SERVER,
    "eureka.server",
    properties::SERVER.iter().map(|property| &property.key).collect()
);
static CLIENT_EXTRA_KEYS: [Key; 4] = [
    key(
        "eureka-server-connect-timeout-seconds",
        Shape::Count { min: 1, max: properties::SECONDS_MAX, unit: "seconds" },
        "5",
        "Connect limit of the Jersey transport. Without effect on any other.",
    ),
    key(
        "eureka-server-read-timeout-seconds",
        Shape::Count { min: 1, max: properties::SECONDS_MAX, unit: "seconds" },
        "8",
        "Read limit of the Jersey transport. Without effect on any other.",
    ),
    key("transport", Shape::Table(&CLIENT_TRANSPORT), "", "`eureka.client.transport.…`"),
    key("healthcheck", Shape::Table(&CLIENT_HEALTHCHECK), "", "`eureka.client.healthcheck.…`"),
];
section!(
    /// `[eureka.client]`
    EUREKA_CLIENT,
    "eureka.client",
    properties::CLIENT.iter().map(|property| &property.key).chain(&CLIENT_EXTRA_KEYS).collect()
);
section!(
    /// `[eureka.client.transport]`
    CLIENT_TRANSPORT,
    "eureka.client.transport",
    properties::CLIENT_TRANSPORT.iter().map(|property| &property.key).collect()
);
section!(
    /// `[eureka.client.healthcheck]`
    CLIENT_HEALTHCHECK,
    "eureka.client.healthcheck",
    properties::CLIENT_HEALTHCHECK.iter().map(|property| &property.key).collect()
);
static REGISTRY_KEY: Key = key(
    "registry",
    Shape::Table(&INSTANCE_REGISTRY),
    "",
    "`eureka.instance.registry.…`: how a Spring server counts its clients at the start",
);
section!(
    /// `[eureka.instance]`
    EUREKA_INSTANCE,
    "eureka.instance",
    properties::INSTANCE.iter().map(|property| &property.key).chain([&REGISTRY_KEY]).collect()
);
section!(
    /// `[application.eureka.instance]`
    OWN_INSTANCE,
    "eureka.instance",
    properties::INSTANCE.iter().map(|property| &property.key).collect()
);
section!(
    /// `[eureka.instance.registry]`
    INSTANCE_REGISTRY,
    "eureka.instance.registry",
    properties::REGISTRY.iter().map(|property| &property.key).collect()
);

static APPLICATION_KEYS: [Key; 17] = [
    key("name", Shape::Text, "", "Its name, unique. Instance `n` is called `name-n`, from 1."),
    key("instances", count(0, INSTANCES_MAX), "1", "How many run from the start."),
    key(
        "observers",
        Shape::Flag,
        "true, if they fetch the registry",
        "Whether its instances are observers in the results.",
    ),
    key("register", Shape::Flag, "true", "Whether its instances register: `register-with-eureka` of Eureka."),
    key("fetch", Shape::Flag, "true", "Whether they look others up: `fetch-registry` of Eureka."),
    key(
        "subscribes",
        Shape::Names,
        "all that register",
        "Two-stage only: which services they watch or poll one by one; of no effect with `discovery = \"poll\"`.",
    ),
    key(
        "zones",
        Shape::Names,
        "none",
        "Its zones, taken in turn: instance `n` of two is in the first if `n` is odd, else in the second.",
    ),
    key("servers", Shape::Names, "all", "Which servers its instances know: `[\"server-1\", \"server-2\"]`."),
    key(
        "server-zones",
        Shape::NamesOr(&["own-first"]),
        "none",
        "The same by zones: servers of the first zone are tried first, then those of all others that are named; \
         `own-first`: those of an instance's own zone, then all others.",
    ),
    key(
        "first-address",
        Shape::Address,
        "10.0.1.1, 10.1.1.1, …",
        "The IPv4 address of its first instance; the others count up. Up to Eureka 1.10.13 it decides in which order an \
         instance tries its servers.",
    ),
    key("eureka", Shape::Table(&OWN_EUREKA), "", "Overrides of `[eureka.client]` and `[eureka.instance]`."),
    key(
        "two-stage",
        Shape::Table(&OWN_TWO_STAGE),
        "",
        "Overrides of `[two-stage]`, as far as it concerns clients.",
    ),
    key("balancer", Shape::Table(&BALANCER), "", "Overrides of `[balancer]`."),
    key("transport", Shape::Table(&TRANSPORT), "", "Overrides of `[transport]`."),
    key("network", Shape::Table(&NETWORK), "", "Overrides of `[network]` for its links to the servers."),
    key("traffic", Shape::Table(&TRAFFIC), "", "Overrides of `[traffic]`."),
    key(
        "clock",
        Shape::Table(&CLOCK),
        "exact",
        "What its instances' wall clocks show wrongly from the start.",
    ),
];
section!(
    /// `[[application]]`
    APPLICATION,
    "application",
    APPLICATION_KEYS.iter().collect()
);

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(section: &'static Section, seen: &mut dyn FnMut(&'static Section, &'static Key)) {
        for key in (section.keys)() {
            seen(section, key);
            if let Shape::Table(below) | Shape::Tables(below) = key.shape {
                visit(below, seen);
            }
        }
    }

    #[test]
    fn no_section_names_a_key_twice() {
        visit(&TOP, &mut |section, key| {
            let same = (section.keys)().into_iter().filter(|other| other.name == key.name).count();
            assert_eq!(same, 1, "{} in {}", key.name, section.path);
        });
    }
}
