//! The format as data: faults and expectations. See [`super::format`].

use super::format::{INSTANCES_MAX, Key, Section, Shape, count, key, length, positive_length, section};

static FAULT_KEYS: [Key; 8] = [
    key("at", length(), "0s", "From the end of the warm-up."),
    key("within", length(), "1m", "Plus a uniform draw from this."),
    key("crash", Shape::Table(&CRASH), "", "`kill -9`: nothing is sent."),
    key("stop", Shape::Table(&STOP), "", "An orderly stop: de-registration."),
    key("restart", Shape::Table(&RESTART), "", "Killed or stopped, then started again."),
    key("pause", Shape::Table(&PAUSE), "", "The process stands still; its kernel does not."),
    key("partition", Shape::Table(&PARTITION), "", "Messages between the targets and the server are lost."),
    key("start", Shape::Table(&START_VERB), "", "New instances of an application start."),
];
section!(
    /// `[[fault]]`
    FAULT,
    "fault",
    FAULT_KEYS.iter().collect()
);
/// The keys of a fault that say what is done. Exactly one must be there.
pub(super) const VERBS: [&str; 6] = ["crash", "stop", "restart", "pause", "partition", "start"];
/// The keys of a verb that say to whom. Exactly one must be there.
pub(super) const TARGETS: [&str; 5] = ["count", "share", "all", "instances", "server"];

static TARGET_KEYS: [Key; 6] = [
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
    key("server", Shape::Flag, "", "`true`: the registry server, for crash, restart and pause."),
];
static RESTART_KEYS: [Key; 3] = [
    key("down-for", length(), "10s", "How long it is away."),
    key("new-id", Shape::Flag, "false", "Whether it comes back under a new instance id."),
    key("graceful", Shape::Flag, "false", "Whether it stops in order first."),
];
static PAUSE_KEYS: [Key; 1] = [key("for", positive_length(&[]), "", "For how long.")];
static PARTITION_KEYS: [Key; 2] = [
    key("for", positive_length(&[]), "until the end", "For how long."),
    key("lost", Shape::Choice(&["both", "to-server", "from-server"]), "both", "Which way messages are lost."),
];
static START_VERB_KEYS: [Key; 2] = [
    key("application", Shape::Text, "", "Of which application."),
    key("count", count(1, INSTANCES_MAX), "1", "How many."),
];
section!(
    /// `crash = { … }`
    CRASH,
    "crash",
    TARGET_KEYS.iter().collect()
);
section!(
    /// `stop = { … }`
    STOP,
    "stop",
    TARGET_KEYS[..5].iter().collect()
);
section!(
    /// `restart = { … }`
    RESTART,
    "restart",
    TARGET_KEYS.iter().chain(&RESTART_KEYS).collect()
);
section!(
    /// `pause = { … }`
    PAUSE,
    "pause",
    TARGET_KEYS.iter().chain(&PAUSE_KEYS).collect()
);
section!(
    /// `partition = { … }`
    PARTITION,
    "partition",
    TARGET_KEYS[..5].iter().chain(&PARTITION_KEYS).collect()
);
section!(
    /// `start = { … }`
    START_VERB,
    "start",
    START_VERB_KEYS.iter().collect()
);

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
