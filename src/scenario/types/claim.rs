//! What a scenario claims of its outcome.

use crate::engine::SimDuration;
use crate::model::id::ServerId;
use crate::model::message::RequestKind;
use crate::model::stage::{EventKind, Stage};

/// A claim that decides the exit code.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// As written in the file.
    pub text: String,
    /// What must hold in a replicate.
    pub claim: Claim,
    /// `… on server-2`: of what that server does or shows, or of observers that were talking to it, alone; `None`: of
    /// all servers together, and where that has no sense, of each.
    pub server: Option<ServerId>,
    /// The share of replicates in which it must hold, above 0, at most 1 (`all`).
    pub in_share: f64,
}

/// What an expectation says of one replicate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Claim {
    /// `[EVENT] STAGE STATISTIC below|above DURATION`, over the replicate's observations.
    /// Censored observations count as longer than any limit. No observation at all fails it.
    Latency {
        /// Which event; `None`: all.
        event: Option<EventKind>,
        /// Which stage.
        stage: Stage,
        /// Which statistic.
        statistic: Statistic,
        /// Compared how.
        comparison: Comparison,
        /// With what.
        limit: SimDuration,
    },
    /// `no false removal`, `at most 3 false removals`: live instances evicted.
    FalseRemovals(Comparison, u32),
    /// `at least 57 of 100 left at the end`: registered leases when the replicate ends, of each server that runs; a
    /// server that is down has none.
    Left {
        /// Compared how.
        comparison: Comparison,
        /// How many.
        count: u32,
    },
    /// `no eviction`, `exactly 4 evictions`: leases evicted, dead or alive.
    Evictions(Comparison, u32),
    /// `rounds evict 15, 13, 11`: what the rounds that removed anything removed, in order, of each server that evicted
    /// anybody.
    Rounds(Vec<u32>),
    /// `self-preservation at the end` / `no self-preservation at the end`: whether expiration is disabled, on each
    /// server that runs.
    SelfPreservationAtEnd(bool),
    /// `self-preservation meanwhile` / `no self-preservation meanwhile`: whether expiration was disabled at the end of
    /// some minute (or of none) after the first fault began, on each server.
    SelfPreservationMeanwhile(bool),
    /// `servers agree at the end`: every server that runs has the same instances with the same statuses.
    ServersAgree,
    /// `servers agree 5s after the last fault`: … from then on, to the second. Counted from the moment at which the
    /// last fault is over: from its end, or its beginning if it has no length.
    ServersAgreeAfter(SimDuration),
    /// `at most 10 instances differ`: the most instances that servers disagreed about at any moment after the first
    /// fault began.
    Differing(Comparison, u32),
    /// `utilisation above 90 %`: the busiest minute of any one server's threads, in percent.
    Utilisation(Comparison, f64),
    /// `no mistake at client`, `at most 30 mistakes at balancer`: times that a stage ceased to show an instance
    /// that was alive and well, over all observers.
    Mistakes(Stage, Comparison, u64),
    /// `query accuracy at client above 99.5 %`: P_A, over all observers.
    QueryAccuracy(Stage, Comparison, f64),
    /// `guard shut at the end` / `no guard shut at the end`: whether the guard of some service of a two-stage registry was
    /// shut when that was swept last.
    GuardShutAtEnd(bool),
    /// `guard shut meanwhile` / `no guard shut meanwhile`: whether some sweep after the first fault began (or none) found
    /// the guard of a service shut.
    GuardShutMeanwhile(bool),
    /// `no soft eviction`, `exactly 4 soft evictions`: entries of a two-stage registry that turned unhealthy, dead or
    /// alive.
    SoftEvictions(Comparison, u32),
    /// `no refused answer`, `at least 10 refused answers`: answers that consumers took for implausible.
    RefusedAnswers(Comparison, u64),
    /// `no failed start`, `at most 3 failed starts`: processes that could not read their snapshot.
    FailedStarts(Comparison, u64),
    /// `no failed call`, `failed calls below 1.5 %`: the share of calls that failed after all retries, in percent.
    FailedCalls(Comparison, f64),
    /// `most renewals a minute above 140`, `most fetches a minute …`: the busiest minute of any one server.
    Load {
        /// Requests of these kinds together.
        kinds: &'static [RequestKind],
        /// Compared how.
        comparison: Comparison,
        /// With how many in the busiest minute.
        count: u64,
    },
}

/// A statistic of a replicate's observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Statistic {
    /// The smallest.
    Min,
    /// The mean.
    Mean,
    /// A quantile by nearest rank, in percent.
    Percentile(u8),
    /// The largest.
    Max,
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `below`: strictly.
    Below,
    /// `at most`.
    AtMost,
    /// `above`: strictly.
    Above,
    /// `at least`.
    AtLeast,
    /// `exactly`.
    Exactly,
}

impl Comparison {
    /// Whether `left` stands in this relation to `right`.
    pub fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Self::Below => left < right,
            Self::AtMost => left <= right,
            Self::Above => left > right,
            Self::AtLeast => left >= right,
            Self::Exactly => left == right,
        }
    }
}
