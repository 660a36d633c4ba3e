//! `recentlyChangedQueue`: what a delta tells of. Registrations, removals and effective status changes enter
//! it, heartbeats never do. An entry leaves with the first run of the retention task (T1) that finds it
//! *strictly* older than the retention time, so it stays 180.001 to 210 s with the defaults; the task does not
//! invalidate cached deltas.
//!
//! The entries themselves stand in the [`RegistryLog`](crate::model::view::RegistryLog) for good, since a
//! payload that was served is a range of them; here are only their ages and how many have left.
//!
//! Source: `eureka-server.md` section 6; `AbstractInstanceRegistry.getDeltaRetentionTask`.

use std::collections::VecDeque;

use crate::model::clock::WallMs;

/// The ages of the entries that are still there.
#[derive(Clone, Default)]
pub(super) struct ChangedQueue {
    enqueued: VecDeque<WallMs>,
    purged: u32,
}

impl ChangedQueue {
    /// Notes that an entry was queued.
    pub(super) fn push(&mut self, now: WallMs) {
        self.enqueued.push_back(now);
    }

    /// The retention task: drops entries from the head while they are too old.
    pub(super) fn purge(&mut self, now: WallMs, retention_ms: u32) {
        let oldest_kept = now.plus(-i64::from(retention_ms));
        while self.enqueued.front().is_some_and(|&enqueued| enqueued < oldest_kept) {
            self.enqueued.pop_front();
            self.purged += 1;
        }
    }

    /// The number of the first entry that is still there, counted from the start of the server.
    pub(super) fn head(&self) -> u32 {
        self.purged
    }

    /// One past the number of the last entry.
    pub(super) fn tail(&self) -> u32 {
        self.purged + self.enqueued.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v22_an_entry_leaves_when_it_is_strictly_older() {
        let mut queue = ChangedQueue::default();
        queue.push(WallMs(0));
        queue.purge(WallMs(180_000), 180_000); // 0 < 0 is false
        assert_eq!((queue.head(), queue.tail()), (0, 1));
        queue.purge(WallMs(210_000), 180_000); // 0 < 30,000
        assert_eq!((queue.head(), queue.tail()), (1, 1));
    }

    #[test]
    fn the_task_stops_at_the_first_young_entry() {
        // The clock was set back between the two: the old one behind a young one stays.
        let mut queue = ChangedQueue::default();
        queue.push(WallMs(100_000));
        queue.push(WallMs(0));
        queue.purge(WallMs(200_000), 180_000); // 100,000 < 20,000 is false
        assert_eq!(queue.head(), 0);
    }
}
