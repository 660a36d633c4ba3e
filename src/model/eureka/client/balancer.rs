//! The load balancer's list, and how it follows the local registry. Sources: `DynamicServerListLoadBalancer`,
//! `PollingServerListUpdater`, `CachingServiceInstanceListSupplier`; `eureka-client.md` section 8 and 9.1.
//!
//! A list is read at the first call through the balancer and then again and again: by Ribbon every interval,
//! by Spring Cloud LoadBalancer at the first call after its time to live. A read that finds the local
//! registry as it was changes nothing, so the reads are a [`Grid`], and a timer is set only when the local
//! registry has changed.
//!
//! All applications share one list here. In the original each has its own: with dense calls the difference
//! shows only for an application that had no instance at all when it was first called (its list follows the
//! registry at once and keeps the phase of that moment), and with a call rate two applications of one
//! observer are refreshed together instead of independently. One application alone, or all empty at once, is
//! exact.

use super::grid::Grid;
use super::machine::{Client, Life};
use super::{BalancerConfig, ClientConfig, purpose};
use crate::engine::{NANOS_PER_S, Rng, SimDuration, SimTime};
use crate::model::effect::{ClientEffect, ClientTimer};
use crate::model::fact::Fact;
use crate::model::message::Status;
use crate::model::step::Step;
use crate::model::view::View;

/// Ribbon's first poll comes this long after the list was first read (`PollingServerListUpdater`).
const RIBBON_FIRST_POLL: SimDuration = SimDuration::from_millis(1_000);

/// Whether there is a list yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filling {
    /// Nobody has called.
    Unused,
    /// The first call came while the constructor was still at work; it reads as soon as that is done.
    Waited,
    /// There is one.
    Filled,
}

/// The state of the balancer.
#[derive(Clone, Debug)]
pub(super) struct Balancer {
    view: View,
    filling: Filling,
    /// Whether the refresh timer is set for [`Self::reads`].
    is_armed: bool,
    /// When the list is read anew.
    reads: Grid,
    first_call: SimDuration,
}

impl Balancer {
    /// A balancer that is called for the first time `first_call` after the process starts.
    pub(super) const fn unused(first_call: SimDuration) -> Self {
        Self {
            view: View::EMPTY,
            filling: Filling::Unused,
            is_armed: false,
            reads: Grid::starting_at(SimTime::ZERO),
            first_call,
        }
    }

    /// From the start of the process to the first call.
    pub(super) const fn first_call(&self) -> SimDuration {
        self.first_call
    }

    /// What it picks from; empty before the first call.
    pub(super) const fn view(&self) -> View {
        self.view
    }
}

/// The time until the next call of a Poisson stream with `rate` calls a second.
fn gap(rate: f64, rng: &mut Rng<'_>) -> SimDuration {
    let unit = rng.unit(purpose::BALANCER_CALLS);
    SimDuration::from_nanos((-libm::log1p(-unit) / rate * NANOS_PER_S as f64) as u64)
}

impl Client {
    /// Whether it calls others: from its first call through its balancer on; without one, once its constructor is
    /// done.
    pub fn makes_calls(&self, config: &ClientConfig) -> bool {
        let at_work = matches!(self.life, Life::Running | Life::Stopping);
        at_work && (config.balancer == BalancerConfig::None || self.balancer.filling == Filling::Filled)
    }

    /// Sets the timer for the first call of a process that starts.
    pub(super) fn await_first_call(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if config.fetch_registry && config.balancer != BalancerConfig::None {
            self.timers.set(ClientTimer::BalancerRefresh, self.balancer.first_call, step.out);
        }
    }

    /// The constructor is done: a call that waited for it reads now.
    pub(super) fn balancer_may_read(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if self.balancer.filling == Filling::Waited {
            self.read_list(config, step);
        }
    }

    /// The refresh timer is due, or the first call came.
    pub(super) fn balancer_due(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if self.life == Life::Starting {
            self.balancer.filling = Filling::Waited;
        } else {
            self.read_list(config, step);
        }
    }

    /// The local registry changed: makes sure that the balancer takes it over when it next reads.
    pub(super) fn balancer_sees_change(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if config.balancer == BalancerConfig::None {
            self.take_list(step);
            return;
        }
        if self.balancer.filling != Filling::Filled || self.balancer.is_armed {
            return;
        }
        let now = step.now.mono;
        match config.balancer {
            BalancerConfig::None => unreachable!("handled above"),
            BalancerConfig::Ribbon { refresh_interval } => {
                self.arm_refresh(self.balancer.reads.at_or_after(now, refresh_interval), step);
            }
            BalancerConfig::SpringCloudLoadBalancer { call_rate: None, .. }
                if self.list_is_empty(config, step) =>
            {
                // An empty list is never served: every call looks again, and calls are dense.
                self.read_list(config, step);
            }
            BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: None } => {
                self.arm_refresh(self.balancer.reads.at_or_after(now, ttl), step);
            }
            BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: Some(rate) } => {
                let next = if ttl.is_zero() || self.list_is_empty(config, step) {
                    now + gap(rate, &mut step.rng)
                } else {
                    self.next_expiring_call(now, ttl, rate, step)
                };
                self.arm_refresh(next, step);
            }
        }
    }

    /// After a pause. Ribbon's poll that came due in it runs now, and its grid moves. A list whose time to
    /// live ended in it is read by the first call after it: with dense calls at once, before anything that
    /// arrived meanwhile is looked at.
    pub(super) fn balancer_resumes(
        &mut self,
        config: &ClientConfig,
        paused_since: SimTime,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if self.balancer.filling != Filling::Filled {
            return;
        }
        let now = step.now.mono;
        match config.balancer {
            BalancerConfig::None => {}
            BalancerConfig::Ribbon { refresh_interval } => {
                if self.balancer.reads.missed(paused_since, now, refresh_interval) {
                    self.balancer.reads = Grid::starting_at(now);
                }
            }
            BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: None } => {
                if self.balancer.reads.missed(paused_since, now, ttl) {
                    self.timers.cancel(ClientTimer::BalancerRefresh);
                    self.read_list(config, step);
                }
            }
            BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: Some(rate) } => {
                let next = self.next_expiring_call(paused_since, ttl, rate, step);
                if next <= now {
                    let call = now + gap(rate, &mut step.rng);
                    self.balancer.reads = Grid::starting_at(call);
                    if self.balancer.is_armed {
                        self.arm_refresh(call, step);
                    }
                }
            }
        }
    }

    /// The first call at or after `from` that finds the list expired. Those before it changed nothing.
    fn next_expiring_call(
        &mut self,
        from: SimTime,
        ttl: SimDuration,
        rate: f64,
        step: &mut Step<'_, ClientEffect>,
    ) -> SimTime {
        let mut next = self.balancer.reads.next();
        while next < from && !ttl.is_zero() {
            next += ttl + gap(rate, &mut step.rng);
        }
        self.balancer.reads = Grid::starting_at(next);
        next
    }

    /// Reads the list now.
    fn read_list(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        let until_next = match config.balancer {
            BalancerConfig::None => SimDuration::ZERO,
            BalancerConfig::Ribbon { .. } if self.balancer.filling != Filling::Filled => RIBBON_FIRST_POLL,
            BalancerConfig::Ribbon { refresh_interval } => refresh_interval,
            BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: None } => ttl,
            BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: Some(rate) } => {
                ttl + gap(rate, &mut step.rng)
            }
        };
        self.balancer.filling = Filling::Filled;
        self.balancer.is_armed = false;
        self.balancer.reads = Grid::starting_at(step.now.mono + until_next);
        self.take_list(step);
    }

    fn take_list(&mut self, step: &mut Step<'_, ClientEffect>) {
        let to = self.view;
        let from = std::mem::replace(&mut self.balancer.view, to);
        if from != to {
            step.out.push(ClientEffect::Fact(Fact::BalancerChanged { from, to }));
        }
    }

    fn arm_refresh(&mut self, at: SimTime, step: &mut Step<'_, ClientEffect>) {
        self.balancer.is_armed = true;
        self.timers.set(ClientTimer::BalancerRefresh, at.since(step.now.mono), step.out);
    }

    fn list_is_empty(&self, config: &ClientConfig, step: &Step<'_, ClientEffect>) -> bool {
        let counts = step.views.counts(self.balancer.view);
        if config.filter_only_up_instances { counts.of(Status::Up) == 0 } else { counts.total() == 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Rig, at_ms, secs};
    use super::*;
    use crate::model::eureka::Flavour;

    const DENSE: BalancerConfig =
        BalancerConfig::SpringCloudLoadBalancer { ttl: SimDuration::from_secs(35), call_rate: None };
    const RIBBON: BalancerConfig = BalancerConfig::Ribbon { refresh_interval: SimDuration::from_secs(30) };

    /// A client that calls first at 10 s; instance 7 comes between the fetches of 60.004 and 90.006.
    fn rig(balancer: BalancerConfig) -> Rig {
        let mut rig = Rig::new(Flavour::Spring);
        rig.config.balancer = balancer;
        rig.client.set_first_call(secs(10));
        rig
    }

    fn with_change(mut rig: Rig) -> Rig {
        rig.start();
        rig.run_to(at_ms(70_000));
        rig.registry.put(0, 7, Some(Status::Up));
        rig.run_to(at_ms(400_000));
        rig
    }

    fn changes_ms(rig: &Rig) -> Vec<u64> {
        rig.balancer_changes().into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn dense_calls_refill_when_the_time_to_live_ends() {
        let rig = with_change(rig(DENSE));
        // Written at 10, 45, 80, 115 s; the change is in the local registry at 90.008.
        assert_eq!(changes_ms(&rig), [10_000, 115_000]);
        assert_eq!(rig.client.balancer_view(), rig.client.view());
    }

    #[test]
    fn ribbon_polls_one_second_after_the_first_use_and_then_every_interval() {
        let rig = with_change(rig(RIBBON));
        assert_eq!(changes_ms(&rig), [10_000, 101_000]); // polls at 11, 41, 71, 101 s
    }

    #[test]
    fn without_a_balancer_callers_read_the_local_registry() {
        let rig = with_change(rig(BalancerConfig::None));
        assert_eq!(changes_ms(&rig), [2, 90_008]);
    }

    #[test]
    fn a_call_before_the_constructor_is_done_reads_when_it_is() {
        let mut rig = rig(DENSE);
        rig.client.set_first_call(SimDuration::from_millis(1));
        let rig = with_change(rig);
        assert_eq!(changes_ms(&rig), [2, 105_002]); // 2 ms, then every 35 s: 35.002, 70.002, 105.002
    }

    #[test]
    fn an_empty_list_is_looked_up_at_every_call() {
        let mut rig = rig(DENSE);
        rig.registry.put(0, 9, None);
        let mut rig = with_change(rig);
        // The empty registry of 2 ms is read at 10 s. Fetches of an empty registry are full: 30.002, 60.004,
        // 90.006.
        assert_eq!(changes_ms(&rig), [10_000, 90_008]);
        rig.registry.put(0, 8, Some(Status::Up));
        rig.run_to(at_ms(500_000));
        // Written at 90.008, so the phase is new: 90.008 + 10 * 35 = 440.008; fetched at 420.028.
        assert_eq!(changes_ms(&rig), [10_000, 90_008, 440_008]);
    }

    #[test]
    fn sparse_calls_find_the_list_expired_a_gap_later() {
        let rate = 0.1;
        let config = BalancerConfig::SpringCloudLoadBalancer { ttl: secs(35), call_rate: Some(rate) };
        let rig = with_change(rig(config));
        let changes = changes_ms(&rig);
        assert_eq!((changes.len(), changes[0]), (2, 10_000));
        assert!(changes[1] >= 90_008, "not before the change: {}", changes[1]);
        assert_ne!((changes[1] - 10_000) % 35_000, 0, "35 s and a gap apart");
    }

    #[test]
    fn gaps_have_the_mean_of_the_rate() {
        let mut rig = rig(DENSE);
        let mut sum = 0.0;
        for _ in 0..10_000 {
            rig.step(|_, _, step| sum += gap(0.5, &mut step.rng).as_secs_f64());
        }
        assert!((sum / 10_000.0 - 2.0).abs() < 0.08, "mean {}", sum / 10_000.0); // four standard errors
    }

    #[test]
    fn an_expired_list_is_read_at_the_resume_before_anything_that_arrived() {
        let mut rig = rig(DENSE);
        rig.start();
        rig.run_to(at_ms(30_002)); // a fetch is under way
        rig.registry.put(0, 7, Some(Status::Up));
        rig.run_to(at_ms(31_000));
        rig.run_to(at_ms(60_005));
        rig.pause_to(at_ms(100_000)); // the fetch of 60.004 brought 7; written at 45, expired at 80
        rig.run_to(at_ms(140_000));
        // The answer of 60.006 is read after the list was: so the list shows 7 only at 100 + 35 s.
        assert_eq!(changes_ms(&rig), [10_000, 135_000]);
    }

    #[test]
    fn ribbons_grid_moves_with_a_pause() {
        let mut rig = rig(RIBBON);
        rig.start();
        rig.run_to(at_ms(35_000));
        rig.pause_to(at_ms(60_000)); // the poll of 41 s runs at 60 s
        let rig = {
            rig.registry.put(0, 7, Some(Status::Up));
            rig.run_to(at_ms(125_000));
            rig
        };
        // The fetch of 60.004 runs on time and brings 7 at 60.006; polls are at 60, 90, 120 s.
        assert_eq!(changes_ms(&rig), [10_000, 90_000]);
    }
}
