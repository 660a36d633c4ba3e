//! The calls of one process to one application: made one by one, or together with others', or none at present.

use std::rc::Rc;

use super::conditions::{Condition, ListState};
use super::round::{Policy, call};
use super::watch::Watch;
use super::{Calls, Pair, World};
use crate::engine::{NANOS_PER_S, Purpose, Rng, SimDuration, SimTime, Streams};
use crate::model::id::{AppId, ClientId, InstanceId};
use crate::model::stage::Stage;
use crate::model::view::View;
use crate::observe::{CallCounts, CallOutcome, CallTally};

/// When calls are made, and how many in a span.
const CALLS: Purpose = Purpose(0);
/// Where a balancer's round starts, and how far it went while nobody looked.
const ROUND: Purpose = Purpose(1);
/// Whether an attempt is lost or fails, where that is not certain.
const OUTCOMES: Purpose = Purpose(3);

/// A balancer's round starts at one of so many places (`RoundRobinLoadBalancer`).
const STARTS: u64 = 1_000;

/// What becomes of the calls at present.
#[derive(Clone)]
pub(super) enum Phase {
    /// There are none.
    Silent,
    /// Nothing can go wrong: they are drawn in the end, together with others'.
    Quiet,
    /// They are made one by one.
    Watched(Box<Watch>),
}

/// The calls of one process to one application.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) client: ClientId,
    /// Which pair of applications.
    pub(super) pair: usize,
    pub(super) phase: Phase,
    /// The view that the list is of.
    pub(super) view: View,
    /// When the next call is made, if they are made one by one; else at the end of time.
    pub(super) next_call: SimTime,
    /// Since when it is quiet, if it is.
    quiet_since: SimTime,
    /// Where the balancer's round stood when it was last known.
    position: Option<u32>,
    /// How long calls were made since, quietly.
    unknown_for: SimDuration,
    /// Made when first needed: most callers may never need it.
    streams: Option<Box<Streams>>,
}

/// What the calls of a line meet from now on.
#[derive(Clone)]
pub(super) enum CallPrediction {
    /// None are made.
    Silent,
    /// All go well, but for what the network loses.
    Quiet(View),
    /// Not all may.
    Watched(View, Watch),
}

impl Line {
    /// No calls yet.
    pub(super) const fn new(client: ClientId, pair: usize) -> Self {
        Self {
            client,
            pair,
            phase: Phase::Silent,
            view: View::EMPTY,
            next_call: SimTime::MAX,
            quiet_since: SimTime::ZERO,
            position: None,
            unknown_for: SimDuration::ZERO,
            streams: None,
        }
    }
}

impl World<'_> {
    /// Makes the calls of a line up to `until`, if they are made one by one. The state of everything is as it was
    /// at the last review.
    #[inline]
    pub(super) fn settle(&mut self, calls: &mut Calls, number: usize, until: SimTime) {
        if calls.lines[number].next_call < until {
            self.make_calls(calls, number, until);
        }
    }

    fn make_calls(&mut self, calls: &mut Calls, number: usize, until: SimTime) {
        let Line { view, pair, client, .. } = calls.lines[number];
        let list_state = self.list_state(calls, view, calls.pairs[pair].callee);
        let [local, _] = calls.callers[client.index()].state.expect("a caller was looked at").0;
        let stands_still = calls.stands_still > 0;
        // Nobody who has no answer yet has anybody to call.
        let server = calls.servers.get(calls.callers[client.index()].asks.index()).copied();
        let server = server.unwrap_or([View::EMPTY; 2]);
        let Calls { lines, pairs, conditions, counts, .. } = calls;
        let (line, pair) = (&mut lines[number], &pairs[pair]);
        let Phase::Watched(watch) = &mut line.phase else { unreachable!("calls of others are not made") };
        let mut rng = line.streams.as_mut().expect("made before the first call").with(&self.seed);
        let mut position = line.position.expect("known before the first call");
        watch.place(&list_state.faulty, &mut rng);
        let call_context = CallContext {
            world: self,
            watch,
            conditions,
            policy: &pair.policy,
            loss: pair.usual_loss(),
            views: [server[0], server[1], local],
        };
        while line.next_call < until {
            let from = line.next_call;
            let minute = CallCounts::minute_of(from);
            let mut end = until.min(CallCounts::start_of(minute + 1));
            if stands_still {
                end = end.min(call_context.next_wake(&list_state, from));
            }
            let mut tally = CallTally::default();
            for _ in 0..calls_from(&mut line.next_call, end, pair, &mut rng) {
                call(watch.list().len() as u32, &mut position, &pair.policy, &mut tally, |place, tally| {
                    call_context.attempt(place, from, &mut rng, tally)
                });
            }
            counts.add(line.pair, minute, tally);
        }
        line.position = Some(position);
    }

    /// Looks anew at a line whose caller or list has changed, or may have.
    pub(super) fn review_line(&mut self, calls: &mut Calls, number: usize, now: SimTime) {
        self.settle(calls, number, now);
        match self.prediction(calls, number) {
            CallPrediction::Silent => {
                self.leave_phase(calls, number, now);
                let line = &mut calls.lines[number];
                line.phase = Phase::Silent;
                if !self.clients[line.client.index()].client.is_running() {
                    // The next process has a new balancer.
                    (line.position, line.unknown_for) = (None, SimDuration::ZERO);
                }
            }
            CallPrediction::Quiet(view) => {
                calls.lines[number].view = view;
                if !matches!(calls.lines[number].phase, Phase::Quiet) {
                    self.leave_phase(calls, number, now);
                    let line = &mut calls.lines[number];
                    (line.phase, line.quiet_since) = (Phase::Quiet, now);
                    calls.pairs[line.pair].quiet.enter(now);
                }
            }
            CallPrediction::Watched(view, watch) => {
                calls.lines[number].view = view;
                match &mut calls.lines[number].phase {
                    Phase::Watched(before) if Rc::ptr_eq(before.list(), watch.list()) => {
                        before.set_losses(watch.losses().to_vec());
                    }
                    Phase::Watched(before) => **before = watch,
                    Phase::Silent | Phase::Quiet => self.begin_to_watch(calls, number, watch, now),
                }
            }
        }
    }

    fn begin_to_watch(&mut self, calls: &mut Calls, number: usize, watch: Watch, now: SimTime) {
        self.leave_phase(calls, number, now);
        let line = &mut calls.lines[number];
        let pair = &calls.pairs[line.pair];
        let streams = line.streams.get_or_insert_with(|| {
            let name = |app: AppId| &self.scenario.applications[app.index()].name;
            let ordinal = self.clients[line.client.index()].ordinal;
            let label = format!("calls/{}/{ordinal}/{}", name(pair.caller), name(pair.callee));
            Box::new(Streams::of(&label))
        });
        let mut rng = streams.with(&self.seed);
        let start = line.position.unwrap_or_else(|| rng.below(ROUND, STARTS) as u32);
        let unseen = rng.poisson(ROUND, expected(pair.rate, std::mem::take(&mut line.unknown_for)));
        line.position = Some(start.wrapping_add(unseen as u32));
        line.next_call = now + gap(pair.rate, &mut rng);
        line.phase = Phase::Watched(Box::new(watch));
    }

    fn leave_phase(&self, calls: &mut Calls, number: usize, now: SimTime) {
        let line = &mut calls.lines[number];
        line.next_call = SimTime::MAX;
        if let Phase::Quiet = line.phase {
            calls.pairs[line.pair].quiet.leave(now);
            line.unknown_for = line.unknown_for + now.since(line.quiet_since);
        }
    }
}

/// What a caller's attempts meet between two reviews.
struct CallContext<'a, 'w> {
    world: &'a World<'w>,
    watch: &'a Watch,
    conditions: &'a [Condition],
    policy: &'a Policy,
    /// The probability that a call is lost on a link that works.
    loss: f64,
    /// What the registry, its answers and the caller's local registry show.
    views: [View; 3],
}

impl CallContext<'_, '_> {
    fn attempt(&self, place: u32, at: SimTime, rng: &mut Rng<'_>, tally: &mut CallTally) -> CallOutcome {
        let Some(instance) = self.watch.instance_at(place) else {
            return if rng.happens(OUTCOMES, self.loss) {
                CallOutcome::CutOff
            } else {
                CallOutcome::Answered
            };
        };
        let condition = self.conditions[self.world.process_of(instance).index()];
        if !condition.is_alive_as(instance) {
            tally.dead_by_stage[self.blamed_for(instance) as usize] += 1;
            CallOutcome::Dead
        } else if at < self.answers_from(&condition) {
            CallOutcome::Paused
        } else if rng.happens(OUTCOMES, self.watch.loss_to(instance).unwrap_or(self.loss)) {
            CallOutcome::CutOff
        } else if rng.happens(OUTCOMES, condition.refuses) {
            CallOutcome::Refused
        } else {
            CallOutcome::Answered
        }
    }

    /// The first stage on the way to the caller that still shows the instance. A caller without a balancer picks from its
    /// local registry, which shows whom it picked: then nothing is the balancer's fault.
    fn blamed_for(&self, instance: InstanceId) -> Stage {
        let stages = [Stage::Registry, Stage::Served, Stage::Client];
        let shows = |(_, view): &(Stage, View)| self.world.views.is_up(*view, instance);
        stages.into_iter().zip(self.views).find(shows).map_or(Stage::Balancer, |(stage, _)| stage)
    }

    /// From then on an attempt at a process that stands still is answered in time.
    fn answers_from(&self, condition: &Condition) -> SimTime {
        let stall_after = self.policy.read_timeout.as_nanos();
        SimTime::from_nanos(condition.stands_until.as_nanos().saturating_sub(stall_after))
    }

    /// The next moment after `now` at which somebody in the list begins to answer in time.
    fn next_wake(&self, list_state: &ListState, now: SimTime) -> SimTime {
        let conditions = list_state
            .faulty
            .iter()
            .map(|&instance| &self.conditions[self.world.process_of(instance).index()]);
        let wakes = conditions.map(|condition| self.answers_from(condition));
        wakes.filter(|&wake| wake > now).min().unwrap_or(SimTime::MAX)
    }
}

/// How many calls there are from `next` on and before `end`; `next` becomes the first one after that.
fn calls_from(next: &mut SimTime, end: SimTime, pair: &Pair, rng: &mut Rng<'_>) -> u64 {
    let more = expected(pair.rate, end.since(*next));
    if more >= 1.0 {
        // What is left of a gap at `end` is as long as a whole one: the stream has no memory.
        *next = end + gap(pair.rate, rng);
        return 1 + rng.poisson(CALLS, more);
    }
    let mut count = 0;
    while *next < end {
        count += 1;
        *next += gap(pair.rate, rng);
    }
    count
}

/// The time until the next call.
fn gap(rate: f64, rng: &mut Rng<'_>) -> SimDuration {
    let nanos = -libm::log1p(-rng.unit(CALLS)) / rate * NANOS_PER_S as f64;
    SimDuration::from_nanos((nanos as u64).max(1))
}

/// How many calls are expected.
fn expected(rate: f64, length: SimDuration) -> f64 {
    rate * (length.as_nanos() as f64 / NANOS_PER_S as f64)
}
