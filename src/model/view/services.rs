//! How much of a service a view shows, and what of it an answer would take away.
//!
//! A log keeps how many instances of each service were UP after each of its changes, so a question about one service is
//! a search in a list of numbers, whatever the size of the registry. A question about a whole answer looks at the
//! services in which it differs; thousands of consumers ask it at once, so what came out is remembered.

use super::apply::REMEMBERED_MAX;
use super::{Payload, View, Views};
use crate::model::id::{AppId, InstanceId};

/// How much a service must lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// It would be missing, or show fewer than half of the instances that it shows.
    MoreThanHalf,
    /// It shows instances, and would show none.
    All,
}

impl Views {
    /// How many instances of `app` a caller who asks `view` would be given.
    pub fn up_of(&self, view: View, app: AppId) -> u32 {
        if view.is_initial() {
            return 0;
        }
        let log = &self.logs[view.life as usize];
        let mut up = log.up_of(app, view.version);
        for &(instance, _, presence) in self.overlay(view).iter().filter(|entry| entry.1 == app) {
            up = up + u32::from(presence.is_up()) - u32::from(log.at(instance, view.version).is_up());
        }
        up
    }

    /// Whether `payload`, taken for all that there is, would take so much from some service of `view`. A service is
    /// one of `view` if the server life knew it, even if it shows no instance.
    pub fn would_lose(&mut self, view: View, payload: &Payload, loss: Loss) -> bool {
        let offered = payload.full_view();
        if view == offered || view.is_initial() {
            return false;
        }
        if let Some(&loses) = self.losses.get(&(view, offered, loss)) {
            return loses;
        }
        let loses = self.some_service_loses(view, offered, loss);
        if self.losses.len() >= REMEMBERED_MAX {
            self.losses.clear();
        }
        self.losses.insert((view, offered, loss), loses);
        loses
    }

    /// Whether a caller who asks either view would be given the same instances.
    pub fn show_the_same(&self, one: View, other: View) -> bool {
        if one == other {
            return true;
        }
        let same = |instance| self.is_up(one, instance) == self.is_up(other, instance);
        if self.changes_between(one, other).is_some() {
            return self.changed_between(one, other).all(same);
        }
        (0..self.instance_bound(one).max(self.instance_bound(other))).map(InstanceId).all(same)
    }

    fn some_service_loses(&self, view: View, offered: View, loss: Loss) -> bool {
        let log = &self.logs[view.life as usize];
        let loses = |app| self.service_loses(view, offered, app, loss);
        match self.changes_between(view, offered) {
            // Only services with a change can have lost anything.
            Some(changes) if changes < log.app_bound() => self
                .changed_between(view, offered)
                .any(|instance| loses(log.app(instance).expect("what changed was registered"))),
            _ => {
                let of_the_overlay = self.overlay(view).iter().map(|entry| entry.1);
                (0..log.app_bound()).map(AppId).chain(of_the_overlay).any(loses)
            }
        }
    }

    fn service_loses(&self, view: View, offered: View, app: AppId, loss: Loss) -> bool {
        let (shown, listed) = (self.up_of(view, app), self.up_of(offered, app));
        match loss {
            Loss::MoreThanHalf => {
                let is_known = shown > 0 || self.logs[view.life as usize].knows(app, view.version);
                let is_missing = !self.logs[offered.life as usize].knows(app, offered.version);
                is_known && (is_missing || 2 * u64::from(listed) < u64::from(shown))
            }
            Loss::All => shown > 0 && listed == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::Status;
    use crate::model::view::{LifeId, Presence};

    const UP: Presence = Presence::Present(Status::Up);
    const DOWN: Presence = Presence::Present(Status::Down);

    fn payload(life: LifeId, version: u32) -> Payload {
        Payload { life, version, queue_head: 0, queue_tail: 0 }
    }

    /// Versions 1 to 4: four instances of service 0; 5: one of service 1; 6 and 7: two of service 0 go, one marked,
    /// one removed; 8: a third; 9: the one of service 1.
    fn history() -> (Views, LifeId) {
        let mut views = Views::default();
        let life = views.begin_life();
        let log = views.log_mut(life);
        for (app, instance, presence) in [
            (0, 0, UP),
            (0, 1, UP),
            (0, 2, UP),
            (0, 3, UP),
            (1, 4, UP),
            (0, 0, DOWN),
            (0, 1, Presence::Absent),
            (0, 2, Presence::Absent),
            (1, 4, DOWN),
        ] {
            log.put(AppId(app), InstanceId(instance), presence);
        }
        (views, life)
    }

    #[test]
    fn a_service_shows_what_is_up() {
        let (views, life) = history();
        let shown = |version| [0, 1].map(|app| views.up_of(View::of(life, version), AppId(app)));
        assert_eq!([0, 3, 5, 6, 8, 9].map(shown), [[0, 0], [3, 0], [4, 1], [3, 1], [1, 1], [1, 0]]);
        assert_eq!(views.up_of(View::EMPTY, AppId(0)), 0);
        assert_eq!(views.up_of(View::of(life, 9), AppId(7)), 0);
    }

    #[test]
    fn exactly_half_is_accepted_and_one_less_is_not() {
        let (mut views, life) = history();
        let mut loses =
            |from, to| views.would_lose(View::of(life, from), &payload(life, to), Loss::MoreThanHalf);
        assert!(!loses(5, 7)); // 2 · 2 < 4 is false
        assert!(loses(5, 8)); // 2 · 1 < 4
        assert!(!loses(7, 8)); // 2 · 1 < 2 is false
        assert!(loses(8, 9)); // 2 · 0 < 1: the last instance never goes
        assert!(!loses(1, 5)); // growth
        assert!(loses(5, 4)); // service 1 is missing
    }

    #[test]
    fn a_service_that_was_never_heard_of_is_missing_though_it_showed_nothing() {
        let (mut views, life) = history();
        let next = views.begin_life();
        views.log_mut(next).put(AppId(0), InstanceId(0), UP);
        let mut loses = |loss| views.would_lose(View::of(life, 9), &payload(next, 1), loss);
        assert!(loses(Loss::MoreThanHalf)); // service 1, with no instance, is not in the answer at all
        assert!(!loses(Loss::All));
        views.log_mut(next).put(AppId(1), InstanceId(4), DOWN);
        assert!(!views.would_lose(View::of(life, 9), &payload(next, 2), Loss::MoreThanHalf));
    }

    #[test]
    fn all_is_lost_when_a_service_that_showed_instances_shows_none() {
        let (mut views, life) = history();
        let mut loses = |from, to| views.would_lose(View::of(life, from), &payload(life, to), Loss::All);
        assert!(!loses(5, 8));
        assert!(loses(5, 9));
        assert!(!loses(4, 9) && !loses(9, 9));
    }

    #[test]
    fn views_may_differ_and_show_the_same() {
        let (mut views, life) = history();
        let at = |version| View::of(life, version);
        views.log_mut(life).put(AppId(0), InstanceId(0), Presence::Absent); // 10: what was hidden is removed
        assert!(views.show_the_same(at(9), at(10)) && views.show_the_same(at(3), at(3)));
        assert!(!views.show_the_same(at(8), at(9)));
        let next = views.begin_life();
        assert!(views.show_the_same(View::EMPTY, View::of(next, 0)));
        views.log_mut(next).put(AppId(0), InstanceId(3), UP);
        assert!(views.show_the_same(at(10), View::of(next, 1))); // instance 3 is the only one left
        assert!(!views.show_the_same(at(8), View::of(next, 1)));
    }
}
