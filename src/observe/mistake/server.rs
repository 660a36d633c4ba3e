//! A server's own mistakes: well instances that one of its stages ceases to show.

use std::collections::BTreeMap;

use super::rows::{Made, MistakeRows, Tally};
use super::shown_changes::{InstanceState, ShownChange, turned};
use crate::engine::SimTime;
use crate::model::id::{InstanceId, ServerId};
use crate::model::view::View;
use crate::observe::data::Removal;
use crate::observe::scopes::EVERYTHING;
use crate::observe::servers::STAGES;

/// The mistakes of one server.
#[derive(Clone)]
pub(super) struct ServerMistakes {
    server: ServerId,
    /// By stage: who is not shown although alive and well, since when, and how that came.
    open: [BTreeMap<InstanceId, (SimTime, Removal)>; STAGES.len()],
    tallies: [Tally; STAGES.len()],
}

impl ServerMistakes {
    /// None yet.
    pub(super) fn new(server: ServerId) -> Self {
        Self { server, open: Default::default(), tallies: Default::default() }
    }

    /// Whose they are.
    pub(super) fn server(&self) -> ServerId {
        self.server
    }

    /// The stage of this number changed; `removal` says what takes away whoever is gone.
    pub(super) fn changed(
        &mut self,
        stage: usize,
        change: (View, View),
        removal: Removal,
        now: SimTime,
        known: InstanceState<'_>,
        rows: &mut MistakeRows,
    ) {
        let suspects = &self.open[stage];
        let is_suspect = |instance| suspects.contains_key(&instance);
        let all = || suspects.keys().copied();
        for (instance, turn) in turned(EVERYTHING, change, known, suspects.len(), is_suspect, all) {
            match turn {
                ShownChange::Hidden => {
                    self.open[stage].insert(instance, (now, removal));
                    self.tallies[stage].mistakes += 1;
                }
                ShownChange::Shown => self.end(stage, instance, true, now, rows),
            }
        }
    }

    /// The instance is not well any more: what was a mistake is none now.
    pub(super) fn not_well(&mut self, instance: InstanceId, now: SimTime, rows: &mut MistakeRows) {
        (0..STAGES.len()).for_each(|stage| self.end(stage, instance, false, now, rows));
    }

    fn end(
        &mut self,
        stage: usize,
        instance: InstanceId,
        corrected: bool,
        now: SimTime,
        rows: &mut MistakeRows,
    ) {
        let Some((since, removal)) = self.open[stage].remove(&instance) else { return };
        let made =
            Made { stage: STAGES[stage], server: Some(self.server), removal, since, until: now, corrected };
        self.tallies[stage].end(&made, 1);
        rows.push(&made, instance, 1, 1);
    }

    /// Mistakes that last.
    pub(super) fn open(&self) -> usize {
        self.open.iter().map(BTreeMap::len).sum()
    }

    /// How many there were at a stage, and how long they lasted.
    pub(super) fn tally(&self, stage: usize) -> &Tally {
        &self.tallies[stage]
    }
}
