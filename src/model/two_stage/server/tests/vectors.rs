//! The vectors of `two-stage.md` section 7 that concern the registry alone.

use super::*;

#[test]
fn ts_01_strictness_of_both_timeouts() {
    let mut bench = Bench::new(two_stage());
    bench.at(3_000, register(S, 1));
    bench.run_to(70_000);
    // At 18 000 the silence is exactly 15 000, at 63 000 exactly 60 000: neither is more.
    assert_eq!(bench.rows(), ["3000 registered 1 @1", "21000 soft 1 @2", "66000 removed 1 @3"]);
}

#[test]
fn ts_02_an_ordinary_death_then_a_late_heartbeat() {
    let mut bench = Bench::new(two_stage());
    bench.at(100, register(S, 1));
    bench.beats(5_100, 0, 20_100, 1..=1);
    bench.run_to(82_000);
    assert_eq!(bench.ask(beat(1)), Some(Reply::bare(404)));
    bench.at(82_010, register(S, 1));
    bench.run_to(90_000);
    // 20 100 + 15 000: the next sweep is at 36 000. 20 100 + 60 000: at 81 000.
    assert_eq!(
        bench.rows(),
        ["100 registered 1 @1", "36000 soft 1 @2", "81000 removed 1 @3", "82010 registered 1 @4"]
    );
}

#[test]
fn ts_03_recovery_inside_the_soft_window() {
    let mut bench = Bench::new(two_stage());
    bench.at(100, register(S, 1));
    bench.beats(5_100, 0, 20_100, 1..=1);
    bench.beats(40_100, 0, 60_100, 1..=1);
    bench.run_to(80_000);
    assert_eq!(
        bench.rows(),
        ["100 registered 1 @1", "36000 soft 1 @2", "40100 recovered 1 @3", "78000 soft 1 @4"]
    );
}

#[test]
fn ts_04_registering_does_not_heal() {
    let mut bench = Bench::new(two_stage());
    bench.at(100, register(S, 1));
    bench.beats(5_100, 0, 20_100, 1..=1);
    bench.at(40_100, register(S, 1));
    bench.run_to(41_000);
    assert_eq!(bench.fetched(), [0; 0]);
    bench.at(45_100, beat(1));
    bench.run_to(45_200);
    assert_eq!(bench.fetched(), [1]);
    bench.run_to(64_000);
    assert_eq!(
        bench.rows(),
        [
            "100 registered 1 @1",
            "36000 soft 1 @2",
            "40100 reregistered 1 @2",
            "45100 recovered 1 @3",
            "63000 soft 1 @4" // 45 100 + 15 000 = 60 100
        ]
    );
}

#[test]
fn ts_05_the_guard_jams_and_hides_a_later_death_until_seven_newcomers_free_it() {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 1, 1..=20);
    bench.beats(5_100, 1, 320_000, 1..=15);
    bench.beats(5_115, 1, 100_115, 16..=16);
    bench.beats(5_116, 1, 20_119, 17..=20);
    bench.register_from(250_100, 10_000, 31..=37);
    bench.beats(255_100, 10_000, 320_000, 31..=37);
    bench.run_to(320_000);
    assert_eq!(
        bench.sweep_rows(),
        ["36000 soft 17-20 @21", "312000 soft 16 @29", "312000 removed 17-20 @29", "315000 removed 16 @30"]
    );
    // 16 of 20 is 80 %; 22 of 26, with six newcomers, 84; 23 of 27 is 85.
    assert_eq!(bench.verdicts(), ["39000 closed 16/20", "312000 open 23/27"]);
}

#[test]
fn ts_06_exactly_85_percent_stays_open() {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 1, 1..=20);
    bench.beats(5_100, 1, 90_000, 1..=17);
    bench.beats(5_117, 1, 20_119, 18..=20);
    bench.run_to(90_000);
    assert_eq!(bench.sweep_rows(), ["36000 soft 18-20 @21", "81000 removed 18-20 @22"]);
    assert_eq!(bench.verdicts(), [""; 0]);
}

#[test]
fn ts_07_one_sweep_takes_the_whole_healthy_set() {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 0, 1..=20);
    bench.beats(5_100, 0, 20_100, 1..=20);
    bench.run_to(36_500);
    assert_eq!(bench.fetched(), [0; 0]);
    bench.beats(95_100, 0, 95_100, 1..=20);
    bench.run_to(100_000);
    assert_eq!(bench.sweep_rows(), ["36000 soft 1-20 @21", "95100 recovered 1-20 @22-41"]);
    assert_eq!(bench.verdicts(), ["39000 closed 0/20", "96000 open 20/20"]);
}

#[test]
fn ts_12_a_service_that_dies_as_a_whole_oscillates() {
    // Nacos: checks at 5 100 + 5 000k; pushes a second after each change. The subscriber polls all the time.
    let mut bench = Bench::new(nacos());
    bench.register_from(100, 1_100, 1..=4);
    bench.beats(5_103, 1_100, 21_500, 1..=4);
    for at in (0..70_000).step_by(5_000) {
        bench.at(at, Request::FetchService { app: S, subscriber: Some(ClientId(7)) });
    }
    bench.run_to(70_000);
    assert_eq!(
        bench.sweep_rows(),
        ["35100 soft 3-4 @5", "40100 soft 1-2 @6", "50100 removed 3-4 @7", "55100 removed 1-2 @8"]
    );
    let pushes = bench.pushes.iter().map(|push| (push.0, bench.listed(push.2)));
    let expected: [(u64, &[u32]); 8] = [
        (1_100, &[1]),
        (2_200, &[1, 2]),
        (3_300, &[1, 2, 3]),
        (4_400, &[1, 2, 3, 4]),
        (36_100, &[1, 2]),
        (41_100, &[1, 2, 3, 4]), // 0/4 <= 0
        (51_100, &[1, 2]),       // 0/2 <= 0
        (56_100, &[]),
    ];
    let expected = expected.iter().map(|&(at, list)| (at, list.to_vec()));
    assert!(pushes.eq(expected), "{:?}", bench.pushes);
}
