//! Claims about a two-stage registry and its consumers.

use super::*;
use crate::model::fact::Sweep;
use crate::model::id::AppId;
use crate::observe::SweepRow;

/// A sweep of a service that marked and removed so many.
fn sweep(at: u64, app: u32, guard_open: bool, [marked, removed]: [u32; 2]) -> SweepRow {
    let sweep = Sweep { app: AppId(app), entries: 20, healthy: 16, guard_open, marked, removed };
    SweepRow { at: SimTime::from_secs(at), server: ServerId(0), sweep }
}

#[test]
fn what_sweeps_did_is_added_up() {
    let mut data = replicate();
    assert!(holds(&Claim::SoftEvictions(Comparison::Exactly, 0), &data));
    data.sweeps = vec![
        sweep(36, 0, true, [4, 0]),
        sweep(36, 1, true, [1, 0]),
        sweep(39, 0, false, [0, 0]),
        sweep(81, 1, true, [2, 1]),
    ];
    // 4 + 1 + 2, and 1.
    assert!(holds(&Claim::SoftEvictions(Comparison::Exactly, 7), &data));
    assert!(holds_on(1, &Claim::SoftEvictions(Comparison::Exactly, 7), &data));
    assert!(holds(&Claim::Evictions(Comparison::Exactly, 1), &data));
    let mistake = |stage| Mistake {
        instance: InstanceId(0),
        stage,
        server: Some(ServerId(0)),
        at: SimTime::ZERO,
        lasted: SimDuration::ZERO,
        corrected: true,
        removal: Removal::Evicted,
        instances: 1,
        count: 1,
    };
    data.mistakes = vec![mistake(Stage::Registry), mistake(Stage::Entry)];
    // Marked, and removed later: one removal.
    assert!(holds(&Claim::FalseRemovals(Comparison::Exactly, 1), &data));
    assert!(holds(&Claim::Mistakes(Stage::Entry, Comparison::Exactly, 1), &data));
}

#[test]
fn a_guard_at_the_end_is_that_of_any_service() {
    let mut data = replicate();
    assert!(holds(&Claim::GuardShutAtEnd(false), &data));
    data.servers[0].self_preservation = true;
    assert!(holds(&Claim::GuardShutAtEnd(true), &data));
    assert!(!holds(&Claim::GuardShutAtEnd(false), &data));
    // Who is down keeps nobody.
    data.servers[0] = ServerEnd::default();
    assert!(holds(&Claim::GuardShutAtEnd(false), &data));
}

#[test]
fn a_guard_meanwhile_is_one_shut_since_the_first_fault_began() {
    let shut = |data: &ReplicateData| {
        let [yes, no] = [true, false].map(|shut| holds(&Claim::GuardShutMeanwhile(shut), data));
        assert_ne!(yes, no, "with one server it is one or the other");
        yes
    };
    let mut data = replicate();
    data.faults = vec![fault(100, None), fault(200, None)];
    assert!(!shut(&data));
    // Shut and open again before the fault.
    data.sweeps = vec![sweep(36, 0, false, [0, 0]), sweep(66, 0, true, [0, 2])];
    assert!(!shut(&data));
    // The other service's is shut when it begins: no sweep says so again.
    data.sweeps.push(sweep(99, 1, false, [0, 0]));
    assert!(shut(&data));
    // Open when it begins, and shut by the sweep of that moment.
    data.sweeps.pop();
    assert!(!shut(&data));
    data.sweeps.push(sweep(100, 0, false, [0, 0]));
    assert!(shut(&data));
    // That it opens again changes nothing.
    data.sweeps.push(sweep(103, 0, true, [0, 4]));
    assert!(shut(&data));
}

#[test]
fn what_consumers_did_is_counted() {
    let mut data = replicate();
    data.consumers = ConsumerCounts { refused_answers: 12, refresh_warnings: 5, failed_starts: 3 };
    assert!(holds(&Claim::RefusedAnswers(Comparison::AtLeast, 12), &data));
    assert!(!holds(&Claim::RefusedAnswers(Comparison::Exactly, 0), &data));
    assert!(holds(&Claim::FailedStarts(Comparison::AtMost, 3), &data));
    assert!(!holds(&Claim::FailedStarts(Comparison::Below, 3), &data));
}

#[test]
fn what_is_stored_has_a_latency_of_its_own() {
    let mut data = replicate();
    let seen = |stage, secs| Detection {
        stage,
        server: Some(ServerId(0)),
        ..crash(Outcome::Detected(SimDuration::from_secs(secs)), 1)
    };
    data.detections = vec![seen(Stage::Registry, 14), seen(Stage::Entry, 59)];
    let longest = |stage, secs| Claim::Latency {
        event: Some(EventKind::Crash),
        stage,
        statistic: Statistic::Max,
        comparison: Comparison::Exactly,
        limit: SimDuration::from_secs(secs),
    };
    assert!(holds(&longest(Stage::Entry, 59), &data));
    assert!(holds(&longest(Stage::Registry, 14), &data));
}
