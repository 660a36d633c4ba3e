//! Links that break, flap or get bad.
//!
//! A fault's targets and their peers may be instances or servers. What is between a client and a server, or between
//! two servers, has a [`LinkEnd`] for each link that is hit; what is between instances is a [`InstanceLinkFault`].

use super::{ActiveFault, FaultContext, HOW_LONG, PairedStep, WHEN};
use crate::engine::SimDuration;
use crate::model::id::{ClientId, ServerId};
use crate::scenario::{Direction, FaultKind, Peer, Targets};
use crate::world::World;
use crate::world::fabric::{Degradation, Host, Route};
use crate::world::link_faults::InstanceLinkFault;

/// A link to a server, from the side of a target.
#[derive(Clone, Copy)]
pub(super) struct LinkEnd {
    route: Route,
    /// Whether the target is the server that is called, so that what it sends are answers.
    answers: bool,
}

impl LinkEnd {
    /// A fault's direction, which is told from its targets' side, as the link's.
    const fn of_link(self, direction: Direction) -> Direction {
        match (direction, self.answers) {
            (Direction::Both, _) => Direction::Both,
            (Direction::ToServer, false) | (Direction::FromServer, true) => Direction::ToServer,
            (Direction::FromServer, false) | (Direction::ToServer, true) => Direction::FromServer,
        }
    }
}

impl World<'_> {
    pub(super) fn begin_partition(
        &mut self,
        targets: &Targets,
        peer: &Peer,
        length: Option<SimDuration>,
        lost: Direction,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let until = length.map(|length| context.now() + length);
        let active = self.pick_links(targets, peer, context).until(until);
        self.add_link_fault(&active.hit, peer, 1.0, lost, context);
        for target in 0..active.targets {
            self.cut_all(&active, target, lost);
        }
        if let Some(until) = until {
            self.plan.end_at(until, context);
        }
        active
    }

    pub(super) fn end_partition(
        &mut self,
        active: &ActiveFault,
        lost: Direction,
        context: &mut FaultContext<'_>,
    ) {
        self.link_faults.retain(|link_fault| link_fault.fault != context.fault);
        for target in 0..active.targets {
            self.heal_all(active, target, lost, context);
        }
    }

    /// All links go down at once. Of a target's steps the first kind takes its links down, the second brings them up.
    pub(super) fn begin_flap(
        &mut self,
        verb: &FaultKind,
        targets: &Targets,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let FaultKind::Flap { peer, lost, .. } = verb else { unreachable!("a flapping link") };
        let mut active = self.begin_partition(targets, peer, length, *lost, context);
        active = self.with_streams(active, Some(targets), context);
        active.is_down = vec![true; active.targets as usize];
        for target in 0..active.targets {
            self.next_of_flap(&mut active, verb, PairedStep::first(target), context);
        }
        active
    }

    pub(super) fn step_of_flap(&mut self, verb: &FaultKind, step: u32, context: &mut FaultContext<'_>) {
        let &FaultKind::Flap { lost, .. } = verb else { unreachable!("a flapping link's step") };
        let mut active = std::mem::take(self.active(context));
        let turn = PairedStep::of_step(step);
        let goes_down = turn.is_first;
        active.is_down[turn.target as usize] = goes_down;
        if let Some(&client) = active.hit.get(turn.target as usize) {
            self.set_link_fault(client, goes_down, context);
        }
        if goes_down {
            self.cut_all(&active, turn.target, lost);
        } else {
            self.heal_all(&active, turn.target, lost, context);
        }
        self.next_of_flap(&mut active, verb, turn, context);
        *self.active(context) = active;
    }

    /// Schedules what comes after a step, unless it is over by then.
    fn next_of_flap(
        &mut self,
        active: &mut ActiveFault,
        verb: &FaultKind,
        turn: PairedStep,
        context: &mut FaultContext<'_>,
    ) {
        let FaultKind::Flap { up_for, down_for, .. } = verb else { unreachable!("a flapping link's step") };
        let (distribution, purpose) = if turn.is_first { (*down_for, HOW_LONG) } else { (*up_for, WHEN) };
        let at = context.now() + active.draw(turn.target, distribution, purpose, &self.seed);
        if active.goes_on(at) {
            self.plan.step_at(turn.other().step(), at, context);
        }
    }

    pub(super) fn end_flap(&mut self, active: &ActiveFault, lost: Direction, context: &mut FaultContext<'_>) {
        self.link_faults.retain(|link_fault| link_fault.fault != context.fault);
        for target in (0..active.targets).filter(|&target| active.is_down[target as usize]) {
            self.heal_all(active, target, lost, context);
        }
    }

    pub(super) fn begin_degrade(
        &mut self,
        verb: &FaultKind,
        targets: &Targets,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let &FaultKind::Degrade { ref peer, loss, latency, direction, .. } = verb else {
            unreachable!("a bad link")
        };
        let until = length.map(|length| context.now() + length);
        let active = self.pick_links(targets, peer, context).until(until);
        if loss > 0.0 {
            self.add_link_fault(&active.hit, peer, loss, direction, context);
        }
        for &end in active.links.iter().flatten() {
            let direction = end.of_link(direction);
            self.fabric.links.get_mut(end.route).add_degradation(Degradation {
                fault: context.fault,
                loss,
                latency,
                direction,
            });
        }
        if let Some(until) = until {
            self.plan.end_at(until, context);
        }
        active
    }

    pub(super) fn end_degrade(&mut self, active: &ActiveFault, context: &mut FaultContext<'_>) {
        self.link_faults.retain(|link_fault| link_fault.fault != context.fault);
        for &end in active.links.iter().flatten() {
            self.fabric.links.get_mut(end.route).remove_degradations(context.fault);
            self.send_swallowed_again(end.route, context.schedule);
        }
    }

    /// The targets of a fault of links, and the links of each.
    fn pick_links(&mut self, targets: &Targets, peer: &Peer, context: &FaultContext<'_>) -> ActiveFault {
        match targets {
            Targets::Servers(which) => {
                let servers = self.pick_servers(which, context);
                let links =
                    servers.iter().map(|&server| self.links_of_server(server, &servers, peer)).collect();
                ActiveFault { links, ..ActiveFault::hits_servers(servers) }
            }
            Targets::Instances(selection) => {
                let hit = self.pick(selection, context);
                let servers = self.servers_among(peer);
                let of_client = |&client: &ClientId| {
                    let end =
                        |&to| LinkEnd { route: Route { from: Host::Client(client), to }, answers: false };
                    servers.iter().map(end).collect()
                };
                ActiveFault { links: hit.iter().map(of_client).collect(), ..ActiveFault::hits(hit) }
            }
        }
    }

    /// The servers among the peers.
    fn servers_among(&self, peer: &Peer) -> Vec<ServerId> {
        match peer {
            Peer::Servers | Peer::All => (0..self.servers.len() as u32).map(ServerId).collect(),
            Peer::Named(named) => named.clone(),
            Peer::Instances { .. } => Vec::new(),
        }
    }

    /// The links between a server and the peers that are not among the targets: each way of calling is a link.
    fn links_of_server(&self, server: ServerId, targets: &[ServerId], peer: &Peer) -> Vec<LinkEnd> {
        let others = self.servers_among(peer).into_iter().filter(|other| !targets.contains(other));
        let both = |other| {
            [
                LinkEnd { route: Route { from: Host::Server(server), to: other }, answers: false },
                LinkEnd { route: Route { from: Host::Server(other), to: server }, answers: true },
            ]
        };
        let clients = (0..self.clients.len() as u32).map(ClientId);
        let clients =
            clients.filter(|&client| self.server_of(client).is_none() && self.is_among(client, peer));
        let of_client =
            |client| LinkEnd { route: Route { from: Host::Client(client), to: server }, answers: true };
        others.flat_map(both).chain(clients.map(of_client)).collect()
    }

    /// Whether an instance is among the peers of targets that are servers.
    fn is_among(&self, client: ClientId, peer: &Peer) -> bool {
        match *peer {
            Peer::Servers | Peer::Named(_) => false,
            Peer::All => true,
            Peer::Instances { application, zone } => {
                application.is_none_or(|app| self.clients[client.index()].app == app)
                    && zone.is_none_or(|zone| self.zone_of(client) == Some(zone))
            }
        }
    }

    /// An instance has come while servers are cut off from all that are like it: it is cut off from them too.
    pub(in crate::world) fn joins_its_peers(&mut self, client: ClientId) {
        for fault in 0..self.plan.active.len() {
            let active = &self.plan.active[fault];
            if active.servers.is_empty() || active.links.is_empty() {
                continue;
            }
            let (peer, direction, degradation) = match &self.scenario.faults[fault].verb {
                FaultKind::Partition { peer, lost, .. } | FaultKind::Flap { peer, lost, .. } => {
                    (peer, *lost, None)
                }
                FaultKind::Degrade { peer, loss, latency, direction, .. } => {
                    (peer, *direction, Some((*loss, *latency)))
                }
                _ => continue,
            };
            if !self.is_among(client, peer) {
                continue;
            }
            for target in 0..self.plan.active[fault].servers.len() {
                let active = &mut self.plan.active[fault];
                let to = active.servers[target];
                let end = LinkEnd { route: Route { from: Host::Client(client), to }, answers: true };
                active.links[target].push(end);
                let is_down = active.is_down.get(target).is_none_or(|&is_down| is_down);
                let direction = end.of_link(direction);
                let link = self.fabric.links.get_mut(end.route);
                match degradation {
                    Some((loss, latency)) => {
                        link.add_degradation(Degradation { fault: fault as u32, loss, latency, direction });
                    }
                    None if is_down => link.cut(direction),
                    None => {}
                }
            }
        }
    }

    /// Nothing passes over a target's links any more.
    fn cut_all(&mut self, active: &ActiveFault, target: u32, lost: Direction) {
        for &end in &active.links[target as usize] {
            self.fabric.links.get_mut(end.route).cut(end.of_link(lost));
        }
    }

    /// It does again, and what was swallowed is sent again.
    fn heal_all(
        &mut self,
        active: &ActiveFault,
        target: u32,
        lost: Direction,
        context: &mut FaultContext<'_>,
    ) {
        for &end in &active.links[target as usize] {
            self.fabric.links.get_mut(end.route).heal(end.of_link(lost));
            self.send_swallowed_again(end.route, context.schedule);
        }
    }

    /// Calls between the targets and their peers are lost from now on, if both are instances.
    fn add_link_fault(
        &mut self,
        hit: &[ClientId],
        peer: &Peer,
        loss: f64,
        direction: Direction,
        context: &FaultContext<'_>,
    ) {
        if hit.is_empty() || matches!(peer, Peer::Servers | Peer::Named(_)) {
            return;
        }
        let mut members = hit.to_vec();
        members.sort_unstable();
        let stands = vec![true; members.len()];
        let peer = peer.clone();
        self.link_faults.push(InstanceLinkFault {
            fault: context.fault,
            members,
            stands,
            peer,
            loss,
            direction,
        });
    }

    fn set_link_fault(&mut self, client: ClientId, stands: bool, context: &FaultContext<'_>) {
        for link_fault in self.link_faults.iter_mut().filter(|link_fault| link_fault.fault == context.fault) {
            if let Ok(place) = link_fault.members.binary_search(&client) {
                link_fault.stands[place] = stands;
            }
        }
    }
}
