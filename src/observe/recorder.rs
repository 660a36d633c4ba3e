//! The one place where facts arrive. It keeps what the rows of a run are made of and changes nothing else: a
//! run's digest is the same with and without it.

use super::data::{
    ConsumerCounts, Detection, Divergence, Injected, LeaseCounts, LoadMinute, Minute, Mistake, Quality,
    Removal, RoundRow, SweepRow,
};
use super::detection::{Detections, WatchedEvent};
use super::divergence::Divergences;
use super::layout::Layout;
use super::load::LoadCounts;
use super::mistake::Mistakes;
use super::observers::{Noticed, Observers, number_of};
use super::replicate::Folded;
use super::scopes::ObservedServices;
use super::servers::Servers;
use super::sweeps::SweepLog;
use crate::engine::SimTime;
use crate::model::fact::Fact;
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::{Reply, RequestKind};
use crate::model::registry::Kind;
use crate::model::stage::{EventKind, Stage};
use crate::model::view::{View, Views};

/// Keeps what a replicate leaves behind.
#[derive(Clone)]
pub struct Recorder {
    detections: Detections,
    mistakes: Mistakes,
    observers: Observers,
    servers: Servers,
    divergences: Divergences,
    timeline: Vec<Minute>,
    load: LoadCounts,
    faults: Vec<Injected>,
    rounds: Vec<RoundRow>,
    sweeps: SweepLog,
    consumers: ConsumerCounts,
    /// By server.
    evicted_since_minute: Vec<u32>,
    leases: LeaseCounts,
}

/// Everything a recorder has kept, ready for a [`super::ReplicateData`].
pub struct Recorded {
    /// Observations.
    pub detections: Vec<Detection>,
    /// Mistakes.
    pub mistakes: Vec<Mistake>,
    /// Whether there were too many of them.
    pub folded: Folded,
    /// How well everybody told who is alive.
    pub quality: Vec<Quality>,
    /// The servers' minutes.
    pub timeline: Vec<Minute>,
    /// The servers' load.
    pub load: Vec<LoadMinute>,
    /// How far the servers agree.
    pub divergence: Vec<Divergence>,
    /// The faults.
    pub faults: Vec<Injected>,
    /// Eviction rounds that found something.
    pub rounds: Vec<RoundRow>,
    /// Sweeps that did something.
    pub sweeps: Vec<SweepRow>,
    /// What consumers did.
    pub consumers: ConsumerCounts,
    /// What became of leases.
    pub leases: LeaseCounts,
}

impl Default for Recorder {
    /// One server of Eureka.
    fn default() -> Self {
        Self::new(1, Kind::Eureka.stages())
    }
}

impl Recorder {
    /// Nothing has happened yet among so many servers, at least one, of a registry that has these stages. Several are
    /// down until they are said to start.
    pub fn new(servers: usize, stages: &[Stage]) -> Self {
        let layout = Layout::new(servers, stages);
        Self {
            detections: Detections::new(layout),
            mistakes: Mistakes::new(layout),
            observers: Observers::new(layout),
            servers: Servers::new(layout),
            divergences: Divergences::new(servers),
            timeline: Vec::new(),
            load: LoadCounts::new(servers),
            faults: Vec::new(),
            rounds: Vec::new(),
            sweeps: SweepLog::default(),
            consumers: ConsumerCounts::default(),
            evicted_since_minute: vec![0; servers],
            leases: LeaseCounts::default(),
        }
    }

    /// A client of `app` exists, and looks at these.
    pub fn add_client(&mut self, client: ClientId, app: AppId, observed_services: ObservedServices<'_>) {
        self.observers.add(client, app, observed_services);
    }

    /// A process starts, or starts again, under `instance`.
    pub fn process_started(&mut self, client: ClientId, instance: InstanceId, now: SimTime) {
        self.observers.is_now(client, instance);
        self.detections.supersede(instance, EventKind::is_end, now);
        self.mistakes.process_started(instance, now, &self.observers);
        if let Some(place) = self.observers.place(client) {
            self.observers.start(place, instance);
            self.detections.observer_started(place);
            self.mistakes.observer_started(place, instance, now, &self.observers);
        }
    }

    /// A process has ended, by whatever cause.
    pub fn process_ended(&mut self, client: ClientId, instance: InstanceId, now: SimTime) {
        self.detections.void(instance, |event| !event.is_end());
        self.mistakes.process_ended(instance, now, &self.observers);
        if let Some(place) = self.observers.place(client) {
            self.detections.observer_gone(place, self.observers.answered_by(place));
            self.mistakes.observer_gone(place, now, &self.observers);
            self.observers.stop(place);
        }
    }

    /// A process that runs is unhealthy, or stops, or an operator took it out of service or deleted it: that it is not
    /// shown is no mistake from now on, and whoever has not seen its recovery will not. For one whose lease was
    /// cancelled this ends by itself when it registers again as UP.
    pub fn not_well(&mut self, instance: InstanceId, now: SimTime) {
        self.detections.void(instance, |event| event == EventKind::Recovery);
        self.mistakes.set_unwell(instance, true, now, &self.observers);
    }

    /// A process that runs is healthy again, or back in service. What nobody had noticed of its being away is
    /// superseded.
    pub fn well_again(&mut self, instance: InstanceId, now: SimTime) {
        let away = |event| matches!(event, EventKind::Unhealthy | EventKind::Override);
        self.detections.supersede(instance, away, now);
        self.mistakes.set_unwell(instance, false, now, &self.observers);
    }

    /// Begins to watch for an event of `instance`, whose process is `client`.
    pub fn watch(
        &mut self,
        event: EventKind,
        client: ClientId,
        instance: InstanceId,
        now: SimTime,
        views: &Views,
    ) {
        if event == EventKind::Stop {
            self.mistakes.stopping(instance, now, &self.observers);
        }
        let own = self.observers.place(client);
        let watched = WatchedEvent { event, instance, own, at: now };
        self.detections.watch(&watched, &self.servers, &self.observers, views);
    }

    /// A client reports a fact.
    #[inline]
    pub fn client_fact(&mut self, client: ClientId, fact: Fact, now: SimTime, views: &Views) {
        let (stage, to) = match fact {
            Fact::ViewChanged { to, .. } => (Stage::Client, to),
            Fact::BalancerChanged { to, .. } => (Stage::Balancer, to),
            Fact::AnswerRefused => return self.consumers.refused_answers += 1,
            Fact::RefreshWarned => return self.consumers.refresh_warnings += 1,
            Fact::StartFailed => return self.consumers.failed_starts += 1,
            _ => return,
        };
        let Some(place) = self.observers.place(client) else { return };
        let slot = (place, number_of(stage));
        let Some(from) = self.observers.change(slot, to) else { return };
        let noticed = Noticed::new(now, self.observers.answered_by(place));
        self.detections.observer_changed(slot, (from, to), noticed, &self.observers, views);
        self.mistakes.observer_changed(slot, (from, to), now, &self.observers, views);
    }

    /// A server's process starts: from now on it is asked what it makes of events, and counts among those that should
    /// agree. Need not be told of a lone server.
    pub fn server_started(&mut self, server: ServerId, now: SimTime) {
        self.servers.set_up(server, true);
        self.detections.server_begins_anew(server);
        self.divergences.begin_anew(server, now, &self.servers);
    }

    /// A server reports a fact; `registry` is what it holds now.
    pub fn server_fact(&mut self, server: ServerId, fact: Fact, registry: View, now: SimTime, views: &Views) {
        self.mistakes.server_fact(server, fact, now, &self.observers);
        let mut removal = Removal::NotShown;
        let mut told_of = None;
        match fact {
            Fact::LeaseEvicted { instance } => {
                self.evicted_since_minute[server.index()] += 1;
                self.leases.evicted += 1;
                removal = Removal::Evicted;
                told_of = Some(instance);
            }
            Fact::SoftEvicted { instance } => {
                self.leases.soft_evicted += 1;
                removal = Removal::Evicted;
                told_of = Some(instance);
            }
            Fact::SweepEnded(sweep) => self.sweeps.note(server, sweep, now),
            Fact::LeaseRegistered { new, instance, .. } => {
                self.leases.created += u64::from(new);
                told_of = Some(instance);
            }
            Fact::LeaseCancelled { instance } => {
                self.leases.cancelled += 1;
                told_of = Some(instance);
            }
            Fact::StatusChanged { instance, .. } => told_of = Some(instance),
            Fact::EvictionRoundEnded(round) if round.expired > 0 => {
                self.rounds.push(RoundRow { at: now, server, round })
            }
            Fact::ServedChanged { to, .. } => {
                self.server_shows((server, Stage::Served), to, Removal::NotShown, now, views);
            }
            // An instance that is well does not deregister: if its entry goes, it is for its silence.
            Fact::StoredChanged { to, .. } => {
                self.server_shows((server, Stage::Entry), to, Removal::Evicted, now, views);
            }
            _ => {}
        }
        if let Some(instance) = told_of.filter(|_| self.servers.lone().is_none()) {
            let presence = views.presence(registry, instance);
            self.divergences.show((server, instance), presence, now, &self.servers);
        }
        self.server_shows((server, Stage::Registry), registry, removal, now, views);
    }

    /// A server's process has ended, and `leases` with it: it holds and serves nothing.
    pub fn server_ended(&mut self, server: ServerId, leases: u32, now: SimTime, views: &Views) {
        self.leases.lost += u64::from(leases);
        self.sweeps.server_ended(server, now);
        self.servers.set_up(server, false);
        self.detections.server_begins_anew(server);
        self.divergences.begin_anew(server, now, &self.servers);
        for &stage in self.servers.stages() {
            self.server_shows((server, stage), View::EMPTY, Removal::LostWithServer, now, views);
        }
    }

    fn server_shows(
        &mut self,
        slot: (ServerId, Stage),
        to: View,
        removal: Removal,
        now: SimTime,
        views: &Views,
    ) {
        let from = self.servers.change(slot.0, slot.1, to);
        if from != to {
            self.detections.server_changed(slot, (from, to), now, views);
            self.mistakes.server_changed(slot, (from, to), (removal, now), &self.observers, views);
        }
    }

    /// An observer's last fetch was answered by `server`. To be told before what follows from the answer; that it is
    /// the same as before need not be told, nor of a lone server.
    #[inline]
    pub fn observer_asks(&mut self, client: ClientId, server: ServerId) {
        if let Some(place) = self.observers.place(client) {
            self.observers.answer(place, server);
        }
    }

    /// A server's minute bucket was closed; the rest of `minute` is filled in here.
    pub fn minute(&mut self, minute: Minute) {
        let evicted = std::mem::take(&mut self.evicted_since_minute[minute.server.index()]);
        self.timeline.push(Minute { evicted, ..minute });
    }

    /// A server processed one item of a peer's batch.
    #[inline]
    pub fn processed(&mut self, server: ServerId, item: RequestKind, now: SimTime) {
        self.load.processed(server, item, now);
    }

    /// So many requests wait for a server's threads now, the one included that has just come.
    pub fn waits(&mut self, server: ServerId, waiting: u32, now: SimTime) {
        self.load.waits(server, waiting, now);
    }

    /// One of a server's threads was busy from `from` to `until`, which is not yet to come.
    pub fn busy(&mut self, server: ServerId, from: SimTime, until: SimTime) {
        self.load.busy(server, from, until);
    }

    /// A server answered a request.
    #[inline]
    pub fn answered(&mut self, server: ServerId, kind: RequestKind, reply: &Reply, now: SimTime) {
        self.load.answered(server, kind, reply, now);
    }

    /// A fault was injected.
    pub fn injected(&mut self, fault: Injected) {
        self.faults.push(fault);
    }

    /// The views that it may still ask about. All others may be thrown away: it forgets what it knew of them.
    pub fn views(&mut self) -> impl Iterator<Item = View> + '_ {
        self.detections.forget_views();
        self.mistakes.forget_views();
        self.observers.held().map(|((_, view), _)| view).chain(self.servers.views())
    }

    /// What a server's registry and its answers show.
    pub fn server_views(&self, server: ServerId) -> [View; 2] {
        self.servers.shown(server)
    }

    /// Whether nothing that is watched is still open.
    pub fn is_settled(&self) -> bool {
        self.open() == (0, 0)
    }

    /// Sightings and mistakes that are open.
    pub(super) fn open(&self) -> (u64, u64) {
        (self.detections.open(), self.mistakes.open())
    }

    /// Ends the record at `now`.
    pub fn finish(mut self, now: SimTime) -> Recorded {
        self.timeline.sort_by_key(|minute| (minute.at, minute.server));
        self.rounds.sort_by_key(|row| (row.at, row.server));
        let (detections, detections_folded) = self.detections.finish(now, &self.observers);
        let (mistakes, mistakes_folded, quality) = self.mistakes.finish(now, &self.observers);
        Recorded {
            detections,
            mistakes,
            folded: Folded { detections: detections_folded, mistakes: mistakes_folded },
            quality,
            timeline: self.timeline,
            load: self.load.finish(),
            divergence: self.divergences.finish(),
            faults: self.faults,
            rounds: self.rounds,
            sweeps: self.sweeps.finish(),
            consumers: self.consumers,
            leases: self.leases,
        }
    }
}

#[cfg(test)]
mod tests;
