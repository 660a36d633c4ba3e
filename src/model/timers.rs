//! The timers of a client of either registry: which setting of each is in force.

use super::effect::{ClientEffect, ClientTimer};
use crate::engine::SimDuration;

/// The generation of each timer: a timer that comes due with another generation is stale.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers([u16; ClientTimer::COUNT]);

impl Timers {
    /// Sets `timer` anew.
    pub(super) fn set(&mut self, timer: ClientTimer, delay: SimDuration, out: &mut Vec<ClientEffect>) {
        let generation = self.cancel(timer);
        out.push(ClientEffect::SetTimer { timer, delay, generation });
    }

    /// Makes every earlier setting of `timer` stale; the generation that is now in force.
    pub(super) fn cancel(&mut self, timer: ClientTimer) -> u16 {
        let generation = &mut self.0[timer as usize];
        *generation = generation.wrapping_add(1);
        *generation
    }

    /// Makes every timer stale.
    pub(super) fn cancel_all(&mut self) {
        for generation in &mut self.0 {
            *generation = generation.wrapping_add(1);
        }
    }

    /// Whether `generation` of `timer` is in force.
    pub(super) fn is_current(&self, timer: ClientTimer, generation: u16) -> bool {
        self.0[timer as usize] == generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_a_timer_anew_makes_the_old_one_stale() {
        let (mut timers, mut out) = (Timers::default(), Vec::new());
        timers.set(ClientTimer::Fetch, SimDuration::from_secs(30), &mut out);
        assert!(timers.is_current(ClientTimer::Fetch, 1));
        timers.set(ClientTimer::Fetch, SimDuration::from_secs(60), &mut out);
        assert!(!timers.is_current(ClientTimer::Fetch, 1) && timers.is_current(ClientTimer::Fetch, 2));
        timers.cancel_all();
        assert!(!timers.is_current(ClientTimer::Fetch, 2));
    }
}
