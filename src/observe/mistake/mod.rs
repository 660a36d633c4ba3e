//! Mistakes: instances that are alive and well and not shown any more, and how long that lasts (T_M).
//!
//! ```text
//!   wellness   who is well, and for how long that was to be known       ─┐
//!   turned     whom a change of view ceases to show, or shows again     ─┼─►  server      each server's own two stages
//!                                                                        └─►  suspicion   every observer's two
//!                                       rows: what has ended, and how often  ◄──┘
//! ```
//!
//! A mistake begins when a stage ceases to show an instance that is well. It is *corrected* when the stage shows the
//! instance again. It also ends with the observer, with the run, and when the instance is not well any more: who
//! says that it is gone is right from then on.

mod quality;
mod rows;
mod server;
mod suspicion;
mod turned;
mod wellness;

use super::data::{Mistake, Quality, Removal};
use super::observers::Observers;
use crate::engine::SimTime;
use crate::model::fact::Fact;
use crate::model::id::{InstanceId, ServerId};
use crate::model::message::Status;
use crate::model::stage::Stage;
use crate::model::view::{View, Views};
use rows::MistakeRows;
use server::ServerMistakes;
use suspicion::Suspicions;
use wellness::{Turned, Wellness, Word};

/// The mistakes of all servers and of all observers.
pub(super) struct Mistakes {
    wellness: Wellness,
    servers: Vec<ServerMistakes>,
    suspicions: Suspicions,
    rows: MistakeRows,
}

impl Mistakes {
    /// None yet, at so many servers.
    pub(super) fn new(servers: usize) -> Self {
        Self {
            wellness: Wellness::new(servers),
            servers: (0..servers as u32).map(|server| ServerMistakes::new(ServerId(server))).collect(),
            suspicions: Suspicions::default(),
            rows: MistakeRows::default(),
        }
    }

    /// A process starts under this identity. It is not registered yet.
    pub(super) fn process_started(&mut self, instance: InstanceId, now: SimTime, observers: &Observers) {
        let turned = self.wellness.process_started(instance, now);
        self.follow(turned, instance, now, observers);
    }

    /// A process has ended.
    pub(super) fn process_ended(&mut self, instance: InstanceId, now: SimTime, observers: &Observers) {
        let turned = self.wellness.change(instance, now, |condition| condition.alive = false);
        self.follow(turned, instance, now, observers);
    }

    /// A process is asked to stop.
    pub(super) fn stopping(&mut self, instance: InstanceId, now: SimTime, observers: &Observers) {
        let turned = self.wellness.change(instance, now, |condition| condition.stopping = true);
        self.follow(turned, instance, now, observers);
    }

    /// An instance is unhealthy or out of service, or no longer so.
    pub(super) fn set_unwell(
        &mut self,
        instance: InstanceId,
        unwell: bool,
        now: SimTime,
        observers: &Observers,
    ) {
        let turned = self.wellness.change(instance, now, |condition| condition.unwell = unwell);
        self.follow(turned, instance, now, observers);
    }

    /// A server reports a fact: what it says of an instance itself, not what it shows.
    pub(super) fn server_fact(&mut self, server: ServerId, fact: Fact, now: SimTime, observers: &Observers) {
        let wellness = &mut self.wellness;
        let (instance, turned) = match fact {
            Fact::LeaseRegistered { instance, status, .. } => {
                (instance, wellness.registered(instance, server, status == Status::Up, now))
            }
            Fact::StatusChanged { instance, status } => {
                let word = if status == Status::Up { Word::Up } else { Word::NotUp };
                (instance, wellness.told(instance, server, word, now))
            }
            Fact::LeaseCancelled { instance } => {
                (instance, wellness.told(instance, server, Word::Cancelled, now))
            }
            _ => return,
        };
        self.follow(turned, instance, now, observers);
    }

    fn follow(&mut self, turned: Turned, instance: InstanceId, now: SimTime, observers: &Observers) {
        match turned {
            Turned::Not => {}
            Turned::Well => self.suspicions.well(),
            Turned::Unwell => {
                for server in &mut self.servers {
                    server.not_well(instance, now, &mut self.rows);
                }
                self.suspicions.not_well(instance, now, observers, &mut self.rows);
            }
        }
    }

    /// A server's registry or its answers changed; `removal` says what takes away whoever is gone.
    pub(super) fn server_changed(
        &mut self,
        (server, stage): (ServerId, Stage),
        change: (View, View),
        removal: Removal,
        now: SimTime,
        views: &Views,
    ) {
        let known = (&self.wellness, views);
        self.servers[server.index()].changed(stage as usize, change, removal, now, known, &mut self.rows);
    }

    /// An observer comes up as `instance`, whose process has started.
    pub(super) fn observer_started(&mut self, place: u32, instance: InstanceId, now: SimTime) {
        self.wellness.observer_started(place, instance, now);
        self.suspicions.observer_started(place);
    }

    /// An observer goes down, after its process has ended.
    pub(super) fn observer_gone(&mut self, place: u32, now: SimTime, observers: &Observers) {
        self.suspicions.observer_gone(place, now, observers, &mut self.rows);
        self.wellness.observer_gone(place, now);
    }

    /// An observer's local registry (stage 0) or balancer list (1) changed.
    pub(super) fn observer_changed(
        &mut self,
        slot: (u32, usize),
        change: (View, View),
        now: SimTime,
        observers: &Observers,
        views: &Views,
    ) {
        let known = (&self.wellness, observers, views);
        self.suspicions.observer_changed(slot, change, now, known, &mut self.rows);
    }

    /// Mistakes that last.
    pub(super) fn open(&self) -> u64 {
        self.servers.iter().map(|server| server.open() as u64).sum::<u64>() + self.suspicions.open()
    }

    /// Forgets what it worked out about views that may be thrown away.
    pub(super) fn forget_views(&mut self) {
        self.suspicions.forget_views();
    }

    /// All mistakes, by time and instance; whether they are folded; and how well everybody told who is alive.
    pub(super) fn finish(
        mut self,
        now: SimTime,
        observers: &Observers,
    ) -> (Vec<Mistake>, bool, Vec<Quality>) {
        for (place, _) in observers.up() {
            self.suspicions.observer_gone(place, now, observers, &mut self.rows);
        }
        for instance in self.wellness.all_well().collect::<Vec<_>>() {
            self.process_ended(instance, now, observers);
        }
        for (place, _) in observers.up() {
            self.wellness.observer_gone(place, now);
        }
        let quality = quality::rows(&self.wellness, &self.servers, &self.suspicions, observers);
        let (rows, folded) = self.rows.finish();
        (rows, folded, quality)
    }
}
