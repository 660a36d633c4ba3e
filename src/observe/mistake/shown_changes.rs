//! Which of those that matter a change of view ceases to show, or shows again.

use crate::model::id::InstanceId;
use crate::model::view::{View, Views};

use super::wellness::Wellness;
use crate::observe::scopes::{Scope, Scopes};

/// What a change of view does to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ShownChange {
    /// A well instance is not shown any more.
    Hidden,
    /// A suspect is shown.
    Shown,
}

/// What there is to know about instances.
#[derive(Clone, Copy)]
pub(super) struct InstanceState<'a> {
    /// Who is well.
    pub(super) wellness: &'a Wellness,
    /// Who looks at whom.
    pub(super) scopes: &'a Scopes,
    /// Who is shown.
    pub(super) views: &'a Views,
}

/// The well instances of a scope that `to` ceases to show, and the suspects (`all`, `count` of them) that it shows and
/// `from` did not, by instance.
pub(super) fn turned<I: Iterator<Item = InstanceId>>(
    scope: Scope,
    (from, to): (View, View),
    InstanceState { wellness, scopes, views }: InstanceState<'_>,
    count: usize,
    is_suspect: impl Fn(InstanceId) -> bool,
    all: impl Fn() -> I,
) -> Vec<(InstanceId, ShownChange)> {
    let mut found = Vec::new();
    let mut hidden = |instance| {
        let matters = wellness.is_well(instance) && scopes.sees(scope, instance);
        if matters && views.is_up(from, instance) && !views.is_up(to, instance) {
            found.push((instance, ShownChange::Hidden));
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
            found.push((instance, ShownChange::Shown));
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
pub(super) fn turns_nobody((from, to): (View, View), views: &Views) -> bool {
    from.is_initial() || views.hidden_between(from, to).is_some_and(|mut hidden| hidden.next().is_none())
}
