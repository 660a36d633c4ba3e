//! Calls between instances: what a detection window costs the people behind it.
//!
//! Every instance of an application with traffic calls others, each in a Poisson stream, and picks them from its
//! balancer's list. Calls are counted and change nothing: no event is scheduled for one, so a run has the same
//! digest with traffic and without it.
//!
//! What becomes of a call is decided when it is made, by the list and by the state of whoever it picks. All of
//! that is constant between a few moments: a list is read, a process dies, stands still or comes back, a link
//! fails, a stage ceases to show the dead. So calls are made up span by span, whenever a span ends:
//!
//! * A caller whose list holds somebody in trouble, or nobody, makes them one by one: so many as a Poisson draw
//!   says, each picking where the round robin stands ([`Plan`]). That costs no events, and a few nanoseconds a
//!   call.
//! * All others are *quiet*. Their calls are drawn together, minute by minute ([`Quiet`]), and the place in the
//!   round is moved on by a draw of its own once somebody is in trouble. The one thing that this does not keep is
//!   how these two draws hang together, which no figure can show.
//!
//! A change of a process costs a look at every line of calls to its application, and a change of a list one at its
//! own caller. Many changes at one moment cost as much as one.
//!
//! Calls take no time: a retry is made at the moment of the call. Not modelled: Ribbon's circuit breaker, retries
//! that depend on the HTTP method, and reads that find the list as it was, which would shuffle it anew.

mod line;
mod plan;
mod quiet;
#[cfg(test)]
mod tests;
mod trouble;

use std::collections::BTreeMap;

use line::Line;
use plan::Policy;
use quiet::Quiet;
use trouble::{Condition, Standing};

use super::World;
use super::event::Event;
use super::node::State;
use super::setup::config_of;
use crate::engine::{Chance, SimTime};
use crate::model::client::BalancerConfig;
use crate::model::id::{AppId, ClientId, InstanceId};
use crate::model::view::View;
use crate::observe::{CallCounts, CallMinute};
use crate::scenario::{Peer, Scenario, Verb};

/// Everything that the calls of a replicate need.
pub(super) struct Calls {
    /// Who calls whom, by caller and callee.
    pairs: Vec<Pair>,
    /// By client.
    callers: Vec<Caller>,
    /// By client: as they were at the last review.
    conditions: Vec<Condition>,
    /// Lists and who in them is in trouble, until that changes.
    standings: BTreeMap<(View, AppId), Standing>,
    /// The dead that some plan knows, and whether the registry and its answers showed them at the last review.
    shown_dead: BTreeMap<InstanceId, [bool; 2]>,
    /// What the registry and its answers showed at the last review.
    server: [View; 2],
    /// Processes that may have changed since the last review.
    touched: Vec<ClientId>,
    /// By fault: whether its steps change more than what is told by [`World::touch`].
    changes_more: Vec<bool>,
    /// Whether links between instances ever fail.
    links_fail: bool,
    /// Whether the calls of quiet callers are drawn together. Only tests say no.
    bulk: bool,
    counts: CallCounts,
}

/// The calls of one application's instances to another.
struct Pair {
    caller: AppId,
    callee: AppId,
    /// Calls a second of one instance.
    rate: f64,
    policy: Policy,
    /// The probability that a call is lost on a link that works; known once somebody has called.
    loss: Option<f64>,
    quiet: Quiet,
    chance: Chance,
}

/// A process that calls.
#[derive(Default)]
struct Caller {
    /// Its local registry and its balancer's list, and whether it calls at all: as at its last review.
    state: Option<([View; 2], bool)>,
    /// One for each application that it calls; none if it is no caller.
    lines: Box<[Line]>,
}

/// Which lines are to be looked at.
struct Scope {
    /// Lines to these applications, by number.
    callees: Vec<bool>,
    /// All lines.
    all: bool,
    /// Lines that meet somebody in trouble.
    troubled: bool,
}

impl Calls {
    /// The calls of `scenario`; `None` if nobody calls.
    pub(super) fn of(scenario: &Scenario) -> Option<Box<Self>> {
        let mut pairs = Vec::new();
        for (number, application) in scenario.applications.iter().enumerate() {
            let Some(traffic) = &application.traffic else { continue };
            let mut callees = traffic.to.clone();
            callees.sort_unstable();
            callees.dedup();
            for callee in callees {
                let callee_name = &scenario.applications[callee.index()].name;
                pairs.push(Pair {
                    caller: AppId(number as u32),
                    callee,
                    rate: traffic.calls_per_second,
                    policy: Policy {
                        retries_on_same: traffic.retries_on_same_instance,
                        retries_on_next: traffic.retries_on_next_instance,
                        avoids_previous: !matches!(
                            application.client.balancer,
                            BalancerConfig::Ribbon { .. }
                        ),
                        read_timeout: traffic.read_timeout,
                    },
                    loss: None,
                    quiet: Quiet::default(),
                    chance: Chance::of(&format!("calls/{}/{callee_name}", application.name)),
                });
            }
        }
        let counts = CallCounts::new(pairs.iter().map(|pair| (pair.caller, pair.callee)).collect());
        let verbs = || scenario.faults.iter().map(|fault| &fault.verb);
        (!pairs.is_empty()).then(|| {
            Box::new(Self {
                pairs,
                callers: Vec::new(),
                conditions: Vec::new(),
                standings: BTreeMap::new(),
                shown_dead: BTreeMap::new(),
                server: [View::EMPTY; 2],
                touched: Vec::new(),
                changes_more: verbs().map(changes_more).collect(),
                links_fail: verbs().any(hits_links),
                bulk: true,
                counts,
            })
        })
    }

    /// Another process of application `app` exists.
    pub(super) fn add_client(&mut self, app: AppId) {
        let lines = self.pairs.iter().enumerate().filter(|(_, pair)| pair.caller == app);
        let lines = lines.map(|(number, _)| Line::new(number)).collect();
        self.callers.push(Caller { state: None, lines });
        self.conditions.push(Condition::DOWN);
    }

    /// Views are about to be forgotten, and their numbers to be used again.
    pub(super) fn forget_views(&mut self) {
        self.standings.clear();
    }

    /// Whether the event, which has just happened, is a step of a fault that may have changed anything.
    fn may_change_all(&self, event: Event) -> bool {
        match event {
            Event::FaultBegins { fault } | Event::FaultEnds { fault } => self.changes_more[fault as usize],
            Event::FaultStep { fault, .. } => self.changes_more[usize::from(fault)],
            _ => false,
        }
    }

    fn is_called(&self, app: AppId) -> bool {
        self.pairs.iter().any(|pair| pair.callee == app)
    }
}

impl World<'_> {
    /// A process starts, ends, stands still or goes on.
    #[inline]
    pub(super) fn touch(&mut self, client: ClientId) {
        if let Some(calls) = &mut self.calls {
            calls.touched.push(client);
        }
    }

    /// A client has taken a step: it may have begun to call, or hold another list.
    #[inline]
    pub(super) fn caller_stepped(&mut self, client: ClientId, now: SimTime) {
        let Some(calls) = &self.calls else { return };
        let caller = &calls.callers[client.index()];
        if !caller.lines.is_empty() && caller.state != Some(self.caller_state(client)) {
            let mut calls = self.calls.take().expect("just looked at");
            self.review_lines(&mut calls, client, |_, _| true, now);
            self.calls = Some(calls);
        }
    }

    /// After an event: takes in what it has changed.
    pub(super) fn review_calls(&mut self, event: Event, now: SimTime) {
        let Some(calls) = &self.calls else { return };
        let server = self.recorder.server_views();
        if calls.touched.is_empty() && calls.server == server && !calls.may_change_all(event) {
            return;
        }
        let mut calls = self.calls.take().expect("just looked at");
        let scope = self.changes(&mut calls, event, server, now);
        if scope.all || scope.troubled || scope.callees.contains(&true) {
            for number in 0..calls.callers.len() {
                let wanted = |line: &Line, callee: AppId| {
                    scope.all || scope.callees[callee.index()] || (scope.troubled && line.is_troubled())
                };
                self.review_lines(&mut calls, ClientId(number as u32), wanted, now);
            }
        }
        self.calls = Some(calls);
    }

    /// Ends the count.
    pub(super) fn finish_calls(&mut self, end: SimTime) -> Vec<CallMinute> {
        let Some(mut calls) = self.calls.take() else { return Vec::new() };
        for number in 0..calls.callers.len() {
            for line in 0..calls.callers[number].lines.len() {
                self.settle(&mut calls, ClientId(number as u32), line, end);
            }
        }
        let mut counts = std::mem::take(&mut calls.counts);
        for (number, mut pair) in calls.pairs.into_iter().enumerate() {
            let mut dice = pair.chance.with(&self.seed);
            let loss = pair.loss.unwrap_or(0.0);
            pair.quiet.draw(end, pair.rate, loss, &pair.policy, &mut dice, |minute, tally| {
                counts.add(number, minute, tally);
            });
        }
        counts.finish()
    }

    /// What has changed since the last review. Callers that themselves have changed are reviewed here.
    fn changes(&mut self, calls: &mut Calls, event: Event, server: [View; 2], now: SimTime) -> Scope {
        let mut touched = std::mem::take(&mut calls.touched);
        let mut scope = Scope { callees: vec![false; self.members.len()], all: false, troubled: false };
        if calls.may_change_all(event) {
            scope.all = calls.links_fail;
            touched.extend((0..self.clients.len() as u32).map(ClientId));
        }
        touched.sort_unstable();
        touched.dedup();
        for &client in &touched {
            if self.condition_changed(calls, client) {
                scope.callees[self.clients[client.index()].app.index()] = true;
            }
        }
        if scope.callees.contains(&true) {
            calls.standings.clear();
        }
        calls.server = server;
        for (&instance, shown) in &mut calls.shown_dead {
            let now_shown = server.map(|view| self.views.is_up(view, instance));
            scope.troubled |= std::mem::replace(shown, now_shown) != now_shown;
        }
        // Gone for good: who is in neither cannot come back to either.
        calls.shown_dead.retain(|_, shown| shown.contains(&true));
        for client in touched {
            let caller = &calls.callers[client.index()];
            if !caller.lines.is_empty() && caller.state != Some(self.caller_state(client)) {
                self.review_lines(calls, client, |_, _| true, now);
            }
        }
        scope
    }

    fn caller_state(&self, client: ClientId) -> ([View; 2], bool) {
        let node = &self.clients[client.index()];
        let makes_calls = node.client.makes_calls(config_of(self.scenario, node.app));
        ([node.client.view(), node.client.balancer_view()], node.state == State::Running && makes_calls)
    }
}

/// Whether the steps of a verb change more than processes that start, end, stand still and go on: links, or calls that
/// fail.
const fn changes_more(verb: &Verb) -> bool {
    matches!(verb, Verb::Grey { .. } | Verb::Unhealthy { .. }) || hits_links(verb)
}

/// Whether a verb fails links between instances.
const fn hits_links(verb: &Verb) -> bool {
    match verb {
        Verb::Partition { peer, .. } | Verb::Flap { peer, .. } | Verb::Degrade { peer, .. } => {
            !matches!(peer, Peer::Server)
        }
        _ => false,
    }
}
