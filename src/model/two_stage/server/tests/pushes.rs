//! Pushes: `two-stage.md` 4.2, N6.

use super::*;

fn poll(client: u32) -> Request {
    Request::FetchService { app: S, subscriber: Some(ClientId(client)) }
}

/// When, to whom, what, with which number.
fn pushed(bench: &Bench) -> Vec<(u64, u32, Vec<u32>, u32)> {
    bench.pushes.iter().map(|&(at, to, payload, push)| (at, to, bench.listed(payload), push)).collect()
}

#[test]
fn a_push_takes_with_it_what_has_changed_by_then() {
    let mut bench = Bench::new(nacos());
    bench.at(0, poll(4));
    bench.at(0, poll(3));
    bench.at(50, Request::FetchService { app: S, subscriber: None });
    bench.at(50, Request::FetchService { app: AppId(1), subscriber: Some(ClientId(9)) });
    bench.at(100, register(S, 1));
    bench.at(600, register(S, 2));
    bench.at(1_099, deregister(1));
    bench.at(1_200, register(S, 2));
    bench.run_to(5_000);
    // 100 + 1 000; 1 200 + 1 000, for a registration that changed nothing. By number of the client.
    assert_eq!(
        pushed(&bench),
        [(1_100, 3, vec![2], 0), (1_100, 4, vec![2], 1), (2_200, 3, vec![2], 2), (2_200, 4, vec![2], 3)]
    );
}

#[test]
fn recoveries_marks_and_deletions_are_pushed() {
    let mut bench = Bench::new(ServerConfig { read_protect_threshold: None, ..nacos() });
    for at in (0..60_000).step_by(5_000) {
        bench.at(at, poll(3));
    }
    bench.at(100, register(S, 1));
    bench.at(21_500, beat(1));
    bench.at(22_000, beat(1));
    bench.run_to(60_000);
    // Marked at 20 100, healed at 21 500; marked at 40 100, since 37 000 has passed then; deleted at 55 100.
    let times: Vec<(u64, usize)> = pushed(&bench).iter().map(|push| (push.0, push.2.len())).collect();
    assert_eq!(times, [(1_100, 1), (21_100, 0), (22_500, 1), (41_100, 0), (56_100, 0)]);
}

#[test]
fn who_does_not_acknowledge_gets_the_same_bytes_again() {
    let mut bench = Bench::new(nacos());
    bench.acknowledges = false;
    bench.at(1_000, poll(3));
    bench.at(1_000, poll(4));
    bench.at(1_000, register(S, 1));
    bench.at(5_000, register(S, 2));
    bench.run_to(2_500);
    bench.server.on_acknowledged(ClientId(3), PushId(0));
    // Not its own, and one that there never was.
    bench.server.on_acknowledged(ClientId(3), PushId(1));
    bench.server.on_acknowledged(ClientId(3), PushId(77));
    bench.run_to(6_500);
    bench.server.on_acknowledged(ClientId(3), PushId(2));
    bench.server.on_acknowledged(ClientId(4), PushId(3));
    bench.run_to(60_000);
    // 10 s later 4 is sent the list of then: 2 is not in it (N6). Nothing comes after that.
    assert_eq!(
        pushed(&bench)[..5],
        [
            (2_000, 3, vec![1], 0),
            (2_000, 4, vec![1], 1),
            (6_000, 3, vec![1, 2], 2),
            (6_000, 4, vec![1, 2], 3),
            (12_000, 4, vec![1], 1)
        ]
    );
    assert!(pushed(&bench).len() == 5, "subscriptions have ended before anything else changes");
}

#[test]
fn it_is_sent_again_as_often_as_is_set() {
    for (push_max_resend, times) in [(0, vec![1_100]), (3, vec![1_100, 11_100, 21_100, 31_100])] {
        let config = ServerConfig {
            push_max_resend,
            soft_timeout_ms: 1_000_000,
            hard_timeout_ms: 1_000_000,
            ..nacos()
        };
        let mut bench = Bench::new(config);
        bench.acknowledges = false;
        bench.at(0, poll(3));
        bench.at(100, register(S, 1));
        bench.run_to(100_000);
        assert_eq!(bench.pushes.iter().map(|push| push.0).collect::<Vec<_>>(), times);
    }
}

#[test]
fn who_has_not_polled_for_too_long_is_dropped() {
    let mut bench = Bench::new(nacos());
    bench.at(1_000, poll(3));
    bench.at(1_001, poll(4));
    bench.at(10_001, register(S, 1));
    bench.run_to(12_000);
    // At 11 001 the first poll is 10 001 ms old, the second exactly 10 000.
    assert_eq!(pushed(&bench), [(11_001, 4, vec![1], 0)]);
    // It polls again, and is told of what changes from then on.
    bench.at(12_000, poll(3));
    bench.at(12_500, register(S, 2));
    bench.run_to(14_000);
    assert_eq!(pushed(&bench)[1..], [(13_500, 3, vec![1, 2], 1)]);
}

#[test]
fn who_subscribes_before_the_push_is_told_of_the_change_before() {
    let mut bench = Bench::new(nacos());
    bench.at(100, register(S, 1));
    bench.at(900, poll(3));
    bench.run_to(2_000);
    assert_eq!(pushed(&bench), [(1_100, 3, vec![1], 0)]);
}

#[test]
fn subscriptions_and_what_was_to_be_pushed_end_with_the_process() {
    let mut bench = Bench::new(nacos());
    bench.at(0, poll(3));
    bench.at(100, register(S, 1));
    bench.run_to(500);
    bench.restart();
    bench.at(600, register(S, 2));
    bench.run_to(1_200);
    bench.at(1_200, poll(3));
    bench.run_to(20_000);
    assert_eq!(pushed(&bench), [(1_600, 3, vec![2], 0)]);
}
