//! What follows from the guard: `two-stage.md` C3 to C8.

use super::*;

/// `live` instances that send heartbeats, and `dead` ones that stop after 20 s and are marked at 36 000, up to a moment
/// at which hard deletion is long due: 20 1xx + 60 000, so from 81 000 on.
fn with_ghosts(live: u32, dead: u32) -> Bench {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 1, 1..=live + dead);
    bench.beats(5_100, 1, 200_000, 1..=live);
    bench.beats(5_100 + u64::from(live), 1, 20_199, live + 1..=live + dead);
    bench.run_to(90_000);
    bench
}

fn removals(bench: &Bench) -> Vec<String> {
    bench.rows().into_iter().filter(|row| row.contains("removed")).collect()
}

#[test]
fn c3_a_jam_lasts_until_somebody_from_outside_ends_it() {
    let mut bench = with_ghosts(16, 4);
    assert!(bench.server.guard_is_shut());
    bench.run_to(200_000);
    assert_eq!(bench.sweep_rows(), ["36000 soft 17-20 @21"]);
    assert_eq!((bench.server.registered(), bench.fetched().len()), (20, 16));
}

#[test]
fn c3_a_ghost_that_beats_again_ends_it() {
    let mut bench = with_ghosts(16, 4);
    bench.at(100_000, beat(20));
    bench.run_to(103_000);
    // 17/20 = 85 passes.
    assert_eq!(removals(&bench), ["102000 removed 17-19 @23"]);
    assert!(!bench.server.guard_is_shut());
}

#[test]
fn c3_two_ghosts_that_are_deregistered_end_it() {
    let mut bench = with_ghosts(16, 4);
    bench.at(95_000, deregister(17));
    bench.at(100_000, deregister(18));
    bench.run_to(103_000);
    // 16/19 is 84 %, 16/18 is 88 %.
    assert_eq!(bench.verdicts(), ["39000 closed 16/20", "102000 open 16/18"]);
    assert_eq!(removals(&bench), ["102000 removed 19-20 @24"]);
}

#[test]
fn c3_a_healthy_instance_that_leaves_ends_it() {
    let mut bench = with_ghosts(8, 2);
    bench.at(100_000, deregister(8));
    bench.run_to(103_000);
    // 8/10 is 80 %, and nine entries are exempt.
    assert_eq!(bench.verdicts(), ["39000 closed 8/10", "102000 open 7/9"]);
    assert_eq!(removals(&bench), ["102000 removed 9-10 @13"]);
}

#[test]
fn c3_a_successor_for_each_ghost_does_not_end_it() {
    let mut bench = with_ghosts(16, 4);
    bench.register_from(100_000, 1, 31..=34);
    bench.beats(105_000, 1, 200_000, 31..=34);
    bench.run_to(200_000);
    // 20/24 is 83 %.
    assert!(bench.server.guard_is_shut() && removals(&bench).is_empty());
}

#[test]
fn c3_a_restart_forgets_the_jam() {
    let mut bench = with_ghosts(16, 4);
    bench.restart();
    assert!(!bench.server.guard_is_shut());
    assert_eq!((bench.server.registered(), bench.server.revision(S)), (0, Revision::NONE));
}

/// A service of thirteen, of which one ghost is tolerated: 13 falls silent after 20 112, 12 after `second`.
fn two_deaths_in_thirteen(second: u64) -> Vec<String> {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 1, 1..=13);
    bench.beats(5_100, 1, 200_000, 1..=11);
    bench.beats(5_111, 1, second, 12..=12);
    bench.beats(5_112, 1, 20_112, 13..=13);
    bench.run_to(200_000);
    bench.sweep_rows()
}

#[test]
fn c5_it_is_the_rate_of_deaths_that_jams() {
    // 30 s apart: marked at 36 000 and 66 000, both before the first removal. 11/13 is 84 %.
    assert_eq!(two_deaths_in_thirteen(50_111), ["36000 soft 13 @14", "66000 soft 12 @15"]);
    // 45 s apart: the sweep that marks the second removes the first.
    assert_eq!(
        two_deaths_in_thirteen(65_111),
        ["36000 soft 13 @14", "81000 soft 12 @15", "81000 removed 13 @15", "126000 removed 12 @16"]
    );
    // 50 s apart: no trace is left.
    assert_eq!(
        two_deaths_in_thirteen(70_111),
        ["36000 soft 13 @14", "81000 removed 13 @15", "87000 soft 12 @16", "132000 removed 12 @17"]
    );
}

/// A hundred instances with their heartbeats 50 ms apart, all cut off at once: the first of them times out `first`.
fn cut_off(config: ServerConfig, first: u64) -> Bench {
    let mut bench = Bench::new(config);
    let start = first - 30_000;
    bench.register_from(start, 50, 1..=100);
    bench.beats(start + 5_000, 50, start + 19_999, 1..=100);
    bench
}

fn marked(bench: &Bench) -> Vec<(u64, u32)> {
    bench.sweeps().filter(|(_, sweep)| sweep.marked > 0).map(|(at, sweep)| (at, sweep.marked)).collect()
}

#[test]
fn c6_a_sweep_has_no_cap() {
    // The first times out at 30 100, so x = 2 900 until the sweep: x/5 = 58 %, and the guard is shut.
    let mut bench = cut_off(two_stage(), 30_100);
    bench.run_to(200_000);
    assert_eq!(marked(&bench), [(33_000, 58)]);
    // x = 600: 12 % at first, which the guard lets pass, and (x + 3 000)/5 = 72 % in all.
    let mut bench = cut_off(two_stage(), 32_400);
    bench.run_to(200_000);
    assert_eq!(marked(&bench), [(33_000, 12), (36_000, 60)]);
    assert_eq!(bench.verdicts(), ["39000 closed 28/100"]);
}

#[test]
fn a_cap_stops_at_the_ratio_with_the_longest_silent() {
    let config = ServerConfig { guard_cap: true, ..two_stage() };
    let mut bench = cut_off(config, 30_100);
    bench.run_to(80_000);
    // 15 % at once, and those who were silent for longest. They are removed 45 s later, and the sweep goes on to
    // 15 % of the 85 that are left: 12, since 73/85 is 85.9 % and 72/85 is 84.7 %. By then everybody has been silent
    // for more than a minute, so these are removed by the next sweep, which marks of the 73 left 10 (63/73 is 86.3 %).
    let soft: Vec<String> = bench.sweep_rows().into_iter().filter(|row| row.contains("soft")).collect();
    assert_eq!(soft, ["33000 soft 1-15 @101", "78000 soft 16-27 @102"]);
    bench.run_to(81_000);
    assert_eq!(marked(&bench), [(33_000, 15), (78_000, 12), (81_000, 10)]);
    assert!(!bench.server.guard_is_shut());
}

#[test]
fn a_guard_of_marks_only_lets_a_jam_end_by_itself() {
    let config = ServerConfig { guard_scope: GuardScope::SoftOnly, ..two_stage() };
    let mut bench = Bench::new(config);
    bench.register_from(100, 1, 1..=20);
    bench.beats(5_100, 1, 200_000, 1..=16);
    bench.beats(5_116, 1, 20_199, 17..=20);
    bench.run_to(90_000);
    // 45 s after the mark.
    assert_eq!(bench.sweep_rows(), ["36000 soft 17-20 @21", "81000 removed 17-20 @22"]);
    assert_eq!(bench.verdicts(), ["39000 closed 16/20", "84000 open 16/16"]);
}

#[test]
fn c7_nine_are_wiped_out() {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 500, 1..=9);
    bench.beats(5_100, 500, 20_000, 1..=9);
    bench.run_to(200_000);
    // The last signs come from 15 100 to 19 100: 15 100 + 15 000 < 33 000, 19 100 + 15 000 < 36 000; removed 45 s later.
    assert_eq!(
        bench.sweep_rows(),
        ["33000 soft 1-6 @10", "36000 soft 7-9 @11", "78000 removed 1-6 @12", "81000 removed 7-9 @13"]
    );
    assert_eq!((bench.server.registered(), bench.server.revision(S).number), (0, 13));
}
