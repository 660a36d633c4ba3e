//! Tests of what a client with several servers does when one of them fails: the worked times of
//! `eureka-client.md` 6.7 and the facts of 2.2, 6.2 and 6.4, one by one.
//!
//! Everywhere the constructor's fetch takes 2 ms, the first heartbeat goes out at 30.002 s, and the second, the
//! first one to meet the failure, at t = 60.004 s. Servers are 0, 1, …; a heartbeat is (when, to whom).

use super::harness::{Answer, RTT, Rig, at_ms, healthy, secs};
use super::{ServerOrder, Silence, TransportConfig, TransportKind};
use crate::model::eureka::Flavour;
use crate::model::fact::Fact;
use crate::model::id::ServerId;
use crate::model::message::{Failure, Reply, RequestKind};

/// A running client whose delegate is server 0, and which tries servers in this order from now on.
fn rig(transport: TransportConfig, order: &[u32]) -> Rig {
    let count = order.len() as u32;
    let mut rig = Rig::with_servers(Flavour::Spring, &(0..count).map(ServerId).collect::<Vec<_>>());
    rig.config.transport = transport;
    rig.config.server_order = ServerOrder::ByHost;
    rig.config.sessioned_client_reconnect_interval_seconds = 1_000_000;
    rig.client.servers.hold(&(0..count).collect::<Vec<_>>());
    rig.start();
    rig.run_to(at_ms(40_000));
    rig.client.servers.hold(order);
    rig
}

fn of_kind(kind: TransportKind) -> TransportConfig {
    TransportConfig::of_kind(kind)
}

/// Server 0 fails heartbeats like this from now on; all else is well.
fn zero_fails(rig: &mut Rig, answer: Answer) {
    rig.answer(move |_, request, to, registry| match request.kind() {
        RequestKind::Renew if to.0 == 0 => answer,
        _ => healthy(request, registry),
    });
}

/// The heartbeats from t on.
fn heartbeats(rig: &Rig) -> Vec<(u64, u32)> {
    calls(rig, RequestKind::Renew).into_iter().filter(|&(at, _)| at >= 60_000).collect()
}

fn calls(rig: &Rig, kind: RequestKind) -> Vec<(u64, u32)> {
    rig.sent(kind).into_iter().map(|(at, _, to)| (at.as_millis(), to.0)).collect()
}

fn time_outs_ms(rig: &Rig) -> Vec<u64> {
    rig.facts_ms(|fact| *fact == Fact::SupervisorTimedOut)
}

#[test]
fn a_killed_server_is_left_within_two_or_three_round_trips() {
    use TransportKind::{Jersey, RestClient, RestTemplate, WebClient};
    for kind in [Jersey, RestTemplate, RestClient, WebClient] {
        let mut head = rig(of_kind(kind), &[0, 1, 2]);
        zero_fails(&mut head, Answer::Fail(RTT, Failure::Refused));
        head.run_to(at_ms(91_000));
        // The delegate, the list's head, which is the same, and the next; there it stays.
        assert_eq!(heartbeats(&head), [(60_004, 0), (60_006, 0), (60_008, 1), (90_010, 1)], "{kind:?}");
        let mut other = rig(of_kind(kind), &[1, 0, 2]);
        zero_fails(&mut other, Answer::Fail(RTT, Failure::Refused));
        other.run_to(at_ms(91_000));
        assert_eq!(heartbeats(&other), [(60_004, 0), (60_006, 1), (90_008, 1)], "{kind:?}");
    }
}

#[test]
fn jersey_leaves_a_black_hole_after_its_limits() {
    // Fresh connections: 5 s each. A pooled one waits 8 s for an answer before the 5 s of the next.
    let cases = [
        (false, [0, 1, 2], vec![(60_004, 0), (65_004, 0), (70_004, 1), (100_006, 1)]),
        (false, [1, 0, 2], vec![(60_004, 0), (65_004, 1), (95_006, 1)]),
        (true, [0, 1, 2], vec![(60_004, 0), (68_004, 0), (73_004, 1), (103_006, 1)]),
        (true, [1, 0, 2], vec![(60_004, 0), (68_004, 1), (98_006, 1)]),
    ];
    for (pooled, order, expected) in cases {
        let mut rig = rig(TransportConfig { pooled, ..of_kind(TransportKind::Jersey) }, &order);
        zero_fails(&mut rig, Answer::Silence(Silence::BlackHole));
        rig.run_to(at_ms(110_000));
        assert_eq!(heartbeats(&rig), expected, "{pooled} {order:?}");
        assert!(time_outs_ms(&rig).is_empty()); // 13 s at most, of 30
    }
}

#[test]
fn a_long_read_limit_keeps_a_client_in_a_black_hole_for_four_minutes() {
    for kind in [TransportKind::RestTemplate, TransportKind::RestClient] {
        let mut rig = rig(of_kind(kind), &[1, 0, 2]);
        zero_fails(&mut rig, Answer::Silence(Silence::BlackHole));
        rig.run_to(at_ms(340_000));
        // t hangs in its read for 180 s. t + 30 time-out, delay 60: t + 90 the second, which finds the connection
        // busy and hangs in its connect until t + 224. t + 120 time-out, delay 120: t + 240 the third, without a
        // delegate by now. It is in time, so the next comes 30 s later.
        assert_eq!(heartbeats(&rig), [(60_004, 0), (150_004, 0), (300_004, 1), (330_006, 1)]);
        assert_eq!(time_outs_ms(&rig), [90_004, 180_004]);
    }
}

#[test]
fn a_list_that_starts_with_the_black_hole_leads_back_into_it() {
    let mut rig = rig(of_kind(TransportKind::RestTemplate), &[0, 1, 2]);
    zero_fails(&mut rig, Answer::Silence(Silence::BlackHole));
    rig.run_to(at_ms(900_000));
    // As before, but t + 240 goes to 0 again and connects for 134 s; the rest of its job is cancelled. t + 270
    // time-out, delay 240: t + 510; t + 540 time-out, delay 300: t + 840.
    assert_eq!(heartbeats(&rig), [(60_004, 0), (150_004, 0), (300_004, 0), (570_004, 0)]);
    assert_eq!(time_outs_ms(&rig), [90_004, 180_004, 330_004, 600_004]);
    // A new order puts another first: the next job is out.
    rig.client.servers.hold(&[2, 0, 1]);
    rig.run_to(at_ms(901_000));
    assert_eq!(*heartbeats(&rig).last().unwrap(), (900_004, 2));
}

#[test]
fn without_limits_the_second_connection_gets_a_client_out() {
    let unlimited =
        TransportConfig { connect_timeout: None, read_timeout: None, ..of_kind(TransportKind::RestTemplate) };
    for (order, left) in [([1, 0, 2], vec![(300_004, 1)]), ([0, 1, 2], vec![(300_004, 0), (570_004, 0)])] {
        let mut rig = rig(unlimited, &order);
        zero_fails(&mut rig, Answer::Silence(Silence::BlackHole));
        rig.run_to(at_ms(if order[0] == 1 { 320_000 } else { 600_000 }));
        // t hangs for about 15 min; t + 90 fails to connect at t + 224 and takes the delegate along.
        assert_eq!(heartbeats(&rig), [vec![(60_004, 0), (150_004, 0)], left].concat());
    }
}

#[test]
fn a_start_against_a_black_hole_waits_for_three_attempts() {
    for (kind, limit_ms) in [(TransportKind::Jersey, 5_000), (TransportKind::RestClient, 134_000)] {
        let mut rig =
            Rig::with_servers(Flavour::Spring, &[ServerId(0), ServerId(1), ServerId(2), ServerId(3)]);
        rig.config.transport = of_kind(kind);
        rig.answer(|_, request, _, registry| match request.kind() {
            RequestKind::FetchFull => Answer::Silence(Silence::BlackHole),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(3 * limit_ms));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, limit_ms, 2 * limit_ms]);
        assert_eq!(rig.sent_ms(RequestKind::Register), [3 * limit_ms], "{kind:?}");
    }
}

#[test]
fn webclient_moves_on_as_soon_as_it_is_interrupted() {
    let mut rig = rig(of_kind(TransportKind::WebClient), &[1, 0, 2]);
    zero_fails(&mut rig, Answer::Silence(Silence::Paused));
    rig.run_to(at_ms(151_000));
    // t + 30 the time-out and the next attempt; the delay is 60 all the same.
    assert_eq!(heartbeats(&rig), [(60_004, 0), (90_004, 1), (150_004, 1)]);
}

#[test]
fn jersey_heartbeats_go_on_after_an_interrupt() {
    let mut rig = rig(of_kind(TransportKind::Jersey), &[0, 1]);
    rig.config.lease_renewal_interval_in_seconds = 5; // its timer is already set: this one counts from t on
    zero_fails(&mut rig, Answer::Silence(Silence::Paused));
    rig.run_to(at_ms(96_000));
    // t + 5 time-out, delay 10. The job goes on: t + 8 the same server, t + 16 the other. The second job: t + 15
    // finds no delegate, so it starts at the list's head too; t + 20 time-out, delay 20; t + 23 the other, which is
    // the delegate since t + 16. t + 40 is well, and resets the delay.
    let expected = [(60_004, 0), (68_004, 0), (75_004, 0), (76_004, 1), (83_004, 1)];
    assert_eq!(heartbeats(&rig), expected);
    rig.run_to(at_ms(106_000));
    assert_eq!(heartbeats(&rig)[5..], [(100_004, 1), (105_006, 1)]);
}

#[test]
fn jersey_fetches_walk_the_list_again_after_an_interrupt() {
    let mut rig = rig(of_kind(TransportKind::Jersey), &[0, 1]);
    rig.config.registry_fetch_interval_seconds = 5;
    rig.answer(|_, request, to, registry| match request.kind() {
        RequestKind::FetchDelta if to.0 == 0 => Answer::Silence(Silence::Paused),
        _ => healthy(request, registry),
    });
    rig.run_to(at_ms(101_000));
    // As the heartbeats above, but the answers of server 1 at t + 16 and t + 23 cannot be read, so it never becomes
    // the delegate: t + 40 starts at the list's head again.
    let fetches: Vec<_> =
        calls(&rig, RequestKind::FetchDelta).into_iter().filter(|&(at, _)| at >= 60_000).collect();
    let expected = [(60_004, 0), (68_004, 0), (75_004, 0), (76_004, 1), (83_004, 1), (100_004, 0)];
    assert_eq!(fetches, expected);
}

#[test]
fn a_cancelled_attempt_costs_a_healthy_delegate_its_place() {
    let mut rig = rig(of_kind(TransportKind::RestTemplate), &[1, 0, 2]);
    zero_fails(&mut rig, Answer::Silence(Silence::Paused));
    rig.run_to(at_ms(320_000));
    assert_eq!(heartbeats(&rig), [(60_004, 0), (150_004, 0), (300_004, 1)]);
    // The second job's read fails at t + 270; each attempt that it has left fails at once, on the delegate too. So
    // the heartbeat of t + 270 walks the list, which has changed meanwhile. Of two events at one moment the older
    // one comes first, and the read limit was set before.
    rig.client.servers.hold(&[2, 1, 0]);
    rig.run_to(at_ms(331_000));
    assert_eq!(*heartbeats(&rig).last().unwrap(), (330_006, 2));
}

#[test]
fn the_two_stacks_go_their_own_ways() {
    let mut rig = rig(of_kind(TransportKind::RestClient), &[0, 1]);
    zero_fails(&mut rig, Answer::Fail(RTT, Failure::Refused));
    rig.run_to(at_ms(200_000));
    assert_eq!(heartbeats(&rig).last().unwrap().1, 1);
    assert!(calls(&rig, RequestKind::FetchDelta).iter().all(|&(_, to)| to == 0));
}

#[test]
fn a_refusal_by_status_moves_a_heartbeat_on() {
    for status in [400, 401, 409, 429, 500, 503] {
        let mut rig = rig(of_kind(TransportKind::RestClient), &[1, 0]);
        zero_fails(&mut rig, Answer::Reply(RTT, Reply::bare(status)));
        rig.run_to(at_ms(61_000));
        assert_eq!(heartbeats(&rig), [(60_004, 0), (60_006, 1)], "{status}");
    }
}

#[test]
fn a_full_fetch_refused_with_403_is_repeated_elsewhere() {
    let start = |refusing: &'static [u32]| {
        let mut rig = Rig::with_servers(Flavour::Spring, &[ServerId(0), ServerId(1)]);
        rig.config.server_order = ServerOrder::ByHost;
        rig.client.servers.hold(&[0, 1]);
        rig.answer(move |_, request, to, registry| match request.kind() {
            RequestKind::FetchFull if refusing.contains(&to.0) => Answer::Reply(RTT, Reply::bare(403)),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(1_000));
        rig
    };
    let rig = start(&[0]);
    assert_eq!(calls(&rig, RequestKind::FetchFull), [(0, 0), (2, 1)]);
    assert_eq!(rig.client.view(), rig.registry.payload().full_view());
    let rig = start(&[0, 1]);
    assert_eq!(calls(&rig, RequestKind::FetchFull), [(0, 0), (2, 1)]); // the list is at its end
    assert!(rig.client.view().is_initial());
    assert_eq!(calls(&rig, RequestKind::Register), [(4, 0)]); // the registration stack begins at the head
}

#[test]
fn a_404_that_is_not_understood_is_taken_elsewhere_and_brings_no_registration() {
    let deaf = TransportConfig { understands_not_found: false, ..of_kind(TransportKind::RestTemplate) };
    let mut rig = rig(deaf, &[0, 1]);
    rig.answer(|_, request, _, registry| match request.kind() {
        RequestKind::Renew => Answer::Reply(RTT, Reply::bare(404)),
        _ => healthy(request, registry),
    });
    rig.run_to(at_ms(100_000));
    // The delegate, then the list; without a delegate the list alone, 30 s after the job's end at 60.010.
    assert_eq!(heartbeats(&rig), [(60_004, 0), (60_006, 0), (60_008, 1), (90_010, 0), (90_012, 1)]);
    assert_eq!(rig.sent_ms(RequestKind::Register), [2]);
}

#[test]
fn a_404_registers_with_the_server_that_said_so() {
    let mut rig = rig(of_kind(TransportKind::RestClient), &[1, 0]);
    rig.answer(|_, request, to, registry| match (request.kind(), to.0) {
        (RequestKind::Renew, 0) => Answer::Fail(RTT, Failure::Refused),
        (RequestKind::Renew, _) => Answer::Reply(RTT, Reply::bare(404)),
        _ => healthy(request, registry),
    });
    rig.run_to(at_ms(61_000));
    assert_eq!(heartbeats(&rig), [(60_004, 0), (60_006, 1)]);
    assert_eq!(calls(&rig, RequestKind::Register), [(2, 0), (60_008, 1)]);
}

#[test]
fn a_cancellation_is_repeated_after_exceptions_only() {
    // RestTemplate makes an exception of a 5xx: the delegate, then both of the list.
    let cases = [
        (TransportKind::RestTemplate, 500, 3),
        (TransportKind::RestTemplate, 404, 1),
        (TransportKind::RestClient, 500, 1),
        (TransportKind::Jersey, 500, 1),
        (TransportKind::WebClient, 500, 1),
    ];
    for (kind, status, tried) in cases {
        let mut rig = rig(of_kind(kind), &[0, 1]);
        rig.answer(move |_, request, _, registry| match request.kind() {
            RequestKind::Cancel => Answer::Reply(RTT, Reply::bare(status)),
            _ => healthy(request, registry),
        });
        rig.stop();
        rig.run_to(at_ms(50_000));
        assert_eq!(rig.sent(RequestKind::Cancel).len(), tried, "{kind:?} {status}");
    }
}

#[test]
fn a_heartbeat_shorter_than_the_call_backs_off() {
    let mut rig = rig(of_kind(TransportKind::Jersey), &[0, 1, 2]);
    rig.config.lease_renewal_interval_in_seconds = 5;
    rig.answer(|now, request, _, registry| match request.kind() {
        RequestKind::Renew if now > at_ms(40_000) => Answer::Silence(Silence::BlackHole),
        _ => healthy(request, registry),
    });
    rig.run_to(at_ms(60_004) + secs(160));
    // Each job lasts 3 × 5 s, but its supervisor waits 5: delays 10, 20, 40, 50, so t, + 15, + 40, + 85, + 140.
    assert_eq!(time_outs_ms(&rig), [65_004, 80_004, 105_004, 150_004, 205_004]);
}
