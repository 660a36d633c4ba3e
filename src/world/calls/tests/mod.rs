//! Calls in whole runs, held against figures derived by hand.

mod fresh_look;

use std::sync::atomic::AtomicBool;

use crate::engine::{Distribution, Engine, Limits, SimDuration, SimTime};
use crate::model::eureka::client::BalancerConfig;
use crate::model::id::AppId;
use crate::model::stage::Stage;
use crate::observe::{CallOutcome, CallTally, Outcome, ReplicateData};
use crate::scenario::{
    Application, Direction, Fault, FaultKind, Peer, Scenario, Selection, TargetChoice, Targets, Traffic,
    default_scenario,
};
use crate::world::{World, run};

const PAYMENTS: AppId = AppId(1);
const CALLEES: u32 = 10;

const fn s(seconds: u64) -> SimDuration {
    SimDuration::from_secs(seconds)
}

/// 20 instances of orders, each of which calls 10 instances of payments 10 times a second; all defaults.
fn shop() -> Scenario {
    let mut default = default_scenario().scenario;
    let traffic = Traffic {
        calls_per_second: 10.0,
        to: vec![PAYMENTS],
        retries_on_same_instance: 0,
        retries_on_next_instance: 0,
        read_timeout: s(1),
    };
    let orders = Application {
        name: "orders".to_owned(),
        instances: 20,
        traffic: Some(traffic),
        ..default.applications[0].clone()
    };
    let payments = Application {
        name: "payments".to_owned(),
        instances: CALLEES,
        observers: false,
        traffic: None,
        ..orders.clone()
    };
    default.set_applications(vec![orders, payments], AppId(0));
    Scenario {
        replicates: 1,
        faults: Vec::new(),
        expectations: Vec::new(),
        stop_when_settled: false,
        duration: s(1_200),
        ..default
    }
}

fn traffic(scenario: &mut Scenario) -> &mut Traffic {
    scenario.applications[0].traffic.as_mut().unwrap()
}

fn some(application: AppId, which: TargetChoice) -> Selection {
    Selection { application: Some(application), zone: None, which }
}

fn with(mut scenario: Scenario, verb: FaultKind) -> Scenario {
    scenario.faults.push(Fault { at: SimDuration::ZERO, within: s(60), verb });
    scenario
}

fn crash_of(count: u32) -> FaultKind {
    FaultKind::Crash(Targets::Instances(some(PAYMENTS, TargetChoice::Count(count))))
}

fn run_one(scenario: &Scenario, replicate: u32) -> ReplicateData {
    run(scenario, replicate, &AtomicBool::new(false)).expect("nobody interrupts")
}

fn sum<'a>(rows: impl IntoIterator<Item = &'a crate::observe::CallMinute>) -> CallTally {
    let mut sum = CallTally::default();
    for row in rows {
        sum += CallTally {
            calls: row.calls,
            failed: row.failed,
            attempts: row.attempts,
            dead_by_stage: row.dead_by_stage,
        };
    }
    sum
}

/// Within five standard deviations of a Poisson number.
fn assert_about(count: u64, expected: f64, what: &str) {
    let allowed = 5.0 * expected.sqrt() + 1.0;
    assert!((count as f64 - expected).abs() <= allowed, "{what}: {count}, not {expected} ± {allowed}");
}

/// Times of detection of the one dead at a stage, summed over observers, s.
fn seconds_shown(data: &ReplicateData, stage: Stage) -> f64 {
    let rows = data.detections.iter().filter(|row| row.stage == stage);
    rows.map(|row| match row.outcome {
        Outcome::Detected(after) => after.as_secs_f64() * row.count as f64,
        other => panic!("{other:?}"),
    })
    .sum()
}

/// What the calls come to if those of quiet callers are drawn together, or one by one like all others.
fn count(scenario: &Scenario, replicate: u32, bulk: bool) -> CallTally {
    let mut engine = Engine::new();
    let mut world = World::new(scenario, replicate, engine.schedule());
    world.calls.as_mut().unwrap().bulk = bulk;
    let end = SimTime::ZERO + scenario.duration;
    engine.run(&mut world, &Limits::until(end));
    sum(&world.finish_calls(end))
}

#[test]
fn traffic_disturbs_nothing() {
    let scenario = with(shop(), crash_of(1));
    let mut silent = scenario.clone();
    silent.applications[0].traffic = None;
    let (with_calls, without) = (run_one(&scenario, 3), run_one(&silent, 3));
    assert!(!with_calls.calls.is_empty());
    assert_eq!((with_calls.digest, with_calls.events), (without.digest, without.events));
    assert_eq!(ReplicateData { calls: Vec::new(), ..with_calls }, without);
}

/// Each caller calls the dead with a tenth of its 10 calls a second, as long as its balancer shows it: T_D. What of
/// that is to be blamed on a stage is the time between the stage before and itself.
#[test]
fn a_crash_costs_rate_times_detection_time() {
    for replicate in 0..5 {
        let data = run_one(&with(shop(), crash_of(1)), replicate);
        let tally = sum(&data.calls);
        let shown = Stage::WAY.map(|stage| seconds_shown(&data, stage));
        let shown = [shown[0] * 20.0, shown[1] * 20.0, shown[2], shown[3]];
        assert_about(tally.failed, shown[3], "failed");
        assert_eq!(tally.failed, tally.attempts[CallOutcome::Dead as usize]);
        assert_eq!(tally.dead_by_stage.iter().sum::<u64>(), tally.failed);
        let mut before = 0.0;
        for stage in Stage::WAY {
            let until = shown[stage as usize];
            assert_about(tally.dead_by_stage[stage as usize], until - before, stage.name());
            before = until;
        }
        // Nothing fails before the crash, nor once the last balancer has taken it in.
        let crash = data.detections[0].at;
        let over = crash + s(335);
        let quiet = data.calls.iter().filter(|row| row.from + s(60) <= crash || row.from > over);
        assert_eq!(sum(quiet).failed, 0);
    }
}

#[test]
fn a_retry_on_the_next_instance_hides_the_crash() {
    let mut scenario = with(shop(), crash_of(1));
    traffic(&mut scenario).retries_on_next_instance = 1;
    let data = run_one(&scenario, 0);
    let tally = sum(&data.calls);
    assert_eq!(tally.failed, 0);
    assert_about(
        tally.attempts[CallOutcome::Dead as usize],
        seconds_shown(&data, Stage::Balancer) * 10.0 / 9.0,
        "dead",
    );
}

/// Stopped in order, it is in the lists of callers for a while, although its process has gone.
#[test]
fn an_orderly_stop_costs_calls_too() {
    let stop = FaultKind::Stop {
        targets: some(PAYMENTS, TargetChoice::Count(1)),
        linger: SimDuration::ZERO,
        over: SimDuration::ZERO,
    };
    let data = run_one(&with(shop(), stop), 1);
    let tally = sum(&data.calls);
    // The registry knows within milliseconds; the process ends a moment later.
    assert_eq!(tally.dead_by_stage[Stage::Registry as usize], 0);
    assert_about(tally.failed, seconds_shown(&data, Stage::Balancer), "failed");
}

/// 20 callers call it once a second each. It stands for 31 s, and calls wait for 1 s: those of the first 30 fail.
#[test]
fn a_pause_fails_calls_until_it_is_over_in_time() {
    let pause = |seconds| FaultKind::Pause {
        targets: Targets::Instances(some(PAYMENTS, TargetChoice::Count(1))),
        length: Distribution::constant(s(seconds)),
    };
    let tally = sum(&run_one(&with(shop(), pause(31)), 0).calls);
    assert_about(tally.failed, 20.0 * 30.0, "failed");
    assert_eq!(tally.failed, tally.attempts[CallOutcome::Paused as usize]);
    assert_eq!(sum(&run_one(&with(shop(), pause(1)), 0).calls).failed, 0);
}

/// 200 calls a second in all, from 10 minutes on none for 2 minutes: less 24,000.
#[test]
fn callers_that_stand_still_call_nobody() {
    let base = sum(&run_one(&shop(), 0).calls).calls;
    let pause = FaultKind::Pause {
        targets: Targets::Instances(some(AppId(0), TargetChoice::All)),
        length: Distribution::constant(s(120)),
    };
    let paused = sum(&run_one(&with(shop(), pause), 0).calls).calls;
    assert_about(paused, base as f64 - 24_000.0, "calls");
    let crash = FaultKind::Crash(Targets::Instances(some(AppId(0), TargetChoice::All)));
    let data = run_one(&with(shop(), crash), 0);
    let end = data.detections[0].at;
    assert!(data.calls.iter().all(|row| row.from < end));
}

/// Half of the calls to one of ten fail for 10 minutes: 20 · 1 · 0.5 · 600 = 6,000.
#[test]
fn grey_failure_fails_its_share_and_no_stage_is_to_blame() {
    let grey = FaultKind::Grey {
        targets: some(PAYMENTS, TargetChoice::Count(1)),
        calls_fail: 0.5,
        length: Some(s(600)),
    };
    let tally = sum(&run_one(&with(shop(), grey), 0).calls);
    assert_about(tally.failed, 6_000.0, "failed");
    assert_eq!(tally.failed, tally.attempts[CallOutcome::Refused as usize]);
    assert_eq!(tally.dead_by_stage, [0; 4]);
}

/// One of payments cannot be reached by orders for a minute: a tenth of 200 calls a second. One of orders cannot reach
/// payments: all of its 10. The registry knows of neither.
#[test]
fn a_partition_between_instances_fails_calls_and_nothing_else() {
    let cut = |app, from| FaultKind::Partition {
        targets: some(app, TargetChoice::Count(1)).into(),
        peer: Peer::Instances { application: Some(from), zone: None },
        length: Some(s(60)),
        lost: Direction::Both,
    };
    for (verb, expected) in [(cut(PAYMENTS, AppId(0)), 1_200.0), (cut(AppId(0), PAYMENTS), 600.0)] {
        let data = run_one(&with(shop(), verb), 0);
        let tally = sum(&data.calls);
        assert_about(tally.failed, expected, "failed");
        assert_eq!(tally.failed, tally.attempts[CallOutcome::CutOff as usize]);
        assert!(data.mistakes.is_empty() && data.leases.evicted == 0);
    }
}

/// Cut off from everyone for 400 s, it is also evicted: calls fail until the last balancer has dropped it, and it is
/// alive, so no stage is to blame.
#[test]
fn who_is_cut_off_from_all_is_called_until_it_is_dropped() {
    let cut = FaultKind::Partition {
        targets: some(PAYMENTS, TargetChoice::Count(1)).into(),
        peer: Peer::All,
        length: Some(s(400)),
        lost: Direction::Both,
    };
    let tally = sum(&run_one(&with(shop(), cut), 0).calls);
    // 150 s at least and 335 at most, as after a crash; 20 callers with a call a second.
    assert!((3_000 - 300..6_700 + 400).contains(&tally.failed), "{tally:?}");
    assert_eq!(tally.failed, tally.attempts[CallOutcome::CutOff as usize]);
}

/// A link that loses half of what goes one way, for a minute, on a network that loses a hundredth: a call to it is kept
/// with 0.99 · 0.99 · 0.5, any other with 0.9801.
#[test]
fn a_bad_link_loses_its_share_beside_the_networks() {
    let mut scenario = shop();
    scenario.network.loss = 0.01;
    // A fetch may be lost, too, and leave a caller without instances for a while.
    let lost = |tally: &CallTally| tally.attempts[CallOutcome::CutOff as usize];
    let base = sum(&run_one(&scenario, 0).calls);
    assert_about(lost(&base), base.calls as f64 * 0.0199, "lost by the network");
    let bad = FaultKind::Degrade {
        targets: some(PAYMENTS, TargetChoice::Count(1)).into(),
        peer: Peer::Instances { application: None, zone: None },
        loss: 0.5,
        latency: None,
        length: Some(s(60)),
        direction: Direction::ToServer,
    };
    let tally = sum(&run_one(&with(scenario, bad), 0).calls);
    let expected = tally.calls as f64 * 0.0199 + 1_200.0 * (0.0199 + 0.98 * 0.5 - 0.0199);
    assert_about(lost(&tally), expected, "lost");
}

/// All balancers have dropped it after 95 s at most (`eureka-client.md` 8.3); until then it goes on to answer.
#[test]
fn who_lingers_after_an_orderly_stop_fails_no_call() {
    let stop = |linger| FaultKind::Stop {
        targets: some(PAYMENTS, TargetChoice::Count(1)),
        linger: s(linger),
        over: SimDuration::ZERO,
    };
    assert_eq!(sum(&run_one(&with(shop(), stop(100)), 0).calls).failed, 0);
    let some_time = sum(&run_one(&with(shop(), stop(30)), 0).calls).failed;
    assert!(some_time > 0 && some_time < sum(&run_one(&with(shop(), stop(0)), 0).calls).failed);
}

/// All ten leave in order: once the lists are empty, no call finds anybody.
#[test]
fn an_empty_list_fails_every_call() {
    let stop = FaultKind::Stop {
        targets: some(PAYMENTS, TargetChoice::All),
        linger: SimDuration::ZERO,
        over: SimDuration::ZERO,
    };
    let data = run_one(&with(shop(), stop), 0);
    let last = data.calls.last().unwrap();
    assert_eq!((last.failed, last.attempts[CallOutcome::NoInstance as usize]), (last.calls, last.calls));
    assert_about(last.calls, 200.0 * 60.0, "calls of the last minute");
}

/// Mean and spread over replicates of what each way counts; the way must make no difference. A crash of 3 with a
/// retry, and a network that loses one call in 100.
#[test]
fn in_bulk_or_one_by_one_the_figures_are_the_same() {
    let mut scenario = with(shop(), crash_of(3));
    scenario.network.loss = 0.01;
    traffic(&mut scenario).retries_on_next_instance = 1;
    let figures = |bulk| -> Vec<[f64; 4]> {
        let figures = |tally: CallTally| {
            let [answered, dead, _, cut_off, ..] = tally.attempts.map(|count| count as f64);
            [answered, dead, cut_off, tally.failed as f64]
        };
        (0..30).map(|replicate| figures(count(&scenario, replicate, bulk))).collect()
    };
    let (bulk, single) = (figures(true), figures(false));
    for figure in 0..4 {
        // The same replicate has the same detection times both ways, so differences are of the calls alone.
        let differences: Vec<f64> =
            bulk.iter().zip(&single).map(|(bulk, single)| bulk[figure] - single[figure]).collect();
        let n = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / n;
        let variance = differences.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        assert!(mean.abs() < 4.0 * error, "figure {figure}: {mean} ± {error}");
        // Both have the variance of a Poisson number at most, or of retries that come in pairs.
        let expected = single.iter().map(|one| one[figure]).sum::<f64>() / n;
        assert!(variance < 2.0 * 2.0 * 2.5 * expected, "figure {figure}: {variance} for {expected}");
    }
}

/// With a cache off, an empty list is refilled from the local registry at each call; Ribbon polls every 30 s.
#[test]
fn who_comes_back_is_called_sooner_by_who_looks_again() {
    let failed = |balancer| {
        let mut scenario = shop();
        scenario.setup.eureka_mut().unwrap().clients[0].balancer = balancer;
        let restart = FaultKind::Restart {
            one_by_one: None,
            targets: Targets::Instances(some(PAYMENTS, TargetChoice::All)),
            down_for: s(200),
            new_id: false,
            graceful: true,
        };
        let data = run_one(&with(scenario, restart), 0);
        let tally = sum(&data.calls);
        (tally.attempts[CallOutcome::NoInstance as usize], sum(data.calls.last()).failed)
    };
    let ribbon = failed(BalancerConfig::Ribbon { refresh_interval: s(30) });
    let spring = failed(BalancerConfig::SpringCloudLoadBalancer { ttl: s(35), call_rate: None });
    assert!(ribbon.0 > spring.0 && spring.0 > 0, "{ribbon:?} {spring:?}");
    assert_eq!((ribbon.1, spring.1), (0, 0));
}
