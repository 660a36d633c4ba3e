//! Long polls: `two-stage.md` 2.7, 2.8, 1.8.

use super::*;
use crate::model::two_stage::config::WatchTimeoutPayload;

/// No sweep marks anybody.
fn patient() -> ServerConfig {
    ServerConfig { soft_timeout_ms: 1_000_000, hard_timeout_ms: 2_000_000, ..two_stage() }
}

fn watch(known: u32) -> Request {
    let known = Revision { epoch: 0, number: known };
    Request::Watch { app: S, known, timeout_ms: 30_000 }
}

/// When the answers came, with their revisions and lists.
fn answers(bench: &Bench) -> Vec<(u64, u32, Option<Vec<u32>>)> {
    let list = |reply: &Reply| reply.payload.map(|payload| bench.listed(payload));
    bench.answers.iter().map(|(at, _, reply)| (*at, reply.revision.number, list(reply))).collect()
}

#[test]
fn a_change_is_seen_on_the_grid_and_swallowed_in_the_last_park() {
    // TS-10, as far as it concerns the registry.
    let mut bench = Bench::new(patient());
    bench.register_from(100, 0, 1..=2);
    bench.at(1_000, watch(2));
    bench.at(12_345, register(S, 3));
    bench.at(12_410, watch(3));
    bench.at(42_350, deregister(1));
    bench.run_to(42_420);
    // 1 000 + 57 x 200 is 12 400. 12 410 + 30 000 is 42 410, and the last look was at 42 210.
    assert_eq!(answers(&bench), [(12_400, 3, Some(vec![1, 2, 3])), (42_410, 4, None)]);
    let reply = bench.ask(watch(3)).expect("there is another list");
    assert_eq!((reply.status, reply.revision.number), (200, 4));
    assert_eq!(bench.listed(reply.payload.expect("a list")), [2, 3]);
}

#[test]
fn a_repaired_registry_gives_the_list_when_the_time_is_up() {
    let config = ServerConfig { watch_timeout_payload: WatchTimeoutPayload::Full, ..patient() };
    let mut bench = Bench::new(config);
    bench.register_from(100, 0, 1..=2);
    bench.at(12_410, watch(2));
    bench.at(42_350, deregister(1));
    bench.run_to(42_410);
    assert_eq!(answers(&bench), [(42_410, 3, Some(vec![2]))]);
}

#[test]
fn a_change_just_at_a_point_of_the_grid_is_seen_there() {
    let mut bench = Bench::new(patient());
    bench.at(100, register(S, 1));
    bench.at(1_000, watch(1));
    bench.at(5_000, register(S, 2));
    bench.run_to(60_000);
    assert_eq!(answers(&bench), [(5_000, 2, Some(vec![1, 2]))]);
}

#[test]
fn changes_within_a_park_are_one_answer_and_a_hard_removal_is_one_too() {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 0, 1..=3);
    bench.at(17_900, watch(3));
    bench.at(17_950, register(S, 4));
    bench.at(50_000, watch(6));
    bench.run_to(70_000);
    // The sweep at 18 000 marks 1 to 3, that at 33 000 marks 4. C11: at 63 000 it removes what nobody saw.
    assert_eq!(answers(&bench), [(18_100, 5, Some(vec![4])), (63_000, 7, Some(Vec::new()))]);
}

#[test]
fn a_service_that_nobody_has_heard_of_can_be_watched() {
    let mut bench = Bench::new(patient());
    bench.at(1_000, watch(0));
    bench.at(1_500, register(S, 1));
    bench.at(1_600, register(AppId(1), 2));
    bench.run_to(2_000);
    assert_eq!(answers(&bench), [(1_600, 1, Some(vec![1, 2]))]);
}

#[test]
fn the_end_is_that_of_a_park() {
    let mut bench = Bench::new(patient());
    bench.at(1_000, Request::Watch { app: S, known: Revision::NONE, timeout_ms: 500 });
    // 1 400 is the last look: 1 600 is past the 500 ms.
    bench.at(1_450, register(S, 1));
    bench.run_to(5_000);
    assert_eq!(answers(&bench), [(1_600, 1, None)]);
}

#[test]
fn an_operator_and_no_time_are_answered_at_once() {
    let mut bench = Bench::new(patient());
    let no_time = Request::Watch { app: S, known: Revision::NONE, timeout_ms: 0 };
    assert_eq!(bench.ask(no_time), Some(Reply::bare(200)));
    let reply = bench.with(|server, step| server.on_request(&watch(0), None, step));
    assert_eq!(reply, Some(Reply::bare(200)));
    assert!(bench.server.held().is_empty());
}

#[test]
fn those_that_wait_are_answered_in_the_order_in_which_they_came() {
    let mut bench = Bench::new(patient());
    bench.at(100, register(S, 1));
    for at in [1_000, 1_100, 1_200] {
        bench.at(at, watch(1));
    }
    bench.at(2_010, register(S, 2));
    bench.run_to(1_500);
    let held: Vec<u32> = bench.server.held().iter().map(|ticket| ticket.place).collect();
    assert_eq!(held, [1, 2, 3]);
    bench.run_to(3_000);
    // On their own grids: 2 100 is the second's, 2 200 that of the others.
    let order: Vec<(u64, u32)> = bench.answers.iter().map(|answer| (answer.0, answer.1)).collect();
    assert_eq!(order, [(2_100, 2), (2_200, 1), (2_200, 3)]);
}

/// A long poll from 1 000 on, and a registry that stands still from 5 050 to `until`.
fn paused(until: u64, change: u64) -> Vec<(u64, u32, Option<Vec<u32>>)> {
    let mut bench = Bench::new(patient());
    bench.at(100, register(S, 1));
    bench.at(1_000, watch(1));
    bench.at(change, register(S, 2));
    bench.run_to(5_050);
    bench.pause_to(until);
    bench.run_to(60_000);
    answers(&bench)
}

#[test]
fn a_short_pause_between_two_looks_is_not_noticed() {
    assert_eq!(paused(5_100, 5_110), [(5_200, 2, Some(vec![1, 2]))]);
    assert_eq!(paused(5_100, 5_080), [(5_200, 2, Some(vec![1, 2]))]);
}

#[test]
fn after_a_pause_it_looks_at_once_and_its_grid_begins_anew() {
    // Before the pause, during it, after it: 5 330 + 200.
    assert_eq!(paused(5_330, 5_010), [(5_330, 2, Some(vec![1, 2]))]);
    assert_eq!(paused(5_330, 5_300), [(5_330, 2, Some(vec![1, 2]))]);
    assert_eq!(paused(5_330, 5_400), [(5_530, 2, Some(vec![1, 2]))]);
    // 31 000 - 5 330 is 129 parks, the last begun: 5 330 + 25 800.
    assert_eq!(paused(5_330, 50_000), [(31_130, 1, None)]);
    assert_eq!(paused(5_330, 31_000), [(31_130, 2, None)]);
}

#[test]
fn after_a_long_pause_the_time_is_up_whatever_has_changed() {
    assert_eq!(paused(31_000, 5_010), [(31_000, 2, None)]);
    assert_eq!(paused(40_000, 39_000), [(40_000, 2, None)]);
    // It looks once more if the time is not up when it goes on.
    assert_eq!(paused(30_999, 30_000), [(30_999, 2, Some(vec![1, 2]))]);
}
