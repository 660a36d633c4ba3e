//! Connections to a server that stands still.

use super::*;
use crate::scenario::ServerNode;

/// 150 clients over Jersey, which connects for each call, and a server that stands still for so long from 55 s on.
fn paused_for(seconds: u64) -> Scenario {
    let mut scenario = in_step(150);
    scenario.setup.eureka_mut().unwrap().clients[0].transport =
        TransportConfig::of_kind(TransportKind::Jersey);
    scenario.warm_up = s(55);
    scenario.duration = s(80);
    let pause = FaultKind::Pause { targets: Targets::Servers(ServerChoice::All), length: constant(seconds) };
    with_at(scenario, 0, pause)
}

fn arrivals(scenario: &Scenario) -> Vec<u64> {
    let all = moments(scenario, |event| matches!(event, Event::RequestArrives { .. }));
    all.into_iter().filter(|&at| at > 55_000).collect()
}

/// All beat and fetch at 60.004 s, which makes 300 connections. A hundred wait. Of the others the first SYN that the
/// server's kernel answers is the one sent 3 s later.
#[test]
fn a_kernel_makes_a_hundred_connections_for_a_process_that_stands_still() {
    let scenario = paused_for(7);
    let after_three_seconds = arrivals(&scenario).into_iter().filter(|&at| at == 63_005).count();
    assert_eq!(after_three_seconds, 200);
    let data = run(&scenario, 0);
    // Nobody gave up, and nobody called twice: 300 calls in the second minute.
    assert_eq!(data.load[1].requests.iter().sum::<u64>(), 300);
}

/// The connect limit of 5 s comes first: the second attempt, at 65.004 s, finds the server awake. The hundred are
/// answered when it goes on.
#[test]
fn whoever_is_turned_away_gives_up_at_the_connect_limit() {
    let arrivals = arrivals(&paused_for(10));
    assert_eq!(arrivals.iter().filter(|&&at| at == 65_005).count(), 200);
    // The first attempts of all had arrived at 60.005 s, as far as their host goes.
    assert_eq!(arrivals.iter().filter(|&&at| at == 60_005).count(), 300);
}

/// Two servers 110 ms apart, and a connect limit of 200 ms: there and back takes 220 ms. Nothing is ever passed on.
#[test]
fn a_peer_that_is_too_far_is_never_reached() {
    let mut scenario = in_step(3);
    let server =
        |peer| ServerNode { starts_after: Some(SimDuration::ZERO), zone: None, peers: vec![ServerId(peer)] };
    scenario.servers = vec![server(1), server(0)];
    scenario.duration = s(300);
    scenario.server_network = Some(crate::scenario::Network { latency: Delay::Constant(ms(110)), loss: 0.0 });
    let far = run(&scenario, 0);
    assert_eq!((far.servers[0].left, far.servers[1].left), (3, 0));
    scenario.server_network = Some(crate::scenario::Network { latency: Delay::Constant(ms(95)), loss: 0.0 });
    let near = run(&scenario, 0);
    assert_eq!((near.servers[0].left, near.servers[1].left), (3, 3));
}
