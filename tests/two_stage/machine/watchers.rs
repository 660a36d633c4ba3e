//! Clients that the script asks for without saying what process they are: loops of long polls, and targets of pushes.

use stillup::model::id::ClientId;
use stillup::model::message::{Reply, Request, Revision};
use stillup::model::two_stage::{WatchAck, WatchTimeoutPayload};

use super::{Caller, Event, Machine, class};
use crate::row::What;
use crate::vector::Watch;

/// The first number of a subscriber, as a client.
const SUBSCRIBERS: u32 = 1_000_000;

/// A loop of long polls.
pub(super) struct Watcher {
    watch: Watch,
    /// What it knows.
    known: Revision,
    /// How long its list is: all that its plausibility check looks at.
    length: u64,
    /// Whether it has not asked yet.
    first: bool,
    /// When the registry has taken its long poll up.
    taken_up: u64,
    /// Failures in a row.
    failures: u32,
}

impl Watcher {
    pub(super) fn new(watch: Watch) -> Self {
        let length = watch.cur.len() as u64;
        let known = Revision { epoch: 0, number: watch.rev };
        Self { watch, known, length, first: true, taken_up: 0, failures: 0 }
    }
}

/// A target of pushes.
pub(super) struct Subscriber {
    pub(super) name: String,
    pub(super) svc: String,
}

impl Machine {
    pub(super) fn issue_watch(&mut self, watcher: usize) {
        let app = self.names.app(&self.watchers[watcher].watch.svc);
        // What the script says that it knows is of the life in which it begins.
        let epoch = self.host.server.as_ref().map_or(0, |server| server.revision(app).epoch);
        let it = &mut self.watchers[watcher];
        if it.first && it.known.number > 0 {
            it.known.epoch = epoch;
        }
        it.first = false;
        let request = Request::Watch {
            app,
            known: it.known,
            timeout_ms: it.watch.timeout.min(u64::from(u32::MAX)) as u32,
        };
        self.at(self.now, class::REQUEST, Event::Arrives { caller: Caller::Watcher(watcher), request });
    }

    /// The registry takes a long poll up.
    pub(super) fn watch_taken_up(&mut self, watcher: usize) {
        self.watchers[watcher].taken_up = self.now;
    }

    /// The caller applies a list if it is plausible, and takes the revision as its `ack` says.
    pub(super) fn answer_watcher(&mut self, watcher: usize, reply: Reply) {
        let app = self.names.app(&self.watchers[watcher].watch.svc);
        let list = reply.payload.map(|payload| self.list(payload.full_view(), app)).unwrap_or_default();
        let it = &mut self.watchers[watcher];
        let (svc, length) = (it.watch.svc.clone(), list.len() as u64);
        // A repaired registry sends the list even if the time is up.
        let repaired = self.vector.knobs.server.watch_timeout_payload == WatchTimeoutPayload::Full;
        let waited = self.now - it.taken_up;
        let is_late = reply.payload.is_none() || (repaired && waited >= it.watch.timeout);
        let cause = if is_late { "timeout" } else { "change" };
        it.failures = 0;
        let is_new = reply.revision != it.known;
        let plausible = 2 * length >= it.length;
        if is_new && (plausible || it.watch.ack == WatchAck::Always) {
            it.known = reply.revision;
        }
        if is_new && plausible {
            it.length = length;
        }
        let next = self.now + it.watch.gap;
        let number = reply.revision.number;
        if is_new {
            let kind = if plausible { "watch_apply" } else { "watch_reject" };
            self.row(kind, &svc, What::Answer(number, length, cause.to_owned()));
        } else {
            self.row("watch_timeout", &svc, What::Revision(number));
        }
        self.at(next, class::CLIENT, Event::WatchIssued { watcher });
    }

    /// Nobody listens: the caller backs off as a refresh does.
    pub(super) fn refuse_watcher(&mut self, watcher: usize) {
        let it = &mut self.watchers[watcher];
        it.failures += 1;
        let wait = self.vector.knobs.client.backoff.wait(it.failures);
        self.at(self.now + wait.as_millis(), class::CLIENT, Event::WatchIssued { watcher });
    }

    pub(super) fn poll(&mut self, subscriber: usize) {
        let app = self.names.app(&self.subscribers[subscriber].svc);
        let client = ClientId(SUBSCRIBERS + subscriber as u32);
        let request = Request::FetchService { app, subscriber: Some(client) };
        let arrival = Event::Arrives { caller: Caller::Subscriber(subscriber), request };
        self.at(self.now, class::REQUEST, arrival);
        let every = u64::from(self.vector.knobs.server.subscriber_ttl_ms / 2).max(1);
        self.at(self.now + every, class::CLIENT, Event::Poll { subscriber });
    }

    pub(super) fn subscriber_name(&self, client: ClientId) -> Option<String> {
        let subscriber = client.0.checked_sub(SUBSCRIBERS)?;
        self.subscribers.get(subscriber as usize).map(|it| it.name.clone())
    }
}
