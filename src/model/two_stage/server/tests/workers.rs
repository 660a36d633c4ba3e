//! The pool of workers: `two-stage.md` 2.7.

use super::*;

fn watch(known: u32) -> Request {
    let known = Revision { epoch: 0, number: known };
    Request::Watch { app: S, known, timeout_ms: 30_000 }
}

fn two_workers() -> ServerConfig {
    ServerConfig { worker_threads: Some(2), ..two_stage() }
}

#[test]
fn held_long_polls_starve_heartbeats_and_so_evict_who_is_well() {
    let mut bench = Bench::new(two_workers());
    bench.register_from(100, 0, 1..=1);
    // Of another service, in which nothing ever happens.
    let quiet = Request::Watch { app: AppId(5), known: Revision::NONE, timeout_ms: 30_000 };
    bench.at(1_000, quiet);
    bench.at(2_000, quiet);
    bench.beats(5_100, 0, 25_100, 1..=1);
    bench.at(26_000, Request::FetchFull);
    bench.run_to(30_000);
    assert_eq!(bench.sweep_rows(), ["18000 soft 1 @2"]); // 100 + 15 000
    let held: Vec<u32> = bench.server.held().iter().map(|ticket| ticket.place).collect();
    assert_eq!(held, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(bench.fetched(), [0; 0], "an operator waits for nobody");
    bench.run_to(31_000);
    // The first ends; all that waited need its worker for no time. The five heartbeats heal.
    let order: Vec<(u64, u32)> = bench.answers.iter().map(|answer| (answer.0, answer.1)).collect();
    assert_eq!(
        order,
        (1..=8).filter(|&ticket| ticket != 2).map(|ticket| (31_000, ticket)).collect::<Vec<_>>()
    );
    assert_eq!(bench.sweep_rows()[1..], ["31000 recovered 1 @3"]);
    assert_eq!(bench.answers[1].2, Reply::bare(200));
    assert_eq!(bench.listed(bench.answers[6].2.payload.expect("a list")), [1]);
}

#[test]
fn a_long_poll_that_waited_has_its_time_from_then_on() {
    let mut bench = Bench::new(ServerConfig { soft_timeout_ms: 1_000_000, ..two_workers() });
    bench.at(100, register(S, 1));
    for at in [1_000, 2_000, 3_000] {
        bench.at(at, watch(1));
    }
    bench.at(4_000, beat(1));
    bench.run_to(100_000);
    let order: Vec<(u64, u32)> = bench.answers.iter().map(|answer| (answer.0, answer.1)).collect();
    // The third takes the first's worker, so the heartbeat waits for the second's.
    assert_eq!(order, [(31_000, 1), (32_000, 2), (32_000, 4), (61_000, 3)]);
}

#[test]
fn a_change_that_waits_for_a_worker_is_seen_by_nobody() {
    let mut bench = Bench::new(two_workers());
    bench.at(1_000, watch(0));
    bench.at(1_000, watch(0));
    bench.at(1_500, register(S, 1));
    bench.run_to(31_000);
    // Both end at 31 000; what waits is taken up when the first has, and the other has its new revision without a list.
    let revisions: Vec<(u64, u32, u32)> =
        bench.answers.iter().map(|answer| (answer.0, answer.1, answer.2.revision.number)).collect();
    assert_eq!(revisions, [(31_000, 0, 0), (31_000, 2, 0), (31_000, 1, 1)]);
    assert!(bench.answers[2].2.payload.is_none());
}
