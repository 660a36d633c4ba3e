//! The processes of a world: what each is, whether it runs, and what waits for it while it stands still.

use std::sync::Arc;

use super::event::Event;
use crate::engine::{Chance, SimTime};
use crate::model::client::Client;
use crate::model::eureka::{EurekaServer, ServerConfig};
use crate::model::id::{AppId, InstanceId};

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
#[derive(Default)]
pub(super) struct Waiting {
    /// Flights: answers for a client, requests for a server.
    pub(super) arrivals: Vec<u32>,
    /// Timers that came due, in order.
    pub(super) timers: Vec<Event>,
}

/// A registered identity. Its name is made when somebody asks: there may be a million, and few are ever named.
#[derive(Clone, Copy)]
pub(super) struct Identity {
    /// The application; the server's own client has the number after the last.
    pub(super) app: AppId,
    /// The process, from 1 within the application.
    pub(super) ordinal: u32,
    /// Which of the process's identities, from 1.
    pub(super) number: u32,
}

/// A process with a registry client.
pub(super) struct ClientNode {
    pub(super) client: Client,
    pub(super) chance: Chance,
    /// Its application; the server's own client has the number after the last.
    pub(super) app: AppId,
    /// From 1, within the application.
    pub(super) ordinal: u32,
    /// The identity that it registers under now.
    pub(super) instance: InstanceId,
    /// How many it has had, this one included.
    pub(super) identities: u32,
    pub(super) state: State,
    /// It was asked to stop and has not yet.
    pub(super) stopping: bool,
    /// How many partitions lose what it sends.
    pub(super) lost_to_server: u32,
    /// How many partitions lose what is sent to it.
    pub(super) lost_from_server: u32,
    /// The share of calls to it that fail although it runs, 0 to 1.
    pub(super) calls_fail: f64,
    /// It came by a fault: its registration is watched.
    pub(super) newcomer: bool,
    pub(super) waiting: Option<Box<Waiting>>,
}

/// The registry server's process.
pub(super) struct ServerNode {
    /// Its present life; `None` before the first and while the process is down.
    pub(super) server: Option<EurekaServer>,
    /// With which generation of timers the next life begins.
    pub(super) next_generation: u16,
    pub(super) config: Arc<ServerConfig>,
    pub(super) chance: Chance,
    pub(super) state: State,
    pub(super) waiting: Waiting,
}
