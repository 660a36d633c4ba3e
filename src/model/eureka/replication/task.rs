//! A task: one thing that a peer is still to be told about one instance.
//!
//! The original's task refers to the record *object* of the registry, and what is sent is read from it when the batch
//! is built. Here a task has a copy and the number of that record ([`Lease::registration`]): as long as the lease still
//! has the same record, the copy is made anew for every batch. A record that was replaced, or has left, is sent as it
//! was last seen. Only the override that a heartbeat carries is fixed when it is queued.
//!
//! Source: `eureka-peers.md` section 3; `PeerEurekaNode`, `InstanceReplicationTask`,
//! `ReplicationTaskProcessor.createReplicationInstanceOf`.

use crate::model::clock::WallMs;
use crate::model::eureka::lease::Lease;
use crate::model::eureka::registry::LeaseTable;
use crate::model::id::InstanceId;
use crate::model::message::{Record, Replicated, Status};

/// What happened to an instance. Together with the instance it is a task's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::model::eureka) enum Operation {
    /// It registered.
    Register = 0,
    /// It renewed.
    Heartbeat = 1,
    /// It left.
    Cancel = 2,
    /// Its status was overridden.
    StatusUpdate = 3,
    /// The override ended.
    DeleteStatusOverride = 4,
}

impl Operation {
    /// How many there are.
    pub(super) const COUNT: usize = 5;
}

/// A number that no record has: what a task has of a record that never came into the registry.
const NEVER_REGISTERED: u32 = 0;

/// What waits in a peer's queue, or is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) operation: Operation,
    pub(super) record: Record,
    /// The override that a heartbeat tells of, whatever the record says.
    overridden: Status,
    /// Which record it is.
    registration: u32,
    /// When it was queued. A task that comes back after a failure keeps it.
    pub(super) submitted: WallMs,
    /// From when on it is not sent any more.
    pub(super) expiry: WallMs,
}

impl Task {
    /// A task about the record of `lease`, queued `now`.
    pub(super) fn of_lease(operation: Operation, lease: &Lease, now: WallMs, longest_ms: i64) -> Self {
        Self {
            registration: lease.registration(),
            ..Self::of_record(operation, lease.record, now, longest_ms)
        }
    }

    /// A task about a record that is not, or no longer, in the registry. `longest_ms` is `max-time-for-replication`,
    /// which registrations and heartbeats do not go by: they expire after one renewal interval, an `int` in Java.
    pub(super) fn of_record(operation: Operation, record: Record, now: WallMs, longest_ms: i64) -> Self {
        let lasts_ms = match operation {
            Operation::Register | Operation::Heartbeat => i64::from(record.renewal_s.wrapping_mul(1_000)),
            Operation::Cancel | Operation::StatusUpdate | Operation::DeleteStatusOverride => longest_ms,
        };
        Self {
            operation,
            record,
            overridden: Status::Unknown,
            registration: NEVER_REGISTERED,
            submitted: now,
            expiry: now.plus(lasts_ms),
        }
    }

    /// The same heartbeat, which tells of this override.
    pub(super) fn overridden_by(self, overridden: Option<Status>) -> Self {
        Self { overridden: overridden.unwrap_or(Status::Unknown), ..self }
    }

    /// The registration that follows when the peer did not know, or knew less of, what this heartbeat was about.
    pub(super) fn as_registration(&self, now: WallMs) -> Self {
        let registration = Self::of_record(Operation::Register, self.record, now, 0);
        Self { registration: self.registration, ..registration }
    }

    /// Whether it may still be sent.
    pub(super) fn is_usable(&self, now: WallMs) -> bool {
        self.expiry > now
    }

    /// Takes the record from the registry again, if it still has the same.
    pub(super) fn refresh(&mut self, leases: &LeaseTable) {
        let lease = leases.lease(self.record.instance);
        if let Some(lease) = lease.filter(|lease| lease.registration() == self.registration) {
            self.record = lease.record;
        }
    }

    /// What is sent.
    pub(super) fn item(&self) -> Replicated {
        let Record { instance, status, last_dirty, .. } = self.record;
        match self.operation {
            Operation::Register => Replicated::Register(self.record),
            Operation::Heartbeat => {
                Replicated::Heartbeat(Record { overridden: self.overridden, ..self.record })
            }
            Operation::Cancel => Replicated::Cancel { instance },
            Operation::StatusUpdate => Replicated::StatusUpdate { instance, status, last_dirty },
            Operation::DeleteStatusOverride => {
                Replicated::DeleteStatusOverride { instance, status, last_dirty }
            }
        }
    }

    /// Whether this is the task about `instance` and `operation`.
    pub(super) fn is_about(&self, operation: Operation, instance: InstanceId) -> bool {
        self.operation == operation && self.record.instance == instance
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::AppId;

    fn record() -> Record {
        Record {
            app: AppId(0),
            instance: InstanceId(0),
            status: Status::Up,
            overridden: Status::Unknown,
            last_dirty: WallMs(100),
            duration_s: 90,
            renewal_s: 30,
        }
    }

    #[test]
    fn registrations_and_heartbeats_live_one_interval_the_rest_the_set_time() {
        let expiry = |operation, renewal_s| {
            Task::of_record(operation, Record { renewal_s, ..record() }, WallMs(1_000), 20_000).expiry.0
        };
        assert_eq!(expiry(Operation::Register, 30), 31_000);
        assert_eq!(expiry(Operation::Heartbeat, 5), 6_000);
        for operation in [Operation::Cancel, Operation::StatusUpdate, Operation::DeleteStatusOverride] {
            assert_eq!(expiry(operation, 5), 21_000);
        }
        // 2,147,484 s · 1,000 = 2^31 + 352: as an int -2,147,483,296, so it has expired before it is sent.
        assert_eq!(expiry(Operation::Register, 2_147_484), 1_000 - 2_147_483_296);
    }

    #[test]
    fn a_task_is_usable_strictly_before_its_expiry() {
        let task = Task::of_record(Operation::Heartbeat, record(), WallMs(0), 0);
        assert!(task.is_usable(WallMs(29_999)) && !task.is_usable(WallMs(30_000)));
    }

    #[test]
    fn what_is_sent_is_read_from_the_record_as_long_as_it_is_the_same() {
        let mut leases = LeaseTable::default();
        leases.put(Lease::new(record(), 90, WallMs(0)).numbered(1));
        let lease = *leases.lease(InstanceId(0)).expect("put");
        let mut task = Task::of_lease(Operation::StatusUpdate, &lease, WallMs(0), 30_000);
        let changed = Record { status: Status::Down, ..record() };
        leases.put(Lease::new(changed, 90, WallMs(0)).numbered(1)); // a new lease, the same record
        task.refresh(&leases);
        assert_eq!(task.record, changed);
        leases.put(Lease::new(record(), 90, WallMs(0)).numbered(2)); // another record
        task.refresh(&leases);
        assert_eq!(task.record, changed);
        leases.remove(InstanceId(0));
        task.refresh(&leases);
        assert_eq!(task.record, changed);
    }

    #[test]
    fn a_heartbeat_tells_of_the_override_and_the_registration_after_it_of_the_record() {
        let heartbeat = Task::of_record(Operation::Heartbeat, record(), WallMs(0), 0);
        let heartbeat = heartbeat.overridden_by(Some(Status::OutOfService));
        let sent = Record { overridden: Status::OutOfService, ..record() };
        assert_eq!(heartbeat.item(), Replicated::Heartbeat(sent));
        let registration = heartbeat.as_registration(WallMs(500));
        assert_eq!(registration.item(), Replicated::Register(record()));
        assert_eq!(registration.expiry, WallMs(30_500));
    }

    #[test]
    fn a_task_is_small() {
        assert!(size_of::<Task>() <= 56);
    }
}
