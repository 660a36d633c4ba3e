//! Links that break, flap or get bad.
//!
//! A fault's targets and their peers may be instances or servers. What is between a client and a server, or between
//! two servers, has a [`LinkEnd`] for each link that is hit; what is between instances is a [`Barrier`].

use super::{Begun, Cue, HOW_LONG, Turn, WHEN};
use crate::engine::SimDuration;
use crate::model::id::{ClientId, ServerId};
use crate::scenario::{Direction, Peer, Targets, Verb};
use crate::world::World;
use crate::world::barriers::Barrier;
use crate::world::fabric::{Host, Route, Worse};

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
        cue: &mut Cue<'_>,
    ) -> Begun {
        let until = length.map(|length| cue.now() + length);
        let begun = self.pick_links(targets, peer, cue).until(until);
        self.raise(&begun.hit, peer, 1.0, lost, cue);
        for target in 0..begun.targets {
            self.cut_all(&begun, target, lost);
        }
        if let Some(until) = until {
            self.plan.end_at(until, cue);
        }
        begun
    }

    pub(super) fn end_partition(&mut self, begun: &Begun, lost: Direction, cue: &mut Cue<'_>) {
        self.barriers.retain(|barrier| barrier.fault != cue.fault);
        for target in 0..begun.targets {
            self.mend_all(begun, target, lost, cue);
        }
    }

    /// All links go down at once. Of a target's steps the first kind takes its links down, the second brings them up.
    pub(super) fn begin_flap(
        &mut self,
        verb: &Verb,
        targets: &Targets,
        length: Option<SimDuration>,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let Verb::Flap { peer, lost, .. } = verb else { unreachable!("a flapping link") };
        let mut begun = self.begin_partition(targets, peer, length, *lost, cue);
        begun = self.with_dice(begun, Some(targets), cue);
        begun.is_down = vec![true; begun.targets as usize];
        for target in 0..begun.targets {
            self.next_of_flap(&mut begun, verb, Turn::first(target), cue);
        }
        begun
    }

    pub(super) fn step_of_flap(&mut self, verb: &Verb, step: u32, cue: &mut Cue<'_>) {
        let &Verb::Flap { lost, .. } = verb else { unreachable!("a flapping link's step") };
        let mut begun = std::mem::take(self.begun(cue));
        let turn = Turn::of_step(step);
        let goes_down = turn.is_first;
        begun.is_down[turn.target as usize] = goes_down;
        if let Some(&client) = begun.hit.get(turn.target as usize) {
            self.set_barrier(client, goes_down, cue);
        }
        if goes_down {
            self.cut_all(&begun, turn.target, lost);
        } else {
            self.mend_all(&begun, turn.target, lost, cue);
        }
        self.next_of_flap(&mut begun, verb, turn, cue);
        *self.begun(cue) = begun;
    }

    /// Schedules what comes after a step, unless it is over by then.
    fn next_of_flap(&mut self, begun: &mut Begun, verb: &Verb, turn: Turn, cue: &mut Cue<'_>) {
        let Verb::Flap { up_for, down_for, .. } = verb else { unreachable!("a flapping link's step") };
        let (distribution, purpose) = if turn.is_first { (*down_for, HOW_LONG) } else { (*up_for, WHEN) };
        let at = cue.now() + begun.draw(turn.target, distribution, purpose, &self.seed);
        if begun.goes_on(at) {
            self.plan.step_at(turn.other().step(), at, cue);
        }
    }

    pub(super) fn end_flap(&mut self, begun: &Begun, lost: Direction, cue: &mut Cue<'_>) {
        self.barriers.retain(|barrier| barrier.fault != cue.fault);
        for target in (0..begun.targets).filter(|&target| begun.is_down[target as usize]) {
            self.mend_all(begun, target, lost, cue);
        }
    }

    pub(super) fn begin_degrade(
        &mut self,
        verb: &Verb,
        targets: &Targets,
        length: Option<SimDuration>,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let &Verb::Degrade { ref peer, loss, latency, direction, .. } = verb else {
            unreachable!("a bad link")
        };
        let until = length.map(|length| cue.now() + length);
        let begun = self.pick_links(targets, peer, cue).until(until);
        if loss > 0.0 {
            self.raise(&begun.hit, peer, loss, direction, cue);
        }
        for &end in begun.links.iter().flatten() {
            let direction = end.of_link(direction);
            self.fabric.links.get_mut(end.route).worsen(Worse { fault: cue.fault, loss, latency, direction });
        }
        if let Some(until) = until {
            self.plan.end_at(until, cue);
        }
        begun
    }

    pub(super) fn end_degrade(&mut self, begun: &Begun, cue: &mut Cue<'_>) {
        self.barriers.retain(|barrier| barrier.fault != cue.fault);
        for &end in begun.links.iter().flatten() {
            self.fabric.links.get_mut(end.route).improve(cue.fault);
            self.send_swallowed_again(end.route, cue.schedule);
        }
    }

    /// The targets of a fault of links, and the links of each.
    fn pick_links(&mut self, targets: &Targets, peer: &Peer, cue: &Cue<'_>) -> Begun {
        match targets {
            Targets::Servers(which) => {
                let servers = self.pick_servers(which, cue);
                let links =
                    servers.iter().map(|&server| self.links_of_server(server, &servers, peer)).collect();
                Begun { links, ..Begun::hits_servers(servers) }
            }
            Targets::Instances(selection) => {
                let hit = self.pick(selection, cue);
                let servers = self.servers_among(peer);
                let of_client = |&client: &ClientId| {
                    let end =
                        |&to| LinkEnd { route: Route { from: Host::Client(client), to }, answers: false };
                    servers.iter().map(end).collect()
                };
                Begun { links: hit.iter().map(of_client).collect(), ..Begun::hits(hit) }
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
        for fault in 0..self.plan.begun.len() {
            let begun = &self.plan.begun[fault];
            if begun.servers.is_empty() || begun.links.is_empty() {
                continue;
            }
            let (peer, direction, worse) = match &self.scenario.faults[fault].verb {
                Verb::Partition { peer, lost, .. } | Verb::Flap { peer, lost, .. } => (peer, *lost, None),
                Verb::Degrade { peer, loss, latency, direction, .. } => {
                    (peer, *direction, Some((*loss, *latency)))
                }
                _ => continue,
            };
            if !self.is_among(client, peer) {
                continue;
            }
            for target in 0..self.plan.begun[fault].servers.len() {
                let begun = &mut self.plan.begun[fault];
                let to = begun.servers[target];
                let end = LinkEnd { route: Route { from: Host::Client(client), to }, answers: true };
                begun.links[target].push(end);
                let is_down = begun.is_down.get(target).is_none_or(|&is_down| is_down);
                let direction = end.of_link(direction);
                let link = self.fabric.links.get_mut(end.route);
                match worse {
                    Some((loss, latency)) => {
                        link.worsen(Worse { fault: fault as u32, loss, latency, direction });
                    }
                    None if is_down => link.cut(direction),
                    None => {}
                }
            }
        }
    }

    /// Nothing passes over a target's links any more.
    fn cut_all(&mut self, begun: &Begun, target: u32, lost: Direction) {
        for &end in &begun.links[target as usize] {
            self.fabric.links.get_mut(end.route).cut(end.of_link(lost));
        }
    }

    /// It does again, and what was swallowed is sent again.
    fn mend_all(&mut self, begun: &Begun, target: u32, lost: Direction, cue: &mut Cue<'_>) {
        for &end in &begun.links[target as usize] {
            self.fabric.links.get_mut(end.route).mend(end.of_link(lost));
            self.send_swallowed_again(end.route, cue.schedule);
        }
    }

    /// Calls between the targets and their peers are lost from now on, if both are instances.
    fn raise(&mut self, hit: &[ClientId], peer: &Peer, loss: f64, direction: Direction, cue: &Cue<'_>) {
        if hit.is_empty() || matches!(peer, Peer::Servers | Peer::Named(_)) {
            return;
        }
        let mut members = hit.to_vec();
        members.sort_unstable();
        let stands = vec![true; members.len()];
        let peer = peer.clone();
        self.barriers.push(Barrier { fault: cue.fault, members, stands, peer, loss, direction });
    }

    fn set_barrier(&mut self, client: ClientId, stands: bool, cue: &Cue<'_>) {
        for barrier in self.barriers.iter_mut().filter(|barrier| barrier.fault == cue.fault) {
            if let Ok(place) = barrier.members.binary_search(&client) {
                barrier.stands[place] = stands;
            }
        }
    }
}
