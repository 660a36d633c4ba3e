//! What the registry stores: each service's entries and its revision.
//!
//! A heartbeat finds its entry by two looks into vectors. A sweep reads the entries of a service one after the other,
//! and they lie side by side: an entry that goes leaves its place to the last one.

use crate::model::clock::WallMs;
use crate::model::id::{AppId, InstanceId};

/// The last sign of life of an entry that was never heard of: longer ago than any time-out. In the original the field
/// is 0, a time in 1970 (`two-stage.md` 1.5).
pub(super) const NEVER: WallMs = WallMs(i64::MIN);

/// What is known of an instance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// When it was last heard of, by the registry's clock.
    pub(super) last: WallMs,
    pub(super) instance: InstanceId,
    pub(super) healthy: bool,
}

/// Where an instance's entry is.
#[derive(Clone, Copy)]
struct Place {
    app: AppId,
    /// Among those of its service, or [`Place::ABSENT`].
    at: u32,
}

impl Place {
    const ABSENT: u32 = u32::MAX;
    /// Of an instance that never was here.
    const NOWHERE: Self = Self { app: AppId(u32::MAX), at: Self::ABSENT };
}

#[derive(Clone, Default)]
struct Service {
    entries: Vec<Entry>,
    /// How many of them are healthy.
    healthy: u32,
    /// How often it has changed: 0 until its first entry comes, and then never again. A service once known is never
    /// forgotten.
    revision: u32,
}

/// All entries of all services.
#[derive(Clone, Default)]
pub(super) struct Entries {
    services: Vec<Service>,
    places: Vec<Place>,
    len: u32,
}

impl Entries {
    /// Entries of all services together.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// The services that are known, in order.
    pub(super) fn apps(&self) -> Vec<AppId> {
        let known = |app: &AppId| self.revision(*app) > 0;
        (0..self.services.len() as u32).map(AppId).filter(known).collect()
    }

    /// The entries of a service, in no order that means anything.
    pub(super) fn of(&self, app: AppId) -> &[Entry] {
        self.services.get(app.index()).map_or(&[], |service| &service.entries)
    }

    /// An instance of a known service that has no entry left: any that had one.
    pub(super) fn last_of(&self, app: AppId) -> InstanceId {
        let at = self.places.iter().position(|place| place.app == app);
        InstanceId(at.expect("a service is known by its first entry") as u32)
    }

    /// How many entries of a service are healthy.
    pub(super) fn healthy(&self, app: AppId) -> u32 {
        self.services.get(app.index()).map_or(0, |service| service.healthy)
    }

    /// How often a service has changed; 0 if nobody has heard of it.
    pub(super) fn revision(&self, app: AppId) -> u32 {
        self.services.get(app.index()).map_or(0, |service| service.revision)
    }

    /// A known service has changed once more.
    pub(super) fn bump(&mut self, app: AppId) {
        self.services[app.index()].revision += 1;
    }

    pub(super) fn find(&self, instance: InstanceId) -> Option<&Entry> {
        let &Place { app, at } = self.places.get(instance.index())?;
        if at == Place::ABSENT { None } else { Some(&self.services[app.index()].entries[at as usize]) }
    }

    /// To renew its time. Its flag goes by [`Self::set_healthy`].
    #[inline]
    pub(super) fn find_mut(&mut self, instance: InstanceId) -> Option<&mut Entry> {
        let &Place { app, at } = self.places.get(instance.index())?;
        if at == Place::ABSENT { None } else { Some(&mut self.services[app.index()].entries[at as usize]) }
    }

    /// A healthy entry that was not there.
    pub(super) fn insert(&mut self, app: AppId, instance: InstanceId, last: WallMs) {
        if self.services.len() <= app.index() {
            self.services.resize_with(app.index() + 1, Service::default);
        }
        if self.places.len() <= instance.index() {
            self.places.resize(instance.index() + 1, Place::NOWHERE);
        }
        let (service, place) = (&mut self.services[app.index()], &mut self.places[instance.index()]);
        assert_eq!(place.at, Place::ABSENT, "an instance has one entry");
        assert!(place.app.0 == u32::MAX || place.app == app, "an instance belongs to one service for good");
        *place = Place { app, at: service.entries.len() as u32 };
        service.entries.push(Entry { last, instance, healthy: true });
        service.healthy += 1;
        self.len += 1;
    }

    /// Forgets an entry; says whose it was, if it was there.
    pub(super) fn remove(&mut self, instance: InstanceId) -> Option<AppId> {
        let Place { app, at } = *self.places.get(instance.index())?;
        if at == Place::ABSENT {
            return None;
        }
        let service = &mut self.services[app.index()];
        let removed = service.entries.swap_remove(at as usize);
        service.healthy -= u32::from(removed.healthy);
        if let Some(moved) = service.entries.get(at as usize) {
            self.places[moved.instance.index()].at = at;
        }
        self.places[instance.index()].at = Place::ABSENT;
        self.len -= 1;
        Some(app)
    }

    /// Sets the flag of an entry to what it was not; says whose it is.
    pub(super) fn set_healthy(&mut self, instance: InstanceId, healthy: bool) -> AppId {
        let Place { app, at } = self.places[instance.index()];
        let service = &mut self.services[app.index()];
        let entry = &mut service.entries[at as usize];
        assert_ne!(entry.healthy, healthy, "flags are set when they change");
        entry.healthy = healthy;
        service.healthy = if healthy { service.healthy + 1 } else { service.healthy - 1 };
        app
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_goes_leaves_its_place_to_the_last() {
        assert_eq!(std::mem::size_of::<Entry>(), 16);
        let (app, mut entries) = (AppId(2), Entries::default());
        for number in 0..4 {
            entries.insert(app, InstanceId(number), WallMs(i64::from(number)));
            entries.bump(app);
        }
        entries.set_healthy(InstanceId(1), false);
        assert_eq!(entries.remove(InstanceId(1)), Some(app));
        assert_eq!(entries.remove(InstanceId(1)), None);
        assert_eq!(entries.remove(InstanceId(9)), None);
        // 3 stands where 1 stood; 0 and 2 where they were.
        let order: Vec<u32> = entries.of(app).iter().map(|entry| entry.instance.0).collect();
        assert_eq!(order, [0, 3, 2]);
        assert_eq!(entries.find_mut(InstanceId(3)).map(|entry| entry.last), Some(WallMs(3)));
        assert_eq!((entries.len(), entries.healthy(app), entries.revision(app)), (3, 3, 4));
        entries.remove(InstanceId(3));
        entries.remove(InstanceId(2));
        entries.remove(InstanceId(0));
        assert_eq!((entries.len(), entries.healthy(app)), (0, 0));
        assert_eq!(entries.apps(), [app], "a service once known is never forgotten");
        assert_eq!(entries.last_of(app), InstanceId(0));
    }
}
