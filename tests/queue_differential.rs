//! The queue against a sorted map, which is slow and plainly right, on random mixtures.
//!
//! Each trace has its own mixture: how far ahead events are pushed (ties, zero delays, what is near, what lies
//! in far buckets and beyond them), how many lanes it uses, and whether it fills up or drains. Mixtures, not
//! fixed rates, since wrong orders come from what tuned loads never do.

use std::collections::BTreeMap;

use stillup::engine::{EventQueue, Fingerprint, LaneId, Purpose, Seed, SimDuration, SimTime, Streams};

const TRACES: u64 = if cfg!(debug_assertions) { 60 } else { 240 };
const STEPS: u64 = if cfg!(debug_assertions) { 5_000 } else { 20_000 };

const P: Purpose = Purpose(0);

/// The numbers of one trace.
struct Draws {
    seed: Seed,
    streams: Streams,
}

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.streams.with(&self.seed).below(P, bound)
    }

    /// A number whose size is uniform, not its value: from 0 to just below 2^`bits`.
    fn of_any_size(&mut self, bits: u64) -> u64 {
        let size = self.below(bits + 1);
        if size == 0 { 0 } else { self.below(1 << size) }
    }
}

/// The queue and the map, fed the same.
struct Pair {
    queue: EventQueue<u64>,
    map: BTreeMap<(SimTime, u64), u64>,
    pushed: u64,
}

impl Pair {
    fn push_at(&mut self, time: SimTime) {
        self.queue.push_at(time, self.pushed);
        self.note(time);
    }

    fn push_lane(&mut self, lane: LaneId) {
        let time = self.queue.now() + lane.delay();
        self.queue.push_lane(lane, self.pushed);
        self.note(time);
    }

    fn note(&mut self, time: SimTime) {
        self.map.insert((time, self.pushed), self.pushed);
        self.pushed += 1;
    }

    fn pop(&mut self) -> Option<SimTime> {
        let expected = self.map.pop_first().map(|((time, _), event)| (time, event));
        assert_eq!(self.queue.peek_time(), expected.map(|(time, _)| time));
        assert_eq!(self.queue.pop(), expected);
        assert_eq!(self.queue.len(), self.map.len());
        expected.map(|(time, _)| time)
    }
}

fn run_trace(trace: u64) {
    let mut draws = Draws { seed: Seed::new(trace, 0), streams: Streams::of("queue") };
    let mut pair = Pair { queue: EventQueue::new(), map: BTreeMap::new(), pushed: 0 };
    // Up to 40 lanes, more than the queue has, of any delay up to 18 minutes (2^40 ns), zero included.
    let lanes: Vec<_> = (0..draws.below(41))
        .map(|_| pair.queue.lane(SimDuration::from_nanos(draws.of_any_size(40))))
        .collect();
    // The furthest push of this trace: from 1 ns to 52 days (2^52 ns), far beyond the far buckets.
    let reach_bits = draws.below(53);
    // Times are multiples of this, so that there are ties.
    let grain = 1 << draws.below(reach_bits + 1);
    let mut pushes_in_100 = 40 + draws.below(21);
    let mut recent = SimTime::ZERO;
    // A moment around which events gather that were pushed at very different distances from it.
    let mut meeting = SimTime::ZERO;
    for step in 0..STEPS {
        if step % 1_000 == 0 {
            pushes_in_100 = 30 + draws.below(41);
        }
        if draws.below(100) >= pushes_in_100 {
            pair.pop();
            continue;
        }
        let now = pair.queue.now();
        if meeting < now && draws.below(20) == 0 {
            meeting = now + SimDuration::from_nanos(draws.of_any_size(reach_bits));
        }
        match draws.below(8) {
            0 => pair.push_at(now),
            1 if recent >= now => pair.push_at(recent),
            2 if meeting >= now => {
                pair.push_at(meeting + SimDuration::from_nanos(draws.of_any_size(28)));
            }
            3 | 4 if !lanes.is_empty() => pair.push_lane(lanes[draws.below(lanes.len() as u64) as usize]),
            _ => {
                let ahead = draws.of_any_size(reach_bits) / grain * grain;
                recent = now + SimDuration::from_nanos(ahead);
                pair.push_at(recent);
            }
        }
    }
    while pair.pop().is_some() {}
}

/// A failing trace names its seed; `STILLUP_TRACE=<seed> cargo test --test suite queue_differential` runs it alone.
#[test]
fn the_queue_gives_the_order_of_a_sorted_map() {
    if let Some(trace) = std::env::var("STILLUP_TRACE").ok().and_then(|seed| seed.parse().ok()) {
        return run_trace(trace);
    }
    for trace in 0..TRACES {
        let outcome = std::panic::catch_unwind(|| run_trace(trace));
        assert!(
            outcome.is_ok(),
            "run it alone: STILLUP_TRACE={trace} cargo test --test suite queue_differential"
        );
    }
}

/// The wheel's width follows the load; a load that swings between extremes makes it change again and again.
#[test]
fn the_order_holds_while_the_width_of_slots_changes() {
    let mut draws = Draws { seed: Seed::new(1, 0), streams: Streams::of("swing") };
    let mut pair = Pair { queue: EventQueue::new(), map: BTreeMap::new(), pushed: 0 };
    for phase in 0..12 {
        // Gaps of about 0.1 µs and of about 0.1 s in turn, 3,000 events each.
        let reach = if phase % 2 == 0 { 100 } else { 100_000_000 };
        for _ in 0..3_000 {
            let now = pair.queue.now();
            for _ in 0..1 + draws.below(2) {
                pair.push_at(now + SimDuration::from_nanos(draws.below(20 * reach)));
            }
            pair.pop();
        }
    }
    while pair.pop().is_some() {}
}

/// Slots and buckets begin at multiples of powers of two: a nanosecond before, at and after each, from 1 ns to
/// 2^52 ns ahead, with a tie for every moment, and again for each of 40 starts.
#[test]
fn the_order_holds_at_the_edges_of_slots_and_buckets() {
    let mut pair = Pair { queue: EventQueue::new(), map: BTreeMap::new(), pushed: 0 };
    for start in 0..40 {
        let now = pair.queue.now().as_nanos();
        for bits in 0..=52 {
            let edge = ((now >> bits) + 1 + start % 3) << bits;
            for time in [edge + 1, edge, edge - 1, edge, edge + 1, edge - 1] {
                pair.push_at(SimTime::from_nanos(time.max(now)));
            }
        }
        for _ in 0..300 {
            pair.pop();
        }
    }
    while pair.pop().is_some() {}
}

/// Lanes of 2, 3, 5, 7, 11 and 13 ns meet all the time, and a lane of 0 ns always comes first. Each lane is at
/// times empty, alone, the first and the second; the wheel has an event at each tenth nanosecond.
#[test]
fn lanes_take_over_from_each_other() {
    let mut draws = Draws { seed: Seed::new(2, 0), streams: Streams::of("lanes") };
    let mut pair = Pair { queue: EventQueue::new(), map: BTreeMap::new(), pushed: 0 };
    let lanes = [2, 3, 5, 7, 11, 13, 0].map(|nanos| pair.queue.lane(SimDuration::from_nanos(nanos)));
    for time in 0..1_000 {
        pair.push_at(SimTime::from_nanos(10 * time));
    }
    while pair.pop().is_some() {
        // 0 to 2 pushes, 0.9 on average: with the wheel's events just short of filling up.
        for _ in 0..[0, 0, 0, 0, 1, 1, 1, 2, 2, 2][draws.below(10) as usize] {
            pair.push_lane(lanes[draws.below(lanes.len() as u64) as usize]);
        }
    }
    assert!(pair.queue.is_empty() && pair.pushed > 3_000);
}

/// Found while the first queue was built: the smallest key of the wheel may lie in a far bucket, which must be
/// poured before it is taken.
#[test]
fn the_first_event_may_lie_in_a_far_bucket() {
    let mut pair = Pair { queue: EventQueue::new(), map: BTreeMap::new(), pushed: 0 };
    for secs in [3_600, 1, 86_400, 1, 600, 3_601] {
        pair.push_at(SimTime::from_secs(secs));
    }
    while pair.pop().is_some() {}
}

/// Also found then: a wheel that turns to its next entry while now is still behind lets what is pushed
/// meanwhile, for an earlier time, fall into wrong slots.
#[test]
fn pushes_before_a_far_first_event_keep_their_order() {
    let mut pair = Pair { queue: EventQueue::new(), map: BTreeMap::new(), pushed: 0 };
    let second = pair.queue.lane(SimDuration::from_secs(1));
    pair.push_at(SimTime::from_secs(100));
    pair.push_lane(second);
    for _ in 0..90 {
        pair.pop();
        let now = pair.queue.now();
        pair.push_at(now + SimDuration::from_millis(500));
        pair.push_at(now + SimDuration::from_millis(250));
        pair.push_lane(second);
    }
    while pair.pop().is_some() {}
}

/// The end of time is a time like any other.
#[test]
fn events_at_the_end_of_time_come_out_in_order() {
    let mut pair = Pair { queue: EventQueue::new(), map: BTreeMap::new(), pushed: 0 };
    let forever = pair.queue.lane(SimDuration::MAX);
    for _ in 0..3 {
        pair.push_at(SimTime::MAX);
        pair.push_lane(forever);
    }
    pair.push_at(SimTime::from_secs(1));
    while pair.pop().is_some() {
        if pair.pushed < 20 {
            pair.push_lane(forever);
        }
    }
}

#[test]
#[should_panic(expected = "before now")]
fn nothing_can_be_pushed_into_the_past() {
    let mut queue = EventQueue::new();
    queue.push_at(SimTime::from_secs(2), 0_u64);
    queue.pop();
    queue.push_at(SimTime::from_secs(1), 1);
}

/// Equal delays share a lane, and a queue needs no lane at all for the 33rd of them.
#[test]
fn a_delay_has_one_lane() {
    let mut queue = EventQueue::<u64>::new();
    let lanes: Vec<_> = (0..40).map(|secs| queue.lane(SimDuration::from_secs(secs))).collect();
    for (secs, lane) in lanes.iter().enumerate() {
        assert_eq!(lane.delay(), SimDuration::from_secs(secs as u64));
        assert_eq!(queue.lane(lane.delay()), *lane);
    }
    // The same moment by a lane, by the wheel, and by a lane that is none: in the order of pushing.
    queue.push_lane(lanes[39], 0);
    queue.push_at(SimTime::from_secs(39), 1);
    queue.push_lane(lanes[31], 2);
    queue.push_at(SimTime::from_secs(31), 3);
    let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, event)| event.fingerprint()).collect();
    assert_eq!(order, [2, 3, 0, 1]);
}
