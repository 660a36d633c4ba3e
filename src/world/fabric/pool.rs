//! Connections between servers that wait for the next exchange.
//!
//! A server keeps the connections that worked and uses the youngest again. The others are closed after 30 s. A process
//! that ends takes its connections with it. What a client keeps open is its transport's own business: whether a call
//! has a connection to go over it says itself.

use crate::engine::{SimDuration, SimTime};
use crate::model::id::ServerId;

/// A pooled connection is closed after so long without use (`eureka-peers.md` section 9).
const IDLE_LIMIT: SimDuration = SimDuration::from_secs(30);

/// A connection that stands and that nobody uses.
#[derive(Clone, Copy, Debug)]
struct Connection {
    idle_since: SimTime,
}

impl Connection {
    fn is_open(self, now: SimTime) -> bool {
        now.since(self.idle_since) < IDLE_LIMIT
    }
}

/// The connections that wait.
#[derive(Clone)]
pub(in crate::world) struct Pools {
    servers: usize,
    /// From one server to another; the youngest last.
    pools: Vec<Vec<Connection>>,
}

impl Pools {
    /// None yet, between so many servers.
    pub(super) fn new(servers: usize) -> Self {
        Self { servers, pools: vec![Vec::new(); servers * servers] }
    }

    fn pool(&mut self, from: ServerId, to: ServerId) -> &mut Vec<Connection> {
        &mut self.pools[from.index() * self.servers + to.index()]
    }

    /// Takes out the youngest connection that is still open; whether there was one.
    pub(in crate::world) fn take(&mut self, from: ServerId, to: ServerId, now: SimTime) -> bool {
        let pool = self.pool(from, to);
        pool.retain(|connection| connection.is_open(now));
        pool.pop().is_some()
    }

    /// A connection has done its work, and waits for more.
    pub(in crate::world) fn put(&mut self, from: ServerId, to: ServerId, now: SimTime) {
        self.pool(from, to).push(Connection { idle_since: now });
    }

    /// A server's process has ended: connections to it are reset, its own are gone.
    pub(in crate::world) fn reset(&mut self, server: ServerId) {
        for other in (0..self.servers as u32).map(ServerId) {
            self.pool(server, other).clear();
            self.pool(other, server).clear();
        }
    }
}
