//! C is cut off from everything for 300 s, its clients too (`eureka-peers.md` 11.2).

use stillup::model::message::RequestKind;
use stillup::observe::ReplicateData;

use super::cluster::{Cluster, FaultAt, at, minute, renewals};

const CUT_OFF: FaultAt<'_> = (0, "partition = { servers = [\"server-3\"], peer = \"all\", for = \"300s\" }");
const JERSEY: &str = "transport.kind = \"jersey\"";

/// The three servers, with C's clients at the phases that give the page's figures: four beat in the first 3 s after the
/// cut, six from 14.5 to 19.2. Their lists start with C, so a call to it costs two limits on connecting, 5 + 5 s, before it
/// reaches A or B.
fn of_three() -> Cluster {
    let mut cluster = Cluster::of_three();
    cluster.beats[2] = vec![400, 1_200, 1_900, 2_400, 14_500, 15_500, 16_500, 17_500, 18_500, 19_200];
    cluster
}

/// Heartbeats that reach a server from clients themselves, from a moment on.
fn direct_renewals(data: &ReplicateData, server: u32, from: u64) -> u64 {
    let load = data.load.iter().filter(|row| row.server.0 == server && row.from >= at(from));
    load.map(|row| row.requests[RequestKind::Renew as usize]).sum()
}

/// Whether a server was in self-preservation after the cut.
fn was_engaged(data: &ReplicateData, server: u32) -> bool {
    data.timeline.iter().any(|row| row.server.0 == server && row.at >= at(0) && row.self_preservation)
}

#[test]
fn eleven_2_jersey_clients_move_and_the_majority_is_not_in_self_preservation() {
    let data = of_three().with(JERSEY).run(&[CUT_OFF], 600);
    // A and B, at 14: 20 + 20, and of C's clients ten in [-30, 0), six in [-46, -30), and the four of the first 3 s,
    // which arrive 10 s late, before 14 + 0: 60. From then on every client is one of theirs, 10 s later than before.
    // (The page has 56 at 74. A client that is late once by d loses a beat in one minute at most, the one in which its
    // late beat would have come without d: with these phases in none.)
    for majority in [0, 1] {
        assert_eq!(renewals(&data, majority, 14, 554), [60; 10]);
        assert!(!was_engaged(&data, majority));
    }
    // C, at 13: its own ten in [-30, 0) and six in [-47, -30), those of A and B ten and six each: 48.
    // At 313: the thirty that waited, eight of A's and B's, and the four that now beat 10 s later, at 10.4 to 12.4: 42. (The
    // six beat at 24.5 to 29.2 now.)
    assert_eq!(renewals(&data, 2, 13, 253), [48, 0, 0, 0, 0]);
    assert_eq!(renewals(&data, 2, 313, 433), [42, 60, 60]);
    let engaged = |t| minute(&data, 2, t).self_preservation;
    assert_eq!([13, 73, 313, 373].map(engaged), [true, true, true, false]);
    // C goes on to serve all thirty, whose leases expired until 179.5.
    let old = |t| (minute(&data, 2, t).registered, minute(&data, 2, t).expired);
    assert_eq!([old(133), old(193), old(253), old(313)], [(30, 0), (30, 30), (30, 30), (30, 0)]);
    assert!(data.mistakes.is_empty());
    // They know the lease by replication: nobody registers again. And nobody goes back while its session lasts.
    let since = |kind: RequestKind| {
        let rows = data.load.iter().filter(|row| row.from >= at(0));
        rows.map(|row| row.requests[kind as usize]).sum::<u64>()
    };
    assert_eq!(since(RequestKind::Register), 0);
    assert_eq!(direct_renewals(&data, 2, 0), 0);
    assert!(data.divergence.iter().all(|row| row.at < at(0)), "{:?}", data.divergence);
}

#[test]
fn eleven_2_clients_of_180_s_are_silent_and_the_majority_protects_itself() {
    // The default transport: C's ten hang in their first call, and nobody sees them before the heal. A, at 14: 40 and
    // 16 of C's until the cut: 56 > 51. Then 40 <= 51.
    let data = of_three().run(&[CUT_OFF], 900);
    for majority in [0, 1] {
        assert_eq!(renewals(&data, majority, 14, 254), [56, 40, 40, 40, 40]);
        assert_eq!([14, 74, 254].map(|t| minute(&data, majority, t).self_preservation), [false, true, true]);
        // All ten leases have expired since 180 s, and none is evicted.
        assert_eq!(minute(&data, majority, 194).expired, 10);
    }
    assert_eq!(renewals(&data, 2, 13, 253), [48, 0, 0, 0, 0]);
    assert!(data.mistakes.is_empty());
    assert_eq!(data.agreement.missing_in_registries, 0);
}

#[test]
fn eleven_2_one_of_two_servers_is_lost() {
    // Fifteen clients each, B's at 1, 3, 5, … s. A, at 14: 30 of its own; of B's fifteen in [-30, 0), the eight that beat
    // in [14, 30) also in [-46, -30), and two that beat in [0, 4) 10 s later: 55 > 51. The five in [4, 14) come after 14.
    let every_other = |first: u64| (0..15).map(|place| first + 2_000 * place).collect();
    let cluster = Cluster {
        starts: vec![0, 0],
        beats: vec![every_other(300), every_other(1_000)],
        interval: 30,
        more: JERSEY.to_owned(),
    };
    let cut = "partition = { servers = [\"server-2\"], peer = \"all\", for = \"300s\" }";
    let data = cluster.run(&[(0, cut)], 600);
    assert_eq!(renewals(&data, 0, 14, 554)[..4], [55, 60, 60, 60]);
    assert!(!was_engaged(&data, 0));
    assert!(data.mistakes.is_empty());
}
