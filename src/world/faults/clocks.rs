//! Wall clocks that are stepped, or run faster or slower.

use super::{ActiveFault, FaultContext};
use crate::engine::SimDuration;
use crate::scenario::{Clock, Targets};
use crate::world::World;
use crate::world::clock::Skew;

impl World<'_> {
    pub(super) fn begin_clock(
        &mut self,
        targets: &Targets,
        clock: Clock,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let active = match targets {
            Targets::Servers(which) => ActiveFault::hits_servers(self.pick_servers(which, context)),
            Targets::Instances(selection) => ActiveFault::hits(self.pick(selection, context)),
        };
        let (fault, now) = (context.fault, context.now());
        self.set_clocks(&active, |skew| skew.add(fault, clock, now), context);
        let until = length.map(|length| context.now() + length);
        if let Some(until) = until {
            self.plan.end_at(until, context);
        }
        active.until(until)
    }

    pub(super) fn end_clock(&mut self, active: &ActiveFault, context: &mut FaultContext<'_>) {
        let fault = context.fault;
        self.set_clocks(active, |skew| skew.remove(fault), context);
    }

    /// Sets the clocks of the targets, running or not. A server notices at once, as far as it ever does.
    fn set_clocks(&mut self, active: &ActiveFault, set: impl Fn(&mut Skew), context: &mut FaultContext<'_>) {
        for client in &active.hit {
            set(&mut self.clients[client.index()].node_faults().skew);
        }
        for &server in &active.servers {
            let node = &mut self.servers[server.index()];
            set(&mut node.skew);
            let is_alive = node.server.is_some();
            if let Some(client) = node.own_client {
                set(&mut self.clients[client.index()].node_faults().skew);
            }
            if is_alive {
                self.step_server(server, context.schedule, |server, step| server.on_clock_step(step));
            }
        }
    }
}
