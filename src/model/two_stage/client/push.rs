//! Subscriptions as Nacos 1.x has them (`two-stage.md` 4.2): a poll for each service, which also tells the registry
//! where to push to, and the pushes. Sources: `HostReactor`, `PushReceiver`.
//!
//! The call at the start is not one of the polls: it fails without consequences, and the first poll comes a second
//! after it (`HostReactor.getServiceInfo`, `DEFAULT_DELAY`). A poll that fails, or after which the consumer holds no
//! instance of the service, counts as a failure; so a consumer that waits for the first instance asks ever more seldom,
//! and drops out of the list of subscribers in between.
//!
//! A push neither sets the next poll nor the failures. What it brings is stored, older or not, and then the next poll's
//! answer is thrown away, since the push may know better (`HostReactor.refreshOnly`).

use super::machine::TwoStageClient;
use super::refresh::{poll_interval, wait_after};
use super::services::ServiceLoop;
use crate::engine::SimDuration;
use crate::model::effect::{ClientEffect, PushId};
use crate::model::id::AppId;
use crate::model::message::{Reply, Request};
use crate::model::step::Step;
use crate::model::two_stage::config::ClientConfig;
use crate::model::view::Payload;

/// From the end of the call at the start to the first poll (`HostReactor.DEFAULT_DELAY`).
const FIRST_POLL_DELAY: SimDuration = SimDuration::from_secs(1);

/// What became of a list.
struct ListOutcome {
    /// Whether it was not refused.
    is_stored: bool,
    /// Whether it could be written to the disk, or need not be.
    is_written: bool,
}

impl TwoStageClient {
    pub(super) fn poll(&mut self, at: usize) -> Request {
        let each = &mut self.loops[at];
        each.discards = std::mem::take(&mut each.is_pushed);
        Request::FetchService { app: each.app, subscriber: Some(self.id) }
    }

    /// A poll, or the call at the start, has ended: how long until the next.
    pub(super) fn wait_after_poll(
        &mut self,
        at: usize,
        reply: Option<Reply>,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) -> SimDuration {
        let payload = reply.and_then(|reply| reply.payload);
        if !std::mem::replace(&mut self.loops[at].has_started, true) {
            if let Some(payload) = payload {
                self.take_list(at, payload, !config.start_applies_unchecked, config, step);
            }
            return FIRST_POLL_DELAY;
        }
        let ServiceLoop { app, discards, .. } = self.loops[at];
        let ok = match payload {
            None => false,
            Some(_) if discards => true,
            Some(payload) => {
                self.loops[at].is_pushed = false;
                self.take_list(at, payload, true, config, step).is_written
            }
        };
        let is_empty = config.empty_is_failure && step.views.up_of(self.view, app) == 0;
        wait_after(ok && !is_empty, &mut self.loops[at].failures, poll_interval(config), config, step)
    }

    /// A push came. Until the call at the start has ended the registry cannot know this process' port: what comes
    /// before was meant for an earlier process, and nobody hears it.
    pub(super) fn pushed(
        &mut self,
        config: &ClientConfig,
        (app, payload): (AppId, Payload),
        push: PushId,
        step: &mut Step<'_, ClientEffect>,
    ) {
        let subscribed = |each: &ServiceLoop| each.app == app && each.has_started;
        let Some(at) = self.loops.iter().position(subscribed) else { return };
        step.out.push(ClientEffect::Acknowledge { to: self.server, push });
        let is_stale = self.loops[at].stored.is_some_and(|stored| (payload.life, payload.version) < stored);
        if is_stale && !config.accept_stale_push {
            return;
        }
        if self.take_list(at, payload, true, config, step).is_stored {
            self.loops[at].is_pushed = config.discard_poll_after_push;
        }
    }

    fn take_list(
        &mut self,
        at: usize,
        payload: Payload,
        checks: bool,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) -> ListOutcome {
        let (app, offered) = (self.loops[at].app, payload.full_view());
        if checks && self.refuses_list(app, offered, config, step) {
            return ListOutcome { is_stored: false, is_written: true };
        }
        self.loops[at].stored = Some((payload.life, payload.version));
        let view = step.views.with_service(self.view, app, offered);
        ListOutcome { is_stored: true, is_written: self.store(view, config, step) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Logged, REFUSED, Rig, at_ms, ms};
    use super::*;
    use crate::model::fact::Fact;
    use crate::model::id::{ClientId, ServerId};
    use crate::model::message::RequestKind;
    use crate::model::two_stage::config::{Preset, Sanity};

    /// A subscriber of application 0, of which instances 0 to 2 are registered. It asks at 0, 1, 11, 21 s and so on.
    fn subscriber() -> Rig {
        let mut rig = Rig::consumer(Preset::Nacos1);
        rig.registry.up(0, 0..3);
        rig
    }

    fn polls_ms(rig: &Rig) -> Vec<u64> {
        rig.sent_ms(RequestKind::FetchService)
    }

    fn acknowledged_ms(rig: &Rig) -> Vec<u64> {
        rig.logged_ms(|logged| matches!(logged, Logged::Acknowledged(_)))
    }

    #[test]
    fn the_first_poll_comes_a_second_after_the_start_and_the_others_ten_seconds_after_an_end() {
        let mut rig = subscriber();
        rig.answer(|_, request, registry| (ms(50), Ok(registry.reply(request))));
        rig.start();
        rig.run_to(at_ms(12_000));
        // 0 to 50 ms; 1,050 to 1,100 ms; 11,100 ms.
        assert_eq!(polls_ms(&rig), [0, 1_050, 11_100]);
        let poll = Request::FetchService { app: AppId(0), subscriber: Some(ClientId(3)) };
        assert_eq!(rig.log[0].1, Logged::Sent(poll, ServerId(0)));
        assert_eq!(rig.held(), [0, 1, 2]);
    }

    #[test]
    fn failures_are_waited_out_as_in_the_table() {
        let mut rig = subscriber();
        rig.start();
        rig.run_to(at_ms(2_000));
        rig.answer(|_, _, _| REFUSED);
        rig.run_to(at_ms(200_000));
        // From 11 s on: 2, 4, 8, 16, 32, 60 and 60 s.
        assert_eq!(polls_ms(&rig)[2..], [11_000, 13_000, 17_000, 25_000, 41_000, 73_000, 133_000, 193_000]);
        assert_eq!(rig.held(), [0, 1, 2]);
        assert!(rig.facts_ms(|fact| *fact == Fact::RefreshWarned).is_empty());
    }

    /// N4: who waits for the first instance ends up asking once a minute.
    #[test]
    fn an_empty_list_is_a_failure_so_that_a_first_instance_is_seen_late() {
        let mut rig = Rig::consumer(Preset::Nacos1);
        rig.start();
        rig.run_to(at_ms(132_001));
        assert_eq!(polls_ms(&rig), [0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000]);
        // Its push would go out 1 s later, when the poll at 123 s is more than 10 s old: nobody is pushed to.
        rig.registry.up(0, 0..1);
        rig.run_to(at_ms(193_001));
        assert_eq!(rig.changes(), [(0, vec![]), (183_000, vec![0])]); // 50,999 ms
        assert_eq!(polls_ms(&rig)[8..], [183_000, 193_000]);
    }

    #[test]
    fn a_push_does_not_bring_the_next_poll_forward() {
        let mut rig = Rig::consumer(Preset::Nacos1);
        rig.start();
        rig.run_to(at_ms(124_000));
        rig.registry.up(0, 0..1);
        rig.push(0, rig.registry.payload(), 7);
        rig.run_to(at_ms(194_000));
        assert_eq!(rig.changes(), [(0, vec![]), (124_000, vec![0])]);
        // The poll at 183 s is thrown away, but the list that is held is not empty: no failure.
        assert_eq!(polls_ms(&rig)[8..], [183_000, 193_000]);
        assert_eq!(
            rig.log.iter().filter(|(_, logged)| *logged == Logged::Acknowledged(PushId(7))).count(),
            1
        );
    }

    /// N5: a push that is lost after one that came.
    #[test]
    fn the_poll_after_a_push_is_thrown_away() {
        for (discards, repaired_ms) in [(true, 31_000), (false, 21_000)] {
            let mut rig = subscriber();
            rig.config.discard_poll_after_push = discards;
            rig.start();
            rig.run_to(at_ms(12_000));
            rig.registry.gone(0, 0..1);
            rig.push(0, rig.registry.payload(), 1);
            rig.registry.gone(0, 1..2); // its push is lost
            rig.run_to(at_ms(32_000));
            assert_eq!(rig.changes()[1..], [(12_000, vec![1, 2]), (repaired_ms, vec![2])]);
        }
    }

    /// N6: what is sent again is 10 s old.
    #[test]
    fn a_push_that_is_sent_again_can_bring_a_dead_instance_back() {
        for (accepts, changes) in [
            (true, vec![(11_000, vec![1, 2]), (12_000, vec![0, 1, 2]), (31_000, vec![1, 2])]),
            (false, vec![(11_000, vec![1, 2])]),
        ] {
            let mut rig = subscriber();
            rig.config.accept_stale_push = accepts;
            rig.start();
            let old = rig.registry.payload();
            rig.run_to(at_ms(5_000));
            rig.registry.gone(0, 0..1);
            rig.run_to(at_ms(12_000));
            rig.push(0, old, 1);
            assert_eq!(acknowledged_ms(&rig), [12_000]);
            rig.run_to(at_ms(32_000));
            assert_eq!(rig.changes()[1..], changes);
        }
    }

    #[test]
    fn what_was_meant_for_an_earlier_process_is_not_heard() {
        let mut rig = subscriber();
        rig.answer(|_, request, registry| (ms(50), Ok(registry.reply(request))));
        rig.start();
        rig.push(0, rig.registry.payload(), 1);
        rig.run_to(at_ms(49));
        assert!(rig.held().is_empty() && acknowledged_ms(&rig).is_empty());
        rig.run_to(at_ms(50));
        rig.push(0, rig.registry.payload(), 2);
        rig.push(1, rig.registry.payload(), 3); // a service that it does not follow
        assert_eq!(acknowledged_ms(&rig), [50]);
    }

    #[test]
    fn push_empty_protection_ignores_an_empty_list() {
        let mut rig = subscriber();
        rig.config.sanity = Sanity::PushEmpty;
        rig.start();
        rig.run_to(at_ms(12_000));
        rig.registry.gone(0, 0..3);
        rig.push(0, rig.registry.payload(), 1);
        assert_eq!((rig.held(), acknowledged_ms(&rig)), (vec![0, 1, 2], vec![12_000]));
        rig.registry.up(0, 4..5);
        rig.run_to(at_ms(21_000));
        assert_eq!(rig.held(), [4]); // nothing was stored, so the next poll counts
        assert_eq!(rig.facts_ms(|fact| *fact == Fact::AnswerRefused), [12_000]);
    }

    #[test]
    fn by_default_an_empty_list_is_taken() {
        let mut rig = subscriber();
        rig.start();
        rig.run_to(at_ms(12_000));
        rig.registry.gone(0, 0..3);
        rig.push(0, rig.registry.payload(), 1);
        assert_eq!(rig.changes()[1..], [(12_000, vec![])]);
        rig.run_to(at_ms(24_000));
        assert_eq!(polls_ms(&rig), [0, 1_000, 11_000, 21_000, 23_000]); // the first of a row of failures
    }
}
