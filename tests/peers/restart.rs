//! Servers that die and come back (`eureka-peers.md` 11.6).

use stillup::engine::SimDuration;
use stillup::model::message::RequestKind;
use stillup::model::stage::Stage;
use stillup::observe::ReplicateData;

use super::cluster::{Cluster, FaultAt, at, evictions, minute, renewals, run};

const DOWN: FaultAt<'_> = (0, "restart = { servers = [\"server-3\"], down-for = \"60s\" }");

/// The three servers, which copy a registry when they start. The minutes of A and B still end at t = 14, 74, …: they find
/// nobody, and open after the last of five tries, 120 s after their start. The caches of all are copied at t = 14, 44, …
fn copying() -> Cluster {
    let more = "eureka.server.registry-sync-retries = 5\nserver.starts-at-second = \"0s\"";
    Cluster::of_three().with(more)
}

/// How much registries differed in the second after C is back: at most, and at its end.
fn differed_after_60(data: &ReplicateData) -> Option<(u32, u32)> {
    let row = data.divergence.iter().rfind(|row| row.at >= at(60) && row.at < at(61));
    row.map(|row| (row.differing_max, row.differing))
}

#[test]
fn eleven_6_a_server_that_comes_back_copies_a_peer_and_hears_what_waited() {
    let data = copying().run(&[DOWN], 600);
    // C's clients are refused and move within the same call: nobody misses a beat.
    for other in [0, 1] {
        assert_eq!(renewals(&data, other, 14, 194), [60; 4]);
    }
    // It opens with the thirty it copied: trunc(30 x 1.7) = 51. In its first minute it hears the sixty beats of that
    // minute, and before that the thirty of the last half minute, which waited for it. Then it hears sixty a minute, and
    // nobody directly.
    let first = minute(&data, 2, 120);
    assert_eq!((first.registered, first.expected, first.threshold), (30, 30, 51));
    assert_eq!(renewals(&data, 2, 120, 300), [90, 60, 60, 60]);
    let direct = data.load.iter().filter(|row| row.server.0 == 2 && row.from >= at(60));
    assert_eq!(direct.map(|row| row.requests[RequestKind::Renew as usize]).sum::<u64>(), 0);
    // Nothing was missing, and registries never differed.
    assert_eq!(differed_after_60(&data), Some((0, 0)));
    assert_eq!(data.agreement.missing_in_registries, 0);
}

#[test]
fn eleven_6_a_cancellation_is_in_the_copy_or_delivered_after_it() {
    // At t = 20: it expires at 50, but the cache that C copies is of 44.
    let data = copying().run(&[DOWN, (20, "stop = { instances = [\"z1-3\"] }")], 600);
    assert_eq!(differed_after_60(&data), Some((0, 0)));
    // At t = 45: the copy still has it, and the cancellation, which waits until 75, comes a tenth of a second later.
    let data = copying().run(&[DOWN, (45, "stop = { instances = [\"z1-3\"] }")], 600);
    assert_eq!(differed_after_60(&data), Some((1, 0)));
    let first = minute(&data, 2, 120);
    assert_eq!((first.registered, first.expected, first.threshold), (29, 29, 49));
}

/// Everybody's view of everybody when all servers are killed and come back after 20 s.
fn all_restarted(flavour: &str) -> ReplicateData {
    run(&format!(
        "replicates = 1\nstop-when-settled = false\nduration = \"40m\"\n{flavour}\n\
         server.count = 3\n\
         [[application]]\nname = \"orders\"\ninstances = 30\n\
         [[fault]]\nat = \"10m\"\nwithin = \"0s\"\nrestart = {{ servers = \"all\", down-for = \"20s\" }}\n"
    ))
}

/// Mistakes of observers, and how many of them never ended.
fn lost_by_clients(data: &ReplicateData) -> (u64, u64) {
    let rows = || data.mistakes.iter().filter(|row| row.stage == Stage::Client);
    (rows().map(|row| row.count).sum(), rows().filter(|row| !row.corrected).map(|row| row.count).sum())
}

#[test]
fn eleven_6_all_restarted_together() {
    // Spring serves from the first moment, and its empty answers make clients lose nearly all that they held, until
    // heartbeats, answered with 404, have brought everybody back.
    let spring = all_restarted("flavour = \"spring\"");
    let (lost, uncorrected) = lost_by_clients(&spring);
    assert!(lost > 30 * 29 / 2 && uncorrected == 0, "{lost} of {}", 30 * 29);
    // Netflix opens after five tries and four waits of 30 s, refuses fetches for 5 minutes, and clients keep what they
    // hold. Its first minute ends 60 s after that.
    let netflix = all_restarted("flavour = \"netflix\"");
    assert_eq!(lost_by_clients(&netflix), (0, 0));
    let back = netflix.faults[0].at + SimDuration::from_secs(20);
    let opened = netflix.timeline.iter().find(|row| row.at > back).map(|row| row.at.since(back));
    assert_eq!(opened, Some(SimDuration::from_secs(120 + 60)));
    for data in [&spring, &netflix] {
        assert_eq!((data.agreement.missing_in_registries, data.agreement.missing_in_views), (0, 0));
    }
}

#[test]
fn eleven_6_a_cancellation_delivered_before_the_copy_is_lost() {
    // C is back at t = 60, but its way to A and B is cut until 80: its own client tries both, 5 s each, and it starts with
    // an empty registry. Heartbeats that waited bring everybody at 80.5. Its client's first fetch, at 100, shows z1-4; so
    // does the second try of the copy, at 130, although z1-4 left at 110. The first try, at 70, found nothing, and the
    // one at 100 came before that fetch.
    let cut = (50, "partition = { servers = [\"server-3\"], peer = \"servers\", for = \"30s\" }");
    let data = copying().run(&[DOWN, cut, (110, "stop = { instances = [\"z1-4\"] }")], 600);
    let changes: Vec<_> = data
        .divergence
        .iter()
        .filter(|row| row.at > at(0))
        .map(|row| (row.at.since(at(0)).as_millis(), row.differing))
        .collect();
    // It opens at 130, so its rounds are at 190, 250, … The copied lease lasts 90 s, to 220.
    assert_eq!(changes, [(60_000, 30), (80_500, 0), (110_500, 0), (130_000, 1), (250_000, 0)]);
    assert_eq!(evictions(&data, 2), [(250, 1)]);
}
