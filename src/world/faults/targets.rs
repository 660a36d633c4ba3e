//! Whom a fault hits.

use super::{Begun, Cue};
use crate::engine::{Chance, Purpose};
use crate::model::id::{ClientId, InstanceId, ServerId};
use crate::scenario::{Selection, Targets, Which, WhichServers};
use crate::world::World;

/// A fault's draws of its targets.
const TARGETS: Purpose = Purpose(1);
/// A fault's draws of some among its targets.
const SOME: Purpose = Purpose(2);

impl World<'_> {
    /// Draws the targets among the instances that run.
    pub(super) fn pick(&mut self, selection: &Selection, cue: &Cue<'_>) -> Vec<ClientId> {
        let candidates = self.candidates(selection);
        self.draw_targets(selection, candidates, cue)
    }

    /// Draws the servers that a fault hits, whether they run or not.
    pub(super) fn pick_servers(&mut self, which: &WhichServers, cue: &Cue<'_>) -> Vec<ServerId> {
        let mut servers: Vec<ServerId> = (0..self.servers.len() as u32).map(ServerId).collect();
        match which {
            WhichServers::All => servers,
            WhichServers::Named(named) => named.clone(),
            WhichServers::Count(count) => {
                let count = (*count as usize).min(servers.len());
                self.shuffle_first(&mut servers, count, TARGETS, cue);
                servers.truncate(count);
                servers
            }
        }
    }

    /// Draws identities that are registered at a server although nobody is behind them any more.
    pub(super) fn pick_dead(
        &mut self,
        selection: &Selection,
        at: ServerId,
        cue: &Cue<'_>,
    ) -> Vec<InstanceId> {
        let candidates = self.registered_dead(selection, at);
        self.draw_targets(selection, candidates, cue)
    }

    /// Draws a share of a fault's targets, rounded to the nearest whole number; all, in an order in which these come
    /// first, and how many they are.
    pub(super) fn draw_share(&mut self, hit: &mut [ClientId], share: f64, cue: &Cue<'_>) -> usize {
        let count = nearest(share, hit.len());
        self.shuffle_first(hit, count, SOME, cue);
        count
    }

    /// Gives each target dice of its own, by its name.
    pub(super) fn with_dice(&self, mut begun: Begun, targets: Option<&Targets>, cue: &Cue<'_>) -> Begun {
        let label = |name: &str| Chance::of(&format!("fault/{}/{name}", cue.fault + 1));
        begun.dice = match targets {
            Some(Targets::Servers(_)) => {
                begun.servers.iter().map(|&server| label(&name_of_dice(server))).collect()
            }
            _ => begun.hit.iter().map(|&client| label(&self.name_of_process(client))).collect(),
        };
        begun
    }

    fn draw_targets<T>(&mut self, selection: &Selection, mut candidates: Vec<T>, cue: &Cue<'_>) -> Vec<T> {
        let count = match selection.which {
            Which::All | Which::Named(_) => return candidates,
            Which::Count(count) => (count as usize).min(candidates.len()),
            Which::Share(share) => nearest(share, candidates.len()),
        };
        self.shuffle_first(&mut candidates, count, TARGETS, cue);
        candidates.truncate(count);
        candidates
    }

    /// Draws the first `count`, without replacement.
    fn shuffle_first<T>(&mut self, candidates: &mut [T], count: usize, purpose: Purpose, cue: &Cue<'_>) {
        let mut dice = self.plan.chances[cue.fault as usize].with(&self.seed);
        for place in 0..count {
            let left = (candidates.len() - place) as u64;
            let drawn = place + dice.below(purpose, left) as usize;
            candidates.swap(place, drawn);
        }
    }

    /// Who may be hit: whoever runs and is not stopping, by application and ordinal, or as named.
    pub(super) fn candidates(&self, selection: &Selection) -> Vec<ClientId> {
        let named = self.selected(selection).into_iter();
        named.filter(|client| self.clients[client.index()].is_in_service()).collect()
    }

    /// Leases without a process, by application, ordinal and identity.
    fn registered_dead(&self, selection: &Selection, at: ServerId) -> Vec<InstanceId> {
        let Some(server) = &self.servers[at.index()].server else { return Vec::new() };
        let mut selected = self.selected(selection);
        selected.sort_unstable();
        let is_dead = |&instance: &InstanceId| {
            server.has(instance)
                && !self.is_alive(instance)
                && selected.binary_search(&self.owner(instance)).is_ok()
        };
        let everybody = (0..self.identities.len() as u32).map(InstanceId);
        let mut dead: Vec<InstanceId> = everybody.filter(is_dead).collect();
        dead.sort_by_key(|&instance| {
            let identity = self.identities[instance.index()];
            (identity.app, identity.ordinal, identity.number)
        });
        dead
    }

    /// The processes that a selection may mean, whatever they do.
    fn selected(&self, selection: &Selection) -> Vec<ClientId> {
        let in_zone =
            |&client: &ClientId| selection.zone.is_none_or(|zone| self.zone_of(client) == Some(zone));
        let mut selected = match (&selection.which, selection.application) {
            (Which::Named(names), _) => {
                let member = |app: usize, ordinal: u32| self.members[app].get(ordinal as usize - 1).copied();
                names.iter().filter_map(|&(app, ordinal)| member(app.index(), ordinal)).collect()
            }
            (_, Some(app)) => self.members[app.index()].clone(),
            (_, None) => self.members.concat(),
        };
        selected.retain(in_zone);
        selected
    }
}

/// A server among a fault's targets, as its dice are named.
fn name_of_dice(server: ServerId) -> String {
    match server.0 {
        0 => "server".to_owned(),
        number => format!("server-{}", number + 1),
    }
}

/// A share of some, rounded to the nearest whole number.
pub(super) fn nearest(share: f64, of: usize) -> usize {
    ((share * of as f64 + 0.5) as usize).min(of)
}
