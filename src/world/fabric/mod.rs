//! The fabric: hosts, the links between them, and everything that is exchanged over these. It knows neither what an
//! exchange carries nor who waits for it, has no clock and schedules nothing. It is told the time, lent streams of
//! chance, and answers with a verdict; what that means for processes and the queue is the world's to say
//! (`world/traffic.rs`).
//!
//! ```text
//!   exchange ── leaves ──► link ──► verdict: passes │ lost │ swallowed
//!      ▲                                       │         │        │
//!      │                            network: latency     └───┬────┘
//!      │                                       ▼             ▼
//!   world ◄──────────────────────────── Passage::Arrives   Passage::Stalls: somebody's limit will end it,
//!                                                          or the link goes on and it is sent again
//! ```
//!
//! A verdict falls when a message is sent: what is under way arrives. What is sent over a link is charged in a fixed
//! order: cut or not, lost or not, how much later by faults; then, for a connection that is still to be made, whether
//! the way back is cut, how long the network takes, and whether there and back is too far.

mod exchange;
mod link;
mod network;
mod pool;
mod slab;
mod tcp;
#[cfg(test)]
mod tests;

pub use exchange::ExchangeId;
pub(super) use exchange::{Answer, Exchange, Held, Hold, Host, Kind, Route};
pub(super) use link::{Degradation, Link, Links, MessageDirection};
pub(super) use network::{Networks, Transit};
pub(super) use pool::Pools;
pub(super) use slab::Slab;

use link::Verdict;
use tcp::Swallowed;

use crate::engine::{Purpose, Seed, SimDuration, SimTime, Streams};
use crate::model::effect::Silence;
use crate::model::id::AppId;

/// All that is exchanged, and over what.
#[derive(Clone)]
pub(super) struct Fabric {
    /// By kind.
    exchanges: [Slab<Exchange>; 2],
    pub(super) links: Links,
    pub(super) pools: Pools,
    networks: Networks,
}

/// What carries a message, and whose streams say how long that takes.
pub(super) struct Carrier<'c> {
    /// The application of the host's client, whose network it is.
    pub(super) app: AppId,
    /// That client's streams. `None`: the message goes over the network between servers, and the link's own streams say
    /// how long it takes.
    pub(super) streams: Option<&'c mut Streams>,
    /// Which of the client's streams is that of latencies.
    pub(super) latency: Purpose,
    pub(super) seed: &'c Seed,
    /// What the client's host is called: the link's streams are named after it.
    pub(super) host: &'c dyn Fn() -> String,
}

/// What becomes of an exchange whose next message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// It arrives.
    Arrives(Transit),
    /// It does not, as far as anybody knows. Its sender meets this silence until its limit.
    Stalls(Silence),
    /// It does not, and nobody waits any more: the exchange is over.
    Over,
}

impl Fabric {
    /// A fabric with nothing on its way, and links with which nothing is wrong.
    pub(super) fn new(servers: usize, networks: Networks) -> Self {
        let (links, pools) = (Links::new(servers), Pools::new(servers));
        Self { exchanges: Default::default(), links, pools, networks }
    }

    /// An exchange begins. What it carries is the world's to keep.
    pub(super) fn begin(&mut self, kind: Kind, exchange: Exchange) -> ExchangeId {
        ExchangeId::new(kind, self.exchanges[kind as usize].insert(exchange))
    }

    /// How an exchange stands.
    #[inline]
    pub(super) fn exchange(&self, id: ExchangeId) -> &Exchange {
        self.exchanges[id.kind() as usize].get(id.place())
    }

    /// The same, to change.
    #[inline]
    pub(super) fn exchange_mut(&mut self, id: ExchangeId) -> &mut Exchange {
        self.exchanges[id.kind() as usize].get_mut(id.place())
    }

    /// The exchange is over. How it stood last.
    pub(super) fn remove(&mut self, id: ExchangeId) -> Exchange {
        self.exchanges[id.kind() as usize].remove(id.place())
    }

    /// To find out later whether it is still the same.
    pub(super) fn hold(&self, id: ExchangeId) -> Held {
        Held { id, generation: self.exchanges[id.kind() as usize].generation(id.place()) }
    }

    /// Whether it still is, and not over.
    pub(super) fn is_current(&self, held: Held) -> bool {
        self.exchanges[held.id.kind() as usize].is_current(held.id.place(), held.generation)
    }

    /// The next message of an exchange is sent: the request, or the answer once there is one. `connects_within`: the
    /// longest way there and back for which a connection is made; `None`: any.
    #[inline]
    pub(super) fn leaves(
        &mut self,
        id: ExchangeId,
        connects_within: Option<SimDuration>,
        now: SimTime,
        carrier: &mut Carrier<'_>,
    ) -> Passage {
        let &Exchange { route, connects, .. } = self.exchange(id);
        let way = self.exchange(id).way();
        let is_handshake = connects && way == MessageDirection::ToServer;
        match self.verdict(route, way, carrier) {
            // Making a connection needs both ways.
            Verdict::Passes { .. }
                if is_handshake && self.is_cut(route, MessageDirection::FromServer, carrier.app) =>
            {
                self.swallow(id, now)
            }
            Verdict::Passes { later } => {
                let transit = self.transit(route, way, later, carrier);
                if is_handshake && connects_within.is_some_and(|limit| transit.delay * 2 > limit) {
                    self.exchange_mut(id).becomes(Hold::Stuck);
                    return Passage::Stalls(Silence::BlackHole);
                }
                Passage::Arrives(transit)
            }
            Verdict::Lost | Verdict::Swallowed if self.exchange(id).is_given_up() => {
                self.remove(id);
                Passage::Over
            }
            Verdict::Lost => {
                self.exchange_mut(id).becomes(Hold::Stuck);
                Passage::Stalls(Silence::Paused)
            }
            Verdict::Swallowed => self.swallow(id, now),
        }
    }

    /// A message leaves that was held back, or that a partition had. The wait for an answer begins anew with a request
    /// that goes out for the first time, or whose connection is made only now.
    pub(super) fn wait_anew(&mut self, id: ExchangeId, app: AppId, now: SimTime) {
        let exchange = *self.exchange(id);
        let is_free = || self.is_free(&exchange, app);
        let is_first = !exchange.is_sent_again(now);
        if exchange.answer == Answer::None && (is_first || exchange.connects && is_free()) {
            self.exchange_mut(id).wait_anew(now);
        }
    }

    /// Too many connections wait at the server's host: this one is not made. To be sent again when they are fewer.
    pub(super) fn refuse_connection(&mut self, id: ExchangeId) -> Held {
        self.exchange_mut(id).refuse_connection();
        self.hold(id)
    }

    /// The sender waits no longer. Whoever still holds the exchange finds that it is not needed.
    pub(super) fn give_up(&mut self, id: ExchangeId) {
        if self.exchange(id).hold == Hold::UnderWay {
            self.exchange_mut(id).hold = Hold::GivenUp;
        } else {
            self.remove(id);
        }
    }

    /// The server will never see the request: its sender's limit ends it.
    pub(super) fn forget(&mut self, id: ExchangeId) {
        if self.exchange(id).is_given_up() {
            self.remove(id);
        } else {
            self.exchange_mut(id).becomes(Hold::Stuck);
        }
    }

    /// What a partition has swallowed between a host and a server, of which something is over: to be sent again.
    pub(super) fn take_swallowed(&mut self, route: Route) -> Vec<Held> {
        std::mem::take(&mut self.links.get_mut(route).swallowed)
    }

    /// When something that was swallowed, or turned away, is sent again, if the way is free and its sender's kernel
    /// still tries.
    pub(super) fn sent_again(&mut self, held: Held, app: AppId, now: SimTime) -> Option<SimTime> {
        if !self.is_current(held) {
            return None;
        }
        let exchange = *self.exchange(held.id);
        if !self.is_free(&exchange, app) {
            self.note_swallowed(held);
            return None;
        }
        let what = if exchange.connects { Swallowed::Syn } else { Swallowed::Data };
        let at = what.sent_again(exchange.swallowed_at, now)?;
        self.exchange_mut(held.id).becomes(Hold::UnderWay);
        Some(at)
    }

    /// Whether the next message of an exchange can pass: a connection that is still to be made needs both ways, a
    /// request or an answer its own.
    fn is_free(&self, exchange: &Exchange, app: AppId) -> bool {
        let mut needed =
            MessageDirection::BOTH.into_iter().filter(|&way| exchange.connects || way == exchange.way());
        needed.all(|way| !self.is_cut(exchange.route, way, app))
    }

    /// A message that belongs to no exchange is sent: how long it takes, if it arrives.
    pub(super) fn passes(
        &mut self,
        route: Route,
        way: MessageDirection,
        carrier: &mut Carrier<'_>,
    ) -> Option<Transit> {
        match self.verdict(route, way, carrier) {
            Verdict::Passes { later } => Some(self.transit(route, way, later, carrier)),
            Verdict::Lost | Verdict::Swallowed => None,
        }
    }

    /// Whether nothing passes between a host and a server that way. `app` is the application of the host's client.
    pub(super) fn is_cut(&self, route: Route, way: MessageDirection, app: AppId) -> bool {
        self.loss(route, app) >= 1.0 || self.links.get(route).is_some_and(|link| link.is_cut(way))
    }

    /// The probability that a message is lost on a link with which nothing is wrong.
    #[inline]
    fn loss(&self, Route { from, to }: Route, app: AppId) -> f64 {
        match from {
            Host::Client(_) => self.networks.get(app).network.loss,
            // Nothing gets lost within a host.
            Host::Server(server) if server == to => 0.0,
            Host::Server(_) => self.networks.between_servers.loss,
        }
    }

    #[inline]
    fn verdict(&mut self, route: Route, way: MessageDirection, carrier: &Carrier<'_>) -> Verdict {
        let loss = self.loss(route, carrier.app);
        if loss == 0.0 && self.links.get(route).is_none_or(Link::is_fine) {
            return Verdict::Passes { later: SimDuration::ZERO };
        }
        let label = || label(route, carrier.host);
        self.links.get_mut(route).verdict(way, loss, label, carrier.seed)
    }

    /// How long a message is on its way that passes, and that faults make `later`.
    #[inline]
    fn transit(
        &mut self,
        route: Route,
        way: MessageDirection,
        later: SimDuration,
        carrier: &mut Carrier<'_>,
    ) -> Transit {
        let Some(streams) = &mut carrier.streams else {
            let latency = self.networks.between_servers.latency;
            let label = || label(route, carrier.host);
            let delay = self.links.get_mut(route).latency(latency, way, label, carrier.seed);
            return Transit { delay: delay.saturating_add(later), lane: None };
        };
        let base = self.networks.get(carrier.app);
        let drawn = link::draw(base.network.latency, &mut streams.with(carrier.seed), carrier.latency);
        Transit { delay: drawn.saturating_add(later), lane: base.lane.filter(|_| later.is_zero()) }
    }

    /// A partition has the next message: the sender waits for a connection that is not made, or to read.
    fn swallow(&mut self, id: ExchangeId, now: SimTime) -> Passage {
        self.exchange_mut(id).swallow(now);
        self.note_swallowed(self.hold(id));
        Passage::Stalls(self.exchange(id).silence())
    }

    /// The end of what has swallowed it will be felt.
    fn note_swallowed(&mut self, held: Held) {
        let route = self.exchange(held.id).route;
        let mut swallowed = self.take_swallowed(route);
        swallowed.retain(|&held| self.is_current(held));
        swallowed.push(held);
        self.links.get_mut(route).swallowed = swallowed;
    }
}

/// What the streams of a link are named after: the first server is not named, where a client calls it.
fn label(Route { from, to }: Route, client_host: &dyn Fn() -> String) -> String {
    match (from, to.0) {
        (Host::Client(_), 0) => format!("link/{}", client_host()),
        (Host::Client(_), to) => format!("link/{}/server/{}", client_host(), to + 1),
        (Host::Server(from), to) => format!("link/server/{}/server/{}", from.0 + 1, to + 1),
    }
}
