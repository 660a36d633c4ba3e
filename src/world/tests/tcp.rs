//! What is felt of a partition's end.

use super::*;
use crate::scenario::Direction;

/// One client over `kind`; a partition from 60 s on.
fn cut(kind: TransportKind, seconds: u64, lost: Direction) -> Scenario {
    let mut scenario = in_step(1);
    scenario.duration = s(400);
    scenario.setup.eureka_mut().unwrap().clients[0].transport = TransportConfig::of_kind(kind);
    scenario.setup.eureka_mut().unwrap().clients[0].fetch_registry = false;
    let verb =
        FaultKind::Partition { targets: all().into(), peer: Peer::Servers, length: Some(s(seconds)), lost };
    with_at(scenario, 0, verb)
}

/// When requests reach the server, ms, from 60 s on. Without a fetch the client beats at 30, 60.002, 90.004 s.
fn arrivals(scenario: &Scenario) -> Vec<u64> {
    let mut all = moments(scenario, |event| matches!(event, Event::RequestArrives { .. }));
    all.retain(|&at| at >= 60_000);
    all
}

fn answers(scenario: &Scenario) -> Vec<u64> {
    let mut all = moments(scenario, |event| matches!(event, Event::AnswerArrives { .. }));
    all.retain(|&at| at >= 60_000);
    all
}

/// Data of 60.002 goes out again after 0.2, 0.6, 1.4 and 3 s; the partition heals after 2 s.
#[test]
fn data_on_a_connection_that_stands_arrives_with_its_next_transmission() {
    let scenario = cut(TransportKind::RestClient, 2, Direction::Both);
    assert_eq!(arrivals(&scenario)[..2], [63_003, 93_005]); // and 30 s after its answer at 63.004
}

/// Jersey makes a new connection for each call: its SYN goes out again after 1 and 3 s. The connect limit of 5 s
/// counts no longer then.
#[test]
fn a_connection_is_made_with_its_next_syn() {
    let scenario = cut(TransportKind::Jersey, 2, Direction::Both);
    assert_eq!(arrivals(&scenario)[..2], [63_003, 93_005]);
    // 4 s: the SYN of 7 s would be next, but the caller gives up after 5 s and tries again, at 65.002.
    let scenario = cut(TransportKind::Jersey, 4, Direction::Both);
    assert_eq!(arrivals(&scenario)[0], 65_003);
}

/// The request of 60.002 arrives at 60.003; its answer goes out again until 63.003.
#[test]
fn an_answer_is_sent_again_by_the_server() {
    let scenario = cut(TransportKind::RestClient, 2, Direction::FromServer);
    assert_eq!(arrivals(&scenario)[..2], [60_003, 93_005]);
    assert_eq!(answers(&scenario)[0], 63_004);
}

/// A handshake needs both ways: nothing arrives although only the way back is cut.
#[test]
fn a_new_connection_needs_both_ways() {
    let scenario = cut(TransportKind::Jersey, 30, Direction::FromServer);
    assert!(arrivals(&scenario)[0] > 90_000);
}

/// The supervisor gives up the beats of 60.002 and, 30 + 60 s later, of 150.002, but both calls live on: the first
/// until its read limit of 180 s, the second, which finds the connection busy and makes another, until its connect
/// limit. The heal at 160 s lets both through: data at 60.002 + 102.2, a SYN at 150.002 + 15.
#[test]
fn a_job_that_was_given_up_renews_late() {
    let scenario = cut(TransportKind::RestClient, 100, Direction::Both);
    assert_eq!(arrivals(&scenario)[..2], [162_203, 165_003]);
}

/// 190 s: the read limit comes first, 180 s after the first call. The beat of 150.002 still connects then; its last SYN
/// went out after 63 s, before the heal, and its limit comes at 284 s. So the third beat, 240 s after the first, is
/// the first to arrive.
#[test]
fn a_call_whose_limit_came_first_is_gone() {
    let scenario = cut(TransportKind::RestClient, 190, Direction::Both);
    assert_eq!(arrivals(&scenario)[0], 300_003);
}

/// The client is killed while its call is under way, and comes back after the heal: its old call does not arrive.
#[test]
fn a_connection_ends_with_its_process() {
    let scenario = cut(TransportKind::RestClient, 10, Direction::Both);
    let restart = FaultKind::Restart {
        one_by_one: None,
        targets: Targets::Instances(all()),
        down_for: s(10),
        new_id: false,
        graceful: false,
    };
    let scenario = with_at(scenario, 5, restart);
    assert_eq!(arrivals(&scenario)[..2], [75_001, 105_001]); // registers at once, beats 30 s later
}

/// A server that is gone refuses what comes again, so the caller notices at once.
#[test]
fn what_comes_again_may_be_refused() {
    let scenario = cut(TransportKind::RestClient, 2, Direction::Both);
    let scenario = with_at(scenario, 1, FaultKind::Crash(Targets::Servers(ServerChoice::All)));
    assert_eq!(answers(&scenario)[0], 63_004);
    assert_eq!(run(&scenario, 0).left_at_end(), 0);
}
