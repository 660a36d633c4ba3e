//! A server's threads: how long requests wait, what that does to their callers, and what a pause or an end of the
//! process does to the queue.

use super::*;
use crate::model::message::RequestKind;
use crate::scenario::Capacity;

/// Each renewal takes one of `threads` so many ms; everything else takes no time.
fn renewals_take(threads: u32, millis: u64, mut scenario: Scenario) -> Scenario {
    let mut service = [Distribution::constant(SimDuration::ZERO); RequestKind::COUNT];
    service[RequestKind::Renew as usize] = Distribution::constant(ms(millis));
    scenario.capacity = Some(Capacity { threads, service, item: Distribution::constant(SimDuration::ZERO) });
    scenario
}

/// The moments at which work is done from `from` ms on.
fn done(scenario: &Scenario, from: u64) -> Vec<u64> {
    let all = moments(scenario, |event| matches!(event, Event::WorkDone { .. }));
    all.into_iter().filter(|&at| at >= from).collect()
}

/// Ten that beat together, 100 ms each: one thread is done with the last after a second, two after half of it.
#[test]
fn requests_wait_in_one_queue_for_the_thread_that_is_free_first() {
    let one = renewals_take(1, 100, in_step(10));
    // The first fetch takes 2 ms, the message 1 ms: requests arrive 30.003 s after the start. Fetches take no time, but
    // wait their turn behind the renewals.
    let beats: Vec<u64> = (1..=10).map(|turn| 30_003 + 100 * turn).collect();
    let first_round = |threads| -> Vec<u64> {
        let mut all = done(&renewals_take(threads, 100, in_step(10)), 30_000);
        all.retain(|&at| at < 32_000);
        all.dedup();
        all
    };
    assert_eq!(first_round(1), beats);
    // The first fetch finds the second thread free.
    assert_eq!(first_round(2), (0..=5).map(|turn| 30_003 + 100 * turn).collect::<Vec<u64>>());
    let data = run(&one, 0);
    // Ten renewals and ten fetches wait when all have come, but the first renewal, which is at work.
    assert_eq!(data.load[0].waiting_max, 19);
    // Ten beats of 100 ms.
    assert_eq!(data.load[0].busy_nanos, 1_000_000_000);
    assert_eq!(data.load[1].busy_nanos, 2 * 1_000_000_000);
}

/// The process stands still for 10 s, 150 ms after the first request came: the second is half done, and all that is
/// left moves by 10 s.
#[test]
fn a_pause_moves_all_work() {
    let pause = FaultKind::Pause { targets: Targets::Servers(ServerChoice::All), length: constant(10) };
    let mut scenario = renewals_take(1, 100, in_step(10));
    scenario.warm_up = ms(30_153);
    let all = done(&with_at(scenario, 0, pause), 30_000);
    let moved: Vec<u64> = all.iter().copied().filter(|&at| (40_000..42_000).contains(&at)).collect();
    assert_eq!(all[0], 30_103);
    // 50 ms are left of the second, and 100 ms for each of eight more.
    let mut left: Vec<u64> = (0..9).map(|turn| 40_203 + 100 * turn).collect();
    left.retain(|at| !moved.contains(at));
    assert!(left.is_empty(), "{left:?} of {moved:?}");
}

/// A queue that is longer than a client's read limit: 300 renewals of 200 ms are 60 s, Jersey waits for 8 s. Whoever is
/// given up is still worked at, so the next beats come on top of it.
#[test]
fn an_overloaded_server_is_late_for_everybody() {
    let mut scenario = renewals_take(1, 200, in_step(300));
    scenario.setup.eureka_mut().unwrap().clients[0].transport =
        TransportConfig::of_kind(TransportKind::Jersey);
    scenario.duration = s(600);
    let data = run(&scenario, 0);
    let minute = |number: usize| &data.load[number];
    // Every minute the one thread is busy all the time, with 300 renewals of 200 ms.
    for number in 2..9 {
        assert_eq!(minute(number).busy_nanos, 60_000_000_000, "{number}");
        assert_eq!(minute(number).requests[RequestKind::Renew as usize], 300, "{number}");
    }
    assert!(
        minute(8).waiting_max > minute(2).waiting_max,
        "{} {}",
        minute(8).waiting_max,
        minute(2).waiting_max
    );
}

/// What a process had not finished is refused when it ends, and nothing of it is done afterwards.
#[test]
fn work_ends_with_its_process() {
    let mut scenario = renewals_take(1, 100, in_step(10));
    scenario.warm_up = ms(30_153);
    let scenario = with_at(scenario, 0, FaultKind::Crash(Targets::Servers(ServerChoice::All)));
    let data = run(&scenario, 0);
    assert_eq!(data.load[0].requests[RequestKind::Renew as usize], 1);
    assert_eq!(data.left_at_end(), 0);
    // It was busy from 30.003 s to its end at 30.153 s, and never again.
    assert_eq!(data.load.iter().map(|row| row.busy_nanos).sum::<u64>(), 150_000_000);
}

/// A renewal takes ten minutes, so that nine of ten wait. In the minutes in which nobody joins them they still do, and
/// the thread is busy to the end of the run, at work that it will not finish.
#[test]
fn a_queue_that_nobody_joins_is_still_a_queue() {
    let mut scenario = renewals_take(1, 600_000, in_step(10));
    scenario.duration = s(600);
    let data = run(&scenario, 0);
    let minutes = || data.load.iter().map(|row| row.waiting_max);
    assert_eq!(data.load.len(), 10);
    assert!(minutes().zip(minutes().skip(1)).all(|(before, after)| 19 <= before && before <= after));
    // Nothing before 30.003 s.
    assert_eq!(data.load.iter().map(|row| row.busy_nanos).sum::<u64>(), (600_000 - 30_003) * 1_000_000);
}

/// Killed while it stands still: half of the first renewal was done when it stopped, at 30.053 s.
#[test]
fn threads_that_stand_still_are_not_busy() {
    let pause = FaultKind::Pause { targets: Targets::Servers(ServerChoice::All), length: constant(10) };
    let mut scenario = renewals_take(1, 100, in_step(10));
    scenario.warm_up = ms(30_053);
    let crash = FaultKind::Crash(Targets::Servers(ServerChoice::All));
    let scenario = with_at(with_at(scenario, 0, pause), 5, crash);
    let data = run(&scenario, 0);
    assert_eq!(data.load.iter().map(|row| row.busy_nanos).sum::<u64>(), 50_000_000);
}

/// The process is killed 250 ms after the first request came: two renewals and half of a third were work, and what had
/// not begun was none.
#[test]
fn what_a_crash_cuts_off_was_work_until_then() {
    let crash = FaultKind::Crash(Targets::Servers(ServerChoice::All));
    let mut scenario = renewals_take(1, 100, in_step(10));
    scenario.warm_up = ms(30_253);
    let data = run(&with_at(scenario, 0, crash), 0);
    assert_eq!(data.load.iter().map(|row| row.busy_nanos).sum::<u64>(), 250_000_000);
}

/// A run that ends 250 ms after the first request came has seen as much.
#[test]
fn what_is_under_way_at_the_end_was_work_until_then() {
    let mut scenario = renewals_take(1, 100, in_step(10));
    scenario.duration = ms(30_253);
    let data = run(&scenario, 0);
    assert_eq!(data.load.iter().map(|row| row.busy_nanos).sum::<u64>(), 250_000_000);
}
