//! The format as data: what each verb of a fault takes. See [`crate::scenario::fault::verbs`].

use crate::scenario::eureka::properties;
use crate::scenario::fault::format::{TARGET_KEYS, targets};
use crate::scenario::format::forms::{
    Drawn, Flag, OneOf, Peer, SHARE, Share, Shift, Table, Text, count, length, positive_length,
};
use crate::scenario::format::{self, INSTANCES_MAX, Key, key, section};
use crate::scenario::sections::network::DRIFT;

/// A length that is drawn, and not always zero.
const DRAWN: Drawn = Drawn { zero: false };
const FOR: Key = key("for", &positive_length(), "until the end", "For how long.");
const NEW_ID: Key = key("new-id", &Flag, "false", "Whether it comes back under a new instance id.");
const LINGER: Key = key(
    "linger",
    &length(),
    "0s",
    "How long a stopping process goes on to answer calls after it has de-registered.",
);
const PEER: Key = key(
    "peer",
    &Peer,
    "servers",
    "The other end of the link; of targets that are servers, as far as it is not among them.",
);
const AT: Key = key("at", &Text { longer: "" }, "server-1", "The server that the operator calls.");
/// The words of [`crate::scenario::types::targets::Direction`]; the last two say the same of a peer that is no server.
pub(crate) const DIRECTIONS: &[&str] = &["both", "to-server", "from-server", "to-peer", "from-peer"];
/// Statuses that an operator may set.
const OVERRIDES: &[&str] = &["OUT_OF_SERVICE", "DOWN", "STARTING", "UP"];

const fn lost(name: &'static str) -> Key {
    key(
        name,
        &OneOf(DIRECTIONS),
        "both",
        "Which way, seen from the targets; `to-peer` and `from-peer` are the same for peers that are no servers.",
    )
}

section!(
    /// `crash = { … }`
    CRASH,
    "crash",
    TARGET_KEYS.iter().collect(),
    one_of: || targets(8),
    example: "crash = { count = 1 }",
);
static STOP_KEYS: [Key; 2] =
    [LINGER, key("over", &length(), "0s", "Each target stops at a uniform moment within this.")];
section!(
    /// `stop = { … }`
    STOP,
    "stop",
    TARGET_KEYS[..6].iter().chain(&STOP_KEYS).collect(),
    one_of: || targets(6),
    example: "stop = { count = 1 }",
);
static RESTART_KEYS: [Key; 4] = [
    key("down-for", &length(), "10s", "How long it is away."),
    NEW_ID,
    key("graceful", &Flag, "false", "Whether it stops in order first."),
    key(
        "one-by-one",
        &length(),
        "all at once",
        "Servers only: one after the other, and so long from the moment at which one is back to the crash of the next.",
    ),
];
section!(
    /// `restart = { … }`
    RESTART,
    "restart",
    TARGET_KEYS.iter().chain(&RESTART_KEYS).collect(),
    one_of: || targets(8),
    example: "restart = { count = 1 }",
);
static CRASH_LOOP_KEYS: [Key; 4] = [
    key("up-for", &DRAWN, "", "How long it stays up each time; the first crash comes at once."),
    key("down-for", &DRAWN, "10s", "How long it is away each time."),
    NEW_ID,
    key("for", &positive_length(), "until the end", "For how long; it is up at the end."),
];
section!(
    /// `crash-loop = { … }`
    CRASH_LOOP,
    "crash-loop",
    TARGET_KEYS[..6].iter().chain(&CRASH_LOOP_KEYS).collect(),
    required: &["up-for"],
    one_of: || targets(6),
    example: "crash-loop = { count = 1, up-for = \"20s\" }",
);
static PAUSE_KEYS: [Key; 1] = [key("for", &DRAWN, "", "For how long: a draw for each target.")];
section!(
    /// `pause = { … }`
    PAUSE,
    "pause",
    TARGET_KEYS.iter().chain(&PAUSE_KEYS).collect(),
    required: &["for"],
    one_of: || targets(8),
    example: "pause = { count = 1, for = \"40s\" }",
);
static PAUSES_KEYS: [Key; 3] = [
    key("every", &DRAWN, "", "From the end of one pause to the next."),
    key("lasting", &DRAWN, "", "How long each lasts."),
    key("for", &positive_length(), "until the end", "For how long pauses begin."),
];
section!(
    /// `pauses = { … }`
    PAUSES,
    "pauses",
    TARGET_KEYS.iter().chain(&PAUSES_KEYS).collect(),
    required: &["every", "lasting"],
    one_of: || targets(8),
    example: "pauses = { all = true, every = { exponential = \"5m\" }, lasting = \"2s\" }",
);
static PARTITION_KEYS: [Key; 3] = [PEER, FOR, lost("lost")];
section!(
    /// `partition = { … }`
    PARTITION,
    "partition",
    TARGET_KEYS.iter().chain(&PARTITION_KEYS).collect(),
    one_of: || targets(8),
    example: "partition = { share = 0.3, for = \"5m\" }",
);
static FLAP_KEYS: [Key; 5] = [
    PEER,
    key("up-for", &DRAWN, "", "How long the link is up each time; it goes down at once."),
    key("down-for", &DRAWN, "", "How long it is down each time."),
    key("for", &positive_length(), "until the end", "For how long; the link is up at the end."),
    lost("lost"),
];
section!(
    /// `flap = { … }`
    FLAP,
    "flap",
    TARGET_KEYS.iter().chain(&FLAP_KEYS).collect(),
    required: &["up-for", "down-for"],
    one_of: || targets(8),
    example: "flap = { count = 1, up-for = \"1m\", down-for = \"10s\" }",
);
static DEGRADE_KEYS: [Key; 5] = [
    PEER,
    key("loss", &SHARE, "0", "The probability that a message is lost, besides the network's own."),
    key("latency", &DRAWN, "none", "What is added to the network's latency."),
    FOR,
    lost("direction"),
];
section!(
    /// `degrade = { … }`
    DEGRADE,
    "degrade",
    TARGET_KEYS.iter().chain(&DEGRADE_KEYS).collect(),
    some_of: &["loss", "latency"],
    one_of: || targets(8),
    example: "degrade = { all = true, loss = 0.05 }",
);
static SLOW_HEARTBEATS_KEYS: [Key; 2] = [key("delay", &DRAWN, "", "How much later each leaves."), FOR];
section!(
    /// `slow-heartbeats = { … }`
    SLOW_HEARTBEATS,
    "slow-heartbeats",
    TARGET_KEYS[..6].iter().chain(&SLOW_HEARTBEATS_KEYS).collect(),
    required: &["delay"],
    one_of: || targets(6),
    example: "slow-heartbeats = { count = 1, delay = \"20s\" }",
);
static CLOCK_VERB_KEYS: [Key; 3] = [
    key("step", &Shift, "0s", "Set forward by so much (back if negative)."),
    key("drift-ppm", &DRIFT, "0", "How much faster it runs (slower if negative), parts per million."),
    key("for", &positive_length(), "until the end", "After which step and drift are taken back."),
];
section!(
    /// `clock = { … }`
    CLOCK_VERB,
    "clock",
    TARGET_KEYS.iter().chain(&CLOCK_VERB_KEYS).collect(),
    some_of: &["step", "drift-ppm"],
    one_of: || targets(8),
    example: "clock = { server = true, step = \"60s\" }",
);
static UNHEALTHY_KEYS: [Key; 3] = [
    key(
        "via",
        &OneOf(&["health-check", "status-change"]),
        "health-check",
        "How the client learns of it: by its health-check handler, if `eureka.client.healthcheck.enabled`, or because the application sets the status itself.",
    ),
    key("calls-fail", &SHARE, "0", "The share of calls to it that fail meanwhile."),
    FOR,
];
section!(
    /// `unhealthy = { … }`
    UNHEALTHY,
    "unhealthy",
    TARGET_KEYS[..6].iter().chain(&UNHEALTHY_KEYS).collect(),
    one_of: || targets(6),
    example: "unhealthy = { count = 1, for = \"5m\" }",
);
static GREY_KEYS: [Key; 2] =
    [key("calls-fail", &Share { zero: false }, "1", "The share of calls to it that fail."), FOR];
section!(
    /// `grey = { … }`
    GREY,
    "grey",
    TARGET_KEYS[..6].iter().chain(&GREY_KEYS).collect(),
    one_of: || targets(6),
    example: "grey = { count = 1 }",
);
static FULL_DISK_KEYS: [Key; 1] = [FOR];
section!(
    /// `full-disk = { … }`
    FULL_DISK,
    "full-disk",
    TARGET_KEYS[..6].iter().chain(&FULL_DISK_KEYS).collect(),
    one_of: || targets(6),
    example: "full-disk = { share = 0.5, for = \"10m\" }",
);
static OVERRIDE_KEYS: [Key; 3] = [
    AT,
    key("status", &OneOf(OVERRIDES), "OUT_OF_SERVICE", "Which status."),
    key("for", &positive_length(), "until the end", "After which the override is deleted."),
];
section!(
    /// `override = { … }`
    OVERRIDE,
    "override",
    TARGET_KEYS[..6].iter().chain(&OVERRIDE_KEYS).collect(),
    one_of: || targets(6),
    example: "override = { count = 1, status = \"OUT_OF_SERVICE\" }",
);
static DELETE_KEYS: [Key; 2] = [
    AT,
    key(
        "dead",
        &Flag,
        "false",
        "Whether the targets are drawn among the dead that are still registered, and not among the living.",
    ),
];
section!(
    /// `delete = { … }`
    DELETE,
    "delete",
    TARGET_KEYS[..6].iter().chain(&DELETE_KEYS).collect(),
    one_of: || targets(6),
    example: "delete = { count = 1 }",
);
static RECLAIM_KEYS: [Key; 2] = [
    key("notice", &length(), "2m", "From the notice to the kill."),
    key("heeded", &SHARE, "0", "The share of the targets that stop in order at the notice."),
];
section!(
    /// `reclaim = { … }`
    RECLAIM,
    "reclaim",
    TARGET_KEYS[..6].iter().chain(&RECLAIM_KEYS).collect(),
    one_of: || targets(6),
    example: "reclaim = { share = 0.2, notice = \"2m\" }",
);
static START_VERB_KEYS: [Key; 3] = [
    key("application", &Text { longer: "" }, "", "Of which application."),
    key("count", &count(1, INSTANCES_MAX), "1", "How many."),
    key("over", &length(), "0s", "Each starts at a uniform moment within this."),
];
section!(
    /// `start = { … }`
    START_VERB,
    "start",
    START_VERB_KEYS.iter().collect(),
    required: &["application"],
    example: "start = { application = \"orders\", count = 1 }",
);
static ROLL_OUT_KEYS: [Key; 9] = [
    key("application", &Text { longer: "" }, "", "Which application."),
    key("batch", &count(1, INSTANCES_MAX), "", "So many at a time."),
    key(
        "batch-share",
        &Share { zero: false },
        "",
        "This share of those that run when it begins at a time, at least one.",
    ),
    key(
        "wait",
        &length(),
        "30s",
        "From the start of a batch's replacements until the next batch or, with `start-first`, until the stop of those replaced.",
    ),
    key(
        "down-for",
        &length(),
        "10s; 0s with `start-first`",
        "From the stop of a batch to the start of its replacements.",
    ),
    key("graceful", &Flag, "true", "Whether the old ones stop in order, or are killed."),
    LINGER,
    key("new-id", &Flag, "true", "Whether replacements have new instance ids; always with `start-first`."),
    key("order", &OneOf(&["stop-first", "start-first"]), "stop-first", "What comes first."),
];
section!(
    /// `roll-out = { … }`
    ROLL_OUT,
    "roll-out",
    ROLL_OUT_KEYS.iter().collect(),
    required: &["application"],
    some_of: &["batch", "batch-share"],
    example: "roll-out = { application = \"orders\", batch = 5 }",
);
static BLUE_GREEN_KEYS: [Key; 5] = [
    key("from", &Text { longer: "" }, "", "Which application stops."),
    key("to", &Text { longer: "" }, "", "Which application starts: as many as run of the other."),
    key("wait", &length(), "1m", "From the start of the new to the stop of the old."),
    key("graceful", &Flag, "true", "Whether the old ones stop in order, or are killed."),
    LINGER,
];
section!(
    /// `blue-green = { … }`
    BLUE_GREEN,
    "blue-green",
    BLUE_GREEN_KEYS.iter().collect(),
    required: &["from", "to"],
    example: "blue-green = { from = \"blue\", to = \"green\" }",
);

/// The settings that [`crate::scenario::types::targets::Change`] names: those that the original reads anew each time.
pub(crate) const CHANGES: [&str; 5] = [
    "enable-self-preservation",
    "renewal-percent-threshold",
    "expected-client-renewal-interval-seconds",
    "disable-delta",
    "sync-when-timestamp-differs",
];
static CHANGE_KEYS: [Key; 1] = [key("eureka", &Table(&CHANGE_EUREKA), "", "Under Eureka's own names.")];
static CHANGE_EUREKA_KEYS: [Key; 1] = [key("server", &Table(&CHANGE_SERVER), "", "`eureka.server.…`")];
section!(
    /// `change = { … }`
    CHANGE,
    "change",
    CHANGE_KEYS.iter().collect(),
    example: "change = { eureka.server.enable-self-preservation = false }",
);
section!(
    /// `change.eureka`
    CHANGE_EUREKA,
    "change.eureka",
    CHANGE_EUREKA_KEYS.iter().collect()
);
section!(
    /// `change.eureka.server`
    CHANGE_SERVER,
    "change.eureka.server",
    format::keys(properties::server::ALL).filter(|key| CHANGES.contains(&key.name)).collect()
);
