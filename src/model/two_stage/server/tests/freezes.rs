//! The registry stands still, is restarted, or has its clock set: `two-stage.md` 1.8, C10, C13.

use super::*;
use crate::model::two_stage::config::Schedule;

/// `count` instances with heartbeats in step, whose registry stands still from 21 000 to `until`.
fn frozen(config: ServerConfig, count: u32, until: u64) -> Bench {
    let mut bench = Bench::new(config);
    bench.register_from(100, 0, 1..=count);
    bench.beats(5_100, 0, 200_000, 1..=count);
    bench.run_to(21_000);
    bench.pause_to(until);
    bench
}

#[test]
fn c10_a_sweep_that_comes_first_marks_everybody() {
    let mut bench = frozen(two_stage(), 20, 41_000);
    // 41 000 - 20 100 is more than 15 s. Then the heartbeats that waited heal one by one.
    assert_eq!(bench.sweep_rows(), ["41000 soft 1-20 @21", "41000 recovered 1-20 @22-41"]);
    // One sweep for six that were missed, and the next an interval later.
    let sweeps: Vec<u64> =
        bench.timers.iter().filter(|timer| timer.2 == ServiceTimer::Sweep).map(|timer| timer.0).collect();
    assert_eq!(sweeps, [44_000 * NANOS_PER_MS]);
    bench.run_to(200_000);
    assert_eq!(bench.server.revision(S).number, 41);
}

#[test]
fn c10_requests_that_come_first_save_everybody() {
    let bench = frozen(ServerConfig { resume_order: ResumeOrder::RequestsFirst, ..two_stage() }, 20, 41_000);
    assert_eq!(bench.sweep_rows(), [""; 0]);
}

#[test]
fn c10_missed_sweeps_at_a_fixed_rate_mark_and_remove_at_once() {
    let config = ServerConfig { sweep_mode: Schedule::FixedRate, ..two_stage() };
    let bench = frozen(config, 9, 90_000);
    // The machine makes all missed sweeps in one step, so both rows show the revision after it.
    assert_eq!(bench.sweep_rows(), ["90000 soft 1-9 @11", "90000 removed 1-9 @11"]);
    // The old grid: 93 000.
    let sweeps: Vec<u64> =
        bench.timers.iter().filter(|timer| timer.2 == ServiceTimer::Sweep).map(|timer| timer.0).collect();
    assert_eq!(sweeps, [93_000 * NANOS_PER_MS]);
    assert_eq!(bench.server.registered(), 0);
}

#[test]
fn a_sweep_at_a_fixed_delay_does_not_remove_whom_it_marks() {
    let bench = frozen(two_stage(), 9, 90_000);
    assert_eq!(bench.sweep_rows(), ["90000 soft 1-9 @10", "90000 recovered 1-9 @11-19"]);
}

#[test]
fn c10_the_registrys_own_clock_steps_forward() {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 0, 1..=20);
    bench.beats(5_100, 0, 200_000, 1..=20);
    bench.run_to(22_000);
    bench.stepped_ms = 16_000;
    bench.run_to(26_000);
    // 24 000 + 16 000 - 20 100 = 19 900; the heartbeats at 25 100 heal.
    assert_eq!(bench.sweep_rows(), ["24000 soft 1-20 @21", "25100 recovered 1-20 @22-41"]);
}

#[test]
fn a_clock_that_steps_back_makes_nobody_silent() {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 0, 1..=20);
    bench.run_to(2_000);
    bench.stepped_ms = -30_000;
    bench.run_to(45_000);
    // The silence is the clock's: 45 000 - 30 000 - 100 is less than 15 s.
    assert_eq!(bench.sweep_rows(), [""; 0]);
    bench.run_to(48_000);
    assert_eq!(bench.sweep_rows(), ["48000 soft 1-20 @21"]);
}

#[test]
fn a_restart_forgets_all_and_sweeps_from_then_on() {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 0, 1..=3);
    bench.run_to(10_000);
    bench.restart();
    assert_eq!((bench.server.registered(), bench.server.revision(S)), (0, Revision::NONE));
    assert_eq!(bench.fetched(), [0; 0]);
    bench.at(10_001, register(S, 1));
    bench.run_to(40_000);
    // Sweeps at 13 000, 16 000, ...; 25 001 + 0 is the last moment of grace.
    assert_eq!(bench.rows()[1..], ["10001 registered 1 @1", "28000 soft 1 @2"]);
}

#[test]
fn a_registry_that_keeps_its_entries_sweeps_what_it_has() {
    let mut bench = Bench::new(ServerConfig { registry_persistent: true, ..two_stage() });
    bench.register_from(100, 0, 1..=3);
    bench.beats(5_100, 0, 5_100, 1..=2);
    bench.run_to(19_000);
    let revision = bench.server.revision(S);
    assert_eq!(revision.number, 4, "3 was marked at 18 000");
    bench.restart();
    assert_eq!((bench.server.registered(), bench.server.revision(S)), (3, revision));
    assert_eq!(bench.fetched(), [1, 2]);
    bench.run_to(30_000);
    // 5 100 + 15 000 is before the first sweep of this life, at 22 000.
    assert_eq!(bench.sweep_rows(), ["18000 soft 3 @4", "22000 soft 1-2 @5"]);
}

#[test]
fn a_registry_that_keeps_its_entries_begins_the_sweeps_of_its_services() {
    let mut bench = Bench::new(ServerConfig { registry_persistent: true, ..nacos() });
    bench.at(100, register(AppId(3), 1));
    bench.run_to(14_000);
    bench.restart();
    bench.run_to(40_000);
    // From 14 000 on, whenever the service was created: 19 000, ...; 15 100 + 1 at the earliest.
    assert_eq!(bench.sweeps().map(|(at, _)| at).collect::<Vec<_>>(), [19_000, 34_000]);
}

#[test]
fn timers_of_an_earlier_life_are_stale() {
    let mut bench = Bench::new(two_stage());
    bench.at(100, register(S, 1));
    bench.run_to(16_000);
    bench.restart();
    bench.at(16_001, register(S, 1));
    // The earlier life's sweep at 18 000 comes, and so does one of a life 256 restarts ago.
    bench.run_to(18_500);
    let generation = bench.generation;
    bench.fire(ServiceTimer::Sweep, 0, generation);
    bench.run_to(60_000);
    // 19 000 + 3 000k.
    assert_eq!(bench.rows()[1..], ["16001 registered 1 @1", "34000 soft 1 @2"]);
}

#[test]
fn c13_a_revision_comes_back_with_another_list_behind_it() {
    for (epoch, is_seen) in [(false, false), (true, true)] {
        let mut bench = Bench::new(ServerConfig { epoch, ..two_stage() });
        bench.register_from(100, 0, 1..=3);
        bench.run_to(1_000);
        let known = bench.server.revision(S);
        bench.restart();
        bench.register_from(1_100, 0, 4..=6);
        bench.run_to(2_000);
        let reply = bench.ask(Request::Watch { app: S, known, timeout_ms: 30_000 });
        assert_eq!(reply.is_some(), is_seen, "epoch: {epoch}");
        assert_eq!(bench.server.revision(S).number, known.number);
        assert_eq!(bench.server.held().is_empty(), is_seen);
    }
}
