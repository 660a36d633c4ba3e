//! What an operator does to a server: status overrides, deleted leases, settings changed while it runs. The calls
//! come from beside the network: at once, and without fail unless that server is down. What it makes of them it passes on
//! to its peers.

use super::{ActiveFault, FaultContext};
use crate::engine::{Schedule, SimDuration, SimTime};
use crate::model::eureka::ServerConfig;
use crate::model::id::{InstanceId, ServerId};
use crate::model::message::{Request, Status};
use crate::model::registry;
use crate::model::stage::EventKind;
use crate::scenario::{Change, Selection};
use crate::world::World;
use crate::world::event::Event;
use crate::world::impairments::Impairment;
use crate::world::node::State;

impl World<'_> {
    /// A server that is down hears nothing; one that stands still does when it goes on.
    pub(in crate::world) fn operate(
        &mut self,
        server: ServerId,
        request: Request,
        schedule: &mut Schedule<Event>,
    ) {
        let now = schedule.now();
        match self.servers[server.index()].state {
            State::Running if self.is_serving(server) => {
                let reply = self.step_server(server, schedule, |server, step| {
                    server.on_request(&request, None, step).expect("an operator is answered at once")
                });
                self.recorder.answered(server, request.kind(), &reply, now);
            }
            State::Running | State::Down => {}
            State::Paused { .. } => self.servers[server.index()].operator_calls.push(request),
        }
    }

    pub(super) fn begin_override(
        &mut self,
        targets: &Selection,
        at: ServerId,
        status: Status,
        length: Option<SimDuration>,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let until = length.map(|length| context.now() + length);
        let mut active = ActiveFault::hits(self.pick(targets, context)).until(until);
        for &client in &active.hit {
            let instance = self.clients[client.index()].instance;
            active.instances.push(instance);
            let is_taken_in = self.takes_in_overrides_of(at, instance, context.now());
            if is_taken_in && status != Status::Up {
                self.recorder.watch(EventKind::Override, client, instance, context.now(), &self.views);
                self.add_impairment(instance, Impairment::Overridden, context.now());
            }
            if is_taken_in && status == Status::Up {
                self.end_impairment(client, instance, Impairment::Overridden, context.now());
            }
            let request = Request::UpdateStatus { instance, status, last_dirty: None };
            self.operate(at, request, context.schedule);
        }
        if let Some(until) = until {
            self.plan.end_at(until, context);
        }
        active
    }

    /// The overrides are deleted without a new status: each instance is `UNKNOWN` until its next heartbeat is answered
    /// with 404 and it registers as what it is.
    pub(super) fn end_override(
        &mut self,
        active: &ActiveFault,
        at: ServerId,
        context: &mut FaultContext<'_>,
    ) {
        for (&client, &instance) in active.hit.iter().zip(&active.instances) {
            let request =
                Request::DeleteStatusOverride { instance, status: Status::Unknown, last_dirty: None };
            self.operate(at, request, context.schedule);
            if !self.is_overridden(at, instance) {
                self.end_impairment(client, instance, Impairment::Overridden, context.now());
            }
        }
    }

    /// Whether the server obeys who overrides the status of the instance now: it answers 404 where it finds no lease,
    /// and nobody answers before it is open. One that stands still finds what it has once it goes on.
    fn takes_in_overrides_of(&self, at: ServerId, instance: InstanceId, now: SimTime) -> bool {
        let node = &self.servers[at.index()];
        let Some(server) = &node.server else { return false };
        match node.state {
            State::Down => false,
            State::Paused { .. } => server.has(instance),
            State::Running => {
                let wall = self.server_clock(at, now).wall;
                server.is_serving() && server.finds(instance, wall)
            }
        }
    }

    /// Whether the server still holds to an override: it answers 404 to the operator as long as it takes the lease for
    /// expired (`eureka-server.md` 7.1). One that stands still has not heard yet, but will.
    fn is_overridden(&self, at: ServerId, instance: InstanceId) -> bool {
        let node = &self.servers[at.index()];
        node.state == State::Running && node.overrides(instance)
    }

    /// Whether the server has, or will have once it goes on, the lease that an operator deletes: where it has none, for
    /// want of a peer that tells it or because nobody answers yet, nothing is deleted.
    fn will_find(&self, at: ServerId, instance: InstanceId) -> bool {
        let node = &self.servers[at.index()];
        self.listens(at) && node.server.as_ref().is_some_and(|server| server.has(instance))
    }

    /// Leases are deleted. An instance that is alive does not know, until its next heartbeat is answered with 404.
    pub(super) fn delete(
        &mut self,
        targets: &Selection,
        at: ServerId,
        dead: bool,
        context: &mut FaultContext<'_>,
    ) -> ActiveFault {
        let instances = if dead {
            self.pick_dead(targets, at, context)
        } else {
            let hit = self.pick(targets, context);
            hit.iter().map(|client| self.clients[client.index()].instance).collect()
        };
        for &instance in &instances {
            if !dead && self.will_find(at, instance) {
                self.add_impairment(instance, Impairment::Deleted, context.now());
            }
            self.operate(at, Request::Cancel { instance }, context.schedule);
        }
        ActiveFault { targets: instances.len() as u32, instances, ..ActiveFault::default() }
    }

    /// Settings of all servers change, for this life and all later ones.
    pub(super) fn change(&mut self, changes: &[Change]) -> ActiveFault {
        for node in &mut self.servers {
            if let registry::ServerConfig::Eureka(config) = &mut node.config {
                changes.iter().for_each(|&change| set(config, change));
            }
            if let Some(server) = &mut node.server {
                server.set_config(&node.config);
            }
        }
        ActiveFault::hits_servers((0..self.servers.len() as u32).map(ServerId).collect())
    }
}

fn set(config: &mut ServerConfig, change: Change) {
    match change {
        Change::EnableSelfPreservation(value) => config.enable_self_preservation = value,
        Change::RenewalPercentThreshold(value) => config.renewal_percent_threshold = value,
        Change::ExpectedClientRenewalIntervalSeconds(value) => {
            config.expected_client_renewal_interval_seconds = value;
        }
        Change::DisableDelta(value) => config.disable_delta = value,
        Change::SyncWhenTimestampDiffers(value) => config.sync_when_timestamp_differs = value,
    }
}
