//! Who is alive and well, and for how long that was to be known: the time over which mistakes are counted.
//!
//! An instance is *well* from the moment at which the server registers it as UP until its process ends, is asked to
//! stop, is taken out of service or goes DOWN. A process that stands still is well. What the server makes of it
//! afterwards (an eviction, a restart of the server) changes nothing: that is what mistakes are about.
//!
//! An observer's *good time* is the sum over all instances but itself of the time during which they were well and
//! the observer was up. It is kept as one number for each observer: the integral of the number of well instances,
//! taken off when the observer comes up and added when it goes down.

use crate::engine::SimTime;
use crate::model::id::InstanceId;
use crate::observe::observers::NOBODY;

/// What is known of an instance.
#[derive(Clone, Copy)]
pub(super) struct Condition {
    /// Its process runs or stands still.
    pub(super) alive: bool,
    /// The last that the server was told of it, or told itself, is that it is UP.
    pub(super) registered: bool,
    /// It was asked to stop.
    pub(super) stopping: bool,
    /// It is unhealthy, or out of service by an operator.
    pub(super) unwell: bool,
    /// Its lease was cancelled, and it has not registered since.
    pub(super) cancelled: bool,
    /// Its own place among the observers.
    place: u32,
}

impl Condition {
    const UNKNOWN: Self = Self {
        alive: false,
        registered: false,
        stopping: false,
        unwell: false,
        cancelled: false,
        place: NOBODY,
    };

    const fn is_well(self) -> bool {
        self.alive && self.registered && !self.stopping && !self.unwell
    }
}

/// All instances' conditions.
#[derive(Default)]
pub(super) struct Wellness {
    conditions: Vec<Condition>,
    well: u64,
    /// The sum over time of the number of well instances, ns, until `until`.
    integral: u128,
    until: SimTime,
    /// Each observer's good time so far, ns, less what is still running. Wraps around zero while it is up.
    good: Vec<u128>,
}

/// How an instance's wellness changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turned {
    /// Not at all.
    Not,
    /// It is well now.
    Well,
    /// It is not well any more.
    Unwell,
}

impl Wellness {
    /// An observer comes up, or exists from now on.
    pub(super) fn observer_started(&mut self, place: u32, instance: InstanceId, now: SimTime) {
        if self.good.len() <= place as usize {
            self.good.resize(place as usize + 1, 0);
        }
        self.advance(now);
        let good = &mut self.good[place as usize];
        *good = good.wrapping_sub(self.integral);
        self.condition(instance).place = place;
    }

    /// An observer goes down. The instance that it is has ended before.
    pub(super) fn observer_gone(&mut self, place: u32, now: SimTime) {
        self.advance(now);
        let good = &mut self.good[place as usize];
        *good = good.wrapping_add(self.integral);
    }

    /// What is known of an instance changes.
    pub(super) fn change(
        &mut self,
        instance: InstanceId,
        now: SimTime,
        change: impl FnOnce(&mut Condition),
    ) -> Turned {
        let condition = self.condition(instance);
        let before = condition.is_well();
        change(condition);
        let (after, place) = (condition.is_well(), condition.place as usize);
        if before == after {
            return Turned::Not;
        }
        self.advance(now);
        let nanos = u128::from(now.as_nanos());
        // Nobody is an observer of itself: that time is taken off its good time.
        let own = self.good.get_mut(place);
        if after {
            self.well += 1;
            own.into_iter().for_each(|good| *good = good.wrapping_add(nanos));
            Turned::Well
        } else {
            self.well -= 1;
            own.into_iter().for_each(|good| *good = good.wrapping_sub(nanos));
            Turned::Unwell
        }
    }

    /// Whether an instance is alive and well.
    pub(super) fn is_well(&self, instance: InstanceId) -> bool {
        self.conditions.get(instance.index()).is_some_and(|condition| condition.is_well())
    }

    /// All instances that are well.
    pub(super) fn all_well(&self) -> impl Iterator<Item = InstanceId> + '_ {
        let known = self.conditions.iter().zip(0..);
        known.filter(|(condition, _)| condition.is_well()).map(|(_, number)| InstanceId(number))
    }

    /// The good time of an observer that is down, or of the server, ns. Nobody may be well any more.
    pub(super) fn good_nanos(&self, place: Option<u32>) -> u128 {
        place.map_or(self.integral, |place| self.good.get(place as usize).copied().unwrap_or(0))
    }

    fn condition(&mut self, instance: InstanceId) -> &mut Condition {
        if self.conditions.len() <= instance.index() {
            self.conditions.resize(instance.index() + 1, Condition::UNKNOWN);
        }
        &mut self.conditions[instance.index()]
    }

    fn advance(&mut self, now: SimTime) {
        let passed = u128::from(now.since(self.until).as_nanos());
        self.integral += passed * u128::from(self.well);
        self.until = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_time_is_the_sum_over_all_others_while_the_observer_is_up() {
        let second = SimTime::from_secs;
        let mut wellness = Wellness::default();
        let register = |wellness: &mut Wellness, instance, at| {
            wellness.change(InstanceId(instance), second(at), |condition| {
                (condition.alive, condition.registered) = (true, true);
            })
        };
        // Instance 0 observes from 5 s to 30 s. It is well from 10 s, 1 from 10 s to 20 s, 2 from 0 s.
        assert_eq!(register(&mut wellness, 2, 0), Turned::Well);
        wellness.observer_started(0, InstanceId(0), second(5));
        register(&mut wellness, 0, 10);
        register(&mut wellness, 1, 10);
        assert_eq!(register(&mut wellness, 1, 11), Turned::Not);
        let stop = |condition: &mut Condition| condition.stopping = true;
        assert_eq!(wellness.change(InstanceId(1), second(20), stop), Turned::Unwell);
        let die = |condition: &mut Condition| condition.alive = false;
        wellness.change(InstanceId(0), second(30), die);
        wellness.observer_gone(0, second(30));
        wellness.change(InstanceId(2), second(40), die);
        // 1 for 10 s and 2 for 25 s.
        assert_eq!(wellness.good_nanos(Some(0)), 35_000_000_000);
        // 0 for 20 s, 1 for 10 s, 2 for 40 s.
        assert_eq!(wellness.good_nanos(None), 70_000_000_000);
    }
}
