//! The response cache: two tiers between the registry and whoever asks.
//!
//! ```text
//! GET ──▶ read-only (if on) ──first time for a key──▶ read-write ──absent or aged──▶ registry
//!              ▲                                          ▲
//!          T2, every 30 s                   a change removes, 180 s age
//! ```
//!
//! A change empties the read-write tier at once but never touches the read-only one, which shows it with the
//! next T2 run. A key that was once asked for stays in the read-only tier for ever. The very first request
//! for a key loads fresh data, and the answer "no such application" is cached like any other.
//!
//! Loading takes no time here, so an invalidation during a load (google/guava #1881) cannot happen. The
//! payload's `versions__delta`, which counts loads, decides nothing and is left out.
//!
//! Source: `eureka-server.md` section 5; `com.netflix.eureka.registry.ResponseCacheImpl`.

use crate::engine::{SimDuration, SimTime};
use crate::model::clock::WallMs;
use crate::model::id::AppId;
use crate::model::view::Payload;

/// What is asked for. A homogeneous fleet uses one format, so format, version and accept are not told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// `ALL_APPS`.
    AllApps,
    /// `ALL_APPS_DELTA`.
    AllAppsDelta,
    /// One application.
    App(AppId),
}

/// What was loaded for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loaded {
    /// The registry at load time.
    pub(super) payload: Payload,
    /// Whether there is such an application; true for the other keys.
    pub(super) found: bool,
}

#[derive(Clone, Copy)]
struct Entry {
    loaded: Loaded,
    loaded_at: SimTime,
}

#[derive(Clone, Default)]
struct Tier {
    all_apps: Option<Entry>,
    all_apps_delta: Option<Entry>,
    apps: Vec<Option<Entry>>,
}

/// Both tiers.
#[derive(Clone)]
pub(super) struct ResponseCache {
    read_only: Option<Tier>,
    read_write: Tier,
    /// Entries of the read-write tier are void from this age on (`expireAfterWrite`).
    expiration: SimDuration,
}

impl ResponseCache {
    /// Empty tiers.
    pub(super) fn new(use_read_only: bool, auto_expiration_s: u32) -> Self {
        Self {
            read_only: use_read_only.then(Tier::default),
            read_write: Tier::default(),
            expiration: SimDuration::from_secs(u64::from(auto_expiration_s)),
        }
    }

    /// `getValue`: what a request for `key` is answered with now.
    pub(super) fn answer(&mut self, key: Key, now: SimTime, load: impl Fn(Key) -> Loaded) -> Loaded {
        if let Some(entry) = self.read_only.as_ref().and_then(|tier| tier.entry(key)) {
            return entry.loaded;
        }
        let entry = self.through(key, now, load);
        if let Some(tier) = &mut self.read_only {
            *tier.slot(key) = Some(entry);
        }
        entry.loaded
    }

    /// The cached answer that a request for `ALL_APPS` would meet now; `None` if it would load.
    pub(super) fn cached_full(&self, now: SimTime) -> Option<Payload> {
        let read_only = self.read_only.as_ref().and_then(|tier| tier.entry(Key::AllApps));
        let entry = read_only.or_else(|| self.fresh(Key::AllApps, now))?;
        Some(entry.loaded.payload)
    }

    /// `invalidate`: a change in `app` empties the read-write tier where it matters.
    pub(super) fn invalidate(&mut self, app: AppId) {
        self.read_write.all_apps = None;
        self.read_write.all_apps_delta = None;
        if let Some(slot) = self.read_write.apps.get_mut(app.index()) {
            *slot = None;
        }
    }

    /// T2, `getCacheUpdateTask`: every key ever asked for gets what the read-write tier has, loading it there
    /// first if need be.
    pub(super) fn refresh(&mut self, now: SimTime, load: impl Fn(Key) -> Loaded) {
        let Some(tier) = &self.read_only else { return };
        let apps = (0..tier.apps.len() as u32).map(|app| Key::App(AppId(app)));
        let keys = [Key::AllApps, Key::AllAppsDelta].into_iter().chain(apps);
        let asked: Vec<Key> = keys.filter(|&key| tier.entry(key).is_some()).collect();
        for key in asked {
            let entry = self.through(key, now, &load);
            if let Some(tier) = &mut self.read_only {
                *tier.slot(key) = Some(entry);
            }
        }
    }

    /// The read-write tier's value, loaded if absent or aged.
    fn through(&mut self, key: Key, now: SimTime, load: impl Fn(Key) -> Loaded) -> Entry {
        if let Some(entry) = self.fresh(key, now) {
            return entry;
        }
        let entry = Entry { loaded: load(key), loaded_at: now };
        *self.read_write.slot(key) = Some(entry);
        entry
    }

    fn fresh(&self, key: Key, now: SimTime) -> Option<Entry> {
        self.read_write.entry(key).filter(|entry| now.since(entry.loaded_at) < self.expiration)
    }
}

impl Tier {
    fn entry(&self, key: Key) -> Option<Entry> {
        match key {
            Key::AllApps => self.all_apps,
            Key::AllAppsDelta => self.all_apps_delta,
            Key::App(app) => self.apps.get(app.index()).copied().flatten(),
        }
    }

    fn slot(&mut self, key: Key) -> &mut Option<Entry> {
        match key {
            Key::AllApps => &mut self.all_apps,
            Key::AllAppsDelta => &mut self.all_apps_delta,
            Key::App(app) => {
                if self.apps.len() <= app.index() {
                    self.apps.resize(app.index() + 1, None);
                }
                &mut self.apps[app.index()]
            }
        }
    }
}

/// The first run of T2: the next wall-clock multiple of the interval, strictly later than now
/// (`eureka-server.md` 5.4).
pub(super) fn first_refresh(now: WallMs, interval_ms: u32) -> WallMs {
    let interval = i64::from(interval_ms.max(1));
    WallMs((now.0.div_euclid(interval) + 1) * interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::view::LifeId;

    /// A registry at log version `version`.
    fn registry(version: u32) -> impl Fn(Key) -> Loaded {
        let payload = Payload { life: LifeId(0), version, queue_head: 0, queue_tail: version };
        move |key| Loaded { payload, found: !matches!(key, Key::App(app) if app.0 >= version) }
    }

    fn version(cache: &mut ResponseCache, key: Key, at_s: u64, registry_version: u32) -> u32 {
        cache.answer(key, SimTime::from_secs(at_s), registry(registry_version)).payload.version
    }

    #[test]
    fn v23_the_first_refresh_is_on_the_clocks_grid() {
        let ten_o_clock = 36_000_000;
        assert_eq!(first_refresh(WallMs(ten_o_clock), 30_000), WallMs(ten_o_clock + 30_000));
        assert_eq!(first_refresh(WallMs(ten_o_clock + 29_999), 30_000), WallMs(ten_o_clock + 30_000));
    }

    #[test]
    fn v24_read_only_waits_for_the_refresh_but_a_new_key_is_fresh() {
        let mut cache = ResponseCache::new(true, 180);
        assert_eq!(version(&mut cache, Key::AllApps, 5, 1), 1);
        cache.invalidate(AppId(0)); // at 10 s, the registry is at 2 from here on
        assert_eq!(version(&mut cache, Key::AllApps, 20, 2), 1);
        assert_eq!(version(&mut cache, Key::AllAppsDelta, 20, 2), 2);
        cache.refresh(SimTime::from_secs(30), registry(2));
        assert_eq!(version(&mut cache, Key::AllApps, 31, 2), 2);
    }

    #[test]
    fn without_read_only_a_change_shows_at_once() {
        let mut cache = ResponseCache::new(false, 180);
        assert_eq!(version(&mut cache, Key::AllApps, 5, 1), 1);
        assert_eq!(version(&mut cache, Key::AllApps, 6, 2), 1); // a change that invalidates nothing
        cache.invalidate(AppId(0));
        assert_eq!(version(&mut cache, Key::AllApps, 7, 2), 2);
    }

    #[test]
    fn an_entry_is_void_at_the_age_of_180_s() {
        let mut cache = ResponseCache::new(false, 180);
        version(&mut cache, Key::AllApps, 0, 1);
        assert_eq!(version(&mut cache, Key::AllApps, 179, 2), 1);
        assert_eq!(version(&mut cache, Key::AllApps, 180, 2), 2);
    }

    #[test]
    fn a_quiet_key_is_reloaded_by_the_sixth_refresh() {
        let mut cache = ResponseCache::new(true, 180);
        version(&mut cache, Key::AllApps, 0, 1);
        for tick in 1..=5 {
            cache.refresh(SimTime::from_secs(30 * tick), registry(2));
            assert_eq!(version(&mut cache, Key::AllApps, 30 * tick, 2), 1); // age 30 … 150 s
        }
        cache.refresh(SimTime::from_secs(180), registry(2)); // age 180 s
        assert_eq!(version(&mut cache, Key::AllApps, 180, 2), 2);
    }

    #[test]
    fn a_missing_application_stays_missing_until_the_refresh() {
        let mut cache = ResponseCache::new(true, 180);
        let app = Key::App(AppId(1)); // there from registry version 2 on
        let found = |cache: &mut ResponseCache, at_s, version| {
            cache.answer(app, SimTime::from_secs(at_s), registry(version)).found
        };
        assert!(!found(&mut cache, 5, 1));
        cache.invalidate(AppId(1));
        assert!(!found(&mut cache, 6, 2));
        cache.refresh(SimTime::from_secs(30), registry(2));
        assert!(found(&mut cache, 30, 2));
    }
}
