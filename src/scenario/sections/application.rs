//! The format as data: how the fleet starts, and the applications that it is made of.

use crate::scenario::eureka::format::{BALANCER, OWN_EUREKA, TRANSPORT};
use crate::scenario::format::{INSTANCES_MAX, Key, Section, Shape, count, key, length, section};
use crate::scenario::sections::network::{CLOCK, NETWORK, TRAFFIC};
use crate::scenario::two_stage::format::OWN_TWO_STAGE;

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
