//! Mistakes: instances that are alive and well and not shown any more, and how long that lasts (T_M).
//!
//! ```text
//!   wellness   who is well, and for how long that was to be known       ─┐
//!   turned     whom a change of view ceases to show, or shows again     ─┼─►  server      its own two stages
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
use crate::model::id::InstanceId;
use crate::model::message::Status;
use crate::model::view::{View, Views};
use rows::MistakeRows;
use server::ServerMistakes;
use suspicion::Suspicions;
use wellness::{Condition, Turned, Wellness};

/// The mistakes of the server and of all observers.
#[derive(Default)]
pub(super) struct Mistakes {
    wellness: Wellness,
    server: ServerMistakes,
    suspicions: Suspicions,
    rows: MistakeRows,
}

impl Mistakes {
    /// A process starts under this identity. It is not registered yet.
    pub(super) fn process_started(&mut self, instance: InstanceId, now: SimTime, observers: &Observers) {
        self.change(instance, now, observers, |condition| {
            (condition.alive, condition.registered, condition.stopping) = (true, false, false);
            (condition.unwell, condition.cancelled) = (false, false);
        });
    }

    /// A process has ended.
    pub(super) fn process_ended(&mut self, instance: InstanceId, now: SimTime, observers: &Observers) {
        self.change(instance, now, observers, |condition| condition.alive = false);
    }

    /// A process is asked to stop.
    pub(super) fn stopping(&mut self, instance: InstanceId, now: SimTime, observers: &Observers) {
        self.change(instance, now, observers, |condition| condition.stopping = true);
    }

    /// An instance is unhealthy or out of service, or no longer so.
    pub(super) fn set_unwell(
        &mut self,
        instance: InstanceId,
        unwell: bool,
        now: SimTime,
        observers: &Observers,
    ) {
        self.change(instance, now, observers, |condition| condition.unwell = unwell);
    }

    /// The server reports a fact: what it says of an instance itself, not what it shows.
    pub(super) fn server_fact(&mut self, fact: Fact, now: SimTime, observers: &Observers) {
        match fact {
            Fact::LeaseRegistered { instance, status, .. } => {
                self.change(instance, now, observers, |condition| {
                    condition.registered = status == Status::Up;
                    // Who was taken out by a cancellation alone is back.
                    condition.unwell &= !(condition.registered && condition.cancelled);
                    condition.cancelled = false;
                });
            }
            Fact::StatusChanged { instance, status } => {
                self.change(instance, now, observers, |condition| {
                    condition.registered = status == Status::Up
                });
            }
            Fact::LeaseCancelled { instance } => {
                self.change(instance, now, observers, |condition| {
                    (condition.registered, condition.cancelled) = (false, true);
                });
            }
            _ => {}
        }
    }

    fn change(
        &mut self,
        instance: InstanceId,
        now: SimTime,
        observers: &Observers,
        change: impl FnOnce(&mut Condition),
    ) {
        match self.wellness.change(instance, now, change) {
            Turned::Not => {}
            Turned::Well => self.suspicions.well(),
            Turned::Unwell => {
                self.server.not_well(instance, now, &mut self.rows);
                self.suspicions.not_well(instance, now, observers, &mut self.rows);
            }
        }
    }

    /// The server's registry (0) or its answers (1) changed; `removal` says what takes away whoever is gone.
    pub(super) fn server_changed(
        &mut self,
        stage: usize,
        change: (View, View),
        removal: Removal,
        now: SimTime,
        views: &Views,
    ) {
        self.server.changed(stage, change, removal, now, (&self.wellness, views), &mut self.rows);
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
        self.server.open() as u64 + self.suspicions.open()
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
        let quality = quality::rows(&self.wellness, &self.server, &self.suspicions, observers);
        let (rows, folded) = self.rows.finish();
        (rows, folded, quality)
    }
}
