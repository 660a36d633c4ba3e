//! The registry fetch: full or delta, the hash check, and what overlapping fetches do to each other.
//! Source: `DiscoveryClient.fetchRegistry`, `getAndStoreFullRegistry`, `getAndUpdateDelta`,
//! `reconcileAndLogDifference`; `eureka-client.md` section 3.
//!
//! `filter-only-up-instances` changes nothing here: the local registry keeps every instance, and who is shown
//! to a caller is asked of the view. Remote regions, a single VIP and the backup registry are left out.

use super::ClientConfig;
use super::job::{Job, Phase, Task};
use super::machine::Client;
use crate::model::effect::ClientEffect;
use crate::model::fact::Fact;
use crate::model::message::Reply;
use crate::model::step::Step;
use crate::model::view::View;

impl Client {
    /// The next fetch is due.
    pub(super) fn fetch_due(&mut self, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if let Some(job) = self.hand_off(Task::Fetch, config, step) {
            let full = config.disable_delta || self.view_is_empty;
            let phase = if full { Phase::FetchFull } else { Phase::FetchDelta };
            self.request(job, phase, config, step);
        }
    }

    /// A full answer came. One without a body is no error and changes nothing. After a hash mismatch it may
    /// be older than the delta, since the server caches the two apart.
    pub(super) fn fetched_full(
        &mut self,
        job: Job,
        reply: Reply,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if let Some(payload) = reply.payload.filter(|_| self.finishes_first(&job)) {
            self.store(payload.full_view(), config, step);
        }
        self.fetch_ended(job, config, step);
    }

    /// A delta came, or a refusal: then a full fetch follows in the same job.
    pub(super) fn fetched_delta(
        &mut self,
        job: Job,
        reply: Reply,
        config: &ClientConfig,
        step: &mut Step<'_, ClientEffect>,
    ) {
        let Some(delta) = reply.payload else {
            self.request(job, Phase::FetchFull, config, step);
            return;
        };
        if !self.finishes_first(&job) {
            self.fetch_ended(job, config, step);
            return;
        }
        let applied = step.views.apply_delta(self.view, &delta);
        self.store(applied.view, config, step);
        if !applied.hash_matches {
            step.out.push(ClientEffect::Fact(Fact::HashMismatched));
        }
        if !applied.hash_matches || config.log_delta_diff {
            self.request(job, Phase::FetchFull, config, step);
        } else {
            self.fetch_ended(job, config, step);
        }
    }

    /// A fetch ended, well or not: a failed one leaves the local registry as it is, for ever if need be.
    pub(super) fn fetch_ended(&mut self, job: Job, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if job.task == Task::Start {
            self.fetched_at_start(config, step);
        } else {
            self.task_finished(&job, config, step);
        }
    }

    /// Whether no other fetch has stored anything since this one began (the compare-and-set on the
    /// generation).
    fn finishes_first(&mut self, job: &Job) -> bool {
        let first = job.generation == self.generation;
        if first {
            self.generation = self.generation.wrapping_add(1);
        }
        first
    }

    fn store(&mut self, view: View, config: &ClientConfig, step: &mut Step<'_, ClientEffect>) {
        if view == self.view {
            return;
        }
        let from = std::mem::replace(&mut self.view, view);
        self.view_is_empty = step.views.counts(view).total() == 0;
        step.out.push(ClientEffect::Fact(Fact::ViewChanged { from, to: view }));
        self.balancer_sees_change(config, step);
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Answer, RTT, Registry, Rig, at_ms, healthy, secs};
    use super::super::{TransportConfig, TransportKind};
    use crate::model::eureka::Flavour;
    use crate::model::fact::Fact;
    use crate::model::message::{Failure, Reply, RequestKind, Status};

    fn changed(fact: &Fact) -> bool {
        matches!(fact, Fact::ViewChanged { .. })
    }

    #[test]
    fn deltas_follow_the_constructors_full_fetch() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.run_to(at_ms(40_000));
        rig.registry.put(0, 7, Some(Status::Up));
        rig.run_to(at_ms(95_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0]);
        assert_eq!(rig.sent_ms(RequestKind::FetchDelta), [30_002, 60_004, 90_006]);
        assert_eq!(rig.facts_ms(changed), [2, 60_006]);
        assert_eq!(rig.client.view(), rig.registry.payload().full_view());
    }

    #[test]
    fn an_empty_registry_is_always_fetched_in_full() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.registry.put(0, 9, None);
        rig.start();
        rig.run_to(at_ms(40_000));
        rig.registry.put(0, 7, Some(Status::Up));
        rig.run_to(at_ms(95_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 30_002, 60_004]);
        assert_eq!(rig.sent_ms(RequestKind::FetchDelta), [90_006]);
    }

    #[test]
    fn a_refused_delta_is_followed_by_a_full_fetch() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.answer(|_, request, _, registry| match request.kind() {
            RequestKind::FetchDelta => Answer::Reply(RTT, Reply::bare(403)),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(61_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 30_004, 60_008]); // one job: 2 + 2 ms
    }

    #[test]
    fn a_mismatch_is_repaired_in_the_same_job() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.run_to(at_ms(31_000));
        // A removal that the delta no longer lists: the client keeps 9, and counts 2 where the server counts
        // 1.
        rig.registry.put(0, 9, None);
        rig.registry.put(0, 7, Some(Status::Up));
        rig.registry.queue_head = rig.registry.payload().queue_tail - 1;
        rig.run_to(at_ms(61_000));
        assert_eq!(rig.facts_ms(|fact| *fact == Fact::HashMismatched), [60_006]);
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 60_006]);
        assert_eq!(rig.facts_ms(changed), [2, 60_006, 60_008]);
        assert_eq!(rig.client.view(), rig.registry.payload().full_view());
        rig.run_to(at_ms(91_000));
        assert_eq!(*rig.sent_ms(RequestKind::FetchDelta).last().unwrap(), 90_008);
    }

    #[test]
    fn logging_the_difference_doubles_the_traffic() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.config.log_delta_diff = true;
        rig.start();
        rig.run_to(at_ms(61_000));
        assert_eq!(rig.sent_ms(RequestKind::FetchDelta), [30_002, 60_006]);
        assert_eq!(rig.sent_ms(RequestKind::FetchFull), [0, 30_004, 60_008]);
        assert!(rig.facts_ms(|fact| *fact == Fact::HashMismatched).is_empty());
    }

    #[test]
    fn a_failed_fetch_keeps_the_local_registry() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.answer(|now, request, _, registry| match request.kind() {
            RequestKind::FetchDelta if now > at_ms(40_000) => Answer::Fail(RTT, Failure::Refused),
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(10_000_000));
        assert_eq!(rig.client.view(), rig.registry.payload().full_view());
    }

    #[test]
    fn of_two_overlapping_fetches_the_first_to_finish_wins() {
        let mut rig = Rig::new(Flavour::Spring);
        // The delta of 30.002 hangs for 100 s and answers what it saw; that of 120.002 is quick.
        rig.answer(|now, request, _, registry: &mut Registry| match request.kind() {
            RequestKind::FetchDelta if now < at_ms(31_000) => {
                Answer::Reply(secs(100), registry.reply(request))
            }
            _ => healthy(request, registry),
        });
        rig.start();
        rig.run_to(at_ms(100_000));
        rig.registry.put(0, 7, Some(Status::Up));
        rig.run_to(at_ms(125_000));
        let newer = rig.client.view();
        assert_eq!(rig.facts_ms(changed), [2, 120_004]); // 30.002 + 30 + 60, and 2 ms
        rig.run_to(at_ms(140_000));
        assert_eq!((rig.client.view(), rig.facts_ms(changed).len()), (newer, 2));
    }

    #[test]
    fn jersey_cannot_read_a_body_once_interrupted() {
        for (kind, changes) in [(TransportKind::Jersey, 1), (TransportKind::RestTemplate, 2)] {
            let mut rig = Rig::new(Flavour::Spring);
            rig.config.transport = TransportConfig::of_kind(kind);
            rig.answer(|now, request, _, registry: &mut Registry| match request.kind() {
                RequestKind::FetchDelta if now < at_ms(31_000) => {
                    registry.put(0, 7, Some(Status::Up));
                    Answer::Reply(secs(40), registry.reply(request))
                }
                RequestKind::FetchDelta => Answer::Fail(RTT, Failure::Refused),
                _ => healthy(request, registry),
            });
            rig.start();
            rig.run_to(at_ms(80_000)); // interrupted at 60.002, answered at 70.002
            assert_eq!(rig.facts_ms(changed).len(), changes, "{kind:?}");
        }
    }
}
