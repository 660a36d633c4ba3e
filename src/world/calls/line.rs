//! The calls of one process to one application: made one by one, or in bulk, or none at present.

use std::rc::Rc;

use super::plan::{Plan, Trouble};
use super::{Calls, World};
use crate::engine::{Chance, NANOS_PER_S, Purpose, SimDuration, SimTime};
use crate::model::id::{AppId, ClientId, InstanceId};
use crate::observe::CallCounts;

/// How many calls are made in a span.
const COUNT: Purpose = Purpose(0);
/// Where a balancer's round starts, and how far it went while nobody looked.
const ROUND: Purpose = Purpose(1);

/// A balancer's round starts at one of so many places (`RoundRobinLoadBalancer`).
const STARTS: u64 = 1_000;

/// What becomes of the calls at present.
pub(super) enum Phase {
    /// There are none.
    Silent,
    /// Nothing can go wrong.
    Quiet,
    /// Somebody is in trouble, or nobody is there.
    Troubled(Box<Plan>),
}

/// The calls of one process to one application.
pub(super) struct Line {
    /// Which pair of applications.
    pair: usize,
    phase: Phase,
    /// Calls before this moment are counted, or are those of a quiet caller.
    since: SimTime,
    /// Where the balancer's round stood when it was last known.
    position: Option<u32>,
    /// How long calls were made since, quietly.
    unknown_for: SimDuration,
    /// Made when first needed: most callers may never need it.
    chance: Option<Box<Chance>>,
}

/// What the calls of a line meet from now on.
pub(super) enum Prospect {
    /// None are made.
    Silent,
    /// All go well, but for what the network loses.
    Quiet,
    /// This list, with these in trouble, and this loss on the way to the others.
    Troubled(Rc<[InstanceId]>, Vec<(InstanceId, Trouble)>, f64),
}

impl Line {
    /// No calls yet.
    pub(super) fn new(pair: usize) -> Self {
        Self {
            pair,
            phase: Phase::Silent,
            since: SimTime::ZERO,
            position: None,
            unknown_for: SimDuration::ZERO,
            chance: None,
        }
    }

    /// Which pair of applications.
    #[cfg(test)]
    pub(super) fn pair(&self) -> usize {
        self.pair
    }

    /// What becomes of the calls at present.
    #[cfg(test)]
    pub(super) fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Whether calls are made one by one.
    pub(super) fn is_troubled(&self) -> bool {
        matches!(self.phase, Phase::Troubled(_))
    }
}

impl World<'_> {
    /// Looks anew at those lines of a caller that are `wanted`.
    pub(super) fn review_lines(
        &mut self,
        calls: &mut Calls,
        client: ClientId,
        wanted: impl Fn(&Line, AppId) -> bool,
        now: SimTime,
    ) {
        if calls.callers[client.index()].lines.is_empty() {
            return;
        }
        let state = self.caller_state(client);
        calls.callers[client.index()].state = Some(state);
        for number in 0..calls.callers[client.index()].lines.len() {
            let line = &calls.callers[client.index()].lines[number];
            if wanted(line, calls.pairs[line.pair].callee) {
                self.review_line(calls, client, number, now);
            }
        }
    }

    /// Counts the calls of a line until `until`, as far as they are made one by one.
    pub(super) fn settle(&mut self, calls: &mut Calls, client: ClientId, number: usize, until: SimTime) {
        let line = &mut calls.callers[client.index()].lines[number];
        let Phase::Troubled(plan) = &line.phase else { return };
        let pair = &calls.pairs[line.pair];
        let chance = line.chance.as_mut().expect("made with the plan");
        let mut dice = chance.with(&self.seed);
        let mut position = line.position.expect("known since the plan was made");
        while line.since < until {
            let minute = CallCounts::minute_of(line.since);
            let end =
                until.min(CallCounts::start_of(minute + 1)).min(plan.next_change(line.since, &pair.policy));
            let count = dice.poisson(COUNT, expected(pair.rate, end.since(line.since)));
            if count > 0 {
                let tally = plan.calls(count, line.since, &mut position, &pair.policy, &mut dice);
                calls.counts.add(line.pair, minute, tally);
            }
            line.since = end;
        }
        line.position = Some(position);
    }

    fn review_line(&mut self, calls: &mut Calls, client: ClientId, number: usize, now: SimTime) {
        self.settle(calls, client, number, now);
        let pair = calls.callers[client.index()].lines[number].pair;
        let prospect = self.prospect(calls, client, pair);
        let line = &mut calls.callers[client.index()].lines[number];
        if let (Phase::Quiet, Prospect::Quiet) | (Phase::Silent, Prospect::Silent) = (&line.phase, &prospect)
        {
            return;
        }
        let pair = &mut calls.pairs[line.pair];
        if let Phase::Quiet = line.phase {
            pair.quiet.leave(now);
            line.unknown_for = line.unknown_for + now.since(line.since);
        }
        line.since = now;
        match prospect {
            Prospect::Silent => {
                line.phase = Phase::Silent;
                if !self.clients[client.index()].client.is_running() {
                    // The next process has a new balancer.
                    (line.position, line.unknown_for) = (None, SimDuration::ZERO);
                }
            }
            Prospect::Quiet => {
                line.phase = Phase::Quiet;
                pair.quiet.enter(now);
            }
            Prospect::Troubled(list, troubled, loss) => {
                let node = &self.clients[client.index()];
                let chance = line.chance.get_or_insert_with(|| {
                    let [caller, callee] =
                        [pair.caller, pair.callee].map(|app| &self.scenario.applications[app.index()].name);
                    Box::new(Chance::of(&format!("calls/{caller}/{}/{callee}", node.ordinal)))
                });
                let mut dice = chance.with(&self.seed);
                let start = line.position.unwrap_or_else(|| dice.below(ROUND, STARTS) as u32);
                let mean = expected(pair.rate, std::mem::take(&mut line.unknown_for));
                line.position = Some(start.wrapping_add(dice.poisson(ROUND, mean) as u32));
                let before = match &line.phase {
                    Phase::Troubled(plan) => Some(&**plan),
                    Phase::Silent | Phase::Quiet => None,
                };
                let plan = Plan::new(list, troubled, loss, before, &mut dice);
                line.phase = Phase::Troubled(Box::new(plan));
            }
        }
    }
}

/// How many events of a stream are expected.
fn expected(rate: f64, length: SimDuration) -> f64 {
    rate * (length.as_nanos() as f64 / NANOS_PER_S as f64)
}
