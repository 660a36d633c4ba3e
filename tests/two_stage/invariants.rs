//! What holds of every script, and of random ones in particular (section 7 of the specification, at the end of its
//! conventions). Some of it is checked while a script plays: that revisions only grow, that nothing turns unhealthy but
//! in a sweep, that no sweep both marks and removes, or does either behind a shut guard (`machine::ledger`).

use std::collections::BTreeMap;

use proptest::prelude::*;
use stillup::model::two_stage::{Sanity, Schedule, SweepPasses};

use super::row::{Row, What, differences, normal};
use super::scripts::vectors;
use super::vector::{Op, Vector};
use super::{machine, oracle};

fn log_of(vector: &Vector) -> Vec<Row> {
    normal(machine::run(vector).expect("a log"))
}

/// The rules and the oracle say the same.
fn agree(vector: &Vector) {
    let (rules, plain) = (log_of(vector), normal(oracle::run(vector)));
    if rules != plain {
        let lines = differences(&plain, &rules);
        panic!("- the oracle alone, + the rules alone\n{}", lines[..lines.len().min(40)].join("\n"));
    }
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, max_shrink_iters: 4_000, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn the_rules_agree_with_the_oracle(vector in vectors("two-stage")) {
        agree(&vector);
    }

    #[test]
    fn nacos_agrees_with_the_oracle(vector in vectors("nacos-1")) {
        agree(&vector);
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_list_is_never_more_than_halved_but_at_a_start(vector in vectors("two-stage")) {
        prop_assume!(vector.knobs.client.sanity == Sanity::Half);
        let mut starts: Vec<(&str, u64)> = Vec::new();
        for op in &vector.script {
            if let Op::Consumer { name, t, .. } | Op::ConsumerStart { name, t } = op {
                starts.push((name, *t));
            }
        }
        let mut held: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let log = log_of(&vector);
        for row in log.iter().filter(|row| matches!(row.kind, "view" | "view_from_disk")) {
            let What::Map(map) = &row.what else { unreachable!("a view is a map") };
            let begins = starts.contains(&(&row.of, row.t));
            for ((name, svc), before) in &mut held {
                let now = map.get(*svc).map_or(0, |ids| ids.len());
                prop_assert!(*name != row.of || begins || 2 * now >= *before, "{svc}: {before} to {row}");
            }
            held.extend(map.iter().map(|(svc, ids)| ((row.of.as_str(), svc.as_str()), ids.len())));
        }
    }

    #[test]
    fn removal_follows_the_mark_by_the_difference_of_the_time_outs(vector in vectors("two-stage")) {
        let config = &vector.knobs.server;
        let (soft, hard) = (u64::from(config.soft_timeout_ms), u64::from(config.hard_timeout_ms));
        prop_assume!(hard > soft && (hard - soft) % u64::from(config.sweep_interval_ms) == 0);
        prop_assume!(config.sweep_passes == SweepPasses::ElseIf && !config.guard_cap);
        prop_assume!(config.register_stamps_heartbeat && config.sweep_mode == Schedule::FixedDelay);
        let disturbs = |op: &Op| {
            matches!(op, Op::RegistryPause { .. } | Op::ClockStep { .. } | Op::RegistryDown { .. })
        };
        prop_assume!(!vector.script.iter().any(disturbs));
        let log = log_of(&vector);
        prop_assume!(!log.iter().any(|row| row.kind == "guard_closed"));
        let mut marked: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for row in &log {
            let What::Ids { ids, .. } = &row.what else { continue };
            for id in ids.iter() {
                match row.kind {
                    "soft" => drop(marked.insert((&row.of, id), row.t)),
                    // A sign of life that does not heal moves the removal alone.
                    "reregistered" | "deregistered" => drop(marked.remove(&(row.of.as_str(), id))),
                    "removed" => {
                        let after = marked.get(&(row.of.as_str(), id)).map(|mark| row.t - mark);
                        prop_assert!(after.is_none_or(|after| after == hard - soft), "{id}: {after:?}");
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn the_same_script_gives_the_same_log(vector in prop_oneof![vectors("two-stage"), vectors("nacos-1")]) {
        prop_assert_eq!(machine::run(&vector), machine::run(&vector));
    }
}
