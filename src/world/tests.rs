//! Whole runs of small worlds, held against figures derived by hand.

use std::sync::atomic::AtomicBool;

use crate::engine::SimDuration;
use crate::model::client::ClientConfig;
use crate::model::eureka::{Flavour, ServerConfig};
use crate::model::stage::Stage;
use crate::observe::{Ending, Outcome, ReplicateData};
use crate::scenario::{Application, Delay, Fault, Network, Scenario, Selection, Targets, Verb, Which};

const fn s(seconds: u64) -> SimDuration {
    SimDuration::from_secs(seconds)
}

/// `instances` of one application on a standalone Spring server with all defaults.
fn fleet(instances: u32) -> Scenario {
    Scenario {
        title: String::new(),
        about: String::new(),
        seed: 1,
        replicates: 1,
        duration: s(1_800),
        stop_when_settled: true,
        start_window: s(30),
        warm_up: s(300),
        event_budget: 10_000_000,
        release: "2025.0".to_owned(),
        server: ServerConfig::defaults(Flavour::Spring),
        server_starts_at_second: None,
        server_client: ClientConfig::defaults(Flavour::Spring),
        applications: vec![Application {
            name: "orders".to_owned(),
            instances,
            observers: true,
            balancer_first_call: None,
            client: ClientConfig::defaults(Flavour::Spring),
        }],
        network: Network { latency: Delay::Constant(SimDuration::from_millis(1)) },
        faults: Vec::new(),
        expectations: Vec::new(),
    }
}

fn some(count: u32) -> Targets {
    Targets::Instances(Selection { application: None, which: Which::Count(count) })
}

fn with(mut scenario: Scenario, verb: Verb) -> Scenario {
    scenario.faults.push(Fault { at: SimDuration::ZERO, within: s(60), verb });
    scenario
}

fn run(scenario: &Scenario, replicate: u32) -> ReplicateData {
    super::run(scenario, replicate, &AtomicBool::new(false)).expect("nobody interrupts")
}

fn detected(data: &ReplicateData, stage: Stage) -> Vec<(SimDuration, u32)> {
    data.detections
        .iter()
        .filter(|row| row.stage == stage)
        .map(|row| match row.outcome {
            Outcome::Detected(after) => (after, row.count),
            other => panic!("{other:?} at {}", stage.name()),
        })
        .collect()
}

/// Spec 14.1: registry 150 to 240 s, served to 270 s, client to 300 s, balancer to 335 s after the crash; the
/// round trips of heartbeat and fetch add a few milliseconds at either end.
#[test]
fn a_crash_is_detected_within_the_closed_form() {
    let scenario = with(fleet(100), Verb::Crash(some(1)));
    let slack = SimDuration::from_millis(10);
    for replicate in 0..20 {
        let data = run(&scenario, replicate);
        assert_eq!(data.ending, Ending::Settled);
        for (stage, latest, observations) in [
            (Stage::Registry, s(240), 1),
            (Stage::Served, s(270), 1),
            (Stage::Client, s(300), 99),
            (Stage::Balancer, s(335), 99),
        ] {
            let rows = detected(&data, stage);
            assert_eq!(rows.iter().map(|row| row.1).sum::<u32>(), observations, "{}", stage.name());
            for (after, _) in rows {
                assert!(after + slack >= s(150) && after <= latest + slack, "{} {after}", stage.name());
            }
        }
        assert!(data.mistakes.is_empty());
    }
}
