//! What a replicate leaves behind as a whole: its rows together, how it ended, and what was so at its end.

use std::collections::BTreeMap;

use super::data::{
    CallMinute, ConsumerCounts, Detection, Divergence, Injected, LeaseCounts, LoadMinute, Minute, Mistake,
    Quality, RoundRow, ServerEnd, SweepRow,
};
use crate::engine::SimTime;
use crate::model::id::InstanceId;

/// How far servers and observers agree with what really runs, at the end of a replicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Processes that run and register.
    pub live: u64,
    /// Pairs of a running server and such a process that its registry does not show.
    pub missing_in_registries: u64,
    /// Pairs of a running server and an instance that its registry shows as UP although no process is behind it.
    pub dead_in_registries: u64,
    /// Pairs of a running observer and a live instance that its local registry does not show.
    pub missing_in_views: u64,
    /// Of these, pairs whose observer holds as many instances in each status as the registry does: the hashes agree,
    /// and it will not ask for more before something changes (`eureka-client.md` 3.5).
    pub missing_behind_equal_hashes: u64,
}

/// How a replicate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Nothing watched could change any more.
    Settled,
    /// The scenario's duration passed.
    Duration,
    /// The event budget was used up: the figures are not complete.
    Budget,
}

/// Whether rows stand for observations that are not equal to the nanosecond, since otherwise there would be millions.
/// Lengths are whole milliseconds then, rounded down, and a row holds the observations of all moments that had this
/// length: its own moment is the first, its instance the first at that moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Detections are.
    pub detections: bool,
    /// Mistakes are. `instances` counts one again for each of its mistakes.
    pub mistakes: bool,
}

/// What one replicate left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicateData {
    /// Its number, from 0.
    pub replicate: u32,
    /// How it ended.
    pub ending: Ending,
    /// When it ended.
    pub ended_at: SimTime,
    /// Events that ran.
    pub events: u64,
    /// The digest of all events in order.
    pub digest: u64,
    /// The names of the identities that [`Self::detections`], [`Self::mistakes`] and [`Self::quality`] tell of.
    pub instances: BTreeMap<InstanceId, String>,
    /// Observations, by (event time, instance, event, stage, server, outcome).
    pub detections: Vec<Detection>,
    /// Mistakes, by time and instance.
    pub mistakes: Vec<Mistake>,
    /// Whether there were too many different ones of both.
    pub folded: Folded,
    /// How well each told who is alive: the servers by stage and server, then the observers by stage.
    pub quality: Vec<Quality>,
    /// Calls through balancers, by (minute, caller, callee).
    pub calls: Vec<CallMinute>,
    /// The servers' minutes, by time and server.
    pub timeline: Vec<Minute>,
    /// The servers' load, by time and server.
    pub load: Vec<LoadMinute>,
    /// How far the servers agree, by time. Empty with one server.
    pub divergence: Vec<Divergence>,
    /// The faults, by time.
    pub faults: Vec<Injected>,
    /// Every eviction round that was open and found something, by time.
    pub rounds: Vec<RoundRow>,
    /// Sweeps of a two-stage registry that did something, or found a guard otherwise than the sweep before, by time.
    pub sweeps: Vec<SweepRow>,
    /// What consumers of a two-stage registry did.
    pub consumers: ConsumerCounts,
    /// What became of leases.
    pub leases: LeaseCounts,
    /// What servers and observers make of the fleet at the end.
    pub agreement: Agreement,
    /// Each server at the end.
    pub servers: Vec<ServerEnd>,
}

impl ReplicateData {
    /// Leases in all registries at the end.
    pub fn left_at_end(&self) -> u32 {
        self.servers.iter().map(|server| server.left).sum()
    }

    /// Whether self-preservation, or the guard of some service, keeps any server from evicting at the end.
    pub fn self_preservation_at_end(&self) -> bool {
        self.servers.iter().any(|server| server.self_preservation)
    }
}

/// What a run left behind: its replicates in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunData {
    /// By number.
    pub replicates: Vec<ReplicateData>,
}
