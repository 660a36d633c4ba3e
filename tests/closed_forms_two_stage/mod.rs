//! The simulated two-stage registry against its closed forms, which share no code: every simulated T_D lies within its
//! bound, the mean comes close, and where the closed forms say that a ghost stays, it stays.

mod besides;
mod common;
mod random;

use common::{client_of, crash, fault, hold, of_app, registry_of, replicates_with, run, s, scenario, some};
use stillup::analysis::{bounds, ks, two_stage::Uniforms};
use stillup::engine::SimDuration;
use stillup::model::id::AppId;
use stillup::model::stage::{EventKind, Stage};
use stillup::model::two_stage::{Discovery, GuardScope, Preset, RegisterExisting, WatchTimeoutPayload};
use stillup::scenario::{Application, Delay, Fault, FaultKind, TargetChoice, Targets};

#[test]
fn defaults() {
    for preset in [Preset::TwoStage, Preset::Nacos1] {
        assert_eq!(hold(&scenario(preset, &[80, 80])), 4);
    }
}

/// One sample of each replicate, against the trapezoid of a sum of two uniform waits.
#[test]
fn the_distribution_is_that_of_the_sum() {
    let mut scenario = scenario(Preset::TwoStage, &[30]);
    scenario.network.latency = Delay::Constant(SimDuration::ZERO);
    let data = run(&scenario);
    for (stage, least) in [(Stage::Registry, 10.0), (Stage::Entry, 55.0)] {
        let seen = common::detected(&data, EventKind::Crash, stage);
        let mut times: Vec<SimDuration> = seen.into_iter().map(|(t_d, _)| t_d).collect();
        times.sort_unstable();
        let sum = Uniforms::new(least, [5.0, 3.0]);
        let gap = ks::one_sample_statistic(&times, |t_d| sum.cdf(t_d.as_secs_f64()));
        assert!(gap < ks::critical_value_one_percent(times.len() as f64), "{}: {gap}", stage.name());
    }
}

#[test]
fn long_polls() {
    let mut scenario = scenario(Preset::TwoStage, &[20, 10]);
    for place in 0..2 {
        client_of(&mut scenario, place).discovery = Discovery::LongPoll;
    }
    // The second application hears of the first only.
    client_of(&mut scenario, 1).services = vec![AppId(0)];
    assert_eq!(hold(&scenario), 4);
    registry_of(&mut scenario).watch_timeout_payload = WatchTimeoutPayload::Full;
    client_of(&mut scenario, 0).watch_timeout_ms = 1_100;
    scenario.network.latency = Delay::Uniform(s(0), SimDuration::from_millis(200));
    assert_eq!(hold(&scenario), 4);
}

/// Time-outs of two parks with turnarounds of two: most changes wait for the next long poll.
#[test]
fn long_polls_that_swallow_changes() {
    let mut scenario = scenario(Preset::TwoStage, &[20]);
    client_of(&mut scenario, 0).discovery = Discovery::LongPoll;
    client_of(&mut scenario, 0).watch_timeout_ms = 400;
    scenario.network.latency = Delay::Constant(SimDuration::from_millis(200));
    assert_eq!(hold(&scenario), 4);
}

#[test]
fn a_stop_and_a_registration() {
    for preset in [Preset::TwoStage, Preset::Nacos1] {
        let mut scenario = scenario(preset, &[40]);
        scenario.faults = vec![fault(common::stop(some(1)))];
        assert_eq!(hold(&scenario), 4);
        scenario.faults =
            vec![fault(FaultKind::Start { application: AppId(0), count: 2, over: SimDuration::ZERO })];
        assert_eq!(hold(&scenario), 4);
    }
}

/// C9: back after 30 s an instance finds its entry, and its first heartbeat heals it; after 70 s it is forgotten.
#[test]
fn who_comes_back() {
    let mut scenario = scenario(Preset::TwoStage, &[30]);
    client_of(&mut scenario, 0).disk_load_at_start = false;
    let restart = |down_s, graceful| {
        let targets = Targets::Instances(some(1));
        fault(FaultKind::Restart { one_by_one: None, targets, down_for: s(down_s), new_id: false, graceful })
    };
    for (down_s, graceful, held) in [(30, false, 6), (70, false, 8), (6, true, 8), (4, true, 6)] {
        scenario.faults = vec![restart(down_s, graceful)];
        assert_eq!(hold(&scenario), held, "back after {down_s} s");
    }
    scenario.faults = vec![restart(30, false)];
    registry_of(&mut scenario).register_existing = RegisterExisting::Heal;
    assert_eq!(hold(&scenario), 6);
}

/// N1, N2: the only instance, and all of a service, are hidden by their deletion; one of two by its mark.
#[test]
fn read_protection() {
    for (instances, count) in [(1, 1), (4, 4), (2, 1)] {
        let mut scenario = scenario(Preset::Nacos1, &[instances, 40]);
        scenario.faults = vec![crash(of_app(0, TargetChoice::Count(count)))];
        assert_eq!(hold(&scenario), 4, "{count} of {instances}");
    }
    // Marked within 5.7 s and deleted after 7: of the three that are shown again in between a poll every 3 s may not hear.
    let mut lone = scenario(Preset::Nacos1, &[3, 40]);
    lone.faults = vec![crash(of_app(0, TargetChoice::All))];
    let server = registry_of(&mut lone);
    (server.soft_timeout_ms, server.hard_timeout_ms, server.sweep_interval_ms) = (5_100, 12_100, 700);
    client_of(&mut lone, 1).discovery = Discovery::Poll;
    client_of(&mut lone, 1).poll_interval_ms = 3_000;
    assert_eq!(hold(&lone), 4);
    // Half of four: protected from two of four on, until one is deleted.
    let mut scenario = scenario(Preset::Nacos1, &[4, 40]);
    registry_of(&mut scenario).read_protect_threshold = Some(0.5);
    scenario.faults = vec![crash(of_app(0, TargetChoice::Count(2)))];
    assert_eq!(hold(&scenario), 4);
}

#[test]
fn pushes_that_are_lost() {
    let mut scenario = scenario(Preset::Nacos1, &[80]);
    for loss in [0.3, 1.0] {
        registry_of(&mut scenario).push_loss = loss;
        assert_eq!(hold(&scenario), 4, "loss {loss}");
    }
    registry_of(&mut scenario).push_loss = 0.0;
    // Out of the list of subscribers for half of the time.
    registry_of(&mut scenario).subscriber_ttl_ms = 5_000;
    assert_eq!(hold(&scenario), 4);
    scenario.faults = vec![crash(some(3))];
    assert_eq!(hold(&scenario), 4);
}

/// N4: polls every 60 s, a push if the last was at most 10 s ago.
#[test]
fn the_first_instance_of_a_service() {
    let mut scenario = scenario(Preset::Nacos1, &[20, 0]);
    scenario.faults =
        vec![fault(FaultKind::Start { application: AppId(1), count: 1, over: SimDuration::ZERO })];
    assert_eq!(hold(&scenario), 4);
}

/// C2, C3: a service keeps its ghosts just when more die at once than its guard bears; with the repair of 1.9 never.
#[test]
fn services_keep_their_ghosts_just_when_the_closed_forms_say_so() {
    for instances in [8, 9, 10, 13, 14, 20, 27, 40] {
        for count in 1..=7.min(instances / 2) {
            let mut scenario = scenario(Preset::TwoStage, &[instances]);
            scenario.replicates = 10;
            scenario.faults = vec![crash(some(count))];
            let entry = bounds(&scenario).pop().expect("a bound");
            assert_eq!(entry.stage, Stage::Entry);
            let gone = replicates_with(&run(&scenario), EventKind::Crash, Stage::Entry);
            let expected = if entry.range.is_ok() { 10 } else { 0 };
            assert_eq!(gone, expected, "{count} of {instances}: {:?}", entry.range);
            registry_of(&mut scenario).guard_scope = GuardScope::SoftOnly;
            common::hold_range(&scenario);
        }
    }
}

/// Four of twenty jam: a fifth, ten minutes later, is never hidden. Three do not.
#[test]
fn two_waves() {
    let later = Fault { at: s(600), ..crash(some(1)) };
    for (first, held, marked) in [(3, 4, 4), (4, 0, 4)] {
        let mut scenario = scenario(Preset::TwoStage, &[20]);
        scenario.duration = s(1_500);
        scenario.replicates = 60;
        scenario.faults = vec![crash(some(first)), later.clone()];
        assert_eq!(common::hold_range(&scenario), held, "{first} and one");
        let seen = common::detected(&run(&scenario), EventKind::Crash, Stage::Registry);
        let seen: u64 = seen.into_iter().map(|(_, count)| count).sum();
        assert_eq!(seen, 60 * marked);
    }
}

/// Observers with settings of their own, in one table.
#[test]
fn applications_that_differ() {
    let mut scenario = scenario(Preset::TwoStage, &[20, 20]);
    client_of(&mut scenario, 0).heartbeat_interval_ms = 2_500;
    client_of(&mut scenario, 0).first_heartbeat_delay_ms = 500;
    client_of(&mut scenario, 1).poll_interval_ms = 1_000;
    registry_of(&mut scenario).hard_timeout_ms = 16_000;
    assert_eq!(hold(&scenario), 4);
    let watching = Application { instances: 5, name: "watching".into(), ..scenario.applications[1].clone() };
    scenario.add_application(watching, AppId(1));
    client_of(&mut scenario, 2).registers = false;
    client_of(&mut scenario, 2).discovery = Discovery::LongPoll;
    assert_eq!(hold(&scenario), 4);
}
