//! Who is in trouble, and what a caller can expect of its list.

use std::rc::Rc;

use super::line::CallPrediction;
use super::watch::Watch;
use super::{Calls, World};
use crate::engine::SimTime;
use crate::model::eureka::client::BalancerConfig;
use crate::model::id::{AppId, ClientId, InstanceId};
use crate::model::view::View;
use crate::world::node::State;
use crate::world::setup::config_of;

/// What everybody who calls a process meets there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Condition {
    /// The identity that it has.
    pub(super) instance: InstanceId,
    /// Whether it answers at all.
    pub(super) answers: bool,
    /// It stands still until then; the start of the run if it does not, or not for long enough to be noticed.
    pub(super) stands_until: SimTime,
    /// The share of calls that it fails.
    pub(super) refuses: f64,
}

/// A list, and who in it is in trouble; by number.
#[derive(Clone)]
pub(super) struct ListState {
    pub(super) members: Rc<[InstanceId]>,
    pub(super) faulty: Rc<[InstanceId]>,
}

impl Condition {
    /// No process yet.
    pub(super) const UNBORN: Self =
        Self { instance: InstanceId(u32::MAX), answers: false, stands_until: SimTime::ZERO, refuses: 0.0 };

    /// Whether who calls `instance` finds this process.
    pub(super) fn is_alive_as(&self, instance: InstanceId) -> bool {
        self.answers && self.instance == instance
    }

    /// Whether who calls `instance` has nothing to complain of.
    fn is_well_as(&self, instance: InstanceId) -> bool {
        self.is_alive_as(instance) && self.stands_until == SimTime::ZERO && self.refuses == 0.0
    }
}

impl World<'_> {
    /// The process that registered as `instance`; by now it may have another identity.
    pub(super) fn process_of(&self, instance: InstanceId) -> ClientId {
        let identity = self.identities[instance.index()];
        self.members[identity.app.index()][identity.ordinal as usize - 1]
    }

    /// How a process is now.
    pub(super) fn condition_of(&self, calls: &Calls, client: ClientId) -> Condition {
        let node = &self.clients[client.index()];
        let stands_until = match node.state {
            State::Paused { since, until } if until.since(since) > calls.read_timeout_for(node.app) => until,
            _ => SimTime::ZERO,
        };
        Condition {
            instance: node.instance,
            answers: node.state != State::Down,
            stands_until,
            refuses: node.calls_fail,
        }
    }

    /// The instances of `callee` in `view`, and who of them was in trouble at the last review.
    pub(super) fn list_state(&mut self, calls: &mut Calls, view: View, callee: AppId) -> ListState {
        if let Some(list_state) = calls.standings.get(&(view, callee)) {
            return list_state.clone();
        }
        let members = self.views.up_instances(view, callee);
        let condition = |instance| &calls.conditions[self.process_of(instance).index()];
        let faulty: Rc<[InstanceId]> =
            members.iter().copied().filter(|&member| !condition(member).is_well_as(member)).collect();
        let dead: Vec<InstanceId> =
            faulty.iter().copied().filter(|&member| !condition(member).is_alive_as(member)).collect();
        for instance in dead {
            self.note_dead(calls, instance);
        }
        let list_state = ListState { members, faulty };
        calls.standings.insert((view, callee), list_state.clone());
        list_state
    }

    /// Remembers somebody dead, if a registry or its answers show it: when they cease to, another stage is to
    /// blame.
    pub(super) fn note_dead(&self, calls: &mut Calls, instance: InstanceId) {
        let shown = self.shown_by(&calls.servers, instance);
        if shown.iter().flatten().any(|&shown| shown) {
            calls.shown_dead.insert(instance, shown);
        }
    }

    /// What the calls of a line meet from now on.
    pub(super) fn prediction(&mut self, calls: &mut Calls, number: usize) -> CallPrediction {
        let (client, pair) = (calls.lines[number].client, calls.lines[number].pair);
        let ([local, mut view], makes_calls) = self.caller_state(client);
        if !makes_calls {
            return CallPrediction::Silent;
        }
        let callee = calls.pairs[pair].callee;
        let mut list_state = self.list_state(calls, view, callee);
        let balancer = config_of(self.scenario, self.clients[client.index()].app).balancer();
        if list_state.members.is_empty() && matches!(balancer, BalancerConfig::SpringCloudLoadBalancer { .. })
        {
            // An empty list is never served: the local registry is asked (`eureka-client.md` 8.3).
            view = local;
            list_state = self.list_state(calls, view, callee);
        }
        let losses = self.losses(calls, client, pair, &list_state.members);
        let all_is_well = !list_state.members.is_empty() && list_state.faulty.is_empty() && losses.is_empty();
        match all_is_well && calls.bulk {
            true => CallPrediction::Quiet(view),
            false => CallPrediction::Watched(view, Watch::new(list_state.members, losses)),
        }
    }

    /// Whose link to the caller is not the usual one. What is usual is what the first call met.
    fn losses(
        &self,
        calls: &mut Calls,
        caller: ClientId,
        pair: usize,
        members: &[InstanceId],
    ) -> Vec<(InstanceId, f64)> {
        let own = self.clients[caller.index()].instance;
        let others = members.iter().copied().filter(|&member| member != own);
        let loss_to = |instance| self.loss_between(caller, self.process_of(instance));
        let mut others = others.peekable();
        let Some(&first) = others.peek() else { return Vec::new() };
        let usual = *calls.pairs[pair].loss.get_or_insert_with(|| loss_to(first));
        if !calls.links_fail {
            return Vec::new();
        }
        others.map(|instance| (instance, loss_to(instance))).filter(|&(_, loss)| loss != usual).collect()
    }
}
