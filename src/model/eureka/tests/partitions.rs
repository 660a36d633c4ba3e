//! The worked timelines of `eureka-peers.md` section 11: a server cut off from the others for five minutes.
//!
//! Server 0 is the one that is cut off. It closes its minutes 13 s past, the others 14 s past; the cut is at ten
//! minutes. All clients heartbeat with equal distances.

use super::cluster::{Cluster, Link};
use super::*;

const CUT: i64 = 600_000;
const HEAL: i64 = CUT + 300_000;

fn fast(instance: u32) -> Record {
    Record { renewal_s: 5, duration_s: 15, ..record(instance) }
}

/// `servers` with ten clients each, all expected, shortly before the cut.
fn fleet(servers: u32, config: &ServerConfig, record: fn(u32) -> Record) -> Cluster {
    let starts: Vec<i64> = (0..servers).map(|server| if server == 0 { 13_000 } else { 14_000 }).collect();
    let mut cluster = Cluster::mesh(&starts, config.clone());
    cluster.record = record;
    let (clients, every_ms) = (10 * servers, i64::from(record(0).renewal_s) * 1_000);
    for instance in 0..clients {
        // Neighbours in time talk to different servers.
        let first = 20_000 + every_ms * i64::from(instance) / i64::from(clients);
        cluster.beats(instance, (instance % servers) as usize, first, every_ms);
    }
    cluster.run_to(100_000);
    for server in 0..servers as usize {
        cluster.server(server).threshold.open(clients, config);
    }
    cluster.run_to(CUT);
    assert!(cluster.disputed().is_empty());
    cluster
}

/// The renewals of the minutes that a server closed from `from` to `to`, both seconds after the cut.
fn minutes(cluster: &Cluster, server: usize, from: i64, to: i64) -> Vec<u32> {
    let minutes = cluster.minutes(server, CUT + from * 1_000, CUT + to * 1_000);
    minutes.into_iter().map(|minute| minute.1).collect()
}

/// How many a server evicted in each round, with the second after the cut.
fn evicted(cluster: &Cluster, server: usize) -> Vec<(i64, usize)> {
    let mut rounds: Vec<(i64, usize)> = Vec::new();
    for (at, _) in cluster.evicted(server) {
        let second = (at - CUT) / 1_000;
        match rounds.last_mut() {
            Some(round) if round.0 == second => round.1 += 1,
            _ => rounds.push((second, 1)),
        }
    }
    rounds
}

#[test]
fn t11_1_cut_off_from_its_peers_both_sides_protect_themselves() {
    let mut cluster = fleet(3, &spring(), record);
    assert_eq!(cluster.server(0).threshold(), 51); // 30 · 2 · 0.85
    assert_eq!(minutes(&cluster, 1, -200, 0), [60, 60, 60]);
    cluster.links_of(0, Link::BlackHole);
    cluster.run_to(HEAL);
    // One heartbeat of each of its clients at most, however often they were replaced.
    let waiting = cluster.server(1).peers.waiting(crate::model::id::ServerId(0));
    assert!(waiting <= 10, "{waiting}");
    assert_eq!(minutes(&cluster, 1, 70, 300), [40, 40, 40, 40]);
    assert_eq!(minutes(&cluster, 0, 70, 300), [20, 20, 20, 20]);
    // The minute of the cut: 46 s of it with everybody.
    let first = [minutes(&cluster, 0, 0, 20)[0], minutes(&cluster, 1, 0, 20)[0]];
    assert!((50..=54).contains(&first[0]) && (53..=57).contains(&first[1]), "{first:?}");
    let wall = cluster.now().wall;
    assert_eq!([0, 1].map(|server| cluster.server(server).expired(wall)), [20, 10]);

    cluster.links_of(0, Link::Open);
    cluster.run_to(CUT + 380_000);
    let heal = [minutes(&cluster, 0, 300, 320)[0], minutes(&cluster, 1, 300, 320)[0]];
    assert!((46..=51).contains(&heal[0]) && (53..=58).contains(&heal[1]), "{heal:?}");
    assert_eq!((minutes(&cluster, 0, 370, 380), minutes(&cluster, 1, 370, 380)), (vec![60], vec![60]));
    for server in 0..3 {
        assert!(cluster.evicted(server).is_empty());
    }
}

#[test]
fn t11_1_newcomers_cross_with_the_heal_and_leavers_stay_as_zombies() {
    let mut cluster = fleet(3, &spring(), record);
    cluster.links_of(0, Link::BlackHole);
    cluster.run_to(CUT + 100_000);
    // A client of server 1 leaves, and another comes.
    cluster.homes[1] = None;
    cluster.cancel(1, 1);
    cluster.register(1, 30);
    cluster.beats(30, 1, CUT + 130_000, 30_000);
    cluster.run_to(HEAL);
    assert!(cluster.knows(2, 30) && !cluster.knows(0, 30));
    assert!(!cluster.knows(2, 1) && cluster.knows(0, 1));
    cluster.links_of(0, Link::Open);
    cluster.run_to(HEAL + 2_000);
    assert_eq!(Vec::from_iter(cluster.disputed()), [1]);
    cluster.run_to(HEAL + 60_000);
    assert_eq!(Vec::from_iter(cluster.disputed()), [1]); // 48 renewals or so: still protected at 313 s
    cluster.run_to(HEAL + 80_000);
    assert_eq!(evicted(&cluster, 0), [(373, 1)]);
    assert!(cluster.disputed().is_empty());
}

#[test]
fn t11_2_cut_off_from_everything_it_keeps_a_complete_registry() {
    let mut cluster = fleet(3, &spring(), record);
    cluster.links_of(0, Link::BlackHole);
    for home in cluster.homes.iter_mut().filter(|home| **home == Some(0)) {
        *home = Some(1); // its clients go to another, which knows them
    }
    cluster.run_to(HEAL);
    for (at, renewals) in minutes(&cluster, 1, 0, 300).into_iter().enumerate() {
        assert!((59..=61).contains(&renewals), "{renewals} in minute {at}");
    }
    let lonely = minutes(&cluster, 0, 0, 300);
    assert!((44..=50).contains(&lonely[0]), "{lonely:?}");
    assert_eq!(lonely[1..], [0, 0, 0, 0]);
    let wall = cluster.now().wall;
    assert_eq!((cluster.server(0).registered(), cluster.server(0).expired(wall)), (30, 30));
    cluster.links_of(0, Link::Open);
    cluster.run_to(CUT + 380_000);
    let heal = minutes(&cluster, 0, 300, 380);
    assert!((40..=46).contains(&heal[0]) && heal[1] == 60, "{heal:?}"); // 30 queued and 13 s
    for server in 0..3 {
        assert!(cluster.evicted(server).is_empty());
    }
}

#[test]
fn t11_4_from_seven_servers_on_the_majority_evicts_the_living() {
    let mut cluster = fleet(7, &spring(), record);
    assert_eq!(cluster.server(1).threshold(), 119); // 70 · 2 · 0.85
    cluster.links_of(0, Link::BlackHole);
    cluster.run_to(HEAL);
    // Last heard between -30 s and 0, so expired from 150 to 180 s on: all ten in the round at 194 s (11 may go).
    for server in 1..7 {
        assert_eq!(evicted(&cluster, server), [(194, 10)]);
        assert_eq!(minutes(&cluster, server, 70, 300), [120, 120, 120, 120]);
    }
    assert!(evicted(&cluster, 0).is_empty());
    assert_eq!(cluster.server(1).threshold(), 102); // 60 · 2 · 0.85
    cluster.links_of(0, Link::Open);
    cluster.run_to(HEAL + 2_000);
    assert!(cluster.disputed().is_empty());
    assert_eq!(cluster.server(1).threshold(), 119);
}

#[test]
fn t11_5_with_fast_heartbeats_both_sides_evict_the_others() {
    let mut cluster = fleet(3, &spring(), fast);
    cluster.links_of(0, Link::BlackHole);
    cluster.run_to(HEAL);
    assert_eq!(minutes(&cluster, 1, 70, 300), [240, 240, 240, 240]);
    assert_eq!(minutes(&cluster, 0, 70, 300), [120, 120, 120, 120]);
    // Of 30 five may go, of 25 four, of 21 four, of 17 three.
    assert_eq!(evicted(&cluster, 1), [(74, 5), (134, 4), (194, 1)]);
    assert_eq!(evicted(&cluster, 0), [(73, 5), (133, 4), (193, 4), (253, 3)]);
    cluster.links_of(0, Link::Open);
    cluster.run_to(HEAL + 10_000);
    assert!(cluster.disputed().is_empty());

    // With the interval that the clients have, the threshold is 30 · 12 · 0.85 = 306, and nobody goes.
    let config = ServerConfig { expected_client_renewal_interval_seconds: 5, ..spring() };
    let mut cluster = fleet(3, &config, fast);
    cluster.links_of(0, Link::BlackHole);
    cluster.run_to(HEAL);
    for server in 0..3 {
        assert!(cluster.evicted(server).is_empty());
    }
}
