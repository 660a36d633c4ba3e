//! Made-up runs for the tests of this room: what a run might leave behind, without running anything.
//!
//! The default crash is drawn as its closed form has it (`eureka-server.md` 14.1): 150 s plus a uniform 30 s
//! to the lease's end, a uniform 60 s to the round, 30 s to the cache, 30 s to the fetch, 35 s to the balancer.

use std::collections::BTreeMap;

use super::Report;
use crate::analysis::{Bound, BoundRange, EurekaReason};
use crate::engine::{SimDuration, SimTime};
use crate::model::id::{AppId, InstanceId, ServerId};
use crate::model::stage::{EventKind, Stage};
use crate::observe::{
    CallMinute, ConsumerCounts, Detection, Ending, Folded, Injected, LoadMinute, Minute, Mistake, Outcome,
    Quality, Removal, ReplicateData, RunData,
};
use crate::scenario::{Application, Scenario, default_scenario};
use crate::sweep::Verdict;

pub(super) const SECOND_NS: u64 = 1_000_000_000;

/// A run that never ran.
pub(super) struct Fixture {
    pub(super) scenario: Scenario,
    pub(super) data: RunData,
    pub(super) bounds: Vec<Bound>,
    pub(super) verdicts: Vec<Verdict>,
}

impl Fixture {
    /// The report of it.
    pub(super) fn report(&self) -> Report<'_> {
        Report {
            scenario: &self.scenario,
            scenario_text: "title = \"made up\"\n",
            data: &self.data,
            bounds: &self.bounds,
            verdicts: &self.verdicts,
            command: "stillup run scenarios/made-up.toml --seed 7".to_owned(),
            version: "0.1.0",
            revision: None,
        }
    }

    /// One crash a replicate, seen by so many observers.
    pub(super) fn crashes(replicates: u32, observers: u32) -> Self {
        let mut lcg = Lcg(1);
        let one = |number| {
            let mut replicate = replicate(number, 12);
            let lease_and_round = 150 * SECOND_NS + lcg.below(30) + lcg.below(60);
            let served = lease_and_round + lcg.below(30);
            let at = SimTime::from_nanos(390 * SECOND_NS + lcg.below(60));
            let mut rows = vec![(Stage::Registry, lease_and_round), (Stage::Served, served)];
            for _ in 0..observers {
                let fetched = served + lcg.below(30);
                rows.extend([(Stage::Client, fetched), (Stage::Balancer, fetched + lcg.below(35))]);
            }
            replicate.faults = vec![Injected { at, until: None, verb: "crash", targets: 1 }];
            let row = |(stage, nanos)| {
                detection(EventKind::Crash, stage, at, Outcome::Detected(SimDuration::from_nanos(nanos)))
            };
            replicate.detections = rows.into_iter().map(row).collect();
            replicate
        };
        let verdict = |text: &str, held_in, required_share| Verdict {
            text: text.to_owned(),
            held_in,
            replicates,
            required_share,
            passed: held_in == replicates,
        };
        Self {
            scenario: scenario("One of 100 instances is killed"),
            data: RunData { replicates: (0..replicates).map(one).collect() },
            bounds: vec![
                bound(EventKind::Crash, Stage::Registry, [150_000, 195_000, 240_000]),
                bound(EventKind::Crash, Stage::Served, [150_000, 210_000, 270_000]),
                bound(EventKind::Crash, Stage::Client, [150_000, 225_000, 300_000]),
                bound(EventKind::Crash, Stage::Balancer, [150_000, 242_500, 335_000]),
            ],
            verdicts: vec![
                verdict("balancer p99 below 5m30s", replicates, 1.0),
                verdict("no false removal", replicates - 1, 0.995),
            ],
        }
    }

    /// One crash a replicate, and orders that call payments; some calls fail for five minutes, or none does.
    pub(super) fn calling(replicates: u32, some_fail: bool) -> Self {
        let mut made = Self::crashes(replicates, 20);
        "One of 20 instances of payments is killed".clone_into(&mut made.scenario.title);
        let payments = Application { name: "payments".to_owned(), ..made.scenario.applications[0].clone() };
        made.scenario.add_application(payments, AppId(0));
        // Failed in a minute, by stage.
        let dead = [[600, 0, 0, 0], [600, 0, 0, 0], [500, 100, 0, 0], [0, 200, 200, 100], [0, 0, 50, 150]];
        for replicate in &mut made.data.replicates {
            let crash = replicate.faults[0].at.as_nanos() / (60 * SECOND_NS);
            let minute = |number: u64| {
                let since = number.checked_sub(crash + 1).filter(|_| some_fail);
                let dead_by_stage =
                    since.and_then(|since| dead.get(since as usize)).copied().unwrap_or_default();
                let failed: u64 = dead_by_stage.iter().sum();
                CallMinute {
                    from: SimTime::from_secs(60 * number),
                    caller: AppId(0),
                    callee: AppId(1),
                    calls: 12_000,
                    failed,
                    attempts: [12_000 - failed, failed, 0, 0, 0, 0],
                    dead_by_stage,
                }
            };
            replicate.calls = (1..13).map(minute).collect();
        }
        made
    }

    /// Self-preservation holds the crashed instance for ever.
    pub(super) fn protected(replicates: u32) -> Self {
        let mut made = Self::crashes(replicates, 9);
        "A small fleet never lets go".clone_into(&mut made.scenario.title);
        made.verdicts.clear();
        let why = EurekaReason::TooFewRenewals { settled: true, renewals: 18, threshold: 18 };
        for bound in &mut made.bounds {
            bound.range = Err(why.clone().into());
        }
        for replicate in &mut made.data.replicates {
            replicate.servers[0].self_preservation = true;
            replicate.ending = Ending::Duration;
            for row in &mut replicate.detections {
                row.outcome = Outcome::Censored(replicate.ended_at.since(row.at));
            }
            for minute in replicate.timeline.iter_mut().skip(4) {
                (minute.renewals, minute.self_preservation) = (170, true);
            }
        }
        made
    }

    /// Orderly stops, some of them restarted at once, and registrations, some not seen by the end.
    pub(super) fn coming_and_going(replicates: u32) -> Self {
        let mut lcg = Lcg(2);
        let mut made = Self::crashes(replicates, 0);
        "Some leave in order, some arrive".clone_into(&mut made.scenario.title);
        made.verdicts.clear();
        made.bounds = [EventKind::Stop, EventKind::Registration]
            .into_iter()
            .flat_map(|event| {
                [
                    bound(event, Stage::Registry, [1, 1, 1]),
                    bound(event, Stage::Served, [1, 15_001, 30_001]),
                    bound(event, Stage::Client, [2, 30_002, 60_002]),
                ]
            })
            .collect();
        for replicate in &mut made.data.replicates {
            let at = SimTime::from_secs(400);
            replicate.detections.clear();
            for event in [EventKind::Stop, EventKind::Registration] {
                let served = 1_000_000 + lcg.below(30);
                let stages = [(Stage::Registry, 1_000_000), (Stage::Served, served)];
                let fetches = (0..9).map(|_| (Stage::Client, served + lcg.below(30)));
                for (stage, nanos) in stages.into_iter().chain(fetches) {
                    let length = SimDuration::from_nanos(nanos);
                    let outcome = match (event, stage) {
                        (EventKind::Stop, _) if replicate.replicate == 0 => Outcome::Superseded(length),
                        (EventKind::Registration, Stage::Client) if nanos > 50 * SECOND_NS => {
                            Outcome::Censored(length)
                        }
                        _ => Outcome::Detected(length),
                    };
                    replicate.detections.push(detection(event, stage, at, outcome));
                }
            }
            replicate.faults = vec![
                Injected { at, until: None, verb: "stop", targets: 1 },
                Injected { at, until: None, verb: "start", targets: 3 },
            ];
        }
        made
    }

    /// Nothing is watched; so many live instances are removed in the first replicate.
    pub(super) fn quiet(mistakes: u32) -> Self {
        let mut made = Self::crashes(4, 0);
        "Nothing happens".clone_into(&mut made.scenario.title);
        made.bounds.clear();
        made.verdicts.clear();
        for replicate in &mut made.data.replicates {
            replicate.detections.clear();
            replicate.faults.clear();
        }
        let mistake = |number: u32| Mistake {
            instance: InstanceId(0),
            stage: Stage::Registry,
            server: Some(ServerId(0)),
            at: SimTime::from_secs(500),
            lasted: SimDuration::from_secs(10 + u64::from(number)),
            corrected: true,
            removal: Removal::Evicted,
            instances: 1,
            count: 1,
        };
        let first = &mut made.data.replicates[0];
        first.mistakes = (0..mistakes).map(mistake).collect();
        for row in &first.mistakes {
            let registry = &mut first.quality[0];
            registry.mistaken_nanos += u128::from(row.lasted.as_nanos());
            (registry.mistakes, registry.corrected) = (registry.mistakes + 1, registry.corrected + 1);
        }
        made
    }

    /// A day with many faults.
    pub(super) fn long() -> Self {
        let mut made = Self::crashes(1, 500);
        "A long day with a great many faults, and a title that is longer than there is any room for at all"
            .clone_into(&mut made.scenario.title);
        let day = replicate(0, 1_440);
        let first = &mut made.data.replicates[0];
        (first.timeline, first.load, first.ended_at) = (day.timeline, day.load, day.ended_at);
        for minute in &mut first.timeline[700..760] {
            (minute.renewals, minute.self_preservation) = (90, true);
        }
        let verbs = ["crash", "restart", "partition", "pause"];
        let fault = |number: usize| Injected {
            at: SimTime::from_secs(600 + 1_733 * number as u64),
            until: None,
            verb: verbs[number % verbs.len()],
            targets: 1 + number as u32 % 3,
        };
        first.faults = (0..40).map(fault).collect();
        made
    }
}

/// A linear congruential generator (Knuth's constants): good enough to make things up.
pub(super) struct Lcg(u64);

impl Lcg {
    /// Dice that have not been thrown yet.
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Nanoseconds below so many seconds.
    pub(super) fn below(&mut self, secs: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 16) % (secs * SECOND_NS)
    }
}

pub(super) fn replicate(number: u32, minutes: u64) -> ReplicateData {
    let minute = |index| Minute {
        server: ServerId(0),
        at: SimTime::from_secs(60 * index),
        registered: 100,
        expired: u32::from(index > 9),
        renewals: if index < 2 { 40 * index as u32 } else { 200 },
        threshold: if index < 2 { 85 * index as u32 } else { 170 },
        expected: 100,
        self_preservation: index < 2,
        evicted: u32::from(index == 10),
    };
    let load = |index| LoadMinute {
        from: SimTime::from_secs(60 * index),
        server: ServerId(0),
        requests: [u64::from(index == 0) * 100, 200, 0, 1, 200, 0, 0, 0, 0],
        refused: 0,
        items: [0; 9],
        busy_nanos: 0,
        waiting_max: 0,
    };
    ReplicateData {
        replicate: number,
        ending: Ending::Settled,
        ended_at: SimTime::from_secs(60 * minutes),
        events: 12_345,
        digest: 0x1234_5678_9abc_def0 ^ u64::from(number),
        instances: BTreeMap::from([(InstanceId(0), "orders-1".to_owned())]),
        detections: Vec::new(),
        mistakes: Vec::new(),
        folded: Folded::default(),
        quality: vec![quality(minutes)],
        calls: Vec::new(),
        timeline: (1..=minutes).map(minute).collect(),
        load: (0..minutes).map(load).collect(),
        faults: Vec::new(),
        rounds: Vec::new(),
        sweeps: Vec::new(),
        consumers: ConsumerCounts::default(),
        leases: crate::observe::LeaseCounts::default(),
        agreement: crate::observe::Agreement::default(),
        divergence: Vec::new(),
        servers: vec![crate::observe::ServerEnd { is_up: true, left: 99, self_preservation: false }],
    }
}

/// How well the registry told of a hundred instances, without a mistake.
fn quality(minutes: u64) -> Quality {
    Quality {
        stage: Stage::Registry,
        server: Some(ServerId(0)),
        observer: None,
        observers: 1,
        good_nanos: u128::from(100 * 60 * minutes * SECOND_NS),
        mistaken_nanos: 0,
        mistakes: 0,
        corrected: 0,
    }
}

pub(super) fn detection(event: EventKind, stage: Stage, at: SimTime, outcome: Outcome) -> Detection {
    let server = Some(ServerId(0));
    Detection { event, instance: InstanceId(0), at, stage, server, outcome, instances: 1, count: 1 }
}

pub(super) fn bound(event: EventKind, stage: Stage, ms: [u64; 3]) -> Bound {
    let [min, mean, max] = ms.map(SimDuration::from_millis);
    Bound { event, stage, range: Ok(BoundRange { min, mean, max }), mean_absent: None }
}

pub(super) fn scenario(title: &str) -> Scenario {
    let mut default = default_scenario().scenario;
    let orders = Application { name: "orders".to_owned(), instances: 100, ..default.applications[0].clone() };
    default.set_applications(vec![orders], AppId(0));
    default.setup.release_mut().replace_range(.., "2025.0");
    Scenario {
        title: title.to_owned(),
        seed: 7,
        duration: SimDuration::from_secs(3_600),
        faults: Vec::new(),
        expectations: Vec::new(),
        ..default
    }
}
