//! C is cut off from A and B for 300 s, and every client still reaches its home (`eureka-peers.md` 11.1), or only those
//! of its own side (11.3).

use stillup::model::stage::EventKind;
use stillup::observe::ReplicateData;

use super::cluster::{
    CUT, Cluster, FaultAt, agreed_after, at, evictions, false_removals, minute, renewals, shown_after,
};

const CUT_C: &str = "partition = { servers = [\"server-3\"], peer = \"servers\", for = \"300s\" }";
const CUT_OFF: FaultAt<'_> = (0, CUT_C);

/// What the buckets, thresholds and gates of section 11.1 are. `thirty` are expected, and all of them beat.
///
/// A, at t = 14: its own 20 a minute and B's 20, which come from B. C's ten once in [-30, 0), and in [-46, -30) the three
/// that beat in [14, 30): 53. Then 40. After the heal: the ten that waited for 300 s, at most 30 s old, and the seven
/// that beat in the 14 s after it: 57.
///
/// C, at t = 13: its own 20, those of A and B once in [-30, 0), and in [-47, -30) the twelve that beat in [13, 30): 52.
/// Then its own 20. After the heal 20 + 20 that waited + 8 that beat in the next 13 s: 48. A minute later 60.
fn assert_buckets(data: &ReplicateData, after_the_heal: [u32; 2]) {
    for majority in [0, 1] {
        assert_eq!(renewals(data, majority, 14, 254), [53, 40, 40, 40, 40]);
        assert_eq!(renewals(data, majority, 314, 434), [after_the_heal[0], 60, 60]);
        let engaged = |t| minute(data, majority, t).self_preservation;
        assert_eq!([14, 74, 254, 314].map(engaged), [false, true, true, false]);
    }
    assert_eq!(renewals(data, 2, 13, 253), [52, 20, 20, 20, 20]);
    assert_eq!(renewals(data, 2, 313, 433), [after_the_heal[1], 60, 60]);
    let engaged = |t| minute(data, 2, t).self_preservation;
    assert_eq!([13, 73, 253, 313, 373].map(engaged), [false, true, true, true, false]);
    for row in data.timeline.iter().filter(|row| row.at >= at(0)) {
        // trunc(30 x 2 x 0.85) = 51
        assert_eq!((row.registered, row.expected, row.threshold), (30, 30, 51), "{row:?}");
    }
    // C's last beats reached A at t = -29.5 … -0.5: two durations later, at 150.5 … 179.5, they expire there.
    assert_eq!([134, 194, 254, 314].map(|t| minute(data, 0, t).expired), [0, 10, 10, 0]);
    assert_eq!([133, 193, 253, 313].map(|t| minute(data, 2, t).expired), [0, 20, 20, 0]);
}

#[test]
fn eleven_1_both_sides_protect_themselves() {
    let data = Cluster::of_three().run(&[CUT_OFF], 600);
    assert_buckets(&data, [57, 48]);
    assert!(data.mistakes.is_empty() && data.rounds.iter().all(|row| row.round.evicted == 0));
    // Nobody came, nobody left: not one registry differed.
    assert!(data.divergence.iter().all(|row| row.at < at(0)), "{:?}", data.divergence);
}

#[test]
fn eleven_1_with_the_limits_of_netflix_one_heartbeat_expires() {
    // A connect limit of 1000 ms instead of 200: the next attempt comes up to 1.1 s after the heal, still well before the
    // next bucket. Here it comes more than half a second after it: the heartbeat of t = 270.5 has expired by then, and
    // only that of 300.5 is delivered. So A and B count one less.
    let limits =
        "eureka.server.peer-node-connect-timeout-ms = 1000\neureka.server.peer-node-read-timeout-ms = 5000";
    assert_buckets(&Cluster::of_three().with(limits).run(&[CUT_OFF], 600), [56, 48]);
}

#[test]
fn eleven_1_who_registers_meanwhile_is_on_the_other_side_two_seconds_after_the_heal() {
    // z1-11 registers with A at t = 100 and beats there at 130, …, 280, 310. Its heartbeat of 280 waits for C. Attempts
    // come every 200 + 100 ms, so at 300.3 at the latest it is there, finds no lease (404), and the registration that
    // follows is 500 ms old before it goes. With the limits of Netflix attempts come every 1000 + 100 ms.
    for (connect_ms, read_ms) in [(200, 200), (1_000, 5_000)] {
        let limits = format!(
            "eureka.server.peer-node-connect-timeout-ms = {connect_ms}\n\
             eureka.server.peer-node-read-timeout-ms = {read_ms}"
        );
        let faults = [CUT_OFF, (100, "start = { application = \"z1\", count = 1 }")];
        let data = Cluster::of_three().with(&limits).run(&faults, 600);
        assert_eq!(shown_after(&data, 0, EventKind::Registration), [Some(0)]);
        assert_eq!(shown_after(&data, 1, EventKind::Registration), [Some(500)]);
        let [Some(after)] = shown_after(&data, 2, EventKind::Registration)[..] else { panic!("once") };
        assert!((200_500..=200_600 + connect_ms).contains(&after), "{after} ms");
        assert_eq!(agreed_after(&data, 300), after - 200_000);
        // 31 are expected on A and B from then on, and the twenty of its and the 42 of B's side: trunc(52.7) = 52.
        let gate = |server, t| (minute(&data, server, t).expected, minute(&data, server, t).threshold);
        assert_eq!((gate(0, 134), gate(1, 134), gate(2, 133)), ((31, 52), (31, 52), (30, 51)));
        assert_eq!((gate(0, 314), gate(1, 314), gate(2, 313)), ((31, 52), (31, 52), (31, 52)));
        assert_eq!(renewals(&data, 0, 194, 254), [42, 42]);
    }
}

#[test]
fn eleven_1_who_leaves_meanwhile_stays_on_the_other_side_as_a_zombie() {
    // z1-3 de-registers at A at t = 100. The cancellation waits for C for 30 s and is dropped.
    let data = Cluster::of_three().run(&[CUT_OFF, (100, "stop = { instances = [\"z1-3\"] }")], 600);
    assert_eq!(shown_after(&data, 0, EventKind::Stop), [Some(0)]);
    assert_eq!(shown_after(&data, 1, EventKind::Stop), [Some(500)]);
    let gate = |server, t| (minute(&data, server, t).expected, minute(&data, server, t).threshold);
    // trunc(29 x 2 x 0.85) = trunc(49.3)
    assert_eq!((gate(0, 134), gate(1, 134), gate(2, 133)), ((29, 49), (29, 49), (30, 51)));
    // C, at 313: 48, without z1-3's beats at 277.2 and 307.2: 46. At 373: 58 > 51, the gate opens, and the round just
    // after removes it: one of 30.
    assert_eq!(renewals(&data, 2, 313, 373), [46, 58]);
    assert_eq!(evictions(&data, 2), [(373, 1)]);
    assert_eq!(shown_after(&data, 2, EventKind::Stop), [Some(273_000)]);
    assert_eq!(gate(2, 433), (29, 49));
    assert!(evictions(&data, 0).is_empty() && evictions(&data, 1).is_empty());
}

#[test]
fn eleven_1_a_cancellation_younger_than_30_s_is_delivered_at_the_heal() {
    let data = Cluster::of_three().run(&[CUT_OFF, (275, "stop = { instances = [\"z1-3\"] }")], 600);
    let [Some(after)] = shown_after(&data, 2, EventKind::Stop)[..] else { panic!("once") };
    assert!((25_000..=25_300).contains(&after), "{after} ms");
    assert!(evictions(&data, 2).is_empty());
}

#[test]
fn eleven_1_a_crash_is_noticed_nowhere_before_the_heal() {
    // z1-3 beats at t = 97.2 for the last time: its lease on A and B is expired from 277.2 on, on C since before.
    let data = Cluster::of_three().run(&[CUT_OFF, (100, "crash = { instances = [\"z1-3\"] }")], 600);
    // A, at 314: 57 less two of z1-3's: 55 > 51. Its round is the next thing that happens.
    assert_eq!(renewals(&data, 0, 254, 314), [38, 55]);
    assert_eq!((evictions(&data, 0), evictions(&data, 1)), (vec![(314, 1)], vec![(314, 1)]));
    // C, at 313: 46. At 373: 58.
    assert_eq!(evictions(&data, 2), [(373, 1)]);
    let after = |server| shown_after(&data, server, EventKind::Crash);
    assert_eq!([after(0), after(1), after(2)], [[Some(214_000)], [Some(214_000)], [Some(273_000)]]);
    // From 1.9.17 on the eviction counts.
    assert_eq!((minute(&data, 0, 374).expected, minute(&data, 2, 433).expected), (29, 29));
}

#[test]
fn eleven_1_who_registers_with_c_meanwhile_is_unknown_to_a_and_b() {
    let faults = [CUT_OFF, (100, "start = { application = \"z3\", count = 1 }")];
    let data = Cluster::of_three().run(&faults, 600);
    assert_eq!(shown_after(&data, 2, EventKind::Registration), [Some(0)]);
    for majority in [0, 1] {
        let [Some(after)] = shown_after(&data, majority, EventKind::Registration)[..] else { panic!("once") };
        assert!((200_500..=200_800).contains(&after), "{after} ms");
    }
    assert_eq!((minute(&data, 2, 133).expected, minute(&data, 0, 134).expected), (31, 30));
}

#[test]
fn eleven_1_c_is_cut_off_one_way() {
    // What C says to A and B is lost, its answers included. They miss its clients as before. And it misses theirs: the
    // first batch of each goes over a connection that stands, is processed, times out after 200 ms unanswered and is tried
    // again; but a new connection needs both ways. So C counts those two, and then its own 20.
    let one_way =
        "partition = { servers = [\"server-3\"], peer = \"servers\", lost = \"to-server\", for = \"300s\" }";
    let data = Cluster::of_three().run(&[(0, one_way)], 600);
    assert_eq!(renewals(&data, 0, 14, 254), [53, 40, 40, 40, 40]);
    assert_eq!(renewals(&data, 2, 13, 253), [54, 20, 20, 20, 20]);
    assert_eq!(renewals(&data, 2, 313, 433), [48, 60, 60]);
    assert!(minute(&data, 0, 254).self_preservation);
    assert!(data.mistakes.is_empty());
    assert_eq!(data.agreement.missing_in_registries, 0);
}

#[test]
fn eleven_3_a_zone_that_is_cut_off_keeps_the_others_in_its_lists_and_cannot_call_them() {
    // C and its ten clients on one side. Servers see what they see in 11.1.
    let faults = [
        CUT_OFF,
        (
            0,
            "partition = { all = true, zone = \"z3\", peer = { servers = [\"server-1\", \"server-2\"] }, for = \"300s\" }",
        ),
        (0, "partition = { all = true, zone = \"z3\", peer = { zone = \"z1\" }, for = \"300s\" }"),
        (0, "partition = { all = true, zone = \"z3\", peer = { zone = \"z2\" }, for = \"300s\" }"),
    ];
    let traffic = "traffic = { calls-per-second = 1, to = [\"z1\", \"z2\", \"z3\"], read-timeout = \"1s\" }";
    let data = Cluster::of_three().with(traffic).run(&faults, 600);
    assert_buckets(&data, [57, 48]);
    assert!(data.mistakes.is_empty());
    let minutes = |t: u64| (CUT + t).div_ceil(60) * 60;
    let (first, last) = (minutes(0), minutes(240));
    for row in &data.calls {
        let from = row.from.as_millis() / 1_000;
        let across = (row.caller.0 == 2) != (row.callee.0 == 2);
        match from {
            // For the whole partition whoever calls across it fails: nobody is taken off a list.
            from if (first..last).contains(&from) => {
                assert_eq!(row.failed, if across { row.calls } else { 0 }, "{row:?}");
            }
            from if from >= last + 60 => assert_eq!(row.failed, 0, "{row:?}"),
            _ => {}
        }
    }
    assert!(data.calls.iter().any(|row| row.failed > 500), "there were calls");
    assert!(false_removals(&data, 0).is_empty());
}
