//! The format as data: the verbs of a fault, one place for each: its keys, which of them must be there, and an
//! example for whoever left one out. See [`super::format`].

use super::format::{INSTANCES_MAX, Key, Section, Shape, count, key, length, positive_length, section};
use super::format_fault::TARGET_KEYS;
use super::properties;

/// A verb as a file writes it.
#[derive(Debug)]
pub(super) struct VerbForm {
    /// Its key in `[[fault]]`.
    pub(super) key: Key,
    /// Keys besides the targets that must be there.
    pub(super) required: &'static [&'static str],
    /// Keys of which at least one must be there; empty: none need.
    pub(super) some_of: &'static [&'static str],
    /// How it is written.
    pub(super) example: &'static str,
}

impl VerbForm {
    /// Its keys.
    pub(super) fn section(&self) -> &'static Section {
        match self.key.shape {
            Shape::Table(section) => section,
            _ => unreachable!("every verb is a table"),
        }
    }
}

const fn verb(
    name: &'static str,
    section: &'static Section,
    doc: &'static str,
    required: &'static [&'static str],
    example: &'static str,
) -> VerbForm {
    VerbForm { key: key(name, Shape::Table(section), "", doc), required, some_of: &[], example }
}

/// The keys of a fault that say what is done. Exactly one must be there.
pub(super) static VERBS: [VerbForm; 20] = [
    verb("crash", &CRASH, "`kill -9`: nothing is sent.", &[], "crash = { count = 1 }"),
    verb("stop", &STOP, "An orderly stop: de-registration.", &[], "stop = { count = 1 }"),
    verb("restart", &RESTART, "Killed or stopped, then started again.", &[], "restart = { count = 1 }"),
    verb(
        "crash-loop",
        &CRASH_LOOP,
        "Killed and started again and again.",
        &["up-for"],
        "crash-loop = { count = 1, up-for = \"20s\" }",
    ),
    verb(
        "pause",
        &PAUSE,
        "The process stands still; its kernel does not.",
        &["for"],
        "pause = { count = 1, for = \"40s\" }",
    ),
    verb(
        "pauses",
        &PAUSES,
        "Pauses as a random process of each target: garbage collection.",
        &["every", "lasting"],
        "pauses = { all = true, every = { exponential = \"5m\" }, lasting = \"2s\" }",
    ),
    verb(
        "partition",
        &PARTITION,
        "Messages between the targets and their peer are lost.",
        &[],
        "partition = { share = 0.3, for = \"5m\" }",
    ),
    verb(
        "flap",
        &FLAP,
        "A link that goes down and comes up again and again, each target's on its own.",
        &["up-for", "down-for"],
        "flap = { count = 1, up-for = \"1m\", down-for = \"10s\" }",
    ),
    VerbForm {
        some_of: &["loss", "latency"],
        ..verb(
            "degrade",
            &DEGRADE,
            "A bad link: some messages are lost, or all take longer.",
            &[],
            "degrade = { all = true, loss = 0.05 }",
        )
    },
    verb(
        "slow-heartbeats",
        &SLOW_HEARTBEATS,
        "Heartbeats leave late, as when a pool of threads starves; everything else goes on.",
        &["delay"],
        "slow-heartbeats = { count = 1, delay = \"20s\" }",
    ),
    VerbForm {
        some_of: &["step", "drift-ppm"],
        ..verb(
            "clock",
            &CLOCK_VERB,
            "A wall clock is wrong.",
            &[],
            "clock = { server = true, step = \"60s\" }",
        )
    },
    verb(
        "unhealthy",
        &UNHEALTHY,
        "The instance's health goes DOWN, and UP again at the end.",
        &[],
        "unhealthy = { count = 1, for = \"5m\" }",
    ),
    verb("grey", &GREY, "Grey failure: heartbeats go on, calls fail.", &[], "grey = { count = 1 }"),
    verb(
        "change",
        &CHANGE,
        "A setting of the server is changed while it runs.",
        &[],
        "change = { eureka.server.enable-self-preservation = false }",
    ),
    verb(
        "override",
        &OVERRIDE,
        "An operator sets a status override, and deletes it at the end.",
        &[],
        "override = { count = 1, status = \"OUT_OF_SERVICE\" }",
    ),
    verb("delete", &DELETE, "An operator deletes leases.", &[], "delete = { count = 1 }"),
    verb(
        "start",
        &START_VERB,
        "New instances of an application start.",
        &["application"],
        "start = { application = \"orders\", count = 1 }",
    ),
    VerbForm {
        some_of: &["batch", "batch-share"],
        ..verb(
            "roll-out",
            &ROLL_OUT,
            "All running instances of an application are replaced, batch by batch.",
            &["application"],
            "roll-out = { application = \"orders\", batch = 5 }",
        )
    },
    verb(
        "blue-green",
        &BLUE_GREEN,
        "As many instances of one application start as run of another, which then stops.",
        &["from", "to"],
        "blue-green = { from = \"blue\", to = \"green\" }",
    ),
    verb(
        "reclaim",
        &RECLAIM,
        "The cloud takes spot instances back: notice is given, and at its end whoever still runs is killed.",
        &[],
        "reclaim = { share = 0.2, notice = \"2m\" }",
    ),
];

/// A length that is drawn, and not always zero.
const DRAWN: Shape = Shape::Distribution { zero: false };
const FOR: Key = key("for", positive_length(&[]), "until the end", "For how long.");
const NEW_ID: Key = key("new-id", Shape::Flag, "false", "Whether it comes back under a new instance id.");
const LINGER: Key = key(
    "linger",
    length(),
    "0s",
    "How long a stopping process goes on to answer calls after it has de-registered.",
);
const PEER: Key = key("peer", Shape::Peer, "server", "The other end of the link.");
/// The words of [`super::targets::Direction`]; the last two say the same of a peer that is not the server.
pub(super) const DIRECTIONS: &[&str] = &["both", "to-server", "from-server", "to-peer", "from-peer"];
/// Statuses that an operator may set.
const OVERRIDES: &[&str] = &["OUT_OF_SERVICE", "DOWN", "STARTING", "UP"];

const fn lost(name: &'static str) -> Key {
    key(
        name,
        Shape::Choice(DIRECTIONS),
        "both",
        "Which way, seen from the targets; `to-peer` and `from-peer` are the same for peers that are not the server.",
    )
}

/// `drift-ppm` of a clock.
pub(super) const DRIFT: Key = key(
    "drift-ppm",
    Shape::Signed { min: -DRIFT_PPM_MAX, max: DRIFT_PPM_MAX, unit: "parts per million" },
    "0",
    "How much faster it runs (slower if negative), parts per million.",
);
/// A tenth of the time: far more than a quartz that is broken.
const DRIFT_PPM_MAX: i64 = 100_000;

section!(
    /// `crash = { … }`
    CRASH,
    "crash",
    TARGET_KEYS.iter().collect()
);
static STOP_KEYS: [Key; 2] =
    [LINGER, key("over", length(), "0s", "Each target stops at a uniform moment within this.")];
section!(
    /// `stop = { … }`
    STOP,
    "stop",
    TARGET_KEYS[..6].iter().chain(&STOP_KEYS).collect()
);
static RESTART_KEYS: [Key; 3] = [
    key("down-for", length(), "10s", "How long it is away."),
    NEW_ID,
    key("graceful", Shape::Flag, "false", "Whether it stops in order first."),
];
section!(
    /// `restart = { … }`
    RESTART,
    "restart",
    TARGET_KEYS.iter().chain(&RESTART_KEYS).collect()
);
static CRASH_LOOP_KEYS: [Key; 4] = [
    key("up-for", DRAWN, "", "How long it stays up each time; the first crash comes at once."),
    key("down-for", DRAWN, "10s", "How long it is away each time."),
    NEW_ID,
    key("for", positive_length(&[]), "until the end", "For how long; it is up at the end."),
];
section!(
    /// `crash-loop = { … }`
    CRASH_LOOP,
    "crash-loop",
    TARGET_KEYS[..6].iter().chain(&CRASH_LOOP_KEYS).collect()
);
static PAUSE_KEYS: [Key; 1] = [key("for", DRAWN, "", "For how long: a draw for each target.")];
section!(
    /// `pause = { … }`
    PAUSE,
    "pause",
    TARGET_KEYS.iter().chain(&PAUSE_KEYS).collect()
);
static PAUSES_KEYS: [Key; 3] = [
    key("every", DRAWN, "", "From the end of one pause to the next."),
    key("lasting", DRAWN, "", "How long each lasts."),
    key("for", positive_length(&[]), "until the end", "For how long pauses begin."),
];
section!(
    /// `pauses = { … }`
    PAUSES,
    "pauses",
    TARGET_KEYS.iter().chain(&PAUSES_KEYS).collect()
);
static PARTITION_KEYS: [Key; 3] = [PEER, FOR, lost("lost")];
section!(
    /// `partition = { … }`
    PARTITION,
    "partition",
    TARGET_KEYS[..6].iter().chain(&PARTITION_KEYS).collect()
);
static FLAP_KEYS: [Key; 5] = [
    PEER,
    key("up-for", DRAWN, "", "How long the link is up each time; it goes down at once."),
    key("down-for", DRAWN, "", "How long it is down each time."),
    key("for", positive_length(&[]), "until the end", "For how long; the link is up at the end."),
    lost("lost"),
];
section!(
    /// `flap = { … }`
    FLAP,
    "flap",
    TARGET_KEYS[..6].iter().chain(&FLAP_KEYS).collect()
);
static DEGRADE_KEYS: [Key; 5] = [
    PEER,
    key("loss", Shape::Share, "0", "The probability that a message is lost, besides the network's own."),
    key("latency", DRAWN, "none", "What is added to the network's latency."),
    FOR,
    lost("direction"),
];
section!(
    /// `degrade = { … }`
    DEGRADE,
    "degrade",
    TARGET_KEYS[..6].iter().chain(&DEGRADE_KEYS).collect()
);
static SLOW_HEARTBEATS_KEYS: [Key; 2] = [key("delay", DRAWN, "", "How much later each leaves."), FOR];
section!(
    /// `slow-heartbeats = { … }`
    SLOW_HEARTBEATS,
    "slow-heartbeats",
    TARGET_KEYS[..6].iter().chain(&SLOW_HEARTBEATS_KEYS).collect()
);
static CLOCK_VERB_KEYS: [Key; 3] = [
    key("step", Shape::Shift, "0s", "Set forward by so much (back if negative)."),
    DRIFT,
    key("for", positive_length(&[]), "until the end", "After which step and drift are taken back."),
];
section!(
    /// `clock = { … }`
    CLOCK_VERB,
    "clock",
    TARGET_KEYS.iter().chain(&CLOCK_VERB_KEYS).collect()
);
static UNHEALTHY_KEYS: [Key; 3] = [
    key(
        "via",
        Shape::Choice(&["health-check", "status-change"]),
        "health-check",
        "How the client learns of it: by its health-check handler, if `eureka.client.healthcheck.enabled`, or because the application sets the status itself.",
    ),
    key("calls-fail", Shape::Share, "0", "The share of calls to it that fail meanwhile."),
    FOR,
];
section!(
    /// `unhealthy = { … }`
    UNHEALTHY,
    "unhealthy",
    TARGET_KEYS[..6].iter().chain(&UNHEALTHY_KEYS).collect()
);
static GREY_KEYS: [Key; 2] =
    [key("calls-fail", Shape::PositiveShare, "1", "The share of calls to it that fail."), FOR];
section!(
    /// `grey = { … }`
    GREY,
    "grey",
    TARGET_KEYS[..6].iter().chain(&GREY_KEYS).collect()
);
static OVERRIDE_KEYS: [Key; 2] = [
    key("status", Shape::Choice(OVERRIDES), "OUT_OF_SERVICE", "Which status."),
    key("for", positive_length(&[]), "until the end", "After which the override is deleted."),
];
section!(
    /// `override = { … }`
    OVERRIDE,
    "override",
    TARGET_KEYS[..6].iter().chain(&OVERRIDE_KEYS).collect()
);
static DELETE_KEYS: [Key; 1] = [key(
    "dead",
    Shape::Flag,
    "false",
    "Whether the targets are drawn among the dead that are still registered, and not among the living.",
)];
section!(
    /// `delete = { … }`
    DELETE,
    "delete",
    TARGET_KEYS[..6].iter().chain(&DELETE_KEYS).collect()
);
static RECLAIM_KEYS: [Key; 2] = [
    key("notice", length(), "2m", "From the notice to the kill."),
    key("heeded", Shape::Share, "0", "The share of the targets that stop in order at the notice."),
];
section!(
    /// `reclaim = { … }`
    RECLAIM,
    "reclaim",
    TARGET_KEYS[..6].iter().chain(&RECLAIM_KEYS).collect()
);
static START_VERB_KEYS: [Key; 3] = [
    key("application", Shape::Text, "", "Of which application."),
    key("count", count(1, INSTANCES_MAX), "1", "How many."),
    key("over", length(), "0s", "Each starts at a uniform moment within this."),
];
section!(
    /// `start = { … }`
    START_VERB,
    "start",
    START_VERB_KEYS.iter().collect()
);
static ROLL_OUT_KEYS: [Key; 9] = [
    key("application", Shape::Text, "", "Which application."),
    key("batch", count(1, INSTANCES_MAX), "", "So many at a time."),
    key(
        "batch-share",
        Shape::PositiveShare,
        "",
        "This share of those that run when it begins at a time, at least one.",
    ),
    key(
        "wait",
        length(),
        "30s",
        "From the start of a batch's replacements until the next batch or, with `start-first`, until the stop of those replaced.",
    ),
    key(
        "down-for",
        length(),
        "10s; 0s with `start-first`",
        "From the stop of a batch to the start of its replacements.",
    ),
    key("graceful", Shape::Flag, "true", "Whether the old ones stop in order, or are killed."),
    LINGER,
    key(
        "new-id",
        Shape::Flag,
        "true",
        "Whether replacements have new instance ids; always with `start-first`.",
    ),
    key("order", Shape::Choice(&["stop-first", "start-first"]), "stop-first", "What comes first."),
];
section!(
    /// `roll-out = { … }`
    ROLL_OUT,
    "roll-out",
    ROLL_OUT_KEYS.iter().collect()
);
static BLUE_GREEN_KEYS: [Key; 5] = [
    key("from", Shape::Text, "", "Which application stops."),
    key("to", Shape::Text, "", "Which application starts: as many as run of the other."),
    key("wait", length(), "1m", "From the start of the new to the stop of the old."),
    key("graceful", Shape::Flag, "true", "Whether the old ones stop in order, or are killed."),
    LINGER,
];
section!(
    /// `blue-green = { … }`
    BLUE_GREEN,
    "blue-green",
    BLUE_GREEN_KEYS.iter().collect()
);

/// The settings that [`super::targets::Change`] names: those that the original reads anew each time.
pub(super) const CHANGES: [&str; 5] = [
    "enable-self-preservation",
    "renewal-percent-threshold",
    "expected-client-renewal-interval-seconds",
    "disable-delta",
    "sync-when-timestamp-differs",
];
static CHANGE_KEYS: [Key; 1] = [key("eureka", Shape::Table(&CHANGE_EUREKA), "", "Under Eureka's own names.")];
static CHANGE_EUREKA_KEYS: [Key; 1] = [key("server", Shape::Table(&CHANGE_SERVER), "", "`eureka.server.…`")];
section!(
    /// `change = { … }`
    CHANGE,
    "change",
    CHANGE_KEYS.iter().collect()
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
    properties::SERVER.iter().map(|property| &property.key).filter(|key| CHANGES.contains(&key.name)).collect()
);
