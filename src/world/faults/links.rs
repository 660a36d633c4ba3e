//! Links that break, flap or get bad.

use super::{Begun, Cue, HOW_LONG, Turn, WHEN};
use crate::engine::SimDuration;
use crate::model::id::ClientId;
use crate::scenario::{Direction, Peer, Selection, Targets, Verb};
use crate::world::World;
use crate::world::links::{Barrier, Worse};

impl World<'_> {
    pub(super) fn begin_partition(
        &mut self,
        targets: &Targets,
        peer: &Peer,
        length: Option<SimDuration>,
        lost: Direction,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let until = length.map(|length| cue.now + length);
        let begun = Begun::hits(self.pick(selection(targets), cue)).until(until);
        self.raise(&begun.hit, peer, 1.0, lost, cue);
        for &client in &begun.hit {
            self.cut(client, peer, lost);
        }
        if let Some(until) = until {
            self.plan.end_at(until, cue);
        }
        begun
    }

    pub(super) fn end_partition(&mut self, begun: &Begun, peer: &Peer, lost: Direction, cue: &mut Cue<'_>) {
        self.barriers.retain(|barrier| barrier.fault != cue.fault);
        for &client in &begun.hit {
            self.mend(client, peer, lost, cue);
        }
    }

    /// All links go down at once. Of a target's steps the first kind takes its link down, the second brings it up.
    pub(super) fn begin_flap(
        &mut self,
        verb: &Verb,
        targets: &Targets,
        length: Option<SimDuration>,
        cue: &mut Cue<'_>,
    ) -> Begun {
        let Verb::Flap { peer, lost, .. } = verb else { unreachable!("a flapping link") };
        let mut begun = self.begin_partition(targets, peer, length, *lost, cue);
        begun = self.with_dice(begun, None, cue);
        begun.is_down = vec![true; begun.hit.len()];
        for target in 0..begun.targets {
            self.next_of_flap(&mut begun, verb, Turn::first(target), cue);
        }
        begun
    }

    pub(super) fn step_of_flap(&mut self, verb: &Verb, step: u32, cue: &mut Cue<'_>) {
        let &Verb::Flap { ref peer, lost, .. } = verb else { unreachable!("a flapping link's step") };
        let mut begun = std::mem::take(self.begun(cue));
        let turn = Turn::of_step(step);
        let target = turn.target as usize;
        let (client, goes_down) = (begun.hit[target], turn.is_first);
        begun.is_down[target] = goes_down;
        self.set_barrier(client, goes_down, cue);
        if goes_down {
            self.cut(client, peer, lost);
        } else {
            self.mend(client, peer, lost, cue);
        }
        self.next_of_flap(&mut begun, verb, turn, cue);
        *self.begun(cue) = begun;
    }

    /// Schedules what comes after a step, unless it is over by then.
    fn next_of_flap(&mut self, begun: &mut Begun, verb: &Verb, turn: Turn, cue: &mut Cue<'_>) {
        let Verb::Flap { up_for, down_for, .. } = verb else { unreachable!("a flapping link's step") };
        let (distribution, purpose) = if turn.is_first { (*down_for, HOW_LONG) } else { (*up_for, WHEN) };
        let at = cue.now + begun.draw(turn.target, distribution, purpose, &self.seed);
        if begun.goes_on(at) {
            self.plan.step_at(turn.other().step(), at, cue);
        }
    }

    pub(super) fn end_flap(&mut self, begun: &Begun, peer: &Peer, lost: Direction, cue: &mut Cue<'_>) {
        self.barriers.retain(|barrier| barrier.fault != cue.fault);
        for (&client, &is_down) in begun.hit.iter().zip(&begun.is_down) {
            if is_down {
                self.mend(client, peer, lost, cue);
            }
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
        let until = length.map(|length| cue.now + length);
        let begun = Begun::hits(self.pick(selection(targets), cue)).until(until);
        if loss > 0.0 {
            self.raise(&begun.hit, peer, loss, direction, cue);
        }
        if reaches_server(peer) {
            for client in &begun.hit {
                let worse = Worse { fault: cue.fault, loss, latency, direction };
                self.clients[client.index()].trouble().link.worsen(worse);
            }
        }
        if let Some(until) = until {
            self.plan.end_at(until, cue);
        }
        begun
    }

    pub(super) fn end_degrade(&mut self, begun: &Begun, cue: &mut Cue<'_>) {
        self.barriers.retain(|barrier| barrier.fault != cue.fault);
        for &client in &begun.hit {
            self.clients[client.index()].trouble().link.improve(cue.fault);
            self.retransmit(client, cue.now, cue.schedule);
        }
    }

    /// Nothing passes between a target and the server any more, if that is the peer.
    fn cut(&mut self, client: ClientId, peer: &Peer, lost: Direction) {
        if reaches_server(peer) {
            self.clients[client.index()].trouble().link.cut(lost);
        }
    }

    /// It does again, and what was swallowed is sent again.
    fn mend(&mut self, client: ClientId, peer: &Peer, lost: Direction, cue: &mut Cue<'_>) {
        if reaches_server(peer) {
            self.clients[client.index()].trouble().link.mend(lost);
            self.retransmit(client, cue.now, cue.schedule);
        }
    }

    /// Calls between the targets and their peers are lost from now on, if the peers are instances.
    fn raise(&mut self, hit: &[ClientId], peer: &Peer, loss: f64, direction: Direction, cue: &Cue<'_>) {
        if matches!(peer, Peer::Servers | Peer::Named(_)) {
            return;
        }
        let mut members = hit.to_vec();
        members.sort_unstable();
        let stands = vec![true; members.len()];
        self.barriers.push(Barrier {
            fault: cue.fault,
            members,
            stands,
            peer: peer.clone(),
            loss,
            direction,
        });
    }

    fn set_barrier(&mut self, client: ClientId, stands: bool, cue: &Cue<'_>) {
        for barrier in self.barriers.iter_mut().filter(|barrier| barrier.fault == cue.fault) {
            if let Ok(place) = barrier.members.binary_search(&client) {
                barrier.stands[place] = stands;
            }
        }
    }
}

/// Whether messages to the registry are hit.
fn reaches_server(peer: &Peer) -> bool {
    !matches!(peer, Peer::Instances { .. })
}

fn selection(targets: &Targets) -> &Selection {
    targets.selection().expect("links of servers")
}
