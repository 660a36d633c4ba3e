//! What only a two-stage registry has figures for: how long its guards were shut, and what its consumers refused or
//! could not do.

use schemars::JsonSchema;
use serde::Serialize;

use super::Report;
use super::mistakes::replicates_with;
use super::servers::Spread;
use crate::engine::{SimDuration, SimTime};
use crate::model::fact::Sweep;
use crate::model::id::AppId;
use crate::model::two_stage::Guard;
use crate::observe::{ReplicateData, RunData};

/// The guards of all services, over all replicates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GuardSummary {
    /// Replicates in which a sweep found the guard of some service shut.
    pub shut_in: u32,
    /// Replicates at whose end the guard of some service was shut.
    pub shut_at_end: u32,
    /// For how long the guard of some service was shut, ms: from the sweep that found it shut to the one that found it
    /// open again.
    pub shut_ms: Spread,
}

/// What consumers did, over all replicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConsumerSummary {
    /// Answers that they took for implausible and refused.
    pub refused_answers: u64,
    /// Times that one said in its log that its refreshes fail.
    pub refresh_warnings: u64,
    /// Processes that could not start, since they could not read their snapshot.
    pub failed_starts: u64,
}

impl GuardSummary {
    /// The guards of this run; `None` if its registry has none.
    pub(super) fn of(report: &Report<'_>) -> Option<Self> {
        let data = report.data;
        guard_percent(report)?;
        let was_shut = |replicate: &ReplicateData| replicate.sweeps.iter().any(|row| !row.sweep.guard_open);
        Some(Self {
            shut_in: replicates_with(data, was_shut),
            shut_at_end: replicates_with(data, ReplicateData::self_preservation_at_end),
            shut_ms: Spread::of(data.replicates.iter().map(shut_ms)).unwrap_or(Spread::ZERO),
        })
    }
}

impl ConsumerSummary {
    /// What the consumers of this run did; `None` if its registry has none.
    pub(super) fn of(report: &Report<'_>) -> Option<Self> {
        let sum = |data: &RunData| {
            let all = data.replicates.iter().map(|replicate| replicate.consumers);
            let none = Self { refused_answers: 0, refresh_warnings: 0, failed_starts: 0 };
            all.fold(none, |sum, one| Self {
                refused_answers: sum.refused_answers + one.refused_answers,
                refresh_warnings: sum.refresh_warnings + one.refresh_warnings,
                failed_starts: sum.failed_starts + one.failed_starts,
            })
        };
        report.is_two_stage().then(|| sum(report.data))
    }

    /// Whether there is nothing to tell.
    pub(super) fn is_quiet(&self) -> bool {
        self.refused_answers + self.refresh_warnings + self.failed_starts == 0
    }
}

/// The share of healthy entries that a guard asks for, percent; `None` if there is no guard.
pub(super) fn guard_percent(report: &Report<'_>) -> Option<u32> {
    let server = report.scenario.two_stage()?.server();
    (server.guard == Guard::Ratio).then_some(server.guard_min_healthy_pct)
}

/// Since when and until when sweeps found the guard of a service shut: until one found it open, or the run ended.
pub(super) fn shut_periods(replicate: &ReplicateData, app: AppId) -> Vec<(SimTime, SimTime)> {
    let mut periods = Vec::new();
    let mut since = None;
    for row in replicate.sweeps.iter().filter(|row| row.sweep.app == app) {
        match (since, row.sweep.guard_open) {
            (None, false) => since = Some(row.at),
            (Some(from), true) => {
                periods.push((from, row.at));
                since = None;
            }
            (None, true) | (Some(_), false) => {}
        }
    }
    periods.extend(since.map(|from| (from, replicate.ended_at)));
    periods
}

/// The last sweep that found a guard shut which was shut at the end, if there is one.
pub(super) fn shut_at_end(replicate: &ReplicateData) -> Option<Sweep> {
    let mut sweeps = replicate.sweeps.iter().rev().map(|row| row.sweep);
    let found = sweeps.find(|sweep| !sweep.guard_open);
    found.filter(|_| replicate.self_preservation_at_end())
}

/// For how long some guard was shut. Periods of several services may overlap.
fn shut_ms(replicate: &ReplicateData) -> u64 {
    let mut apps: Vec<AppId> = replicate.sweeps.iter().map(|row| row.sweep.app).collect();
    apps.sort_unstable();
    apps.dedup();
    let mut periods: Vec<_> = apps.into_iter().flat_map(|app| shut_periods(replicate, app)).collect();
    periods.sort_unstable();
    let (mut shut, mut counted_to) = (SimDuration::ZERO, SimTime::ZERO);
    for (from, to) in periods {
        shut = shut + to.max(counted_to).since(from.max(counted_to));
        counted_to = counted_to.max(to);
    }
    shut.as_millis()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::ServerId;
    use crate::observe::SweepRow;
    use crate::report::Summary;
    use crate::report::fixtures::Fixture;

    #[test]
    fn time_is_shut_once_however_many_guards_are() {
        let mut made = Fixture::jammed(1);
        let replicate = &mut made.data.replicates[0];
        let row = |secs: u64, app: u32, guard_open: bool| SweepRow {
            at: SimTime::from_secs(secs),
            server: ServerId(0),
            sweep: Sweep { app: AppId(app), entries: 20, healthy: 16, guard_open, marked: 0, removed: 0 },
        };
        // 30 to 90 s and 60 to 120 s: together 90 s, and the last minute of twelve.
        replicate.sweeps = vec![
            row(30, 0, false),
            row(60, 1, false),
            row(90, 0, true),
            row(120, 1, true),
            row(660, 0, false),
        ];
        let guard = Summary::of(&made.report()).guard.unwrap();
        assert_eq!((guard.shut_in, guard.shut_at_end), (1, 1));
        assert_eq!(guard.shut_ms, Spread { mean: 150_000.0, min: 150_000, max: 150_000 });
        assert_eq!(shut_periods(&made.data.replicates[0], AppId(0)).len(), 2);
    }

    #[test]
    fn who_has_no_guard_has_no_figures_of_it() {
        let eureka = Summary::of(&Fixture::crashes(2, 2).report());
        assert_eq!((eureka.guard, eureka.consumers), (None, None));
        let nacos = Summary::of(&Fixture::only_instance(2).report());
        assert!(nacos.guard.is_none() && nacos.consumers.is_some_and(|consumers| consumers.is_quiet()));
    }
}
