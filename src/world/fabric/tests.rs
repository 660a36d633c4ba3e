//! The fabric without a world: the tests tell it the time and lend it streams, and look at what it says.

use super::*;
use crate::engine::{Distribution, Engine, Fingerprint};
use crate::model::id::{ClientId, ServerId};
use crate::scenario::{Delay, Direction, Network};

const CLIENTS: AppId = AppId(0);
const SERVERS_OWN: AppId = AppId(1);
const FIRST: ServerId = ServerId(0);
const SECOND: ServerId = ServerId(1);

/// Two servers, some clients, and somebody's streams.
#[derive(Clone)]
struct Rig {
    fabric: Fabric,
    streams: Streams,
    seed: Seed,
}

impl Fingerprint for ExchangeId {
    fn fingerprint(&self) -> u64 {
        u64::from(self.place())
    }
}

const fn ms(millis: u64) -> SimDuration {
    SimDuration::from_millis(millis)
}

const fn at(millis: u64) -> SimTime {
    SimTime::from_millis(millis)
}

const fn network(latency_ms: u64, loss: f64) -> Network {
    Network { latency: Delay::Constant(ms(latency_ms)), loss }
}

const fn client(number: u32, to: ServerId) -> Route {
    Route { from: Host::Client(ClientId(number)), to }
}

const fn server(to: ServerId) -> Route {
    Route { from: Host::Server(FIRST), to }
}

impl Rig {
    /// Clients are 1 ms away, servers 5 ms.
    fn new(clients_loss: f64, servers_loss: f64) -> Self {
        let mut engine: Engine<ExchangeId> = Engine::new();
        let of_clients = [network(1, clients_loss), network(1, 0.0)];
        let networks =
            Networks::new(of_clients, network(5, servers_loss), |delay| engine.schedule().lane(delay));
        Self { fabric: Fabric::new(2, networks), streams: Streams::of("client/7"), seed: Seed::new(1, 0) }
    }

    fn call(&mut self, connects: bool) -> ExchangeId {
        self.fabric.begin(Kind::Call, Exchange::new(client(7, FIRST), connects, at(0)))
    }

    fn batch(&mut self, connects: bool) -> ExchangeId {
        self.fabric.begin(Kind::Batch, Exchange::new(server(SECOND), connects, at(0)))
    }

    fn leaves(&mut self, id: ExchangeId, now: SimTime) -> Passage {
        self.leaves_within(id, None, now)
    }

    fn leaves_within(&mut self, id: ExchangeId, limit: Option<SimDuration>, now: SimTime) -> Passage {
        let is_call = id.kind() == Kind::Call;
        let mut carrier = Carrier {
            app: if is_call { CLIENTS } else { SERVERS_OWN },
            seed: &self.seed,
            streams: is_call.then_some(&mut self.streams),
            latency: Purpose(0),
            host: &|| "client/7".to_owned(),
        };
        self.fabric.leaves(id, limit, now, &mut carrier)
    }

    fn answers(&mut self, id: ExchangeId, answer: Answer, now: SimTime) -> Passage {
        self.fabric.exchange_mut(id).answer = answer;
        self.leaves(id, now)
    }

    fn link(&mut self, id: ExchangeId) -> &mut Link {
        self.fabric.links.get_mut(self.fabric.exchange(id).route)
    }

    /// When what the link has swallowed is sent again that goes on now.
    fn goes_on(&mut self, id: ExchangeId, now: SimTime) -> Vec<(ExchangeId, SimTime)> {
        let swallowed = self.fabric.take_swallowed(self.fabric.exchange(id).route);
        let again = |held: Held| Some((held.id, self.fabric.sent_again(held, CLIENTS, now)?));
        swallowed.into_iter().filter_map(again).collect()
    }
}

fn delay(passage: Passage) -> SimDuration {
    match passage {
        Passage::Arrives(transit) => transit.delay,
        other => panic!("{other:?}"),
    }
}

const SILENT_HOST: Passage = Passage::Stalls(Silence::BlackHole);
const SILENT_PROCESS: Passage = Passage::Stalls(Silence::Paused);

#[test]
fn a_message_takes_as_long_as_its_network() {
    let mut rig = Rig::new(0.0, 0.0);
    let (call, batch) = (rig.call(true), rig.batch(true));
    assert_eq!([delay(rig.leaves(call, at(0))), delay(rig.leaves(batch, at(0)))], [ms(1), ms(5)]);
    assert_eq!(delay(rig.answers(call, Answer::Given, at(1))), ms(1));
    assert_eq!(delay(rig.answers(batch, Answer::Refused, at(5))), ms(5));
    assert_eq!(
        [call, batch].map(|id| (id.place(), rig.fabric.remove(id).answer)),
        [(0, Answer::Given), (0, Answer::Refused)]
    );
}

/// Only a latency that nothing adds to has a lane.
#[test]
fn what_faults_add_comes_on_top() {
    let mut rig = Rig::new(0.0, 0.0);
    let call = rig.call(false);
    let Passage::Arrives(transit) = rig.leaves(call, at(0)) else { panic!("nothing is wrong") };
    assert!(transit.lane.is_some());
    let latency = Some(Distribution::constant(ms(500)));
    rig.link(call).add_degradation(Degradation {
        fault: 0,
        loss: 0.0,
        latency,
        direction: Direction::ToServer,
    });
    let slow = rig.leaves(call, at(0));
    assert_eq!(slow, Passage::Arrives(Transit { delay: ms(501), lane: None }));
    assert_eq!(delay(rig.answers(call, Answer::Given, at(1))), ms(1), "the way back is as it was");
    rig.fabric.exchange_mut(call).answer = Answer::None;
    rig.link(call).remove_degradations(0);
    assert_eq!(delay(rig.leaves(call, at(0))), ms(1));
}

/// Data that was sent at 10 s goes out again after 0.2, 0.6, 1.4 and 3 s, a SYN after 1 and 3 s.
#[test]
fn what_a_partition_swallows_is_sent_again_when_it_has_healed() {
    for (connects, silence, again) in [(false, SILENT_PROCESS, 13_000), (true, SILENT_HOST, 13_000)] {
        let mut rig = Rig::new(0.0, 0.0);
        let call = rig.call(connects);
        rig.link(call).cut(Direction::Both);
        assert_eq!(rig.leaves(call, at(10_000)), silence);
        assert_eq!(rig.fabric.exchange(call).hold, Hold::Stuck);
        assert_eq!(rig.goes_on(call, at(10_500)), [], "it is still cut");
        rig.link(call).heal(Direction::Both);
        assert_eq!(rig.goes_on(call, at(12_000)), [(call, at(again))]);
        assert_eq!(rig.fabric.exchange(call).hold, Hold::UnderWay);
        assert_eq!(rig.goes_on(call, at(12_000)), [], "the link has given it away");
        rig.fabric.wait_anew(call, CLIENTS, at(13_000));
        // The wait that the read limit is for begins with the connection.
        let since = if connects { at(13_000) } else { at(0) };
        assert_eq!(rig.fabric.exchange(call).sent_at, since);
        assert_eq!(delay(rig.leaves(call, at(13_000))), ms(1));
    }
}

/// The SYN of 0 s goes out for the last time after 63 s.
#[test]
fn a_kernel_does_not_try_for_ever() {
    let mut rig = Rig::new(0.0, 0.0);
    let call = rig.call(true);
    rig.link(call).cut(Direction::ToServer);
    assert_eq!(rig.leaves(call, at(0)), SILENT_HOST);
    rig.link(call).heal(Direction::ToServer);
    assert_eq!(rig.goes_on(call, at(63_001)), []);
}

#[test]
fn a_connection_needs_both_ways_and_data_only_its_own() {
    let mut rig = Rig::new(0.0, 0.0);
    let (connects, stands) = (rig.call(true), rig.call(false));
    rig.link(connects).cut(Direction::FromServer);
    assert_eq!(rig.leaves(connects, at(0)), SILENT_HOST);
    assert_eq!(delay(rig.leaves(stands, at(0))), ms(1));
    rig.fabric.exchange_mut(stands).has_connected();
    assert_eq!(rig.answers(stands, Answer::Given, at(1)), SILENT_PROCESS);
    // Neither can pass yet.
    assert_eq!(rig.goes_on(connects, at(100)), []);
    rig.link(connects).heal(Direction::FromServer);
    assert_eq!(rig.goes_on(connects, at(100)), [(connects, at(1_000)), (stands, at(201))]);
}

/// As long as any of two partitions stands, nothing passes.
#[test]
fn partitions_overlap() {
    let mut rig = Rig::new(0.0, 0.0);
    let call = rig.call(false);
    rig.link(call).cut(Direction::Both);
    rig.link(call).cut(Direction::ToServer);
    rig.link(call).heal(Direction::Both);
    let cut = |rig: &Rig, way| rig.fabric.is_cut(client(7, FIRST), way, CLIENTS);
    assert!(cut(&rig, MessageDirection::ToServer) && !cut(&rig, MessageDirection::FromServer));
    assert!(!rig.fabric.is_cut(client(7, SECOND), MessageDirection::ToServer, CLIENTS), "another link");
    assert!(!rig.fabric.is_cut(client(8, FIRST), MessageDirection::ToServer, CLIENTS), "another client");
}

/// A refusal is nobody's to repeat: the sender's kernel asks again, at 1 s, and finds who listens then.
#[test]
fn a_refusal_that_is_swallowed_is_a_request_again() {
    let mut rig = Rig::new(0.0, 0.0);
    let call = rig.call(true);
    assert_eq!(delay(rig.leaves(call, at(0))), ms(1));
    rig.link(call).cut(Direction::FromServer);
    assert_eq!(rig.answers(call, Answer::Refused, at(1)), SILENT_HOST);
    assert_eq!(rig.fabric.exchange(call).answer, Answer::None);
    rig.link(call).heal(Direction::FromServer);
    assert_eq!(rig.goes_on(call, at(900)), [(call, at(1_000))]);
}

/// Of 10,000 messages a fifth is lost: 2,000, with a standard deviation of 40. Nobody sends them again.
#[test]
fn a_network_loses_its_share() {
    let mut rig = Rig::new(0.2, 0.0);
    let mut lost = 0;
    for _ in 0..10_000 {
        let call = rig.call(false);
        match rig.leaves(call, at(0)) {
            Passage::Arrives(transit) => assert_eq!(transit.delay, ms(1)),
            passage => {
                assert_eq!(passage, SILENT_PROCESS);
                lost += 1;
            }
        }
        assert_eq!(rig.goes_on(call, at(0)), []);
        rig.fabric.remove(call);
    }
    assert!((1_800..2_200).contains(&lost), "{lost}");
}

#[test]
fn a_network_that_loses_everything_is_cut() {
    let mut rig = Rig::new(1.0, 1.0);
    let (call, batch) = (rig.call(true), rig.batch(false));
    assert_eq!([rig.leaves(call, at(0)), rig.leaves(batch, at(0))], [SILENT_HOST, SILENT_PROCESS]);
    let own = rig.fabric.begin(Kind::Call, Exchange::new(server(FIRST), true, at(0)));
    let is_cut = rig.fabric.is_cut(server(FIRST), MessageDirection::ToServer, SERVERS_OWN);
    assert!(!is_cut, "nothing gets lost within a host");
    assert!(matches!(rig.leaves(own, at(0)), Passage::Arrives(_)));
}

/// There and back takes 10 ms: only a connection that is still to be made minds.
#[test]
fn a_server_may_be_too_far_to_connect_to() {
    for (limit, connects, reaches) in [(9, true, false), (10, true, true), (9, false, true)] {
        let mut rig = Rig::new(0.0, 0.0);
        let batch = rig.batch(connects);
        let passage = rig.leaves_within(batch, Some(ms(limit)), at(0));
        assert_eq!(passage != SILENT_HOST, reaches, "{limit} {connects}");
        assert_eq!(rig.fabric.exchange(batch).hold == Hold::UnderWay, reaches);
    }
}

/// What somebody still holds stays until that comes to it; the rest is over at once.
#[test]
fn who_gives_up_leaves_nothing_behind() {
    let mut rig = Rig::new(0.0, 0.0);
    let call = rig.call(false);
    let held = rig.fabric.hold(call);
    assert_eq!(delay(rig.leaves(call, at(0))), ms(1));
    rig.fabric.give_up(call);
    assert!(rig.fabric.is_current(held) && rig.fabric.exchange(call).is_given_up());
    rig.link(call).cut(Direction::Both);
    assert_eq!(rig.answers(call, Answer::Given, at(1)), Passage::Over);
    assert!(!rig.fabric.is_current(held));

    let call = rig.call(false);
    let held = rig.fabric.hold(call);
    assert_eq!(rig.leaves(call, at(2)), SILENT_PROCESS);
    rig.fabric.give_up(call);
    assert!(!rig.fabric.is_current(held));
    // Another has its place: what the link has swallowed is not that.
    let other = rig.call(false);
    assert_eq!(other, call);
    rig.link(other).heal(Direction::Both);
    assert_eq!(rig.goes_on(other, at(100)), []);
}

#[test]
fn a_request_that_nobody_will_see_is_over_with_its_limit() {
    let mut rig = Rig::new(0.0, 0.0);
    for given_up_first in [false, true] {
        let batch = rig.batch(false);
        let held = rig.fabric.hold(batch);
        if given_up_first {
            rig.fabric.give_up(batch);
            rig.fabric.forget(batch);
        } else {
            rig.fabric.forget(batch);
            assert!(rig.fabric.is_current(held), "its sender still waits");
            rig.fabric.give_up(batch);
        }
        assert!(!rig.fabric.is_current(held));
    }
}

/// The kernel of the sender asks again 1 s after the first time.
#[test]
fn who_is_turned_away_comes_again() {
    let mut rig = Rig::new(0.0, 0.0);
    let batch = rig.batch(true);
    let held = rig.fabric.refuse_connection(batch);
    assert_eq!(rig.fabric.exchange(batch).hold, Hold::Stuck);
    assert_eq!(rig.fabric.sent_again(held, SERVERS_OWN, at(400)), Some(at(1_000)));
    assert_eq!(rig.fabric.sent_again(held, SERVERS_OWN, at(1_001)), Some(at(3_000)));
}

/// The youngest connection is used first; after 30 s without use it is closed; a process takes all of its with it.
#[test]
fn connections_wait_for_the_next_batch() {
    let mut pools = Rig::new(0.0, 0.0).fabric.pools;
    assert!(!pools.take(FIRST, SECOND, at(0)));
    for millis in [0, 20_000] {
        pools.put(FIRST, SECOND, at(millis));
    }
    assert!(!pools.take(SECOND, FIRST, at(20_000)), "the other way is another pool");
    assert!(pools.take(FIRST, SECOND, at(29_999)));
    assert!(!pools.take(FIRST, SECOND, at(30_000)), "the older one was closed");
    for ended in [FIRST, SECOND] {
        pools.put(FIRST, SECOND, at(40_000));
        pools.reset(ended);
        assert!(!pools.take(FIRST, SECOND, at(40_000)));
    }
}

/// A copy has the same fate.
#[test]
fn a_copy_goes_on_alike() {
    let mut rig = Rig::new(0.5, 0.0);
    let fates = |rig: &mut Rig| -> Vec<Passage> {
        (0..50)
            .map(|_| {
                let call = rig.call(false);
                rig.leaves(call, at(0))
            })
            .collect()
    };
    fates(&mut rig);
    let mut copy = rig.clone();
    let fate = fates(&mut rig);
    assert_eq!(fate, fates(&mut copy));
    assert!(fate.contains(&SILENT_PROCESS) && fate.iter().any(|it| *it != SILENT_PROCESS));
}
