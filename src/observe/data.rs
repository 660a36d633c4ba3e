//! What a run leaves behind: plain rows, one doc line and one unit a field. Everything that is printed, drawn
//! or written to a file is made of these.

use crate::engine::{SimDuration, SimTime};
use crate::model::fact::{EvictionRound, Sweep};
use crate::model::id::{AppId, InstanceId, ServerId};
use crate::model::message::RequestKind;
use crate::model::stage::{EventKind, Stage};

/// How watching one event at one stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The stage has shown the change for good, this long after the event: T_D.
    Detected(SimDuration),
    /// The run ended first, this long after the event; T_D is longer.
    Censored(SimDuration),
    /// The instance came back under the same id before its end was noticed, this long after the event.
    Superseded(SimDuration),
}

impl Outcome {
    /// The outcome's one name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Detected(_) => "detected",
            Self::Censored(_) => "censored",
            Self::Superseded(_) => "superseded",
        }
    }

    /// T_D if detected; otherwise how long it was watched.
    pub const fn length(self) -> SimDuration {
        match self {
            Self::Detected(length) | Self::Censored(length) | Self::Superseded(length) => length,
        }
    }
}

/// Observations of events at one stage that are equal to the nanosecond: of instances to which the same happened
/// at the same moment and which were seen alike, by observers who saw just this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// What happened.
    pub event: EventKind,
    /// To whom: a key of [`ReplicateData::instances`](super::ReplicateData::instances); the first of them, if it happened to many.
    pub instance: InstanceId,
    /// How many instances the row stands for. At least 1.
    pub instances: u32,
    /// When.
    pub at: SimTime,
    /// Where it was watched.
    pub stage: Stage,
    /// At which server, for its own stages; of an observer's stages, the server whose answer it had when it
    /// noticed, or that answered it last. `None`: none has answered yet. A lone server is always named.
    pub server: Option<ServerId>,
    /// How that ended.
    pub outcome: Outcome,
    /// How many observations the row stands for: pairs of an instance and an observer who saw just this, or at a
    /// server's stages instances.
    pub count: u64,
}

/// How it came that an instance that is alive and well is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Removal {
    /// The server evicted it: at the stage `registry` what is called a false removal. A two-stage registry may remove
    /// its entry later on, which is another mistake at the stage `entry`.
    Evicted,
    /// Its server ended, and its lease with it. At a server's stages only.
    LostWithServer,
    /// The stage was told so by the one before it; what had happened there is another row.
    NotShown,
}

impl Removal {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Evicted, Self::LostWithServer, Self::NotShown];

    /// Its one name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Evicted => "evicted",
            Self::LostWithServer => "lost-with-server",
            Self::NotShown => "not-shown",
        }
    }
}

/// Instances that are alive and well ceased to be shown: a mistake in the sense of Chen, Toueg and Aguilera.
/// Mistakes that are equal to the nanosecond are one row.
///
/// An instance is well from its registration as UP until its process ends, is asked to stop, goes DOWN or is taken
/// out of service; one that stands still is well. Not to show it yet is no mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Who is not shown: a key of [`ReplicateData::instances`](super::ReplicateData::instances); the first of them, if it were many.
    pub instance: InstanceId,
    /// How many instances the row stands for. At least 1.
    pub instances: u32,
    /// Where.
    pub stage: Stage,
    /// Which server, for its own stages; of an observer's stages, the server whose answer hid the instance.
    pub server: Option<ServerId>,
    /// When.
    pub at: SimTime,
    /// How long it lasted (T_M): until it was shown again, the instance was not well any more, or the observer or
    /// the run ended.
    pub lasted: SimDuration,
    /// How it came.
    pub removal: Removal,
    /// Whether it was corrected: shown again before anything else ended it.
    pub corrected: bool,
    /// How many mistakes the row stands for: pairs of an instance and an observer, or at a server's stages
    /// instances.
    pub count: u64,
}

/// How well one observer, or one server, told who is alive: what T_MR, T_M, λ_M and P_A are made of.
///
/// Observers that made no mistake are one row, and so are those beyond the thousand that were wrong for the largest
/// share of their time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quality {
    /// Where. Observers have the stages `client` and `balancer`, servers the others. A stage that the registry lacks has
    /// no row.
    pub stage: Stage,
    /// Which server, for its own stages; `None` for observers, who may talk to several.
    pub server: Option<ServerId>,
    /// Who: the observer's identity at the end, a key of [`ReplicateData::instances`](super::ReplicateData::instances); `None` for a server, and
    /// for a row of many observers.
    pub observer: Option<InstanceId>,
    /// How many observers the row stands for; 1 for a server.
    pub observers: u32,
    /// Time under observation, ns: over all instances that the observer looks at, but itself, the time during which they
    /// were alive and well, and registered, and the observer was up. Servers are looked at all the time.
    pub good_nanos: u128,
    /// Of that, ns during which they were not shown by mistake. What had not been shown yet is not in it.
    pub mistaken_nanos: u128,
    /// Mistakes that began.
    pub mistakes: u64,
    /// Of these, corrected ones.
    pub corrected: u64,
}

/// What became of a call through a balancer, or of one attempt of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum CallOutcome {
    /// Answered.
    Answered = 0,
    /// The instance's process was dead.
    Dead = 1,
    /// The instance stood still for longer than the caller waits.
    Paused = 2,
    /// The instance was cut off from the caller, or the message was lost.
    CutOff = 3,
    /// The instance was there and failed the call: grey failure, or unhealthy.
    Refused = 4,
    /// The balancer's list was empty.
    NoInstance = 5,
}

impl CallOutcome {
    /// How many there are.
    pub const COUNT: usize = 6;
    /// All fates, in order.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Answered, Self::Dead, Self::Paused, Self::CutOff, Self::Refused, Self::NoInstance];

    /// The fate's one name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Dead => "dead",
            Self::Paused => "paused",
            Self::CutOff => "cut-off",
            Self::Refused => "refused",
            Self::NoInstance => "no-instance",
        }
    }
}

/// Calls of one application's instances to another in one minute of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallMinute {
    /// The start of the minute.
    pub from: SimTime,
    /// Who calls.
    pub caller: AppId,
    /// Who is called.
    pub callee: AppId,
    /// Calls.
    pub calls: u64,
    /// Of these, failed after all retries.
    pub failed: u64,
    /// Attempts by [`CallOutcome`].
    pub attempts: [u64; CallOutcome::COUNT],
    /// Attempts that failed since the instance was dead, by the [`Stage`] that still kept it in the caller's list:
    /// the first on the way from the registry that still showed it.
    pub dead_by_stage: [u64; 4],
}

/// A sweep of a two-stage registry that did something to a service, or found its guard otherwise than the sweep before.
/// A guard that no sweep has found shut yet is open. A registry that ends with a guard shut leaves a row too: nothing is
/// stored, and the guard is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepRow {
    /// When.
    pub at: SimTime,
    /// Which server's.
    pub server: ServerId,
    /// What it found and did.
    pub sweep: Sweep,
}

/// What consumers of a two-stage registry did that no other row tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsumerCounts {
    /// Answers that they took for implausible and refused.
    pub refused_answers: u64,
    /// Times that one said in its log that its refreshes fail.
    pub refresh_warnings: u64,
    /// Processes that could not start, since they could not read their snapshot.
    pub failed_starts: u64,
}

/// One server's minute, at the tick of its renewal bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minute {
    /// Which server's.
    pub server: ServerId,
    /// When the bucket was closed.
    pub at: SimTime,
    /// Leases in the registry.
    pub registered: u32,
    /// Of these, leases that are expired (without compensation).
    pub expired: u32,
    /// Renewals in the bucket just closed.
    pub renewals: u32,
    /// `numberOfRenewsPerMinThreshold`.
    pub threshold: u32,
    /// `expectedNumberOfClientsSendingRenews`.
    pub expected: u32,
    /// Whether self-preservation is engaged: switched on, and expiration disabled.
    pub self_preservation: bool,
    /// Leases evicted since the last row.
    pub evicted: u32,
}

/// Requests that a server answered in one minute of the run, by kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadMinute {
    /// The start of the minute.
    pub from: SimTime,
    /// Which server's.
    pub server: ServerId,
    /// Requests by [`RequestKind`].
    pub requests: [u64; RequestKind::COUNT],
    /// Of these, answered with a status of 400 or more.
    pub refused: u64,
    /// Items of peers' batches, by the [`RequestKind`] that each repeats.
    pub items: [u64; RequestKind::COUNT],
    /// Thread time spent in the minute, ns, over all threads; 0 without a capacity.
    pub busy_nanos: u64,
    /// The most requests that waited for a thread at a time; 0 without a capacity.
    pub waiting_max: u32,
}

/// How many instances the servers that run do not agree about, from a moment on: one has an instance and another has
/// not, or with another status. Rows are changes, at most one for each second of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Since when: of several changes in one second the last.
    pub at: SimTime,
    /// Servers that run.
    pub servers: u32,
    /// Instances that differ.
    pub differing: u32,
    /// The most that differed at any moment of that second up to this one.
    pub differing_max: u32,
}

/// A server at the end of a replicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerEnd {
    /// Whether its process is there.
    pub is_up: bool,
    /// Leases in its registry.
    pub left: u32,
    /// Whether something keeps it from evicting: self-preservation, or the guard of some service.
    pub self_preservation: bool,
}

/// An eviction round that was open and found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundRow {
    /// When.
    pub at: SimTime,
    /// At which server.
    pub server: ServerId,
    /// What it found and did.
    pub round: EvictionRound,
}

/// A fault that was injected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injected {
    /// When.
    pub at: SimTime,
    /// When it ended, for what has a length.
    pub until: Option<SimTime>,
    /// The verb, as the scenario writes it.
    pub verb: &'static str,
    /// How many it hit.
    pub targets: u32,
}

/// What became of leases: those created are cancelled, evicted, lost with a server, or still there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeaseCounts {
    /// Registrations that found no lease.
    pub created: u64,
    /// Leases cancelled by their owners.
    pub cancelled: u64,
    /// Leases evicted; of a two-stage registry, entries removed for their silence.
    pub evicted: u64,
    /// Entries of a two-stage registry that turned unhealthy.
    pub soft_evicted: u64,
    /// Leases that ended with their server.
    pub lost: u64,
}
