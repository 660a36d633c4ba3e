//! Applying a delta to a view (`DiscoveryClient.updateDelta`, `eureka-client.md` 3.4).
//!
//! One oddity is kept (Netflix #1528): when an ADDED or MODIFIED entry meets an application that the client
//! does not hold, the delta's whole application object comes in, with entries that were DELETED and already
//! skipped. An application is not held, either, once the delta itself has deleted its last instance.

use std::collections::BTreeMap;

use super::{Applied, LifeId, Payload, Presence, View, Views};
use crate::model::id::{AppId, InstanceId};

/// Results remembered at most; past this the memory is dropped and made anew.
pub(super) const REMEMBERED_MAX: usize = 4_096;

impl Views {
    /// The local registry after `delta` was applied to `view`, and whether the hashes agree.
    pub fn apply_delta(&mut self, view: View, delta: &Payload) -> Applied {
        if view == delta.full_view() {
            // Every entry says what is already there.
            return Applied { view, hash_matches: true };
        }
        if self.moves_the_version(view, delta) {
            return Applied { view: delta.full_view(), hash_matches: true };
        }
        if let Some(&applied) = self.applied.get(&(view, *delta)) {
            return applied;
        }
        let applied = self.apply_by_instance(view, delta);
        if self.applied.len() >= REMEMBERED_MAX {
            self.applied.clear();
        }
        self.applied.insert((view, *delta), applied);
        applied
    }

    /// Whether this is the common case: the client held exactly what the server had, and the delta tells of every
    /// change since. It costs no look at the registry or at the delta's entries, but for deltas that might insert
    /// deleted ones.
    fn moves_the_version(&mut self, view: View, delta: &Payload) -> bool {
        if view.life != delta.life.0 || view.overlay != 0 || view.version > delta.version {
            return false;
        }
        if !self.logs[view.life as usize].covers(view.version, delta.queue_head) {
            return false;
        }
        !self.may_insert_deleted_entries(delta) || !self.inserts_deleted_entries(view, delta)
    }

    /// Whether some version that `delta` covers is one at which a client would insert DELETED entries: an
    /// application is deleted from before it is added to, and at some version all that it had may have been among
    /// the deleted. Asked at every fetch, so the answer is kept.
    fn may_insert_deleted_entries(&mut self, delta: &Payload) -> bool {
        if let Some(&risk) = self.risks.get(delta) {
            return risk;
        }
        let log = &self.logs[delta.life.0 as usize];
        let mut deleted_first: BTreeMap<AppId, u32> = BTreeMap::new();
        let mut at_stake: BTreeMap<AppId, u32> = BTreeMap::new();
        for (instance, presence) in self.delta_entries(delta) {
            let app = log.app(instance).expect("a queued instance was registered");
            if presence == Presence::Absent {
                *deleted_first.entry(app).or_default() += 1;
            } else if let Some(deleted) = deleted_first.get(&app) {
                at_stake.entry(app).or_insert(*deleted);
            }
        }
        let lowest = log.covered_from(delta.queue_head);
        let risk = !at_stake.is_empty()
            && log
                .fewest(lowest, delta.version, at_stake.keys().copied())
                .any(|(app, fewest)| fewest <= at_stake[&app]);
        if self.risks.len() >= REMEMBERED_MAX {
            self.risks.clear();
        }
        self.risks.insert(*delta, risk);
        risk
    }

    /// Whether a client at `view` would insert DELETED entries along with an application that it does not hold
    /// when the application's first ADDED entry comes.
    fn inserts_deleted_entries(&self, view: View, delta: &Payload) -> bool {
        let log = &self.logs[view.life as usize];
        let newcomer = log.changed(view.version, delta.version).any(|instance| {
            log.at(instance, view.version) == Presence::Absent
                && log.at(instance, delta.version) != Presence::Absent
        });
        if !newcomer {
            // An application is unknown to ADDED entries only if none of those was held before.
            return false;
        }
        let mut deleted: Vec<(AppId, InstanceId)> = Vec::new();
        let mut added: Vec<AppId> = Vec::new();
        for (instance, presence) in self.delta_entries(delta) {
            let app = log.app(instance).expect("a queued instance was registered");
            if presence == Presence::Absent {
                deleted.push((app, instance));
            } else if !added.contains(&app) {
                added.push(app);
                let skipped: Vec<_> = deleted.iter().filter(|entry| entry.0 == app).collect();
                let goes = |instance| skipped.iter().any(|entry| entry.1 == instance);
                if !skipped.is_empty() && !self.holds_another(view, app, goes) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether `view` holds an instance of `app` that does not go.
    fn holds_another(&self, view: View, app: AppId, goes: impl Fn(InstanceId) -> bool) -> bool {
        let log = &self.logs[view.life as usize];
        (0..log.instance_bound()).map(InstanceId).any(|instance| {
            log.app(instance) == Some(app)
                && log.at(instance, view.version) != Presence::Absent
                && !goes(instance)
        })
    }

    /// Every other case, step by step as the client does it.
    fn apply_by_instance(&mut self, view: View, delta: &Payload) -> Applied {
        let mut registry = self.materialise(view);
        let log = &self.logs[delta.life.0 as usize];
        let entries = self.delta_entries(delta);
        let app_of = |instance| log.app(instance).expect("a queued instance was registered");
        for (at, &(instance, presence)) in entries.iter().enumerate() {
            let app = app_of(instance);
            if presence != Presence::Absent && !registry.holds(app) {
                for &(other, state) in entries[..at].iter().filter(|&&(other, _)| app_of(other) == app) {
                    if state == Presence::Absent {
                        // With the status that it had when it was removed.
                        registry.put(other, app, log.last_presence(other, delta.version));
                    }
                }
            }
            registry.put(instance, app, presence);
        }
        let counts = registry.counts;
        let view = self.intern(&registry, delta.life, delta.version);
        Applied { view, hash_matches: counts == self.payload_counts(delta) }
    }

    fn materialise(&self, view: View) -> Materialised {
        let mut registry = Materialised::default();
        if view.is_initial() {
            return registry;
        }
        let log = &self.logs[view.life as usize];
        let overlay = self.overlay(view);
        for (instance, status) in self.instances(view) {
            let in_overlay = overlay.binary_search_by_key(&instance, |entry| entry.0);
            let app = in_overlay.ok().map(|at| overlay[at].1).or_else(|| log.app(instance));
            registry.put(instance, app.expect("held by the log or the overlay"), Presence::Present(status));
        }
        registry
    }

    /// The view that holds exactly `registry`, told as the difference to `life` at `version`.
    fn intern(&mut self, registry: &Materialised, life: LifeId, version: u32) -> View {
        let log = &self.logs[life.0 as usize];
        let bound = (log.instance_bound() as usize).max(registry.entries.len());
        let mut overlay = Vec::new();
        for index in 0..bound {
            let instance = InstanceId(index as u32);
            let (app, held) = registry.entries.get(index).copied().unwrap_or(Materialised::NOTHING);
            if held != log.at(instance, version) {
                let app = if held == Presence::Absent { log.app(instance).unwrap_or(app) } else { app };
                overlay.push((instance, app, held));
            }
        }
        View { overlay: self.overlays.number_of(&overlay), ..View::of(life, version) }
    }
}

/// A registry written out, for the rare cases.
#[derive(Default)]
struct Materialised {
    entries: Vec<(AppId, Presence)>,
    counts: super::StatusCounts,
    /// Instances held, by application.
    by_app: Vec<u32>,
}

impl Materialised {
    const NOTHING: (AppId, Presence) = (AppId(u32::MAX), Presence::Absent);

    fn put(&mut self, instance: InstanceId, app: AppId, presence: Presence) {
        if self.entries.len() <= instance.index() {
            self.entries.resize(instance.index() + 1, Self::NOTHING);
        }
        if self.by_app.len() <= app.index() {
            self.by_app.resize(app.index() + 1, 0);
        }
        let (_, before) = std::mem::replace(&mut self.entries[instance.index()], (app, presence));
        self.counts.replace(before, presence);
        self.by_app[app.index()] -= u32::from(before != Presence::Absent);
        self.by_app[app.index()] += u32::from(presence != Presence::Absent);
    }

    fn holds(&self, app: AppId) -> bool {
        self.by_app.get(app.index()).is_some_and(|&held| held > 0)
    }
}
