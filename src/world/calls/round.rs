//! How a call and its retries go round a list. It knows neither who is in the list nor what time it is.
//!
//! Source: `RoundRobinLoadBalancer.getInstanceResponse`, `BlockingLoadBalancedRetryPolicy.registerThrowable`,
//! `RetryAwareServiceInstanceListSupplier.filteredByPreviousInstance`; Ribbon's `RoundRobinRule.choose` and
//! `DefaultLoadBalancerRetryHandler`; `eureka-client.md` 8.1, 8.3, 8.5.

use crate::engine::SimDuration;
use crate::observe::{CallOutcome, CallTally};

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

/// One call over a list of `size` instances. `position` is the balancer's counter; `attempt` says what becomes of
/// an attempt at the instance at a place of the list.
pub(super) fn call(
    size: u32,
    position: &mut u32,
    policy: &Policy,
    tally: &mut CallTally,
    mut attempt: impl FnMut(u32, &mut CallTally) -> CallOutcome,
) {
    tally.calls += 1;
    if size == 0 {
        // The balancer answers by itself: there is nobody to retry on.
        tally.failed += 1;
        tally.attempts[CallOutcome::NoInstance as usize] += 1;
        return;
    }
    let mut place = next_of_round(position, size);
    for further in 0..=policy.retries_on_next {
        if further > 0 {
            place = further_place(place, position, size, policy);
        }
        for _ in 0..=policy.retries_on_same {
            let outcome = attempt(place, tally);
            tally.attempts[outcome as usize] += 1;
            if outcome == CallOutcome::Answered {
                return;
            }
        }
    }
    tally.failed += 1;
}

/// Where the balancer's round goes on.
fn next_of_round(position: &mut u32, size: u32) -> u32 {
    *position = position.wrapping_add(1);
    *position % size
}

/// The place of the next instance that a call tries.
fn further_place(previous: u32, position: &mut u32, size: u32, policy: &Policy) -> u32 {
    if size == 1 {
        return 0;
    }
    if !policy.avoids_previous {
        return next_of_round(position, size);
    }
    let place = next_of_round(position, size - 1);
    if place < previous { place } else { place + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONCE: Policy = Policy {
        retries_on_same: 0,
        retries_on_next: 0,
        avoids_previous: true,
        read_timeout: SimDuration::from_secs(1),
    };

    /// So many calls over `size` instances, of which those at the places below `dead` are dead.
    fn calls(count: u64, size: u32, dead: u32, policy: &Policy) -> CallTally {
        let (mut tally, mut position) = (CallTally::default(), 17);
        for _ in 0..count {
            call(size, &mut position, policy, &mut tally, |place, _| {
                if place < dead { CallOutcome::Dead } else { CallOutcome::Answered }
            });
        }
        tally
    }

    #[test]
    fn one_dead_of_ten_fails_every_tenth_call() {
        let tally = calls(1_000, 10, 1, &ONCE);
        assert_eq!((tally.calls, tally.failed, tally.attempts), (1_000, 100, [900, 100, 0, 0, 0, 0]));
    }

    #[test]
    fn a_retry_on_the_next_instance_saves_every_call() {
        for avoids_previous in [false, true] {
            let policy = Policy { retries_on_next: 1, avoids_previous, ..ONCE };
            let tally = calls(900, 10, 1, &policy);
            // Each attempt is at the next of the round: of n attempts a tenth is dead, so 900 calls and their
            // retries are 1,000 attempts. A pick among the nine others moves the round a little.
            let dead = tally.attempts[CallOutcome::Dead as usize];
            assert_eq!((tally.failed, tally.attempts[0]), (0, 900));
            assert!(dead.abs_diff(100) <= if avoids_previous { 15 } else { 1 }, "{dead}");
        }
    }

    #[test]
    fn a_retry_on_the_same_instance_finds_it_as_dead() {
        let policy = Policy { retries_on_same: 2, ..ONCE };
        let tally = calls(1_000, 10, 1, &policy);
        assert_eq!((tally.failed, tally.attempts), (100, [900, 300, 0, 0, 0, 0]));
        // Two instances of three attempts each, none of which is alive.
        let policy = Policy { retries_on_next: 1, ..policy };
        let tally = calls(1, 2, 2, &policy);
        assert_eq!((tally.failed, tally.attempts[CallOutcome::Dead as usize]), (1, 6));
    }

    #[test]
    fn a_further_instance_is_another_one() {
        let policy = Policy { retries_on_next: 1, ..ONCE };
        for avoids_previous in [false, true] {
            let policy = Policy { avoids_previous, ..policy };
            for (size, start) in (2..7).flat_map(|size| (0..60).map(move |start| (size, start))) {
                let mut tried = Vec::new();
                call(size, &mut { start }, &policy, &mut CallTally::default(), |place, _| {
                    tried.push(place);
                    CallOutcome::Dead
                });
                assert!(tried.len() == 2 && tried[0] != tried[1] && tried.iter().all(|&place| place < size));
            }
        }
    }

    #[test]
    fn a_list_with_one_instance_has_no_other() {
        let tally = calls(5, 1, 1, &Policy { retries_on_next: 1, ..ONCE });
        assert_eq!((tally.failed, tally.attempts[CallOutcome::Dead as usize]), (5, 10));
    }

    #[test]
    fn an_empty_list_is_not_retried() {
        let tally = calls(5, 0, 0, &Policy { retries_on_next: 3, retries_on_same: 3, ..ONCE });
        assert_eq!((tally.failed, tally.attempts), (5, [0, 0, 0, 0, 0, 5]));
    }
}
