//! The load balancer's list, and how it follows the local registry.
//! Sources: `DynamicServerListLoadBalancer`, `PollingServerListUpdater`, `CachingServiceInstanceListSupplier`;
//! `eureka-client.md` section 8 and 9.1.
//!
//! A list is read at the first call through the balancer and then again and again: by Ribbon every interval, by
//! Spring Cloud LoadBalancer at the first call after its time to live. A read that finds the local registry as it
//! was changes nothing, so the reads are a [`Grid`], and a timer is set only when the local registry has changed.
//!
//! All applications share one list here. In the original each has its own: with dense calls the difference shows
//! only for an application that had no instance at all when it was first called (its list follows the registry at
//! once and keeps the phase of that moment), and with a call rate two applications of one observer are refreshed
//! together instead of independently. One application alone, or all empty at once, is exact.

use super::client::{Client, Life};
use super::effect::{ClientEffect, ClientTimer};
use super::grid::Grid;
use super::{BalancerConfig, ClientConfig, purpose};
use crate::engine::{Dice, NANOS_PER_S, SimDuration, SimTime};
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
fn gap(rate: f64, dice: &mut Dice<'_>) -> SimDuration {
    let unit = dice.unit(purpose::BALANCER_CALLS);
    SimDuration::from_nanos((-libm::log1p(-unit) / rate * NANOS_PER_S as f64) as u64)
}

impl Client {
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
                    now + gap(rate, &mut step.dice)
                } else {
                    self.next_expiring_call(now, ttl, rate, step)
                };
                self.arm_refresh(next, step);
            }
        }
    }

    /// After a pause. Ribbon's poll that came due in it runs now, and its grid moves. A list whose time to live
    /// ended in it is read by the first call after it: with dense calls at once, before anything that arrived
    /// meanwhile is looked at.
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
                    let call = now + gap(rate, &mut step.dice);
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
            next += ttl + gap(rate, &mut step.dice);
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
                ttl + gap(rate, &mut step.dice)
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
