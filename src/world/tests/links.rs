//! Loss, latency, flapping, and what stands between instances.

use super::*;
use crate::model::id::{AppId, ClientId};
use crate::scenario::{Direction, Network, ZoneId};
use crate::world::fabric::{Host, MessageDirection, Route};

fn degrade(loss: f64, latency: Option<Distribution>, direction: Direction) -> FaultKind {
    FaultKind::Degrade { targets: all().into(), peer: Peer::Servers, loss, latency, length: None, direction }
}

fn renewals(data: &ReplicateData, minutes: std::ops::Range<usize>) -> u64 {
    data.load[minutes].iter().map(|minute| minute.requests[RequestKind::Renew as usize]).sum()
}

/// Of 100 clients that beat twice a minute for 20 minutes, 4,000 beats, a fifth is lost. Jersey waits 8 s for each and
/// tries again, so a job that loses lasts 8 s longer: with p = 0.2 a job makes 1.2 to 1.25 attempts of which 1 or
/// nearly so arrives, every 32 s or so.
#[test]
fn a_lost_request_is_a_read_time_out_and_is_tried_again() {
    let mut scenario = fleet(100);
    scenario.setup.eureka_mut().unwrap().clients[0].transport =
        TransportConfig::of_kind(TransportKind::Jersey);
    scenario.network.loss = 0.2;
    let data = run(&scenario, 0);
    assert_eq!(data.ending, Ending::Duration, "a lossy network never settles");
    let lossy = renewals(&data, 8..28);
    assert!((3_400..3_900).contains(&lossy), "{lossy}");
    scenario.network.loss = 0.0;
    let lossless = renewals(&run(&scenario, 0), 8..28);
    assert!((3_995..=4_000).contains(&lossless), "{lossless}");
}

/// Only answers are lost: the server has done the work all the same, and each beat that is tried again renews twice.
#[test]
fn a_lost_answer_has_done_its_work() {
    let mut scenario = in_step(100);
    scenario.setup.eureka_mut().unwrap().clients[0].transport =
        TransportConfig::of_kind(TransportKind::Jersey);
    let scenario = with_at(scenario, 0, degrade(0.5, None, Direction::FromServer));
    let data = run(&scenario, 0);
    assert!(data.mistakes.is_empty());
    // Two beats each in the first minute, of which half are tried again 8 s later: about 2 · (100 + 50).
    let first = renewals(&data, 1..2);
    assert!((265..=335).contains(&first), "{first}");
}

/// A loss of 1 is a partition, and so is its end.
#[test]
fn a_link_that_loses_everything_is_cut() {
    let verb = FaultKind::Degrade {
        targets: all().into(),
        peer: Peer::Servers,
        loss: 1.0,
        latency: None,
        length: Some(s(2)),
        direction: Direction::Both,
    };
    let arrivals =
        moments(&with_at(in_step(1), 0, verb), |event| matches!(event, Event::RequestArrives { .. }));
    // The beat and the fetch of 60.004 go out again at 63.004.
    assert!(arrivals.contains(&63_005) && !arrivals.iter().any(|at| (60_000..63_005).contains(at)));
}

/// 500 ms there, nothing back: a beat of 60.004 arrives at 60.505 and is answered at 60.506.
#[test]
fn a_slow_link_adds_to_the_latency() {
    let slow = degrade(0.0, Some(Distribution::constant(ms(500))), Direction::ToServer);
    let scenario = with_at(in_step(1), 0, slow);
    assert!(moments(&scenario, |event| matches!(event, Event::RequestArrives { .. })).contains(&60_505));
    assert!(moments(&scenario, |event| matches!(event, Event::AnswerArrives { .. })).contains(&60_506));
}

#[test]
fn an_application_has_links_of_its_own() {
    let mut scenario = in_step(1);
    let far = Network { latency: Delay::Constant(ms(50)), loss: 0.0 };
    scenario.applications[0].network = Some(far);
    let arrivals = moments(&scenario, |event| matches!(event, Event::RequestArrives { .. }));
    assert_eq!(arrivals[..2], [50, 150]); // the constructor's fetch, and after its answer the registration
}

/// Down 10 s, up 20 s, for 100 s: down at 0, 30, 60 and 90, up at 10, 40, 70 and at the end.
#[test]
fn a_flapping_link_is_up_at_the_end() {
    let verb = FaultKind::Flap {
        targets: all().into(),
        peer: Peer::All,
        up_for: constant(20),
        down_for: constant(10),
        length: Some(s(100)),
        lost: Direction::Both,
    };
    let scenario = with_at(in_step(2), 0, verb);
    let is_cut = |second: u64| {
        let from = Host::Client(ClientId(0));
        let route = Route { from, to: ServerId(0) };
        look(&scenario, 60 + second, |world| {
            world.fabric.is_cut(route, MessageDirection::ToServer, world.app_at(from))
        })
    };
    for (second, cut) in
        [(5, true), (15, false), (35, true), (45, false), (95, true), (101, false), (500, false)]
    {
        assert_eq!(is_cut(second), cut, "{second}");
    }
    let steps = moments(&scenario, |event| matches!(event, Event::FaultStep { .. }));
    assert_eq!(steps.len(), 2 * 6);
    assert_eq!(run(&scenario, 0).agreement.missing_in_views, 0);
}

/// Two applications of three, over two zones: `orders-1` and `-3` in the first, `-2` in the second.
fn zoned(peer: Peer, loss: Option<f64>) -> Scenario {
    let mut scenario = in_step(3);
    scenario.zones = vec!["a".to_owned(), "b".to_owned()];
    scenario.applications[0].zones = vec![ZoneId(0), ZoneId(1)];
    let users = Application { name: "users".to_owned(), ..scenario.applications[0].clone() };
    scenario.add_application(users, AppId(0));
    let targets = Selection { application: Some(AppId(0)), zone: Some(ZoneId(0)), which: TargetChoice::All };
    let verb = match loss {
        None => {
            FaultKind::Partition { targets: targets.into(), peer, length: None, lost: Direction::ToServer }
        }
        Some(loss) => FaultKind::Degrade {
            targets: targets.into(),
            peer,
            loss,
            latency: None,
            length: None,
            direction: Direction::Both,
        },
    };
    with_at(scenario, 0, verb)
}

/// Loss between `orders-one` and `other` of `app`, both ways alike.
fn loss(scenario: &Scenario, one: usize, app: usize, other: usize) -> f64 {
    look(scenario, 61, |world| {
        let (one, other) = (world.members[0][one - 1], world.members[app][other - 1]);
        assert_eq!(world.loss_between(one, other), world.loss_between(other, one));
        world.loss_between(one, other)
    })
}

#[test]
fn a_partition_stands_between_zones() {
    let peer = Peer::Instances { application: None, zone: Some(ZoneId(1)) };
    let scenario = zoned(peer, None);
    assert_eq!(loss(&scenario, 1, 0, 2), 1.0);
    assert_eq!(loss(&scenario, 1, 1, 2), 1.0);
    assert_eq!(loss(&scenario, 1, 0, 3), 0.0); // the same zone
    assert_eq!(loss(&scenario, 2, 1, 1), 0.0); // of `users` none is a target
    assert_eq!(run(&scenario, 0).timeline.last().expect("minutes").renewals, 12, "heartbeats go on");
}

#[test]
fn a_partition_from_everyone_spares_those_behind_it() {
    let scenario = zoned(Peer::All, None);
    assert_eq!(loss(&scenario, 1, 0, 2), 1.0);
    assert_eq!(loss(&scenario, 1, 0, 3), 0.0); // both are cut off together
    assert_eq!(run(&scenario, 0).timeline.last().expect("minutes").renewals, 8);
}

/// Calls and their answers are lost alike: 1 − 0.9², and with the network's own 10 % besides, 1 − 0.9⁴.
#[test]
fn losses_add_up() {
    let peer = Peer::Instances { application: Some(AppId(1)), zone: None };
    let mut scenario = zoned(peer, Some(0.1));
    assert!((loss(&scenario, 1, 1, 1) - 0.19).abs() < 1e-12);
    scenario.network.loss = 0.1;
    assert!((loss(&scenario, 1, 1, 1) - 0.3439).abs() < 1e-12);
    assert!((loss(&scenario, 1, 0, 2) - 0.19).abs() < 1e-12);
}
