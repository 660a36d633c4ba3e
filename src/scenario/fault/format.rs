//! The format as data: faults, whom they hit, and expectations. What each verb takes is in
//! [`crate::scenario::fault::verbs`]. See [`crate::scenario::file::format`].

use crate::scenario::fault::verbs::VERBS;
use crate::scenario::format::{INSTANCES_MAX, Key, Section, Shape, count, key, length, section};

static FAULT_KEYS: [Key; 2] = [
    key("at", length(), "0s", "From the end of the warm-up."),
    key("within", length(), "1m", "Plus a uniform draw from this."),
];
section!(
    /// `[[fault]]`
    FAULT,
    "fault",
    FAULT_KEYS.iter().chain(VERBS.iter().map(|verb| &verb.key)).collect()
);

/// The keys of a verb that say to whom. Exactly one must be there.
pub(crate) const TARGETS: [&str; 6] = ["count", "share", "all", "instances", "server", "servers"];

/// What every verb that hits somebody takes; the last two are for those that may hit servers.
pub(crate) static TARGET_KEYS: [Key; 8] = [
    key("count", count(1, INSTANCES_MAX), "", "So many instances, at random."),
    key(
        "share",
        Shape::Share,
        "",
        "This share of the instances, at random, rounded to the nearest whole number.",
    ),
    key("all", Shape::Flag, "", "`true`: every instance."),
    key("instances", Shape::Names, "", "These: `[\"orders-3\"]`."),
    key("application", Shape::Text, "of all applications", "Only of this application."),
    key("zone", Shape::Text, "of all zones", "Only in this zone."),
    key("server", Shape::Flag, "", "`true`: every server, for the verbs that may hit servers."),
    key(
        "servers",
        Shape::Servers,
        "",
        "These, as in `[\"server-2\"]`, or so many, at random, or `\"all\"`; for the verbs that may hit servers.",
    ),
];

static EXPECT_KEYS: [Key; 2] = [
    key("that", Shape::Text, "", "What must hold in a replicate."),
    key(
        "in",
        Shape::ShareOfReplicates,
        "all",
        "In which share of the replicates: `\"all\"`, or above 0 to 1.",
    ),
];
section!(
    /// `[[expect]]`
    EXPECT,
    "expect",
    EXPECT_KEYS.iter().collect()
);
