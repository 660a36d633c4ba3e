//! The format as data: the applications that it is made of.

use crate::scenario::eureka::format::{OWN_EUREKA, balancer, transport};
use crate::scenario::format::forms::{Address, Flag, Or, TEXTS, Table, Text, count, links::SERVER_LIST};
use crate::scenario::format::{INSTANCES_MAX, Key, key, section};
use crate::scenario::sections::network::{clock, links};
use crate::scenario::sections::traffic;
use crate::scenario::two_stage::format::OWN_TWO_STAGE;

static APPLICATION_KEYS: [Key; 17] = [
    key("name", &Text { longer: "" }, "", "Its name, unique. Instance `n` is called `name-n`, from 1."),
    key("instances", &count(0, INSTANCES_MAX), "1", "How many run from the start."),
    key(
        "observers",
        &Flag,
        "true, if they fetch the registry",
        "Whether its instances are observers in the results.",
    ),
    key("register", &Flag, "true", "Whether its instances register: `register-with-eureka` of Eureka."),
    key("fetch", &Flag, "true", "Whether they look others up: `fetch-registry` of Eureka."),
    key(
        "subscribes",
        &TEXTS,
        "all that register",
        "Two-stage only: which services they watch or poll one by one; of no effect with `discovery = \"poll\"`.",
    ),
    key(
        "zones",
        &TEXTS,
        "none",
        "Its zones, taken in turn: instance `n` of two is in the first if `n` is odd, else in the second.",
    ),
    key("servers", &SERVER_LIST, "all", "Which servers its instances know: `[\"server-1\", \"server-2\"]`."),
    key(
        "server-zones",
        &Or(TEXTS, "own-first"),
        "none",
        "The same by zones: servers of the first zone are tried first, then those of all others that are named; \
         `own-first`: those of an instance's own zone, then all others.",
    ),
    key(
        "first-address",
        &Address,
        "10.0.1.1, 10.1.1.1, …",
        "The IPv4 address of its first instance; the others count up. Up to Eureka 1.10.13 it decides in which order an \
         instance tries its servers.",
    ),
    key("eureka", &Table(&OWN_EUREKA), "", "Overrides of `[eureka.client]` and `[eureka.instance]`."),
    key(
        "two-stage",
        &Table(&OWN_TWO_STAGE),
        "",
        "Overrides of `[two-stage]`, as far as it concerns clients.",
    ),
    key("balancer", &Table(&balancer::SECTION), "", "Overrides of `[balancer]`."),
    key("transport", &Table(&transport::SECTION), "", "Overrides of `[transport]`."),
    key("network", &Table(&links::SECTION), "", "Overrides of `[network]` for its links to the servers."),
    key("traffic", &Table(&traffic::keys::SECTION), "", "Overrides of `[traffic]`."),
    key(
        "clock",
        &Table(&clock::SECTION),
        "exact",
        "What its instances' wall clocks show wrongly from the start.",
    ),
];
section!(
    /// `[[application]]`
    APPLICATION,
    "application",
    APPLICATION_KEYS.iter().collect(),
    required: &["name"],
);
