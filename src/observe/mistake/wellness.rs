//! Who is alive and well, and for how long that was to be known: the time over which mistakes are counted.
//!
//! An instance is *well* from the moment at which a first server registers it as UP until its process ends, is asked to
//! stop, is taken out of service or goes DOWN. A process that stands still is well. What servers make of it
//! afterwards (an eviction, a restart of a server) changes nothing: that is what mistakes are about.
//!
//! What servers say of it reaches the others late, old words after new ones. So the last word of each server is kept,
//! and an instance is registered as long as one server's last word is that it is UP.
//!
//! An observer's *good time* is the sum over all instances that it looks at, but itself, of the time during which they
//! were well and the observer was up. It is kept as one number for each observer: the integral of the number of well
//! instances, taken off when the observer comes up and added when it goes down. That integral is kept once for all who
//! look at the same applications.

use crate::engine::SimTime;
use crate::model::id::{InstanceId, ServerId};
use crate::observe::observers::{NOBODY, Observers};
use crate::observe::scopes::{EVERYTHING, Scope};

/// What is known of an instance.
#[derive(Clone, Copy)]
pub(super) struct Condition {
    /// Its process runs or stands still.
    pub(super) alive: bool,
    /// How many servers' last word on it is that it is UP.
    registered: u8,
    /// It was asked to stop.
    pub(super) stopping: bool,
    /// It is unhealthy, or out of service by an operator.
    pub(super) unwell: bool,
    /// Its own place among the observers.
    place: u32,
}

impl Condition {
    const UNKNOWN: Self = Self { alive: false, registered: 0, stopping: false, unwell: false, place: NOBODY };

    const fn is_well(self) -> bool {
        self.alive && self.registered > 0 && !self.stopping && !self.unwell
    }
}

/// The last word of a server on an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReportedStatus {
    /// None, or that it is not UP.
    #[default]
    NotUp,
    /// That it is UP.
    Up,
    /// That it has left, and it has not registered there since.
    Cancelled,
}

/// All instances' conditions.
#[derive(Clone)]
pub(super) struct Wellness {
    conditions: Vec<Condition>,
    servers: usize,
    /// By instance and server.
    words: Vec<ReportedStatus>,
    /// By scope.
    sums: Vec<Sum>,
    until: SimTime,
    /// Each observer's good time so far, ns, less what is still running. Wraps around zero while it is up.
    good: Vec<u128>,
}

/// Well instances of a scope.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// How many there are.
    well: u64,
    /// The sum over time of their number, ns.
    integral: u128,
}

/// How an instance's wellness changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WellnessChange {
    /// Not at all.
    Not,
    /// It is well now.
    Well,
    /// It is not well any more.
    Unwell,
}

impl Wellness {
    /// Nothing is known yet by so many servers.
    pub(super) fn new(servers: usize) -> Self {
        assert!(servers <= usize::from(u8::MAX), "a condition counts servers in a byte");
        Self {
            conditions: Vec::new(),
            servers,
            words: Vec::new(),
            sums: vec![Sum::default()],
            until: SimTime::ZERO,
            good: Vec::new(),
        }
    }

    /// A process starts as `instance`: nobody has said anything of it yet.
    pub(super) fn process_started(
        &mut self,
        instance: InstanceId,
        now: SimTime,
        observers: &Observers,
    ) -> WellnessChange {
        self.words_on(instance).fill(ReportedStatus::NotUp);
        self.change(instance, now, observers, |condition| {
            (condition.alive, condition.registered) = (true, 0);
            (condition.stopping, condition.unwell) = (false, false);
        })
    }

    /// A server has registered an instance: as UP, or with another status. Who was taken out by a cancellation alone
    /// is back, if the server that says so has heard of that: otherwise its word is older.
    pub(super) fn registered(
        &mut self,
        instance: InstanceId,
        server: ServerId,
        up: bool,
        now: SimTime,
        observers: &Observers,
    ) -> WellnessChange {
        let words = self.words_on(instance);
        let is_back = up && words[server.index()] == ReportedStatus::Cancelled;
        if is_back {
            // One return is enough: whoever hears of the end and of the return later has nothing new to say.
            words
                .iter_mut()
                .filter(|word| **word == ReportedStatus::Cancelled)
                .for_each(|word| *word = ReportedStatus::NotUp);
        }
        let registered =
            self.put_word(instance, server, if up { ReportedStatus::Up } else { ReportedStatus::NotUp });
        self.change(instance, now, observers, |condition| {
            condition.registered = registered;
            condition.unwell &= !is_back;
        })
    }

    /// What else a server says of an instance.
    pub(super) fn told(
        &mut self,
        instance: InstanceId,
        server: ServerId,
        word: ReportedStatus,
        now: SimTime,
        observers: &Observers,
    ) -> WellnessChange {
        let registered = self.put_word(instance, server, word);
        self.change(instance, now, observers, |condition| condition.registered = registered)
    }

    /// An observer comes up, or exists from now on.
    pub(super) fn observer_started(
        &mut self,
        place: u32,
        instance: InstanceId,
        now: SimTime,
        observers: &Observers,
    ) {
        if self.good.len() <= place as usize {
            self.good.resize(place as usize + 1, 0);
        }
        self.advance(now);
        for scope in self.sums.len()..observers.scopes.len() {
            let seen = |&instance: &InstanceId| observers.scopes.sees(scope as Scope, instance);
            let well = self.all_well().filter(seen).count() as u64;
            self.sums.push(Sum { well, integral: 0 });
        }
        let good = &mut self.good[place as usize];
        *good = good.wrapping_sub(self.sums[observers.scope(place) as usize].integral);
        self.condition(instance).place = place;
    }

    /// An observer goes down. The instance that it is has ended before.
    pub(super) fn observer_gone(&mut self, place: u32, now: SimTime, observers: &Observers) {
        self.advance(now);
        let good = &mut self.good[place as usize];
        *good = good.wrapping_add(self.sums[observers.scope(place) as usize].integral);
    }

    /// What is known of an instance changes.
    pub(super) fn change(
        &mut self,
        instance: InstanceId,
        now: SimTime,
        observers: &Observers,
        change: impl FnOnce(&mut Condition),
    ) -> WellnessChange {
        let condition = self.condition(instance);
        let before = condition.is_well();
        change(condition);
        let (after, place) = (condition.is_well(), condition.place);
        if before == after {
            return WellnessChange::Not;
        }
        self.advance(now);
        for (sum, scope) in self.sums.iter_mut().zip(0..) {
            if observers.scopes.sees(scope, instance) {
                sum.well = if after { sum.well + 1 } else { sum.well - 1 };
            }
        }
        // Nobody is an observer of itself: that time is taken off its good time.
        if place != NOBODY && observers.observed_services(place, instance) {
            let (good, nanos) = (&mut self.good[place as usize], u128::from(now.as_nanos()));
            *good = if after { good.wrapping_add(nanos) } else { good.wrapping_sub(nanos) };
        }
        if after { WellnessChange::Well } else { WellnessChange::Unwell }
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

    /// The good time of an observer that is down, or of any server, ns. Nobody may be well any more.
    pub(super) fn good_nanos(&self, place: Option<u32>) -> u128 {
        let all = self.sums[EVERYTHING as usize].integral;
        place.map_or(all, |place| self.good.get(place as usize).copied().unwrap_or(0))
    }

    fn words_on(&mut self, instance: InstanceId) -> &mut [ReportedStatus] {
        let first = instance.index() * self.servers;
        if self.words.len() < first + self.servers {
            self.words.resize(first + self.servers, ReportedStatus::NotUp);
        }
        &mut self.words[first..first + self.servers]
    }

    /// Keeps a server's last word; returns how many servers' last word is UP.
    fn put_word(&mut self, instance: InstanceId, server: ServerId, word: ReportedStatus) -> u8 {
        let words = self.words_on(instance);
        words[server.index()] = word;
        words.iter().filter(|word| **word == ReportedStatus::Up).count() as u8
    }

    fn condition(&mut self, instance: InstanceId) -> &mut Condition {
        if self.conditions.len() <= instance.index() {
            self.conditions.resize(instance.index() + 1, Condition::UNKNOWN);
        }
        &mut self.conditions[instance.index()]
    }

    fn advance(&mut self, now: SimTime) {
        let passed = u128::from(now.since(self.until).as_nanos());
        for sum in &mut self.sums {
            sum.integral += passed * u128::from(sum.well);
        }
        self.until = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{AppId, ClientId};
    use crate::observe::layout::Layout;
    use crate::observe::scopes::ObservedServices;

    fn observers(servers: usize) -> Observers {
        let mut observers = Observers::new(Layout::of_eureka(servers));
        observers.add(ClientId(0), AppId(0), ObservedServices::Everything);
        observers
    }

    #[test]
    fn good_time_is_the_sum_over_all_others_while_the_observer_is_up() {
        let second = SimTime::from_secs;
        let observers = observers(1);
        let mut wellness = Wellness::new(1);
        let register = |wellness: &mut Wellness, instance, at| {
            wellness.process_started(InstanceId(instance), second(at), &observers);
            wellness.registered(InstanceId(instance), ServerId(0), true, second(at), &observers)
        };
        // Instance 0 observes from 5 s to 30 s. It is well from 10 s, 1 from 10 s to 20 s, 2 from 0 s.
        assert_eq!(register(&mut wellness, 2, 0), WellnessChange::Well);
        wellness.observer_started(0, InstanceId(0), second(5), &observers);
        register(&mut wellness, 0, 10);
        register(&mut wellness, 1, 10);
        assert_eq!(
            wellness.registered(InstanceId(1), ServerId(0), true, second(11), &observers),
            WellnessChange::Not
        );
        let stop = |condition: &mut Condition| condition.stopping = true;
        assert_eq!(wellness.change(InstanceId(1), second(20), &observers, stop), WellnessChange::Unwell);
        let die = |condition: &mut Condition| condition.alive = false;
        wellness.change(InstanceId(0), second(30), &observers, die);
        wellness.observer_gone(0, second(30), &observers);
        wellness.change(InstanceId(2), second(40), &observers, die);
        // 1 for 10 s and 2 for 25 s.
        assert_eq!(wellness.good_nanos(Some(0)), 35_000_000_000);
        // 0 for 20 s, 1 for 10 s, 2 for 40 s.
        assert_eq!(wellness.good_nanos(None), 70_000_000_000);
    }
    #[test]
    fn an_instance_is_registered_while_one_server_says_that_it_is_up() {
        let (second, instance) = (SimTime::from_secs, InstanceId(0));
        let observers = observers(2);
        let mut wellness = Wellness::new(2);
        wellness.process_started(instance, second(0), &observers);
        assert_eq!(
            wellness.registered(instance, ServerId(0), true, second(1), &observers),
            WellnessChange::Well
        );
        // The record from before it was UP reaches the peer late.
        assert_eq!(
            wellness.registered(instance, ServerId(1), false, second(2), &observers),
            WellnessChange::Not
        );
        assert_eq!(
            wellness.told(instance, ServerId(1), ReportedStatus::Up, second(3), &observers),
            WellnessChange::Not
        );
        assert_eq!(
            wellness.told(instance, ServerId(0), ReportedStatus::NotUp, second(4), &observers),
            WellnessChange::Not
        );
        assert_eq!(
            wellness.told(instance, ServerId(1), ReportedStatus::NotUp, second(5), &observers),
            WellnessChange::Unwell
        );
    }

    #[test]
    fn who_was_deleted_is_back_when_a_server_that_knew_registers_it() {
        let (second, instance) = (SimTime::from_secs, InstanceId(0));
        let [one, other] = [0, 1].map(ServerId);
        let observers = observers(2);
        let mut wellness = Wellness::new(2);
        wellness.process_started(instance, second(0), &observers);
        wellness.registered(instance, one, true, second(1), &observers);
        let unwell = |condition: &mut Condition| condition.unwell = true;
        assert_eq!(wellness.change(instance, second(2), &observers, unwell), WellnessChange::Unwell);
        wellness.told(instance, one, ReportedStatus::Cancelled, second(2), &observers);
        // The peer hears of the registration first, then of the end.
        assert_eq!(wellness.registered(instance, other, true, second(3), &observers), WellnessChange::Not);
        assert_eq!(wellness.registered(instance, one, true, second(4), &observers), WellnessChange::Well);
        assert_eq!(
            wellness.told(instance, other, ReportedStatus::Cancelled, second(5), &observers),
            WellnessChange::Not
        );
        assert_eq!(wellness.registered(instance, other, true, second(6), &observers), WellnessChange::Not);
    }
}
