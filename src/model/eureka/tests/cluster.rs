//! Several servers on one bench: their timers fire, their batches travel, and clients heartbeat.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::*;
use crate::model::id::ServerId;
use crate::model::message::{Failure, ItemReply, Replicated};

/// What happens to batches on one way from one server to another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// They arrive after the latency, and so does the answer.
    Open,
    /// Nobody listens: the sender knows after the latency.
    Refusing,
    /// The connection is not made within the sender's limit.
    BlackHole,
    /// They arrive, but the answer does not come within the sender's limit.
    Deaf,
    /// They are answered with this status, and nothing else happens.
    Answering(u16),
}

/// How a batch ended.
enum Ending {
    Answered(Vec<ItemReply>),
    Refused(u16),
    Failed(Failure),
}

enum Event {
    Timer(usize, ServerTimer, u16),
    PeerTimer(usize, ServerId, u16),
    Arrival { from: usize, to: usize, batch: BatchId, items: Box<[Replicated]>, is_heard: bool },
    End { from: usize, to: usize, batch: BatchId, ending: Ending },
    Beat { instance: u32, every_ms: i64 },
}

struct Node {
    server: EurekaServer,
    streams: Streams,
    facts: Vec<(i64, Fact)>,
}

/// One way, ms.
const LATENCY_MS: i64 = 1;

/// A cluster in which every server has every other as a peer, unless it is started otherwise.
pub(super) struct Cluster {
    nodes: Vec<Node>,
    config: Arc<ServerConfig>,
    views: Views,
    seed: Seed,
    pub(super) now_ms: i64,
    events: Vec<(i64, usize, Event)>,
    scheduled: usize,
    /// By (from, to).
    links: Vec<Vec<Link>>,
    /// Whom each instance heartbeats; `None` if it is dead.
    pub(super) homes: Vec<Option<usize>>,
    /// Batches that were sent: (when, from, to, items).
    pub(super) sent: Vec<(i64, usize, usize, Vec<Replicated>)>,
    /// What an instance registers.
    pub(super) record: fn(u32) -> Record,
}

pub(super) fn everybody_else(servers: usize) -> Vec<Vec<usize>> {
    (0..servers).map(|me| (0..servers).filter(|&other| other != me).collect()).collect()
}

impl Cluster {
    /// A full mesh of Spring servers that start at these times, ms.
    pub(super) fn mesh(starts_ms: &[i64], config: ServerConfig) -> Self {
        Self::start(starts_ms, &everybody_else(starts_ms.len()), config)
    }

    /// Spring servers that start at these times, ms, in order, with these peers each.
    pub(super) fn start(starts_ms: &[i64], peers: &[Vec<usize>], config: ServerConfig) -> Self {
        let mut cluster = Self {
            nodes: Vec::new(),
            config: Arc::new(config),
            views: Views::default(),
            seed: Seed::new(7, 0),
            now_ms: 0,
            events: Vec::new(),
            scheduled: 0,
            links: vec![vec![Link::Open; starts_ms.len()]; starts_ms.len()],
            homes: Vec::new(),
            sent: Vec::new(),
            record,
        };
        for (at, peers) in starts_ms.iter().zip(peers) {
            cluster.run_to(*at);
            cluster.join(peers, OwnRegistry::default());
        }
        cluster
    }

    /// Another server starts now, with these peers; its own client holds `own`.
    pub(super) fn join(&mut self, peers: &[usize], own: OwnRegistry<'_>) {
        let me = self.nodes.len();
        for row in &mut self.links {
            row.resize(row.len().max(me + 1), Link::Open);
        }
        self.links.resize(self.links.len().max(me + 1), vec![Link::Open; me + 1]);
        let (server, streams, out) = self.live(me, 0, peers, own);
        self.nodes.push(Node { server, streams, facts: Vec::new() });
        self.take(me, out);
    }

    /// `server` dies and is back at once, with the same peers. What it had sent gets no answer.
    pub(super) fn restart(&mut self, server: usize, peers: &[usize]) {
        let from_it = |event: &Event| match *event {
            Event::Arrival { from, .. } | Event::End { from, .. } => from == server,
            _ => false,
        };
        self.events.retain(|event| !from_it(&event.2));
        let generation = self.server(server).next_generation();
        let (life, streams, out) = self.live(server, generation, peers, OwnRegistry::default());
        self.nodes[server].server = life;
        self.nodes[server].streams = streams;
        self.take(server, out);
    }

    fn live(
        &mut self,
        me: usize,
        generation: u16,
        peers: &[usize],
        own: OwnRegistry<'_>,
    ) -> (EurekaServer, Streams, Vec<ServerEffect>) {
        let peers: Vec<ServerId> = peers.iter().map(|&peer| ServerId(peer as u32)).collect();
        let mut streams = Streams::of(&format!("server/{me}"));
        let (now, mut out) = (self.now(), Vec::new());
        let mut step = Step { now, rng: streams.with(&self.seed), views: &mut self.views, out: &mut out };
        let server = EurekaServer::start(Arc::clone(&self.config), generation, &peers, own, &mut step);
        (server, streams, out)
    }

    pub(super) fn now(&self) -> Now {
        Now { mono: SimTime::from_millis(self.now_ms as u64), wall: START.plus(self.now_ms) }
    }

    pub(super) fn view(&self, server: usize) -> View {
        let life = self.nodes[server].server.life();
        View::of(life, self.views.log(life).version())
    }

    pub(super) fn server(&mut self, server: usize) -> &mut EurekaServer {
        &mut self.nodes[server].server
    }

    pub(super) fn with<R>(
        &mut self,
        server: usize,
        act: impl FnOnce(&mut EurekaServer, &mut ServerStep<'_>) -> R,
    ) -> R {
        let (now, mut out) = (self.now(), Vec::new());
        let node = &mut self.nodes[server];
        let mut step =
            Step { now, rng: node.streams.with(&self.seed), views: &mut self.views, out: &mut out };
        let result = act(&mut node.server, &mut step);
        self.take(server, out);
        result
    }

    pub(super) fn ask(&mut self, server: usize, request: Request) -> u16 {
        self.with(server, |server, step| server.on_request(&request, step)).status
    }

    pub(super) fn register(&mut self, server: usize, instance: u32) {
        let record = (self.record)(instance);
        self.ask(server, Request::Register(record));
    }

    pub(super) fn renew(&mut self, server: usize, instance: u32) -> u16 {
        self.ask(server, Request::Renew { instance: InstanceId(instance), last_dirty: WallMs(100) })
    }

    pub(super) fn cancel(&mut self, server: usize, instance: u32) {
        assert_eq!(self.ask(server, Request::Cancel { instance: InstanceId(instance) }), 200);
    }

    /// What happens from now on to batches from one server to another.
    pub(super) fn link(&mut self, from: usize, to: usize, link: Link) {
        self.links[from][to] = link;
    }

    /// What happens to batches between `server` and all others, both ways.
    pub(super) fn links_of(&mut self, server: usize, link: Link) {
        for other in (0..self.nodes.len()).filter(|&other| other != server) {
            self.link(server, other, link);
            self.link(other, server, link);
        }
    }

    /// `instance` heartbeats its home every `every_ms` from `first_ms` on, and registers when it is told to.
    pub(super) fn beats(&mut self, instance: u32, home: usize, first_ms: i64, every_ms: i64) {
        let at = instance as usize;
        self.homes.resize(self.homes.len().max(at + 1), None);
        self.homes[at] = Some(home);
        self.schedule(first_ms, Event::Beat { instance, every_ms });
    }

    /// Runs all that is due up to and including `ms`, in order of time, then of scheduling.
    pub(super) fn run_to(&mut self, ms: i64) {
        loop {
            let next = self.events.iter().enumerate().min_by_key(|(_, event)| (event.0, event.1));
            let Some((at, _)) = next.filter(|(_, event)| event.0 <= ms) else { break };
            let (due_ms, _, event) = self.events.swap_remove(at);
            self.now_ms = self.now_ms.max(due_ms);
            self.happen(event);
        }
        self.now_ms = ms;
    }

    pub(super) fn knows(&self, server: usize, instance: u32) -> bool {
        self.nodes[server].server.lease(InstanceId(instance)).is_some()
    }

    /// When `server` evicted whom, ms.
    pub(super) fn evicted(&self, server: usize) -> Vec<(i64, u32)> {
        let evicted = |&(at, fact): &(i64, Fact)| match fact {
            Fact::LeaseEvicted { instance } => Some((at, instance.0)),
            _ => None,
        };
        self.nodes[server].facts.iter().filter_map(evicted).collect()
    }

    /// The minutes that `server` closed in a span: (when, renewals).
    pub(super) fn minutes(&self, server: usize, from_ms: i64, to_ms: i64) -> Vec<(i64, u32)> {
        let minute = |&(at, fact): &(i64, Fact)| match fact {
            Fact::RenewalsCounted { renewals } if (from_ms..to_ms).contains(&at) => Some((at, renewals)),
            _ => None,
        };
        self.nodes[server].facts.iter().filter_map(minute).collect()
    }

    /// When batches went from one server to another, and how many items each had.
    pub(super) fn batches(&self, from: usize, to: usize) -> Vec<(i64, usize)> {
        let sent = self.sent.iter().filter(|sent| (sent.1, sent.2) == (from, to));
        sent.map(|sent| (sent.0, sent.3.len())).collect()
    }

    /// The instances on which not all servers agree.
    pub(super) fn disputed(&self) -> BTreeSet<u32> {
        let instances = 0..self.homes.len() as u32;
        let disputed = |&instance: &u32| {
            let knows = |server| self.knows(server, instance);
            (1..self.nodes.len()).any(|server| knows(server) != knows(0))
        };
        instances.filter(disputed).collect()
    }

    fn schedule(&mut self, at_ms: i64, event: Event) {
        self.events.push((at_ms, self.scheduled, event));
        self.scheduled += 1;
    }

    fn take(&mut self, me: usize, out: Vec<ServerEffect>) {
        let at = |due| match due {
            Due::Wall(due) => due.since(START),
            Due::Mono(due) => due.as_millis() as i64,
        };
        for effect in out {
            match effect {
                ServerEffect::Fact(fact) => self.nodes[me].facts.push((self.now_ms, fact)),
                ServerEffect::SetTimer { timer, due, generation } => {
                    self.schedule(at(due), Event::Timer(me, timer, generation));
                }
                ServerEffect::SetPeerTimer { peer, due, generation } => {
                    self.schedule(at(due), Event::PeerTimer(me, peer, generation));
                }
                ServerEffect::Replicate { to, batch, items } => self.send(me, to.index(), batch, items),
                effect => panic!("Eureka does no such thing: {effect:?}"),
            }
        }
    }

    fn send(&mut self, from: usize, to: usize, batch: BatchId, items: Box<[Replicated]>) {
        self.sent.push((self.now_ms, from, to, items.to_vec()));
        let limit = |ms: u32| self.now_ms + i64::from(ms);
        let (at, ending) = match self.links[from][to] {
            link @ (Link::Open | Link::Deaf) => {
                let is_heard = link == Link::Open;
                let arrival = Event::Arrival { from, to, batch, items, is_heard };
                return self.schedule(self.now_ms + LATENCY_MS, arrival);
            }
            Link::Refusing => (self.now_ms + LATENCY_MS, Ending::Failed(Failure::Refused)),
            Link::BlackHole => {
                (limit(self.config.peer_node_connect_timeout_ms), Ending::Failed(Failure::ConnectTimeout))
            }
            Link::Answering(status) => (self.now_ms + LATENCY_MS, Ending::Refused(status)),
        };
        self.schedule(at, Event::End { from, to, batch, ending });
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Timer(server, timer, generation) => {
                let own = OwnRegistry::default();
                self.with(server, |server, step| server.on_timer(timer, generation, own, step));
            }
            Event::PeerTimer(server, peer, generation) => {
                self.with(server, |server, step| server.on_peer_timer(peer, generation, step));
            }
            Event::Arrival { from, to, batch, items, is_heard } => {
                let replies = self.with(to, |server, step| server.on_batch(&items, step));
                assert_eq!(replies.len(), items.len());
                let limit_ms = i64::from(self.config.peer_node_read_timeout_ms);
                let (after_ms, ending) = match is_heard {
                    true => (LATENCY_MS, Ending::Answered(replies)),
                    false => (limit_ms - LATENCY_MS, Ending::Failed(Failure::ReadTimeout)),
                };
                self.schedule(self.now_ms + after_ms, Event::End { from, to, batch, ending });
            }
            Event::End { from, to, batch, ending } => {
                let outcome = match &ending {
                    Ending::Answered(replies) => BatchOutcome::Answered(replies),
                    Ending::Refused(status) => BatchOutcome::Refused(*status),
                    Ending::Failed(failure) => BatchOutcome::Failed(*failure),
                };
                let peer = ServerId(to as u32);
                self.with(from, |server, step| server.on_batch_outcome(peer, batch, outcome, step));
            }
            Event::Beat { instance, every_ms } => {
                let Some(home) = self.homes[instance as usize] else { return };
                if self.renew(home, instance) == 404 {
                    self.register(home, instance);
                }
                self.schedule(self.now_ms + every_ms, Event::Beat { instance, every_ms });
            }
        }
    }
}
