//! In what two views may differ, without a look at all that they have in common.
//!
//! Nearly always both are versions of one log, and what lies between them is a handful of changes. Whoever asks
//! gets those; of any other two views it is only known that they may differ in everything.

use super::{View, Views};
use crate::model::id::InstanceId;

impl Views {
    /// Between how many changes of one log `a` and `b` lie; `None` unless both are plain versions of one life.
    pub fn changes_between(&self, a: View, b: View) -> Option<u32> {
        let plain = a.life == b.life && !a.is_initial() && a.overlay == 0 && b.overlay == 0;
        plain.then(|| a.version.abs_diff(b.version))
    }

    /// The instances of these changes, repeats included: all in which `a` and `b` may differ.
    ///
    /// # Panics
    /// Unless both are plain versions of one life.
    pub fn changed_between(&self, a: View, b: View) -> impl Iterator<Item = InstanceId> + '_ {
        assert!(self.changes_between(a, b).is_some(), "two versions of one log");
        let (from, to) = (a.version.min(b.version), a.version.max(b.version));
        self.logs[a.life as usize].changed(from, to)
    }

    /// All instances that `from` may show and `to` does not, repeats and others included; `None` unless `to` is
    /// a later plain version of the same life.
    pub fn hidden_between(&self, from: View, to: View) -> Option<impl Iterator<Item = InstanceId> + '_> {
        self.changes_between(from, to)?;
        (from.version <= to.version).then(|| self.logs[from.life as usize].hidden(from.version, to.version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::AppId;
    use crate::model::message::Status;
    use crate::model::view::Presence;

    #[test]
    fn versions_of_one_log_differ_in_the_changes_between_them() {
        let mut views = Views::default();
        let [one, other] = [views.begin_life(), views.begin_life()];
        let up = Presence::Present(Status::Up);
        for (instance, presence) in [(0, up), (1, up), (0, Presence::Present(Status::Down)), (2, up)] {
            views.log_mut(one).put(AppId(0), InstanceId(instance), presence);
        }
        let at = |version| View::of(one, version);
        let changed: Vec<_> = views.changed_between(at(4), at(1)).map(|instance| instance.0).collect();
        assert_eq!(changed, [2, 0, 1]); // newest first
        assert_eq!(views.changes_between(at(4), at(1)), Some(3));
        let hidden = |from, to| views.hidden_between(from, to).map(|hidden| hidden.collect::<Vec<_>>());
        assert_eq!(hidden(at(1), at(4)), Some(vec![InstanceId(0)])); // version 3
        assert_eq!(hidden(at(3), at(4)), Some(vec![]));
        assert_eq!(hidden(at(4), at(1)), None);
        for stranger in [View::EMPTY, View::of(other, 0)] {
            assert_eq!(views.changes_between(at(1), stranger), None);
        }
        assert_eq!(views.changes_between(View::EMPTY, View::EMPTY), None);
    }
}
