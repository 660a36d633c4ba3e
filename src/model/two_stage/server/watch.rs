//! Long polls: a request for the list of one service that is held until there is another than its caller knows.
//!
//! The original's worker looks at once, and then parks and looks again, for as long as the caller's time is not up:
//!
//! ```text
//! arrival      + park       + 2 park                        the end: time is up
//!    | looks     | looks      | looks   ...    | looks          | answers: revision now, empty list
//! ```
//!
//! So a change in the last park is answered with the new revision and without the list (`two-stage.md` 2.7). Here nobody
//! parks: a long poll has a timer for its end, and when its service changes one for its next look. A look that finds
//! nothing new changes nothing, so these are left out.
//!
//! A process that stood still finds those that parked late. Each first finds out whether its time is up, and if it is not
//! it looks at once, and its grid begins anew.
//!
//! Source: `two-stage.md` 2.7, 1.8, 1.9.

use std::collections::{BTreeMap, BTreeSet};

use super::super::config::WatchTimeoutPayload;
use super::{ServerStep, TwoStageServer, millis};
use crate::engine::{SimDuration, SimTime};
use crate::model::effect::{ServerEffect, ServiceTimer, Ticket};
use crate::model::id::AppId;
use crate::model::message::{Reply, Revision};

/// The long polls that are held.
#[derive(Clone, Default)]
pub(super) struct Watches {
    /// By the number of their timers, which is that of their coming.
    held: BTreeMap<u32, Watch>,
    /// Those that wait for a change of their service.
    parked: BTreeSet<(AppId, u32)>,
    next: u32,
}

#[derive(Clone)]
struct Watch {
    ticket: Ticket,
    app: AppId,
    known: Revision,
    /// When the caller's time is up.
    up_at: SimTime,
    /// Where its grid begins: when it was taken up, or went on late after a pause.
    grid: SimTime,
    /// The end of its last park.
    end: SimTime,
    /// When it looks, if it does before its end.
    look: Option<SimTime>,
}

impl Watches {
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// In the order in which they came.
    pub(super) fn tickets(&self) -> impl Iterator<Item = Ticket> {
        self.held.values().map(|watch| watch.ticket)
    }
}

impl Watch {
    fn is_due(&self, now: SimTime) -> bool {
        self.end <= now || self.look.is_some_and(|look| look <= now)
    }

    /// Its first point of the grid from `from` on. What changes just then is seen there; but where its grid begins it
    /// has looked already.
    fn next_look(&self, from: SimTime, park: SimDuration) -> SimTime {
        let parks = from.since(self.grid).as_nanos().div_ceil(park.as_nanos());
        self.grid + park * parks.max(1)
    }
}

impl TwoStageServer {
    /// A long poll is taken up: it is answered at once, or held. An operator's is not held.
    pub(super) fn watch(
        &mut self,
        app: AppId,
        known: Revision,
        timeout_ms: u32,
        ticket: Option<Ticket>,
        step: &mut ServerStep<'_>,
    ) -> Option<Reply> {
        if timeout_ms > 0 && self.revision(app) != known {
            return Some(self.changed_reply(app, step));
        }
        let Some(ticket) = ticket.filter(|_| timeout_ms > 0) else {
            return Some(self.time_is_up_reply(app, step));
        };
        let now = step.now.mono;
        let up_at = now + millis(timeout_ms);
        let watch = Watch { ticket, app, known, up_at, grid: now, end: now, look: None };
        let number = self.watches.next;
        self.watches.next = number.wrapping_add(1);
        self.park(number, watch, step);
        None
    }

    /// A long poll ends, or looks.
    pub(super) fn on_watch_timer(&mut self, number: u32, step: &mut ServerStep<'_>) {
        let now = step.now.mono;
        if !self.watches.held.get(&number).is_some_and(|watch| watch.is_due(now)) {
            return;
        }
        let watch = self.watches.held.remove(&number).expect("it was there");
        let (app, ticket) = (watch.app, watch.ticket);
        self.watches.parked.remove(&(app, number));
        let reply = if watch.up_at <= now {
            self.time_is_up_reply(app, step)
        } else if self.revision(app) != watch.known {
            self.changed_reply(app, step)
        } else {
            self.park(number, watch, step);
            return;
        };
        step.out.push(ServerEffect::Answer { ticket, reply });
        self.take_up_waiting(step);
    }

    /// A service has changed: its long polls will see it when they look next, if they look before their end.
    pub(super) fn alert_watches(&mut self, app: AppId, step: &mut ServerStep<'_>) {
        let (now, park) = (step.now.mono, self.watch_park());
        for number in self.watches.parked_for(app) {
            let watch = self.watches.held.get_mut(&number).expect("who parks is held");
            let look = watch.next_look(now, park);
            if look < watch.end {
                watch.look = Some(look);
                self.set(ServiceTimer::Watch, number, look, step);
            }
        }
    }

    /// The process goes on: who should have looked meanwhile looks now.
    pub(super) fn wake_watches(&mut self, paused_since: SimTime, step: &mut ServerStep<'_>) {
        let (now, park) = (step.now.mono, self.watch_park());
        let mut late = Vec::new();
        for (&number, watch) in &mut self.watches.held {
            if watch.next_look(paused_since, park) <= now {
                watch.look = Some(now);
                late.push((watch.app, number));
            }
        }
        for (app, number) in late {
            self.watches.parked.remove(&(app, number));
            self.set(ServiceTimer::Watch, number, now, step);
        }
    }

    /// Parks from now on, until the caller's time is up.
    fn park(&mut self, number: u32, mut watch: Watch, step: &mut ServerStep<'_>) {
        let now = step.now.mono;
        watch.grid = now;
        watch.look = None;
        watch.end = watch.next_look(watch.up_at, self.watch_park());
        self.set(ServiceTimer::Watch, number, watch.end, step);
        self.watches.parked.insert((watch.app, number));
        self.watches.held.insert(number, watch);
    }

    fn changed_reply(&self, app: AppId, step: &ServerStep<'_>) -> Reply {
        let payload = Some(self.shown.payload(step.views));
        Reply { status: 200, payload, revision: self.revision(app) }
    }

    fn time_is_up_reply(&self, app: AppId, step: &ServerStep<'_>) -> Reply {
        match self.config.watch_timeout_payload {
            WatchTimeoutPayload::Empty => Reply { payload: None, ..self.changed_reply(app, step) },
            WatchTimeoutPayload::Full => self.changed_reply(app, step),
        }
    }

    fn watch_park(&self) -> SimDuration {
        millis(self.config.watch_park_ms.max(1))
    }
}

impl Watches {
    /// Takes those of a service that waited for its change, in the order in which they came.
    fn parked_for(&mut self, app: AppId) -> Vec<u32> {
        let numbers: Vec<u32> =
            self.parked.range((app, 0)..=(app, u32::MAX)).map(|&(_, number)| number).collect();
        for &number in &numbers {
            self.parked.remove(&(app, number));
        }
        numbers
    }
}
