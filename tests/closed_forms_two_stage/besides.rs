//! What is computed besides detection times: false evictions, the loss of a cut, what a stop leaves behind, the load.

use super::common::{client_of, detected, fault, of_app, registry_of, run, s, scenario, some, stop};
use stillup::analysis::two_stage::{
    chance_that_a_pause_evicts, false_evictions_per_heartbeat, late_reregistration, lost_in_a_cut,
    ordinary_load, stale_consumers_at_port_close,
};
use stillup::engine::{Distribution, SimDuration};
use stillup::model::message::RequestKind;
use stillup::model::stage::{EventKind, Stage};
use stillup::model::two_stage::{Discovery, Preset};
use stillup::scenario::{Delay, Direction, FaultKind, Peer, Scenario, Settings, TargetChoice, Targets};

/// Without latency, 400 replicates.
fn quick(preset: Preset, fleet: &[u32]) -> Scenario {
    let mut scenario = scenario(preset, fleet);
    scenario.network.latency = Delay::Constant(SimDuration::ZERO);
    scenario.replicates = 400;
    scenario
}

/// Whether `share` of `trials` is within four standard errors of `expected`.
fn is_close(share: f64, expected: f64, trials: f64) -> bool {
    let error = (expected * (1.0 - expected) / trials).sqrt();
    (share - expected).abs() <= 4.0 * error + 1e-9
}

#[test]
fn pauses_evict_as_often_as_said() {
    for pause_s in [10, 12, 14, 16, 18] {
        let mut scenario = quick(Preset::TwoStage, &[40]);
        scenario.duration = s(420);
        let length = Distribution::constant(s(pause_s));
        scenario.faults = vec![fault(FaultKind::Pause { targets: Targets::Instances(some(1)), length })];
        let data = run(&scenario);
        let marked: u64 = data.replicates.iter().map(|replicate| replicate.leases.soft_evicted).sum();
        let Settings { server, clients, .. } = scenario.setup.two_stage().unwrap();
        let client = &clients[0];
        let expected = chance_that_a_pause_evicts(server, client, pause_s * 1_000);
        let share = marked as f64 / 400.0;
        assert!(is_close(share, expected, 400.0), "{pause_s} s: {share} against {expected}");
    }
}

/// A fifth of all messages is lost: of 50 instances in 600 s 50 · 120 heartbeats, and a mark in 156 of them.
#[test]
fn losses_evict_as_often_as_said() {
    let mut scenario = quick(Preset::TwoStage, &[50]);
    scenario.replicates = 20;
    scenario.stop_when_settled = false;
    scenario.network.loss = 0.2;
    scenario.faults = Vec::new();
    let data = run(&scenario);
    let marked: u64 = data.replicates.iter().map(|replicate| replicate.leases.soft_evicted).sum();
    let Settings { server, clients, .. } = scenario.setup.two_stage().unwrap();
    let client = &clients[0];
    let heartbeats = 20.0 * 50.0 * 600.0 / 5.0;
    let expected = heartbeats * false_evictions_per_heartbeat(server, client, 0.2);
    let off = (marked as f64 / expected - 1.0).abs();
    assert!(off < 0.12, "{marked} against {expected}");
}

/// C6: all are cut off at one moment.
#[test]
fn a_cut_costs_what_is_said() {
    let mut scenario = quick(Preset::TwoStage, &[200]);
    scenario.replicates = 100;
    scenario.duration = s(420);
    let targets = Targets::Instances(of_app(0, TargetChoice::All));
    let cut = FaultKind::Partition { targets, peer: Peer::Servers, length: None, lost: Direction::Both };
    scenario.faults = vec![fault(cut)];
    let data = run(&scenario);
    let lost: Vec<f64> =
        data.replicates.iter().map(|replicate| replicate.leases.soft_evicted as f64 / 200.0).collect();
    let Settings { server, clients, .. } = scenario.setup.two_stage().unwrap();
    let client = &clients[0];
    let expected = lost_in_a_cut(server, client);
    let mean = lost.iter().sum::<f64>() / lost.len() as f64;
    // The phases of 200 are uniform to within a few per cent.
    assert!((mean - expected.mean).abs() < 0.08, "{mean} against {expected:?}");
    let outside = |share: &&f64| **share < expected.min - 0.02 || **share > expected.max + 0.1;
    assert_eq!(lost.iter().find(outside), None, "{expected:?}");
}

/// C12: T_D of a stop counts from the deregistration, the ghost's from the exit, one linger later.
#[test]
fn a_forgotten_timer_makes_ghosts_as_often_as_said() {
    let mut scenario = quick(Preset::TwoStage, &[40]);
    client_of(&mut scenario, 0).stop_heartbeat_before_deregister = false;
    scenario.stop_when_settled = false;
    scenario.duration = s(420);
    scenario.faults = vec![fault(stop(some(1)))];
    let Settings { server, clients, .. } = scenario.setup.two_stage().unwrap();
    let client = &clients[0];
    let ghost = late_reregistration(server, client).expect("it lingers with its heartbeats on");
    let seen = detected(&run(&scenario), EventKind::Stop, Stage::Registry);
    let ghosts: Vec<SimDuration> = seen.iter().map(|(t_d, _)| *t_d).filter(|t_d| !t_d.is_zero()).collect();
    let share = ghosts.len() as f64 / 400.0;
    assert!(is_close(share, ghost.probability, 400.0), "{share}");
    let within = |t_d: &SimDuration| ghost.shown.min + s(3) <= *t_d && *t_d <= ghost.shown.max + s(3);
    assert!(ghosts.iter().all(within), "{ghosts:?}");
    let mean = ghosts.iter().map(|t_d| t_d.as_secs_f64()).sum::<f64>() / ghosts.len() as f64;
    assert!((mean - ghost.shown.mean.as_secs_f64() - 3.0).abs() < 0.5, "{mean}");
}

/// 2.6: who has heard of a stop within 3 s.
#[test]
fn a_stop_is_heard_as_often_as_said() {
    let mut scenario = quick(Preset::TwoStage, &[40]);
    scenario.faults = vec![fault(stop(some(1)))];
    let seen = detected(&run(&scenario), EventKind::Stop, Stage::Client);
    let expected = stale_consumers_at_port_close(5_000, 3_000);
    let all: u64 = seen.iter().map(|(_, count)| count).sum();
    let late: u64 = seen.iter().filter(|(t_d, _)| *t_d > s(3)).map(|(_, count)| count).sum();
    assert!((late as f64 / all as f64 - expected.share).abs() < 0.03);
    let beyond = |t_d: SimDuration| t_d.saturating_sub(s(3)).as_secs_f64() * 1_000.0;
    let mean_ms = seen.iter().map(|(t_d, count)| beyond(*t_d) * *count as f64).sum::<f64>() / all as f64;
    assert!((mean_ms - expected.mean_ms).abs() < 40.0, "{mean_ms}");
    assert!(seen.iter().all(|(t_d, _)| beyond(*t_d) <= expected.max_ms));
}

/// The minutes of an ordinary day, from the third on.
#[test]
fn the_load_is_what_is_said() {
    for (preset, discovery) in [
        (Preset::TwoStage, Discovery::Poll),
        (Preset::TwoStage, Discovery::LongPoll),
        (Preset::Nacos1, Discovery::PushPlusPoll),
    ] {
        let mut scenario = scenario(preset, &[30, 12]);
        scenario.network.latency = Delay::Constant(SimDuration::from_millis(40));
        scenario.replicates = 1;
        scenario.stop_when_settled = false;
        scenario.faults = Vec::new();
        client_of(&mut scenario, 0).discovery = discovery;
        client_of(&mut scenario, 1).fetches = false;
        scenario.applications[1].observers = false;
        registry_of(&mut scenario).watch_park_ms = 250;
        let expected = ordinary_load(scenario.two_stage().unwrap()).expect("a constant delay");
        let minutes = &run(&scenario).replicates[0].load;
        let looked_at: Vec<_> = minutes.iter().filter(|minute| minute.from.as_millis() >= 120_000).collect();
        for kind in RequestKind::ALL {
            let sum: u64 = looked_at.iter().map(|minute| minute.requests[kind as usize]).sum();
            let mean = sum as f64 / looked_at.len() as f64;
            let wanted = expected.per_minute[kind as usize];
            // At most one more or less of each client at each end.
            let slack = 84.0 / looked_at.len() as f64;
            assert!((mean - wanted).abs() <= slack, "{discovery:?}, {}: {mean}, {wanted}", kind.name());
        }
    }
}
