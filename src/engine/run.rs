//! The loop: take the first event, hand it over, again, until something ends the run.
//!
//! The way a run ends is an [`Outcome`] with a name; a limit that was hit is one of them, not an error.

use std::sync::atomic::{AtomicBool, Ordering};

use super::digest::{Fingerprint, OrderDigest};
use super::queue::{EventQueue, LaneId};
use super::time::{SimDuration, SimTime};

/// Events between two looks at the interrupt flag.
const EVENTS_PER_LOOK: u64 = 256;

/// A world: what an event does.
pub trait Handler {
    /// What can happen.
    type Event: Copy + Fingerprint;

    /// Lets `event` happen at `now`; what follows from it is put into `schedule`.
    fn handle(&mut self, now: SimTime, event: Self::Event, schedule: &mut Schedule<Self::Event>);
}

/// The future, as a handler may change it: by adding to it, or by ending it.
#[derive(Clone, Debug)]
pub struct Schedule<E> {
    queue: EventQueue<E>,
    stopped: bool,
}

/// What ends a run that does not end by itself.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Events due at this time still run, later ones do not.
    pub horizon: SimTime,
    /// How many events may run in all.
    pub events: u64,
    /// Ends the run soon after it was set; looked at every few hundred events.
    pub interrupt: Option<&'a AtomicBool>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing was left to happen.
    Drained,
    /// What is left lies behind the horizon.
    Horizon,
    /// The handler wanted it to end.
    Stopped,
    /// The next event would have been one more than the budget allows.
    OverBudget,
    /// The interrupt flag was set.
    Interrupted,
}

/// What can be said of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// Why it ended.
    pub outcome: Outcome,
    /// How many events ran.
    pub events: u64,
    /// The time of the last of them.
    pub at: SimTime,
    /// Which events ran, when and in which order.
    pub digest: OrderDigest,
}

/// A queue and the count and digest of what came out of it.
#[derive(Clone, Debug)]
pub struct Engine<E> {
    schedule: Schedule<E>,
    events: u64,
    digest: OrderDigest,
}

impl<E: Copy> Schedule<E> {
    /// The lane for events that happen `delay` after they are scheduled: see [`EventQueue::lane`].
    pub fn lane(&mut self, delay: SimDuration) -> LaneId {
        self.queue.lane(delay)
    }

    /// Schedules `event` at now plus the lane's delay.
    #[inline]
    pub fn after(&mut self, lane: LaneId, event: E) {
        self.queue.push_lane(lane, event);
    }

    /// Schedules `event` at `time`, which is not before now.
    #[inline]
    pub fn at(&mut self, time: SimTime, event: E) {
        self.queue.push_at(time, event);
    }

    /// The time of the event that is happening; the start of the run before the first.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.queue.now()
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Ends the run after the event that is happening.
    pub fn stop(&mut self) {
        self.stopped = true;
    }
}

impl Limits<'_> {
    /// No limit but `horizon`.
    pub const fn until(horizon: SimTime) -> Self {
        Self { horizon, events: u64::MAX, interrupt: None }
    }
}

impl<E: Copy + Fingerprint> Engine<E> {
    /// An engine at time 0 with nothing to do.
    pub fn new() -> Self {
        let schedule = Schedule { queue: EventQueue::new(), stopped: false };
        Self { schedule, events: 0, digest: OrderDigest::new() }
    }

    /// The future: for the first events of a run.
    pub fn schedule(&mut self) -> &mut Schedule<E> {
        &mut self.schedule
    }

    /// The time of the next event; `None` if nothing is left to happen.
    pub fn next_at(&self) -> Option<SimTime> {
        self.schedule.queue.peek_time()
    }

    /// How many events ran so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Runs until one of the limits is reached, `handler` wants to stop, or nothing is left.
    ///
    /// A run can be taken up again with other limits; events and digest go on from where they were.
    pub fn run(&mut self, handler: &mut impl Handler<Event = E>, limits: &Limits<'_>) -> RunEnd {
        self.run_watched(handler, limits, |_, _| ())
    }

    /// [`Engine::run`] with a witness: `watch` sees each event just before it happens.
    pub fn run_watched(
        &mut self,
        handler: &mut impl Handler<Event = E>,
        limits: &Limits<'_>,
        mut watch: impl FnMut(SimTime, &E),
    ) -> RunEnd {
        self.schedule.stopped = false;
        let outcome = loop {
            if limits.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                break Outcome::Interrupted;
            }
            let pause = self.events.saturating_add(EVENTS_PER_LOOK).min(limits.events);
            if let Some(outcome) = self.run_some(handler, limits.horizon, pause, &mut watch) {
                break outcome;
            }
            if self.events >= limits.events {
                break self.outcome_at_budget(limits.horizon);
            }
        };
        RunEnd { outcome, events: self.events, at: self.schedule.now(), digest: self.digest }
    }

    /// Runs until `pause` events ran in all; `None` if nothing else ended it.
    #[inline]
    fn run_some(
        &mut self,
        handler: &mut impl Handler<Event = E>,
        horizon: SimTime,
        pause: u64,
        watch: &mut impl FnMut(SimTime, &E),
    ) -> Option<Outcome> {
        while self.events < pause {
            let Some((now, event)) = self.schedule.queue.pop_until(horizon) else {
                return Some(self.outcome_at_end());
            };
            self.events += 1;
            self.digest.add(now, event.fingerprint());
            watch(now, &event);
            handler.handle(now, event, &mut self.schedule);
            if self.schedule.stopped {
                return Some(Outcome::Stopped);
            }
        }
        None
    }

    fn outcome_at_end(&self) -> Outcome {
        if self.schedule.is_empty() { Outcome::Drained } else { Outcome::Horizon }
    }

    /// A budget that is just enough is not exceeded.
    fn outcome_at_budget(&self, horizon: SimTime) -> Outcome {
        match self.schedule.queue.peek_time() {
            Some(time) if time <= horizon => Outcome::OverBudget,
            _ => self.outcome_at_end(),
        }
    }
}

impl<E: Copy + Fingerprint> Default for Engine<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that ticks each second, remembers when, and stops at the tick it is told.
    #[derive(Default)]
    struct Clock {
        ticks: Vec<u64>,
        stop_at: Option<usize>,
    }

    #[derive(Clone, Copy, Debug)]
    struct Tick;

    impl Fingerprint for Tick {
        fn fingerprint(&self) -> u64 {
            0
        }
    }

    impl Handler for Clock {
        type Event = Tick;

        fn handle(&mut self, now: SimTime, event: Tick, schedule: &mut Schedule<Tick>) {
            assert_eq!(now, schedule.now());
            self.ticks.push(now.as_millis());
            let second = schedule.lane(SimDuration::from_secs(1));
            schedule.after(second, event);
            if self.stop_at == Some(self.ticks.len()) {
                schedule.stop();
            }
        }
    }

    fn ticking() -> Engine<Tick> {
        let mut engine = Engine::new();
        engine.schedule().at(SimTime::from_secs(1), Tick);
        engine
    }

    #[test]
    fn an_event_at_the_horizon_still_runs() {
        let (mut clock, mut engine) = (Clock::default(), ticking());
        let end = engine.run(&mut clock, &Limits::until(SimTime::from_secs(3)));
        assert_eq!(clock.ticks, [1000, 2000, 3000]);
        assert_eq!((end.outcome, end.events, end.at), (Outcome::Horizon, 3, SimTime::from_secs(3)));
    }

    #[test]
    fn a_run_that_is_taken_up_again_is_the_same_run() {
        let mut whole = ticking();
        let whole = whole.run(&mut Clock::default(), &Limits::until(SimTime::from_secs(9)));
        let (mut clock, mut engine) = (Clock::default(), ticking());
        engine.run(&mut clock, &Limits::until(SimTime::from_secs(4)));
        let parts = engine.run(&mut clock, &Limits::until(SimTime::from_secs(9)));
        assert_eq!(parts, whole);
    }

    #[test]
    fn an_empty_queue_ends_a_run() {
        let end = Engine::new().run(&mut Clock::default(), &Limits::until(SimTime::MAX));
        assert_eq!((end.outcome, end.events), (Outcome::Drained, 0));
    }

    #[test]
    fn the_handler_may_end_it() {
        let mut clock = Clock { stop_at: Some(2), ..Clock::default() };
        let end = ticking().run(&mut clock, &Limits::until(SimTime::MAX));
        assert_eq!((end.outcome, end.events), (Outcome::Stopped, 2));
    }

    #[test]
    fn a_budget_is_a_named_end_and_only_if_it_was_too_small() {
        let limits = |events| Limits { events, ..Limits::until(SimTime::from_secs(5)) };
        let end = ticking().run(&mut Clock::default(), &limits(4));
        assert_eq!((end.outcome, end.events), (Outcome::OverBudget, 4));
        let end = ticking().run(&mut Clock::default(), &limits(5));
        assert_eq!((end.outcome, end.events), (Outcome::Horizon, 5));
        let end = ticking().run(&mut Clock::default(), &limits(0));
        assert_eq!((end.outcome, end.events), (Outcome::OverBudget, 0));
    }

    #[test]
    fn an_interrupt_ends_it_within_a_few_hundred_events() {
        let flag = AtomicBool::new(false);
        let limits = Limits { interrupt: Some(&flag), ..Limits::until(SimTime::MAX) };
        let end = ticking().run_watched(&mut Clock::default(), &limits, |now, _| {
            flag.store(now >= SimTime::from_secs(10), Ordering::Relaxed);
        });
        assert_eq!((end.outcome, end.events), (Outcome::Interrupted, EVENTS_PER_LOOK));
    }

    #[test]
    fn a_witness_sees_every_event_and_changes_nothing() {
        let mut seen = Vec::new();
        let limits = Limits::until(SimTime::from_secs(3));
        let watched =
            ticking().run_watched(&mut Clock::default(), &limits, |now, _| seen.push(now.as_millis()));
        assert_eq!(seen, [1000, 2000, 3000]);
        assert_eq!(watched, ticking().run(&mut Clock::default(), &limits));
    }
}
