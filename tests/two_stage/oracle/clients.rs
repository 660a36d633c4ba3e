//! Who registers, watches and subscribes.

use stillup::model::two_stage::{ClientConfig, Schedule, WatchAck};

use super::registry::State;
use super::{Ask, Oracle, Who};
use crate::row::What;
use crate::vector::Watch;

/// A process that registers.
pub(super) struct Provider {
    svc: String,
    pub(super) id: String,
    stop_beats_first: bool,
    next_beat: Option<u64>,
    /// Once it stops: when it has lingered for long enough.
    lingers: Option<u64>,
    /// What was asked, as the how-many-th question, when, and is not over.
    calls: Vec<(Call, u32, u64)>,
    questions: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Register,
    Beat,
    Leave,
}

impl Provider {
    pub(super) fn new(svc: &str, id: &str, stop_beats_first: Option<bool>, config: &ClientConfig) -> Self {
        Self {
            svc: svc.to_owned(),
            id: id.to_owned(),
            stop_beats_first: stop_beats_first.unwrap_or(config.stop_heartbeat_before_deregister),
            next_beat: None,
            lingers: None,
            calls: Vec::new(),
            questions: 0,
        }
    }
}

/// A loop of long polls.
pub(super) struct Watcher {
    watch: Watch,
    known: (u32, u32),
    length: u64,
    next: Option<u64>,
    /// Whether it has not asked yet.
    first: bool,
    failures: u32,
}

impl Watcher {
    pub(super) fn new(watch: &Watch) -> Self {
        Self {
            known: (0, watch.rev),
            length: watch.cur.len() as u64,
            next: Some(watch.t),
            first: true,
            failures: 0,
            watch: watch.clone(),
        }
    }
}

/// A target of pushes.
pub(super) struct Subscriber {
    pub(super) name: String,
    pub(super) svc: String,
    pub(super) next: u64,
}

impl Oracle {
    pub(super) fn client_timers(&mut self) {
        let t = self.t;
        for at in 0..self.watchers.len() {
            let it = &self.watchers[at];
            if it.first && it.next == Some(t) && it.known.1 > 0 && self.registry.state != State::Down {
                // What the script says that it knows is of the life in which it begins.
                let epoch = self.revision(&it.watch.svc).0;
                self.watchers[at].known.0 = epoch;
            }
            let it = &mut self.watchers[at];
            if it.next.take_if(|next| *next == t).is_some() {
                it.first = false;
                let ask = Ask::Watch(it.watch.svc.clone(), it.known, it.watch.timeout);
                self.arriving.push_back((Who::Watcher(at), ask));
            }
        }
        for at in 0..self.subscribers.len() {
            let it = &mut self.subscribers[at];
            if it.next == t {
                it.next += u64::from(self.knobs.server.subscriber_ttl_ms / 2).max(1);
                self.arriving.push_back((Who::Subscriber(at), Ask::Subscribe(it.svc.clone())));
            }
        }
        for at in 0..self.providers.len() {
            self.provider_timers(at);
        }
        for at in 0..self.consumers.len() {
            self.consumer_timers(at);
        }
    }

    fn provider_timers(&mut self, at: usize) {
        let (t, limit) = (self.t, u64::from(self.knobs.client.request_timeout_ms));
        let late: Vec<u32> =
            self.providers[at].calls.iter().filter(|call| call.2 + limit == t).map(|call| call.1).collect();
        for question in late {
            self.provider_call_ends(at, question, None);
        }
        let fixed_rate = self.knobs.client.heartbeat_schedule == Schedule::FixedRate;
        let interval = u64::from(self.knobs.client.heartbeat_interval_ms);
        let it = &mut self.providers[at];
        if it.lingers == Some(t) {
            self.exit_if_done(at);
        }
        let it = &mut self.providers[at];
        if it.next_beat.take_if(|next| *next == t).is_some() {
            it.next_beat = fixed_rate.then_some(t + interval);
            self.provider_asks(at, Call::Beat);
        }
    }

    /// A process exits when it has lingered, and knows how its farewell ended.
    fn exit_if_done(&mut self, at: usize) {
        let it = &mut self.providers[at];
        let leaves = it.calls.iter().any(|call| call.0 == Call::Leave);
        if it.lingers.is_none_or(|lingers| lingers > self.t) || leaves {
            return;
        }
        (it.lingers, it.next_beat) = (None, None);
        it.calls.clear();
        let (svc, id) = (it.svc.clone(), it.id.clone());
        self.id_row("exit", &svc, &id, None);
    }

    fn provider_asks(&mut self, at: usize, call: Call) {
        let it = &mut self.providers[at];
        it.questions += 1;
        it.calls.push((call, it.questions, self.t));
        let who = Who::Provider(at, it.questions);
        let (svc, id) = (it.svc.clone(), it.id.clone());
        let ask = match call {
            Call::Register => Ask::Register(svc, id),
            Call::Beat => Ask::Beat(svc, id),
            Call::Leave => Ask::Leave(svc, id),
        };
        self.arriving.push_back((who, ask));
    }

    pub(super) fn start_provider(&mut self, at: usize) {
        self.providers[at].next_beat = Some(self.t + u64::from(self.knobs.client.first_heartbeat_delay_ms));
        self.provider_asks(at, Call::Register);
    }

    pub(super) fn stop_provider(&mut self, at: usize) {
        let linger = u64::from(self.knobs.client.deregister_linger_ms);
        let it = &mut self.providers[at];
        if it.stop_beats_first {
            it.next_beat = None;
        }
        it.lingers = Some(self.t + linger);
        self.provider_asks(at, Call::Leave);
    }

    /// A call has ended: answered, or not at all.
    pub(super) fn provider_call_ends(&mut self, at: usize, question: u32, answer: Option<bool>) {
        let it = &mut self.providers[at];
        let Some(found) = it.calls.iter().position(|call| call.1 == question) else { return };
        let (call, ..) = it.calls.remove(found);
        if call == Call::Beat && answer == Some(false) {
            return self.provider_asks(at, Call::Register);
        }
        if call == Call::Leave {
            return self.exit_if_done(at);
        }
        let beats = !(it.stop_beats_first && it.lingers.is_some());
        let fixed_delay = self.knobs.client.heartbeat_schedule == Schedule::FixedDelay;
        if beats && fixed_delay && it.next_beat.is_none() {
            it.next_beat = Some(self.t + u64::from(self.knobs.client.heartbeat_interval_ms));
        }
    }

    pub(super) fn watch_ends(&mut self, at: usize, revision: (u32, u32), length: u64, time_is_up: bool) {
        let it = &mut self.watchers[at];
        it.failures = 0;
        it.next = Some(self.t + it.watch.gap);
        let svc = it.watch.svc.clone();
        if revision == it.known {
            return self.row("watch_timeout", &svc, What::Revision(revision.1));
        }
        let plausible = 2 * length >= it.length;
        if plausible {
            it.length = length;
        }
        if plausible || it.watch.ack == WatchAck::Always {
            it.known = revision;
        }
        let kind = if plausible { "watch_apply" } else { "watch_reject" };
        let cause = if time_is_up { "timeout" } else { "change" };
        self.row(kind, &svc, What::Answer(revision.1, length, cause.to_owned()));
    }

    pub(super) fn watch_fails(&mut self, at: usize) {
        let it = &mut self.watchers[at];
        it.failures += 1;
        it.next = Some(self.t + self.knobs.client.backoff.wait(it.failures).as_millis());
    }
}
