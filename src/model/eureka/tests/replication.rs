//! What servers tell each other: the vectors of `eureka-peers.md` sections 2 to 7.

use super::cluster::{Cluster, Link};
use super::*;
use crate::model::id::ServerId;
use crate::model::message::{ItemReply, Replicated};

/// Two servers that started together.
fn two() -> Cluster {
    Cluster::mesh(&[0, 0], spring())
}

fn waiting(cluster: &mut Cluster, from: usize, to: u32) -> usize {
    cluster.server(from).peers.waiting(ServerId(to))
}

fn heartbeat(instance: u32) -> Replicated {
    Replicated::Heartbeat(record(instance))
}

#[test]
fn v28_a_heartbeat_counts_on_both_half_a_second_apart() {
    let mut cluster = two();
    cluster.register(0, 0);
    cluster.beats(0, 0, 10_000, 30_000);
    cluster.run_to(10_500);
    let renewed = |cluster: &mut Cluster, server: usize| {
        cluster.server(server).lease(InstanceId(0)).map(|lease| lease.last_update().since(START))
    };
    assert_eq!(renewed(&mut cluster, 0), Some(100_000)); // 10,000 + 90,000
    assert_eq!(renewed(&mut cluster, 1), Some(501)); // registered 0 + 500 + 1, not renewed yet
    cluster.run_to(10_501);
    assert_eq!(renewed(&mut cluster, 1), Some(100_501)); // 10,000 + 500 + 1 + 90,000
    cluster.run_to(180_000);
    for server in [0, 1] {
        assert_eq!(cluster.minutes(server, 60_000, 181_000), [(60_000, 2), (120_000, 2), (180_000, 2)]);
    }
    // B heard it from a peer, and tells nobody.
    assert!(cluster.batches(1, 0).is_empty());
}

#[test]
fn everything_a_client_says_is_passed_on_but_evictions_are_not() {
    let mut cluster = two();
    let (instance, last_dirty) = (InstanceId(0), WallMs(100));
    cluster.register(0, 0);
    cluster.renew(0, 0);
    let status = Status::OutOfService;
    cluster.ask(0, Request::UpdateStatus { instance, status, last_dirty: None });
    cluster.run_to(501);
    assert_eq!(cluster.server(1).lease(instance).map(|lease| lease.record.status), Some(status));
    cluster.ask(0, Request::DeleteStatusOverride { instance, status: Status::Up, last_dirty: None });
    cluster.run_to(1_002);
    assert_eq!(cluster.server(1).lease(instance).map(|lease| lease.record.status), Some(Status::Up));
    cluster.cancel(0, 0);
    cluster.run_to(1_503);
    assert!(!cluster.knows(1, 0));
    // The status of the record when the batch is made: the registration brings the override along.
    let taken_out = Record { status, overridden: status, ..record(0) };
    let sent: Vec<_> = cluster.sent.iter().map(|sent| (sent.0, sent.3.clone())).collect();
    let first = vec![
        Replicated::Register(taken_out),
        Replicated::Heartbeat(Record { overridden: Status::Unknown, ..taken_out }),
        Replicated::StatusUpdate { instance, status, last_dirty },
    ];
    let second = vec![Replicated::DeleteStatusOverride { instance, status: Status::Up, last_dirty }];
    assert_eq!(sent, [(500, first), (1_001, second), (1_502, vec![Replicated::Cancel { instance }])]);

    cluster.register(0, 1);
    cluster.run_to(2_100);
    let before = cluster.sent.len();
    cluster.with(0, |server, step| server.evict(InstanceId(1), step));
    cluster.run_to(10_000);
    assert_eq!(cluster.sent.len(), before);
    assert!(cluster.knows(1, 1));
}

#[test]
fn nothing_is_passed_on_for_an_instance_that_is_not_there() {
    let mut cluster = two();
    let instance = InstanceId(3);
    assert_eq!(cluster.renew(0, 3), 404);
    assert_eq!(cluster.ask(0, Request::Cancel { instance }), 404);
    let status = Status::Down;
    assert_eq!(cluster.ask(0, Request::UpdateStatus { instance, status, last_dirty: None }), 404);
    cluster.run_to(2_000);
    assert!(cluster.batches(0, 1).is_empty());
}

#[test]
fn a_heartbeat_that_is_told_to_register_is_passed_on_all_the_same() {
    let mut cluster = two();
    cluster.register(0, 0);
    cluster.run_to(1_000);
    let dirtier = Request::Renew { instance: InstanceId(0), last_dirty: WallMs(200) };
    assert_eq!(cluster.ask(0, dirtier), 404);
    cluster.run_to(2_000);
    // With the record as it is here, so the peer has nothing against it.
    assert_eq!(cluster.sent[1].3, [heartbeat(0)]);
}

#[test]
fn a_first_task_that_is_replaced_again_and_again_holds_up_the_rest() {
    let mut cluster = two();
    for instance in [0, 1] {
        cluster.register(0, instance);
    }
    cluster.run_to(1_000);
    // Every 400 ms a heartbeat of 0, from 1,000 to 2,600; one of 1 at 1,100.
    for at in [1_000, 1_100, 1_400, 1_800, 2_200, 2_600] {
        cluster.run_to(at);
        cluster.renew(0, u32::from(at == 1_100));
    }
    cluster.run_to(4_000);
    assert_eq!(cluster.batches(0, 1), [(500, 2), (3_100, 2)]); // 2,600 + 500
}

#[test]
fn more_than_250_leave_as_several_batches_each_when_its_own_first_is_due() {
    let mut cluster = two();
    for instance in 0..600 {
        cluster.register(0, instance);
    }
    cluster.run_to(100);
    cluster.register(0, 600);
    cluster.run_to(1_000);
    // Reaching 250 sends nothing early; the last 100 take the late one along.
    assert_eq!(cluster.batches(0, 1), [(500, 250), (500, 250), (500, 101)]);
    for instance in 0..250 {
        cluster.renew(0, instance);
    }
    cluster.run_to(1_300);
    cluster.renew(0, 300);
    cluster.run_to(2_000);
    assert_eq!(cluster.batches(0, 1)[3..], [(1_500, 250), (1_800, 1)]);
}

#[test]
fn a_batch_waits_for_a_free_worker() {
    let mut cluster =
        Cluster::mesh(&[0, 0], ServerConfig { max_threads_for_peer_replication: 1, ..spring() });
    for instance in 0..300 {
        cluster.register(0, instance);
    }
    cluster.run_to(1_000);
    assert_eq!(cluster.batches(0, 1), [(500, 250), (502, 50)]); // there and back, 1 ms each
}

#[test]
fn a_dead_peer_is_tried_ten_times_a_second_until_the_task_expires() {
    let mut cluster = two();
    cluster.link(0, 1, Link::Refusing);
    cluster.register(0, 0);
    cluster.run_to(60_000);
    let tries: Vec<i64> = cluster.batches(0, 1).iter().map(|batch| batch.0).collect();
    // 500, and then 1 ms to be refused and 100 ms to wait; usable before 30,000.
    let expected: Vec<i64> = (0..).map(|n| 500 + 101 * n).take_while(|&at| at < 30_000).collect();
    assert_eq!(tries, expected);
    assert_eq!(tries.len(), 293);
    assert_eq!(waiting(&mut cluster, 0, 1), 0);
    assert!(!cluster.knows(1, 0));
}

#[test]
fn a_black_hole_is_tried_each_connect_limit_and_a_tenth() {
    let mut cluster = two();
    cluster.link(0, 1, Link::BlackHole);
    cluster.register(0, 0);
    cluster.run_to(1_500);
    // 200 ms to connect (Spring), 100 ms to wait.
    assert_eq!(cluster.batches(0, 1), [(500, 1), (800, 1), (1_100, 1), (1_400, 1)]);
}

#[test]
fn congestion_waits_a_second_and_other_answers_lose_the_batch() {
    let mut cluster = two();
    cluster.link(0, 1, Link::Answering(503));
    cluster.register(0, 0);
    cluster.run_to(3_000);
    assert_eq!(cluster.batches(0, 1), [(500, 1), (1_501, 1), (2_502, 1)]);
    cluster.link(0, 1, Link::Answering(500));
    cluster.run_to(10_000);
    assert_eq!(cluster.batches(0, 1).len(), 4); // 3,503: the last
    assert_eq!(waiting(&mut cluster, 0, 1), 0);
}

#[test]
fn a_heartbeat_whose_answer_is_late_counts_again_each_time() {
    let mut cluster = two();
    cluster.register(0, 0);
    cluster.run_to(10_000);
    cluster.link(0, 1, Link::Deaf);
    cluster.renew(0, 0);
    cluster.run_to(14_000);
    cluster.link(0, 1, Link::Open);
    cluster.run_to(60_000);
    // Sent at 10,500; each try fails after 200 ms (Spring) and waits 1,000 ms: 11,700, 12,900, and 14,100 is heard.
    assert_eq!(cluster.minutes(0, 0, 61_000), [(60_000, 1)]);
    assert_eq!(cluster.minutes(1, 0, 61_000), [(60_000, 4)]);
}

#[test]
fn a_batch_under_way_is_overtaken_by_the_next() {
    let mut cluster = two();
    cluster.link(0, 1, Link::Deaf);
    cluster.register(0, 0); // sent at 500, fails at 700, again from 1,700 on
    cluster.run_to(150);
    cluster.run_to(501);
    cluster.link(0, 1, Link::Open);
    cluster.cancel(0, 0); // due at 1,001, but the peer is left alone until 1,700
    cluster.run_to(699);
    assert_eq!(waiting(&mut cluster, 0, 1), 1);
    cluster.run_to(2_000);
    assert_eq!(cluster.batches(0, 1), [(500, 1), (1_700, 2)]);

    // With a slower failure (plain Netflix reads for 5 s) the cancel is there first, and the instance comes back.
    let mut cluster = Cluster::mesh(&[0, 0], ServerConfig { peer_node_read_timeout_ms: 5_000, ..spring() });
    cluster.link(0, 1, Link::Deaf);
    cluster.register(0, 0);
    cluster.run_to(501);
    cluster.link(0, 1, Link::Open);
    cluster.cancel(0, 0);
    cluster.run_to(1_002);
    assert!(!cluster.knows(1, 0));
    cluster.run_to(6_501); // fails at 5,500, a second later it is sent
    assert!(cluster.knows(1, 0));
}

#[test]
fn an_unknown_instance_is_registered_a_second_after_its_heartbeat() {
    let mut cluster = two();
    cluster.link(0, 1, Link::Answering(500));
    cluster.register(0, 0);
    cluster.run_to(10_000);
    cluster.link(0, 1, Link::Open);
    assert!(!cluster.knows(1, 0));
    assert_eq!(cluster.renew(0, 0), 200);
    cluster.run_to(11_002);
    assert!(!cluster.knows(1, 0));
    cluster.run_to(11_003); // 500, there and back 2, 500, there 1
    assert!(cluster.knows(1, 0));
    // The heartbeat itself was for nobody.
    cluster.run_to(60_000);
    assert_eq!(cluster.minutes(1, 0, 61_000), [(60_000, 0)]);
}

#[test]
fn an_older_sender_takes_the_peers_record() {
    let mut cluster = two();
    cluster.register(0, 0);
    cluster.run_to(1_000);
    // B has a newer record, and an override that A does not know; neither came by replication.
    let newer = Record {
        last_dirty: WallMs(200),
        overridden: Status::OutOfService,
        status: Status::OutOfService,
        ..record(0)
    };
    cluster.with(1, |server, step| server.on_replicated_register(&newer, step));
    cluster.renew(0, 0);
    cluster.run_to(1_502);
    let lease = *cluster.server(0).lease(InstanceId(0)).expect("registered");
    assert_eq!(lease.record, newer);
    assert_eq!(lease.last_update(), START.plus(1_502)); // a lease that was never renewed
    cluster.run_to(60_000);
    assert_eq!(cluster.minutes(1, 0, 61_000), [(60_000, 1)]); // counted, though answered with 409
    assert_eq!(cluster.batches(0, 1).len(), 2);
}

#[test]
fn an_override_for_one_who_left_meanwhile_brings_nobody_back() {
    let mut cluster = two();
    cluster.register(0, 0);
    cluster.run_to(1_000);
    for (overridden, comes_back) in [(Status::OutOfService, false), (Status::Unknown, true)] {
        let newer = Record { last_dirty: WallMs(200), overridden, ..record(0) };
        cluster.with(0, |server, step| server.on_replicated_register(&record(0), step));
        cluster.with(1, |server, step| server.on_replicated_register(&newer, step));
        cluster.renew(0, 0);
        let sent = cluster.now_ms + 500;
        cluster.run_to(sent);
        cluster.with(0, |server, step| server.cancel(InstanceId(0), step));
        cluster.with(1, |server, step| server.overrides.remove(InstanceId(0), step.now.mono));
        cluster.run_to(sent + 2);
        assert_eq!(cluster.knows(0, 0), comes_back);
        cluster.with(1, |server, step| server.cancel(InstanceId(0), step));
    }
}

#[test]
fn a_dirtier_heartbeat_brings_its_override_along() {
    let mut cluster = two();
    cluster.register(0, 0);
    cluster.run_to(1_000);
    let item = Replicated::Heartbeat(Record {
        last_dirty: WallMs(200),
        overridden: Status::OutOfService,
        ..record(0)
    });
    let replies = cluster.with(1, |server, step| server.on_batch(&[item, heartbeat(0)], step));
    let bare = |status| ItemReply { status, record: None };
    assert_eq!(replies, [bare(404), bare(200)]);
    // The second heartbeat applies it.
    let held = cluster.server(1).lease(InstanceId(0)).map(|lease| lease.record);
    assert_eq!(
        held.map(|held| (held.status, held.overridden)),
        Some((Status::OutOfService, Status::OutOfService))
    );
}
