//! Who is whose peer, and what a server that starts takes from the others: `eureka-peers.md` sections 1, 7 and 8.

use super::cluster::{Cluster, Link};
use super::*;
use crate::model::id::ServerId;

#[test]
fn a_server_among_its_own_peers_counts_everything_twice() {
    let mut cluster = Cluster::start(&[0], &[vec![0]], spring());
    cluster.register(0, 0);
    cluster.run_to(501);
    // It has registered anew: the lease is younger by the way to itself.
    let updated = cluster.server(0).lease(InstanceId(0)).map(Lease::last_update);
    assert_eq!(updated, Some(START.plus(501)));
    assert_eq!(cluster.server(0).expected(), 2); // Spring's one, and the instance once
    cluster.beats(0, 0, 10_000, 30_000);
    cluster.run_to(120_000);
    assert_eq!(cluster.minutes(0, 0, 121_000), [(60_000, 4), (120_000, 4)]);
    // It hears of each beat once more, and does not pass that on.
    assert_eq!(cluster.batches(0, 0).len(), 5);
    cluster.homes[0] = None;
    cluster.cancel(0, 0);
    cluster.run_to(121_000);
    assert!(!cluster.knows(0, 0)); // 404 for the cancel that comes back
}

#[test]
fn a_ring_of_three_tells_the_third_nothing() {
    let mut cluster = Cluster::start(&[0, 0, 0], &[vec![1], vec![2], vec![0]], spring());
    cluster.register(0, 0);
    cluster.beats(0, 0, 1_000, 30_000);
    cluster.run_to(600_000);
    assert!(cluster.knows(1, 0) && !cluster.knows(2, 0));
    assert!(cluster.batches(1, 2).is_empty());
}

#[test]
fn a_cancel_that_was_lost_leaves_a_zombie_until_its_lease_expires() {
    let off = ServerConfig { enable_self_preservation: false, ..spring() };
    let mut cluster = Cluster::mesh(&[0, 0], off);
    cluster.register(0, 0);
    cluster.renew(0, 0);
    cluster.run_to(1_000);
    cluster.link(0, 1, Link::Refusing);
    cluster.cancel(0, 0);
    cluster.run_to(31_001); // the cancel was good for 30 s
    cluster.link(0, 1, Link::Open);
    cluster.run_to(180_500);
    assert!(cluster.knows(1, 0));
    cluster.run_to(300_000);
    // Renewed there at 501, so expired from 180,502 on: the round of 240,000.
    assert_eq!(cluster.evicted(1), [(240_000, 0)]);

    // A cancel that is 29 s old when the peer is back still works.
    let mut cluster = Cluster::mesh(&[0, 0], spring());
    cluster.register(0, 0);
    cluster.run_to(1_000);
    cluster.link(0, 1, Link::Refusing);
    cluster.cancel(0, 0);
    cluster.run_to(30_000);
    cluster.link(0, 1, Link::Open);
    cluster.run_to(30_200);
    assert!(!cluster.knows(1, 0));
}

#[test]
fn a_new_life_has_nothing_to_tell_and_no_old_timers() {
    let mut cluster = Cluster::mesh(&[0, 0], spring());
    cluster.link(0, 1, Link::Refusing);
    cluster.register(0, 0); // due at 500
    cluster.run_to(550); // refused; a timer is set for 601
    cluster.restart(0, &[1]);
    cluster.link(0, 1, Link::Open);
    cluster.run_to(580);
    cluster.register(0, 1); // due at 1,080
    cluster.run_to(1_079);
    assert_eq!(cluster.batches(0, 1), [(500, 1)]);
    cluster.run_to(2_000);
    assert_eq!(cluster.batches(0, 1), [(500, 1), (1_080, 1)]);
    assert!(!cluster.knows(1, 0) && cluster.knows(1, 1));
}

#[test]
fn a_wall_clock_that_is_set_forward_is_noticed_at_once() {
    let mut bench = Bench::start(spring());
    let peers = [ServerId(1)];
    let config = Arc::new(spring());
    let mut out = Vec::new();
    let mut step = Step {
        now: bench.now(),
        rng: bench.streams.with(&bench.seed),
        views: &mut bench.views,
        out: &mut out,
    };
    let own = OwnRegistry::default();
    let mut server = EurekaServer::start(config, 0, &peers, own, &mut step);
    server.on_request(&Request::Register(record(0)), &mut step);
    step.out.clear();
    step.now.wall = START.plus(499);
    server.on_clock_step(&mut step);
    assert!(!step.out.iter().any(|effect| matches!(effect, ServerEffect::Replicate { .. })));
    step.now.wall = START.plus(500);
    server.on_clock_step(&mut step);
    assert!(step.out.iter().any(|effect| matches!(effect, ServerEffect::Replicate { .. })));
}

/// A server that was told of an instance that is UP, one that is DOWN, and one that an operator holds UP.
fn source() -> (Cluster, Vec<Record>) {
    let config = ServerConfig { registry_sync_retries: 5, ..spring() };
    let mut cluster = Cluster::start(&[0], &[vec![]], config);
    cluster.run_to(120_000); // four waits for nobody
    cluster.register(0, 0);
    let down = |instance| Request::Register(Record { status: Status::Down, ..record(instance) });
    cluster.ask(0, down(1));
    cluster.ask(0, down(2));
    let (instance, status) = (InstanceId(2), Status::Up);
    cluster.ask(0, Request::UpdateStatus { instance, status, last_dirty: None });
    let records = (0..3).map(|instance| cluster.server(0).lease(InstanceId(instance)).expect("known").record);
    let records = records.collect();
    (cluster, records)
}

#[test]
fn a_joining_server_copies_who_is_up_and_hears_of_the_rest() {
    let (mut cluster, records) = source();
    let view = Some(cluster.view(0));
    cluster.run_to(130_000);
    cluster.join(&[0], OwnRegistry { view, records: &records });
    let joined = cluster.server(1);
    assert!(joined.is_open());
    assert_eq!((joined.registered(), joined.expected(), joined.threshold()), (2, 2, 3));
    // A lease of one duration, counted from here.
    assert_eq!(joined.lease(InstanceId(0)).map(Lease::last_update), Some(START.plus(130_000)));
    assert_eq!(joined.lease(InstanceId(2)).map(|lease| lease.record.overridden), Some(Status::Up));
    assert_eq!(joined.overrides.read(InstanceId(2), SimTime::from_secs(130)), Some(Status::Up));
    // Nothing of the copy is passed on.
    cluster.run_to(140_000);
    assert!(cluster.batches(1, 0).is_empty());
}

#[test]
fn who_is_not_up_comes_with_the_next_heartbeat() {
    let config = ServerConfig { registry_sync_retries: 1, ..spring() };
    let mut cluster = Cluster::start(&[0], &[vec![1]], config);
    cluster.ask(0, Request::Register(Record { status: Status::Down, ..record(0) }));
    let (view, held) = (cluster.view(0), cluster.server(0).lease(InstanceId(0)).expect("known").record);
    cluster.run_to(400);
    cluster.join(&[0], OwnRegistry { view: Some(view), records: &[held] });
    assert_eq!((cluster.server(1).registered(), cluster.server(1).expected()), (0, 1));
    // The registration of 0 is delivered all the same: it was queued. Another server, that missed it:
    cluster.run_to(501);
    assert!(cluster.knows(1, 0));
    cluster.restart(1, &[0]);
    assert!(!cluster.knows(1, 0));
    cluster.run_to(10_000);
    assert_eq!(cluster.renew(0, 0), 200);
    cluster.run_to(11_003);
    let known = cluster.server(1).lease(InstanceId(0)).map(|lease| lease.record.status);
    assert_eq!(known, Some(Status::Down));
}

#[test]
fn spring_serves_a_partial_registry_while_it_copies_and_forgets_to_expect_it() {
    // Nobody to copy from yet: five tries, 30 s apart.
    let config = ServerConfig { registry_sync_retries: 5, ..spring() };
    let mut cluster = Cluster::mesh(&[0], config);
    cluster.register(0, 0);
    assert_eq!(cluster.ask(0, Request::FetchFull), 200);
    assert!(cluster.knows(0, 0));
    assert_eq!(cluster.server(0).expected(), 2);
    cluster.run_to(120_000);
    // The copy was empty: Spring's one is expected, and who is there is not.
    assert_eq!((cluster.server(0).expected(), cluster.server(0).registered()), (1, 1));
    assert_eq!(cluster.ask(0, Request::FetchFull), 200);
}

#[test]
fn netflix_with_a_peer_that_knows_somebody_opens_at_once_and_refuses_nobody() {
    let (mut cluster, records) = source();
    let view = Some(cluster.view(0));
    let (now, mut out) = (cluster.now(), Vec::new());
    let (seed, mut streams) = (Seed::new(7, 0), Streams::of("server/netflix"));
    let reply = cluster.with(0, |_, step| {
        let mut step = Step { now, rng: streams.with(&seed), views: step.views, out: &mut out };
        let config = Arc::new(ServerConfig::defaults(Flavour::Netflix));
        let own = OwnRegistry { view, records: &records };
        let mut server = EurekaServer::start(config, 0, &[ServerId(0)], own, &mut step);
        assert!(server.is_serving());
        assert_eq!(server.expected(), 2);
        server.on_request(&Request::FetchFull, &mut step)
    });
    assert_eq!(reply.status, 200);
}

#[test]
fn a_restarted_server_has_a_full_minute_by_replication_before_anybody_talks_to_it() {
    let mut cluster = Cluster::mesh(&[0, 0], spring());
    for instance in 0..10 {
        cluster.beats(instance, 0, 1_000 + 3_000 * i64::from(instance), 30_000);
    }
    cluster.run_to(200_000);
    cluster.restart(1, &[0]);
    assert_eq!(cluster.server(1).registered(), 0);
    cluster.run_to(232_000); // an interval, and the way of a 404
    assert_eq!(cluster.server(1).registered(), 10);
    cluster.run_to(259_999);
    assert_eq!(cluster.server(1).renews_last_min(), 0);
    assert!(cluster.server(1).self_preservation_engaged());
    cluster.run_to(320_000);
    // The first beats are not counted but answered with 404; the second minute is full.
    assert_eq!(cluster.minutes(1, 200_001, 321_000), [(260_000, 10), (320_000, 20)]);
    assert!(!cluster.server(1).self_preservation_engaged());
}
