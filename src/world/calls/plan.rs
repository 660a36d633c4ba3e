//! What a caller's calls meet as long as nothing changes: its list with the instances in trouble at their places,
//! and how a call and its retries go over that list. It knows neither the world nor what time it is.
//!
//! Source: `RoundRobinLoadBalancer.getInstanceResponse`, `BlockingLoadBalancedRetryPolicy.registerThrowable`,
//! `RetryAwareServiceInstanceListSupplier.filteredByPreviousInstance`; Ribbon's `RoundRobinRule.choose` and
//! `DefaultLoadBalancerRetryHandler`; `eureka-client.md` 8.1, 8.3, 8.5.

use std::rc::Rc;

use crate::engine::{Dice, Purpose, SimDuration, SimTime};
use crate::model::id::InstanceId;
use crate::model::stage::Stage;
use crate::observe::{CallTally, Fate};

/// Which places of the list are the troubled instances'.
const PLACES: Purpose = Purpose(2);
/// Whether an attempt is lost or fails, where that is not certain.
const FATES: Purpose = Purpose(3);

/// How calls of one application to another are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    /// Further attempts at the same instance.
    pub(super) retries_on_same: u32,
    /// Further instances.
    pub(super) retries_on_next: u32,
    /// Whether a further instance is picked among all but the last one (Spring Cloud LoadBalancer's
    /// `avoid-previous-instance`), and is not just the next of the round (Ribbon).
    pub(super) avoids_previous: bool,
    /// How long an attempt waits for an instance that stands still.
    pub(super) read_timeout: SimDuration,
}

/// What is wrong with an instance, as one caller meets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trouble {
    /// Its process is dead, and this stage is to blame that the caller still has it.
    pub(super) dead: Option<Stage>,
    /// It stands still until then.
    pub(super) stands_until: SimTime,
    /// The probability that a call or its answer is lost on the way.
    pub(super) loss: f64,
    /// The share of calls that it fails.
    pub(super) refuses: f64,
}

/// A troubled instance at its place in the list.
#[derive(Clone, Copy, Debug)]
struct Placed {
    slot: u32,
    instance: InstanceId,
    trouble: Trouble,
}

/// A list and who in it is in trouble.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    list: Rc<[InstanceId]>,
    /// By place.
    troubled: Vec<Placed>,
    /// The loss on the way to everyone else.
    loss: f64,
}

impl Trouble {
    /// None.
    pub(super) const NONE: Self = Self { dead: None, stands_until: SimTime::ZERO, loss: 0.0, refuses: 0.0 };
}

impl Plan {
    /// A plan for this list. Its order is drawn: a client shuffles what it fetched (`eureka-client.md` 3.6), so
    /// every caller has its own. If it has the list of `before`, whoever was in trouble keeps the place.
    pub(super) fn new(
        list: Rc<[InstanceId]>,
        troubled: Vec<(InstanceId, Trouble)>,
        loss: f64,
        before: Option<&Self>,
        dice: &mut Dice<'_>,
    ) -> Self {
        let known = before.filter(|before| Rc::ptr_eq(&before.list, &list)).map(|before| &before.troubled);
        let mut known: Vec<(InstanceId, u32)> =
            known.into_iter().flatten().map(|placed| (placed.instance, placed.slot)).collect();
        known.sort_unstable();
        let place = |instance| {
            let at = known.binary_search_by_key(&instance, |known| known.0);
            at.ok().map(|at| known[at].1)
        };
        let mut taken = vec![false; list.len()];
        let mut placed = Vec::with_capacity(troubled.len());
        let mut new = Vec::new();
        for (instance, trouble) in troubled {
            match place(instance) {
                Some(slot) => {
                    taken[slot as usize] = true;
                    placed.push(Placed { slot, instance, trouble });
                }
                None => new.push((instance, trouble)),
            }
        }
        if !new.is_empty() {
            let mut free: Vec<u32> = (0..list.len() as u32).filter(|&slot| !taken[slot as usize]).collect();
            for (instance, trouble) in new {
                let drawn = dice.below(PLACES, free.len() as u64) as usize;
                placed.push(Placed { slot: free.swap_remove(drawn), instance, trouble });
            }
        }
        placed.sort_unstable_by_key(|placed| placed.slot);
        Self { list, troubled: placed, loss }
    }

    /// The list and who in it is in trouble, by number.
    #[cfg(test)]
    pub(super) fn contents(&self) -> (&[InstanceId], Vec<(InstanceId, Trouble)>) {
        let mut troubled: Vec<_> =
            self.troubled.iter().map(|placed| (placed.instance, placed.trouble)).collect();
        troubled.sort_unstable_by_key(|&(instance, _)| instance);
        (&self.list, troubled)
    }

    /// The next moment after `now` at which an instance that stands still becomes one that answers in time.
    pub(super) fn next_change(&self, now: SimTime, policy: &Policy) -> SimTime {
        let ends = self.troubled.iter().map(|placed| answers_from(placed.trouble.stands_until, policy));
        ends.filter(|&end| end > now).min().unwrap_or(SimTime::MAX)
    }

    /// What becomes of `count` calls from `at` on, before anything changes. `position` is the balancer's counter.
    pub(super) fn calls(
        &self,
        count: u64,
        at: SimTime,
        position: &mut u32,
        policy: &Policy,
        dice: &mut Dice<'_>,
    ) -> CallTally {
        let mut tally = CallTally { calls: count, ..CallTally::default() };
        if self.list.is_empty() {
            // Nobody to retry on, either: the balancer answers by itself.
            tally.failed = count;
            tally.attempts[Fate::NoInstance as usize] = count;
            return tally;
        }
        for _ in 0..count {
            self.call(at, position, policy, dice, &mut tally);
        }
        tally
    }

    fn call(
        &self,
        at: SimTime,
        position: &mut u32,
        policy: &Policy,
        dice: &mut Dice<'_>,
        tally: &mut CallTally,
    ) {
        let size = self.list.len() as u32;
        let mut slot = next_of_round(position, size);
        for further in 0..=policy.retries_on_next {
            if further > 0 {
                slot = further_slot(slot, position, size, policy);
            }
            for _ in 0..=policy.retries_on_same {
                let fate = self.attempt(slot, at, policy, dice, tally);
                tally.attempts[fate as usize] += 1;
                if fate == Fate::Answered {
                    return;
                }
            }
        }
        tally.failed += 1;
    }

    fn attempt(
        &self,
        slot: u32,
        at: SimTime,
        policy: &Policy,
        dice: &mut Dice<'_>,
        tally: &mut CallTally,
    ) -> Fate {
        let lost = |dice: &mut Dice<'_>, loss| dice.happens(FATES, loss);
        let Ok(index) = self.troubled.binary_search_by_key(&slot, |placed| placed.slot) else {
            return if lost(dice, self.loss) { Fate::CutOff } else { Fate::Answered };
        };
        let trouble = &self.troubled[index].trouble;
        if let Some(stage) = trouble.dead {
            tally.dead_by_stage[stage as usize] += 1;
            Fate::Dead
        } else if at < answers_from(trouble.stands_until, policy) {
            Fate::Paused
        } else if lost(dice, trouble.loss) {
            Fate::CutOff
        } else if dice.happens(FATES, trouble.refuses) {
            Fate::Refused
        } else {
            Fate::Answered
        }
    }
}

/// From then on an attempt at an instance that stands still until `stands_until` is answered in time.
fn answers_from(stands_until: SimTime, policy: &Policy) -> SimTime {
    SimTime::from_nanos(stands_until.as_nanos().saturating_sub(policy.read_timeout.as_nanos()))
}

/// Where the balancer's round goes on.
fn next_of_round(position: &mut u32, size: u32) -> u32 {
    *position = position.wrapping_add(1);
    *position % size
}

/// The place of the next instance that a call tries.
fn further_slot(previous: u32, position: &mut u32, size: u32, policy: &Policy) -> u32 {
    if size == 1 {
        return 0;
    }
    if !policy.avoids_previous {
        return next_of_round(position, size);
    }
    let slot = next_of_round(position, size - 1);
    if slot < previous { slot } else { slot + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Chance, Seed};

    const ONCE: Policy = Policy {
        retries_on_same: 0,
        retries_on_next: 0,
        avoids_previous: true,
        read_timeout: SimDuration::from_secs(1),
    };
    const DEAD: Trouble = Trouble { dead: Some(Stage::Registry), ..Trouble::NONE };

    /// So many calls at 10 s over `size` instances, the first of which are in trouble.
    fn calls(count: u64, size: u32, troubles: &[Trouble], policy: &Policy) -> CallTally {
        let (seed, mut chance) = (Seed::new(3, 0), Chance::of("test"));
        let mut dice = chance.with(&seed);
        let list: Vec<InstanceId> = (0..size).map(InstanceId).collect();
        let troubled = list.iter().copied().zip(troubles.iter().copied()).collect();
        let plan = Plan::new(Rc::from(list), troubled, 0.0, None, &mut dice);
        plan.calls(count, SimTime::from_secs(10), &mut 17, policy, &mut dice)
    }

    #[test]
    fn one_dead_of_ten_fails_every_tenth_call() {
        let tally = calls(1_000, 10, &[DEAD], &ONCE);
        assert_eq!((tally.calls, tally.failed, tally.attempts), (1_000, 100, [900, 100, 0, 0, 0, 0]));
        assert_eq!(tally.dead_by_stage, [100, 0, 0, 0]);
    }

    #[test]
    fn a_retry_on_the_next_instance_saves_every_call() {
        for avoids_previous in [false, true] {
            let policy = Policy { retries_on_next: 1, avoids_previous, ..ONCE };
            let tally = calls(900, 10, &[DEAD], &policy);
            // Each attempt is at the next of the round: with n attempts in all a tenth, so 900 calls and their
            // retries are 1,000 attempts. A pick among the nine others moves the round a little.
            let dead = tally.attempts[Fate::Dead as usize];
            assert_eq!((tally.failed, tally.attempts[0]), (0, 900));
            assert!(dead.abs_diff(100) <= if avoids_previous { 15 } else { 1 }, "{dead}");
        }
    }

    #[test]
    fn a_retry_on_the_same_instance_finds_it_as_dead() {
        let policy = Policy { retries_on_same: 2, ..ONCE };
        let tally = calls(1_000, 10, &[DEAD], &policy);
        assert_eq!((tally.failed, tally.attempts), (100, [900, 300, 0, 0, 0, 0]));
        // Two instances of three attempts each, none of which is alive.
        let policy = Policy { retries_on_next: 1, ..policy };
        let tally = calls(1, 2, &[DEAD; 2], &policy);
        assert_eq!((tally.failed, tally.attempts[Fate::Dead as usize]), (1, 6));
    }

    /// The first pick is dead with k / n, and the next among the others with (k − 1) / (n − 1)
    /// (`eureka-client.md` 8.5): 3 / 10 · 2 / 9 = 1 / 15, over all orders of the list.
    #[test]
    fn with_several_dead_a_retry_may_meet_another_one() {
        let policy = Policy { retries_on_next: 1, ..ONCE };
        let (seed, mut chance) = (Seed::new(3, 0), Chance::of("test"));
        let mut dice = chance.with(&seed);
        let list: Rc<[InstanceId]> = (0..10).map(InstanceId).collect();
        let mut tally = CallTally::default();
        for order in 0..5_000 {
            let troubled = list.iter().take(3).map(|&instance| (instance, DEAD)).collect();
            let plan = Plan::new(Rc::clone(&list), troubled, 0.0, None, &mut dice);
            tally += plan.calls(10, SimTime::ZERO, &mut { order }, &policy, &mut dice);
        }
        // 5,000 orders, in each of which about 0.67 calls of ten fail, with a deviation below 1: five of
        // 1 / 10 / sqrt(5,000) = 0.0014 for the share.
        let share = tally.failed as f64 / tally.calls as f64;
        assert!((share - 1.0 / 15.0).abs() < 0.007, "{share}");
    }

    #[test]
    fn a_list_with_one_instance_has_no_other() {
        let policy = Policy { retries_on_next: 1, ..ONCE };
        let tally = calls(5, 1, &[DEAD], &policy);
        assert_eq!((tally.failed, tally.attempts[Fate::Dead as usize]), (5, 10));
    }

    #[test]
    fn an_empty_list_is_not_retried() {
        let policy = Policy { retries_on_next: 3, retries_on_same: 3, ..ONCE };
        let tally = calls(5, 0, &[], &policy);
        assert_eq!((tally.failed, tally.attempts), (5, [0, 0, 0, 0, 0, 5]));
    }

    #[test]
    fn who_wakes_within_the_read_timeout_answers() {
        // The calls are at 10 s and wait for 1 s.
        for (until, paused) in [(SimTime::from_secs(11), 0), (SimTime::from_nanos(11_000_000_001), 100)] {
            let trouble = Trouble { stands_until: until, ..Trouble::NONE };
            assert_eq!(calls(1_000, 10, &[trouble], &ONCE).attempts[Fate::Paused as usize], paused);
        }
    }

    /// Of the 10,000 calls to the one in trouble 30 % are lost and 50 % of the rest fail: 3,000 and 3,500, with
    /// deviations of at most sqrt(10,000 / 4) = 50; five of them.
    #[test]
    fn loss_comes_before_failure() {
        let trouble = Trouble { loss: 0.3, refuses: 0.5, ..Trouble::NONE };
        let tally = calls(100_000, 10, &[trouble], &ONCE);
        assert!(tally.attempts[Fate::CutOff as usize].abs_diff(3_000) < 250, "{:?}", tally.attempts);
        assert!(tally.attempts[Fate::Refused as usize].abs_diff(3_500) < 250, "{:?}", tally.attempts);
        assert_eq!(tally.failed, tally.calls - tally.attempts[0]);
    }

    #[test]
    fn a_place_is_kept_as_long_as_the_list_is() {
        let (seed, mut chance) = (Seed::new(3, 0), Chance::of("test"));
        let mut dice = chance.with(&seed);
        let list: Rc<[InstanceId]> = (0..500).map(InstanceId).collect();
        let one = vec![(InstanceId(7), DEAD)];
        let first = Plan::new(Rc::clone(&list), one.clone(), 0.0, None, &mut dice);
        let both = vec![(InstanceId(7), DEAD), (InstanceId(8), DEAD)];
        let second = Plan::new(Rc::clone(&list), both, 0.0, Some(&first), &mut dice);
        let slot_of = |plan: &Plan, instance| {
            plan.troubled.iter().find(|placed| placed.instance == InstanceId(instance)).unwrap().slot
        };
        assert_eq!(slot_of(&first, 7), slot_of(&second, 7));
        assert_ne!(slot_of(&second, 7), slot_of(&second, 8));
        let other_list = Plan::new(Rc::from(&list[..]), one, 0.0, Some(&first), &mut dice);
        assert_ne!(slot_of(&first, 7), slot_of(&other_list, 7), "1 in 500 by chance, not with this seed");
    }
}
