//! What holds of every script, and of random ones in particular (section 7 of the specification, at the end of its
//! conventions). Some of it is checked while a script plays: that revisions only grow, that nothing turns unhealthy but
//! in a sweep, that no sweep both marks and removes, or does either behind a shut guard (`machine::ledger`).

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::row::{Row, What, differences, normal};
use super::scripts::vectors;
use super::vector::{Op, Vector};
use super::{machine, oracle};

fn log_of(vector: &Vector) -> Vec<Row> {
    normal(machine::run(vector).expect("a log"))
}

/// The rules and the oracle say the same.
fn agree(vector: &Vector) -> Result<(), TestCaseError> {
    let (rules, plain) = (log_of(vector), normal(oracle::run(vector)));
    if rules == plain {
        return Ok(());
    }
    let lines = differences(&plain, &rules);
    let lines = lines[..lines.len().min(40)].join("\n");
    Err(TestCaseError::fail(format!("- the oracle alone, + the rules alone\n{lines}\n")))
}

/// `STILLUP_SCRIPTS=N` tries N times as many.
fn factor() -> u32 {
    std::env::var("STILLUP_SCRIPTS").ok().and_then(|it| it.parse().ok()).unwrap_or(1)
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..ProptestConfig::with_cases(cases * factor())
    }
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn the_rules_agree_with_the_oracle(vector in vectors("two-stage")) {
        agree(&vector)?;
    }

    #[test]
    fn nacos_agrees_with_the_oracle(vector in vectors("nacos-1")) {
        agree(&vector)?;
    }
}

/// The same script, less what disturbs sweeps, with no guard, and 15 sweeps between the time-outs.
fn undisturbed(mut vector: Vector) -> Vector {
    let disturbs = |op: &Op| {
        matches!(
            op,
            Op::RegistryPause { .. }
                | Op::ClockStep { .. }
                | Op::RegistryDown { .. }
                | Op::RegistryRestart { .. }
        )
    };
    vector.script.retain(|op| !disturbs(op));
    let hard = vector.knobs.server.soft_timeout_ms + 15 * vector.knobs.server.sweep_interval_ms;
    let settings = [
        ("hard_timeout_ms", json!(hard)),
        ("sweep_passes", json!("else_if")),
        ("guard", json!("none")),
        ("register_stamps_heartbeat", json!(true)),
    ];
    for (name, value) in settings {
        vector.knobs.set(name, &value).expect("a setting");
    }
    vector
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_list_is_never_more_than_halved_but_at_a_start(vector in vectors("two-stage")) {
        let mut vector = vector;
        vector.knobs.set("sanity", &json!("half")).expect("a setting");
        let mut starts: Vec<(&str, u64)> = Vec::new();
        for op in &vector.script {
            if let Op::Consumer { name, t, .. } | Op::ConsumerStart { name, t } = op {
                starts.push((name, *t));
            }
        }
        let mut held: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut lives: BTreeMap<&str, u64> = BTreeMap::new();
        let log = log_of(&vector);
        for row in log.iter().filter(|row| matches!(row.kind, "view" | "view_from_disk")) {
            let What::Map(map) = &row.what else { unreachable!("a view is a map") };
            let begun = starts.iter().filter(|it| it.0 == row.of && it.1 <= row.t).map(|it| it.1).max();
            let begun = begun.expect("a consumer that has started");
            if lives.insert(&row.of, begun) != Some(begun) {
                held.retain(|(name, _), _| *name != row.of);
            }
            // The first answer is taken unchecked, and may take as long as a call may.
            let begins = row.t - begun <= u64::from(vector.knobs.client.request_timeout_ms);
            for ((name, svc), before) in &held {
                let now = map.get(*svc).map_or(0, |ids| ids.len());
                prop_assert!(*name != row.of || begins || 2 * now >= *before, "{svc}: {before} to {row}");
            }
            held.retain(|(name, _), _| *name != row.of);
            held.extend(map.iter().map(|(svc, ids)| ((row.of.as_str(), svc.as_str()), ids.len())));
        }
    }

    #[test]
    fn removal_follows_the_mark_by_the_difference_of_the_time_outs(vector in vectors("two-stage")) {
        let vector = undisturbed(vector);
        let config = &vector.knobs.server;
        let difference = u64::from(config.hard_timeout_ms - config.soft_timeout_ms);
        let log = log_of(&vector);
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
                        prop_assert!(after.is_none_or(|after| after == difference), "{id}: {after:?}");
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

proptest! {
    #![proptest_config(cases(50))]

    #[test]
    fn what_is_printed_can_be_played_again(vector in vectors("nacos-1")) {
        let printed = serde_json::from_str(&format!("{vector:?}")).expect("JSON");
        let again = Vector::parse(&printed).expect("a vector");
        prop_assert_eq!(&again.script, &vector.script);
        prop_assert_eq!(&again.knobs.server, &vector.knobs.server);
    }
}
