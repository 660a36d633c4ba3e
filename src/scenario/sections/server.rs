//! The format as data: the servers, their own clients, whom they tell what they are told, and how much they can do at
//! a time.

use crate::engine::SimDuration;
use crate::model::message::RequestKind;
use crate::scenario::eureka::format::{OWN_EUREKA, process, transport};
use crate::scenario::format::forms::{
    Flag, Length, Lengths, OneOf, Or, PeersByServer, TEXTS, TIME, Table, count, length,
};
use crate::scenario::format::{self, Key, key, section, settings};
use crate::scenario::sections::network::{clock, links};
use crate::scenario::types::{SERVERS_MAX, Scenario};

/// The words of `topology`.
pub(crate) const TOPOLOGIES: &[&str] = &["full-mesh", "ring", "none"];
/// Worker threads of a server at most.
const THREADS_MAX: u32 = 100_000;

/// A wall-clock minute, without its end.
const SECOND: Length = Length { min: SimDuration::ZERO, max: SimDuration::from_nanos(60_000_000_000 - 1) };

settings! {
    /// When a replicate starts, which is of every registry.
    start: Scenario, "server";
    "starts-at-second": Or(SECOND, "random"), server_starts_at_second = None,
        "The moment within a wall-clock minute at which a replicate starts, and with it the first server; \
        `random`: drawn for each replicate.";
}

static SERVER_KEYS: [Key; 12] = [
    key("count", &count(1, SERVERS_MAX as u32), "1", "How many. They are called `server-1`, `server-2`, …"),
    key(
        "topology",
        &OneOf(TOPOLOGIES),
        "full-mesh",
        "Who passes on to whom what its clients tell it: each to all others; `server-n` to `server-n+1`, and the last \
         to the first; nobody to anybody.",
    ),
    key(
        "peers",
        &PeersByServer,
        "by `topology`",
        "The same, one by one: `{ server-1 = [\"server-2\"] }`. Servers that are not named pass on nothing.",
    ),
    key(
        "recognises-own-url",
        &Flag,
        "true",
        "Whether a server knows its own URL among those of its peers. If not, each passes on to itself too, after the \
         others.",
    ),
    key("zones", &TEXTS, "none", "Their zones, taken in turn, as an application's."),
    key(
        "starts-after",
        &Lengths,
        "by `start-window`",
        "When each starts, from the start of the replicate, one for each server; one of them at 0s.",
    ),
    key(
        "start-window",
        &length(),
        "1m; 0s with one server",
        "Each but the first, which starts with the replicate, starts at a uniform moment in this window.",
    ),
    key("eureka", &Table(&OWN_EUREKA), "", "Settings of the servers' own clients."),
    key("transport", &Table(&transport::SECTION), "", "What stands below the servers' own clients."),
    key("clock", &Table(&clock::SECTION), "exact", "What their wall clocks show wrongly from the start."),
    key("network", &Table(&links::SECTION), "", "Overrides of `[network]` for the links between servers."),
    key("capacity", &Table(&CAPACITY), "without limit", "How much each can do at a time."),
];

/// In the order of the guide: the flags of Eureka's servers stand around the second at which they start.
fn all_keys() -> Vec<&'static Key> {
    let (several, rest) = SERVER_KEYS.split_at(7);
    let (clients, timers) = process::ALL.split_at(2);
    several
        .iter()
        .chain(format::keys(clients))
        .chain(format::keys(start::ALL))
        .chain(format::keys(timers))
        .chain(rest)
        .collect()
}
section!(
    /// `[server]`
    SERVER,
    "server",
    all_keys()
);

/// The keys of `[server.capacity]` that say how long a request takes, in the order of [`RequestKind::ALL`]; the two that
/// Eureka does not know are in no table of keys.
pub(crate) const SERVICE_KEYS: [&str; RequestKind::COUNT] = [
    "register",
    "renew",
    "cancel",
    "fetch-full",
    "fetch-delta",
    "status",
    "replicate",
    "fetch-service",
    "watch",
];

static CAPACITY_KEYS: [Key; 9] = [
    key("threads", &count(1, THREADS_MAX), "", "Worker threads. Requests wait in one queue for one of them."),
    key("register", &TIME, "0s", "How long a registration keeps a thread busy."),
    key("renew", &TIME, "0s", "How long a heartbeat does."),
    key("cancel", &TIME, "0s", "How long a de-registration does."),
    key("fetch-full", &TIME, "0s", "How long a full fetch does."),
    key("fetch-delta", &TIME, "0s", "How long a delta fetch does."),
    key("status", &TIME, "0s", "How long an operator's override, or the end of one, does."),
    key("replicate", &TIME, "0s", "How long a batch from a peer does, besides its items."),
    key("replicated-item", &TIME, "0s", "How long each item of such a batch does."),
];
section!(
    /// `[server.capacity]`
    CAPACITY,
    "server.capacity",
    CAPACITY_KEYS.iter().collect(),
    required: &["threads"],
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::registry::Kind;

    #[test]
    fn every_kind_of_request_has_its_key() {
        assert_eq!(SERVICE_KEYS, RequestKind::ALL.map(RequestKind::name));
        let of_eureka = Kind::Eureka.requests().iter().map(|kind| SERVICE_KEYS[*kind as usize]);
        assert!(of_eureka.into_iter().all(|name| CAPACITY.key(name).is_some()));
    }
}
