//! The processes of a world: what each is, whether it runs, and what waits for it while it stands still.

use std::sync::Arc;

use super::clock::Skew;
use super::event::Event;
use super::fabric::Held;
use super::work::Threads;
use crate::engine::{Distribution, Purpose, Seed, SimDuration, SimTime, Streams};
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::{Request, Status};
use crate::model::registry::{Client, Saved, Server, ServerConfig};

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing: not started yet, crashed or stopped.
    Down,
    /// It runs; a stopping process still does.
    Running,
    /// It stands still (garbage collection, SIGSTOP); its kernel goes on.
    Paused {
        /// From then.
        since: SimTime,
        /// Until then: the end of an earlier pause, which a crash cut short, does not wake it.
        until: SimTime,
    },
}

/// What came for a paused process: on resume first what had arrived, then the timers that are due.
#[derive(Clone, Default)]
pub(super) struct Waiting {
    /// What arrived, as the event that brought it: answers for a client, requests, batches and answers to batches for
    /// a server.
    pub(super) arrivals: Vec<Event>,
    /// Timers that came due, in order.
    pub(super) timers: Vec<Event>,
    /// The status that the application is to set.
    pub(super) status: Option<Status>,
    /// Whether it is to stop in order.
    pub(super) stop: bool,
    /// Connections to a server that its kernel has made and that wait to be accepted.
    pub(super) connections: u32,
    /// What it made none for any more, since too many wait already.
    pub(super) refused_connections: Vec<Held>,
}

/// Connections that wait to be accepted at most: Tomcat's `accept-count` (`eureka-client.md` 6.6). Two recorded servers
/// that hung for 200 and for 420 s both went on with 83 batches, and not with all that had been tried.
pub(super) const ACCEPT_COUNT: u32 = 100;

impl Waiting {
    /// Whether the kernel makes one more connection, which then waits.
    pub(super) fn connects(&mut self) -> bool {
        let is_made = self.connections < ACCEPT_COUNT;
        self.connections += u32::from(is_made);
        is_made
    }
}

/// What is wrong with a node or its clock. It is rare, and lives in a box that is usually
/// not there.
#[derive(Clone, Default)]
pub(super) struct NodeFaults {
    pub(super) skew: Skew,
    /// Faults that make calls to it fail, and the share of each.
    pub(super) failing: Vec<(u32, f64)>,
    pub(super) slow: Vec<Slow>,
    /// How many faults fill its disk.
    pub(super) disk_full: u32,
}

/// What makes a node's heartbeats leave late.
#[derive(Clone)]
pub(super) struct Slow {
    pub(super) fault: u32,
    pub(super) delay: Distribution,
    pub(super) streams: Streams,
}

/// No server: what a client asks that was not answered yet.
pub(super) const NO_SERVER: ServerId = ServerId(u32::MAX);

/// The draws of how late a heartbeat leaves.
const DELAY: Purpose = Purpose(0);

/// A registered identity. Its name is made when somebody asks: there may be a million, and few are ever named.
#[derive(Clone, Copy)]
pub(super) struct Identity {
    /// The application; servers' own clients have the number after the last.
    pub(super) app: AppId,
    /// The process, from 1 within the application.
    pub(super) ordinal: u32,
    /// Which of the process's identities, from 1.
    pub(super) number: u32,
}

/// A process with a registry client.
#[derive(Clone)]
pub(super) struct ClientNode {
    pub(super) client: Client,
    pub(super) streams: Streams,
    /// Its application; servers' own clients have the number after the last.
    pub(super) app: AppId,
    /// From 1, within the application.
    pub(super) ordinal: u32,
    /// The identity that it registers under now.
    pub(super) instance: InstanceId,
    /// How many it has had, this one included.
    pub(super) identities: u32,
    pub(super) state: State,
    /// The server that answered its last fetch.
    pub(super) asks: ServerId,
    /// It was asked to stop and has not yet.
    pub(super) stopping: bool,
    /// It has stopped as far as its client goes, and only answers calls any more. Still [`Self::stopping`].
    pub(super) lingers: bool,
    /// The share of calls to it that fail although it runs, 0 to 1.
    pub(super) calls_fail: f64,
    /// It came by a fault: its registration is watched.
    pub(super) newcomer: bool,
    pub(super) waiting: Option<Box<Waiting>>,
    pub(super) node_faults: Option<Box<NodeFaults>>,
}

impl ClientNode {
    /// What is wrong with it, to change.
    pub(super) fn node_faults(&mut self) -> &mut NodeFaults {
        self.node_faults.get_or_insert_default()
    }

    /// Whether it runs and has not been told to stop.
    pub(super) fn is_in_service(&self) -> bool {
        self.state == State::Running && !self.stopping
    }

    /// Whether its heartbeats leave late.
    #[inline]
    pub(super) fn is_slow(&self) -> bool {
        self.node_faults.as_ref().is_some_and(|node_faults| !node_faults.slow.is_empty())
    }

    /// Draws how late its next heartbeat leaves.
    pub(super) fn heartbeat_delay(&mut self, seed: &Seed) -> SimDuration {
        let slow = self.node_faults.iter_mut().flat_map(|node_faults| &mut node_faults.slow);
        slow.fold(SimDuration::ZERO, |sum, slow| {
            sum.saturating_add(slow.delay.sample(&mut slow.streams.with(seed), DELAY))
        })
    }

    /// From now on `fault` makes this share of the calls to it fail, besides what others do.
    pub(super) fn begin_failing(&mut self, fault: u32, share: f64) {
        self.node_faults().failing.push((fault, share));
        self.sum_up_failing();
    }

    /// `fault` makes its calls fail no longer.
    pub(super) fn end_failing(&mut self, fault: u32) {
        self.node_faults().failing.retain(|&(by, _)| by != fault);
        self.sum_up_failing();
    }

    /// Whether `fault` still makes calls to it fail: not if that was another process.
    pub(super) fn is_failing_by(&self, fault: u32) -> bool {
        self.node_faults
            .as_ref()
            .is_some_and(|node_faults| node_faults.failing.iter().any(|&(by, _)| by == fault))
    }

    /// A call is answered if no fault makes it fail.
    fn sum_up_failing(&mut self) {
        let answered =
            self.node_faults().failing.iter().fold(1.0, |answered, &(_, share)| answered * (1.0 - share));
        self.calls_fail = 1.0 - answered;
    }

    /// The process ends, and with it what is wrong with a process: a new one answers calls and beats in time. Links
    /// and clocks are its host's.
    pub(super) fn clear_process_faults(&mut self) {
        if let Some(node_faults) = &mut self.node_faults {
            node_faults.failing.clear();
            node_faults.slow.clear();
        }
        self.calls_fail = 0.0;
    }
}

impl ServerNode {
    /// Whether it holds a lease whose status an operator has overridden.
    pub(super) fn overrides(&self, instance: InstanceId) -> bool {
        self.server.as_ref().is_some_and(|server| server.overrides(instance))
    }
}

/// A registry server's process.
#[derive(Clone)]
pub(super) struct ServerNode {
    /// Its present life; `None` before the first, while the process is down, and while it boots.
    pub(super) server: Option<Server>,
    /// Its own client is still at its constructor.
    pub(super) boots: bool,
    /// With which generation of timers the present life, or the next one, begins.
    pub(super) generation: u16,
    /// What the life before has left on disk.
    pub(super) saved: Option<Saved>,
    /// How often its process has ended: what an earlier process had under way is nobody's.
    pub(super) ended: u32,
    pub(super) config: ServerConfig,
    pub(super) peers: Arc<[ServerId]>,
    /// Its own client, made when first needed.
    pub(super) own_client: Option<ClientId>,
    pub(super) streams: Streams,
    pub(super) state: State,
    /// Its threads, if they are counted.
    pub(super) threads: Option<Threads>,
    pub(super) waiting: Waiting,
    /// What an operator wants of it while it stands still.
    pub(super) operator_calls: Vec<Request>,
    /// How far its wall clock is off; its own client's is off alike.
    pub(super) skew: Skew,
}
