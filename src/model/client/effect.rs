//! What a client wants done: calls to send, timers to set, facts to note. The world decides what that means.

use crate::engine::SimDuration;
use crate::model::fact::Fact;
use crate::model::id::ServerId;
use crate::model::message::Request;

/// Names one attempt at one request, so that its outcome finds the job that waits for it. Outcomes of calls
/// that nobody waits for any more (given up, or of an earlier life of the process) match nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call(u32);

impl Call {
    /// No call: what an idle job waits for.
    pub(super) const NONE: Self = Self(0);
    const FRESH: u32 = 1 << 31;

    /// The call with this serial number.
    pub(super) const fn numbered(serial: u32, fresh: bool) -> Self {
        Self(if fresh { serial | Self::FRESH } else { serial })
    }

    /// The serial number after `serial`: never 0, and never touching the bit for fresh connections.
    pub(super) const fn serial_after(serial: u32) -> u32 {
        if serial + 1 == Self::FRESH { 1 } else { serial + 1 }
    }

    /// Whether the call opens its own connection, because the client has none that worked before
    /// (`eureka-client.md` 6.2: no delegate), or another call waits over it (6.7). Such a call never finds a
    /// pooled connection.
    pub const fn is_fresh(self) -> bool {
        self.0 & Self::FRESH != 0
    }
}

/// The timers of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ClientTimer {
    /// When to start the next heartbeat.
    Heartbeat = 0,
    /// When to start the next registry fetch.
    Fetch = 1,
    /// When to look whether the record must be registered anew.
    Replicator = 2,
    /// When to stop waiting for the heartbeat that runs.
    HeartbeatTimeout = 3,
    /// When to stop waiting for the fetch that runs.
    FetchTimeout = 4,
    /// When the balancer's list is taken anew from the local registry.
    BalancerRefresh = 5,
    /// When to shuffle the server list anew.
    ServerList = 6,
    /// When a process that stops gives up waiting for its replicator.
    ShutdownWait = 7,
}

impl ClientTimer {
    /// How many timers a client has.
    pub const COUNT: usize = 8;
}

/// What a client wants done, in the order in which it happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClientEffect {
    /// A request goes out.
    Send {
        /// To be named with its outcome.
        call: Call,
        /// The server it goes to.
        to: ServerId,
        /// What is asked.
        request: Request,
    },
    /// A timer is set; an earlier setting of the same timer is stale from now on.
    SetTimer {
        /// Which timer.
        timer: ClientTimer,
        /// From now, on the monotonic clock.
        delay: SimDuration,
        /// To be handed back when the timer is due.
        generation: u16,
    },
    /// Something worth knowing happened.
    Fact(Fact),
    /// The process has ended in order, or could not start.
    Exited,
}

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
    fn serial_numbers_go_round_without_zero_or_the_fresh_bit() {
        assert_eq!(Call::serial_after(0), 1);
        assert_eq!(Call::serial_after(Call::FRESH - 1), 1);
        assert!(Call::numbered(5, true).is_fresh());
        assert!(!Call::numbered(5, false).is_fresh());
    }

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
