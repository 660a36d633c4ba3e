//! The consumer that fetches everything again and again (`two-stage.md` 2.1, 2.2).
//!
//! The fetch at the start is a thing of its own: what it brings replaces what came from the disk without a look, and
//! a failure is no failure of the loop. The loop begins when it has ended, with another fetch at once. Each next one
//! comes an interval after the end of the last, refused or not; and after failures in a row as late as the back-off
//! says, which makes the first two waits *shorter* than the interval.
//!
//! [`wait_after`] is the rule for every loop of a consumer: long polls and polls of one service count
//! their failures each for themselves.

use super::machine::TwoStageClient;
use crate::engine::SimDuration;
use crate::model::effect::{Call, ClientEffect, ClientTimer};
use crate::model::fact::Fact;
use crate::model::message::{Reply, Request, Status};
use crate::model::step::Step;
use crate::model::two_stage::config::{ClientConfig, Discovery};
use crate::model::view::Payload;

/// The fetches of everything.
#[derive(Clone, Debug)]
pub(super) struct Refresh {
    /// What the fetch that is under way waits for.
    pub(super) call: Call,
    /// Failures in a row.
    failures: u32,
    /// Whether the fetch at the start has ended.
    has_started: bool,
}

impl Refresh {
    /// None is under way.
    pub(super) const NONE: Self = Self { call: Call::NONE, failures: 0, has_started: false };
}

impl TwoStageClient {
    pub(super) fn fetch(&mut self, step: &mut Step<'_, ClientEffect>) {
        self.refresh.call = self.send(Request::FetchFull, step);
    }

    pub(super) fn fetch_ended(
        &mut self,
        reply: Option<Reply>,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        self.refresh.call = Call::NONE;
        let payload = reply.filter(|reply| reply.status == 200).and_then(|reply| reply.payload);
        if !std::mem::replace(&mut self.refresh.has_started, true) {
            if let Some(payload) = payload {
                self.take_everything(payload, !config.start_applies_unchecked, config, step);
            }
            match config.discovery {
                Discovery::Poll => self.fetch(step),
                Discovery::LongPoll | Discovery::PushPlusPoll => self.ask_for_every_service(config, step),
            }
            return;
        }
        let ok = payload.is_some_and(|payload| self.take_everything(payload, true, config, step));
        let wait = wait_after(ok, &mut self.refresh.failures, poll_interval(config), config, step);
        self.timers.set(ClientTimer::Fetch, wait, step.out);
    }

    /// Takes or refuses an answer to a fetch of everything; whether the loop counts it as a success. A refusal is one.
    fn take_everything(
        &mut self,
        payload: Payload,
        checks: bool,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) -> bool {
        let offered = payload.full_view();
        let is_written = if checks && self.refuses_everything(&payload, config, step) {
            true
        } else {
            self.store(offered, config, step)
        };
        let is_empty = config.empty_is_failure && step.views.counts(self.view).of(Status::Up) == 0;
        is_written && !is_empty
    }
}

/// How long a loop waits after a run: `usual` after a success, and otherwise as long as the back-off says. Counts
/// `failures` in a row, and tells when they have become so many that the consumer says so in its log.
pub(super) fn wait_after(
    ok: bool,
    failures: &mut u32,
    usual: SimDuration,
    config: &ClientConfig,
    step: &mut Step<'_, ClientEffect>,
) -> SimDuration {
    if ok {
        *failures = 0;
        return usual;
    }
    *failures = failures.saturating_add(1);
    if *failures == config.warn_after_failures {
        step.out.push(ClientEffect::Fact(Fact::RefreshWarned));
    }
    config.backoff.wait(*failures)
}

pub(super) fn poll_interval(config: &ClientConfig) -> SimDuration {
    SimDuration::from_millis(u64::from(config.poll_interval_ms))
}
