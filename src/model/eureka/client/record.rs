//! The client's own record and its dirty bookkeeping.
//! Source: `InstanceInfo`; `eureka-client.md` 0.4.

use super::ClientConfig;
use crate::model::clock::WallMs;
use crate::model::id::{AppId, InstanceId};
use crate::model::message::{Record, Status};

/// The part of the record that changes while the process runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnRecord {
    status: Status,
    dirty: bool,
    last_dirty: WallMs,
}

impl OwnRecord {
    /// The record before any process has run.
    pub(super) const UNBORN: Self = Self { status: Status::Starting, dirty: false, last_dirty: WallMs(0) };

    /// The record of a process that starts now: `STARTING` unless it is enabled from the start
    /// (`EurekaConfigBasedInstanceInfoProvider.get`, `InstanceInfoFactory.create`), and clean.
    pub(super) fn new(config: &ClientConfig, now: WallMs) -> Self {
        let status = if config.instance_enabled_onit { Status::Up } else { Status::Starting };
        Self { status, dirty: false, last_dirty: now }
    }

    /// The status.
    pub(super) const fn status(&self) -> Status {
        self.status
    }

    /// `lastDirtyTimestamp`, whether dirty or not.
    pub(super) const fn last_dirty(&self) -> WallMs {
        self.last_dirty
    }

    /// The dirty timestamp if the record is dirty.
    pub(super) fn dirty_since(&self) -> Option<WallMs> {
        self.dirty.then_some(self.last_dirty)
    }

    /// Marks the record dirty, with a new timestamp, and returns that.
    pub(super) fn set_dirty(&mut self, now: WallMs) -> WallMs {
        self.dirty = true;
        self.last_dirty = now;
        now
    }

    /// Clears the mark unless the record became dirty again after `timestamp`.
    pub(super) fn unset_dirty(&mut self, timestamp: WallMs) {
        if self.last_dirty <= timestamp {
            self.dirty = false;
        }
    }

    /// Takes over `status`; whether that changed anything. A change makes the record dirty.
    pub(super) fn set_status(&mut self, status: Status, now: WallMs) -> bool {
        let changed = self.status != status;
        if changed {
            self.status = status;
            self.set_dirty(now);
        }
        changed
    }

    /// What a registration carries.
    pub(super) fn record(&self, config: &ClientConfig, app: AppId, instance: InstanceId) -> Record {
        Record {
            app,
            instance,
            status: self.status,
            overridden: Status::Unknown,
            last_dirty: self.last_dirty,
            duration_s: lease_seconds(config.lease_expiration_duration_in_seconds, 90),
            renewal_s: lease_seconds(config.lease_renewal_interval_in_seconds, 30),
        }
    }
}

/// A configured lease time; 0 becomes the default (`LeaseInfo`, `eureka-client.md` section 7).
pub(super) const fn lease_seconds(configured: u32, default: i32) -> i32 {
    if configured == 0 || configured > i32::MAX as u32 { default } else { configured as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::eureka::Flavour;

    fn record() -> OwnRecord {
        OwnRecord::new(&ClientConfig::defaults(Flavour::Spring), WallMs(100))
    }

    #[test]
    fn a_new_record_is_clean_and_starting() {
        assert_eq!((record().status(), record().dirty_since()), (Status::Starting, None));
        assert_eq!(record().last_dirty(), WallMs(100));
    }

    #[test]
    fn only_a_change_of_status_makes_it_dirty() {
        let mut own = record();
        assert!(!own.set_status(Status::Starting, WallMs(200)));
        assert_eq!(own.dirty_since(), None);
        assert!(own.set_status(Status::Up, WallMs(300)));
        assert_eq!(own.dirty_since(), Some(WallMs(300)));
    }

    #[test]
    fn the_mark_survives_an_older_registration() {
        let mut own = record();
        let first = own.set_dirty(WallMs(200));
        own.set_dirty(WallMs(300));
        own.unset_dirty(first); // 300 > 200: dirty again since
        assert_eq!(own.dirty_since(), Some(WallMs(300)));
        own.unset_dirty(WallMs(300));
        assert_eq!((own.dirty_since(), own.last_dirty()), (None, WallMs(300)));
    }
}
