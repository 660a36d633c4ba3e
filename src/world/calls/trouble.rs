//! Who in a caller's list is in trouble, and which stage is to blame that the dead are still in it.

use std::rc::Rc;

use super::line::Prospect;
use super::plan::Trouble;
use super::{Calls, World};
use crate::engine::SimTime;
use crate::model::client::BalancerConfig;
use crate::model::id::{AppId, ClientId, InstanceId};
use crate::model::stage::Stage;
use crate::model::view::View;
use crate::world::node::State;
use crate::world::setup::config_of;

/// What everybody who calls a process meets there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Condition {
    /// Whether it answers at all.
    answers: bool,
    /// It stands still until then; the start of the run if it does not, or not for long enough to be noticed.
    stands_until: SimTime,
    /// The share of calls that it fails.
    refuses: f64,
}

/// A list, and who in it is in trouble.
#[derive(Clone)]
pub(super) struct Standing {
    members: Rc<[InstanceId]>,
    troubled: Rc<[InstanceId]>,
}

impl Condition {
    /// No process.
    pub(super) const DOWN: Self = Self { answers: false, stands_until: SimTime::ZERO, refuses: 0.0 };

    /// Whether nobody has anything to complain of.
    fn is_well(&self) -> bool {
        self.answers && self.stands_until == SimTime::ZERO && self.refuses == 0.0
    }
}

impl World<'_> {
    /// Whether a process answers calls, if slowly.
    fn answers_calls(&self, client: ClientId) -> bool {
        self.clients[client.index()].state != State::Down
    }

    /// Whether callers may notice that a process is not what it was at the last review. Takes that in.
    pub(super) fn condition_changed(&self, calls: &mut Calls, client: ClientId) -> bool {
        let node = &self.clients[client.index()];
        if !calls.is_called(node.app) {
            return false;
        }
        let condition = self.condition_of(calls, client);
        let before = std::mem::replace(&mut calls.conditions[client.index()], condition);
        // The first process of an identity is in nobody's list.
        before != condition && self.views.was_ever_registered(node.instance)
    }

    /// What the calls of a line of `client` meet from now on.
    pub(super) fn prospect(&mut self, calls: &mut Calls, client: ClientId, pair: usize) -> Prospect {
        let ([local, list], makes_calls) = self.caller_state(client);
        if !makes_calls {
            return Prospect::Silent;
        }
        let callee = calls.pairs[pair].callee;
        let mut standing = self.standing(calls, list, callee);
        let balancer = &config_of(self.scenario, self.clients[client.index()].app).balancer;
        if standing.members.is_empty() && matches!(balancer, BalancerConfig::SpringCloudLoadBalancer { .. }) {
            // An empty list is never served: the local registry is asked (`eureka-client.md` 8.3).
            standing = self.standing(calls, local, callee);
        }
        let own = self.clients[client.index()].instance;
        let others = || standing.members.iter().copied().filter(|&member| member != own);
        let loss = match (calls.pairs[pair].loss, others().next()) {
            (Some(loss), _) => loss,
            (None, None) => 0.0,
            (None, Some(other)) => {
                let loss = self.loss_between(client, self.process_of(other));
                *calls.pairs[pair].loss.insert(loss)
            }
        };
        let mut troubled = Vec::new();
        let mut look_at = |instance| {
            let trouble = self.trouble_of(calls, client, instance, loss);
            if trouble != (Trouble { loss, ..Trouble::NONE }) {
                troubled.push((instance, trouble));
            }
        };
        if calls.links_fail {
            standing.members.iter().copied().for_each(&mut look_at);
        } else {
            standing.troubled.iter().copied().for_each(&mut look_at);
        }
        if standing.members.is_empty() || !troubled.is_empty() || !calls.bulk {
            self.note_dead(calls, &troubled);
            Prospect::Troubled(standing.members, troubled, loss)
        } else {
            Prospect::Quiet
        }
    }

    fn standing(&mut self, calls: &mut Calls, view: View, callee: AppId) -> Standing {
        if let Some(standing) = calls.standings.get(&(view, callee)) {
            return standing.clone();
        }
        let members = self.views.up_instances(view, callee);
        let troubled = members.iter().copied().filter(|&member| {
            let client = self.process_of(member);
            self.clients[client.index()].instance != member || !self.condition_of(calls, client).is_well()
        });
        let standing = Standing { troubled: troubled.collect(), members };
        calls.standings.insert((view, callee), standing.clone());
        standing
    }

    /// The process that registered as `instance`; by now it may have another identity.
    fn process_of(&self, instance: InstanceId) -> ClientId {
        let identity = self.identities[instance.index()];
        self.members[identity.app.index()][identity.ordinal as usize - 1]
    }

    fn condition_of(&self, calls: &Calls, client: ClientId) -> Condition {
        let node = &self.clients[client.index()];
        let noticed = |since: SimTime, until: SimTime| {
            let pairs = calls.pairs.iter().filter(|pair| pair.callee == node.app);
            pairs.map(|pair| pair.policy.read_timeout).min().is_some_and(|least| until.since(since) > least)
        };
        let stands_until = match node.state {
            State::Paused { since, until } if noticed(since, until) => until,
            _ => SimTime::ZERO,
        };
        Condition { answers: self.answers_calls(client), stands_until, refuses: node.calls_fail }
    }

    /// What is wrong with `instance` for `caller`.
    fn trouble_of(&self, calls: &Calls, caller: ClientId, instance: InstanceId, usual_loss: f64) -> Trouble {
        let client = self.process_of(instance);
        let condition = self.condition_of(calls, client);
        if self.clients[client.index()].instance != instance || !condition.answers {
            return Trouble { dead: Some(self.blamed_for(caller, instance)), ..Trouble::NONE };
        }
        let loss = match calls.links_fail {
            true if client != caller => self.loss_between(caller, client),
            _ => usual_loss,
        };
        Trouble { dead: None, stands_until: condition.stands_until, loss, refuses: condition.refuses }
    }

    /// The first stage on the way to the caller that still shows the instance.
    fn blamed_for(&self, caller: ClientId, instance: InstanceId) -> Stage {
        let [registry, served] = self.recorder.server_views();
        let local = self.clients[caller.index()].client.view();
        let stages = [(Stage::Registry, registry), (Stage::Served, served), (Stage::Client, local)];
        let first = stages.into_iter().find(|&(_, view)| self.views.is_up(view, instance));
        first.map_or(Stage::Balancer, |(stage, _)| stage)
    }

    /// Remembers whom the registry and its answers show: when they cease to, another stage is to blame.
    fn note_dead(&self, calls: &mut Calls, troubled: &[(InstanceId, Trouble)]) {
        let server = self.recorder.server_views();
        for &(instance, trouble) in troubled {
            if let Some(Stage::Registry | Stage::Served) = trouble.dead {
                calls.shown_dead.insert(instance, server.map(|view| self.views.is_up(view, instance)));
            }
        }
    }
}
