//! Pauses of different lengths, and as a random process.

use super::*;
use crate::world::node::State;

fn running(scenario: &Scenario, second: u64) -> usize {
    look(scenario, second, |world| world.clients.iter().filter(|node| node.state == State::Running).count())
}

/// A draw for each: some are back before others, and all after the longest.
#[test]
fn each_target_draws_its_own_length() {
    let length = Distribution::uniform(s(10), s(110)).expect("in order");
    let scenario = with_at(in_step(20), 0, Verb::Pause { targets: some(20), length });
    assert_eq!((running(&scenario, 59), running(&scenario, 65), running(&scenario, 171)), (20, 0, 20));
    let half_way = running(&scenario, 120);
    assert!((3..=17).contains(&half_way), "{half_way}");
    let until = run(&scenario, 0).faults[0].until.expect("it has an end").as_millis();
    assert!((140_000..170_000).contains(&until), "{until}");
}

/// Every 50 s one of 10 s, for 300 s: they begin at 50, 110, 170, 230 and 290 s; the last ends as drawn.
#[test]
fn pauses_come_again_and_again() {
    for targets in [Targets::Server, some(1)] {
        let verb = Verb::Pauses { targets, every: constant(50), lasting: constant(10), length: Some(s(300)) };
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
        let verb = Verb::Pauses {
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
    let pause = |length| Verb::Pause { targets: some(1), length: constant(length) };
    let pauses =
        Verb::Pauses { targets: some(1), every: constant(20), lasting: constant(10), length: Some(s(100)) };
    let scenario = with_at(with_at(in_step(1), 0, pauses), 10, pause(100));
    assert_eq!([65, 75, 95, 115, 165, 171].map(|second| running(&scenario, second)), [1, 0, 0, 0, 0, 1]);
}

/// Told to stop while it stands still: it does so when it goes on.
#[test]
fn a_paused_process_hears_of_its_stop_later() {
    let stop = Verb::Stop { targets: all(), linger: s(0), over: s(40) };
    let pause = Verb::Pause { targets: some(1), length: constant(60) };
    let scenario = with_at(with_at(in_step(1), 0, stop), 0, pause);
    let data = run(&scenario, 0);
    assert_eq!(data.left_at_end, 0);
    assert_eq!(data.detections.iter().map(|row| row.at.as_millis()).max(), Some(120_000));
}
