//! Instances that run and are not well: unhealthy, failing calls while their heartbeats go on, or with heartbeats that
//! are slow. All of it ends with the process.

use super::{ActiveFault, FaultContext};
use crate::engine::{Distribution, SimDuration};
use crate::model::id::ClientId;
use crate::model::message::Status;
use crate::model::stage::EventKind;
use crate::scenario::{HealthVia, Selection};
use crate::world::World;
use crate::world::impairments::Impairment;
use crate::world::node::{Slow, State};

impl World<'_> {
    pub(super) fn begin_unhealthy(
        &mut self,
        targets: &Selection,
        via: HealthVia,
        calls_fail: f64,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let mut active = self.lasting(targets, length, context);
        for &client in &active.hit {
            let node = &mut self.clients[client.index()];
            node.begin_failing(context.fault, calls_fail);
            let instance = node.instance;
            active.instances.push(instance);
            self.recorder.watch(EventKind::Unhealthy, client, instance, context.now(), &self.views);
            self.add_impairment(instance, Impairment::Unhealthy { fault: context.fault, via }, context.now());
            self.set_health(client, Status::Down, via, context);
        }
        active
    }

    pub(super) fn end_unhealthy(
        &mut self,
        active: &ActiveFault,
        via: HealthVia,
        context: &mut FaultContext<'_>,
    ) {
        for (&client, &instance) in active.hit.iter().zip(&active.instances) {
            let node = &mut self.clients[client.index()];
            if !node.is_failing_by(context.fault) {
                // The process that was unhealthy is gone.
                continue;
            }
            node.end_failing(context.fault);
            self.end_impairment(
                client,
                instance,
                Impairment::Unhealthy { fault: context.fault, via },
                context.now(),
            );
            if !self.impairments.is_unhealthy(instance, via) {
                self.set_health(client, Status::Up, via, context);
            }
        }
    }

    pub(super) fn begin_grey(
        &mut self,
        targets: &Selection,
        calls_fail: f64,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let active = self.lasting(targets, length, context);
        for client in &active.hit {
            self.clients[client.index()].begin_failing(context.fault, calls_fail);
        }
        active
    }

    pub(super) fn end_grey(&mut self, active: &ActiveFault, context: &FaultContext<'_>) {
        for client in &active.hit {
            self.clients[client.index()].end_failing(context.fault);
        }
    }

    /// A host has one disk, whatever processes come and go. It is full for as long as any fault fills it.
    pub(super) fn begin_full_disk(
        &mut self,
        targets: &Selection,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let active = self.lasting(targets, length, context);
        for client in &active.hit {
            self.fill_disk(*client, 1);
        }
        active
    }

    pub(super) fn end_full_disk(&mut self, active: &ActiveFault) {
        for client in &active.hit {
            self.fill_disk(*client, -1);
        }
    }

    fn fill_disk(&mut self, client: ClientId, more: i32) {
        let node = &mut self.clients[client.index()];
        let full = &mut node.node_faults().disk_full;
        *full = full.saturating_add_signed(more);
        let is_full = *full > 0;
        node.client.set_disk_full(is_full);
    }

    pub(super) fn begin_slow(
        &mut self,
        targets: &Selection,
        delay: Distribution,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let active = self.lasting(targets, length, context);
        let mut active = self.with_streams(active, None, context);
        for (client, streams) in active.hit.iter().zip(std::mem::take(&mut active.streams)) {
            let slow = Slow { fault: context.fault, delay, streams };
            self.clients[client.index()].node_faults().slow.push(slow);
        }
        active
    }

    pub(super) fn end_slow(&mut self, active: &ActiveFault, context: &FaultContext<'_>) {
        for client in &active.hit {
            self.clients[client.index()].node_faults().slow.retain(|slow| slow.fault != context.fault);
        }
    }

    /// Draws the targets of something that ends after `length`.
    fn lasting(
        &mut self,
        targets: &Selection,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let until = length.map(|length| context.now() + length);
        if let Some(until) = until {
            self.plan.end_at(until, context);
        }
        ActiveFault::hits(self.pick(targets, context)).until(until)
    }

    /// A process's health changes: its handler says so when it is asked, or its application sets the status.
    fn set_health(&mut self, client: ClientId, to: Status, via: HealthVia, context: &mut FaultContext<'_>) {
        if via == HealthVia::StatusChange {
            self.set_status(client, to, context.schedule);
        } else if self.clients[client.index()].state != State::Down {
            // Nothing is sent by that; of a process that stands still the timer does that asks.
            self.step_client(client, context.schedule, |client, config, step| {
                client.on_health(to, config, step);
            });
        }
    }
}
