//! The settings that make other rules: `two-stage.md` 1.5, 1.9, 4.1 and 4.5.

use super::*;
use crate::model::two_stage::config::{SweepPasses, SweepPhase};

#[test]
fn a_service_of_nacos_is_swept_from_its_creation_on() {
    let mut bench = Bench::new(nacos());
    bench.at(1_234, register(AppId(2), 1));
    bench.at(2_000, register(AppId(0), 2));
    bench.run_to(60_000);
    // 16 234 and 17 000 are not *more* than 15 s; 31 234 and 32 000 not more than 30 s.
    assert_eq!(bench.sweep_rows()[..2], ["21234 soft 1 @1", "22000 soft 2 @2"]);
    let removals: Vec<u64> =
        bench.sweeps().filter(|(_, sweep)| sweep.removed > 0).map(|(at, _)| at).collect();
    assert_eq!(removals, [36_234, 37_000]);
}

#[test]
fn a_service_that_is_known_keeps_its_sweeps() {
    let mut bench = Bench::new(nacos());
    bench.at(1_000, register(S, 1));
    bench.at(2_000, deregister(1));
    bench.at(9_999, register(S, 1));
    bench.run_to(30_000);
    // Still 1 000 + 5 000k: 26 000 is the first after 24 999.
    assert_eq!(bench.sweep_rows(), ["26000 soft 1 @4"]);
}

#[test]
fn two_passes_mark_and_remove_in_one_sweep() {
    let config = ServerConfig { sweep_initial_delay_ms: 40_000, ..nacos() };
    let mut bench = Bench::new(config);
    bench.at(100, register(S, 1));
    bench.run_to(60_000);
    assert_eq!(bench.sweep_rows(), ["40100 soft 1 @2", "40100 removed 1 @2"]);
    let either_or =
        ServerConfig { sweep_passes: SweepPasses::ElseIf, sweep_initial_delay_ms: 40_000, ..nacos() };
    let mut bench = Bench::new(either_or);
    bench.at(100, register(S, 1));
    bench.run_to(60_000);
    assert_eq!(bench.sweep_rows(), ["40100 soft 1 @2", "45100 removed 1 @3"]);
}

#[test]
fn a_hard_timeout_below_the_soft_one() {
    let early = ServerConfig { hard_timeout_ms: 10_000, ..two_stage() };
    let rows = |config: ServerConfig| {
        let mut bench = Bench::new(config);
        bench.at(100, register(S, 1));
        bench.run_to(60_000);
        bench.sweep_rows()
    };
    // Either or: who is removed was unhealthy before.
    assert_eq!(rows(early.clone()), ["18000 soft 1 @2", "21000 removed 1 @3"]);
    // Two passes: it is never unhealthy.
    let two_passes = ServerConfig { sweep_passes: SweepPasses::MarkThenDelete, ..early };
    assert_eq!(rows(two_passes), ["12000 removed 1 @2"]);
}

/// Registers at `x` ms before a sweep, then beats every 5 s and registers at once when told that it is unknown.
fn newcomer(x: u64) -> (u64, u32, usize) {
    let config = ServerConfig { register_stamps_heartbeat: false, ..two_stage() };
    let mut bench = Bench::new(config);
    let start = 3_000 - x;
    bench.run_to(start);
    bench.ask(register(S, 1));
    for beats in 1..=10 {
        bench.run_to(start + 5_000 * beats);
        if bench.ask(beat(1)) == Some(Reply::bare(404)) {
            bench.ask(register(S, 1));
        }
    }
    let removals = bench.sweeps().filter(|(_, sweep)| sweep.removed > 0).count();
    let settled =
        bench.facts.iter().filter(|fact| matches!(fact.1, Fact::StatusChanged { .. })).map(|fact| fact.0);
    (settled.max().unwrap_or(0) - start, bench.server.revision(S).number, removals)
}

#[test]
fn a_registration_that_does_not_count_as_a_sign_of_life_is_marked_by_the_first_sweep() {
    // `two-stage.md` 1.5: two removals, one, or none; revision 9, 6 or 3. With x = 500: marked at 0.5, removed at 3.5,
    // back at 5, marked at 6.5, removed at 9.5, back at 10, marked at 12.5, healed at 15.
    assert_eq!(newcomer(500), (15_000, 9, 2));
    assert_eq!(newcomer(1_500), (10_000, 6, 1));
    assert_eq!(newcomer(2_500), (5_000, 3, 0));
}

#[test]
fn c9_registering_in_time_goes_unnoticed_and_healing_is_a_repair() {
    let mut bench = Bench::new(two_stage());
    bench.at(100, register(S, 1));
    bench.at(14_000, register(S, 1));
    bench.run_to(31_000);
    // 14 000 + 15 000 < 30 000.
    assert_eq!(bench.rows(), ["100 registered 1 @1", "14000 reregistered 1 @1", "30000 soft 1 @2"]);

    let heals = ServerConfig { register_existing: RegisterExisting::Heal, ..two_stage() };
    let mut bench = Bench::new(heals);
    bench.at(100, register(S, 1));
    bench.at(20_000, register(S, 1));
    bench.at(21_000, register(S, 1));
    bench.run_to(22_000);
    assert_eq!(
        bench.rows()[1..],
        ["18000 soft 1 @2", "20000 reregistered 1 @3", "20000 recovered 1 @3", "21000 reregistered 1 @3"]
    );
}

#[test]
fn registering_again_notifies_once_if_it_is_to() {
    let mut bench = Bench::new(ServerConfig { register_existing: RegisterExisting::Heal, ..nacos() });
    bench.at(100, register(S, 1));
    bench.at(1_000, register(S, 1));
    bench.run_to(21_000);
    bench.ask(register(S, 1));
    // 1; 2 for nothing; 3 with the mark at 20 100; 4 with healing.
    assert_eq!(
        bench.rows(),
        [
            "100 registered 1 @1",
            "1000 reregistered 1 @2",
            "20100 soft 1 @3",
            "21000 reregistered 1 @4",
            "21000 recovered 1 @4"
        ]
    );
}

#[test]
fn what_is_not_there_cannot_be_renewed_or_leave() {
    let mut bench = Bench::new(two_stage());
    assert_eq!(bench.ask(beat(1)), Some(Reply::bare(404)));
    assert_eq!(bench.ask(deregister(1)), Some(Reply::bare(404)));
    assert_eq!(bench.ask(register(S, 1)), Some(Reply::bare(200)));
    assert_eq!(bench.ask(deregister(1)), Some(Reply::bare(200)));
    assert_eq!(bench.ask(deregister(1)), Some(Reply::bare(404)));
    assert_eq!(bench.server.revision(S).number, 2);
    assert_eq!(bench.ask(Request::FetchDelta), Some(Reply::bare(404)), "it has no deltas");
}

#[test]
fn a_global_sweep_tells_of_a_service_only_what_is_news() {
    let mut bench = Bench::new(ServerConfig { sweep_phase: SweepPhase::Global, ..two_stage() });
    bench.at(100, register(AppId(4), 1));
    bench.at(200, register(AppId(1), 2));
    bench.run_to(100_000);
    let told: Vec<(u64, AppId, u32, u32)> =
        bench.sweeps().map(|(at, sweep)| (at, sweep.app, sweep.marked, sweep.removed)).collect();
    let (first, second) = (AppId(1), AppId(4));
    assert_eq!(
        told,
        [(18_000, first, 1, 0), (18_000, second, 1, 0), (63_000, first, 0, 1), (63_000, second, 0, 1)]
    );
}
