//! The verbs of a fault, one entry for each. What each takes is in [`crate::scenario::fault::keys`].

use crate::scenario::fault::keys::{
    BLUE_GREEN, CHANGE, CLOCK_VERB, CRASH, CRASH_LOOP, DEGRADE, DELETE, FLAP, FULL_DISK, GREY, OVERRIDE,
    PARTITION, PAUSE, PAUSES, RECLAIM, RESTART, ROLL_OUT, SLOW_HEARTBEATS, START_VERB, STOP, UNHEALTHY,
};
use crate::scenario::format::forms::Table;
use crate::scenario::format::{Key, Section, key};

/// A verb as a file writes it.
pub(crate) struct VerbForm {
    /// Its key in `[[fault]]`.
    pub(crate) key: Key,
    /// Its keys, which of them must be there, and how it is written.
    pub(crate) section: &'static Section,
}

macro_rules! verbs {
    ($count:literal: $($section:ident $name:literal $doc:literal)*) => {
        /// The keys of a fault that say what is done. Exactly one must be there.
        pub(crate) static VERBS: [VerbForm; $count] =
            [$(VerbForm { key: key($name, &Table(&$section), "", $doc), section: &$section }),*];
    };
}

verbs! {
    21:
    CRASH "crash" "`kill -9`: nothing is sent."
    STOP "stop" "An orderly stop: de-registration."
    RESTART "restart" "Killed or stopped, then started again."
    CRASH_LOOP "crash-loop" "Killed and started again and again."
    PAUSE "pause" "The process stands still; its kernel does not."
    PAUSES "pauses" "Pauses as a random process of each target: garbage collection."
    PARTITION "partition" "Messages between the targets and their peer are lost."
    FLAP "flap" "A link that goes down and comes up again and again, each target's on its own."
    DEGRADE "degrade" "A bad link: some messages are lost, or all take longer."
    SLOW_HEARTBEATS "slow-heartbeats" "Heartbeats leave late, as when a pool of threads starves; everything else goes on."
    CLOCK_VERB "clock" "A wall clock is wrong."
    UNHEALTHY "unhealthy" "The instance's health goes DOWN, and UP again at the end."
    GREY "grey" "Grey failure: heartbeats go on, calls fail."
    FULL_DISK "full-disk" "The disk is full: consumers of a two-stage registry cannot write their snapshots."
    CHANGE "change" "A setting of all servers is changed while they run."
    OVERRIDE "override" "An operator sets a status override, and deletes it at the end."
    DELETE "delete" "An operator deletes leases."
    START_VERB "start" "New instances of an application start."
    ROLL_OUT "roll-out" "All running instances of an application are replaced, batch by batch."
    BLUE_GREEN "blue-green" "As many instances of one application start as run of another, which then stops."
    RECLAIM "reclaim" "The cloud takes spot instances back: notice is given, and at its end whoever still runs is killed."
}
