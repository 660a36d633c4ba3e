//! The registry as a state machine, through one life.
//!
//! It is told of requests and of timers that are due, and answers with replies, settings of timers and facts. What goes
//! on inside stands in the files beside this one, by idea: what is stored (`entries`), the sweep and its guard
//! (`sweep`, `guard`), what a fetch shows (`shown`), long polls (`watch`), pushes (`push`), and requests that wait for
//! a worker (`workers`). Here is what each request does, and what follows from a change.
//!
//! Each request and each sweep is one step that nothing interrupts: the races of the threaded original are left out
//! (`two-stage.md` 1.6).
//!
//! Source: `two-stage.md` sections 1, 2.7 and 4.

mod entries;
mod guard;
mod push;
mod shown;
mod sweep;
mod watch;
mod workers;

use std::collections::VecDeque;
use std::sync::Arc;

use self::entries::{Entries, NEVER};
use self::push::Pushes;
use self::shown::Shown;
use self::sweep::Sweeps;
use self::watch::Watches;
use super::config::{RegisterExisting, ServerConfig};
use crate::engine::{SimDuration, SimTime};
use crate::model::effect::{PushId, ServerEffect, ServiceTimer, Ticket};
use crate::model::fact::Fact;
use crate::model::id::{AppId, ClientId, InstanceId};
use crate::model::message::{Record, Reply, Request, Revision, Status};
use crate::model::step::Step;
use crate::model::view::LifeId;

type ServerStep<'a> = Step<'a, ServerEffect>;

/// What a registry leaves behind on disk for its next life (`registry_persistent`): its entries, with their flags and
/// their last signs of life, and the revisions. Subscriptions and long polls end with the process.
#[derive(Clone)]
pub struct Saved {
    entries: Entries,
}

/// One life of a two-stage registry.
#[derive(Clone)]
pub struct TwoStageServer {
    config: Arc<ServerConfig>,
    generation: u8,
    entries: Entries,
    shown: Shown,
    sweeps: Sweeps,
    watches: Watches,
    /// Requests for which there is no worker, first come first.
    waiting: VecDeque<(Request, Ticket)>,
    pushes: Pushes,
}

impl TwoStageServer {
    /// A life begins; what an earlier one has `saved` is read again. `generation` is handed back with each timer.
    pub fn start(
        config: Arc<ServerConfig>,
        generation: u8,
        saved: Option<Saved>,
        step: &mut ServerStep<'_>,
    ) -> Self {
        let mut server = Self {
            generation,
            entries: saved.map(|saved| saved.entries).unwrap_or_default(),
            shown: Shown::begin(&config, step.views),
            sweeps: Sweeps::default(),
            watches: Watches::default(),
            waiting: VecDeque::new(),
            pushes: Pushes::default(),
            config,
        };
        server.begin_sweeps(step);
        for app in server.entries.apps() {
            let all: Vec<InstanceId> = server.entries.of(app).iter().map(|entry| entry.instance).collect();
            if all.is_empty() {
                server.shown.remember(app, server.entries.last_of(app), step.views);
            } else {
                server.shown.write(&server.entries, app, &all, step.views);
            }
        }
        server.shown.tell(step);
        server
    }

    /// A request is taken up. `None`: it is held, or waits for a worker, and will be answered by
    /// [`ServerEffect::Answer`] with `ticket`. Requests without a ticket are an operator's: they wait for no worker.
    #[inline]
    pub fn on_request(
        &mut self,
        request: &Request,
        ticket: Option<Ticket>,
        step: &mut ServerStep<'_>,
    ) -> Option<Reply> {
        match ticket {
            Some(ticket) if self.is_busy() => {
                self.waiting.push_back((*request, ticket));
                None
            }
            _ => self.work(request, ticket, step),
        }
    }

    /// A timer is due. One of another generation is stale, and so is one that comes before what was set last under its
    /// number is due: generations go round.
    pub fn on_timer(&mut self, timer: ServiceTimer, number: u32, generation: u8, step: &mut ServerStep<'_>) {
        if generation != self.generation {
            return;
        }
        match timer {
            ServiceTimer::Sweep => self.on_sweep_timer(number, step),
            ServiceTimer::Watch => self.on_watch_timer(number, step),
            ServiceTimer::Push => self.on_push_timer(AppId(number), step),
            ServiceTimer::Resend => self.on_resend_timer(number, step),
        }
    }

    /// A subscriber acknowledges a push, perhaps one of an earlier life.
    pub fn on_acknowledged(&mut self, from: ClientId, push: PushId) {
        self.pushes.acknowledged(from, push);
    }

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock. To be told before what
    /// waited meanwhile.
    pub fn on_resume(&mut self, paused_since: SimTime, step: &mut ServerStep<'_>) {
        self.wake_watches(paused_since, step);
    }

    /// The log of this life: every entry's flag.
    pub fn life(&self) -> LifeId {
        self.shown.flags()
    }

    /// Entries, unhealthy ones included.
    pub fn registered(&self) -> u32 {
        self.entries.len()
    }

    /// Whether it has an entry of the instance, healthy or not.
    pub fn has(&self, instance: InstanceId) -> bool {
        self.entries.find(instance).is_some()
    }

    /// The revision of a service (`two-stage.md` 1.4); [`Revision::NONE`] if nobody has heard of it.
    pub fn revision(&self, app: AppId) -> Revision {
        let number = self.entries.revision(app);
        if number == 0 {
            return Revision::NONE;
        }
        // No two lives of a run have one log.
        let epoch = if self.config.epoch { self.life().0 + 1 } else { 0 };
        Revision { epoch, number }
    }

    /// Whether the guard of some service was shut when that was swept last.
    pub fn guard_is_shut(&self) -> bool {
        self.sweeps.any_is_shut()
    }

    /// The requests that it has not answered yet, in the order in which they came.
    pub fn held(&self) -> Vec<Ticket> {
        // None is taken up while others wait, so those that are held came first.
        self.watches.tickets().chain(self.waiting.iter().map(|&(_, ticket)| ticket)).collect()
    }

    /// The life is over: what it leaves on disk, if it keeps anything there.
    pub fn into_saved(self) -> Option<Saved> {
        self.config.registry_persistent.then_some(Saved { entries: self.entries })
    }

    /// A worker takes a request up.
    #[inline]
    fn work(
        &mut self,
        request: &Request,
        ticket: Option<Ticket>,
        step: &mut ServerStep<'_>,
    ) -> Option<Reply> {
        Some(match *request {
            Request::Renew { instance, .. } => self.heartbeat(instance, step),
            Request::FetchFull => Reply::served(self.shown.payload(step.views)),
            Request::FetchService { app, subscriber } => {
                if let Some(subscriber) = subscriber {
                    self.pushes.subscribe(app, subscriber, step.now.wall);
                }
                Reply::served(self.shown.payload(step.views))
            }
            Request::Watch { app, known, timeout_ms } => {
                return self.watch(app, known, timeout_ms, ticket, step);
            }
            Request::Register(ref record) => self.register(record, step),
            Request::Cancel { instance } => self.deregister(instance, step),
            // It has nothing of the kind (`Kind::requests`).
            Request::FetchDelta | Request::UpdateStatus { .. } | Request::DeleteStatusOverride { .. } => {
                Reply::bare(404)
            }
        })
    }

    /// 200: the entry was heard of; 404: there is none (`two-stage.md` 1.2: true, false).
    #[inline]
    fn heartbeat(&mut self, instance: InstanceId, step: &mut ServerStep<'_>) -> Reply {
        let Some(entry) = self.entries.find_mut(instance) else { return Reply::bare(404) };
        entry.last = step.now.wall;
        if !entry.healthy {
            self.heal(instance, step);
        }
        Reply::bare(200)
    }

    fn heal(&mut self, instance: InstanceId, step: &mut ServerStep<'_>) {
        let app = self.entries.set_healthy(instance, true);
        tell(step, Fact::StatusChanged { instance, status: Status::Up });
        self.changed(app, &[instance], step);
        self.shown.tell(step);
    }

    /// A second registration replaces nothing of the first; of an unhealthy entry it renews the time only
    /// (`two-stage.md` 1.2 and C9; of Nacos, `Cluster#updateIps`).
    fn register(&mut self, record: &Record, step: &mut ServerStep<'_>) -> Reply {
        let &Record { app, instance, status, .. } = record;
        let now = step.now.wall;
        let known = self.entries.find_mut(instance);
        tell(step, Fact::LeaseRegistered { instance, status, new: known.is_none() });
        let Some(entry) = known else {
            if self.entries.revision(app) == 0 {
                self.service_created(app, step);
            }
            let last = if self.config.register_stamps_heartbeat { now } else { NEVER };
            self.entries.insert(app, instance, last);
            self.changed(app, &[instance], step);
            self.shown.tell(step);
            return Reply::bare(200);
        };
        entry.last = now;
        if !entry.healthy && self.config.register_existing == RegisterExisting::Heal {
            self.heal(instance, step);
        } else if self.config.notify_on_reregister {
            self.changed(app, &[], step);
        }
        Reply::bare(200)
    }

    fn deregister(&mut self, instance: InstanceId, step: &mut ServerStep<'_>) -> Reply {
        let Some(app) = self.entries.remove(instance) else { return Reply::bare(404) };
        tell(step, Fact::LeaseCancelled { instance });
        self.changed(app, &[instance], step);
        self.shown.tell(step);
        Reply::bare(200)
    }

    /// A request or a sweep has changed these entries of a service, or has notified for nothing: its revision moves
    /// once (`two-stage.md` 1.4), long polls will see it, subscribers will be told.
    fn changed(&mut self, app: AppId, touched: &[InstanceId], step: &mut ServerStep<'_>) {
        self.shown.write(&self.entries, app, touched, step.views);
        self.entries.bump(app);
        self.alert_watches(app, step);
        self.schedule_push(app, step);
    }

    fn set(&self, timer: ServiceTimer, number: u32, at: SimTime, step: &mut ServerStep<'_>) {
        step.out.push(ServerEffect::SetServiceTimer { timer, number, at, generation: self.generation });
    }
}

fn tell(step: &mut ServerStep<'_>, fact: Fact) {
    step.out.push(ServerEffect::Fact(fact));
}

fn millis(ms: u32) -> SimDuration {
    SimDuration::from_millis(u64::from(ms))
}

#[cfg(test)]
mod tests;
