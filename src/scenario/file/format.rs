//! The format as data: every section, every key, its type and range, its default and what it means.
//!
//! One table, many readers: the shape check and its suggestions ([`crate::scenario::format::walk`]), the JSON schema
//! ([`crate::scenario::file::schema`]) and the test that holds `docs/SCENARIO.md` complete. Eureka's own properties are in
//! [`crate::scenario::eureka::properties`], where each also knows its field.

use crate::engine::SimDuration;
use crate::scenario::eureka::format::{EUREKA, balancer, transport};
use crate::scenario::eureka::release::FLAVOUR;
use crate::scenario::fault::format::{EXPECT, FAULT};
use crate::scenario::format::forms::{Flag, Lines, Table, Tables, Text, count, positive_length};
use crate::scenario::format::{self, Key, key, section, settings};
use crate::scenario::sections::application::APPLICATION;
use crate::scenario::sections::server::SERVER;
use crate::scenario::sections::{network, start, traffic};
use crate::scenario::two_stage::format::REGISTRY;
use crate::scenario::two_stage::format::TWO_STAGE;
use crate::scenario::types::Scenario;

settings! {
    /// What is said at the top of a file, before its tables.
    top: Scenario, "";
    "title": Text { longer: "a paragraph goes into `about`" }, title = "untitled".to_owned(),
        "One line: what the scenario shows.";
    "about": Lines, about = String::new(), "A paragraph: why, and what to expect.";
    "seed": count(0, u64::MAX), seed = 1, "The seed of all chance.";
    "replicates": count(1, 1_000_000), replicates = 100,
        "How often the scenario is run, each time with other draws.";
    "duration": positive_length(), duration = SimDuration::from_secs(30 * 60),
        "The end of a replicate, from the start of its first server.";
    "stop-when-settled": Flag, stop_when_settled = true,
        "Whether a replicate ends earlier, once nothing watched can change any more.";
    "event-budget": count(1, u64::MAX), event_budget = 1_000_000_000,
        "Events that one replicate may need at most; one that needs more ends the run with exit code 4.";
}

static TOP_KEYS: [Key; 12] = [
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
    key("balancer", &Table(&balancer::SECTION), "", "What stands above the clients."),
    key("transport", &Table(&transport::SECTION), "", "What stands below the clients."),
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
    format::keys(top::ALL).chain(&TOP_KEYS).chain(&LIST_KEYS).collect()
);
