//! What clients hold, without a copy for each of them.
//!
//! Nearly every client holds a registry that its server itself once had. So a server keeps a
//! [`RegistryLog`], and a client's local registry is a [`View`]: a server life, a version of its log, and now
//! and then a small overlay of instances that differ. A full answer is a version; a delta is a version and a
//! range of the change queue. Applying a delta that covers everything since the old version just moves the
//! version; every other case is computed exactly, instance by instance, as the client itself would do it, and
//! the result is remembered for all clients in the same situation. What a client holds is always exactly what
//! it would have computed itself, wrong views that the hash does not notice included.
//!
//! A consumer that asks service by service mixes versions (`mixed`); what an answer would take from whom, `services`
//! knows.
//!
//! Sources: `eureka-server.md` 5.7, 5.8, 6; `eureka-client.md` 3.2 to 3.6.

mod apply;
mod diff;
mod log;
mod members;
mod mixed;
mod overlay;
mod services;

use super::id::{AppId, InstanceId};
use super::message::Status;
pub use log::RegistryLog;
use members::Members;
use overlay::{Overlay, Overlays};
pub use services::Loss;
use std::collections::{BTreeMap, BTreeSet};

/// Whether an instance is in a registry, and with which status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Presence {
    /// Not there.
    Absent,
    /// There, with this status.
    Present(Status),
}

impl Presence {
    /// Whether a caller would be sent there: present and UP.
    pub const fn is_up(self) -> bool {
        matches!(self, Self::Present(Status::Up))
    }
}

/// Instances by status: all that `appsHashCode` tells apart (`Applications.getReconcileHashCode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StatusCounts([u32; 5]);

impl StatusCounts {
    /// The number of instances with `status`.
    pub const fn of(&self, status: Status) -> u32 {
        self.0[status as usize]
    }

    /// All instances.
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Counts one instance out as `before` and in as `after`.
    pub fn replace(&mut self, before: Presence, after: Presence) {
        if let Presence::Present(status) = before {
            self.0[status as usize] -= 1;
        }
        if let Presence::Present(status) = after {
            self.0[status as usize] += 1;
        }
    }

    /// The hash as it stands in a payload: `DOWN_1_UP_6_`; empty for an empty registry.
    pub fn reconcile_hash(&self) -> String {
        Status::ALL
            .iter()
            .filter(|&&status| self.of(status) > 0)
            .map(|&status| format!("{}_{}_", status.name(), self.of(status)))
            .collect()
    }
}

/// The number of one server life's log in [`Views`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LifeId(pub u32);

/// What a cache entry of `ALL_APPS` or `ALL_APPS_DELTA` holds: the registry when it was built and, for the
/// delta, the part of the change queue that was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Payload {
    /// Whose registry.
    pub life: LifeId,
    /// Log version at build time.
    pub version: u32,
    /// First queue entry of the delta.
    pub queue_head: u32,
    /// One past the last queue entry of the delta.
    pub queue_tail: u32,
}

/// A local registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View {
    life: u32,
    version: u32,
    overlay: u32,
}

impl View {
    const NO_LIFE: u32 = u32::MAX;

    /// The empty registry that a client starts with.
    pub const EMPTY: Self = Self { life: Self::NO_LIFE, version: 0, overlay: 0 };

    /// The registry of `life` at `version`.
    pub const fn of(life: LifeId, version: u32) -> Self {
        Self { life: life.0, version, overlay: 0 }
    }

    /// The life that it is told of: whose answer was stored last. `None` if nothing ever was.
    pub const fn life(self) -> Option<LifeId> {
        if self.is_initial() { None } else { Some(LifeId(self.life)) }
    }

    /// Whether nothing was ever stored here (cache version −1).
    pub const fn is_initial(self) -> bool {
        self.life == Self::NO_LIFE
    }
}

impl Payload {
    /// What a client holds that stored this as a full answer.
    pub const fn full_view(&self) -> View {
        View::of(self.life, self.version)
    }
}

/// What came of applying a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The local registry afterwards.
    pub view: View,
    /// Whether its reconcile hash equals the delta's.
    pub hash_matches: bool,
}

/// All server lives' logs and all overlays of one run.
#[derive(Clone, Default)]
pub struct Views {
    logs: Vec<RegistryLog>,
    overlays: Overlays,
    applied: BTreeMap<(View, Payload), Applied>,
    /// Whether a delta may insert deleted entries anywhere.
    risks: BTreeMap<Payload, bool>,
    /// Whether the second, taken for all that there is, would take so much from some service of the first.
    losses: BTreeMap<(View, View, Loss), bool>,
    /// The first with one service as in the second.
    mixed: BTreeMap<(View, AppId, View), View>,
    members: Members,
}

impl Views {
    /// Starts the log of a new server life.
    pub fn begin_life(&mut self) -> LifeId {
        self.logs.push(RegistryLog::default());
        LifeId(self.logs.len() as u32 - 1)
    }

    /// The log of `life`.
    pub fn log(&self, life: LifeId) -> &RegistryLog {
        &self.logs[life.0 as usize]
    }

    /// The log of `life`, to write to.
    pub fn log_mut(&mut self, life: LifeId) -> &mut RegistryLog {
        &mut self.logs[life.0 as usize]
    }

    /// The state of `instance` in `view`.
    pub fn presence(&self, view: View, instance: InstanceId) -> Presence {
        if view.is_initial() {
            return Presence::Absent;
        }
        if view.overlay != 0 {
            let overlay = self.overlay(view);
            if let Ok(at) = overlay.binary_search_by_key(&instance, |entry| entry.0) {
                return overlay[at].2;
            }
        }
        self.logs[view.life as usize].at(instance, view.version)
    }

    /// Whether a caller that asks `view` would be given `instance`.
    pub fn is_up(&self, view: View, instance: InstanceId) -> bool {
        self.presence(view, instance).is_up()
    }

    /// Instances of `view` by status.
    pub fn counts(&self, view: View) -> StatusCounts {
        if view.is_initial() {
            return StatusCounts::default();
        }
        let log = &self.logs[view.life as usize];
        let mut counts = log.counts(view.version);
        for &(instance, _, presence) in self.overlay(view) {
            counts.replace(log.at(instance, view.version), presence);
        }
        counts
    }

    /// The status counts that a payload's `apps__hashcode` was made of.
    pub fn payload_counts(&self, payload: &Payload) -> StatusCounts {
        self.logs[payload.life.0 as usize].counts(payload.version)
    }

    /// The instances that a delta lists, in reply order, each with its state at build time: absent means
    /// DELETED, present ADDED or MODIFIED, which clients treat alike.
    pub fn delta_entries(&self, delta: &Payload) -> Vec<(InstanceId, Presence)> {
        let log = &self.logs[delta.life.0 as usize];
        let entry = |instance| (instance, log.at(instance, delta.version));
        log.delta(delta.queue_head, delta.queue_tail).into_iter().map(entry).collect()
    }

    /// All instances of `view`, by number.
    pub fn instances(&self, view: View) -> Vec<(InstanceId, Status)> {
        (0..self.instance_bound(view))
            .map(InstanceId)
            .filter_map(|instance| match self.presence(view, instance) {
                Presence::Present(status) => Some((instance, status)),
                Presence::Absent => None,
            })
            .collect()
    }

    /// Whether views that nobody holds any more take up so much that [`Self::keep_only`] is worth its time.
    pub fn are_too_many(&self) -> bool {
        self.overlays.are_too_many() || self.members.are_too_many()
    }

    /// Forgets every view with an overlay that is none of `held`, and every list of a view that is none of them.
    /// It must name all views with an overlay that will be asked about.
    pub fn keep_only(&mut self, held: impl Iterator<Item = View>) {
        let held: BTreeSet<View> = held.collect();
        self.applied.clear();
        self.losses.clear();
        self.mixed.clear();
        self.overlays.keep_only(&held.iter().map(|view| view.overlay).collect());
        self.members.keep_only(&held);
    }

    /// One more than the largest number of an instance that `view` may show.
    fn instance_bound(&self, view: View) -> u32 {
        let bound = if view.is_initial() { 0 } else { self.logs[view.life as usize].instance_bound() };
        let overlay = self.overlay(view).last().map_or(0, |last| last.0.0 + 1);
        bound.max(overlay)
    }

    fn overlay(&self, view: View) -> &Overlay {
        self.overlays.get(view.overlay)
    }
}

#[cfg(test)]
mod tests;
