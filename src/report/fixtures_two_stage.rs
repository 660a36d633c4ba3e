//! Made-up runs of two-stage registries.
//!
//! The crash is drawn as its closed form has it (`two-stage.md` section 3): 10 s plus a uniform 5 s to the end of the
//! soft time-out, a uniform 3 s to the sweep, 5 s to the poll; and 45 s from the mark to the removal.

use super::fixtures::{Fixture, Lcg, SECOND_NS, bound, detection, scenario};
use crate::analysis::TwoStageReason;
use crate::engine::{SimDuration, SimTime};
use crate::model::fact::Sweep;
use crate::model::id::{AppId, ServerId};
use crate::model::message::RequestKind;
use crate::model::stage::{EventKind, Stage};
use crate::model::two_stage::{ClientConfig, Preset, ServerConfig, TwoStage};
use crate::observe::{ConsumerCounts, Ending, Outcome, ReplicateData, SweepRow};
use crate::scenario::Settings;

/// From the soft mark to the removal, ns.
const MARK_TO_REMOVAL: u64 = 45 * SECOND_NS;

impl Fixture {
    /// One crash a replicate of a two-stage registry, seen by so many consumers.
    pub(in crate::report) fn two_stages(replicates: u32, consumers: u32) -> Self {
        let mut lcg = Lcg::new(3);
        let mut made = Self::crashes(replicates, 0);
        set_up(&mut made, Preset::TwoStage, "One of 20 instances is killed", 20);
        made.bounds = vec![
            bound(EventKind::Crash, Stage::Registry, [10_000, 14_000, 18_000]),
            bound(EventKind::Crash, Stage::Served, [10_000, 14_000, 18_000]),
            bound(EventKind::Crash, Stage::Client, [10_000, 16_500, 23_000]),
            bound(EventKind::Crash, Stage::Entry, [55_000, 59_000, 63_000]),
        ];
        for replicate in &mut made.data.replicates {
            let marked = 10 * SECOND_NS + lcg.below(5) + lcg.below(3);
            let mut rows = vec![(Stage::Registry, marked), (Stage::Served, marked)];
            rows.extend((0..consumers).map(|_| (Stage::Client, marked + lcg.below(5))));
            rows.push((Stage::Entry, marked + MARK_TO_REMOVAL));
            detect(replicate, &rows);
            let at = replicate.faults[0].at;
            replicate.sweeps = vec![
                sweep(at, marked, [20, 20, 1, 0], true),
                sweep(at, marked + MARK_TO_REMOVAL, [20, 19, 0, 1], true),
            ];
        }
        made
    }

    /// Four of twenty die, and the guard is shut ever after. A fifth dies and is never marked.
    pub(in crate::report) fn jammed(replicates: u32) -> Self {
        let mut made = Self::two_stages(replicates, 15);
        "Four of twenty are killed, and the guard never opens again".clone_into(&mut made.scenario.title);
        if let Some(entry) = made.bounds.last_mut() {
            let application = made.scenario.applications[0].name.clone();
            let (ghosts, entries, tolerated, shrinks) = (4, 20, 3, false);
            let why = TwoStageReason::GuardMayShut { application, ghosts, entries, tolerated, shrinks };
            entry.range = Err(why.into());
        }
        for replicate in &mut made.data.replicates {
            replicate.ending = Ending::Duration;
            replicate.servers[0].self_preservation = true;
            replicate.servers[0].left = 20;
            replicate.consumers =
                ConsumerCounts { refused_answers: 3, refresh_warnings: 0, failed_starts: 0 };
            let at = replicate.faults[0].at;
            replicate.faults[0].targets = 4;
            for row in &mut replicate.detections {
                if row.stage == Stage::Entry {
                    row.outcome = Outcome::Censored(replicate.ended_at.since(row.at));
                    (row.instances, row.count) = (4, 4);
                }
            }
            replicate.sweeps = vec![
                sweep(at, 14 * SECOND_NS, [20, 20, 4, 0], true),
                sweep(at, 17 * SECOND_NS, [20, 16, 0, 0], false),
            ];
        }
        made
    }

    /// The only instance of a service of nacos-1 dies: it is shown until it is deleted.
    pub(in crate::report) fn only_instance(replicates: u32) -> Self {
        let mut lcg = Lcg::new(4);
        let mut made = Self::two_stages(replicates, 0);
        set_up(&mut made, Preset::Nacos1, "The only instance of a service is killed", 1);
        made.bounds = vec![
            bound(EventKind::Crash, Stage::Registry, [10_000, 15_000, 20_000]),
            bound(EventKind::Crash, Stage::Served, [25_000, 30_000, 35_000]),
            bound(EventKind::Crash, Stage::Client, [26_000, 31_000, 36_000]),
            bound(EventKind::Crash, Stage::Entry, [25_000, 30_000, 35_000]),
        ];
        for replicate in &mut made.data.replicates {
            let marked = 10 * SECOND_NS + lcg.below(5) + lcg.below(5);
            let deleted = marked + 15 * SECOND_NS;
            let mut rows = vec![(Stage::Registry, marked), (Stage::Served, deleted)];
            rows.extend((0..9).map(|_| (Stage::Client, deleted + SECOND_NS)));
            rows.push((Stage::Entry, deleted));
            detect(replicate, &rows);
            let at = replicate.faults[0].at;
            replicate.sweeps =
                vec![sweep(at, marked, [1, 1, 1, 0], true), sweep(at, deleted, [1, 0, 0, 1], true)];
        }
        made
    }

    /// Three services under one guard: one jams and recovers, one is too small to be guarded, one is quiet for long.
    pub(in crate::report) fn three_guards() -> Self {
        let mut made = Self::jammed(1);
        "Newcomers open a guard again".clone_into(&mut made.scenario.title);
        for name in ["payments", "gateway"] {
            let app = made.scenario.applications[0].clone();
            let app = crate::scenario::Application { name: name.to_owned(), ..app };
            made.scenario.add_application(app, AppId(0));
        }
        let replicate = &mut made.data.replicates[0];
        replicate.servers[0].self_preservation = false;
        let at = replicate.faults[0].at;
        let of = |app: u32, secs: u64, counts: [u32; 4], is_open: bool| {
            let row = sweep(at, secs * SECOND_NS, counts, is_open);
            SweepRow { sweep: Sweep { app: AppId(app), ..row.sweep }, ..row }
        };
        replicate.sweeps.extend([
            of(1, 20, [8, 8, 3, 0], true),
            of(1, 65, [8, 5, 0, 3], true),
            of(2, 30, [40, 40, 1, 0], true),
            of(2, 75, [40, 39, 0, 1], true),
            of(0, 180, [27, 23, 1, 4], true),
            of(0, 183, [23, 22, 0, 1], true),
        ]);
        replicate.sweeps.sort_by_key(|row| row.at);
        made
    }
}

/// Makes a run of another registry of it, with one application.
fn set_up(made: &mut Fixture, preset: Preset, title: &str, instances: u32) {
    made.scenario = scenario(title);
    let release = if preset == Preset::Nacos1 { "nacos-1" } else { "two-stage" }.to_owned();
    let (server, clients) = (ServerConfig::defaults(preset), vec![ClientConfig::defaults(preset)]);
    made.scenario.setup = Settings::<TwoStage> { release, server, own_client: (), clients }.into();
    let application = &mut made.scenario.applications[0];
    application.instances = instances;
    made.verdicts.clear();
    for replicate in &mut made.data.replicates {
        replicate.timeline.clear();
        replicate.servers[0].left = instances - 1;
        for minute in &mut replicate.load {
            minute.requests = [0; RequestKind::COUNT];
            minute.requests[RequestKind::Renew as usize] = 12 * u64::from(instances);
            let fetched = match preset {
                Preset::TwoStage => RequestKind::FetchFull,
                Preset::Nacos1 => RequestKind::FetchService,
            };
            minute.requests[fetched as usize] = 12 * u64::from(instances);
        }
    }
}

/// Replaces what was seen of the crash.
fn detect(replicate: &mut ReplicateData, rows: &[(Stage, u64)]) {
    let at = replicate.faults[0].at;
    let row = |&(stage, nanos): &(Stage, u64)| {
        detection(EventKind::Crash, stage, at, Outcome::Detected(SimDuration::from_nanos(nanos)))
    };
    replicate.detections = rows.iter().map(row).collect();
}

/// A sweep so long after `at`: entries, healthy ones, marks and removals.
fn sweep(at: SimTime, after: u64, counts: [u32; 4], guard_open: bool) -> SweepRow {
    let [entries, healthy, marked, removed] = counts;
    SweepRow {
        at: at + SimDuration::from_nanos(after),
        server: ServerId(0),
        sweep: Sweep { app: AppId(0), entries, healthy, guard_open, marked, removed },
    }
}
