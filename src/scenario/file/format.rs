//! The format as data: every section, every key, its type and range, its default and what it means.
//!
//! One table, many readers: the shape check and its suggestions ([`crate::scenario::format::walk`]), the JSON schema
//! ([`crate::scenario::file::schema`]) and the test that holds `docs/SCENARIO.md` complete. Eureka's own properties are in
//! [`crate::scenario::eureka::properties`], where each also knows its field.

use crate::scenario::eureka::format::{BALANCER, EUREKA, TRANSPORT};
use crate::scenario::fault::format::{EXPECT, FAULT};
use crate::scenario::format::{Key, Section, Shape, count, key, positive_length, section};
use crate::scenario::sections::application::{APPLICATION, START};
use crate::scenario::sections::network::{NETWORK, TRAFFIC};
use crate::scenario::sections::registry::REGISTRIES;
use crate::scenario::sections::server::SERVER;
use crate::scenario::two_stage::format::TWO_STAGE;

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
