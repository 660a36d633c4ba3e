//! The servers of one recording and what goes on between them: peers' timers, batches, and how batches end.

use std::collections::BTreeMap;
use std::rc::Rc;

use stillup::model::eureka::{BatchId, BatchOutcome, EurekaServer, ServerEffect};
use stillup::model::id::{InstanceId, ServerId};
use stillup::model::message::{Failure, ItemReply, Replicated, Request};

use super::LAG_MS;
use super::membership::Hearsay;
use super::passed_on::{self, Heard, Item};
use crate::golden_replay::records::Recording;
use crate::golden_replay::server::Replay;
use crate::golden_replay::timeline::{RecordedRound, What};
use crate::golden_replay::{Mutation, Outcome, TIE_MS};

/// A batch takes this long, and its answer, ms.
const LATENCY_MS: i64 = 3;

/// Something between servers that is to come.
enum Coming {
    PeerTimer {
        at: ServerId,
        peer: ServerId,
        generation: u16,
        life: u32,
    },
    Batch {
        from: ServerId,
        to: ServerId,
        batch: BatchId,
        items: Box<[Replicated]>,
        life: u32,
        is_awaited: bool,
    },
    End {
        from: ServerId,
        to: ServerId,
        batch: BatchId,
        end: End,
        life: u32,
    },
}

enum End {
    Answered(Vec<ItemReply>),
    Failed(Failure),
}

pub(super) struct Cluster<'a> {
    recording: &'a Recording,
    replays: Vec<Replay<'a>>,
    /// By server: which life it is in.
    lives: Vec<u32>,
    hearsay: Rc<Hearsay>,
    mutation: Mutation,
    /// By moment, and the order in which they were noted.
    coming: BTreeMap<(i64, u64), Coming>,
    noted: u64,
    items: Vec<Item>,
    /// When which link has settled: what is alive must be known by then. The last comes first.
    settling: Vec<(i64, ServerId, ServerId)>,
}

impl<'a> Cluster<'a> {
    pub(super) fn of(recording: &'a Recording, replays: Vec<Replay<'a>>, mutation: Mutation) -> Self {
        let hearsay = replays[0].membership.hearsay.clone();
        let mut settling = hearsay.links.settled();
        settling.reverse();
        let lives = vec![0; replays.len()];
        let (coming, items) = (BTreeMap::new(), Vec::new());
        Self { recording, replays, lives, hearsay, mutation, coming, noted: 0, items, settling }
    }

    pub(super) fn finish(self) -> Outcome {
        let ends_ms: Vec<i64> = self.replays.iter().map(|replay| replay.timeline.end_ms).collect();
        let names: Vec<String> = self.recording.experiment.servers.keys().cloned().collect();
        let ids = self.replays[0].ids.clone();
        let id = |name: &str| ids.get(name).copied();
        let (differences, lines) =
            passed_on::compare(self.recording, &self.items, &self.hearsay.links, &ends_ms, &id);
        let mut whole = Outcome::default();
        whole.compared.passed_on = lines;
        whole.differences =
            differences.into_iter().map(|(server, it)| format!("{it} ({})", names[server.index()])).collect();
        for (replay, name) in self.replays.into_iter().zip(&names) {
            let part = replay.finish();
            whole.compared.add(&part.compared);
            whole.differences.extend(part.differences.iter().map(|it| format!("{it} ({name})")));
        }
        whole
    }

    /// Something that was recorded happens to one server.
    pub(super) fn happen(&mut self, server: usize, t_ms: i64, what: &What) {
        let replay = &mut self.replays[server];
        replay.run_unlogged(t_ms);
        replay.now_ms = t_ms;
        replay.happen(what);
        replay.note();
        match what {
            What::Start(_) | What::Down => self.lives[server] += 1,
            What::Killed { .. } => self.spread_doubt(server),
            What::Round(round) if self.mutation == Mutation::EvictionsPassedOn => {
                self.pass_on_evictions(ServerId(server as u32), round, t_ms);
            }
            _ => {}
        }
        self.drain(server);
    }

    /// What the rules do not do.
    fn pass_on_evictions(&mut self, from: ServerId, round: &RecordedRound, t_ms: i64) {
        let victims: Vec<InstanceId> = round.victims.iter().map(|name| self.replays[0].id(name)).collect();
        for to in self.replays[from.index()].membership.peers.clone() {
            if self.hearsay.links.is_cut(from, to, t_ms) {
                continue;
            }
            for &instance in &victims {
                self.receive(from, to, &Replicated::Cancel { instance }, t_ms);
            }
        }
    }

    /// A heartbeat that the killed may have sent has been passed on, too.
    fn spread_doubt(&mut self, server: usize) {
        let doubtful = self.replays[server].doubtful.clone();
        for replay in &mut self.replays {
            for (&instance, &killed_ms) in &doubtful {
                replay.doubtful.entry(instance).or_insert(killed_ms + LAG_MS);
            }
        }
    }

    /// What goes on between servers until then.
    pub(super) fn run_until(&mut self, until_ms: i64) {
        loop {
            let settled = self.settling.last().map_or(i64::MAX, |it| it.0);
            let next = self.coming.first_key_value().map_or(i64::MAX, |(key, _)| key.0);
            if settled.min(next) > until_ms {
                return;
            }
            if settled <= next {
                let (t_ms, from, to) = self.settling.pop().expect("looked at above");
                self.compare_registries(from, to, t_ms);
                continue;
            }
            let ((t_ms, _), coming) = self.coming.pop_first().expect("looked at above");
            self.come(coming, t_ms);
        }
    }

    fn come(&mut self, coming: Coming, t_ms: i64) {
        match coming {
            Coming::PeerTimer { at, peer, generation, life } if life == self.lives[at.index()] => {
                self.step(at, t_ms, |replay| {
                    replay.with(|server, step| server.on_peer_timer(peer, generation, step));
                });
            }
            Coming::End { from, to, batch, end, life } if life == self.lives[from.index()] => {
                self.step(from, t_ms, |replay| {
                    let outcome = match &end {
                        End::Answered(replies) => BatchOutcome::Answered(replies),
                        End::Failed(failure) => BatchOutcome::Failed(*failure),
                    };
                    replay.with(|server, step| server.on_batch_outcome(to, batch, outcome, step));
                });
            }
            Coming::PeerTimer { .. } | Coming::End { .. } => {}
            Coming::Batch { from, to, batch, items, life, is_awaited } => {
                let replies = self.replays[to.index()].server.is_some().then(|| {
                    let receive = |item| self.receive(from, to, item, t_ms);
                    items.iter().map(receive).collect()
                });
                let end = replies.map_or(End::Failed(Failure::Refused), End::Answered);
                if is_awaited {
                    self.end(t_ms + LATENCY_MS, Coming::End { from, to, batch, end, life });
                }
            }
        }
    }

    /// One server does something.
    fn step<R>(&mut self, at: ServerId, t_ms: i64, act: impl FnOnce(&mut Replay<'a>) -> R) -> R {
        let replay = &mut self.replays[at.index()];
        replay.run_unlogged(t_ms);
        replay.now_ms = replay.now_ms.max(t_ms);
        let result = act(replay);
        replay.note();
        self.drain(at.index());
        result
    }

    fn drain(&mut self, server: usize) {
        let from = ServerId(server as u32);
        let life = self.lives[server];
        for effect in std::mem::take(&mut self.replays[server].membership.outbox) {
            match effect {
                ServerEffect::SetPeerTimer { peer, due, generation } => {
                    let replay = &self.replays[server];
                    let at_ms = replay.after_pause(replay.in_recording(due)).max(replay.now_ms);
                    self.note(at_ms, Coming::PeerTimer { at: from, peer, generation, life });
                }
                ServerEffect::Replicate { to, batch, items } => self.send(from, to, batch, items),
                _ => {}
            }
        }
    }

    fn send(&mut self, from: ServerId, to: ServerId, batch: BatchId, items: Box<[Replicated]>) {
        let sender = &self.replays[from.index()];
        let (now_ms, life) = (sender.now_ms, self.lives[from.index()]);
        let limits = (sender.config.peer_node_connect_timeout_ms, sender.config.peer_node_read_timeout_ms);
        let fail = |failure| Coming::End { from, to, batch, end: End::Failed(failure), life };
        if self.hearsay.links.is_cut(from, to, now_ms) {
            return self.end(now_ms + i64::from(limits.0), fail(Failure::ConnectTimeout));
        }
        // A process that stands still is connected to, and does not answer.
        let arrives_ms = self.replays[to.index()].after_pause(now_ms + LATENCY_MS);
        let gives_up_ms = now_ms + i64::from(limits.1);
        let is_awaited = arrives_ms < gives_up_ms;
        if !is_awaited {
            self.end(gives_up_ms, fail(Failure::ReadTimeout));
        }
        self.note(arrives_ms, Coming::Batch { from, to, batch, items, life, is_awaited });
    }

    /// The sender hears how its batch ended, once it runs.
    fn end(&mut self, at_ms: i64, end: Coming) {
        let Coming::End { from, .. } = &end else { unreachable!("its callers say so") };
        let at_ms = self.replays[from.index()].after_pause(at_ms);
        self.note(at_ms, end);
    }

    fn note(&mut self, at_ms: i64, coming: Coming) {
        self.noted += 1;
        self.coming.insert((at_ms, self.noted), coming);
    }

    /// One item of a batch. What the receiver's log tells of is left to it.
    fn receive(&mut self, from: ServerId, to: ServerId, item: &Replicated, t_ms: i64) -> ItemReply {
        let (instance, heard) = match *item {
            Replicated::Register(record) => (record.instance, Heard::Registered),
            Replicated::Cancel { instance } => (instance, Heard::Cancelled),
            Replicated::Heartbeat(record) => (record.instance, Heard::Unknown),
            Replicated::StatusUpdate { .. } | Replicated::DeleteStatusOverride { .. } => {
                return self.pass(to, item, t_ms);
            }
        };
        let is_known = self.knows(to, instance);
        let is_overtaken = self.has_been_overtaken(from, to, instance, t_ms);
        let mut note = |is_logged| {
            self.items.push(Item { at_ms: t_ms, from, to, instance, heard, is_logged });
        };
        match heard {
            Heard::Unknown if is_known => self.beat(to, item, t_ms),
            Heard::Unknown if is_overtaken => ItemReply { status: 200, record: None },
            Heard::Unknown => {
                note(true);
                let followed = self.mutation != Mutation::NotFoundNotFollowed;
                ItemReply { status: if followed { 404 } else { 200 }, record: None }
            }
            Heard::Registered => {
                note(true);
                ItemReply { status: 200, record: None }
            }
            Heard::Cancelled => {
                note(is_known);
                ItemReply { status: if is_known { 200 } else { 404 }, record: None }
            }
        }
    }

    /// Whether a heartbeat is of somebody who has cancelled meanwhile, and whose cancellation is in the receiver's log
    /// a little earlier than here.
    fn has_been_overtaken(&self, from: ServerId, to: ServerId, instance: InstanceId, t_ms: i64) -> bool {
        let touched = self.replays[to.index()].touched.get(&instance);
        !self.knows(from, instance) && touched.is_some_and(|&at_ms| t_ms - at_ms <= LAG_MS + TIE_MS)
    }

    fn knows(&self, server: ServerId, instance: InstanceId) -> bool {
        let server = self.replays[server.index()].server.as_ref();
        server.is_some_and(|server| server.lease(instance).is_some())
    }

    fn beat(&mut self, to: ServerId, item: &Replicated, t_ms: i64) -> ItemReply {
        let Replicated::Heartbeat(record) = item else { unreachable!("its caller has looked") };
        match self.mutation {
            Mutation::ReplicasNotCounted => ItemReply { status: 200, record: None },
            Mutation::SecondHop => {
                let renewal = Request::Renew { instance: record.instance, last_dirty: record.last_dirty };
                let reply = self.step(to, t_ms, |replay| {
                    replay.with(|server, step| server.on_request(&renewal, step)).expect("it runs")
                });
                ItemReply { status: reply.status, record: None }
            }
            _ => self.pass(to, item, t_ms),
        }
    }

    fn pass(&mut self, to: ServerId, item: &Replicated, t_ms: i64) -> ItemReply {
        let items = [*item];
        self.step(to, t_ms, |replay| {
            replay.with(|server, step| server.on_batch(&items, step)).expect("it runs")[0]
        })
    }

    /// Once a link has settled, everybody who calls the one server is known to the other.
    fn compare_registries(&mut self, from: ServerId, to: ServerId, t_ms: i64) {
        if !self.replays[from.index()].membership.peers.contains(&to) {
            return;
        }
        let since_ms = t_ms - self.hearsay.heartbeat_ms;
        let calls = self.recording.calls.iter().filter(|call| call.done_ms <= t_ms);
        let mut last = BTreeMap::new();
        for call in calls.filter(|call| call.status.starts_with('2')) {
            last.insert(call.instance.as_str(), call);
        }
        let sender = &self.replays[from.index()];
        let calls_it = last.into_iter().filter(|(_, call)| {
            let calls_it = call.server == sender.timeline.server && call.kind == "renew";
            calls_it && call.done_ms > since_ms - LAG_MS
        });
        let living: Vec<InstanceId> =
            calls_it.filter_map(|(name, _)| sender.ids.get(name).copied()).collect();
        let has = |server: &EurekaServer, id: &InstanceId| server.lease(*id).is_some();
        let (Some(sender), Some(receiver)) = (&sender.server, &self.replays[to.index()].server) else {
            return;
        };
        let missing = living.iter().filter(|id| has(sender, id) && !has(receiver, id)).count();
        if missing > 0 {
            let replay = &mut self.replays[to.index()];
            let what =
                format!("{t_ms}: {missing} of {} who call server {} are unknown", living.len(), from.0);
            replay.outcome.differences.push(what);
        }
    }
}
