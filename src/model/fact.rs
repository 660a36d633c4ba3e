//! Facts: everything worth knowing that happened in a run, in the past tense. Traces, tables and charts are
//! derived from this one stream (`observe`); no rule reads it.

use super::id::InstanceId;
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

/// Something that happened at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// A lease was evicted.
    LeaseEvicted {
        /// Whose lease.
        instance: InstanceId,
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
}
