//! The wheel: events at irregular times, sorted only when they are near.
//!
//! Time is cut into slots whose width is a power of two of nanoseconds, and 2,048 slots make a bucket.
//!
//! ```text
//!           bucket of now     the next one     16,384 far buckets            later still
//!         |....^............|.................|  x  |xxx|   | x |  ...   | a heap
//!              now                               unsorted, each with its smallest key
//!         `------  4,096 near slots ----------'
//!            each a short list in order
//! ```
//!
//! When now enters a bucket, the one after it is *poured*: its entries move to the near slots. Rules that keep
//! the order exact whatever the width:
//!
//! 1. `first` is the smallest key of the whole wheel, wherever its entry lies; the wheel turns to that time,
//!    which pours its bucket, before the entry is taken.
//! 2. The wheel never turns past now, not even to the next entry: what is pushed later may come before it.
//! 3. An entry in a near slot comes before any in a far bucket, so far buckets are asked only if no near slot
//!    has any.
//! 4. What is poured or laid anew is sorted first and goes in from the last to the first, so that each entry
//!    becomes the head of its list at once.
//!
//! The width follows the load, so that about every fourth slot holds an entry: then most lists are empty or have
//! one entry, which the processor's guesses learn soon. See [`Wheel::better_shift`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::entry::{Entry, Key, NOTHING, time_of};
use super::near::{NEAR_SLOTS, Near};
use super::slots::SlotSet;

/// log₂ of the slots in a bucket. The near slots are two buckets: that of now and the next.
const BUCKET_SHIFT: u32 = 11;
const NEAR_BUCKETS: u64 = 2;
const FAR_BUCKETS: usize = 16_384;
const _: () = assert!(NEAR_SLOTS as u64 == NEAR_BUCKETS << BUCKET_SHIFT, "a near slot has one time");
/// log₂ of a slot's width in nanoseconds: at least (64 ns) and at most (17 s).
const SHIFT_MIN: u32 = 6;
const SHIFT_MAX: u32 = 34;
/// Slots of 2 µs reach 69 s with the far buckets: far enough for what has a period of a minute.
const SHIFT_FOR_A_MINUTE: u32 = 11;
/// It starts narrow (4 µs), as widening costs little: what makes it wide is that there are few entries.
const SHIFT_AT_FIRST: u32 = 12;
/// A list in which an entry must be held against so many others is crowded: a burst came after a calm.
const CROWD: u32 = 64;
/// By how much slots are narrowed then (log₂).
const RELIEF: u32 = 3;
/// Entries taken and turns made before the width is judged.
const EVIDENCE_MIN: u64 = 1024;

/// The events that wait beside the lanes.
#[derive(Clone, Debug)]
pub(super) struct Wheel<E> {
    /// The smallest key in the wheel.
    first: Key,
    /// log₂ of a slot's width.
    shift: u32,
    /// The bucket of now. Poured are this one and the next.
    bucket: u64,
    /// The last nanosecond of that bucket, and of the next.
    bucket_last: u64,
    near_last: u64,
    near: Near<E>,
    far: Vec<FarBucket<E>>,
    far_used: SlotSet<{ FAR_BUCKETS / 64 }, { FAR_BUCKETS / 4096 }>,
    beyond: BinaryHeap<Entry<E>>,
    len: usize,
    load: Load,
}

/// Entries of one bucket, in no order, and the smallest key among them.
#[derive(Clone, Debug)]
struct FarBucket<E> {
    first: Key,
    entries: Vec<Entry<E>>,
}

/// What happened since the width was last judged.
#[derive(Clone, Debug, Default)]
struct Load {
    since: u64,
    taken: u64,
    turns: u64,
}

impl<E: Copy> Wheel<E> {
    /// A wheel with nothing in it, at time 0.
    pub(super) fn new() -> Self {
        Self {
            first: NOTHING,
            shift: SHIFT_AT_FIRST,
            bucket: 0,
            bucket_last: last_of(0, SHIFT_AT_FIRST),
            near_last: last_of(1, SHIFT_AT_FIRST),
            near: Near::new(),
            far: (0..FAR_BUCKETS).map(|_| FarBucket { first: NOTHING, entries: Vec::new() }).collect(),
            far_used: SlotSet::new(),
            beyond: BinaryHeap::new(),
            len: 0,
            load: Load::default(),
        }
    }

    /// The smallest key, or that of nothing.
    #[inline]
    pub(super) fn first(&self) -> Key {
        self.first
    }

    /// How many entries are in it.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds an entry, which is not due before `now`, which is not before the last turn.
    #[inline]
    pub(super) fn push(&mut self, key: Key, event: E, now: u64) {
        self.first = self.first.min(key);
        self.len += 1;
        let time = time_of(key);
        debug_assert!(time >= now, "nothing is due before now");
        if time > self.near_last {
            self.put_far(key, event);
        } else if !self.near.insert_first(self.slot(time), key, event) {
            self.push_behind(key, event, now);
        }
    }

    /// [`Wheel::push`] of what does not come first in its slot.
    #[inline(never)]
    fn push_behind(&mut self, key: Key, event: E, now: u64) {
        let steps = self.near.insert_behind(self.slot(time_of(key)), key, event);
        if steps > CROWD && self.shift > SHIFT_MIN {
            self.relieve(now);
        }
    }

    /// Makes the slots narrower. Each time costs a sorting of all entries, and a crowd needs it a few times at
    /// most, while it grows.
    #[cold]
    fn relieve(&mut self, now: u64) {
        self.change_width(self.shift.saturating_sub(RELIEF).max(SHIFT_MIN), now);
    }

    /// Turns the wheel to `now`, which never goes back and is not after [`Wheel::first`].
    #[inline]
    pub(super) fn turn(&mut self, now: u64) {
        if now > self.bucket_last {
            self.enter_bucket(now);
        }
    }

    /// Takes the first event, which there must be, and turns the wheel to its time.
    #[inline]
    pub(super) fn pop(&mut self) -> E {
        let time = time_of(self.first);
        self.turn(time);
        let slot = self.slot(time);
        debug_assert_eq!(
            self.near.first_from(slot),
            Some(self.first),
            "the first is in the near slot of its time"
        );
        let (event, next) = self.near.pop(slot);
        self.len -= 1;
        self.load.taken += 1;
        self.first = match next {
            NOTHING => self.find_first(slot),
            key => key,
        };
        event
    }

    /// The near slot of `time`.
    #[inline]
    fn slot(&self, time: u64) -> usize {
        (time >> self.shift) as usize % NEAR_SLOTS
    }

    /// Puts an entry where it belongs as seen from the bucket of now.
    fn put(&mut self, key: Key, event: E) {
        let time = time_of(key);
        debug_assert!(time >> (self.shift + BUCKET_SHIFT) >= self.bucket, "nothing is due before now");
        if time > self.near_last {
            self.put_far(key, event);
        } else {
            self.near.insert(self.slot(time), key, event);
        }
    }

    /// Puts an entry into the bucket of its time, or beyond them all.
    #[inline(never)]
    fn put_far(&mut self, key: Key, event: E) {
        let bucket = time_of(key) >> (self.shift + BUCKET_SHIFT);
        if bucket - self.bucket - NEAR_BUCKETS < FAR_BUCKETS as u64 {
            let index = bucket as usize % FAR_BUCKETS;
            let far = &mut self.far[index];
            far.first = far.first.min(key);
            far.entries.push(Entry::new(key, event));
            self.far_used.insert(index);
        } else {
            self.beyond.push(Entry::new(key, event));
        }
    }

    /// The smallest key, given that no entry lies before the near slot `from`.
    #[inline]
    fn find_first(&self, from: usize) -> Key {
        match self.near.first_from(from) {
            Some(key) => key,
            None => self.find_first_far(),
        }
    }

    fn find_first_far(&self) -> Key {
        let from = (self.bucket + NEAR_BUCKETS) as usize % FAR_BUCKETS;
        let far = self.far_used.next_from(from).map_or(NOTHING, |index| self.far[index].first);
        let beyond = self.beyond.peek().map_or(NOTHING, Entry::key);
        far.min(beyond)
    }

    #[cold]
    fn enter_bucket(&mut self, now: u64) {
        self.load.turns += 1;
        if let Some(shift) = self.better_shift(now) {
            self.change_width(shift, now);
            return;
        }
        let poured_before = self.bucket + NEAR_BUCKETS;
        self.set_bucket(now);
        // Buckets that were jumped over are empty: now is not after the first entry.
        for bucket in poured_before.max(self.bucket)..self.bucket + NEAR_BUCKETS {
            self.pour(bucket);
        }
    }

    /// Makes that of `now` the present bucket.
    fn set_bucket(&mut self, now: u64) {
        self.bucket = now >> (self.shift + BUCKET_SHIFT);
        self.bucket_last = last_of(self.bucket, self.shift);
        self.near_last = last_of(self.bucket + 1, self.shift);
    }

    fn pour(&mut self, bucket: u64) {
        let index = bucket as usize % FAR_BUCKETS;
        let far = &mut self.far[index];
        if far.first != NOTHING {
            far.first = NOTHING;
            self.far_used.remove(index);
            let mut entries = std::mem::take(&mut far.entries);
            entries.sort_unstable_by_key(|entry| Reverse(entry.key()));
            for entry in entries {
                self.near.insert(self.slot(entry.time), entry.key(), entry.event);
            }
        }
        while let Some(entry) = self.beyond.peek()
            && entry.time >> (self.shift + BUCKET_SHIFT) <= bucket
        {
            self.near.insert(self.slot(entry.time), entry.key(), entry.event);
            self.beyond.pop();
        }
    }

    /// The width at which a quarter of an entry a slot would have been taken lately, if that is at least four
    /// times or at most a quarter of the present one.
    ///
    /// It is judged when a bucket is entered, and only after so much was done since the last time that sorting
    /// all entries anew costs little beside it.
    fn better_shift(&mut self, now: u64) -> Option<u32> {
        let Load { since, taken, turns } = self.load;
        if taken + turns < EVIDENCE_MIN.max(self.len as u64 / 8) {
            return None;
        }
        self.load = Load { since: now, ..Load::default() };
        let width = ((now - since) / taken.max(1)).max(1);
        let one_a_slot = width.ilog2();
        let quarter = one_a_slot.saturating_sub(2);
        let shift = quarter.max(one_a_slot.min(SHIFT_FOR_A_MINUTE)).clamp(SHIFT_MIN, SHIFT_MAX);
        (shift.abs_diff(self.shift) >= 2).then_some(shift)
    }

    fn change_width(&mut self, shift: u32, now: u64) {
        let mut entries = Vec::with_capacity(self.len);
        self.near.drain_into(&mut entries);
        for far in &mut self.far {
            // With its room, as in pouring: a load that swings between crowds and calm changes the width again and
            // again, and would in time leave every bucket as large as the largest crowd.
            entries.append(&mut std::mem::take(&mut far.entries));
            far.first = NOTHING;
        }
        entries.extend(self.beyond.drain());
        debug_assert_eq!(entries.len(), self.len, "no entry is lost");
        self.far_used = SlotSet::new();
        self.shift = shift;
        self.set_bucket(now);
        entries.sort_unstable_by_key(|entry| Reverse(entry.key()));
        for entry in entries {
            self.put(entry.key(), entry.event);
        }
    }
}

/// The last nanosecond of `bucket`, or of all time.
fn last_of(bucket: u64, shift: u32) -> u64 {
    let width = 1_u64 << (shift + BUCKET_SHIFT);
    bucket.saturating_mul(width).saturating_add(width - 1)
}

#[cfg(test)]
mod tests {
    use super::super::entry::key_of;
    use super::*;

    /// An hour with next to nothing makes slots of seconds. Then 200,000 events fall into half a minute, and
    /// others all into one moment: no list grows long that an entry must search, so none is slow.
    #[test]
    fn a_burst_after_a_calm_makes_slots_narrow() {
        let mut wheel = Wheel::new();
        let (mut now, mut seq) = (0, 0);
        let mut push = |wheel: &mut Wheel<()>, time: u64, now: u64| {
            wheel.push(key_of(time, seq), (), now);
            seq += 1;
        };
        push(&mut wheel, 0, now);
        for _ in 0..3_600 {
            now = time_of(wheel.first());
            wheel.pop();
            push(&mut wheel, now + 1_000_000_000, now);
        }
        assert!(wheel.shift > 26, "{}", wheel.shift);
        for number in 0..200_000_u64 {
            // Irregular, and each time different.
            push(&mut wheel, now + (number * 7_919 % 200_003) * 150_000, now);
            push(&mut wheel, now + 35_000_000_000, now);
        }
        // 30 s / 200,000 is 2^17 ns an entry: crowds of 64 are gone at 2^23 or less.
        assert!(wheel.shift <= 23, "{}", wheel.shift);
        let mut before = NOTHING;
        for number in 0..400_001 {
            let key = wheel.first();
            wheel.pop();
            assert!(number == 0 || before < key);
            before = key;
        }
        assert_eq!(wheel.first(), NOTHING);
    }

    /// 1,000 events at one moment, a second ahead, which passes while the width goes back and forth: no bucket that
    /// they have left keeps room for them.
    #[test]
    fn a_width_that_swings_leaves_no_room_behind() {
        let mut wheel = Wheel::new();
        for seq in 0..100_000 {
            let now = seq / 1_000 * 1_000_000_000;
            wheel.push(key_of(now + 1_000_000_000, seq), (), now);
            if seq % 1_000 == 999 {
                wheel.change_width(SHIFT_AT_FIRST + 3, now);
                wheel.change_width(SHIFT_AT_FIRST, now);
                (0..1_000).for_each(|_| wheel.pop());
            }
        }
        assert_eq!(wheel.far.iter().map(|far| far.entries.capacity()).sum::<usize>(), 0);
    }

    /// 1,000,000 events a second for a while: a quarter of an entry a slot would be 0.25 µs wide, but far
    /// buckets shall reach a minute, so it is one entry a slot, 2^9 ns. Then one event in 10 s: as wide as can
    /// be told from the mixture, at least 2^20 ns (1 ms).
    #[test]
    fn the_width_follows_the_load() {
        let mut wheel = Wheel::new();
        let mut seq = 0;
        let mut run = |wheel: &mut Wheel<()>, events: u64, gap: u64| {
            for _ in 0..events {
                let time = if seq == 0 { 0 } else { time_of(wheel.first()) };
                if seq > 0 {
                    wheel.pop();
                }
                wheel.push(key_of(time + gap, seq), (), time);
                seq += 1;
            }
            wheel.shift
        };
        assert_eq!(run(&mut wheel, 200_000, 1_000), 9);
        assert!(run(&mut wheel, 5_000, 10_000_000_000) >= 20);
    }
}
