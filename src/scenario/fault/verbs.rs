//! The format as data: the verbs of a fault, one entry for each: its keys (in [`crate::scenario::fault::keys`]), which
//! of them must be there, and an example for whoever left one out. See [`crate::scenario::file::format`].

use crate::scenario::fault::keys::{
    BLUE_GREEN, CHANGE, CLOCK_VERB, CRASH, CRASH_LOOP, DEGRADE, DELETE, FLAP, FULL_DISK, GREY, OVERRIDE,
    PARTITION, PAUSE, PAUSES, RECLAIM, RESTART, ROLL_OUT, SLOW_HEARTBEATS, START_VERB, STOP, UNHEALTHY,
};
use crate::scenario::format::{Key, Section, Shape, key};

/// A verb as a file writes it.
#[derive(Debug)]
pub(crate) struct VerbForm {
    /// Its key in `[[fault]]`.
    pub(crate) key: Key,
    /// Keys besides the targets that must be there.
    pub(crate) required: &'static [&'static str],
    /// Keys of which at least one must be there; empty: none need.
    pub(crate) some_of: &'static [&'static str],
    /// How it is written.
    pub(crate) example: &'static str,
}

impl VerbForm {
    /// Its keys.
    pub(crate) fn section(&self) -> &'static Section {
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
pub(crate) static VERBS: [VerbForm; 21] = [
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
        "full-disk",
        &FULL_DISK,
        "The disk is full: consumers of a two-stage registry cannot write their snapshots.",
        &[],
        "full-disk = { share = 0.5, for = \"10m\" }",
    ),
    verb(
        "change",
        &CHANGE,
        "A setting of all servers is changed while they run.",
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
