//! One replicate from start to end.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use super::World;
use super::event::Event;
use super::node::{ClientNode, ServerNode, State};
use super::setup::config_of;
use super::simulation::Simulation;
use crate::engine::{Outcome, RunEnd, SimTime};
use crate::model::id::{AppId, InstanceId, ServerId};
use crate::model::message::Status;
use crate::model::registry::Server;
use crate::model::view::View;
use crate::observe::{Agreement, Ending, ReplicateData, ServerEnd};
use crate::scenario::Scenario;

/// The user asked to stop: there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Runs replicate `replicate` of `scenario`.
///
/// # Errors
///
/// [`Interrupted`] once `interrupt` is set.
pub fn run(
    scenario: &Scenario,
    replicate: u32,
    interrupt: &AtomicBool,
) -> Result<ReplicateData, Interrupted> {
    run_watched(scenario, replicate, interrupt, |_, _| ())
}

/// Runs the replicate and shows each event to `watch` just before it happens. The run is the same.
///
/// # Errors
///
/// [`Interrupted`] once `interrupt` is set.
pub fn trace(
    scenario: &Scenario,
    replicate: u32,
    interrupt: &AtomicBool,
    watch: &mut dyn FnMut(SimTime, &Event),
) -> Result<ReplicateData, Interrupted> {
    run_watched(scenario, replicate, interrupt, watch)
}

fn run_watched(
    scenario: &Scenario,
    replicate: u32,
    interrupt: &AtomicBool,
    watch: impl FnMut(SimTime, &Event),
) -> Result<ReplicateData, Interrupted> {
    let mut simulation = Simulation::new(scenario, replicate);
    simulation.go(SimTime::MAX, u64::MAX, Some(interrupt), watch);
    simulation.into_data()
}

/// How the run ended and when: a run whose future is empty or lies behind the horizon lasts as long as it was
/// meant to.
pub(super) fn ending(end: &RunEnd, scenario: &Scenario) -> Option<(Ending, SimTime)> {
    match end.outcome {
        Outcome::Stopped => Some((Ending::Settled, end.at)),
        Outcome::Drained | Outcome::Horizon => Some((Ending::Duration, SimTime::ZERO + scenario.duration)),
        Outcome::OverBudget => Some((Ending::Budget, end.at)),
        Outcome::Interrupted => None,
    }
}

impl World<'_> {
    /// Compares what servers and observers show with what runs and is well. Observers that hold the same view
    /// are looked at once.
    fn agreement(&self) -> Agreement {
        let runs = |node: &&ClientNode| node.state != State::Down && !node.stopping;
        let live: Vec<(AppId, InstanceId)> = self
            .clients
            .iter()
            .filter(runs)
            .filter(|node| !self.impairments.has(node.instance))
            .filter(|node| config_of(self.scenario, node.app).registers())
            .map(|node| (node.app, node.instance))
            .collect();
        let missing = |view, watched: Option<&[AppId]>| {
            let hears_of = |app| watched.is_none_or(|watched| watched.contains(&app));
            live.iter().filter(|&&(app, id)| hears_of(app) && !self.views.is_up(view, id)).count() as u64
        };
        let registries = self.registries();
        let mut observers = BTreeMap::new();
        for node in self.clients.iter().filter(runs) {
            if config_of(self.scenario, node.app).fetches() {
                let watched = config_of(self.scenario, node.app).any().services();
                *observers.entry((node.client.view(), node.asks, watched)).or_insert(0_u64) += 1;
            }
        }
        let hash = |view| self.views.counts(view).reconcile_hash();
        let mut agreement = Agreement {
            live: live.len() as u64,
            missing_in_registries: registries.iter().map(|&(_, view)| missing(view, None)).sum(),
            dead_in_registries: registries.iter().map(|&(_, view)| self.dead_in(view)).sum(),
            ..Agreement::default()
        };
        for ((view, asks, watched), count) in observers {
            let pairs = count * missing(view, watched);
            agreement.missing_in_views += pairs;
            let registry = registries.iter().find(|&&(server, _)| server == asks);
            if pairs > 0 && registry.is_some_and(|&(_, registry)| hash(registry) == hash(view)) {
                agreement.missing_behind_equal_hashes += pairs;
            }
        }
        agreement
    }

    /// What each server that runs has registered.
    fn registries(&self) -> Vec<(ServerId, View)> {
        let all = (0..self.servers.len() as u32).map(ServerId);
        all.filter(|server| self.servers[server.index()].server.is_some())
            .map(|server| (server, self.registry_view(server)))
            .collect()
    }

    /// How many instances a registry shows as UP although no process is behind them.
    fn dead_in(&self, registry: View) -> u64 {
        let shown = self.views.instances(registry).into_iter();
        shown.filter(|&(instance, status)| status == Status::Up && !self.is_alive(instance)).count() as u64
    }

    pub(super) fn finish(
        mut self,
        replicate: u32,
        ending: Ending,
        ended_at: SimTime,
        end: &RunEnd,
    ) -> ReplicateData {
        let agreement = self.agreement();
        let calls = self.finish_calls(ended_at);
        for server in 0..self.servers.len() as u32 {
            self.count_unfinished_work(ServerId(server), ended_at);
        }
        let servers = self.servers.iter().map(at_end).collect();
        let recorded = std::mem::take(&mut self.recorder).finish(ended_at);
        let named = recorded.detections.iter().map(|row| row.instance);
        let named = named.chain(recorded.mistakes.iter().map(|row| row.instance));
        let named = named.chain(recorded.quality.iter().filter_map(|row| row.observer));
        let instances = named.map(|instance| (instance, self.name_of(instance))).collect();
        ReplicateData {
            replicate,
            ending,
            ended_at,
            events: end.events,
            digest: end.digest.value(),
            instances,
            detections: recorded.detections,
            mistakes: recorded.mistakes,
            folded: recorded.folded,
            quality: recorded.quality,
            calls,
            timeline: recorded.timeline,
            load: recorded.load,
            faults: recorded.faults,
            rounds: recorded.rounds,
            sweeps: recorded.sweeps,
            consumers: recorded.consumers,
            leases: recorded.leases,
            agreement,
            divergence: recorded.divergence,
            servers,
        }
    }
}

fn at_end(node: &ServerNode) -> ServerEnd {
    let server = node.server.as_ref();
    ServerEnd {
        is_up: server.is_some(),
        left: server.map_or(0, Server::registered),
        self_preservation: server.is_some_and(Server::is_protecting),
    }
}
