//! Instances that run and are not well: unhealthy, failing calls while their heartbeats go on, or with heartbeats that
//! are slow. All of it ends with the process.

use super::{Begun, Cue};
use crate::engine::{Distribution, SimDuration};
use crate::model::id::ClientId;
use crate::model::message::Status;
use crate::model::stage::EventKind;
use crate::scenario::{HealthVia, Selection};
use crate::world::World;
use crate::world::ailments::Ailment;
use crate::world::node::{Slow, State};

impl World<'_> {
    pub(super) fn begin_unhealthy(
        &mut self,
        targets: &Selection,
        via: HealthVia,
        calls_fail: f64,
        length: Option<SimDuration>,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let mut begun = self.lasting(targets, length, cue);
        for &client in &begun.hit {
            let node = &mut self.clients[client.index()];
            node.begin_failing(cue.fault, calls_fail);
            let instance = node.instance;
            begun.instances.push(instance);
            self.recorder.watch(EventKind::Unhealthy, client, instance, cue.now(), &self.views);
            self.falls_ill(instance, Ailment::Unhealthy { fault: cue.fault, via }, cue.now());
            self.health_goes(client, Status::Down, via, cue);
        }
        begun
    }

    pub(super) fn end_unhealthy(&mut self, begun: &Begun, via: HealthVia, cue: &mut Cue<'_>) {
        for (&client, &instance) in begun.hit.iter().zip(&begun.instances) {
            let node = &mut self.clients[client.index()];
            if !node.is_failing_by(cue.fault) {
                // The process that was unhealthy is gone.
                continue;
            }
            node.end_failing(cue.fault);
            self.recovers(client, instance, Ailment::Unhealthy { fault: cue.fault, via }, cue.now());
            if !self.ailments.is_unhealthy(instance, via) {
                self.health_goes(client, Status::Up, via, cue);
            }
        }
    }

    pub(super) fn begin_grey(
        &mut self,
        targets: &Selection,
        calls_fail: f64,
        length: Option<SimDuration>,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let begun = self.lasting(targets, length, cue);
        for client in &begun.hit {
            self.clients[client.index()].begin_failing(cue.fault, calls_fail);
        }
        begun
    }

    pub(super) fn end_grey(&mut self, begun: &Begun, cue: &Cue<'_>) {
        for client in &begun.hit {
            self.clients[client.index()].end_failing(cue.fault);
        }
    }

    /// A host has one disk, whatever processes come and go. It is full for as long as any fault fills it.
    pub(super) fn begin_full_disk(
        &mut self,
        targets: &Selection,
        length: Option<SimDuration>,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let begun = self.lasting(targets, length, cue);
        for client in &begun.hit {
            self.fill_disk(*client, 1);
        }
        begun
    }

    pub(super) fn end_full_disk(&mut self, begun: &Begun) {
        for client in &begun.hit {
            self.fill_disk(*client, -1);
        }
    }

    fn fill_disk(&mut self, client: ClientId, more: i32) {
        let node = &mut self.clients[client.index()];
        let full = &mut node.trouble().disk_full;
        *full = full.saturating_add_signed(more);
        let is_full = *full > 0;
        node.client.set_disk_full(is_full);
    }

    pub(super) fn begin_slow(
        &mut self,
        targets: &Selection,
        delay: Distribution,
        length: Option<SimDuration>,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let begun = self.lasting(targets, length, cue);
        let mut begun = self.with_dice(begun, None, cue);
        for (client, dice) in begun.hit.iter().zip(std::mem::take(&mut begun.dice)) {
            let slow = Slow { fault: cue.fault, delay, dice };
            self.clients[client.index()].trouble().slow.push(slow);
        }
        begun
    }

    pub(super) fn end_slow(&mut self, begun: &Begun, cue: &Cue<'_>) {
        for client in &begun.hit {
            self.clients[client.index()].trouble().slow.retain(|slow| slow.fault != cue.fault);
        }
    }

    /// Draws the targets of something that ends after `length`.
    fn lasting(&mut self, targets: &Selection, length: Option<SimDuration>, cue: &mut Cue<'_>) -> Begun {
        let until = length.map(|length| cue.now() + length);
        if let Some(until) = until {
            self.plan.end_at(until, cue);
        }
        Begun::hits(self.pick(targets, cue)).until(until)
    }

    /// A process's health changes: its handler says so when it is asked, or its application sets the status.
    fn health_goes(&mut self, client: ClientId, to: Status, via: HealthVia, cue: &mut Cue<'_>) {
        if via == HealthVia::StatusChange {
            self.set_status(client, to, cue.schedule);
        } else if self.clients[client.index()].state != State::Down {
            // Nothing is sent by that; of a process that stands still the timer does that asks.
            self.step_client(client, cue.schedule, |client, config, step| {
                client.on_health(to, config, step);
            });
        }
    }
}
