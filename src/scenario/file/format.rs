//! The format as data: every section, every key, its type and range, its default and what it means.
//!
//! One table, many readers: the shape check and its suggestions ([`crate::scenario::format::walk`]), the JSON schema
//! ([`crate::scenario::file::schema`]) and the test that holds `docs/SCENARIO.md` complete. Eureka's own properties are in
//! [`crate::scenario::eureka::properties`], where each also knows its field.

use crate::scenario::eureka::format::{BALANCER, EUREKA, TRANSPORT};
use crate::scenario::eureka::release::FLAVOUR;
use crate::scenario::fault::format::{EXPECT, FAULT};
use crate::scenario::format::forms::{Flag, Lines, Table, Tables, Text, count, positive_length};
use crate::scenario::format::{Key, key, section};
use crate::scenario::sections::application::APPLICATION;
use crate::scenario::sections::server::SERVER;
use crate::scenario::sections::{network, start, traffic};
use crate::scenario::two_stage::format::REGISTRY;
use crate::scenario::two_stage::format::TWO_STAGE;

static TOP_KEYS: [Key; 19] = [
    key(
        "title",
        &Text { longer: "a paragraph goes into `about`" },
        "`untitled`",
        "One line: what the scenario shows.",
    ),
    key("about", &Lines, "empty", "A paragraph: why, and what to expect."),
    key("seed", &count(0, u64::MAX), "1", "The seed of all chance."),
    key(
        "replicates",
        &count(1, 1_000_000),
        "100",
        "How often the scenario is run, each time with other draws.",
    ),
    key("duration", &positive_length(), "30m", "The end of a replicate, from the start of its first server."),
    key(
        "stop-when-settled",
        &Flag,
        "true",
        "Whether a replicate ends earlier, once nothing watched can change any more.",
    ),
    key(
        "event-budget",
        &count(1, u64::MAX),
        "1_000_000_000",
        "Events that one replicate may need at most; one that needs more ends the run with exit code 4.",
    ),
    key(
        "registry",
        &REGISTRY,
        "eureka",
        "Which registry: Eureka, the two-stage registry, or its preset for Nacos 1.4.",
    ),
    key("flavour", &FLAVOUR, "spring", "Eureka only: whose defaults and start-up rules."),
    key(
        "release",
        &Text { longer: "" },
        "the newest",
        "Eureka only: a Spring Cloud train, a Spring Cloud Netflix version or a Eureka version. Sets the servers' rules, the \
         transport, the balancer and the order in which servers are tried.",
    ),
    key("start", &Table(&start::keys::SECTION), "", "How the fleet starts."),
    key("eureka", &Table(&EUREKA), "", "Settings under Eureka's own names."),
    key("two-stage", &Table(&TWO_STAGE), "", "Settings of the two-stage registry and its clients."),
    key("balancer", &Table(&BALANCER), "", "What stands above the clients."),
    key("transport", &Table(&TRANSPORT), "", "What stands below the clients."),
    key("server", &Table(&SERVER), "", "The registry servers."),
    key("network", &Table(&network::links::SECTION), "", "The links."),
    key("traffic", &Table(&traffic::keys::SECTION), "none", "The calls of applications to each other."),
    key("application", &Tables(&APPLICATION), "", "The fleet, a table an application. At least one."),
];
static LIST_KEYS: [Key; 2] = [
    key("fault", &Tables(&FAULT), "none", "What happens to the fleet."),
    key("expect", &Tables(&EXPECT), "none", "What must come out."),
];
section!(
    /// The top of the file.
    TOP,
    "",
    TOP_KEYS.iter().chain(&LIST_KEYS).collect()
);
