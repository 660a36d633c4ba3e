//! Pauses: of a server, of clients, of different lengths, and as a random process.

use super::*;
use crate::world::node::State;

fn running(scenario: &Scenario, second: u64) -> usize {
    look(scenario, second, |world| world.clients.iter().filter(|node| node.state == State::Running).count())
}

/// A draw for each: some are back before others, and all after the longest.
#[test]
fn each_target_draws_its_own_length() {
    let length = Distribution::uniform(s(10), s(110)).expect("in order");
    let scenario = with_at(in_step(20), 0, FaultKind::Pause { targets: some(20), length });
    assert_eq!((running(&scenario, 59), running(&scenario, 65), running(&scenario, 171)), (20, 0, 20));
    let half_way = running(&scenario, 120);
    assert!((3..=17).contains(&half_way), "{half_way}");
    let until = run(&scenario, 0).faults[0].until.expect("it has an end").as_millis();
    assert!((140_000..170_000).contains(&until), "{until}");
}

/// Every 50 s one of 10 s, for 300 s: they begin at 50, 110, 170, 230 and 290 s; the last ends as drawn.
#[test]
fn pauses_come_again_and_again() {
    for targets in [Targets::Servers(ServerChoice::All), some(1)] {
        let verb =
            FaultKind::Pauses { targets, every: constant(50), lasting: constant(10), length: Some(s(300)) };
        let scenario = with_at(in_step(1), 0, verb);
        let steps = moments(&scenario, |event| matches!(event, Event::FaultStep { .. }));
        let seconds: Vec<u64> = steps.iter().map(|at| at / 1_000 - 60).collect();
        assert_eq!(seconds, [50, 60, 110, 120, 170, 180, 230, 240, 290, 300]);
        assert_eq!(run(&scenario, 0).faults[0].until, Some(SimTime::from_secs(360)));
    }
}

/// One target more changes nothing for the others.
#[test]
fn pauses_of_one_do_not_depend_on_the_others() {
    let paused = |instances: u32| {
        let verb = FaultKind::Pauses {
            targets: Targets::Instances(all()),
            every: Distribution::exponential(s(20)).expect("longer than zero"),
            lasting: Distribution::exponential(s(5)).expect("longer than zero"),
            length: None,
        };
        let scenario = with_at(in_step(instances), 0, verb);
        (61..200)
            .map(|second| {
                look(&scenario, second, |world| {
                    let first = world.members[0][0];
                    world.clients[first.index()].state == State::Running
                })
            })
            .collect::<Vec<_>>()
    };
    let alone = paused(1);
    assert!(alone.contains(&false) && alone.contains(&true));
    assert_eq!(alone, paused(3));
}

/// 10 to 110 s and 60 to 80 s: it stands as long as the longer.
#[test]
fn overlapping_pauses_last_as_long_as_the_longer() {
    let pause = |length| FaultKind::Pause { targets: some(1), length: constant(length) };
    let pauses = FaultKind::Pauses {
        targets: some(1),
        every: constant(20),
        lasting: constant(10),
        length: Some(s(100)),
    };
    let scenario = with_at(with_at(in_step(1), 0, pauses), 10, pause(100));
    assert_eq!([65, 75, 95, 115, 165, 171].map(|second| running(&scenario, second)), [1, 0, 0, 0, 0, 1]);
}

/// Told to stop while it stands still: it does so when it goes on.
#[test]
fn a_paused_process_hears_of_its_stop_later() {
    let stop = FaultKind::Stop { targets: all(), linger: s(0), over: s(40) };
    let pause = FaultKind::Pause { targets: some(1), length: constant(60) };
    let scenario = with_at(with_at(in_step(1), 0, stop), 0, pause);
    let data = run(&scenario, 0);
    assert_eq!(data.left_at_end(), 0);
    assert_eq!(data.detections.iter().map(|row| row.at.as_millis()).max(), Some(120_000));
}

/// Spec 9: a pause of the server forgives what lies after the due time; leases of 90 s survive 45 s of it.
#[test]
fn a_paused_server_removes_nobody() {
    let mut scenario = with(
        fleet(30),
        FaultKind::Pause {
            targets: Targets::Servers(ServerChoice::All),
            length: Distribution::constant(s(45)),
        },
    );
    scenario.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
    let data = run(&scenario, 0);
    assert!(data.mistakes.is_empty());
    assert_eq!(data.left_at_end(), 30);
}

/// A pause of 300 s outlives the lease of 180 s: with protection off the paused are removed alive, and are back
/// with their first heartbeat's 404.
#[test]
fn a_long_pause_of_clients_is_a_mistake_that_is_corrected() {
    let pause = FaultKind::Pause { targets: some(2), length: Distribution::constant(s(300)) };
    let mut scenario = with(fleet(30), pause);
    scenario.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
    let data = run(&scenario, 0);
    assert!(data.mistakes.iter().all(|mistake| mistake.corrected));
    let at = |stage| data.mistakes.iter().filter(move |mistake| mistake.stage == stage);
    assert!(at(Stage::Registry).all(|row| row.removal == Removal::Evicted && row.lasted <= s(151)));
    let count = |stage| at(stage).map(|row| row.count).sum::<u64>();
    assert_eq!([count(Stage::Registry), count(Stage::Served)], [2, 2]);
    // The 28 others miss both, and each of the two may miss the other.
    assert!([Stage::Client, Stage::Balancer].into_iter().all(|stage| (56..=58).contains(&count(stage))));
    for stage in Stage::ALL {
        let lost: u128 = at(stage).map(|row| u128::from(row.lasted.as_nanos()) * u128::from(row.count)).sum();
        let told = data.quality.iter().filter(|row| row.stage == stage);
        assert_eq!(told.map(|row| row.mistaken_nanos).sum::<u128>(), lost, "{}", stage.name());
    }
    assert_eq!(data.left_at_end(), 30);
}

/// Paused for 100 s, killed and back after 20 s, paused again for 200 s: the end of the first pause wakes nobody.
/// 600 s after the server's start is within the second.
#[test]
fn the_end_of_a_pause_that_a_crash_cut_short_wakes_nobody() {
    let pause = |length| FaultKind::Pause {
        targets: Targets::Servers(ServerChoice::All),
        length: Distribution::constant(s(length)),
    };
    let restart = FaultKind::Restart {
        one_by_one: None,
        targets: Targets::Servers(ServerChoice::All),
        down_for: s(20),
        new_id: false,
        graceful: false,
    };
    let mut scenario = fleet(10);
    scenario.stop_when_settled = false;
    for (at, verb) in [(0, pause(100)), (10, restart), (40, pause(200))] {
        scenario.faults.push(Fault { at: s(at), within: s(0), verb });
    }
    let data = run(&scenario, 0);
    // From 330 + 40 to 330 + 240 s nothing is answered.
    let answered = |minute: usize| data.load[minute].requests.iter().sum::<u64>();
    assert!(answered(5) > 0 && answered(10) > 0);
    assert_eq!([answered(7), answered(8)], [0, 0]);
}

/// One instance beats every 5 s and 2 ms; its server stands still from 60 to 250 s. Eleven beats come before.
/// Those at 60.024 and 75.024 s (5 s time-out, 10 s delay) hang and are answered after the pause. Then both
/// workers are busy, and every 20 s a job is rejected, the last at 240.024 s, just before the first read fails
/// after its 180 s. So the next beat is at 260.024 s and by 300 s there are eight: 11 + 2 + 8 = 21.
#[test]
fn a_hung_read_fails_after_the_job_that_is_due_with_it_was_rejected() {
    let pause = FaultKind::Pause {
        targets: Targets::Servers(ServerChoice::All),
        length: Distribution::constant(s(190)),
    };
    let mut scenario = fleet(1);
    scenario.setup.eureka_mut().unwrap().clients[0].lease_renewal_interval_in_seconds = 5;
    (scenario.start_window, scenario.warm_up) = (SimDuration::ZERO, s(60));
    (scenario.duration, scenario.stop_when_settled) = (s(300), false);
    scenario.faults = vec![Fault { at: SimDuration::ZERO, within: SimDuration::ZERO, verb: pause }];
    let load = run(&scenario, 0).load;
    let renewals: u64 = load.iter().map(|minute| minute.requests[RequestKind::Renew as usize]).sum();
    assert_eq!(renewals, 21);
}
