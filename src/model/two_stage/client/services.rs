//! Consumers that ask service by service: a loop for each, and one timer for all of them.
//!
//! Each loop knows when it is due. The timer is set for the earliest, so a process has one timer in the queue however
//! many services it follows.

use super::machine::TwoStageClient;
use super::refresh::wait_after;
use crate::engine::{SimDuration, SimTime};
use crate::model::effect::{Call, ClientEffect, ClientTimer};
use crate::model::id::AppId;
use crate::model::message::{Reply, Revision};
use crate::model::step::Step;
use crate::model::two_stage::config::{ClientConfig, Discovery};
use crate::model::view::LifeId;

/// What a consumer keeps of one service that it follows.
#[derive(Clone, Debug)]
pub(super) struct ServiceLoop {
    pub(super) app: AppId,
    /// What the call that is under way waits for.
    pub(super) call: Call,
    /// When to ask again; [`SimTime::MAX`] while a call is under way.
    due: SimTime,
    /// Failures in a row.
    pub(super) failures: u32,
    /// The revision that it knows: of a long poll only.
    pub(super) revision: Revision,
    /// Of which version the list that was stored last is: of a subscription only.
    pub(super) stored: Option<(LifeId, u32)>,
    /// Whether the call at the start has ended: of a subscription only.
    pub(super) has_started: bool,
    /// Whether a push was stored since the last poll was sent.
    pub(super) is_pushed: bool,
    /// Whether the answer to the poll that is under way will be thrown away.
    pub(super) discards: bool,
}

impl ServiceLoop {
    fn new(app: AppId) -> Self {
        Self {
            app,
            call: Call::NONE,
            due: SimTime::MAX,
            failures: 0,
            revision: Revision::NONE,
            stored: None,
            has_started: false,
            is_pushed: false,
            discards: false,
        }
    }
}

impl TwoStageClient {
    /// The loops begin.
    pub(super) fn ask_for_every_service(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        self.loops = config.services.iter().copied().map(ServiceLoop::new).collect();
        for at in 0..self.loops.len() {
            self.ask(at, config, step);
        }
    }

    pub(super) fn loops_due(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        self.loops_wake = SimTime::MAX;
        for at in 0..self.loops.len() {
            if self.loops[at].due <= step.now.mono {
                self.ask(at, config, step);
            }
        }
        self.set_timer_of_loops(step);
    }

    pub(super) fn loop_call_ended(
        &mut self,
        at: usize,
        reply: Option<Reply>,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        self.loops[at].call = Call::NONE;
        let reply = reply.filter(|reply| reply.status == 200);
        let wait = match config.discovery {
            Discovery::LongPoll => {
                let ok = reply.is_some_and(|reply| self.watch_answered(at, reply, config, step));
                let gap = SimDuration::from_millis(u64::from(config.watch_reissue_gap_ms));
                wait_after(ok, &mut self.loops[at].failures, gap, config, step)
            }
            Discovery::PushPlusPoll => self.wait_after_poll(at, reply, config, step),
            Discovery::Poll => unreachable!("it has no loops"),
        };
        self.loops[at].due = step.now.mono + wait;
        self.set_timer_of_loops(step);
    }

    fn ask(&mut self, at: usize, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        let request = match config.discovery {
            Discovery::LongPoll => self.watch(at, config),
            Discovery::PushPlusPoll => self.poll(at),
            Discovery::Poll => unreachable!("it has no loops"),
        };
        self.loops[at].due = SimTime::MAX;
        self.loops[at].call = self.send(request, step);
    }

    fn set_timer_of_loops(&mut self, step: &mut Step<'_, ClientEffect>) {
        let earliest = self.loops.iter().map(|each| each.due).min().unwrap_or(SimTime::MAX);
        if earliest < self.loops_wake {
            self.loops_wake = earliest;
            self.timers.set(ClientTimer::Fetch, earliest.since(step.now.mono), step.out);
        }
    }
}
