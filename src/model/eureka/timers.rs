//! The server's timers, each by its name.
//!
//! Jobs run on a `java.util.Timer` with fixed delay: the next due time is the wall time at which the run
//! *started* plus the period. Such a timer waits out its delay without looking at the clock, then looks: a
//! wall clock that was set forward wakes nobody early, one that was set back makes the timer wait again for
//! the rest. After a pause an overdue timer fires once, and its phase has shifted for good.
//!
//! Source: `eureka-server.md` 0.3, section 9. T4 counts replications for show and T7 refreshes the list of
//! peers: neither decides anything for one server, so neither is here.

use crate::engine::SimTime;
use crate::model::clock::{Due, Now};

/// A job that waits for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ServerTimer {
    /// T1: when to drop old entries from the delta queue.
    DeltaRetention = 0,
    /// T2: when to refill the read-only cache.
    CacheRefresh = 1,
    /// T3: when to update the renewal threshold.
    ThresholdUpdate = 2,
    /// T5: when to close the minute bucket of renewals.
    RenewalBucket = 3,
    /// T6: when to evict.
    Eviction = 4,
    /// When to try again to copy a registry at start-up.
    SyncRetry = 5,
    /// When fetches are no longer refused after an empty start. No job of Eureka's: it marks the moment at
    /// which the served view appears.
    WarmUpEnd = 6,
}

impl ServerTimer {
    /// How many there are.
    pub const COUNT: usize = 7;
    /// All timers, in order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::DeltaRetention,
        Self::CacheRefresh,
        Self::ThresholdUpdate,
        Self::RenewalBucket,
        Self::Eviction,
        Self::SyncRetry,
        Self::WarmUpEnd,
    ];
}

/// What is set. At most one setting of each timer is current.
#[derive(Clone)]
pub(super) struct Timers {
    due: [Option<Due>; ServerTimer::COUNT],
    /// When each next looks at the clock.
    looks: [SimTime; ServerTimer::COUNT],
    generations: [u16; ServerTimer::COUNT],
}

impl Timers {
    /// Nothing set yet. Settings of an earlier life must carry smaller generations.
    pub(super) fn new(generation: u16) -> Self {
        Self {
            due: [None; ServerTimer::COUNT],
            looks: [SimTime::ZERO; ServerTimer::COUNT],
            generations: [generation; ServerTimer::COUNT],
        }
    }

    /// Notes a setting, or that it waits on for the rest, and returns its generation.
    pub(super) fn set(&mut self, timer: ServerTimer, due: Due, now: Now) -> u16 {
        self.due[timer as usize] = Some(due);
        self.looks[timer as usize] = due.observed_services(now);
        self.generations[timer as usize]
    }

    /// Makes the current setting stale: whoever holds it will find that it no longer counts.
    pub(super) fn forget(&mut self, timer: ServerTimer) {
        self.due[timer as usize] = None;
        let generation = &mut self.generations[timer as usize];
        *generation = generation.wrapping_add(1);
    }

    /// The due time of the current setting, if `generation` is its generation.
    pub(super) fn current(&self, timer: ServerTimer, generation: u16) -> Option<Due> {
        if self.generations[timer as usize] != generation {
            return None;
        }
        self.due[timer as usize]
    }

    /// When `timer` is due next.
    pub(super) fn due(&self, timer: ServerTimer) -> Option<Due> {
        self.due[timer as usize]
    }

    /// The generation of `timer`'s current setting.
    pub(super) fn generation(&self, timer: ServerTimer) -> u16 {
        self.generations[timer as usize]
    }

    /// Whether `timer` is set and due.
    pub(super) fn is_due(&self, timer: ServerTimer, now: Now) -> bool {
        self.due[timer as usize].is_some_and(|due| due.has_come(now))
    }

    /// Whether `timer` is set, due, and has waited long enough to find out: after a step forward it is due at once,
    /// but its thread still sleeps.
    pub(super) fn would_run(&self, timer: ServerTimer, now: Now) -> bool {
        self.is_due(timer, now) && self.looks[timer as usize] <= now.mono
    }

    /// A generation that no setting so far has carried.
    pub(super) fn next_generation(&self) -> u16 {
        self.generations.iter().max().map_or(0, |newest| newest.wrapping_add(1))
    }
}
