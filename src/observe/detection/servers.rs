//! The servers' side of detection: what each stage of each server makes of every watch.
//!
//! Where there are several servers, one that is down at an event does not tell of it, and one that ends before it
//! could tell is no observation, as with observers. One that comes to show an instance after its end, since a peer
//! told it so late, is watched from then on. A lone server is watched all the time.

use super::Transition;
use crate::engine::SimTime;
use crate::model::id::ServerId;
use crate::model::stage::Stage;
use crate::model::view::View;
use crate::observe::layout::Layout;
use crate::observe::servers::{Servers, number_of};

/// What a server's stage saw of one watched instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingObservation {
    /// Nothing that counts yet: not shown since the event.
    None,
    /// An end is not seen yet, or a registration not yet.
    Open,
    /// Seen, at this time.
    Closed(SimTime),
    /// The instance came back first, at this time.
    Superseded(SimTime),
}

/// What all servers saw.
#[derive(Clone)]
pub(super) struct ServerObservations {
    layout: Layout,
    /// By watch, server and stage.
    observations: Vec<PendingObservation>,
    /// The first watch that each server can tell of: it has been up since.
    from: Vec<u32>,
    /// How many are open.
    open: u64,
}

impl ServerObservations {
    /// Nothing is watched yet.
    pub(super) fn new(layout: Layout) -> Self {
        Self { layout, observations: Vec::new(), from: vec![0; layout.servers], open: 0 }
    }

    /// One more watch.
    pub(super) fn watch(&mut self, servers: &Servers, is_open: impl Fn(View) -> bool) {
        for shown in servers.asked() {
            for stage in 0..self.stages() {
                let open = shown.is_some_and(|views| is_open(views[stage]));
                self.open += u64::from(open);
                self.observations.push(if open {
                    PendingObservation::Open
                } else {
                    PendingObservation::None
                });
            }
        }
    }

    /// What servers saw of a watch.
    pub(super) fn of(&self, item: u32) -> impl Iterator<Item = (ServerId, Stage, PendingObservation)> + '_ {
        let servers = (0..self.from.len() as u32).map(ServerId);
        let stages = self.layout.of_server;
        let slots = servers.flat_map(|server| stages.iter().map(move |&stage| (server, stage)));
        let first = self.place(item, 0, 0);
        slots
            .zip(&self.observations[first..])
            .map(|((server, stage), &observation)| (server, stage, observation))
    }

    /// A server's stage shows the watched instance, or ceases to.
    pub(super) fn turn(
        &mut self,
        item: u32,
        (server, stage): (ServerId, Stage),
        turn: Transition,
        now: SimTime,
    ) {
        if item < self.from[server.index()] {
            return;
        }
        let place = self.place(item, server.index(), number_of(stage));
        let observation = &mut self.observations[place];
        match (turn, *observation) {
            (Transition::Close, PendingObservation::Open) => {
                *observation = PendingObservation::Closed(now);
                self.open -= 1;
            }
            (Transition::Reopen, PendingObservation::Closed(_) | PendingObservation::None) => {
                *observation = PendingObservation::Open;
                self.open += 1;
            }
            _ => {}
        }
    }

    /// Nothing of a watch changes any more.
    pub(super) fn freeze(&mut self, item: u32, superseded: Option<SimTime>) {
        let first = self.place(item, 0, 0);
        let slots = first..first + self.stages() * self.layout.servers;
        for observation in self.observations[slots]
            .iter_mut()
            .filter(|observation| **observation == PendingObservation::Open)
        {
            *observation = superseded.map_or(PendingObservation::None, PendingObservation::Superseded);
            self.open -= 1;
        }
    }

    /// A server has started, or has ended: of what happened up to now it tells nothing more.
    pub(super) fn begin_anew(&mut self, server: ServerId) {
        if self.layout.servers == 1 {
            return;
        }
        let watches = (self.observations.len() / (self.stages() * self.layout.servers)) as u32;
        for item in self.from[server.index()]..watches {
            for stage in 0..self.stages() {
                let place = self.place(item, server.index(), stage);
                let observation = &mut self.observations[place];
                if *observation == PendingObservation::Open {
                    *observation = PendingObservation::None;
                    self.open -= 1;
                }
            }
        }
        self.from[server.index()] = watches;
    }

    /// How many are open.
    pub(super) fn open(&self) -> u64 {
        self.open
    }

    fn place(&self, item: u32, server: usize, stage: usize) -> usize {
        (item as usize * self.layout.servers + server) * self.stages() + stage
    }

    /// How many stages each server has.
    fn stages(&self) -> usize {
        self.layout.of_server.len()
    }
}
