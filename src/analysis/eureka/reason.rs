//! Why a closed form of Eureka, or its mean, is absent: what the others do not know.

use thiserror::Error;

use crate::engine::SimDuration;

/// What a closed form of Eureka takes for granted and does not find.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EurekaReason {
    /// A round trip may be cut off, or last into the next one.
    #[error("a call may take longer than its interval or its time-outs")]
    LongCalls,
    /// Instances that are hit are never shown.
    #[error("instances of {application} are not registered as UP")]
    NotUp {
        /// Whose.
        application: String,
    },
    /// An orderly stop is none to the server.
    #[error("instances of {application} stop without de-registering")]
    NotDeregistered {
        /// Whose.
        application: String,
    },
    /// What registers is shown later than it registers.
    #[error("the first registration does not yet say UP")]
    RegistersStarting,
    /// Heartbeats come too seldom for the lease.
    #[error(
        "live leases of {application} may expire: they last {duration}, and heartbeats come every {interval}"
    )]
    ShortLeases {
        /// Whose.
        application: String,
        /// From a heartbeat to the end of its lease.
        duration: SimDuration,
        /// Between heartbeats.
        interval: SimDuration,
    },
    /// A crash may find leases that are doubled and such that are not.
    #[error("a crash may come before the first heartbeat doubles the lease")]
    MixedLeases,
    /// A server that copies from itself may bring back who has left.
    #[error("the server may still be copying what it has seen, before it opens")]
    Copying,
    /// No eviction runs yet.
    #[error("a lease may expire before the server's first eviction round")]
    NoRoundYet,
    /// The minute that self-preservation looks at may have begun before the fleet was there.
    #[error("the first minutes may hold too few renewals for an eviction")]
    FirstMinutes,
    /// A round must leave some of the expired for the next.
    #[error("a round evicts at most {limit} of {size}, and {dead} die")]
    CappedRound {
        /// How many a round evicts at most.
        limit: u64,
        /// Leases, the expired ones included.
        size: u64,
        /// Crashes that are detected together.
        dead: u64,
    },
    /// Self-preservation is engaged whatever is renewed.
    #[error("self-preservation {} engaged: no number of renewals counts as above a threshold of 0", is(*settled))]
    NothingIsEnough {
        /// Whether that is sure.
        settled: bool,
    },
    /// Self-preservation is engaged by what the crashes leave.
    #[error("self-preservation {} engaged: {renewals} renewals against a threshold of {threshold}", is(*settled))]
    TooFewRenewals {
        /// Whether that is sure.
        settled: bool,
        /// Renewals a minute of those who are left.
        renewals: u64,
        /// What they must exceed.
        threshold: u64,
    },
    /// Self-preservation is engaged when some beats come a minute later, which is not rare enough.
    #[error(
        "self-preservation may be engaged for a minute: {renewals} renewals, fewer when beats slip into the next \
         minute, against a threshold of {threshold}"
    )]
    BeatsMaySlip {
        /// Renewals a minute of those who are left.
        renewals: u64,
        /// What they must exceed.
        threshold: u64,
    },
    /// Nothing is cached, so no answer follows the registry.
    #[error("nobody asks for the registry, and what nobody asks for is not cached")]
    NobodyAsks,
    /// A server that found nothing to copy does not answer for a while.
    #[error("the server may still refuse to answer, as one that opened empty does")]
    RefusesToAnswer,
    /// Some observer must fetch everything to hear of a change.
    #[error("a change may leave the delta queue before it has been fetched")]
    ShortDeltas,
    /// The balancer's list is as old as the last call.
    #[error("with a call rate the wait for the call that refreshes the list has no limit")]
    CallRate,
    /// The balancer does not keep an empty list.
    #[error("a service without instances is looked up anew at every call")]
    EmptyList,
    /// Of the mean: heartbeats, crashes and evictions keep step.
    #[error("crashes and eviction rounds are not at uniform phases to each other")]
    RoundsInStep,
    /// Of the mean: what changes and the read-only cache keep step.
    #[error("changes and the read-only cache's copies are not at uniform phases to each other")]
    CopiesInStep,
    /// Of the mean: observers fetch at the same moments.
    #[error("the start window is no multiple of the fetch interval, so fetches are bunched")]
    FetchesInStep,
    /// Of the mean: the balancer's cache ends at known moments.
    #[error("the moment of the balancer's first call is fixed")]
    FirstCallIsFixed,
}

const fn is(settled: bool) -> &'static str {
    if settled { "is" } else { "may be" }
}
