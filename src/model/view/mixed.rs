//! Views of consumers that ask service by service: each service as it was when it was last heard of.
//!
//! Such a view rests on the newest version that it has heard of, and its overlay holds the other services where that
//! version shows them otherwise. So it is a plain version again as soon as it is up to date with all that has changed;
//! that is nearly always, since what changes is mostly one service at a time.

use std::collections::BTreeSet;

use super::apply::REMEMBERED_MAX;
use super::{View, Views};
use crate::model::id::{AppId, InstanceId};

impl Views {
    /// The view that shows `app` as `source` does, and everything else as `view` does. With [`View::EMPTY`] as source
    /// the service has no instance.
    ///
    /// # Panics
    /// If `source` has an overlay.
    pub fn with_service(&mut self, view: View, app: AppId, source: View) -> View {
        assert!(source.overlay == 0, "an answer is a version");
        if view == source {
            return view;
        }
        if let Some(&mixed) = self.mixed.get(&(view, app, source)) {
            return mixed;
        }
        let mixed = self.mix(view, app, source);
        if self.mixed.len() >= REMEMBERED_MAX {
            self.mixed.clear();
        }
        self.mixed.insert((view, app, source), mixed);
        mixed
    }

    fn mix(&mut self, view: View, app: AppId, source: View) -> View {
        let base = newer(View { overlay: 0, ..view }, source);
        let mut overlay = Vec::new();
        for instance in self.may_differ(view, app, source) {
            let of = self.app_of(instance, [view, source]);
            let from = if of == app { source } else { view };
            let presence = self.presence(from, instance);
            if presence != self.presence(base, instance) {
                overlay.push((instance, of, presence));
            }
        }
        View { overlay: self.overlays.number_of(&overlay), ..base }
    }

    /// The instances in which the mixed view may differ from the version that it rests on.
    fn may_differ(&self, view: View, app: AppId, source: View) -> BTreeSet<InstanceId> {
        let plain = View { overlay: 0, ..view };
        let of_the_overlay = self.overlay(view).iter().map(|entry| entry.0);
        if self.changes_between(plain, source).is_some() {
            return self.changed_between(plain, source).chain(of_the_overlay).collect();
        }
        if source.is_initial() && !view.is_initial() {
            let of_the_service = self.logs[view.life as usize].instances_of(app).iter().copied();
            return of_the_service.chain(of_the_overlay).collect();
        }
        (0..self.instance_bound(view).max(self.instance_bound(source))).map(InstanceId).collect()
    }

    /// The service of an instance that one of `views` may show.
    fn app_of(&self, instance: InstanceId, views: [View; 2]) -> AppId {
        let in_logs =
            views.into_iter().filter_map(|view| view.life()).find_map(|life| self.log(life).app(instance));
        let in_overlay = || {
            let overlay = self.overlay(views[0]);
            overlay.binary_search_by_key(&instance, |entry| entry.0).ok().map(|at| overlay[at].1)
        };
        in_logs.or_else(in_overlay).unwrap_or(NO_APP)
    }
}

/// That of a number which no view knows.
const NO_APP: AppId = AppId(u32::MAX);

/// Of two plain views the one of the later life, or the later version of the same.
fn newer(one: View, other: View) -> View {
    match (one.life(), other.life()) {
        (None, _) => other,
        (_, None) => one,
        (Some(a), Some(b)) => {
            if (a, one.version) >= (b, other.version) {
                one
            } else {
                other
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::Status;
    use crate::model::view::{LifeId, Presence};

    const UP: Presence = Presence::Present(Status::Up);

    fn put(views: &mut Views, life: LifeId, app: u32, instance: u32, presence: Presence) -> View {
        views.log_mut(life).put(AppId(app), InstanceId(instance), presence);
        View::of(life, views.log(life).version())
    }

    fn shown(views: &Views, view: View) -> Vec<u32> {
        views.instances(view).into_iter().map(|(instance, _)| instance.0).collect()
    }

    #[test]
    fn a_view_that_has_heard_of_all_changes_is_a_plain_version() {
        let mut views = Views::default();
        let life = views.begin_life();
        put(&mut views, life, 0, 0, UP);
        let before = put(&mut views, life, 1, 1, UP);
        let after = put(&mut views, life, 0, 2, UP);
        assert_eq!(views.with_service(before, AppId(0), after), after);
        // Heard of service 1 only, which has not changed: service 0 stays as it was.
        let behind = views.with_service(before, AppId(1), after);
        assert_eq!(shown(&views, behind), [0, 1]);
        assert_eq!(views.with_service(behind, AppId(0), after), after);
    }

    #[test]
    fn an_older_list_changes_its_own_service_only() {
        let mut views = Views::default();
        let life = views.begin_life();
        let old = put(&mut views, life, 0, 0, UP);
        put(&mut views, life, 1, 1, UP);
        let now = put(&mut views, life, 0, 0, Presence::Absent);
        let stale = views.with_service(now, AppId(0), old);
        assert_eq!(shown(&views, stale), [0, 1]); // the ghost is back, service 1 as new as it was
        assert_eq!(views.with_service(stale, AppId(0), now), now);
        assert_eq!((views.up_of(stale, AppId(0)), views.up_of(stale, AppId(1))), (1, 1));
    }

    #[test]
    fn the_first_services_come_one_by_one() {
        let mut views = Views::default();
        let life = views.begin_life();
        put(&mut views, life, 0, 0, UP);
        let now = put(&mut views, life, 1, 1, UP);
        let half = views.with_service(View::EMPTY, AppId(1), now);
        assert_eq!(shown(&views, half), [1]);
        assert_eq!(views.with_service(half, AppId(0), now), now);
    }

    #[test]
    fn a_service_without_instances_is_empty_and_nothing_else() {
        let mut views = Views::default();
        let life = views.begin_life();
        put(&mut views, life, 0, 0, UP);
        let now = put(&mut views, life, 1, 1, UP);
        let without = views.with_service(now, AppId(0), View::EMPTY);
        assert_eq!(shown(&views, without), [1]);
        assert_eq!(views.with_service(without, AppId(0), now), now);
        assert_eq!(views.with_service(View::EMPTY, AppId(0), View::EMPTY), View::EMPTY);
    }

    #[test]
    fn lives_mix_until_the_newest_has_told_of_everything() {
        let mut views = Views::default();
        let [one, two] = [views.begin_life(), views.begin_life()];
        put(&mut views, one, 0, 0, UP);
        let before = put(&mut views, one, 1, 1, UP);
        put(&mut views, two, 1, 3, UP);
        let after = put(&mut views, two, 0, 2, UP);
        let mixed = views.with_service(before, AppId(0), after);
        assert_eq!(shown(&views, mixed), [1, 2]);
        // A push of the earlier life that was late.
        let back = views.with_service(mixed, AppId(0), before);
        assert_eq!(shown(&views, back), [0, 1]);
        assert_eq!(views.with_service(mixed, AppId(1), after), after);
    }
}
