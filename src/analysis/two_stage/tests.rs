//! The sums against the specification's table, and what has none.

use crate::analysis::fixture::{client_of, crash_of, fault, registry_of, two_stage};
use crate::analysis::{Reason, TwoStageReason, bounds};
use crate::engine::SimDuration;
use crate::model::id::AppId;
use crate::model::stage::Stage;
use crate::model::two_stage::{Discovery, Preset, Sanity};
use crate::scenario::{Delay, FaultKind, Scenario, Selection, TargetChoice, Targets};

fn some(count: u32) -> Selection {
    Selection { application: None, zone: None, which: TargetChoice::Count(count) }
}

/// Without latency, one of all crashes within a minute.
fn scenario(preset: Preset, fleet: &[u32]) -> Scenario {
    let mut scenario = two_stage(preset, fleet);
    scenario.network.latency = Delay::Constant(SimDuration::ZERO);
    scenario
}

/// Minimum, mean and maximum in milliseconds by stage, or the reason; the mean is 0 if it has none.
fn figures(scenario: &Scenario) -> Vec<Result<[u64; 3], Reason>> {
    let of_bound = |bound: crate::analysis::Bound| {
        let range = bound.range?;
        let mean = if bound.mean_absent.is_some() { SimDuration::ZERO } else { range.mean };
        Ok([range.min, mean, range.max].map(SimDuration::as_millis))
    };
    bounds(scenario).into_iter().map(of_bound).collect()
}

/// The reason at `stage` of the only kind of event.
fn reason(scenario: &Scenario, stage: Stage) -> Reason {
    let bound = bounds(scenario).into_iter().find(|bound| bound.stage == stage).expect("a bound");
    bound.range.expect_err("no closed form")
}

#[test]
fn the_default_crash() {
    let mut polling = scenario(Preset::TwoStage, &[50, 50]);
    let registry = Ok([10_000, 14_000, 18_000]);
    let entry = Ok([55_000, 59_000, 63_000]);
    let polled = Ok([10_000, 16_500, 23_000]);
    assert_eq!(figures(&polling), [registry.clone(), registry.clone(), polled, entry.clone()]);
    for place in 0..2 {
        client_of(&mut polling, place).discovery = Discovery::LongPoll;
    }
    // A park, and the turnaround of 1 ms after the last one.
    let watched = Ok([10_000, 14_100, 18_201]);
    assert_eq!(figures(&polling), [registry.clone(), registry, watched, entry]);
}

#[test]
fn nacos_1() {
    let scenario = scenario(Preset::Nacos1, &[80]);
    // A push after 1 s, unless a poll is quicker: 50 ms less on average.
    let expected = [
        Ok([10_000, 15_000, 20_001]),
        Ok([10_000, 15_000, 20_001]),
        Ok([10_000, 15_950, 21_001]),
        Ok([25_000, 30_000, 35_001]),
    ];
    assert_eq!(figures(&scenario), expected);
    // Pushes lost: a poll every 10 s.
    let mut lossy = scenario.clone();
    registry_of(&mut lossy).push_loss = 1.0;
    assert_eq!(figures(&lossy)[2], Ok([10_000, 20_000, 30_001]));
    // N1: the only instance is hidden by its deletion. Its heartbeats are tied to its service's sweeps: no mean.
    let mut alone = scenario;
    alone.applications[0].instances = 1;
    let watching = alone.applications[0].clone();
    let watching = crate::scenario::Application { name: "a1".into(), instances: 40, ..watching };
    alone.add_application(watching, AppId(0));
    alone.faults = vec![crash_of(Selection { application: Some(AppId(0)), ..some(1) })];
    let expected =
        [Ok([10_000, 0, 20_001]), Ok([25_000, 0, 35_001]), Ok([25_000, 0, 36_001]), Ok([25_000, 0, 35_001])];
    assert_eq!(figures(&alone), expected);
}

#[test]
fn a_stop_and_a_registration_take_a_request_and_a_poll() {
    let mut scenario = scenario(Preset::TwoStage, &[20]);
    let expected = [Ok([0; 3]), Ok([0; 3]), Ok([0, 2_500, 5_000]), Ok([0; 3])];
    scenario.faults = vec![fault(0, stop(1))];
    assert_eq!(figures(&scenario), expected);
    scenario.faults =
        vec![fault(0, FaultKind::Start { application: AppId(0), count: 2, over: SimDuration::ZERO })];
    assert_eq!(figures(&scenario), expected);
    // C12: lingering with its heartbeats on, it registers itself again.
    scenario.faults = vec![fault(0, stop(1))];
    client_of(&mut scenario, 0).stop_heartbeat_before_deregister = false;
    assert_eq!(reason(&scenario, Stage::Registry), TwoStageReason::RegistersAgain.into());
}

fn stop(count: u32) -> FaultKind {
    FaultKind::Stop { targets: some(count), linger: SimDuration::ZERO, over: SimDuration::ZERO }
}

/// Four of twenty are hidden in time and never forgotten; of five the fifth may stay.
#[test]
fn a_jam_has_no_closed_form() {
    let mut scenario = scenario(Preset::TwoStage, &[20]);
    scenario.faults = vec![crash_of(some(4))];
    let [registry, served, client, entry] = &figures(&scenario)[..] else { panic!("four stages") };
    assert!(registry.is_ok() && served.is_ok() && client.is_ok());
    let (application, shrinks) = ("a0".to_owned(), false);
    let shut = TwoStageReason::GuardMayShut { application, ghosts: 4, entries: 20, tolerated: 3, shrinks };
    assert_eq!(entry, &Err(shut.into()));
    scenario.faults = vec![crash_of(some(5))];
    let shut = |it: &Reason| matches!(it, Reason::TwoStage(TwoStageReason::GuardMayShut { .. }));
    assert!(figures(&scenario).iter().all(|figures| figures.as_ref().is_err_and(shut)));
}

/// 2.3: five of nine are more than half. Exactly half is taken.
#[test]
fn consumers_refuse_what_lost_more_than_half() {
    let mut scenario = scenario(Preset::TwoStage, &[9, 20]);
    let of_first = |count| Selection { application: Some(AppId(0)), ..some(count) };
    scenario.faults = vec![crash_of(of_first(5))];
    let refused = |leave, entries| {
        Reason::from(TwoStageReason::ListIsRefused { application: "a0".to_owned(), leave, entries })
    };
    assert_eq!(reason(&scenario, Stage::Client), refused(5, 9));
    scenario.faults = vec![crash_of(of_first(4))];
    assert!(figures(&scenario)[2].is_ok());
    // By long polls each service is looked at by itself.
    scenario.faults.push(fault(
        300,
        FaultKind::Crash(Targets::Instances(Selection { application: Some(AppId(1)), ..some(1) })),
    ));
    scenario.faults[0] = crash_of(of_first(5));
    assert_eq!(reason(&scenario, Stage::Client), refused(5, 9));
    for place in 0..2 {
        client_of(&mut scenario, place).discovery = Discovery::LongPoll;
        client_of(&mut scenario, place).services = vec![AppId(1)];
    }
    assert!(figures(&scenario)[2].is_ok());
    client_of(&mut scenario, 1).services = Vec::new();
    client_of(&mut scenario, 0).services = Vec::new();
    assert_eq!(reason(&scenario, Stage::Client), Reason::NobodyWatches);
}

#[test]
fn who_comes_back_finds_its_entry() {
    let restart = |down_s: u64, new_id, graceful| {
        let down_for = SimDuration::from_secs(down_s);
        let targets = Targets::Instances(some(1));
        fault(0, FaultKind::Restart { one_by_one: None, targets, down_for, new_id, graceful })
    };
    let mut scenario = scenario(Preset::TwoStage, &[50]);
    let figures_after = |scenario: &mut Scenario, fault| {
        scenario.faults = vec![fault];
        figures(scenario)
    };
    client_of(&mut scenario, 0).disk_load_at_start = false;
    let after = |scenario: &mut Scenario, down_s| figures_after(scenario, restart(down_s, false, false));
    let ok = |all: &[Result<[u64; 3], Reason>]| all.iter().map(Result::is_ok).collect::<Vec<_>>();
    // Back after 15 s: marked or not. After 30 s: hidden from everyone, not forgotten, and C9 hides it for 5 s more.
    assert_eq!(ok(&after(&mut scenario, 15)), [false; 8]);
    let back = after(&mut scenario, 30);
    assert_eq!(ok(&back), [true, true, true, false, true, true, true, false]);
    assert_eq!(back[4..7], [Ok([5_000; 3]), Ok([5_000; 3]), Ok([5_000, 7_500, 10_000])]);
    // After 60 s it may be forgotten or not; after 70 s it is.
    assert_eq!(ok(&after(&mut scenario, 60)), [true, true, true, false, false, false, false, false]);
    assert_eq!(after(&mut scenario, 70)[4..], [Ok([0; 3]), Ok([0; 3]), Ok([0, 2_500, 5_000]), Ok([0; 3])]);
    // In order it is forgotten at once, and its consumers need a poll.
    assert_eq!(
        ok(&figures_after(&mut scenario, restart(4, false, true))),
        [true, true, false, true, true, true, false, true]
    );
    assert_eq!(ok(&figures_after(&mut scenario, restart(5, false, true))), [true; 8]);
    assert_eq!(ok(&figures_after(&mut scenario, restart(1, true, false))), [true; 8]);
    // From its file a consumer that comes back knows itself.
    client_of(&mut scenario, 0).disk_load_at_start = true;
    assert_eq!(ok(&after(&mut scenario, 70)), [true, true, true, true, true, true, false, true]);
}

#[test]
fn reasons_for_an_absence() {
    let because = |preset, stage, change: &dyn Fn(&mut Scenario)| {
        let mut scenario = scenario(preset, &[50]);
        change(&mut scenario);
        reason(&scenario, stage)
    };
    let two_stage = |stage, change: &dyn Fn(&mut Scenario)| because(Preset::TwoStage, stage, change);
    let workers = two_stage(Stage::Registry, &|it| registry_of(it).worker_threads = Some(200));
    assert_eq!(workers, TwoStageReason::Workers.into());
    let unstamped = two_stage(Stage::Entry, &|it| registry_of(it).register_stamps_heartbeat = false);
    assert_eq!(unstamped, TwoStageReason::UnheardNewcomers.into());
    let slow = two_stage(Stage::Served, &|it| client_of(it, 0).heartbeat_interval_ms = 16_000);
    let [silence, patience] = [16, 15].map(SimDuration::from_secs);
    let hidden = TwoStageReason::LiveAreHidden { application: "a0".to_owned(), silence, patience };
    assert_eq!(slow, hidden.into());
    let late =
        two_stage(Stage::Registry, &|it| it.network.latency = Delay::Constant(SimDuration::from_secs(2)));
    assert_eq!(late, TwoStageReason::LongCalls.into());
    let early = two_stage(Stage::Registry, &|it| it.warm_up = SimDuration::from_secs(1));
    assert_eq!(early, TwoStageReason::NoHeartbeatYet.into());
    let unswept = two_stage(Stage::Registry, &|it| registry_of(it).sweep_initial_delay_ms = 3_600_000);
    assert_eq!(unswept, TwoStageReason::NoSweepYet.into());
    let full = two_stage(Stage::Client, &|it| {
        it.faults.push(fault(0, FaultKind::FullDisk { targets: some(1), length: None }));
    });
    assert_eq!(full, TwoStageReason::FullDisk.into());
    let nacos = |change: &dyn Fn(&mut Scenario)| because(Preset::Nacos1, Stage::Client, change);
    let protected = nacos(&|it| {
        client_of(it, 0).sanity = Sanity::PushEmpty;
        it.applications[0].instances = 5;
        let other = crate::scenario::Application { name: "a1".into(), ..it.applications[0].clone() };
        it.add_application(other, AppId(0));
        it.faults =
            vec![crash_of(Selection { application: Some(AppId(0)), zone: None, which: TargetChoice::All })];
    });
    let refused = TwoStageReason::ListIsRefused { application: "a0".to_owned(), leave: 5, entries: 5 };
    assert_eq!(protected, refused.into());
}

/// N4: a consumer that waits for the first instance polls every 60 s, and is told by a push for 10 s of these.
#[test]
fn the_first_instance_of_a_service_is_seen_late() {
    let mut scenario = scenario(Preset::Nacos1, &[80]);
    let app = scenario.applications[0].clone();
    let empty = crate::scenario::Application { name: "a1".into(), instances: 0, ..app };
    scenario.add_application(empty, AppId(0));
    client_of(&mut scenario, 0).services = vec![AppId(0), AppId(1)];
    let start =
        |count| vec![fault(0, FaultKind::Start { application: AppId(1), count, over: SimDuration::ZERO })];
    scenario.faults = start(1);
    assert_eq!(figures(&scenario)[2], Ok([0, 21_825, 51_000]));
    scenario.faults[0].within = SimDuration::from_secs(10);
    assert_eq!(figures(&scenario)[2], Ok([0, 0, 51_000]));
    scenario.warm_up = SimDuration::from_secs(100);
    assert_eq!(reason(&scenario, Stage::Client), TwoStageReason::BacksOff.into());
    scenario.warm_up = SimDuration::from_secs(300);
    scenario.faults = start(2);
    assert_eq!(reason(&scenario, Stage::Client), TwoStageReason::BacksOff.into());
    // The other service has its instances, and consumers poll it as ever.
    scenario.faults = vec![crash_of(Selection { application: Some(AppId(0)), ..some(1) })];
    assert_eq!(figures(&scenario)[2], Ok([10_000, 15_950, 21_001]));
}

/// Phases that the draws leave tied.
#[test]
fn means_take_drawn_phases() {
    let means = |scenario: &Scenario| -> Vec<bool> {
        bounds(scenario).iter().map(|bound| bound.mean_absent.is_none()).collect()
    };
    let s = SimDuration::from_secs;
    let mut bunched = scenario(Preset::TwoStage, &[50]);
    bunched.start_window = s(30);
    assert_eq!(means(&bunched), [true; 4]);
    // All heartbeats and polls at the same moment: B takes three values only.
    bunched.start_window = SimDuration::ZERO;
    assert_eq!(means(&bunched), [false; 4]);
    // Heartbeats over a second, the greatest common divisor of 5 and 3 s, and faults over 15 s: only polls are bunched.
    // Changes come on a grid of 3 s and polls every 5 s, so those are met alike, too.
    bunched.start_window = s(1);
    assert_eq!(means(&bunched), [true; 4]);
    bunched.faults[0].within = s(10);
    assert_eq!(means(&bunched), [false; 4]);
    // A known moment: starts spread heartbeats, but the last one before it lies in the 5 s before it.
    bunched.start_window = s(30);
    bunched.faults[0].within = SimDuration::ZERO;
    assert_eq!(means(&bunched), [false; 4]);
    registry_of(&mut bunched).sweep_interval_ms = 5_000;
    assert_eq!(means(&bunched), [true; 4]);
    // Nacos: sweeps keep the phase of the first instance.
    let mut small = scenario(Preset::Nacos1, &[10]);
    assert_eq!(means(&small), [false; 4]);
    small.applications[0].instances = 80;
    assert_eq!(means(&small), [true; 4]);
}
