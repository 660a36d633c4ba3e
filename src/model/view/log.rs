//! The registry log of one server life: every change that a full answer would show, in order.
//!
//! Version `v` is the registry after the first `v` changes. Each change points at the previous change of the
//! same instance, so the state of an instance at any version is a walk of a step or two; the status counts
//! (all that the reconcile hash looks at) are kept with each change.

use std::collections::BTreeMap;

use super::{Presence, StatusCounts};
use crate::model::id::{AppId, InstanceId};

/// No change: the end of a chain.
const NONE: u32 = 0;

#[derive(Clone, Copy)]
struct Change {
    instance: InstanceId,
    presence: Presence,
    /// Version at which this instance changed before, or [`NONE`].
    previous: u32,
    /// Counts after this change.
    counts: StatusCounts,
}

/// One entry of `recentlyChangedQueue`, kept for ever so that a delta is a range of them.
#[derive(Clone, Copy)]
struct Queued {
    instance: InstanceId,
    /// The version right after the change that queued it.
    version: u32,
}

/// Everything that one server held between its start and its end.
#[derive(Clone, Default)]
pub struct RegistryLog {
    changes: Vec<Change>,
    /// Version of each instance's newest change, or [`NONE`].
    heads: Vec<u32>,
    apps: Vec<AppId>,
    /// Each application's instances, in the order in which they first came.
    by_app: Vec<Vec<InstanceId>>,
    queue: Vec<Queued>,
    /// The newest version that no queue entry announces (`eureka-server.md` 2.2, corollary).
    unannounced: u32,
    /// The versions at which an instance ceased to be UP, ascending.
    hidden: Vec<u32>,
    counts: StatusCounts,
    /// Instances held now, by application.
    held: Vec<u32>,
    /// How many instances of each application were UP: after its first change, and each time that the number changed.
    sizes: Vec<Vec<Size>>,
}

/// How many instances of an application are UP from a version on.
#[derive(Clone, Copy)]
struct Size {
    version: u32,
    up: u32,
}

impl RegistryLog {
    /// The current version.
    pub fn version(&self) -> u32 {
        self.changes.len() as u32
    }

    /// Entries ever queued for deltas.
    pub fn queued(&self) -> u32 {
        self.queue.len() as u32
    }

    /// Notes that `instance` of `app` is now `presence`. A change that changes nothing makes no version.
    pub fn put(&mut self, app: AppId, instance: InstanceId, presence: Presence) {
        let index = instance.index();
        if self.heads.len() <= index {
            self.heads.resize(index + 1, NONE);
            self.apps.resize(index + 1, AppId(u32::MAX));
        }
        if self.apps[index] != app {
            // An identity belongs to one application for good.
            self.apps[index] = app;
            if self.by_app.len() <= app.index() {
                self.by_app.resize_with(app.index() + 1, Vec::new);
            }
            self.by_app[app.index()].push(instance);
        }
        let before = self.now(instance);
        if before == presence {
            return;
        }
        self.counts.replace(before, presence);
        if self.held.len() <= app.index() {
            self.held.resize(app.index() + 1, 0);
        }
        let held = &mut self.held[app.index()];
        *held = *held + u32::from(presence != Presence::Absent) - u32::from(before != Presence::Absent);
        let previous = self.heads[index];
        self.changes.push(Change { instance, presence, previous, counts: self.counts });
        self.heads[index] = self.version();
        if before.is_up() && !presence.is_up() {
            self.hidden.push(self.version());
        }
        self.note_size(app, before, presence);
    }

    fn note_size(&mut self, app: AppId, before: Presence, after: Presence) {
        let version = self.version();
        if self.sizes.len() <= app.index() {
            self.sizes.resize_with(app.index() + 1, Vec::new);
        }
        let sizes = &mut self.sizes[app.index()];
        let was = sizes.last().map_or(0, |size| size.up);
        let up = was + u32::from(after.is_up()) - u32::from(before.is_up());
        if up != was || sizes.is_empty() {
            sizes.push(Size { version, up });
        }
    }

    /// Queues `instance` for deltas: its newest change is announced.
    pub fn announce(&mut self, instance: InstanceId) {
        self.queue.push(Queued { instance, version: self.version() });
    }

    /// Notes that the newest change is announced by no queue entry.
    pub fn leave_unannounced(&mut self) {
        self.unannounced = self.version();
    }

    /// The state of `instance` now.
    pub fn now(&self, instance: InstanceId) -> Presence {
        match self.heads.get(instance.index()) {
            Some(&head) if head != NONE => self.changes[head as usize - 1].presence,
            _ => Presence::Absent,
        }
    }

    /// The state of `instance` at `version`.
    pub fn at(&self, instance: InstanceId, version: u32) -> Presence {
        let mut change = self.heads.get(instance.index()).copied().unwrap_or(NONE);
        while change > version {
            change = self.changes[change as usize - 1].previous;
        }
        if change == NONE { Presence::Absent } else { self.changes[change as usize - 1].presence }
    }

    /// Whether the change that made `version` left its instance present; not if there is none.
    fn present_at(&self, version: u32) -> bool {
        version != NONE && self.changes[version as usize - 1].presence != Presence::Absent
    }

    /// The status counts at `version`.
    pub fn counts(&self, version: u32) -> StatusCounts {
        if version == 0 { StatusCounts::default() } else { self.changes[version as usize - 1].counts }
    }

    /// The application of an instance that was ever here.
    pub fn app(&self, instance: InstanceId) -> Option<AppId> {
        self.apps.get(instance.index()).copied().filter(|app| app.0 != u32::MAX)
    }

    /// The instances of an application that were ever here, in the order in which they first came.
    pub(super) fn instances_of(&self, app: AppId) -> &[InstanceId] {
        self.by_app.get(app.index()).map_or(&[], Vec::as_slice)
    }

    /// How many instances of `app` were UP at `version`.
    pub(super) fn up_of(&self, app: AppId, version: u32) -> u32 {
        let Some(sizes) = self.sizes.get(app.index()) else { return 0 };
        let later = sizes.partition_point(|size| size.version <= version);
        later.checked_sub(1).map_or(0, |at| sizes[at].up)
    }

    /// Whether an instance of `app` had ever been here at `version`.
    pub(super) fn knows(&self, app: AppId, version: u32) -> bool {
        let first = self.sizes.get(app.index()).and_then(|sizes| sizes.first());
        first.is_some_and(|first| first.version <= version)
    }

    /// One more than the largest application number that was ever here.
    pub(super) fn app_bound(&self) -> u32 {
        self.sizes.len() as u32
    }

    /// One more than the largest instance number that was ever here.
    pub fn instance_bound(&self) -> u32 {
        self.heads.len() as u32
    }

    /// Whether the queue range `[head, tail)` announces every change after `version`.
    pub(super) fn covers(&self, version: u32, head: u32) -> bool {
        version >= self.covered_from(head)
    }

    /// The lowest version of which a queue range that begins at `head` announces every later change.
    pub(super) fn covered_from(&self, head: u32) -> u32 {
        let purged_through = if head == 0 { 0 } else { self.queue[head as usize - 1].version };
        purged_through.max(self.unannounced)
    }

    /// The fewest instances that each of `apps` had at any version from `from` to `to`.
    pub(super) fn fewest(
        &self,
        from: u32,
        to: u32,
        apps: impl Iterator<Item = AppId>,
    ) -> impl Iterator<Item = (AppId, u32)> {
        let now = |app: AppId| (app, (self.held.get(app.index()).copied().unwrap_or(0), 0));
        let mut counts: BTreeMap<AppId, (u32, u32)> = apps.map(now).collect();
        for version in (from..=self.version()).rev() {
            if version == to {
                counts.values_mut().for_each(|(held, fewest)| *fewest = *held);
            }
            // Back over the change that made this version.
            if version == from {
                break;
            }
            let change = &self.changes[version as usize - 1];
            let before = self.present_at(change.previous);
            let app = self.apps[change.instance.index()];
            let Some((held, fewest)) = counts.get_mut(&app) else { continue };
            *held = *held + u32::from(before) - u32::from(change.presence != Presence::Absent);
            if version <= to {
                *fewest = (*held).min(*fewest);
            }
        }
        counts.into_iter().map(|(app, (_, fewest))| (app, fewest))
    }

    /// The entries of a delta in reply order: at most one an instance, the last queued one.
    pub(super) fn delta(&self, head: u32, tail: u32) -> Vec<InstanceId> {
        let mut seen = vec![false; self.heads.len()];
        let mut newest_first = Vec::new();
        for entry in self.queue[head as usize..tail as usize].iter().rev() {
            if !std::mem::replace(&mut seen[entry.instance.index()], true) {
                newest_first.push(entry.instance);
            }
        }
        newest_first.reverse();
        newest_first
    }

    /// The last state in which `instance` was present at or before `version`: what a DELETED entry shows.
    pub(super) fn last_presence(&self, instance: InstanceId, version: u32) -> Presence {
        let mut change = self.heads.get(instance.index()).copied().unwrap_or(NONE);
        while change != NONE {
            let at = &self.changes[change as usize - 1];
            if change <= version && at.presence != Presence::Absent {
                return at.presence;
            }
            change = at.previous;
        }
        Presence::Absent
    }

    /// Instances that ceased to be UP in the versions `(from, to]`, repeats included.
    pub(super) fn hidden(&self, from: u32, to: u32) -> impl Iterator<Item = InstanceId> + '_ {
        let first = self.hidden.partition_point(|&version| version <= from);
        let end = self.hidden.partition_point(|&version| version <= to);
        self.hidden[first..end.max(first)].iter().map(|&version| self.changes[version as usize - 1].instance)
    }

    /// Instances that changed in the versions `(from, to]`, newest change first, repeats included.
    pub(super) fn changed(&self, from: u32, to: u32) -> impl Iterator<Item = InstanceId> + '_ {
        self.changes[from as usize..to as usize].iter().rev().map(|change| change.instance)
    }
}
