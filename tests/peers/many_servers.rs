//! Where protection does not hold: seven servers (`eureka-peers.md` 11.4), and heartbeats that come faster than servers
//! expect (11.5).

use stillup::observe::ReplicateData;

use super::cluster::{Cluster, FaultAt, at, evictions, false_removals, minute, renewals};

/// Seven servers with ten clients each. The seventh's beat at 0.5, 3.5, … 27.5 s.
///
/// The minutes of the first six end at t = 14, 36, 56, 2, 24 and 16, those of the last at 13.
fn of_seven() -> Cluster {
    let every_3_s = |first: u64| (0..10).map(|place| first + 3_000 * place).collect::<Vec<_>>();
    Cluster {
        starts: vec![0, 22, 42, 48, 10, 2, 59],
        beats: (0..6).map(|server| every_3_s(1_000 + 200 * server)).chain([every_3_s(500)]).collect(),
        interval: 30,
        more: String::new(),
    }
}

const CUT_OFF_7: FaultAt<'_> =
    (0, "partition = { servers = [\"server-7\"], peer = \"servers\", for = \"300s\" }");

/// Each majority server evicts the ten. Their last beats reach it at -29, -26, … -2 and expire after 151, 154, … 178.
fn assert_evictions(data: &ReplicateData) {
    let who = |server| evictions(data, server);
    assert_eq!(who(0), [(194, 10)]);
    // 151 and 154 at 156, the rest a minute later.
    assert_eq!(who(1), [(156, 2), (216, 8)]);
    // 151 to 175, and 178.
    assert_eq!(who(2), [(176, 9), (236, 1)]);
    assert_eq!(who(3), [(182, 10)]);
    assert_eq!(who(4), [(204, 10)]);
    assert_eq!(who(5), [(196, 10)]);
    assert_eq!(who(6), []);
    // 20 <= 119: it keeps all seventy.
    let isolated = minute(data, 6, 253);
    assert_eq!((isolated.renewals, isolated.registered, isolated.expired), (20, 70, 60));
    assert!(isolated.self_preservation);
    for majority in 0..6 {
        let first = [74, 96, 116, 62, 84, 76][majority as usize];
        assert_eq!(renewals(data, majority, first, first + 120), [120; 3]);
    }
    // After the heal a heartbeat that waited is there within 0.3 s, a 404, and half a second later the registration.
    for majority in 0..6 {
        for (t, _, lasted) in false_removals(data, majority) {
            let back = t * 1_000 + lasted;
            assert!((300_500..=300_800).contains(&back), "{majority} at {t}: back at {back}");
        }
    }
    assert_eq!(data.agreement.missing_in_registries, 0);
}

#[test]
fn eleven_4_seven_servers_evict_the_living() {
    let data = of_seven().run(&[CUT_OFF_7], 600);
    assert_evictions(&data);
    // trunc(70 x 2 x 0.85) = 119, and from 1.9.17 on each eviction counts: trunc(60 x 1.7) = 102.
    let gate = |t| (minute(&data, 0, t).expected, minute(&data, 0, t).threshold);
    assert_eq!([gate(134), gate(254), gate(374)], [(70, 119), (60, 102), (70, 119)]);
}

#[test]
fn eleven_4_before_1_9_17_evictions_do_not_count_and_registrations_do() {
    let data = of_seven().with("release = \"2.2.1.RELEASE\"").run(&[CUT_OFF_7], 600);
    assert_evictions(&data);
    // The ten that come back are new: 80 expected of seventy, trunc(80 x 1.7) = 136 < 140, until they are counted.
    let gate = |t| (minute(&data, 0, t).expected, minute(&data, 0, t).threshold);
    assert_eq!([gate(134), gate(254), gate(374)], [(70, 119), (70, 119), (80, 136)]);
    assert!(!minute(&data, 0, 374).self_preservation);
}

#[test]
fn eleven_4_six_servers_protect_them() {
    // trunc(60 x 1.7) = 102, and 100 of the majority.
    let mut cluster = of_seven();
    cluster.starts.remove(5);
    cluster.beats.remove(5);
    let cut = "partition = { servers = [\"server-6\"], peer = \"servers\", for = \"300s\" }";
    let data = cluster.run(&[(0, cut)], 600);
    assert_eq!((minute(&data, 0, 194).renewals, minute(&data, 0, 194).threshold), (100, 102));
    assert!(data.mistakes.is_empty());
}

/// The three servers, whose clients beat every 5 s, half a second apart.
fn fast() -> Cluster {
    let apart = |first: u64| (0..10).map(|place| first + 500 * place).collect();
    Cluster {
        starts: vec![0, 0, 59],
        beats: vec![apart(100), apart(250), apart(400)],
        interval: 5,
        more: String::new(),
    }
}

const CUT_OFF_3: FaultAt<'_> =
    (0, "partition = { servers = [\"server-3\"], peer = \"servers\", for = \"300s\" }");

#[test]
fn eleven_5_fast_heartbeats_disarm_protection() {
    let data = fast().run(&[CUT_OFF_3], 600);
    assert_eq!((renewals(&data, 0, 74, 254), renewals(&data, 2, 73, 253)), (vec![240; 4], vec![120; 4]));
    let before = data.timeline.iter().rfind(|row| row.server.0 == 0 && row.at <= at(0));
    assert_eq!(before.map(|row| (row.renewals, row.threshold)), Some((360, 51)));
    // Leases expire 30 s after the last heartbeat. A and B: 30 - trunc(25.5) = 5, 25 - trunc(21.25) = 4, and the last.
    for majority in [0, 1] {
        assert_eq!(evictions(&data, majority), [(74, 5), (134, 4), (194, 1)]);
    }
    // C: 5, 4, 21 - trunc(17.85) = 4, 17 - trunc(14.45) = 3.
    assert_eq!(evictions(&data, 2), [(73, 5), (133, 4), (193, 4), (253, 3)]);
    // Everybody is back within seconds of the heal: the next attempt, which is later the more batches fail at a time,
    // and a registration.
    for server in 0..3 {
        for (t, _, lasted) in false_removals(&data, server) {
            let back = t * 1_000 + lasted;
            assert!((300_500..=301_500).contains(&back), "{server} at {t}: back at {back}");
        }
    }
    assert_eq!((minute(&data, 0, 374).expected, minute(&data, 2, 373).expected), (30, 30));
    assert_eq!(data.agreement.missing_in_registries, 0);
}

#[test]
fn eleven_5_the_right_interval_restores_protection() {
    // trunc(30 x 12 x 0.85) = 306: neither 240 nor 120 are more.
    let data =
        fast().with("eureka.server.expected-client-renewal-interval-seconds = 5").run(&[CUT_OFF_3], 600);
    assert_eq!(minute(&data, 0, 74).threshold, 306);
    assert!(
        [(0, 74), (1, 74), (2, 73)].iter().all(|&(server, t)| minute(&data, server, t).self_preservation)
    );
    assert!(data.mistakes.is_empty());
}
