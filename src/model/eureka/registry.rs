//! The lease table: who is registered. A vector indexed by instance number, so that a heartbeat, by far the
//! most frequent call, costs one indexed access and no hashing.
//!
//! Source: `eureka-server.md` section 2 (`AbstractInstanceRegistry.registry`).

use super::lease::Lease;
use crate::model::clock::WallMs;
use crate::model::id::{AppId, InstanceId};

/// All leases of one server life.
#[derive(Clone, Default)]
pub(super) struct LeaseTable {
    slots: Vec<Option<Lease>>,
    registered: u32,
    by_app: Vec<u32>,
}

impl LeaseTable {
    /// The lease of `instance`.
    pub(super) fn lease(&self, instance: InstanceId) -> Option<&Lease> {
        self.slots.get(instance.index())?.as_ref()
    }

    /// The lease of `instance`, to change it in place.
    pub(super) fn lease_mut(&mut self, instance: InstanceId) -> Option<&mut Lease> {
        self.slots.get_mut(instance.index())?.as_mut()
    }

    /// Stores a lease in place of the one that its instance may have.
    pub(super) fn put(&mut self, lease: Lease) {
        let at = lease.record.instance.index();
        if self.slots.len() <= at {
            self.slots.resize(at + 1, None);
        }
        let app = lease.record.app.index();
        if self.by_app.len() <= app {
            self.by_app.resize(app + 1, 0);
        }
        if self.slots[at].replace(lease).is_none() {
            self.registered += 1;
            self.by_app[app] += 1;
        }
    }

    /// Takes the lease of `instance` out.
    pub(super) fn remove(&mut self, instance: InstanceId) -> Option<Lease> {
        let lease = self.slots.get_mut(instance.index())?.take()?;
        self.registered -= 1;
        self.by_app[lease.record.app.index()] -= 1;
        Some(lease)
    }

    /// All leases, expired ones included.
    pub(super) fn registered(&self) -> u32 {
        self.registered
    }

    /// Whether any instance of `app` is registered.
    pub(super) fn has_app(&self, app: AppId) -> bool {
        self.by_app.get(app.index()).is_some_and(|&registered| registered > 0)
    }

    /// Instances whose lease is expired, by number.
    pub(super) fn expired(&self, now: WallMs, extra_ms: i64) -> impl Iterator<Item = InstanceId> + '_ {
        let expired = move |lease: &&Lease| lease.is_expired(now, extra_ms);
        self.slots.iter().flatten().filter(expired).map(|lease| lease.record.instance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::{Record, Status};

    fn lease(app: u32, instance: u32, at_ms: i64) -> Lease {
        let record = Record {
            app: AppId(app),
            instance: InstanceId(instance),
            status: Status::Up,
            overridden: Status::Unknown,
            last_dirty: WallMs(0),
            duration_s: 10,
            renewal_s: 5,
        };
        Lease::new(record, 10, WallMs(at_ms))
    }

    #[test]
    fn counts_follow_puts_and_removals() {
        let mut table = LeaseTable::default();
        table.put(lease(0, 5, 0));
        table.put(lease(0, 5, 1)); // a replacement
        table.put(lease(1, 2, 0));
        assert_eq!(table.registered(), 2);
        assert!(table.remove(InstanceId(5)).is_some());
        assert!(table.remove(InstanceId(5)).is_none());
        assert!(!table.has_app(AppId(0)) && table.has_app(AppId(1)) && !table.has_app(AppId(9)));
        assert_eq!(table.registered(), 1);
    }

    #[test]
    fn expired_lists_only_the_expired() {
        let mut table = LeaseTable::default();
        table.put(lease(0, 0, 0)); // good to 10,000
        table.put(lease(0, 1, 5_000)); // good to 15,000
        let expired: Vec<_> = table.expired(WallMs(10_001), 0).collect();
        assert_eq!(expired, [InstanceId(0)]);
        assert_eq!(table.expired(WallMs(10_001), 1).count(), 0);
    }
}
