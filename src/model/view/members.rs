//! The instances of a service that a view shows: what a load balancer picks from.
//!
//! Nearly all callers hold one of a few views, so a list is made once for a view and a service, and shared. A log
//! knows the instances of each application, so making it costs a look at each of those, and not at the registry.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{View, Views};
use crate::model::id::{AppId, InstanceId};

/// Lists below which none is thrown away.
const SWEPT_FROM: usize = 1_024;

/// Lists that were asked for, by view and application.
#[derive(Clone)]
pub(super) struct Members {
    lists: BTreeMap<(View, AppId), Rc<[InstanceId]>>,
    /// So many are too many.
    swept_from: usize,
}

impl Default for Members {
    fn default() -> Self {
        Self { lists: BTreeMap::new(), swept_from: SWEPT_FROM }
    }
}

impl Members {
    /// Whether there are many more than were held the last time.
    pub(super) fn are_too_many(&self) -> bool {
        self.lists.len() > self.swept_from
    }

    /// Throws away all lists but those of these views.
    pub(super) fn keep_only(&mut self, held: &BTreeSet<View>) {
        self.lists.retain(|(view, _), _| held.contains(view));
        self.swept_from = SWEPT_FROM.max(2 * self.lists.len());
    }
}

impl Views {
    /// The instances of `app` that a caller who asks `view` would be given, by number. Equal questions share one
    /// list.
    pub fn up_instances(&mut self, view: View, app: AppId) -> Rc<[InstanceId]> {
        if let Some(list) = self.members.lists.get(&(view, app)) {
            return Rc::clone(list);
        }
        let list = self.look_up(view, app);
        self.members.lists.insert((view, app), Rc::clone(&list));
        list
    }

    /// Whether any server ever held this instance. One that none did is in no view.
    pub fn was_ever_registered(&self, instance: InstanceId) -> bool {
        self.logs.iter().any(|log| log.app(instance).is_some())
    }

    fn look_up(&self, view: View, app: AppId) -> Rc<[InstanceId]> {
        if view.is_initial() {
            return Rc::from([]);
        }
        let of_the_log = self.logs[view.life as usize].instances_of(app).iter().copied();
        let of_the_overlay = self.overlay(view).iter().filter(|entry| entry.1 == app).map(|entry| entry.0);
        let mut list: Vec<InstanceId> =
            of_the_log.chain(of_the_overlay).filter(|&instance| self.is_up(view, instance)).collect();
        list.sort_unstable();
        // One of the overlay may be known to the log as well.
        list.dedup();
        Rc::from(list)
    }
}
