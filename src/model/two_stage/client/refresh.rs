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

#[cfg(test)]
mod tests {
    use super::super::harness::{Rig, at_ms, healthy, ms};
    use super::*;
    use crate::engine::SimTime;
    use crate::model::message::RequestKind;
    use crate::model::two_stage::config::{Preset, Sanity};

    fn warned(fact: &Fact) -> bool {
        *fact == Fact::RefreshWarned
    }

    fn refused(fact: &Fact) -> bool {
        *fact == Fact::AnswerRefused
    }

    #[test]
    fn a_start_costs_two_fetches_and_the_next_counts_from_the_end() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.answer(|_, request, registry| (ms(30), Ok(registry.reply(request))));
        rig.start();
        rig.run_to(at_ms(12_000));
        // 0 to 30 ms, 30 to 60 ms, then 5 s later each.
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 30, 5_060, 10_090]);
    }

    #[test]
    fn failures_in_a_row_are_waited_out_as_in_the_table() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.registry.up(0, 0..1);
        rig.run_to(at_ms(1_000));
        rig.start();
        rig.run_to(at_ms(12_000));
        rig.registry_is_down();
        rig.run_to(at_ms(100_000));
        rig.registry_is_up();
        rig.registry.restart();
        rig.registry.up(0, 0..2);
        rig.run_to(at_ms(112_000));
        // 2, 4, 8, 16, 30, 30 s after the first failure at 16 s and those that follow.
        let sent_ms = [1_000, 1_000, 6_000, 11_000, 16_000, 18_000, 22_000, 30_000, 46_000, 76_000, 106_000];
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [&sent_ms[..], &[111_000]].concat());
        assert_eq!(rig.facts_ms(warned), [22_000]); // the third
        assert_eq!(rig.changes(), [(1_000, vec![0]), (106_000, vec![0, 1])]);
    }

    #[test]
    fn a_fetch_at_the_start_that_fails_is_no_failure_of_the_loop() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.registry_is_down();
        rig.start();
        rig.run_to(at_ms(13_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 0, 2_000, 6_000]); // failures 1, 2 and 3; next at 14 s
        assert_eq!(rig.facts_ms(warned), [6_000]);
    }

    #[test]
    fn a_refusal_is_a_success_and_only_a_restart_ends_it() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.registry.up(0, 1..5);
        rig.start();
        rig.run_to(at_ms(7_000));
        rig.registry.gone(0, 2..5); // 2 · 1 < 4
        rig.run_to(at_ms(12_000));
        rig.registry.up(1, 7..8); // nobody sees the newcomer of another service
        rig.run_to(at_ms(21_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 0, 5_000, 10_000, 15_000, 20_000]);
        assert_eq!(rig.facts_ms(refused), [10_000, 15_000, 20_000]);
        assert_eq!(rig.held(), [1, 2, 3, 4]);
        rig.crash();
        rig.run_to(at_ms(30_000));
        rig.start();
        rig.run_to(at_ms(31_000));
        assert_eq!(rig.changes()[1..], [(30_000, vec![1, 2, 3, 4]), (30_000, vec![1, 7])]); // the file, the answer
    }

    #[test]
    fn a_first_answer_is_looked_at_if_the_settings_say_so() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.config.start_applies_unchecked = false;
        rig.registry.up(0, 1..5);
        rig.start();
        rig.run_to(at_ms(1_000));
        rig.crash();
        rig.registry.gone(0, 2..5);
        rig.start();
        rig.run_to(at_ms(2_000));
        assert_eq!(rig.facts_ms(refused), [1_000, 1_000]);
        assert_eq!(rig.held(), [1, 2, 3, 4]);
    }

    #[test]
    fn push_empty_protection_refuses_a_map_that_would_empty_a_service() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.config.sanity = Sanity::PushEmpty;
        rig.registry.up(0, 1..5);
        rig.start();
        rig.registry.gone(0, 2..5);
        rig.run_to(at_ms(6_000));
        assert_eq!(rig.held(), [1]);
        rig.registry.gone(0, 1..2);
        rig.run_to(at_ms(11_000));
        assert_eq!((rig.held(), rig.facts_ms(refused)), (vec![1], vec![10_000]));
    }

    #[test]
    fn an_empty_map_is_a_failure_if_the_settings_say_so() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.config.empty_is_failure = true;
        rig.start();
        rig.run_to(at_ms(7_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 0, 2_000, 6_000]);
    }

    #[test]
    fn an_error_is_no_answer() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.start();
        rig.run_to(at_ms(1_000));
        rig.answer(|_, _, _| (ms(0), Ok(Reply::bare(500))));
        rig.run_to(at_ms(12_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 0, 5_000, 7_000, 11_000]);
    }

    #[test]
    fn a_poll_that_brings_nothing_new_is_one_send_and_one_timer() {
        let mut rig = Rig::consumer(Preset::TwoStage);
        rig.registry.up(0, 0..3);
        rig.answer(|now, request, registry| match now {
            SimTime::ZERO => healthy(request, registry),
            _ => (ms(1_000), healthy(request, registry).1),
        });
        rig.start();
        rig.run_to(at_ms(5_000));
        let payload = rig.registry.payload();
        rig.step(|client, config, step| {
            client.on_reply(config, client.refresh.call, Reply::served(payload), step);
            let [ClientEffect::SetTimer { timer, delay, .. }] = step.out[..] else {
                panic!("{:?}", step.out)
            };
            assert_eq!((timer, delay), (ClientTimer::Fetch, ms(5_000)));
        });
    }
}
