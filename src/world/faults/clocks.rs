//! Wall clocks that are stepped, or run faster or slower.

use super::{Begun, Cue};
use crate::engine::SimDuration;
use crate::model::id::ClientId;
use crate::scenario::{Clock, Targets};
use crate::world::World;
use crate::world::clock::Skew;

impl World<'_> {
    pub(super) fn begin_clock(
        &mut self,
        targets: &Targets,
        clock: Clock,
        length: Option<SimDuration>,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let begun = match targets {
            Targets::Servers(_) => Begun::hits_server(),
            Targets::Instances(selection) => Begun::hits(self.pick(selection, cue)),
        };
        let (fault, now) = (cue.fault, cue.now);
        self.set_clocks(targets, &begun.hit, |skew| skew.add(fault, clock, now), cue);
        let until = length.map(|length| cue.now + length);
        if let Some(until) = until {
            self.plan.end_at(until, cue);
        }
        begun.until(until)
    }

    pub(super) fn end_clock(&mut self, targets: &Targets, begun: &Begun, cue: &mut Cue<'_>) {
        let fault = cue.fault;
        self.set_clocks(targets, &begun.hit, |skew| skew.remove(fault), cue);
    }

    /// Sets the clocks of the targets, running or not. A server notices at once, as far as it ever does.
    fn set_clocks(
        &mut self,
        targets: &Targets,
        hit: &[ClientId],
        set: impl Fn(&mut Skew),
        cue: &mut Cue<'_>,
    ) {
        for client in hit {
            set(&mut self.clients[client.index()].trouble().skew);
        }
        if !targets.is_server() {
            return;
        }
        set(&mut self.server.skew);
        if let Some(client) = self.own_client {
            set(&mut self.clients[client.index()].trouble().skew);
        }
        if self.server.server.is_some() {
            self.step_server(cue.now, cue.schedule, |server, step| server.on_clock_step(step));
        }
    }
}
