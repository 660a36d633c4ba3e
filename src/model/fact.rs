//! Facts: everything worth knowing that happened in a run, in the past tense. Traces, tables and charts are
//! derived from this one stream (`observe`); no rule reads it.

use super::id::{AppId, InstanceId};
use super::message::Status;
use super::view::View;

/// What one eviction round found and did (`AbstractInstanceRegistry.evict`, `eureka-server.md` 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvictionRound {
    /// Whether lease expiration was enabled (`isLeaseExpirationEnabled`).
    pub enabled: bool,
    /// Compensation for lateness, ms.
    pub compensation_ms: i64,
    /// Leases found expired; 0 when the gate was shut, since nobody looked.
    pub expired: u32,
    /// The most that this round may remove; 0 when the gate was shut.
    pub limit: u32,
    /// Leases removed.
    pub evicted: u32,
    /// Leases before the round.
    pub registered: u32,
}

/// What one sweep of a two-stage registry found and did with one service (`two-stage.md` 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The service.
    pub app: AppId,
    /// Its entries when the sweep came to it, unhealthy ones included.
    pub entries: u32,
    /// Of these, healthy ones.
    pub healthy: u32,
    /// Whether the guard let it pass.
    pub guard_open: bool,
    /// Entries that turned unhealthy (soft eviction).
    pub marked: u32,
    /// Entries that were removed (hard deletion).
    pub removed: u32,
}

/// Something that happened at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// A server opened for traffic with this count (`openForTraffic`).
    OpenedForTraffic {
        /// The expected number of clients after opening.
        expected: u32,
    },
    /// A lease was created or replaced; `new` if there was none before.
    LeaseRegistered {
        /// Whose lease.
        instance: InstanceId,
        /// The status it is registered with.
        status: Status,
        /// Whether no lease existed before.
        new: bool,
    },
    /// The status of a registered instance changed without a new registration.
    StatusChanged {
        /// Whose status.
        instance: InstanceId,
        /// The new status.
        status: Status,
    },
    /// A lease was cancelled by its owner.
    LeaseCancelled {
        /// Whose lease.
        instance: InstanceId,
    },
    /// A lease was evicted. Of a two-stage registry: the entry was removed for its silence (hard deletion).
    LeaseEvicted {
        /// Whose lease.
        instance: InstanceId,
    },
    /// A two-stage registry's entry turned unhealthy for its silence (soft eviction). The entry stays.
    SoftEvicted {
        /// Whose entry.
        instance: InstanceId,
    },
    /// A sweep of a two-stage registry was done with a service. Told if it marked or removed anybody, or if the guard's
    /// verdict was another than at the service's sweep before; guards begin open.
    SweepEnded(Sweep),
    /// What a two-stage registry stores changed: entries, healthy or not, as a view that shows them all.
    StoredChanged {
        /// Before; [`View::EMPTY`] at first.
        from: View,
        /// After.
        to: View,
    },
    /// An eviction round ended.
    EvictionRoundEnded(EvictionRound),
    /// The minute bucket of renewals was closed.
    RenewalsCounted {
        /// Renewals in the bucket just closed: the new "renews last minute".
        renewals: u32,
    },
    /// `numberOfRenewsPerMinThreshold` was recomputed.
    ThresholdUpdated {
        /// The expected number of clients.
        expected: u32,
        /// The threshold, renewals a minute.
        threshold: u32,
    },
    /// The full answer that a client would get now changed.
    ServedChanged {
        /// Before; [`View::EMPTY`] at first.
        from: View,
        /// After.
        to: View,
    },
    /// A client sent its first registration of this life.
    RegistrationSent {
        /// Who registers.
        instance: InstanceId,
    },
    /// A client's local registry changed.
    ViewChanged {
        /// Before.
        from: View,
        /// After.
        to: View,
    },
    /// A client's load balancer took over a list.
    BalancerChanged {
        /// Before.
        from: View,
        /// After.
        to: View,
    },
    /// A delta's hash did not match the client's: a full fetch follows (`reconcileAndLogDifference`).
    HashMismatched,
    /// A supervised task did not finish in time (`TimedSupervisorTask`).
    SupervisorTimedOut,
    /// A supervised task found all its workers busy.
    SupervisorRejected,
    /// A consumer refused an answer that it took for implausible (`two-stage.md` 2.3).
    AnswerRefused,
    /// A consumer's refresh failed so often in a row that it said so in its log (`two-stage.md` 2.2).
    RefreshWarned,
    /// A process could not start: it could not read its snapshot (`two-stage.md` 2.4).
    StartFailed,
}
