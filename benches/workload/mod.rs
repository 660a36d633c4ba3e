//! Workload W: a fixed amount of event handling, the same for any queue.
//!
//! Each of N clients has a heartbeat timer and a fetch timer, 30 s each, with independent phases. A timer sends
//! a request, the server answers it; each of the four messages has its own latency, uniform from 0.5 to 5 ms.
//! The server looks through all leases each 60 s. That is six events a client in 30 s. Phases and latencies come
//! from a hash of (client, kind, time), so any engine that keeps the order must find the same counts and sums.
//!
//! [`HeapQueue`] is the reference: a plain binary heap with the same entries behind the same interface.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stillup::engine::{EventQueue, Fingerprint, LaneId, OrderDigest, SimDuration, SimTime};
use stillup::model::eureka::client::ClientTimer;
use stillup::model::id::ClientId;
use stillup::world::Event;

/// What both queues can do.
pub(crate) trait Queue<E> {
    /// A constant delay.
    type Lane: Copy;
    /// An empty queue.
    fn new() -> Self;
    /// The lane for `delay`.
    fn lane(&mut self, delay: SimDuration) -> Self::Lane;
    /// Schedules at now plus the delay of `lane`.
    fn push_lane(&mut self, lane: Self::Lane, event: E);
    /// Schedules at `time`.
    fn push_at(&mut self, time: SimTime, event: E);
    /// Takes the first event if it is due by `horizon`.
    fn pop_until(&mut self, horizon: SimTime) -> Option<(SimTime, E)>;
}

/// An event that can carry W's kind and client.
pub(crate) trait WorkloadEvent: Copy + Fingerprint {
    /// The event of this kind at this client.
    fn of(kind: Kind, client: u32) -> Self;
    /// Its kind and client.
    fn parts(self) -> (Kind, u32);
}

/// What happens in W. The numbers of the messages are part of the latency's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The heartbeat timer fires.
    Heartbeat = 0,
    /// The server gets a heartbeat.
    HeartbeatRequest = 1,
    /// The client gets the answer.
    HeartbeatReply = 2,
    /// The fetch timer fires.
    Fetch = 3,
    /// The server gets a fetch.
    FetchRequest = 4,
    /// The client gets the answer.
    FetchReply = 5,
    /// The server looks through the leases.
    Eviction = 6,
}

impl Kind {
    /// All kinds, in order of their numbers.
    const ALL: [Self; 7] = [
        Self::Heartbeat,
        Self::HeartbeatRequest,
        Self::HeartbeatReply,
        Self::Fetch,
        Self::FetchRequest,
        Self::FetchReply,
        Self::Eviction,
    ];
}

/// What a run of W adds up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Events that ran.
    pub(crate) events: u64,
    /// Sum of all round-trip times in nanoseconds.
    pub(crate) round_trips_ns: u64,
    /// Digest of the order of events.
    pub(crate) digest: OrderDigest,
    /// Leases found expired; none should be, but somebody has to look.
    pub(crate) expired: u64,
}

/// W with N clients, ready to run.
pub(crate) struct Workload<E, Q: Queue<E>> {
    queue: Q,
    period: Q::Lane,
    eviction: Q::Lane,
    clients: Vec<Client>,
    /// When each lease was renewed, in nanoseconds.
    renewed: Vec<u64>,
    totals: Totals,
}

#[derive(Clone, Copy, Default)]
struct Client {
    heartbeat_sent: u64,
    fetch_sent: u64,
    round_trips_ns: u64,
    replies: u64,
}

const PERIOD: SimDuration = SimDuration::from_secs(30);
const EVICTION_PERIOD: SimDuration = SimDuration::from_secs(60);
const LEASE_NS: u64 = 90_000_000_000;

impl<E: WorkloadEvent, Q: Queue<E>> Workload<E, Q> {
    /// `clients` clients at time 0, with their first timers set.
    pub(crate) fn new(clients: u32) -> Self {
        let mut queue = Q::new();
        let period = queue.lane(PERIOD);
        let eviction = queue.lane(EVICTION_PERIOD);
        for client in 0..clients {
            queue.push_at(phase(client, 0), E::of(Kind::Heartbeat, client));
            queue.push_at(phase(client, 1), E::of(Kind::Fetch, client));
        }
        queue.push_lane(eviction, E::of(Kind::Eviction, 0));
        let totals = Totals { events: 0, round_trips_ns: 0, digest: OrderDigest::new(), expired: 0 };
        let renewed = vec![0; clients as usize];
        Self { queue, period, eviction, clients: vec![Client::default(); clients as usize], renewed, totals }
    }

    /// Runs all events before `end`.
    pub(crate) fn run(mut self, end: SimTime) -> Totals {
        let horizon = SimTime::from_nanos(end.as_nanos() - 1);
        while let Some((now, event)) = self.queue.pop_until(horizon) {
            self.totals.events += 1;
            self.totals.digest.add(now, event.fingerprint());
            let (kind, client) = event.parts();
            self.handle(now, kind, client);
        }
        let round_trips_ns = self.clients.iter().map(|client| client.round_trips_ns).sum();
        Totals { round_trips_ns, ..self.totals }
    }

    #[inline]
    fn handle(&mut self, now: SimTime, kind: Kind, client: u32) {
        let state = &mut self.clients[client as usize];
        let now_ns = now.as_nanos();
        match kind {
            Kind::Heartbeat => {
                state.heartbeat_sent = now_ns;
                self.send(now, Kind::HeartbeatRequest, client);
                self.queue.push_lane(self.period, E::of(Kind::Heartbeat, client));
            }
            Kind::HeartbeatRequest => {
                self.renewed[client as usize] = now_ns;
                self.send(now, Kind::HeartbeatReply, client);
            }
            Kind::HeartbeatReply => state.reply(now_ns - state.heartbeat_sent),
            Kind::Fetch => {
                state.fetch_sent = now_ns;
                self.send(now, Kind::FetchRequest, client);
                self.queue.push_lane(self.period, E::of(Kind::Fetch, client));
            }
            Kind::FetchRequest => self.send(now, Kind::FetchReply, client),
            Kind::FetchReply => state.reply(now_ns - state.fetch_sent),
            Kind::Eviction => {
                let expired = self.renewed.iter().filter(|&&renewed| now_ns > renewed + LEASE_NS).count();
                self.totals.expired += expired as u64;
                self.queue.push_lane(self.eviction, E::of(Kind::Eviction, 0));
            }
        }
    }

    #[inline]
    fn send(&mut self, now: SimTime, kind: Kind, client: u32) {
        self.queue.push_at(now + latency(client, kind, now), E::of(kind, client));
    }
}

impl Client {
    #[inline]
    fn reply(&mut self, round_trip_ns: u64) {
        self.round_trips_ns += round_trip_ns;
        self.replies += 1;
    }
}

#[inline]
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ x >> 32
}

#[inline]
fn latency(client: u32, kind: Kind, now: SimTime) -> SimDuration {
    let hash = mix(now.as_nanos() ^ u64::from(client) << 32 ^ (kind as u64) << 60);
    SimDuration::from_nanos(500_000 + (((hash & 0xffff_ffff) * 4_500_000) >> 32))
}

fn phase(client: u32, timer: u64) -> SimTime {
    let hash = mix(0x1234_5678_9abc_def1 ^ u64::from(client) << 3 ^ timer);
    SimTime::from_nanos(((u128::from(hash) * u128::from(PERIOD.as_nanos())) >> 64) as u64)
}

impl<E: Copy> Queue<E> for EventQueue<E> {
    type Lane = LaneId;

    fn new() -> Self {
        Self::new()
    }

    fn lane(&mut self, delay: SimDuration) -> LaneId {
        self.lane(delay)
    }

    #[inline]
    fn push_lane(&mut self, lane: LaneId, event: E) {
        self.push_lane(lane, event);
    }

    #[inline]
    fn push_at(&mut self, time: SimTime, event: E) {
        self.push_at(time, event);
    }

    #[inline]
    fn pop_until(&mut self, horizon: SimTime) -> Option<(SimTime, E)> {
        self.pop_until(horizon)
    }
}

/// The reference: the standard library's heap over (time, number of pushes before).
pub(crate) struct HeapQueue<E> {
    heap: BinaryHeap<Reverse<HeapEntry<E>>>,
    pushed: u64,
    now: SimTime,
}

#[derive(Clone, Copy)]
struct HeapEntry<E> {
    time: SimTime,
    seq: u64,
    event: E,
}

impl<E: Copy> Queue<E> for HeapQueue<E> {
    type Lane = SimDuration;

    fn new() -> Self {
        Self { heap: BinaryHeap::new(), pushed: 0, now: SimTime::ZERO }
    }

    fn lane(&mut self, delay: SimDuration) -> SimDuration {
        delay
    }

    #[inline]
    fn push_lane(&mut self, delay: SimDuration, event: E) {
        self.push_at(self.now + delay, event);
    }

    #[inline]
    fn push_at(&mut self, time: SimTime, event: E) {
        assert!(time >= self.now, "an event is scheduled before now");
        self.heap.push(Reverse(HeapEntry { time, seq: self.pushed, event }));
        self.pushed += 1;
    }

    #[inline]
    fn pop_until(&mut self, horizon: SimTime) -> Option<(SimTime, E)> {
        if self.heap.peek()?.0.time > horizon {
            return None;
        }
        let Reverse(entry) = self.heap.pop()?;
        self.now = entry.time;
        Some((entry.time, entry.event))
    }
}

impl<E> HeapEntry<E> {
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.time.as_nanos()) << 64 | u128::from(self.seq)
    }
}

impl<E> Ord for HeapEntry<E> {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<E> PartialOrd for HeapEntry<E> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for HeapEntry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for HeapEntry<E> {}

/// W through the world's own events: a client's timer carries W's kind as its generation.
impl WorkloadEvent for Event {
    #[inline]
    fn of(kind: Kind, client: u32) -> Self {
        let client = ClientId(client);
        Self::ClientTimerDue { client, timer: ClientTimer::Heartbeat, generation: kind as u16 }
    }

    #[inline]
    fn parts(self) -> (Kind, u32) {
        match self {
            Self::ClientTimerDue { client, generation, .. } => (Kind::ALL[generation as usize], client.0),
            _ => unreachable!("W makes nothing else"),
        }
    }
}
