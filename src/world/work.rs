//! How much a server can do at a time: requests wait in one queue, first come, first served, for one of its threads.
//!
//! Since the queue is fair and how long each request takes is drawn when it comes, the moment at which it will be
//! done is known at once: the thread that is free first takes it. So a request that waits costs one event, and its
//! caller is told at once if it will have to wait too long. A pause of the process stops its threads, and moves all
//! work by its length.
//!
//! A request has its effect when its work is done.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::World;
use super::event::Event;
use super::fabric::ExchangeId;
use super::node::State;
use crate::engine::{Purpose, Schedule, SimDuration, SimTime, Streams};
use crate::model::id::ServerId;
use crate::model::message::RequestKind;
use crate::scenario::Capacity;

/// How long the work takes, by kind of request.
const SERVICE: Purpose = Purpose(0);
/// How long the items of a batch take.
const ITEM: Purpose = Purpose(1);

/// The length of a row of load.
const MINUTE: SimDuration = SimDuration::from_secs(60);

/// A piece of work under way, or waiting.
#[derive(Clone)]
struct WorkItem {
    /// The exchange whose request it is.
    exchange: ExchangeId,
    /// When it is done, as far as no pause after [`Self::pauses`] moves it.
    due: SimTime,
    /// How long it keeps its thread.
    lasting: SimDuration,
    /// How long the process had stood still until it was given out.
    pauses: SimDuration,
}

/// The threads of one server, and its queue.
#[derive(Clone)]
pub(super) struct Threads {
    /// When each is free.
    free_at: BinaryHeap<Reverse<SimTime>>,
    /// When work begins that waits, in order.
    begins: VecDeque<SimTime>,
    /// The last full minute at which those that waited were counted.
    counted_at: SimTime,
    pieces: Vec<Option<WorkItem>>,
    unused: Vec<u32>,
    /// How long the process has stood still in all.
    pauses: SimDuration,
    streams: Streams,
}

impl Threads {
    /// The threads of a server that has just begun to work.
    pub(super) fn new(server: ServerId, capacity: &Capacity) -> Self {
        Self {
            free_at: (0..capacity.threads).map(|_| Reverse(SimTime::ZERO)).collect(),
            begins: VecDeque::new(),
            counted_at: SimTime::ZERO,
            pieces: Vec::new(),
            unused: Vec::new(),
            pauses: SimDuration::ZERO,
            streams: Streams::of(&format!("server/{}/threads", server.0 + 1)),
        }
    }

    /// The next full minute before `now` at which requests waited, and how many: a queue that nobody joins in a minute
    /// is longest at its start.
    fn next_count(&mut self, now: SimTime) -> Option<(SimTime, u32)> {
        while self.counted_at + MINUTE < now {
            self.counted_at += MINUTE;
            let begun = self.begins.partition_point(|&begins| begins <= self.counted_at);
            if begun < self.begins.len() {
                return Some((self.counted_at, (self.begins.len() - begun) as u32));
            }
        }
        None
    }

    /// Gives work to the thread that is free first: when it will be done.
    fn take(&mut self, now: SimTime, lasting: SimDuration) -> SimTime {
        let Reverse(free) = self.free_at.pop().expect("a server has a thread");
        let begins = free.max(now);
        let done = begins + lasting;
        self.free_at.push(Reverse(done));
        while self.begins.front().is_some_and(|&begins| begins <= now) {
            self.begins.pop_front();
        }
        if begins > now {
            self.begins.push_back(begins);
        }
        done
    }

    fn put(&mut self, piece: WorkItem) -> u32 {
        match self.unused.pop() {
            Some(place) => {
                self.pieces[place as usize] = Some(piece);
                place
            }
            None => {
                self.pieces.push(Some(piece));
                self.pieces.len() as u32 - 1
            }
        }
    }

    /// The process stood still from `since` to `now`.
    pub(super) fn stood_still(&mut self, since: SimTime, now: SimTime) {
        let length = now.since(since);
        self.pauses = self.pauses.saturating_add(length);
        let later = |at: SimTime| if at > since { at + length } else { at };
        self.free_at = self.free_at.drain().map(|Reverse(at)| Reverse(later(at))).collect();
        self.begins.iter_mut().for_each(|at| *at = later(*at));
    }

    /// The process is gone: what it worked at, or had not begun.
    pub(super) fn abandon(&mut self) -> Vec<ExchangeId> {
        let threads = self.free_at.len();
        self.free_at = (0..threads).map(|_| Reverse(SimTime::ZERO)).collect();
        self.begins.clear();
        let pieces = std::mem::take(&mut self.pieces);
        self.unused.clear();
        pieces.into_iter().flatten().map(|piece| piece.exchange).collect()
    }
}

impl World<'_> {
    /// Gives a request with so many items to a server's threads; when it will be done.
    pub(super) fn begin_work(
        &mut self,
        server: ServerId,
        exchange: ExchangeId,
        kind: RequestKind,
        items: usize,
        schedule: &mut Schedule<Event>,
    ) -> SimTime {
        let now = schedule.now();
        let capacity = self.scenario.capacity.as_ref().expect("threads are counted");
        let threads = self.servers[server.index()].threads.as_mut().expect("threads are counted");
        let mut rng = threads.streams.with(&self.seed);
        let mut lasting = capacity.service[kind as usize].sample(&mut rng, SERVICE);
        for _ in 0..items {
            lasting = lasting.saturating_add(capacity.item.sample(&mut rng, ITEM));
        }
        while let Some((at, waiting)) = threads.next_count(now) {
            self.recorder.waits(server, waiting, at);
        }
        let done = threads.take(now, lasting);
        let waiting = threads.begins.len() as u32;
        let place = threads.put(WorkItem { exchange, due: done, lasting, pauses: threads.pauses });
        self.recorder.waits(server, waiting, now);
        schedule.at(done, Event::WorkDone { server: server.0 as u8, place });
        done
    }

    /// A thread has finished, unless the process stood still meanwhile or is another one.
    pub(super) fn work_done(&mut self, server: u8, place: u32, schedule: &mut Schedule<Event>) {
        let now = schedule.now();
        let node = &mut self.servers[usize::from(server)];
        match node.state {
            State::Down => return,
            State::Paused { .. } => {
                node.waiting.timers.push(Event::WorkDone { server, place });
                return;
            }
            State::Running => {}
        }
        let threads = node.threads.as_mut().expect("threads are counted");
        let Some(piece) = threads.pieces.get_mut(place as usize).and_then(Option::as_mut) else { return };
        let moved = threads.pauses.saturating_sub(piece.pauses);
        if !moved.is_zero() {
            piece.due += moved;
            piece.pauses = threads.pauses;
        }
        if piece.due > now {
            // It stood still meanwhile; or this is the work of a process before, and another has its place.
            if !moved.is_zero() {
                schedule.at(piece.due, Event::WorkDone { server, place });
            }
            return;
        }
        let WorkItem { exchange, lasting, .. } = *piece;
        threads.pieces[place as usize] = None;
        threads.unused.push(place);
        self.recorder.busy(ServerId(server.into()), before(now, lasting), now);
        self.serve(exchange, schedule);
    }

    /// The process, or the run, ends: what its threads have done of work that is not finished, and who still waited.
    pub(super) fn count_unfinished_work(&mut self, server: ServerId, now: SimTime) {
        let node = &mut self.servers[server.index()];
        let Some(threads) = &mut node.threads else { return };
        if let State::Paused { since, .. } = node.state {
            threads.stood_still(since, now);
        }
        while let Some((at, waiting)) = threads.next_count(now) {
            self.recorder.waits(server, waiting, at);
        }
        for piece in threads.pieces.iter().flatten() {
            let due = piece.due + threads.pauses.saturating_sub(piece.pauses);
            self.recorder.busy(server, before(due, piece.lasting), due.min(now));
        }
    }
}

/// So long before then, or the start of the run.
fn before(at: SimTime, length: SimDuration) -> SimTime {
    SimTime::ZERO + at.since(SimTime::ZERO).saturating_sub(length)
}
