//! Pushes: who asks for the list of a service as a subscriber is told of its changes for some time, by datagrams.
//!
//! A change is pushed some time later, with whatever has changed by then (`PushService#onApplicationEvent`). Who does not
//! acknowledge a datagram gets the same bytes again, old by then (`.Retransmitter`). Who has not asked for too
//! long gets none any more (`PushService.PushClient#zombie`).
//!
//! Source: `two-stage.md` 4.2.

use std::collections::BTreeMap;

use super::{ServerStep, TwoStageServer, millis};
use crate::engine::SimTime;
use crate::model::clock::WallMs;
use crate::model::effect::{PushId, ServerEffect, ServiceTimer};
use crate::model::id::{AppId, ClientId};
use crate::model::view::Payload;

/// Subscribers, and what they were sent.
#[derive(Clone, Default)]
pub(super) struct Pushes {
    /// By service.
    services: Vec<Service>,
    /// What has not been acknowledged by all, by the number of its first datagram, which is that of its timer.
    batches: BTreeMap<u32, Batch>,
    next: u32,
}

#[derive(Clone, Default)]
struct Service {
    /// When each asked last.
    subscribers: BTreeMap<ClientId, WallMs>,
    /// When what has changed is pushed, if anything has.
    due: Option<SimTime>,
}

/// The datagrams of one push of one service. Their numbers follow each other.
#[derive(Clone)]
struct Batch {
    app: AppId,
    payload: Payload,
    /// Who has not acknowledged yet, by datagram.
    silent: Vec<Option<ClientId>>,
    /// How often they may still be sent again.
    resends: u32,
    /// When the wait for acknowledgements ends.
    due: SimTime,
}

impl Pushes {
    /// Somebody asks for a service's list, and wants to hear of its changes.
    pub(super) fn subscribe(&mut self, app: AppId, subscriber: ClientId, now: WallMs) {
        self.service(app).subscribers.insert(subscriber, now);
    }

    /// A datagram has come.
    pub(super) fn acknowledged(&mut self, from: ClientId, push: PushId) {
        let Some((&first, batch)) = self.batches.range_mut(..=push.0).next_back() else { return };
        if let Some(silent) = batch.silent.get_mut((push.0 - first) as usize)
            && *silent == Some(from)
        {
            *silent = None;
        }
    }

    fn service(&mut self, app: AppId) -> &mut Service {
        if self.services.len() <= app.index() {
            self.services.resize_with(app.index() + 1, Service::default);
        }
        &mut self.services[app.index()]
    }
}

impl TwoStageServer {
    /// A service has changed. What changes before it is pushed goes with it.
    pub(super) fn schedule_push(&mut self, app: AppId, step: &mut ServerStep<'_>) {
        let at = step.now.mono + millis(self.config.push_delay_ms);
        let due = &mut self.pushes.service(app).due;
        if due.is_none() {
            *due = Some(at);
            self.set(ServiceTimer::Push, app.0, at, step);
        }
    }

    /// Sends a service's list to its subscribers, as it is now.
    pub(super) fn on_push_timer(&mut self, app: AppId, step: &mut ServerStep<'_>) {
        let now = step.now;
        let service = self.pushes.service(app);
        if service.due.take_if(|due| *due <= now.mono).is_none() {
            return;
        }
        let ttl_ms = i64::from(self.config.subscriber_ttl_ms);
        service.subscribers.retain(|_, &mut polled| now.wall.since(polled) <= ttl_ms);
        let silent: Vec<Option<ClientId>> = service.subscribers.keys().copied().map(Some).collect();
        if silent.is_empty() {
            return;
        }
        let payload = self.shown.payload(step.views);
        let (first, resends) = (self.pushes.next, self.config.push_max_resend);
        self.pushes.next = first.wrapping_add(silent.len() as u32);
        self.send(first, Batch { app, payload, silent, resends, due: now.mono }, step);
    }

    /// The wait for acknowledgements has ended.
    pub(super) fn on_resend_timer(&mut self, first: u32, step: &mut ServerStep<'_>) {
        let is_due = self.pushes.batches.get(&first).is_some_and(|batch| batch.due <= step.now.mono);
        if !is_due {
            return;
        }
        let mut batch = self.pushes.batches.remove(&first).expect("it was there");
        if batch.silent.iter().any(Option::is_some) {
            batch.resends -= 1;
            self.send(first, batch, step);
        }
    }

    fn send(&mut self, first: u32, mut batch: Batch, step: &mut ServerStep<'_>) {
        for (push, to) in (0..).map(|nth| PushId(first.wrapping_add(nth))).zip(&batch.silent) {
            if let &Some(to) = to {
                let (app, payload) = (batch.app, batch.payload);
                step.out.push(ServerEffect::Push { to, app, payload, push });
            }
        }
        if batch.resends > 0 {
            batch.due = step.now.mono + millis(self.config.push_ack_timeout_ms);
            self.set(ServiceTimer::Resend, first, batch.due, step);
            self.pushes.batches.insert(first, batch);
        }
    }
}
