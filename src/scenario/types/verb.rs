//! What can be done to a fleet: the verbs of `[[fault]]`.

use crate::engine::{Distribution, SimDuration};
use crate::model::id::{AppId, ServerId};
use crate::model::message::Status;
use crate::scenario::types::targets::{Batch, Change, Direction, HealthVia, Order, Peer, Selection, Targets};

/// The faults, as verbs. What begins also ends: a pause is resumed, a partition healed, after `length`.
/// A length of `None` lasts until the end of the run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// `kill -9`: nothing is sent.
    Crash(Targets),
    /// An orderly stop: de-registration.
    Stop {
        /// Who.
        targets: Selection,
        /// How long the process goes on to answer calls after it has de-registered.
        linger: SimDuration,
        /// Each target stops at a uniform moment within this.
        over: SimDuration,
    },
    /// Killed or stopped, then started again.
    Restart {
        /// Who.
        targets: Targets,
        /// How long it is away.
        down_for: SimDuration,
        /// Whether it comes back under a new instance id.
        new_id: bool,
        /// Whether it stops in order first. Servers are always killed.
        graceful: bool,
        /// One server after another: from the moment at which one is back to the next one's crash; `None`: all at
        /// once. Instances have [`FaultKind::RollOut`] for that.
        one_by_one: Option<SimDuration>,
    },
    /// Killed and started again and again: up, down, up …, until `length` is over; it is up at the end.
    CrashLoop {
        /// Who.
        targets: Selection,
        /// How long each stays up, from its start; the first crash comes at once.
        up_for: Distribution,
        /// How long it is away each time.
        down_for: Distribution,
        /// Whether each start has a new instance id.
        new_id: bool,
        /// For how long.
        length: Option<SimDuration>,
    },
    /// The disk is full: consumers cannot write their snapshots.
    FullDisk {
        /// Whose.
        targets: Selection,
        /// For how long.
        length: Option<SimDuration>,
    },
    /// The process stands still; its kernel does not.
    Pause {
        /// Who.
        targets: Targets,
        /// For how long: a draw for each.
        length: Distribution,
    },
    /// Pauses as a random process of each target: garbage collection.
    Pauses {
        /// Who.
        targets: Targets,
        /// From the end of one pause to the next.
        every: Distribution,
        /// How long each lasts.
        lasting: Distribution,
        /// For how long pauses begin.
        length: Option<SimDuration>,
    },
    /// Messages between the targets and their peer are lost.
    Partition {
        /// Who is cut off.
        targets: Targets,
        /// From whom.
        peer: Peer,
        /// For how long.
        length: Option<SimDuration>,
        /// Which way messages are lost.
        lost: Direction,
    },
    /// A link that goes down and comes up again and again: each target's link on its own.
    Flap {
        /// Who is cut off.
        targets: Targets,
        /// From whom.
        peer: Peer,
        /// How long the link is up; it goes down at once.
        up_for: Distribution,
        /// How long it is down.
        down_for: Distribution,
        /// For how long; it is up at the end.
        length: Option<SimDuration>,
        /// Which way messages are lost.
        lost: Direction,
    },
    /// A bad link: some messages are lost, or all take longer.
    Degrade {
        /// Whose link.
        targets: Targets,
        /// To whom.
        peer: Peer,
        /// The probability that a message is lost, 0 to 1, besides the network's own.
        loss: f64,
        /// What is added to the network's latency.
        latency: Option<Distribution>,
        /// For how long.
        length: Option<SimDuration>,
        /// Which way.
        direction: Direction,
    },
    /// Heartbeats take long: the request leaves so much later than its job began, as when a pool of threads or
    /// connections starves. Everything else goes on.
    SlowHeartbeats {
        /// Whose.
        targets: Selection,
        /// How much later.
        delay: Distribution,
        /// For how long.
        length: Option<SimDuration>,
    },
    /// A wall clock is wrong from now on.
    Clock {
        /// Whose.
        targets: Targets,
        /// Set forward by so much (back if negative), ms.
        step_ms: i64,
        /// Runs faster from now on (slower if negative), parts per million, besides what it did.
        drift_ppm: i32,
        /// After which step and drift are taken back.
        length: Option<SimDuration>,
    },
    /// The instance's health goes DOWN, and UP again at the end.
    Unhealthy {
        /// Whose.
        targets: Selection,
        /// How the client learns of it.
        via: HealthVia,
        /// For how long.
        length: Option<SimDuration>,
        /// The share of calls to it that fail meanwhile, 0 to 1.
        calls_fail: f64,
    },
    /// Grey failure: heartbeats go on, calls fail.
    Grey {
        /// Whose.
        targets: Selection,
        /// The share of calls to it that fail, above 0 to 1.
        calls_fail: f64,
        /// For how long.
        length: Option<SimDuration>,
    },
    /// A setting of all servers is changed while they run: one that the original reads anew each time.
    Change(Vec<Change>),
    /// An operator sets a status override (`PUT …/status`), and deletes it at the end.
    Override {
        /// Of whom.
        targets: Selection,
        /// The server that the operator calls; the others hear of it by replication.
        at: ServerId,
        /// Which.
        status: Status,
        /// After which it is deleted.
        length: Option<SimDuration>,
    },
    /// An operator deletes leases (`DELETE /apps/{app}/{id}`).
    Delete {
        /// Of whom.
        targets: Selection,
        /// The server that the operator calls; the others hear of it by replication.
        at: ServerId,
        /// Whether the targets are drawn among the dead that are still registered, and not among the living.
        dead: bool,
    },
    /// New instances of an application start.
    Start {
        /// Which.
        application: AppId,
        /// How many.
        count: u32,
        /// Each starts at a uniform moment within this.
        over: SimDuration,
    },
    /// A staged roll-out: all running instances of an application are replaced, batch by batch.
    RollOut {
        /// Which.
        application: AppId,
        /// How many at a time. At least 1.
        batch: Batch,
        /// From the start of a batch's replacements until what comes next: the next batch, or with
        /// [`Order::StartFirst`] the stop of those replaced.
        wait: SimDuration,
        /// From the stop of a batch to the start of its replacements; 0 with [`Order::StartFirst`].
        down_for: SimDuration,
        /// Whether the old ones stop in order, or are killed.
        graceful: bool,
        /// How long a stopping process goes on to answer calls after it has de-registered.
        linger: SimDuration,
        /// Whether replacements have new instance ids. Always with [`Order::StartFirst`].
        new_id: bool,
        /// What comes first.
        order: Order,
    },
    /// As many instances of one application start as run of another, which then stops.
    BlueGreen {
        /// Which stops.
        from: AppId,
        /// Which starts.
        to: AppId,
        /// From the start of the new to the stop of the old.
        wait: SimDuration,
        /// Whether the old ones stop in order, or are killed.
        graceful: bool,
        /// How long a stopping process goes on to answer calls after it has de-registered.
        linger: SimDuration,
    },
    /// The cloud takes spot instances back: notice is given, and at its end whoever still runs is killed.
    Reclaim {
        /// Who.
        targets: Selection,
        /// From the notice to the kill.
        notice: SimDuration,
        /// The share of the targets, 0 to 1, that stop in order at the notice.
        heeded: f64,
    },
}
impl FaultKind {
    /// The verb as the scenario writes it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Crash(_) => "crash",
            Self::Stop { .. } => "stop",
            Self::Restart { .. } => "restart",
            Self::CrashLoop { .. } => "crash-loop",
            Self::Pause { .. } => "pause",
            Self::Pauses { .. } => "pauses",
            Self::Partition { .. } => "partition",
            Self::Flap { .. } => "flap",
            Self::Degrade { .. } => "degrade",
            Self::SlowHeartbeats { .. } => "slow-heartbeats",
            Self::Clock { .. } => "clock",
            Self::Unhealthy { .. } => "unhealthy",
            Self::Grey { .. } => "grey",
            Self::FullDisk { .. } => "full-disk",
            Self::Change(_) => "change",
            Self::Override { .. } => "override",
            Self::Delete { .. } => "delete",
            Self::Start { .. } => "start",
            Self::RollOut { .. } => "roll-out",
            Self::BlueGreen { .. } => "blue-green",
            Self::Reclaim { .. } => "reclaim",
        }
    }

    /// Which of the running instances it hits; `None` if it hits servers, or picks them by itself.
    pub const fn selection(&self) -> Option<&Selection> {
        match self {
            Self::Crash(targets)
            | Self::Restart { targets, .. }
            | Self::Pause { targets, .. }
            | Self::Pauses { targets, .. }
            | Self::Partition { targets, .. }
            | Self::Flap { targets, .. }
            | Self::Degrade { targets, .. }
            | Self::Clock { targets, .. } => targets.selection(),
            Self::Stop { targets, .. }
            | Self::CrashLoop { targets, .. }
            | Self::SlowHeartbeats { targets, .. }
            | Self::Unhealthy { targets, .. }
            | Self::Grey { targets, .. }
            | Self::FullDisk { targets, .. }
            | Self::Override { targets, .. }
            | Self::Delete { targets, .. }
            | Self::Reclaim { targets, .. } => Some(targets),
            Self::Change(_) | Self::Start { .. } | Self::RollOut { .. } | Self::BlueGreen { .. } => None,
        }
    }

    /// How long it lasts, if it says so: what it takes before it is undone or ceases.
    pub fn length(&self) -> Option<SimDuration> {
        match self {
            Self::Restart { down_for, .. } => Some(*down_for),
            Self::Pause { length, .. } => length.greatest(),
            Self::CrashLoop { length, .. }
            | Self::Pauses { length, .. }
            | Self::Partition { length, .. }
            | Self::Flap { length, .. }
            | Self::Degrade { length, .. }
            | Self::SlowHeartbeats { length, .. }
            | Self::Clock { length, .. }
            | Self::Unhealthy { length, .. }
            | Self::Grey { length, .. }
            | Self::FullDisk { length, .. }
            | Self::Override { length, .. } => *length,
            _ => None,
        }
    }

    /// Whether servers themselves, their links to each other included, are hit.
    pub const fn hits_server(&self) -> bool {
        match self {
            Self::Crash(targets)
            | Self::Restart { targets, .. }
            | Self::Pause { targets, .. }
            | Self::Pauses { targets, .. }
            | Self::Partition { targets, .. }
            | Self::Flap { targets, .. }
            | Self::Degrade { targets, .. }
            | Self::Clock { targets, .. } => targets.is_server(),
            Self::Change(_) => true,
            _ => false,
        }
    }
}
