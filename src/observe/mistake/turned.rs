//! Which of those that matter a change of view ceases to show, or shows again.

use crate::model::id::InstanceId;
use crate::model::view::{View, Views};

use super::wellness::Wellness;

/// What a change of view does to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// A well instance is not shown any more.
    Hidden,
    /// A suspect is shown.
    Shown,
}

/// The well instances that `to` ceases to show, and the suspects (`all`, `count` of them) that it shows and `from`
/// did not, by instance.
pub(super) fn turned<I: Iterator<Item = InstanceId>>(
    from: View,
    to: View,
    views: &Views,
    wellness: &Wellness,
    count: usize,
    is_suspect: impl Fn(InstanceId) -> bool,
    all: impl Fn() -> I,
) -> Vec<(InstanceId, Turn)> {
    let mut found = Vec::new();
    let mut hidden = |instance| {
        if wellness.is_well(instance) && views.is_up(from, instance) && !views.is_up(to, instance) {
            found.push((instance, Turn::Hidden));
        }
    };
    let changes = views.changes_between(from, to);
    if let Some(candidates) = views.hidden_between(from, to) {
        candidates.for_each(&mut hidden);
    } else if changes.is_some() {
        views.changed_between(from, to).for_each(&mut hidden);
    } else if !from.is_initial() {
        wellness.all_well().for_each(&mut hidden);
    }
    let mut shown = |instance| {
        if views.is_up(to, instance) && !views.is_up(from, instance) {
            found.push((instance, Turn::Shown));
        }
    };
    if changes.is_some_and(|changes| (changes as usize) < count) {
        views.changed_between(from, to).filter(|&instance| is_suspect(instance)).for_each(&mut shown);
    } else {
        all().for_each(&mut shown);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a change of view can be seen at a glance to turn nobody, if there are no suspects.
pub(super) fn turns_nobody(from: View, to: View, views: &Views) -> bool {
    from.is_initial() || views.hidden_between(from, to).is_some_and(|mut hidden| hidden.next().is_none())
}
