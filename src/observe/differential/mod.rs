//! The recorder against the [oracle](super::oracle), over random histories of either registry: processes and servers
//! that come and go, observers that change servers or look at some applications only, views of every kind, wrong ones
//! included, and events at the same moment and at others.

mod history;
mod twins;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::data::{Divergence, Mistake, Quality};
use super::oracle::{Figures, MistakeCounts, Seen, Watcher};
use super::recorder::Recorded;
use crate::engine::{NANOS_PER_S, SimTime};
use crate::model::id::AppId;
use crate::model::registry::Kind;
use crate::model::stage::Stage;
use history::steps;
use twins::Twins;

/// Processes; the first [`OBSERVERS`] look on as well.
const PROCESSES: u32 = 9;
const OBSERVERS: u32 = 6;
/// Processes are of so many applications, in turn.
const APPS: u32 = 3;

/// What an observer looks at, if not at everything.
fn services_of(place: u32) -> Option<&'static [AppId]> {
    match place {
        0 | 1 => Some(&[AppId(0)]),
        2 => Some(&[AppId(0), AppId(2)]),
        3 => Some(&[]),
        _ => None,
    }
}

/// What the rows say, over all instances.
fn seen(recorded: &Recorded) -> Seen {
    let mut seen = Seen::new();
    for row in &recorded.detections {
        let (count, instances) =
            seen.entry((row.event, row.at, (row.stage, row.server), row.outcome)).or_default();
        *count += row.count;
        *instances += row.instances;
    }
    seen
}

fn wrong(mistakes: &[Mistake]) -> MistakeCounts {
    let mut wrong = MistakeCounts::new();
    for row in mistakes {
        let slot = (row.stage, row.server);
        let key = (slot, row.at, row.at + row.lasted, row.corrected, row.removal);
        *wrong.entry(key).or_insert(0) += row.count;
    }
    wrong
}

fn figures(row: &Quality) -> Figures {
    (row.good_nanos, row.mistaken_nanos, row.mistakes, row.corrected)
}

fn sum<'a>(figures: impl Iterator<Item = &'a Figures>) -> Figures {
    figures.fold((0, 0, 0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1, sum.2 + row.2, sum.3 + row.3))
}

/// The rows that should tell how servers stood: the last of each second in which anything changed.
fn differed(stood: &[(SimTime, u32, u32)]) -> Vec<Divergence> {
    let second = |at: SimTime| at.as_nanos() / NANOS_PER_S;
    let mut rows: Vec<Divergence> = Vec::new();
    let mut before = (0, 0);
    for &(at, servers, differing) in stood.iter() {
        if (servers, differing) == before {
            continue;
        }
        let begins_here = at.as_nanos() % NANOS_PER_S == 0;
        let mut differing_max = differing.max(if begins_here { 0 } else { before.1 });
        if let Some(last) = rows.pop_if(|last| second(last.at) == second(at)) {
            differing_max = differing_max.max(last.differing_max);
        }
        rows.push(Divergence { at, servers, differing, differing_max });
        before = (servers, differing);
    }
    rows
}

fn compare(servers: usize, mut twins: Twins) -> Result<(), TestCaseError> {
    twins.stand();
    let Twins { registry, recorder, oracle, now, stood, .. } = twins;
    let recorded = recorder.finish(now);
    prop_assert_eq!(&recorded.divergence, &if servers > 1 { differed(&stood) } else { Vec::new() });
    let (expected_seen, expected_wrong, expected_figures) = oracle.finish();
    let seen = seen(&recorded);
    prop_assert_eq!(seen.keys().collect::<Vec<_>>(), expected_seen.keys().collect::<Vec<_>>());
    for (key, &(count, instances)) in &seen {
        let (expected_count, expected_instances) = expected_seen[key];
        prop_assert_eq!(count, expected_count, "{:?}", key);
        // Of a group that looks on, one may be seen by itself alone.
        prop_assert!(instances >= expected_instances, "{:?}", key);
    }
    prop_assert_eq!(wrong(&recorded.mistakes), expected_wrong);
    for row in recorded.quality.iter().filter(|row| row.server.is_some()) {
        let slot = (Watcher::Server(row.server.expect("just looked at")), row.stage);
        prop_assert_eq!(figures(row), expected_figures.get(&slot).copied().unwrap_or_default());
    }
    let has = |stage| registry.stages().contains(&stage);
    prop_assert!(recorded.detections.iter().all(|row| has(row.stage)));
    prop_assert!(recorded.mistakes.iter().all(|row| has(row.stage)));
    prop_assert!(recorded.quality.iter().all(|row| has(row.stage)));
    for stage in Stage::ALL {
        let rows: Vec<&Quality> = recorded.quality.iter().filter(|row| row.stage == stage).collect();
        let own: BTreeMap<Watcher, Figures> = expected_figures
            .iter()
            .filter(|((_, of), _)| *of == stage)
            .map(|(&(watcher, _), &figures)| (watcher, figures))
            .collect();
        let mut told: Vec<Figures> =
            rows.iter().filter(|row| row.mistakes > 0).map(|row| figures(row)).collect();
        let mut expected: Vec<Figures> = own.values().filter(|figures| figures.2 > 0).copied().collect();
        told.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(told, expected);
        let all = sum(rows.iter().map(|row| figures(row)).collect::<Vec<_>>().iter());
        let is_of_servers = rows.iter().any(|row| row.server.is_some());
        if rows.iter().map(|row| row.observers).sum::<u32>() == OBSERVERS || is_of_servers {
            prop_assert_eq!(all, sum(own.values()));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn grouped_records_say_what_plain_ones_say(
        registry in prop_oneof![Just(Kind::Eureka), Just(Kind::TwoStage)],
        subscribed in any::<bool>(),
        servers in 1usize..4,
        steps in steps(),
    ) {
        let mut twins = Twins::new(registry, subscribed, servers);
        for step in steps {
            twins.take(step);
            let (observations, mistakes) = twins.oracle.open();
            prop_assert_eq!(twins.recorder.open(), (observations as u64, mistakes as u64), "{:?}", step);
        }
        compare(servers, twins)?;
    }
}
