//! Who is not alive and well although its process runs: whom nobody may expect to be shown. An instance may ail from
//! several things at once; it is well again when the last of them is over.

use std::collections::BTreeMap;

use super::World;
use super::node::State;
use crate::engine::SimTime;
use crate::model::fact::Fact;
use crate::model::id::{ClientId, InstanceId};
use crate::model::stage::EventKind;
use crate::scenario::HealthVia;

/// What an instance ails from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Impairment {
    /// A fault made its health go DOWN.
    Unhealthy {
        /// Which.
        fault: u32,
        /// How its client learns of it.
        via: HealthVia,
    },
    /// An operator took it out of service. Its server remembers that, whatever becomes of the process, and has one
    /// override an instance: whoever deletes it deletes it for all.
    Overridden,
    /// An operator deleted its lease; it does not know yet.
    Deleted,
}

/// Everybody that ails. Nearly always nobody.
#[derive(Clone, Default)]
pub(super) struct Impairments(BTreeMap<InstanceId, Vec<Impairment>>);

impl Impairments {
    /// Whether the instance ails from anything.
    pub(super) fn has(&self, instance: InstanceId) -> bool {
        self.0.contains_key(&instance)
    }

    /// Whether its health is DOWN, and its client learns of it that way.
    pub(super) fn is_unhealthy(&self, instance: InstanceId, told: HealthVia) -> bool {
        let mut impairments = self.0.get(&instance).into_iter().flatten();
        impairments.any(|&impairment| matches!(impairment, Impairment::Unhealthy { via, .. } if via == told))
    }

    /// The process is gone, and its health with it.
    pub(super) fn process_ended(&mut self, instance: InstanceId) {
        self.remove(instance, |impairment| matches!(impairment, Impairment::Unhealthy { .. }));
    }

    /// Takes out some ailments; whether there was one and none is left.
    fn remove(&mut self, instance: InstanceId, which: impl Fn(Impairment) -> bool) -> bool {
        let Some(impairments) = self.0.get_mut(&instance) else { return false };
        let before = impairments.len();
        impairments.retain(|&impairment| !which(impairment));
        let (is_over, removed) = (impairments.is_empty(), impairments.len() < before);
        if is_over {
            self.0.remove(&instance);
        }
        is_over && removed
    }
}

impl World<'_> {
    /// The instance begins to ail.
    pub(super) fn add_impairment(&mut self, instance: InstanceId, impairment: Impairment, now: SimTime) {
        let impairments = self.impairments.0.entry(instance).or_default();
        impairments.push(impairment);
        if impairments.len() == 1 {
            self.recorder.not_well(instance, now);
        }
    }

    /// What the process that registers as `instance` ails from is over, as far as it is `over`. If nothing is left,
    /// its recovery is watched, as long as the process takes part.
    pub(super) fn end_impairment(
        &mut self,
        client: ClientId,
        instance: InstanceId,
        over: Impairment,
        now: SimTime,
    ) {
        if !self.remove_impairments(instance, |impairment| impairment == over, now) {
            return;
        }
        let node = &self.clients[client.index()];
        if !node.stopping && node.client.is_registered() {
            self.recorder.watch(EventKind::Recovery, client, instance, now, &self.views);
        }
    }

    /// Takes out some ailments; whether the instance is well again by that.
    fn remove_impairments(
        &mut self,
        instance: InstanceId,
        which: impl Fn(Impairment) -> bool,
        now: SimTime,
    ) -> bool {
        let is_well = self.impairments.remove(instance, which) && self.is_alive(instance);
        if is_well {
            self.recorder.well_again(instance, now);
        }
        is_well
    }

    /// Whether a process registers as `instance` now.
    pub(super) fn is_alive(&self, instance: InstanceId) -> bool {
        let node = &self.clients[self.owner(instance).index()];
        node.instance == instance && node.state != State::Down
    }

    /// A registration ends what a deleted instance ails from. A server forgets an override with its lease.
    pub(super) fn update_impairments(&mut self, fact: Fact, now: SimTime) {
        if self.impairments.0.is_empty() {
            return;
        }
        match fact {
            Fact::LeaseRegistered { instance, .. } => {
                self.remove_impairments(instance, |impairment| impairment == Impairment::Deleted, now);
            }
            Fact::LeaseCancelled { instance } | Fact::LeaseEvicted { instance } => {
                self.forget_override(instance, now);
            }
            _ => {}
        }
    }

    /// A server is gone, and what it remembered of its operators with it.
    pub(super) fn overrides_are_lost(&mut self, now: SimTime) {
        for instance in self.impairments.0.keys().copied().collect::<Vec<_>>() {
            self.forget_override(instance, now);
        }
    }

    fn forget_override(&mut self, instance: InstanceId, now: SimTime) {
        if self.servers.iter().any(|node| node.overrides(instance)) {
            // Another server still holds to it.
            return;
        }
        self.remove_impairments(instance, |impairment| impairment == Impairment::Overridden, now);
    }
}
