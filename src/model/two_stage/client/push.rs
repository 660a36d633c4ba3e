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
struct Taken {
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
    ) -> Taken {
        let (app, offered) = (self.loops[at].app, payload.full_view());
        if checks && self.refuses_list(app, offered, config, step) {
            return Taken { is_stored: false, is_written: true };
        }
        self.loops[at].stored = Some((payload.life, payload.version));
        let view = step.views.with_service(self.view, app, offered);
        Taken { is_stored: true, is_written: self.store(view, config, step) }
    }
}
