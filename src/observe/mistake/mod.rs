//! Mistakes: instances that are alive and well and not shown any more, and how long that lasts (T_M).
//!
//! ```text
//!   wellness   who is well, and for how long that was to be known       ─┐
//!   turned     watched a change of view ceases to show, or shows again     ─┼─►  server      each server's own stages
//!                                                                        └─►  suspicion   every observer's own
//!                                       rows: what has ended, and how often  ◄──┘
//! ```
//!
//! A mistake begins when a stage ceases to show an instance that is well. It is *corrected* when the stage shows the
//! instance again. It also ends with the observer, with the run, and when the instance is not well any more: who
//! says that it is gone is right from then on.
//!
//! Not to show an instance yet is no mistake, and to show one that is dead is none either: that is what detections are
//! about. So a consumer that starts with an old snapshot makes no mistake by what is in it, nor by what is not. But if
//! its first answer comes from a registry that has just begun anew, whom the snapshot had and the answer has not was
//! shown and ceases to be: these are mistakes of the consumer.

mod quality;
mod rows;
mod server;
mod shown_changes;
mod suspicion;
mod wellness;

use super::data::{Mistake, Quality, Removal};
use super::layout::Layout;
use super::observers::Observers;
use super::servers::number_of;
use crate::engine::SimTime;
use crate::model::fact::Fact;
use crate::model::id::{InstanceId, ServerId};
use crate::model::message::Status;
use crate::model::stage::Stage;
use crate::model::view::{View, Views};
use rows::MistakeRows;
use server::ServerMistakes;
use shown_changes::InstanceState;
use suspicion::Suspicions;
use wellness::{ReportedStatus, Wellness, WellnessChange};

/// The mistakes of all servers and of all observers.
#[derive(Clone)]
pub(super) struct Mistakes {
    layout: Layout,
    wellness: Wellness,
    servers: Vec<ServerMistakes>,
    suspicions: Suspicions,
    rows: MistakeRows,
}

impl Mistakes {
    /// None yet.
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            wellness: Wellness::new(layout.servers),
            servers: (0..layout.servers as u32).map(|server| ServerMistakes::new(ServerId(server))).collect(),
            suspicions: Suspicions::default(),
            rows: MistakeRows::default(),
        }
    }

    /// A process starts under this identity. It is not registered yet.
    pub(super) fn process_started(&mut self, instance: InstanceId, now: SimTime, observers: &Observers) {
        let turned = self.wellness.process_started(instance, now, observers);
        self.follow(turned, instance, now, observers);
    }

    /// A process has ended.
    pub(super) fn process_ended(&mut self, instance: InstanceId, now: SimTime, observers: &Observers) {
        let turned = self.wellness.change(instance, now, observers, |condition| condition.alive = false);
        self.follow(turned, instance, now, observers);
    }

    /// A process is asked to stop.
    pub(super) fn stopping(&mut self, instance: InstanceId, now: SimTime, observers: &Observers) {
        let turned = self.wellness.change(instance, now, observers, |condition| condition.stopping = true);
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
        let turned = self.wellness.change(instance, now, observers, |condition| condition.unwell = unwell);
        self.follow(turned, instance, now, observers);
    }

    /// A server reports a fact: what it says of an instance itself, not what it shows.
    pub(super) fn server_fact(&mut self, server: ServerId, fact: Fact, now: SimTime, observers: &Observers) {
        let wellness = &mut self.wellness;
        let (instance, turned) = match fact {
            Fact::LeaseRegistered { instance, status, .. } => {
                (instance, wellness.registered(instance, server, status == Status::Up, now, observers))
            }
            Fact::StatusChanged { instance, status } => {
                let word = if status == Status::Up { ReportedStatus::Up } else { ReportedStatus::NotUp };
                (instance, wellness.told(instance, server, word, now, observers))
            }
            Fact::LeaseCancelled { instance } => {
                (instance, wellness.told(instance, server, ReportedStatus::Cancelled, now, observers))
            }
            _ => return,
        };
        self.follow(turned, instance, now, observers);
    }

    fn follow(&mut self, turned: WellnessChange, instance: InstanceId, now: SimTime, observers: &Observers) {
        match turned {
            WellnessChange::Not => {}
            WellnessChange::Well => self.suspicions.well(),
            WellnessChange::Unwell => {
                for server in &mut self.servers {
                    server.not_well(instance, now, &mut self.rows);
                }
                self.suspicions.not_well(instance, now, observers, &mut self.rows);
            }
        }
    }

    /// A server's stage changed; `removal` says what takes away whoever is gone.
    pub(super) fn server_changed(
        &mut self,
        (server, stage): (ServerId, Stage),
        change: (View, View),
        (removal, now): (Removal, SimTime),
        observers: &Observers,
        views: &Views,
    ) {
        let known = InstanceState { wellness: &self.wellness, scopes: &observers.scopes, views };
        let own = &mut self.servers[server.index()];
        own.changed(number_of(stage), change, removal, now, known, &mut self.rows);
    }

    /// An observer comes up as `instance`, whose process has started.
    pub(super) fn observer_started(
        &mut self,
        place: u32,
        instance: InstanceId,
        now: SimTime,
        observers: &Observers,
    ) {
        self.wellness.observer_started(place, instance, now, observers);
        self.suspicions.observer_started(place);
    }

    /// An observer goes down, after its process has ended.
    pub(super) fn observer_gone(&mut self, place: u32, now: SimTime, observers: &Observers) {
        self.suspicions.observer_gone(place, now, observers, &mut self.rows);
        self.wellness.observer_gone(place, now, observers);
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
        let known = InstanceState { wellness: &self.wellness, scopes: &observers.scopes, views };
        self.suspicions.observer_changed(slot, change, now, (observers, known), &mut self.rows);
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
            self.wellness.observer_gone(place, now, observers);
        }
        let quality = quality::rows(self.layout, &self.wellness, &self.servers, &self.suspicions, observers);
        let (rows, folded) = self.rows.finish();
        (rows, folded, quality)
    }
}
