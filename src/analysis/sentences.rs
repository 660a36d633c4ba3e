//! Every reason for an absence with its sentence, word for word: users read them in tables, charts and files.

use std::fmt::Display;
use std::mem::discriminant;

use super::{Disturbance, EurekaReason, Reason, TwoStageReason};
use crate::engine::SimDuration;

fn a0() -> String {
    "a0".to_owned()
}

fn secs(secs: u64) -> SimDuration {
    SimDuration::from_secs(secs)
}

/// Whether each reads so, and `source`, which declares them, has no other.
fn each_has_its_sentence<T: Display>(source: &str, table: &[(T, &str)]) {
    for (reason, sentence) in table {
        assert_eq!(reason.to_string(), *sentence);
    }
    let declared = source.matches("#[error(").count() - source.matches("#[error(transparent)]").count();
    let kind = |place: usize| discriminant(&table[place].0);
    let told = (0..table.len()).filter(|&place| (0..place).all(|before| kind(before) != kind(place))).count();
    assert_eq!(told, declared, "the table lacks a reason");
}

#[test]
fn of_any_registry() {
    let table = [
        (Reason::NotCovered, "no closed form covers this"),
        (Reason::ChangeOfStatus, "no closed form is known for a change of status"),
        (Reason::UnlikeLinks, "applications have links of different latency"),
        (Reason::UnboundedLatency, "the latency has no greatest value"),
        (Reason::NobodyIsHit, "no instance that is there from the start is hit"),
        (Reason::NobodyWatches, "no observer is left to see it"),
        (Reason::ReturnsUnnoticed, "an instance may come back before its end has been noticed"),
        (Reason::WatchEachOther, "those hit one after the other watch each other"),
    ];
    each_has_its_sentence(include_str!("reason.rs"), &table);
}

#[test]
fn of_what_disturbs() {
    let table = [
        (
            Disturbance::SeveralServers,
            "with several servers, whom an observer asks and when a peer learns are not in the closed form",
        ),
        (Disturbance::ReplicatesToItself, "the server replicates to itself: it counts heartbeats twice"),
        (Disturbance::ServerThreads, "requests wait for the server's threads"),
        (Disturbance::ServerClock, "the server's clock drifts"),
        (Disturbance::Loss, "messages are lost at random"),
        (Disturbance::ServerEnds, "the server does not run all the time"),
        (Disturbance::ServerPause, "the server is paused"),
        (Disturbance::Pause, "a pause may delay what is watched"),
        (Disturbance::Partition, "a partition may delay what is watched"),
        (Disturbance::BadLink, "a bad link may delay what is watched"),
        (Disturbance::CrashLoop, "instances may come back before their end has been noticed"),
        (Disturbance::SlowHeartbeats, "heartbeats are late, so leases end at other times"),
        (Disturbance::ClockIsSet, "a clock is set while leases are timed by it"),
        (Disturbance::Unhealthy, "instances may be hidden before they end"),
        (Disturbance::Override, "an operator changes what is shown"),
        (Disturbance::Delete, "an operator deletes leases"),
        (Disturbance::Change, "a setting of the server changes during the run"),
        (Disturbance::RollOut, "the batches of a roll-out depend on each other"),
        (Disturbance::BlueGreen, "as many start as happen to run of the other application"),
        (Disturbance::SomeHeed, "some heed the notice and some do not"),
    ];
    each_has_its_sentence(include_str!("disturbances.rs"), &table);
}

#[test]
fn of_eureka() {
    let table = [
        (EurekaReason::LongCalls, "a call may take longer than its interval or its time-outs"),
        (EurekaReason::RegistersStarting, "the first registration does not yet say UP"),
        (EurekaReason::MixedLeases, "a crash may come before the first heartbeat doubles the lease"),
        (EurekaReason::Copying, "the server may still be copying what it has seen, before it opens"),
        (EurekaReason::NoRoundYet, "a lease may expire before the server's first eviction round"),
        (EurekaReason::FirstMinutes, "the first minutes may hold too few renewals for an eviction"),
        (EurekaReason::NobodyAsks, "nobody asks for the registry, and what nobody asks for is not cached"),
        (
            EurekaReason::RefusesToAnswer,
            "the server may still refuse to answer, as one that opened empty does",
        ),
        (EurekaReason::ShortDeltas, "a change may leave the delta queue before it has been fetched"),
        (
            EurekaReason::CallRate,
            "with a call rate the wait for the call that refreshes the list has no limit",
        ),
        (EurekaReason::EmptyList, "a service without instances is looked up anew at every call"),
        (EurekaReason::RoundsInStep, "crashes and eviction rounds are not at uniform phases to each other"),
        (
            EurekaReason::CopiesInStep,
            "changes and the read-only cache's copies are not at uniform phases to each other",
        ),
        (
            EurekaReason::FetchesInStep,
            "the start window is no multiple of the fetch interval, so fetches are bunched",
        ),
        (EurekaReason::FirstCallIsFixed, "the moment of the balancer's first call is fixed"),
        (EurekaReason::NotUp { application: a0() }, "instances of a0 are not registered as UP"),
        (EurekaReason::NotDeregistered { application: a0() }, "instances of a0 stop without de-registering"),
        (
            EurekaReason::ShortLeases { application: a0(), duration: secs(30), interval: secs(40) },
            "live leases of a0 may expire: they last 30s, and heartbeats come every 40s",
        ),
        (
            EurekaReason::CappedRound { limit: 15, size: 100, dead: 60 },
            "a round evicts at most 15 of 100, and 60 die",
        ),
        (
            EurekaReason::NothingIsEnough { settled: true },
            "self-preservation is engaged: no number of renewals counts as above a threshold of 0",
        ),
        (
            EurekaReason::NothingIsEnough { settled: false },
            "self-preservation may be engaged: no number of renewals counts as above a threshold of 0",
        ),
        (
            EurekaReason::TooFewRenewals { settled: true, renewals: 32, threshold: 35 },
            "self-preservation is engaged: 32 renewals against a threshold of 35",
        ),
        (
            EurekaReason::TooFewRenewals { settled: false, renewals: 8, threshold: 10 },
            "self-preservation may be engaged: 8 renewals against a threshold of 10",
        ),
        (
            EurekaReason::BeatsMaySlip { renewals: 172, threshold: 171 },
            "self-preservation may be engaged for a minute: 172 renewals, fewer when beats slip into the next minute, against a threshold of 171",
        ),
    ];
    each_has_its_sentence(include_str!("eureka/reason.rs"), &table);
}

#[test]
fn of_the_two_stage_registry() {
    let shut = |shrinks| TwoStageReason::GuardMayShut {
        application: a0(),
        ghosts: 4,
        entries: 20,
        tolerated: 3,
        shrinks,
    };
    let table = [
        (TwoStageReason::Workers, "requests wait for the registry's workers"),
        (
            TwoStageReason::UnheardNewcomers,
            "the next sweep may hide a newcomer, which counts as never heard of",
        ),
        (TwoStageReason::LongCalls, "a call may take longer than its interval or its time-out"),
        (TwoStageReason::NoHeartbeatYet, "a crash may come before the first heartbeat"),
        (TwoStageReason::NoSweepYet, "the time-out may end before the first sweep"),
        (TwoStageReason::RegistersAgain, "a process that goes on to send heartbeats registers itself again"),
        (TwoStageReason::FullDisk, "a consumer that cannot write its file polls as if the registry was gone"),
        (TwoStageReason::ShowsItsFile, "a consumer that comes back shows what is in its file"),
        (TwoStageReason::BacksOff, "a consumer backs off while a list is empty"),
        (
            TwoStageReason::ToldWithoutList,
            "a change in the last park of a long poll is told without its list",
        ),
        (TwoStageReason::AnswerOvertakes, "an older answer may overtake a push"),
        (TwoStageReason::OlderPush, "a push that is sent again may bring an older list"),
        (TwoStageReason::EntryIsThere, "the entry of the life before is still there"),
        (
            TwoStageReason::UnlikeFirstHeartbeats,
            "those who come back send their first heartbeat after different delays",
        ),
        (
            TwoStageReason::PollThrownAway,
            "a consumer may miss a push and, because of an earlier one, throw away the poll after it",
        ),
        (TwoStageReason::PushSentAgain, "a push that was lost may be sent again before the next poll"),
        (TwoStageReason::ShownAgain, "read protection may show the dead again until they are deleted"),
        (
            TwoStageReason::FirstInstance,
            "a service's first instance sends its heartbeats at a fixed distance to the sweeps",
        ),
        (TwoStageReason::SweepsInStep, "crashes and sweeps are not at uniform phases to each other"),
        (
            TwoStageReason::PollsInStep,
            "the start window is no multiple of the poll interval, so polls are bunched",
        ),
        (
            TwoStageReason::EmptyPollsInStep,
            "a registration comes at a known moment of the polls of an empty service",
        ),
        (
            TwoStageReason::LiveAreHidden { application: a0(), silence: secs(16), patience: secs(15) },
            "live instances of a0 may be hidden: they are silent for up to 16s, and 15s is borne",
        ),
        (shut(false), "the guard may shut: 4 of 20 entries of a0 may be unhealthy at a time, and it bears 3"),
        (
            shut(true),
            "the guard may shut: 4 of 20 entries of a0 may be unhealthy at a time, and it may bear no more than 3",
        ),
        (
            TwoStageReason::ListIsRefused { application: a0(), leave: 5, entries: 9 },
            "consumers may refuse the list of a0: 5 of 9 leave it",
        ),
    ];
    each_has_its_sentence(include_str!("two_stage/reason.rs"), &table);
}

#[test]
fn a_registrys_reason_reads_and_is_written_as_its_own_sentence() {
    let engaged = EurekaReason::TooFewRenewals { settled: true, renewals: 18, threshold: 18 };
    for (reason, sentence) in [
        (Reason::from(engaged.clone()), engaged.to_string()),
        (TwoStageReason::Workers.into(), TwoStageReason::Workers.to_string()),
        (Disturbance::Loss.into(), Disturbance::Loss.to_string()),
    ] {
        assert_eq!(reason.to_string(), sentence);
        assert_eq!(serde_json::to_value(reason).unwrap(), sentence);
    }
}
