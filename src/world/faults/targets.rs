//! Whom a fault hits.

use super::{ActiveFault, FaultContext};
use crate::engine::{Purpose, Streams};
use crate::model::id::{ClientId, InstanceId, ServerId};
use crate::scenario::{Selection, ServerChoice, TargetChoice, Targets};
use crate::world::World;

/// A fault's draws of its targets.
const TARGETS: Purpose = Purpose(1);
/// A fault's draws of some among its targets.
const SOME: Purpose = Purpose(2);

impl World<'_> {
    /// Draws the targets among the instances that run.
    pub(super) fn pick(&mut self, selection: &Selection, context: &FaultContext<'_>) -> Vec<ClientId> {
        let candidates = self.candidates(selection);
        self.draw_targets(selection, candidates, context)
    }

    /// Draws the servers that a fault hits, whether they run or not.
    pub(super) fn pick_servers(&mut self, which: &ServerChoice, context: &FaultContext<'_>) -> Vec<ServerId> {
        let mut servers: Vec<ServerId> = (0..self.servers.len() as u32).map(ServerId).collect();
        match which {
            ServerChoice::All => servers,
            ServerChoice::Named(named) => named.clone(),
            ServerChoice::Count(count) => {
                let count = (*count as usize).min(servers.len());
                self.shuffle_first(&mut servers, count, TARGETS, context);
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
        context: &FaultContext<'_>,
    ) -> Vec<InstanceId> {
        let candidates = self.registered_dead(selection, at);
        self.draw_targets(selection, candidates, context)
    }

    /// Draws a share of a fault's targets, rounded to the nearest whole number; all, in an order in which these come
    /// first, and how many they are.
    pub(super) fn draw_share(
        &mut self,
        hit: &mut [ClientId],
        share: f64,
        context: &FaultContext<'_>,
    ) -> usize {
        let count = nearest(share, hit.len());
        self.shuffle_first(hit, count, SOME, context);
        count
    }

    /// Gives each target dice of its own, by its name.
    pub(super) fn with_streams(
        &self,
        mut active: ActiveFault,
        targets: Option<&Targets>,
        context: &FaultContext<'_>,
    ) -> ActiveFault {
        let label = |name: &str| Streams::of(&format!("fault/{}/{name}", context.fault + 1));
        active.streams = match targets {
            Some(Targets::Servers(_)) => {
                active.servers.iter().map(|&server| label(&stream_label(server))).collect()
            }
            _ => active.hit.iter().map(|&client| label(&self.name_of_process(client))).collect(),
        };
        active
    }

    fn draw_targets<T>(
        &mut self,
        selection: &Selection,
        mut candidates: Vec<T>,
        context: &FaultContext<'_>,
    ) -> Vec<T> {
        let count = match selection.which {
            TargetChoice::All | TargetChoice::Named(_) => return candidates,
            TargetChoice::Count(count) => (count as usize).min(candidates.len()),
            TargetChoice::Share(share) => nearest(share, candidates.len()),
        };
        self.shuffle_first(&mut candidates, count, TARGETS, context);
        candidates.truncate(count);
        candidates
    }

    /// Draws the first `count`, without replacement.
    fn shuffle_first<T>(
        &mut self,
        candidates: &mut [T],
        count: usize,
        purpose: Purpose,
        context: &FaultContext<'_>,
    ) {
        let mut rng = self.plan.fault_streams[context.fault as usize].with(&self.seed);
        for place in 0..count {
            let left = (candidates.len() - place) as u64;
            let drawn = place + rng.below(purpose, left) as usize;
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
            (TargetChoice::Named(names), _) => {
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
fn stream_label(server: ServerId) -> String {
    match server.0 {
        0 => "server".to_owned(),
        number => format!("server-{}", number + 1),
    }
}

/// A share of some, rounded to the nearest whole number.
pub(super) fn nearest(share: f64, of: usize) -> usize {
    ((share * of as f64 + 0.5) as usize).min(of)
}
