//! The format as data: faults, whom they hit, and expectations. What each verb takes is in
//! [`crate::scenario::fault::verbs`].

use crate::scenario::fault::verbs::VERBS;
use crate::scenario::format::forms::{Flag, Listed, SHARE, Servers, ShareOfReplicates, Text, count, length};
use crate::scenario::format::{INSTANCES_MAX, Key, key, section};

static FAULT_KEYS: [Key; 2] = [
    key("at", &length(), "0s", "From the end of the warm-up."),
    key("within", &length(), "1m", "Plus a uniform draw from this."),
];
section!(
    /// `[[fault]]`
    FAULT,
    "fault",
    FAULT_KEYS.iter().chain(VERBS.iter().map(|verb| &verb.key)).collect(),
    one_of: || VERBS.iter().map(|verb| verb.key.name).collect(),
);

/// A list of instances.
const INSTANCE_NAMES: Listed = Listed { example: "`[\"orders-1\", \"orders-2\"]`" };

/// The keys of a verb that say to whom. Exactly one must be there.
pub(crate) const TARGETS: [&str; 6] = ["count", "share", "all", "instances", "server", "servers"];

/// Those among the first keys of [`TARGET_KEYS`].
pub(crate) fn targets(keys: usize) -> Vec<&'static str> {
    let known = |name: &&str| TARGET_KEYS[..keys].iter().any(|key| key.name == *name);
    TARGETS.into_iter().filter(known).collect()
}

/// What every verb that hits somebody takes; the last two are for those that may hit servers.
pub(crate) static TARGET_KEYS: [Key; 8] = [
    key("count", &count(1, INSTANCES_MAX), "", "So many instances, at random."),
    key("share", &SHARE, "", "This share of the instances, at random, rounded to the nearest whole number."),
    key("all", &Flag, "", "`true`: every instance."),
    key("instances", &INSTANCE_NAMES, "", "These: `[\"orders-3\"]`."),
    key("application", &Text { longer: "" }, "of all applications", "Only of this application."),
    key("zone", &Text { longer: "" }, "of all zones", "Only in this zone."),
    key("server", &Flag, "", "`true`: every server, for the verbs that may hit servers."),
    key(
        "servers",
        &Servers,
        "",
        "These, as in `[\"server-2\"]`, or so many, at random, or `\"all\"`; for the verbs that may hit servers.",
    ),
];

static EXPECT_KEYS: [Key; 2] = [
    key("that", &Text { longer: "" }, "", "What must hold in a replicate."),
    key("in", &ShareOfReplicates, "all", "In which share of the replicates: `\"all\"`, or above 0 to 1."),
];
section!(
    /// `[[expect]]`
    EXPECT,
    "expect",
    EXPECT_KEYS.iter().collect(),
    required: &["that"],
);
