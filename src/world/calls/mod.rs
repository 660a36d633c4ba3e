//! Calls between instances: what a detection window costs the people behind it.
//!
//! Every instance of an application with traffic calls others, each in a Poisson stream, and picks them from its
//! balancer's list. Calls are counted and change nothing: no event is scheduled for one, so a run has the same
//! digest with traffic and without it. (A scenario's `[traffic]` also sets how often balancers are called, where
//! nothing else does. That is a setting of the balancers and changes when they read their lists.)
//!
//! What becomes of a call is decided when it is made: by the caller's list, and by the state of whoever it picks.
//! All of that is constant between a few moments at which a list is read, a process dies, stands still or comes
//! back, a link fails, or a stage ceases to show the dead. At each of these, calls up to then are made up with the
//! state of everything as it was, and then the change is taken in. So time need not stop for a call:
//!
//! * A caller whose list holds somebody in trouble, or nobody, is *watched*. Its calls are made one by one
//!   ([`mod@line`]), each where the round robin stands. All but the moment of the next one are drawn when they are past.
//! * All others are *quiet*. Their calls are drawn together, minute by minute ([`mod@quiet`]), and the place in the
//!   round is moved on by a draw of its own once somebody is in trouble. The one thing that this does not keep is
//!   how these two draws hang together, which no figure can show.
//!
//! A change of a process costs a glance at every line of calls, and a change of a list one at its own caller. Many
//! changes at one moment cost as much as one.
//!
//! Calls take no time: a retry is made at the moment of the call. Not modelled: Ribbon's circuit breaker, retries
//! that depend on the HTTP method, and reads that find the list as it was, which would shuffle it anew.

mod conditions;
mod line;
mod quiet;
mod review;
mod round;
#[cfg(test)]
mod tests;
mod watch;

use std::collections::BTreeMap;
use std::ops::Range;

use conditions::{Condition, ListState};
use line::Line;
use quiet::Quiet;
use round::Policy;

use super::World;
use super::event::Event;
use super::node::{NO_SERVER, State};
use super::setup::config_of;
use crate::engine::{SimDuration, SimTime, Streams};
use crate::model::eureka::client::BalancerConfig;
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::view::View;
use crate::observe::{CallCounts, CallMinute};
use crate::scenario::{FaultKind, Peer, Scenario};

/// Everything that the calls of a replicate need.
#[derive(Clone)]
pub(super) struct Calls {
    /// Who calls whom, by caller and callee.
    pairs: Vec<Pair>,
    /// By client.
    callers: Vec<Caller>,
    /// The calls of each process to each application, those of one process together.
    lines: Vec<Line>,
    /// By client, as at the last review.
    conditions: Vec<Condition>,
    /// How many processes stand still, as at the last review.
    stands_still: u32,
    /// Lists and who in them is in trouble, until that changes.
    standings: BTreeMap<(View, AppId), ListState>,
    /// The dead that a registry or its answers showed at the last review, and which of them did, by server.
    shown_dead: BTreeMap<InstanceId, Box<[[bool; 2]]>>,
    /// What each server's registry and answers showed at the last review.
    servers: Vec<[View; 2]>,
    /// Processes that may have changed since the last review.
    touched: Vec<ClientId>,
    /// By fault: whether its steps change more than what is told by [`World::touch`].
    changes_more: Vec<bool>,
    /// Whether links between instances ever fail.
    links_fail: bool,
    /// When the watched are next looked at for those that need it no longer.
    next_sweep: SimTime,
    /// Whether the calls of quiet callers are drawn together. Only tests say no.
    bulk: bool,
    counts: CallCounts,
}

/// The calls of one application's instances to another.
#[derive(Clone)]
struct Pair {
    caller: AppId,
    callee: AppId,
    /// Calls a second of one instance.
    rate: f64,
    policy: Policy,
    /// The probability that a call is lost on a link that works; known once somebody has called.
    loss: Option<f64>,
    quiet: Quiet,
    streams: Streams,
}

/// A process, as far as it calls.
#[derive(Clone)]
struct Caller {
    /// Its local registry and its balancer's list, and whether it calls at all, as at its last review.
    state: Option<([View; 2], bool)>,
    /// The server that showed it what it has.
    asks: ServerId,
    /// Its lines; none if it is no caller.
    lines: Range<usize>,
}

impl Pair {
    fn usual_loss(&self) -> f64 {
        self.loss.unwrap_or(0.0)
    }
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
                            scenario.setup.client(AppId(number as u32)).balancer(),
                            BalancerConfig::Ribbon { .. }
                        ),
                        read_timeout: traffic.read_timeout,
                    },
                    loss: None,
                    quiet: Quiet::default(),
                    streams: Streams::of(&format!("calls/{}/{callee_name}", application.name)),
                });
            }
        }
        let counts = CallCounts::new(pairs.iter().map(|pair| (pair.caller, pair.callee)).collect());
        let verbs = || scenario.faults.iter().map(|fault| &fault.verb);
        (!pairs.is_empty()).then(|| {
            Box::new(Self {
                pairs,
                callers: Vec::new(),
                lines: Vec::new(),
                conditions: Vec::new(),
                stands_still: 0,
                standings: BTreeMap::new(),
                shown_dead: BTreeMap::new(),
                servers: vec![[View::EMPTY; 2]; scenario.servers.len()],
                touched: Vec::new(),
                changes_more: verbs().map(changes_more).collect(),
                links_fail: verbs().any(hits_links),
                next_sweep: SimTime::ZERO,
                bulk: true,
                counts,
            })
        })
    }

    /// Another process of application `app` exists.
    pub(super) fn add_client(&mut self, app: AppId) {
        let client = ClientId(self.callers.len() as u32);
        let first = self.lines.len();
        let pairs = self.pairs.iter().enumerate().filter(|(_, pair)| pair.caller == app);
        self.lines.extend(pairs.map(|(number, _)| Line::new(client, number)));
        self.callers.push(Caller { state: None, asks: NO_SERVER, lines: first..self.lines.len() });
        self.conditions.push(Condition::UNBORN);
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

    /// How long the least patient caller of an application waits for somebody who stands still.
    fn read_timeout_for(&self, app: AppId) -> SimDuration {
        let pairs = self.pairs.iter().filter(|pair| pair.callee == app);
        pairs.map(|pair| pair.policy.read_timeout).min().unwrap_or(SimDuration::MAX)
    }
}

impl World<'_> {
    /// Ends the count.
    pub(super) fn finish_calls(&mut self, end: SimTime) -> Vec<CallMinute> {
        let Some(mut calls) = self.calls.take() else { return Vec::new() };
        for number in 0..calls.lines.len() {
            self.settle(&mut calls, number, end);
        }
        let mut counts = std::mem::take(&mut calls.counts);
        for (number, mut pair) in calls.pairs.into_iter().enumerate() {
            let loss = pair.usual_loss();
            let mut rng = pair.streams.with(&self.seed);
            pair.quiet.draw(end, pair.rate, loss, &pair.policy, &mut rng, |minute, tally| {
                counts.add(number, minute, tally);
            });
        }
        counts.finish()
    }

    /// What a caller has and whether it calls, now.
    fn caller_state(&self, client: ClientId) -> ([View; 2], bool) {
        let node = &self.clients[client.index()];
        let makes_calls = node.client.makes_calls(config_of(self.scenario, node.app));
        ([node.client.view(), node.client.balancer_view()], node.state == State::Running && makes_calls)
    }
}

/// Whether the steps of a verb change more than processes that start, end, stand still and go on: links, or calls that
/// fail.
const fn changes_more(verb: &FaultKind) -> bool {
    matches!(verb, FaultKind::Grey { .. } | FaultKind::Unhealthy { .. }) || hits_links(verb)
}

/// Whether a verb fails links between instances.
const fn hits_links(verb: &FaultKind) -> bool {
    match verb {
        FaultKind::Partition { peer, .. }
        | FaultKind::Flap { peer, .. }
        | FaultKind::Degrade { peer, .. } => !matches!(peer, Peer::Servers | Peer::Named(_)),
        _ => false,
    }
}
