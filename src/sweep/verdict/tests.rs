//! Claims, one kind at a time.

mod two_stage;

use std::collections::BTreeMap;

use super::*;
use crate::engine::{SimDuration, SimTime};
use crate::model::fact::EvictionRound;
use crate::model::id::{InstanceId, ServerId};
use crate::model::message::RequestKind;
use crate::model::stage::{EventKind, Stage};
use crate::observe::{
    ConsumerCounts, Detection, Divergence, Ending, Injected, LoadMinute, Minute, Mistake, Outcome, Quality,
    Removal, RoundRow, ServerEnd,
};

/// Whether a claim about all servers is true.
fn holds(claim: &Claim, replicate: &ReplicateData) -> bool {
    is_true(claim, &Subject { replicate, server: None, threads: None })
}

/// Whether a claim about server 1 or server 2 is true.
fn holds_on(server: u32, claim: &Claim, replicate: &ReplicateData) -> bool {
    is_true(claim, &Subject { replicate, server: Some(ServerId(server - 1)), threads: None })
}

fn replicate() -> ReplicateData {
    ReplicateData {
        replicate: 0,
        ending: Ending::Settled,
        ended_at: SimTime::from_secs(900),
        events: 1,
        digest: 1,
        instances: BTreeMap::from([(InstanceId(0), "a-1".into())]),
        detections: Vec::new(),
        mistakes: Vec::new(),
        folded: crate::observe::Folded::default(),
        quality: Vec::new(),
        calls: Vec::new(),
        timeline: Vec::new(),
        load: Vec::new(),
        faults: Vec::new(),
        rounds: Vec::new(),
        sweeps: Vec::new(),
        consumers: ConsumerCounts::default(),
        leases: crate::observe::LeaseCounts::default(),
        agreement: crate::observe::Agreement::default(),
        divergence: Vec::new(),
        servers: vec![ServerEnd { is_up: true, left: 57, self_preservation: false }],
    }
}

fn crash(outcome: Outcome, count: u64) -> Detection {
    Detection {
        event: EventKind::Crash,
        instance: InstanceId(0),
        at: SimTime::ZERO,
        stage: Stage::Balancer,
        server: None,
        outcome,
        instances: 1,
        count,
    }
}

fn latency(statistic: Statistic, comparison: Comparison, secs: u64) -> Claim {
    Claim::Latency {
        event: None,
        stage: Stage::Balancer,
        statistic,
        comparison,
        limit: SimDuration::from_secs(secs),
    }
}

#[test]
fn a_censored_statistic_is_longer_than_any_limit() {
    let mut data = replicate();
    data.detections = vec![
        crash(Outcome::Detected(SimDuration::from_secs(100)), 9),
        crash(Outcome::Censored(SimDuration::from_secs(200)), 1),
    ];
    assert!(holds(&latency(Statistic::Percentile(90), Comparison::AtMost, 100), &data));
    assert!(!holds(&latency(Statistic::Percentile(91), Comparison::Below, 9_999), &data));
    assert!(holds(&latency(Statistic::Max, Comparison::Above, 9_999), &data));
    assert!(!holds(&latency(Statistic::Mean, Comparison::Below, 9_999), &data));
    assert!(holds(&latency(Statistic::Min, Comparison::Exactly, 100), &data));
}

#[test]
fn a_mean_is_compared_without_rounding() {
    let mut data = replicate();
    // (100 s + 100 s + 100 s + 1 ns) / 3 is above 100 s, by a third of a nanosecond.
    data.detections = vec![
        crash(Outcome::Detected(SimDuration::from_secs(100)), 2),
        crash(Outcome::Detected(SimDuration::from_nanos(100_000_000_001)), 1),
    ];
    assert!(holds(&latency(Statistic::Mean, Comparison::Above, 100), &data));
}

#[test]
fn no_observation_fails_a_claim_about_latency() {
    assert!(!holds(&latency(Statistic::Max, Comparison::Above, 1), &replicate()));
    let mut data = replicate();
    data.detections = vec![crash(Outcome::Superseded(SimDuration::from_secs(5)), 1)];
    assert!(!holds(&latency(Statistic::Max, Comparison::AtLeast, 0), &data));
}

#[test]
fn counts_are_those_of_the_replicate() {
    let mut data = replicate();
    let round = |evicted| EvictionRound {
        enabled: true,
        compensation_ms: 0,
        expired: 60,
        limit: 15,
        evicted,
        registered: 100,
    };
    data.rounds = [15, 13, 0, 11]
        .map(|evicted| RoundRow { at: SimTime::ZERO, server: ServerId(0), round: round(evicted) })
        .to_vec();
    assert!(holds(&Claim::Rounds(vec![15, 13, 11]), &data));
    assert!(!holds(&Claim::Rounds(vec![15, 13]), &data));
    // 15 + 13 + 0 + 11 = 39
    assert!(holds(&Claim::Evictions(Comparison::Exactly, 39), &data));
    assert!(holds(&Claim::Left { comparison: Comparison::AtLeast, count: 57 }, &data));
    assert!(holds(&Claim::SelfPreservationAtEnd(false), &data));
    let mistake = |stage| Mistake {
        instance: InstanceId(0),
        stage,
        server: None,
        at: SimTime::ZERO,
        lasted: SimDuration::ZERO,
        corrected: true,
        removal: if stage == Stage::Registry { Removal::Evicted } else { Removal::NotShown },
        instances: 1,
        count: 1,
    };
    data.mistakes = vec![mistake(Stage::Registry), mistake(Stage::Client)];
    assert!(holds(&Claim::FalseRemovals(Comparison::AtMost, 1), &data));
    assert!(!holds(&Claim::FalseRemovals(Comparison::Exactly, 0), &data));
}

#[test]
fn a_share_asks_for_whole_replicates() {
    assert_eq!(replicates_required(1.0, 300), 300);
    assert_eq!(replicates_required(0.95, 300), 285);
    // In floats 0.07 × 100 = 7.000000000000001, which must not ask for eight.
    assert_eq!(replicates_required(0.07, 100), 7);
    assert_eq!(replicates_required(0.5, 3), 2);
    assert_eq!(replicates_required(0.001, 3), 1);
}

fn round(server: u32, evicted: u32) -> RoundRow {
    let round =
        EvictionRound { enabled: true, compensation_ms: 0, expired: 9, limit: 9, evicted, registered: 100 };
    RoundRow { at: SimTime::ZERO, server: ServerId(server - 1), round }
}

/// Two servers that run, with so many leases.
fn two_servers(left: [u32; 2]) -> ReplicateData {
    let servers = left.map(|left| ServerEnd { is_up: true, left, self_preservation: false });
    ReplicateData { servers: servers.to_vec(), ..replicate() }
}

fn left(comparison: Comparison, count: u32) -> Claim {
    Claim::Left { comparison, count }
}

#[test]
fn what_is_left_is_asked_of_each_server_that_runs() {
    let mut data = two_servers([57, 60]);
    assert!(holds(&left(Comparison::AtLeast, 57), &data));
    assert!(!holds(&left(Comparison::Exactly, 57), &data));
    assert!(holds_on(1, &left(Comparison::Exactly, 57), &data));
    data.servers[0] = ServerEnd::default();
    assert!(holds(&left(Comparison::Exactly, 60), &data));
    // Who is down has nothing.
    assert!(holds_on(1, &left(Comparison::Exactly, 0), &data));
    data.servers[1] = ServerEnd::default();
    assert!(holds(&left(Comparison::Exactly, 0), &data));
}

#[test]
fn self_preservation_is_claimed_of_each_server() {
    let mut data = two_servers([1, 1]);
    data.servers[1].self_preservation = true;
    assert!(!holds(&Claim::SelfPreservationAtEnd(true), &data));
    assert!(!holds(&Claim::SelfPreservationAtEnd(false), &data));
    assert!(holds_on(1, &Claim::SelfPreservationAtEnd(false), &data));
    assert!(holds_on(2, &Claim::SelfPreservationAtEnd(true), &data));
}

#[test]
fn self_preservation_meanwhile_is_that_after_the_first_fault_began() {
    let minute = |server: u32, at, self_preservation| Minute {
        server: ServerId(server - 1),
        at: SimTime::from_secs(at),
        registered: 10,
        expired: 0,
        renewals: 20,
        threshold: 17,
        expected: 10,
        self_preservation,
        evicted: 0,
    };
    let mut data = two_servers([1, 1]);
    data.faults = vec![fault(100, Some(400)), fault(200, None)];
    data.timeline = vec![minute(1, 60, true), minute(2, 100, true), minute(1, 120, false)];
    assert!(holds(&Claim::SelfPreservationMeanwhile(false), &data));
    data.timeline.push(minute(2, 160, true));
    assert!(!holds(&Claim::SelfPreservationMeanwhile(true), &data));
    assert!(!holds(&Claim::SelfPreservationMeanwhile(false), &data));
    assert!(holds_on(1, &Claim::SelfPreservationMeanwhile(false), &data));
    assert!(holds_on(2, &Claim::SelfPreservationMeanwhile(true), &data));
    data.timeline.push(minute(1, 180, true));
    assert!(holds(&Claim::SelfPreservationMeanwhile(true), &data));
}

#[test]
fn rounds_are_those_of_each_server_that_evicted() {
    let mut data = two_servers([1, 1]);
    assert!(holds(&Claim::Rounds(Vec::new()), &data));
    data.rounds = vec![round(1, 15), round(2, 0), round(1, 13)];
    assert!(holds(&Claim::Rounds(vec![15, 13]), &data));
    data.rounds.push(round(2, 15));
    assert!(!holds(&Claim::Rounds(vec![15, 13]), &data));
    assert!(holds_on(1, &Claim::Rounds(vec![15, 13]), &data));
    data.rounds.push(round(2, 13));
    assert!(holds(&Claim::Rounds(vec![15, 13]), &data));
    // 15 + 13 at each.
    assert!(holds(&Claim::Evictions(Comparison::Exactly, 56), &data));
    assert!(holds_on(2, &Claim::Evictions(Comparison::Exactly, 28), &data));
}

#[test]
fn observations_are_of_the_server_that_the_observer_had_asked() {
    let mut data = two_servers([1, 1]);
    let seen = |server: u32, secs| Detection {
        server: Some(ServerId(server - 1)),
        ..crash(Outcome::Detected(SimDuration::from_secs(secs)), 1)
    };
    data.detections = vec![seen(1, 90), seen(2, 30)];
    assert!(holds(&latency(Statistic::Max, Comparison::Exactly, 90), &data));
    assert!(holds_on(2, &latency(Statistic::Max, Comparison::Exactly, 30), &data));
    let mistake = |server: u32, stage, removal| Mistake {
        instance: InstanceId(0),
        stage,
        server: Some(ServerId(server - 1)),
        at: SimTime::ZERO,
        lasted: SimDuration::ZERO,
        corrected: true,
        removal,
        instances: 1,
        count: 3,
    };
    data.mistakes = vec![
        mistake(1, Stage::Registry, Removal::Evicted),
        mistake(2, Stage::Registry, Removal::LostWithServer),
        mistake(2, Stage::Client, Removal::NotShown),
    ];
    assert!(holds(&Claim::FalseRemovals(Comparison::Exactly, 3), &data));
    assert!(holds_on(2, &Claim::FalseRemovals(Comparison::Exactly, 0), &data));
    assert!(holds(&Claim::Mistakes(Stage::Registry, Comparison::Exactly, 6), &data));
    assert!(holds_on(2, &Claim::Mistakes(Stage::Registry, Comparison::Exactly, 3), &data));
    assert!(holds_on(1, &Claim::Mistakes(Stage::Client, Comparison::Exactly, 0), &data));
}

#[test]
fn a_server_is_accurate_by_itself() {
    let mut data = two_servers([1, 1]);
    let quality = |server: u32, mistaken_nanos| Quality {
        stage: Stage::Registry,
        server: Some(ServerId(server - 1)),
        observer: None,
        observers: 1,
        good_nanos: 100,
        mistaken_nanos,
        mistakes: 1,
        corrected: 1,
    };
    data.quality = vec![quality(1, 0), quality(2, 10)];
    let accuracy = |percent| Claim::QueryAccuracy(Stage::Registry, Comparison::Exactly, percent);
    // 200 looked at, 10 of them wrong.
    assert!(holds(&accuracy(95.0), &data));
    assert!(holds_on(2, &accuracy(90.0), &data));
}

fn load(server: u32, busy_secs: u64, renewals: u64) -> LoadMinute {
    let mut requests = [0; RequestKind::COUNT];
    requests[RequestKind::Renew as usize] = renewals;
    LoadMinute {
        from: SimTime::ZERO,
        server: ServerId(server - 1),
        requests,
        refused: 0,
        items: [0; RequestKind::COUNT],
        busy_nanos: busy_secs * 1_000_000_000,
        waiting_max: 0,
    }
}

#[test]
fn load_is_the_busiest_minute_of_any_one_server() {
    let mut data = two_servers([1, 1]);
    data.load = vec![load(1, 60, 100), load(2, 180, 140)];
    let renewals =
        |count| Claim::Load { kinds: &[RequestKind::Renew], comparison: Comparison::Exactly, count };
    assert!(holds(&renewals(140), &data));
    assert!(holds_on(1, &renewals(100), &data));
    let used = |server, percent| {
        let of = Subject { replicate: &data, server, threads: Some(4) };
        is_true(&Claim::Utilisation(Comparison::Exactly, percent), &of)
    };
    // 180 s of 4 × 60 s; 60 s of them.
    assert!(used(None, 75.0));
    assert!(used(Some(ServerId(0)), 25.0));
    assert!(holds(&Claim::Utilisation(Comparison::Exactly, 0.0), &data));
}

fn fault(at: u64, until: Option<u64>) -> Injected {
    let second = SimTime::from_secs;
    Injected { at: second(at), until: until.map(second), verb: "partition", targets: 1 }
}

/// (ms, differing, the most of the second)
fn divergence<const N: usize>(rows: [(u64, u32, u32); N]) -> Vec<Divergence> {
    let row = |(at_ms, differing, differing_max)| Divergence {
        at: SimTime::from_millis(at_ms),
        servers: 2,
        differing,
        differing_max,
    };
    rows.map(row).to_vec()
}

#[test]
fn servers_agree_when_nothing_differs_any_more() {
    let after = |secs| Claim::ServersAgreeAfter(SimDuration::from_secs(secs));
    let mut data = two_servers([1, 1]);
    assert!(holds(&Claim::ServersAgree, &data) && holds(&after(5), &data));
    // Cut off from 100 s to 400 s, healed within 3.4 s; a crash at 200 s has no end.
    data.faults = vec![fault(100, Some(400)), fault(200, None)];
    data.divergence = divergence([(30_500, 40, 40), (31_000, 0, 40), (150_000, 7, 7), (403_400, 0, 7)]);
    assert!(holds(&Claim::ServersAgree, &data));
    assert!(holds(&after(5), &data));
    assert!(!holds(&after(3), &data));
    // A moment of disagreement later, over within its second, is one all the same.
    data.divergence.extend(divergence([(600_900, 0, 1)]));
    assert!(!holds(&after(5), &data));
    assert!(holds(&Claim::ServersAgree, &data));
    data.divergence.extend(divergence([(700_000, 2, 2)]));
    assert!(!holds(&Claim::ServersAgree, &data));
}

#[test]
fn the_most_that_differed_is_that_after_the_first_fault_began() {
    let differing = |count| Claim::Differing(Comparison::Exactly, count);
    let mut data = two_servers([1, 1]);
    data.divergence = divergence([(30_500, 40, 40), (31_000, 3, 40)]);
    assert!(holds(&differing(40), &data));
    // What differed when it began still counts.
    data.faults = vec![fault(100, Some(400))];
    assert!(holds(&differing(3), &data));
    data.divergence.extend(divergence([(150_000, 0, 9)]));
    assert!(holds(&differing(9), &data));
}
