//! The registry fetch: full or delta, the hash check, and what overlapping fetches do to each other.
//! Source: `DiscoveryClient.fetchRegistry`, `getAndStoreFullRegistry`, `getAndUpdateDelta`,
//! `reconcileAndLogDifference`; `eureka-client.md` section 3.
//!
//! `filter-only-up-instances` changes nothing here: the local registry keeps every instance, and who is shown to a
//! caller is asked of the view. Remote regions, a single VIP and the backup registry are left out.

use super::ClientConfig;
use super::client::Client;
use super::effect::ClientEffect;
use super::job::{Job, Phase, Task};
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

    /// A full answer came. One without a body is no error and changes nothing. After a hash mismatch it may be
    /// older than the delta, since the server caches the two apart.
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

    /// Whether no other fetch has stored anything since this one began (the compare-and-set on the generation).
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
