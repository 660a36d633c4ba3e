//! Wall clocks that are stepped, or run faster or slower.

use super::{Begun, Cue};
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
        cue: &mut Cue<'_>,
    ) -> Begun {
        let begun = match targets {
            Targets::Servers(which) => Begun::hits_servers(self.pick_servers(which, cue)),
            Targets::Instances(selection) => Begun::hits(self.pick(selection, cue)),
        };
        let (fault, now) = (cue.fault, cue.now());
        self.set_clocks(&begun, |skew| skew.add(fault, clock, now), cue);
        let until = length.map(|length| cue.now() + length);
        if let Some(until) = until {
            self.plan.end_at(until, cue);
        }
        begun.until(until)
    }

    pub(super) fn end_clock(&mut self, begun: &Begun, cue: &mut Cue<'_>) {
        let fault = cue.fault;
        self.set_clocks(begun, |skew| skew.remove(fault), cue);
    }

    /// Sets the clocks of the targets, running or not. A server notices at once, as far as it ever does.
    fn set_clocks(&mut self, begun: &Begun, set: impl Fn(&mut Skew), cue: &mut Cue<'_>) {
        for client in &begun.hit {
            set(&mut self.clients[client.index()].trouble().skew);
        }
        for &server in &begun.servers {
            let node = &mut self.servers[server.index()];
            set(&mut node.skew);
            let is_alive = node.server.is_some();
            if let Some(client) = node.own_client {
                set(&mut self.clients[client.index()].trouble().skew);
            }
            if is_alive {
                self.step_server(server, cue.schedule, |server, step| server.on_clock_step(step));
            }
        }
    }
}
