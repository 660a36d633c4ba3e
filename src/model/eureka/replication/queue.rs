//! The tasks that wait for one peer: first in, first out, but one task for each (operation, instance).
//!
//! ```text
//!             a failed batch comes back here            new tasks come here
//!                            ▼                                   ▼
//!  batch of ≤ 250 ◀── | heartbeat 7 | register 9 | heartbeat 3 |
//!                                        ▲
//!            a newer heartbeat of 3, or registration of 9, takes the place of the old one
//! ```
//!
//! *In place* is what surprises. The newcomer takes the old one's place, but its age is its own: an instance that is
//! heard of more often than every 500 ms while it is first holds up everybody behind it (Netflix #1509).
//!
//! A heartbeat must neither hash nor search: places have numbers that grow to the back and shrink to the front, and
//! each instance remembers the number of its last place. Whether it still stands there is seen by looking.
//!
//! Source: `eureka-peers.md` 4.1 to 4.3; `AcceptorExecutor`.

use std::collections::VecDeque;

use super::task::{Operation, Task};
use crate::model::clock::WallMs;
use crate::model::id::InstanceId;

/// `PeerEurekaNode.MAX_BATCHING_DELAY_MS`: how old the oldest task gets before it is sent, ms.
const BATCHING_DELAY_MS: i64 = 500;

/// `PeerEurekaNode.BATCH_SIZE`: tasks of a batch at most.
const BATCH_SIZE: usize = 250;

/// What waits.
#[derive(Clone)]
pub(super) struct TaskQueue {
    order: VecDeque<Task>,
    /// The number of the first place; numbers wrap.
    first: u32,
    /// By operation and instance: the number of the place that its task last had.
    places: [Vec<u32>; Operation::COUNT],
    most: usize,
}

impl TaskQueue {
    /// An empty queue for `most` tasks.
    pub(super) fn new(most: usize) -> Self {
        Self { order: VecDeque::new(), first: 0, places: Default::default(), most }
    }

    /// Tasks that wait.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether the next task would push one out.
    pub(super) fn is_full(&self) -> bool {
        self.order.len() >= self.most
    }

    /// Queues a task: in place of an older one with the same id, or behind all. A full queue loses its oldest, even to
    /// a task that only takes a place.
    pub(super) fn put(&mut self, task: Task) {
        if self.is_full() {
            self.pop();
        }
        if let Some(at) = self.position(task.operation, task.record.instance) {
            self.order[at] = task;
        } else {
            let place = self.first.wrapping_add(self.order.len() as u32);
            self.order.push_back(task);
            self.note_place(&task, place);
        }
    }

    /// Puts a batch that failed back before all others, in its order. Who has expired, has been replaced meanwhile, or
    /// finds the queue full is lost; the newest come first, so a full queue loses the oldest.
    pub(super) fn put_back(&mut self, batch: &[Task], now: WallMs) {
        for task in batch.iter().rev() {
            if self.is_full() {
                return;
            }
            let replaced = self.position(task.operation, task.record.instance).is_some();
            if task.is_usable(now) && !replaced {
                self.first = self.first.wrapping_sub(1);
                self.order.push_front(*task);
                self.note_place(task, self.first);
            }
        }
    }

    /// When the first task is old enough: at once if the queue is full. `None` if nothing waits.
    pub(super) fn due(&self, now: WallMs) -> Option<WallMs> {
        let first = self.order.front()?;
        Some(if self.is_full() { now } else { first.submitted.plus(BATCHING_DELAY_MS) })
    }

    /// Takes the next batch out, into `batch`. What has expired is dropped on the way.
    pub(super) fn take(&mut self, now: WallMs, batch: &mut Vec<Task>) {
        debug_assert!(batch.is_empty());
        let most = self.order.len().min(BATCH_SIZE);
        while batch.len() < most
            && let Some(task) = self.pop()
        {
            if task.is_usable(now) {
                batch.push(task);
            }
        }
    }

    fn pop(&mut self) -> Option<Task> {
        let task = self.order.pop_front()?;
        self.first = self.first.wrapping_add(1);
        Some(task)
    }

    /// Where the task with this id stands. A place that was noted long ago may be another's by now, or nobody's.
    fn position(&self, operation: Operation, instance: InstanceId) -> Option<usize> {
        let place = *self.places[operation as usize].get(instance.index())?;
        let at = place.wrapping_sub(self.first) as usize;
        self.order.get(at).is_some_and(|task| task.is_about(operation, instance)).then_some(at)
    }

    fn note_place(&mut self, task: &Task, place: u32) {
        let places = &mut self.places[task.operation as usize];
        let at = task.record.instance.index();
        if places.len() <= at {
            places.resize(at + 1, 0);
        }
        places[at] = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::AppId;
    use crate::model::message::{Record, Status};

    fn task(operation: Operation, instance: u32, submitted: i64) -> Task {
        let record = Record {
            app: AppId(0),
            instance: InstanceId(instance),
            status: Status::Up,
            overridden: Status::Unknown,
            last_dirty: WallMs(0),
            duration_s: 90,
            renewal_s: 30,
        };
        Task::of_record(operation, record, WallMs(submitted), 30_000)
    }

    fn heartbeat(instance: u32, submitted: i64) -> Task {
        task(Operation::Heartbeat, instance, submitted)
    }

    /// (instance, submitted) of all that wait, in order.
    fn waiting(queue: &TaskQueue) -> Vec<(u32, i64)> {
        queue.order.iter().map(|task| (task.record.instance.0, task.submitted.0)).collect()
    }

    fn take(queue: &mut TaskQueue, now: i64) -> Vec<Task> {
        let mut batch = Vec::new();
        queue.take(WallMs(now), &mut batch);
        batch
    }

    #[test]
    fn a_newer_task_takes_the_old_ones_place_with_its_own_age() {
        let mut queue = TaskQueue::new(10);
        queue.put(heartbeat(1, 0));
        queue.put(heartbeat(2, 100));
        assert_eq!(queue.due(WallMs(100)), Some(WallMs(500)));
        queue.put(heartbeat(1, 400));
        assert_eq!(waiting(&queue), [(1, 400), (2, 100)]);
        // 400 + 500, although 2 has been ready since 600.
        assert_eq!(queue.due(WallMs(600)), Some(WallMs(900)));
    }

    #[test]
    fn operations_do_not_replace_one_another() {
        let mut queue = TaskQueue::new(10);
        for operation in [Operation::Register, Operation::Heartbeat, Operation::Cancel] {
            queue.put(task(operation, 1, 0));
        }
        assert_eq!(queue.len(), 3);
    }

    #[test]
    fn a_batch_has_250_at_most_and_no_expired_ones() {
        let mut queue = TaskQueue::new(10_000);
        for instance in 0..10 {
            queue.put(heartbeat(instance, 0)); // to 30,000
        }
        for instance in 10..300 {
            queue.put(heartbeat(instance, 1));
        }
        let batch = take(&mut queue, 30_000);
        assert_eq!(batch.len(), 250);
        assert_eq!(batch[0].record.instance, InstanceId(10));
        assert_eq!(queue.len(), 40); // 300 - 10 expired - 250
        // At 30,001 the rest has expired too, and goes without a batch.
        assert!(take(&mut queue, 30_001).is_empty());
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_failed_batch_comes_back_to_the_front_without_the_replaced_and_expired() {
        let mut queue = TaskQueue::new(10);
        queue.put(heartbeat(1, 0)); // to 30,000
        queue.put(heartbeat(2, 100));
        queue.put(heartbeat(3, 200));
        queue.put(heartbeat(4, 300));
        let batch = take(&mut queue, 500);
        queue.put(heartbeat(5, 600));
        queue.put(heartbeat(3, 700));
        queue.put_back(&batch, WallMs(30_000));
        assert_eq!(waiting(&queue), [(2, 100), (4, 300), (5, 600), (3, 700)]);
        // And they are found in their new places.
        queue.put(heartbeat(2, 800));
        queue.put(heartbeat(5, 900));
        assert_eq!(waiting(&queue), [(2, 800), (4, 300), (5, 900), (3, 700)]);
    }

    #[test]
    fn a_full_queue_loses_its_oldest_and_takes_nothing_back() {
        let mut queue = TaskQueue::new(2);
        queue.put(heartbeat(1, 0));
        assert_eq!(queue.due(WallMs(10)), Some(WallMs(500)));
        queue.put(heartbeat(2, 10));
        assert_eq!(queue.due(WallMs(10)), Some(WallMs(10))); // full: at once
        queue.put(heartbeat(3, 20));
        assert_eq!(waiting(&queue), [(2, 10), (3, 20)]);
        // Even a task that only takes a place costs the oldest.
        queue.put(heartbeat(3, 30));
        assert_eq!(waiting(&queue), [(3, 30)]);
        // Of a batch the newest come back first: for 8 and 9 there is one place.
        queue.put_back(&[heartbeat(8, 0), heartbeat(9, 0)], WallMs(40));
        assert_eq!(waiting(&queue), [(9, 0), (3, 30)]);
    }

    #[test]
    fn it_agrees_with_a_plain_list_over_a_long_history() {
        // 64 instances, steps by a fixed linear congruence: put, take, put back.
        let (mut queue, mut plain) = (TaskQueue::new(40), Vec::<Task>::new());
        let mut under_way = Vec::new();
        let mut state = 12_345_u32;
        for now in 0..20_000_i64 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match state >> 29 {
                0 if under_way.is_empty() => {
                    under_way = take(&mut queue, now);
                    plain.clear();
                }
                1 => {
                    queue.put_back(&under_way, WallMs(now));
                    for task in std::mem::take(&mut under_way).into_iter().rev() {
                        if plain.len() < 40 && !plain.iter().any(|held| same(held, &task)) {
                            plain.insert(0, task);
                        }
                    }
                }
                _ => {
                    let task = heartbeat((state >> 8) % 64, now);
                    queue.put(task);
                    if plain.len() == 40 {
                        plain.remove(0);
                    }
                    match plain.iter_mut().find(|held| same(held, &task)) {
                        Some(held) => *held = task,
                        None => plain.push(task),
                    }
                }
            }
            assert!(queue.order.iter().eq(plain.iter()), "at {now}");
        }
    }

    fn same(a: &Task, b: &Task) -> bool {
        a.is_about(b.operation, b.record.instance)
    }
}
