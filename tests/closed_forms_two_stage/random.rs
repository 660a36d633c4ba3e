//! Settings of all kinds: what has a closed form holds.

use super::common::{
    Picks, client_of, crash, fault, hold_range, ms, of_app, registry_of, s, scenario, some, stop,
};
use stillup::engine::SimDuration;
use stillup::model::id::AppId;
use stillup::model::two_stage::{
    Discovery, Guard, GuardScope, Preset, RegisterExisting, Sanity, Schedule, SweepPasses, SweepPhase,
    WatchAck, WatchTimeoutPayload,
};
use stillup::scenario::{Delay, Fault, FaultKind, Scenario, TargetChoice, Targets};

#[test]
fn settings_of_all_kinds() {
    let mut pick = Picks(1);
    let mut held = 0;
    for case in 0..120 {
        let mut scenario = scenario(
            pick.of(&[Preset::TwoStage, Preset::Nacos1]),
            &[pick.of(&[1, 3, 9, 12, 25]), pick.of(&[5, 20])],
        );
        scenario.replicates = 15;
        scenario.seed = case;
        scenario.network.latency = pick.of(&[
            Delay::Constant(SimDuration::ZERO),
            Delay::Constant(ms(20)),
            Delay::Uniform(SimDuration::ZERO, ms(100)),
        ]);
        scenario.start_window = pick.of(&[SimDuration::ZERO, s(1), s(30)]);
        scenario.warm_up = pick.of(&[s(10), s(60), s(200)]);
        of_registry(&mut scenario, &mut pick);
        for place in 0..2 {
            of_client(&mut scenario, place, &mut pick);
        }
        scenario.faults = faults(&mut pick);
        held += hold_range(&scenario);
    }
    assert!(held > 250, "only {held} closed forms were looked at");
}

fn of_registry(scenario: &mut Scenario, pick: &mut Picks) {
    let server = registry_of(scenario);
    server.soft_timeout_ms = pick.of(&[5_000, 12_345, 15_000]);
    server.hard_timeout_ms = pick.of(&[12_000, 16_000, 30_000, 60_000]);
    server.sweep_interval_ms = pick.of(&[700, 3_000, 5_000]);
    server.sweep_initial_delay_ms = pick.of(&[100, 5_000]);
    server.sweep_phase = pick.of(&[SweepPhase::Global, SweepPhase::ServiceCreation]);
    server.sweep_passes = pick.of(&[SweepPasses::ElseIf, SweepPasses::MarkThenDelete]);
    server.guard = pick.of(&[Guard::None, Guard::Ratio]);
    server.guard_min_healthy_pct = pick.of(&[50, 85]);
    server.guard_scope = pick.of(&[GuardScope::Both, GuardScope::Both, GuardScope::SoftOnly]);
    server.guard_cap = pick.of(&[false, false, true]);
    server.read_protect_threshold = pick.of(&[None, Some(0.0), Some(0.6)]);
    server.register_existing = pick.of(&[RegisterExisting::Keep, RegisterExisting::Heal]);
    server.notify_on_reregister = pick.of(&[true, false]);
    server.watch_timeout_payload = pick.of(&[WatchTimeoutPayload::Empty, WatchTimeoutPayload::Full]);
    server.push_delay_ms = pick.of(&[0, 500, 1_000]);
    server.push_loss = pick.of(&[0.0, 0.0, 0.4]);
    server.subscriber_ttl_ms = pick.of(&[4_000, 10_000]);
}

fn of_client(scenario: &mut Scenario, place: usize, pick: &mut Picks) {
    let client = client_of(scenario, place);
    client.heartbeat_interval_ms = pick.of(&[2_000, 5_000]);
    client.first_heartbeat_delay_ms = pick.of(&[100, 5_000]);
    client.heartbeat_schedule = pick.of(&[Schedule::FixedRate, Schedule::FixedDelay]);
    client.discovery = pick.of(&[Discovery::Poll, Discovery::LongPoll, Discovery::PushPlusPoll]);
    client.poll_interval_ms = pick.of(&[3_000, 10_000]);
    client.watch_timeout_ms = pick.of(&[1_100, 30_000]);
    client.watch_ack = pick.of(&[WatchAck::OnApply, WatchAck::OnApply, WatchAck::Always]);
    client.sanity = pick.of(&[Sanity::Half, Sanity::None, Sanity::PushEmpty]);
    client.empty_is_failure = pick.of(&[true, false]);
    client.discard_poll_after_push = pick.of(&[true, false]);
    client.disk_load_at_start = pick.of(&[true, false]);
    client.deregister_linger_ms = pick.of(&[0, 3_000]);
}

fn faults(pick: &mut Picks) -> Vec<Fault> {
    let one = || some(1);
    let restart = |down_s, new_id, graceful| {
        let targets = Targets::Instances(one());
        fault(FaultKind::Restart { one_by_one: None, targets, down_for: s(down_s), new_id, graceful })
    };
    let start = |count| fault(FaultKind::Start { application: AppId(1), count, over: SimDuration::ZERO });
    match pick.of(&[0, 1, 2, 3, 4, 5, 6, 7]) {
        0 => vec![crash(some(3))],
        1 => vec![crash(one()), fault(stop(one()))],
        2 => vec![start(2), fault(stop(some(2)))],
        3 => vec![crash(of_app(0, TargetChoice::All))],
        4 => vec![restart(pick.of(&[3, 20, 40, 80]), pick.of(&[true, false]), pick.of(&[true, false]))],
        5 => vec![crash(one()), Fault { at: s(100), ..crash(one()) }],
        6 => vec![crash(of_app(0, TargetChoice::Count(1))), start(1)],
        _ => vec![crash(one())],
    }
}
