//! What a claim looks at: the figures of one replicate, of one server or of all.
//!
//! Of all servers, what is counted is added up, and what is a server's own (its registry, its rounds, its busiest
//! minute) is held against the claim for each. An observer's observation belongs to the server whose answer it had.

use std::collections::BTreeSet;

use crate::engine::SimTime;
use crate::model::id::ServerId;
use crate::model::message::RequestKind;
use crate::model::stage::{EventKind, Stage};
use crate::observe::{LoadMinute, Mistake, Removal, ReplicateData, ServerEnd, SweepRow};
use crate::sweep::Sample;

/// Seconds in a row of the load.
const LOAD_ROW_S: f64 = 60.0;

/// One replicate, as an expectation looks at it.
pub(super) struct Subject<'a> {
    /// What it left behind.
    pub(super) replicate: &'a ReplicateData,
    /// The server that the expectation names; `None`: all.
    pub(super) server: Option<ServerId>,
    /// Threads of each server, if they are limited.
    pub(super) threads: Option<u32>,
}

impl Subject<'_> {
    /// Detection times at a stage.
    pub(super) fn sample(&self, event: Option<EventKind>, stage: Stage) -> Sample {
        let wanted = |kind| event.is_none_or(|event| event == kind);
        let rows = self.replicate.detections.iter().filter(|row| row.stage == stage && wanted(row.event));
        Sample::of(rows.filter(|row| self.is_of(row.server)))
    }

    /// Live instances that servers themselves removed from what they show. That a two-stage registry later on forgets
    /// one of them is no removal more.
    pub(super) fn false_removals(&self) -> u64 {
        let is_one = |row: &&Mistake| (row.removal, row.stage) == (Removal::Evicted, Stage::Registry);
        let evicted = self.replicate.mistakes.iter().filter(is_one);
        evicted.filter(|row| self.is_of(row.server)).map(|row| row.count).sum()
    }

    /// Leases at the end, of each server that runs; none at all if no server does, or the one that is named does not.
    pub(super) fn left(&self) -> impl Iterator<Item = u32> + '_ {
        let none_runs = self.ends().next().is_none().then_some(0);
        self.ends().map(|end| end.left).chain(none_runs)
    }

    /// Leases evicted, or entries removed for their silence.
    pub(super) fn evictions(&self) -> u64 {
        let rounds = self.replicate.rounds.iter().filter(|row| self.is_of(Some(row.server)));
        let removed = self.sweeps().map(|row| u64::from(row.sweep.removed));
        rounds.map(|row| u64::from(row.round.evicted)).chain(removed).sum()
    }

    /// Entries that turned unhealthy.
    pub(super) fn soft_evictions(&self) -> u64 {
        self.sweeps().map(|row| u64::from(row.sweep.marked)).sum()
    }

    /// What the rounds that removed anything removed, of each server of which one did; one empty list if none did.
    pub(super) fn evicted_by_round(&self) -> Vec<Vec<u32>> {
        let mut by_server = vec![Vec::new(); self.replicate.servers.len()];
        let rows = self.replicate.rounds.iter().filter(|row| self.is_of(Some(row.server)));
        for row in rows.filter(|row| row.round.evicted > 0) {
            by_server[row.server.index()].push(row.round.evicted);
        }
        by_server.retain(|rounds| !rounds.is_empty());
        if by_server.is_empty() {
            by_server.push(Vec::new());
        }
        by_server
    }

    /// Whether self-preservation is engaged, or the guard of some service shut, at the end, of each server that runs; not
    /// at all if none does.
    pub(super) fn self_preservation_at_end(&self) -> impl Iterator<Item = bool> + '_ {
        let none_runs = self.ends().next().is_none().then_some(false);
        self.ends().map(|end| end.self_preservation).chain(none_runs)
    }

    /// Whether self-preservation was engaged at the end of some minute after the first fault began, of each server.
    pub(super) fn self_preservation_meanwhile(&self) -> impl Iterator<Item = bool> + '_ {
        let from = self.first_fault_began();
        let servers = (0..self.replicate.servers.len() as u32).map(ServerId);
        servers.filter(|&server| self.is_of(Some(server))).map(move |server| {
            let minutes = self.replicate.timeline.iter();
            let mut own = minutes.filter(|minute| minute.server == server && minute.at > from);
            own.any(|minute| minute.self_preservation)
        })
    }

    /// Whether the guard of some service was shut at some time after the first fault began, of each server: found so by
    /// a sweep from then on, or before, and not open again by then.
    pub(super) fn guard_shut_meanwhile(&self) -> impl Iterator<Item = bool> + '_ {
        let from = self.first_fault_began();
        let servers = (0..self.replicate.servers.len() as u32).map(ServerId);
        servers.filter(|&server| self.is_of(Some(server))).map(move |server| {
            let own = || self.replicate.sweeps.iter().filter(move |row| row.server == server);
            let mut shut = BTreeSet::new();
            for SweepRow { sweep, .. } in own().take_while(|row| row.at < from) {
                if sweep.guard_open {
                    shut.remove(&sweep.app)
                } else {
                    shut.insert(sweep.app)
                };
            }
            !shut.is_empty() || own().any(|row| row.at >= from && !row.sweep.guard_open)
        })
    }

    /// Mistakes at a stage, over all observers.
    pub(super) fn mistakes(&self, stage: Stage) -> u64 {
        let rows = self.replicate.mistakes.iter().filter(|row| row.stage == stage);
        rows.filter(|row| self.is_of(row.server)).map(|row| row.count).sum()
    }

    /// P_A over all observers, percent; `None` if nobody was observed.
    pub(super) fn query_accuracy(&self, stage: Stage) -> Option<f64> {
        let rows = self.replicate.quality.iter().filter(|row| row.stage == stage && self.is_of(row.server));
        let (good, mistaken) =
            rows.fold((0, 0), |(good, mistaken), row| (good + row.good_nanos, mistaken + row.mistaken_nanos));
        (good > 0).then(|| 100.0 * (good - mistaken) as f64 / good as f64)
    }

    /// The share of calls that failed, percent; `None` without a call. Calls are no server's.
    pub(super) fn failed_calls(&self) -> Option<f64> {
        let calls: u64 = self.replicate.calls.iter().map(|row| row.calls).sum();
        let failed: u64 = self.replicate.calls.iter().map(|row| row.failed).sum();
        (calls > 0).then(|| 100.0 * failed as f64 / calls as f64)
    }

    /// Requests of these kinds in the busiest minute of any one server.
    pub(super) fn busiest_minute(&self, kinds: &[RequestKind]) -> u64 {
        let of = |row: &LoadMinute| kinds.iter().map(|&kind| row.requests[kind as usize]).sum();
        self.load().map(of).max().unwrap_or(0)
    }

    /// The share of its time that a server's threads were busy in the busiest minute of any one server, percent; 0
    /// without a capacity.
    pub(super) fn utilisation_percent(&self) -> f64 {
        let Some(threads) = self.threads else { return 0.0 };
        let busiest = self.load().map(|row| row.busy_nanos).max().unwrap_or(0);
        100.0 * (busiest as f64 / 1e9) / (f64::from(threads) * LOAD_ROW_S)
    }

    /// When the first fault began; the start, if there was none.
    pub(super) fn first_fault_began(&self) -> SimTime {
        self.replicate.faults.iter().map(|fault| fault.at).min().unwrap_or(SimTime::ZERO)
    }

    /// When the last fault was over: a fault that has no length is over when it begins. The start, if there was none.
    pub(super) fn last_fault_over(&self) -> SimTime {
        let over = self.replicate.faults.iter().map(|fault| fault.until.unwrap_or(fault.at));
        over.max().unwrap_or(SimTime::ZERO)
    }

    fn sweeps(&self) -> impl Iterator<Item = &SweepRow> {
        self.replicate.sweeps.iter().filter(|row| self.is_of(Some(row.server)))
    }

    fn load(&self) -> impl Iterator<Item = &LoadMinute> {
        self.replicate.load.iter().filter(|row| self.is_of(Some(row.server)))
    }

    /// The servers that run at the end, of those that are meant.
    fn ends(&self) -> impl Iterator<Item = &ServerEnd> {
        let servers = self.replicate.servers.iter().zip((0..).map(ServerId));
        servers.filter(|&(end, server)| end.is_up && self.is_of(Some(server))).map(|(end, _)| end)
    }

    fn is_of(&self, server: Option<ServerId>) -> bool {
        self.server.is_none() || self.server == server
    }
}
