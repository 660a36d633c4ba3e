//! Which status a registered instance has: the rules, the overrides behind them, and what a heartbeat's dirty
//! timestamp means.
//!
//! The server believes DOWN and STARTING from anybody. Between UP and OUT_OF_SERVICE an operator's override
//! wins; without one the server's own value wins over what a client says when it registers anew.
//!
//! Source: `eureka-server.md` 2.6, 2.7, 7.2; the rules in `PeerAwareInstanceRegistryImpl`'s constructor.

use crate::engine::{SimDuration, SimTime};
use crate::model::clock::WallMs;
use crate::model::id::InstanceId;
use crate::model::message::Status;

/// Where a call comes from: the `x-netflix-discovery-replication` header, or the start-up copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// From the instance itself.
    Client,
    /// Passed on by a server.
    Replica,
}

/// `getOverriddenInstanceStatus`: the first rule that matches. `registrant` is what the registrant says of
/// itself, `existing` the status of the lease that is there.
pub(super) fn decide(
    registrant: Status,
    override_status: Option<Status>,
    existing: Option<Status>,
    origin: Origin,
) -> Status {
    let trafficable = |status| matches!(status, Status::Up | Status::OutOfService);
    match (override_status, existing) {
        _ if !trafficable(registrant) => registrant,
        (Some(status), _) => status,
        (None, Some(status)) if origin == Origin::Client && trafficable(status) => status,
        _ => registrant,
    }
}

/// `validateDirtyTimestamp`: the HTTP status of a heartbeat that did renew, from the dirty timestamps of the
/// caller and of the registered instance.
pub(super) fn heartbeat_status(incoming: WallMs, registered: WallMs, origin: Origin) -> u16 {
    match origin {
        _ if incoming > registered => 404,
        Origin::Replica if incoming < registered => 409,
        _ => 200,
    }
}

/// The idle time after which an override is forgotten (`CacheBuilder.expireAfterAccess(1, HOURS)`).
const IDLE_LIMIT: SimDuration = SimDuration::from_secs(3_600);

#[derive(Clone, Copy)]
struct Override {
    status: Status,
    accessed: SimTime,
}

/// `overriddenInstanceStatusMap`: ages by the monotonic clock, and a read makes an entry young again.
#[derive(Clone, Default)]
pub(super) struct Overrides {
    slots: Vec<Option<Override>>,
}

impl Overrides {
    /// The override of `instance`; reading it counts as access.
    pub(super) fn read(&mut self, instance: InstanceId, now: SimTime) -> Option<Status> {
        let slot = self.slots.get_mut(instance.index())?;
        let found = slot.as_mut().filter(|found| found.is_fresh(now))?;
        found.accessed = now;
        Some(found.status)
    }

    /// Whether there is one; asking is no access.
    pub(super) fn contains(&self, instance: InstanceId, now: SimTime) -> bool {
        let slot = self.slots.get(instance.index()).copied().flatten();
        slot.is_some_and(|found| found.is_fresh(now))
    }

    /// Sets an override.
    pub(super) fn put(&mut self, instance: InstanceId, status: Status, now: SimTime) {
        if self.slots.len() <= instance.index() {
            self.slots.resize(instance.index() + 1, None);
        }
        self.slots[instance.index()] = Some(Override { status, accessed: now });
    }

    /// Ends an override; says which one it was.
    pub(super) fn remove(&mut self, instance: InstanceId, now: SimTime) -> Option<Status> {
        let found = self.slots.get_mut(instance.index())?.take()?;
        found.is_fresh(now).then_some(found.status)
    }
}

impl Override {
    fn is_fresh(&self, now: SimTime) -> bool {
        now.since(self.accessed) < IDLE_LIMIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Status::{Down, OutOfService, Starting, Unknown, Up};

    #[test]
    fn down_and_starting_are_always_believed() {
        for status in [Down, Starting, Unknown] {
            assert_eq!(decide(status, Some(OutOfService), Some(Up), Origin::Client), status);
        }
    }

    #[test]
    fn an_override_beats_the_existing_lease() {
        assert_eq!(decide(Up, Some(OutOfService), Some(Up), Origin::Client), OutOfService);
        // Even one that says DOWN.
        assert_eq!(decide(Up, Some(Down), Some(Up), Origin::Client), Down);
    }

    #[test]
    fn v29_a_client_cannot_take_itself_out_by_registering() {
        assert_eq!(decide(OutOfService, None, Some(Up), Origin::Client), Up);
        assert_eq!(decide(OutOfService, None, Some(Up), Origin::Replica), OutOfService);
        // An existing lease that is DOWN does not hold it back.
        assert_eq!(decide(Up, None, Some(Down), Origin::Client), Up);
    }

    #[test]
    fn v16_v17_the_dirty_timestamp_decides_the_answer() {
        let (older, newer) = (WallMs(100), WallMs(200));
        assert_eq!(heartbeat_status(newer, older, Origin::Client), 404);
        assert_eq!(heartbeat_status(newer, older, Origin::Replica), 404);
        assert_eq!(heartbeat_status(older, newer, Origin::Client), 200);
        assert_eq!(heartbeat_status(older, newer, Origin::Replica), 409);
        assert_eq!(heartbeat_status(older, older, Origin::Replica), 200);
    }

    #[test]
    fn an_override_is_forgotten_an_hour_after_the_last_read() {
        let minutes = |minutes: u64| SimTime::from_secs(60 * minutes);
        let (one, mut overrides) = (InstanceId(1), Overrides::default());
        overrides.put(one, OutOfService, minutes(0));
        assert_eq!(overrides.read(one, minutes(59)), Some(OutOfService)); // good to 119
        assert!(overrides.contains(one, minutes(118))); // no access
        assert_eq!(overrides.read(one, minutes(119)), None); // idle for a full hour
        assert_eq!(overrides.remove(one, minutes(119)), None);
        assert_eq!(overrides.read(InstanceId(7), minutes(0)), None);
    }
}
