//! Why a closed form of the two-stage registry, or its mean, is absent: what the others do not know.

use thiserror::Error;

use crate::engine::SimDuration;

/// What a closed form of the two-stage registry takes for granted and does not find.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TwoStageReason {
    /// The registry takes up a request when it has a worker for it.
    #[error("requests wait for the registry's workers")]
    Workers,
    /// A registration is no heartbeat.
    #[error("the next sweep may hide a newcomer, which counts as never heard of")]
    UnheardNewcomers,
    /// A round trip may be cut off, or last into the next one.
    #[error("a call may take longer than its interval or its time-out")]
    LongCalls,
    /// Heartbeats come too seldom for the time-out.
    #[error(
        "live instances of {application} may be hidden: they are silent for up to {silence}, and {patience} is borne"
    )]
    LiveAreHidden {
        /// Whose.
        application: String,
        /// The longest between two heartbeats.
        silence: SimDuration,
        /// The time-out.
        patience: SimDuration,
    },
    /// Silence counts from the registration.
    #[error("a crash may come before the first heartbeat")]
    NoHeartbeatYet,
    /// No sweep runs yet.
    #[error("the time-out may end before the first sweep")]
    NoSweepYet,
    /// An orderly stop may be undone by a heartbeat after it.
    #[error("a process that goes on to send heartbeats registers itself again")]
    RegistersAgain,
    /// More entries may be unhealthy than the guard lets through.
    #[error(
        "the guard may shut: {ghosts} of {entries} entries of {application} may be unhealthy at a time, and it {} \
         {tolerated}",
        if *shrinks { "may bear no more than" } else { "bears" }
    )]
    GuardMayShut {
        /// Whose.
        application: String,
        /// Entries of the dead at a time, at most.
        ghosts: u64,
        /// All entries, at most.
        entries: u64,
        /// How many unhealthy ones leave the guard open, at the worst.
        tolerated: u64,
        /// Whether there may be fewer entries by then, so that the guard may bear more.
        shrinks: bool,
    },
    /// A consumer finds what it is told implausible.
    #[error("consumers may refuse the list of {application}: {leave} of {entries} leave it")]
    ListIsRefused {
        /// Whose.
        application: String,
        /// How many go.
        leave: u64,
        /// Of how many.
        entries: u64,
    },
    /// A full disk sends a consumer into back-off.
    #[error("a consumer that cannot write its file polls as if the registry was gone")]
    FullDisk,
    /// A restarted consumer knows what it knew before.
    #[error("a consumer that comes back shows what is in its file")]
    ShowsItsFile,
    /// An empty list counts as a failure.
    #[error("a consumer backs off while a list is empty")]
    BacksOff,
    /// A consumer may be told that there is something new, and not what.
    #[error("a change in the last park of a long poll is told without its list")]
    ToldWithoutList,
    /// A poll and a push are under way at the same time.
    #[error("an older answer may overtake a push")]
    AnswerOvertakes,
    /// Two pushes are under way at the same time.
    #[error("a push that is sent again may bring an older list")]
    OlderPush,
    /// Who comes back finds an entry, so none appears.
    #[error("the entry of the life before is still there")]
    EntryIsThere,
    /// Who comes back is shown with its first heartbeat.
    #[error("those who come back send their first heartbeat after different delays")]
    UnlikeFirstHeartbeats,
    /// Of the mean: after a push the next poll does not count.
    #[error("a consumer may miss a push and, because of an earlier one, throw away the poll after it")]
    PollThrownAway,
    /// Of the mean: a push has two chances before the poll.
    #[error("a push that was lost may be sent again before the next poll")]
    PushSentAgain,
    /// Of the mean: who is hidden may be shown once more.
    #[error("read protection may show the dead again until they are deleted")]
    ShownAgain,
    /// Of the mean: a service's sweeps begin with its first instance.
    #[error("a service's first instance sends its heartbeats at a fixed distance to the sweeps")]
    FirstInstance,
    /// Of the mean: heartbeats, crashes and sweeps keep step.
    #[error("crashes and sweeps are not at uniform phases to each other")]
    SweepsInStep,
    /// Of the mean: consumers poll at the same moments.
    #[error("the start window is no multiple of the poll interval, so polls are bunched")]
    PollsInStep,
    /// Of the mean: the waits of an empty service have a known phase.
    #[error("a registration comes at a known moment of the polls of an empty service")]
    EmptyPollsInStep,
}
