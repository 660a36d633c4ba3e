//! The queue of events: always exactly in order of (time, order of scheduling), and quick.

use super::entry::{Key, NOTHING, key_of, time_of};
use super::lane::Lane;
use super::time::{SimDuration, SimTime};
use super::wheel::Wheel;

/// Lanes that there may be. Their heads are compared one by one, so more would cost more than they save.
const LANES_MAX: usize = 32;
/// The index of a lane that is none: its events go to the wheel.
const NO_LANE: u32 = u32::MAX;

/// A constant delay, and where events with it wait. From [`EventQueue::lane`], for that queue only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneId {
    index: u32,
    delay: SimDuration,
}

/// Events that wait for their time. See [the module](super) for the idea and the order it guarantees.
///
/// `E` is copied about, so it should be small: with 8 bytes an entry has 24. Pushing and taking allocate nothing
/// once the queue has been as full as it gets.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    now: SimTime,
    /// How many events were ever pushed: the next one's sequence number.
    pushed: u64,
    /// The smallest key of all lanes, and whose it is.
    first_in_lanes: Key,
    first_lane: usize,
    /// The smallest key of the other lanes. While the first lane's heads are smaller, it stays the first, and
    /// nobody else need be asked.
    second_in_lanes: Key,
    /// The key of each lane's head.
    heads: Vec<Key>,
    lanes: Vec<Lane<E>>,
    delays: Vec<SimDuration>,
    wheel: Wheel<E>,
}

impl LaneId {
    /// The delay from now of events in this lane.
    pub const fn delay(self) -> SimDuration {
        self.delay
    }
}

impl<E: Copy> EventQueue<E> {
    /// A queue with nothing in it, at time 0.
    pub fn new() -> Self {
        Self {
            now: SimTime::ZERO,
            pushed: 0,
            first_in_lanes: NOTHING,
            first_lane: 0,
            second_in_lanes: NOTHING,
            heads: Vec::with_capacity(LANES_MAX),
            lanes: Vec::with_capacity(LANES_MAX),
            delays: Vec::with_capacity(LANES_MAX),
            wheel: Wheel::new(),
        }
    }

    /// The lane for events that are due `delay` after they are pushed: the same for an equal delay.
    ///
    /// After 32 different delays further ones share the wheel with [`EventQueue::push_at`]: slower, in the same
    /// order. Ask once and keep the answer.
    pub fn lane(&mut self, delay: SimDuration) -> LaneId {
        let known = self.delays.iter().position(|&known| known == delay);
        let index = match known {
            Some(index) => index as u32,
            None if self.lanes.len() == LANES_MAX => NO_LANE,
            None => {
                self.delays.push(delay);
                self.lanes.push(Lane::new());
                self.heads.push(NOTHING);
                self.lanes.len() as u32 - 1
            }
        };
        LaneId { index, delay }
    }

    /// Schedules `event` at now plus the lane's delay.
    #[inline]
    pub fn push_lane(&mut self, lane: LaneId, event: E) {
        let due = self.now + lane.delay;
        let index = lane.index as usize;
        if index >= self.lanes.len() {
            debug_assert_eq!(lane.index, NO_LANE, "a lane of another queue");
            self.push_at(due, event);
            return;
        }
        debug_assert_eq!(self.delays[index], lane.delay, "a lane of another queue");
        let key = self.key(due);
        self.lanes[index].push(key, event);
        if self.heads[index] == NOTHING {
            self.heads[index] = key;
            self.enter_lane(index, key);
        }
    }

    /// Schedules `event` at `time`.
    ///
    /// # Panics
    /// If `time` is before now: nothing may happen in the past.
    // One function, with all of the usual way in it: copies of it at each call cost the caller its registers.
    #[inline(never)]
    pub fn push_at(&mut self, time: SimTime, event: E) {
        assert!(time >= self.now, "an event is scheduled before now");
        let key = self.key(time);
        self.wheel.push(key, event, self.now.as_nanos());
    }

    /// Takes the first event, and moves now to its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(SimTime, E)> {
        self.pop_until(SimTime::MAX)
    }

    /// Takes the first event if it is due at `horizon` or before, and moves now to its time.
    #[inline]
    pub fn pop_until(&mut self, horizon: SimTime) -> Option<(SimTime, E)> {
        let from_lane = self.first_in_lanes < self.wheel.first();
        let key = if from_lane { self.first_in_lanes } else { self.wheel.first() };
        if time_of(key) > horizon.as_nanos() || key == NOTHING {
            return None;
        }
        let event = if from_lane { self.pop_lane() } else { self.wheel.pop() };
        self.now = SimTime::from_nanos(time_of(key));
        Some((self.now, event))
    }

    /// When the first event is due.
    #[inline]
    pub fn peek_time(&self) -> Option<SimTime> {
        let key = self.first_in_lanes.min(self.wheel.first());
        (key != NOTHING).then(|| SimTime::from_nanos(time_of(key)))
    }

    /// The time of the event that was taken last.
    #[inline]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(Lane::len).sum::<usize>() + self.wheel.len()
    }

    /// Whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.first_in_lanes.min(self.wheel.first()) == NOTHING
    }

    /// The key of what is pushed now.
    #[inline]
    fn key(&mut self, time: SimTime) -> Key {
        let seq = self.pushed;
        self.pushed += 1;
        key_of(time.as_nanos(), seq)
    }

    /// The lane at `index`, which was empty, has `key` for a head.
    fn enter_lane(&mut self, index: usize, key: Key) {
        if key < self.first_in_lanes {
            self.second_in_lanes = self.first_in_lanes;
            self.first_in_lanes = key;
            self.first_lane = index;
        } else {
            self.second_in_lanes = self.second_in_lanes.min(key);
        }
    }

    #[inline]
    fn pop_lane(&mut self) -> E {
        let now = time_of(self.first_in_lanes);
        debug_assert_eq!(
            self.lanes[self.first_lane].first(),
            self.first_in_lanes,
            "the key is that of its head"
        );
        let lane = &mut self.lanes[self.first_lane];
        let event = lane.pop();
        let head = lane.first();
        self.heads[self.first_lane] = head;
        self.first_in_lanes = head;
        if head > self.second_in_lanes {
            self.find_first_lane();
        }
        // Time passes for the wheel too.
        self.wheel.turn(now);
        event
    }

    fn find_first_lane(&mut self) {
        self.first_in_lanes = NOTHING;
        self.second_in_lanes = NOTHING;
        for (index, &head) in self.heads.iter().enumerate() {
            if head < self.first_in_lanes {
                self.second_in_lanes = self.first_in_lanes;
                self.first_in_lanes = head;
                self.first_lane = index;
            } else {
                self.second_in_lanes = self.second_in_lanes.min(head);
            }
        }
    }
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}
