//! A history told to both records.

use std::collections::BTreeSet;

use super::history::Step;
use super::{APPS, OBSERVERS, PROCESSES, services_of};
use crate::engine::{SimDuration, SimTime};
use crate::model::fact::Fact;
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::Status;
use crate::model::registry::Kind;
use crate::model::stage::{EventKind, Stage};
use crate::model::view::{LifeId, Payload, Presence, View, Views};
use crate::observe::data::Removal;
use crate::observe::oracle::{Oracle, Watcher};
use crate::observe::recorder::Recorder;
use crate::observe::scopes::ObservedServices;

/// Both records of the same history.
pub(super) struct Twins {
    pub(super) registry: Kind,
    pub(super) recorder: Recorder,
    pub(super) oracle: Oracle,
    views: Views,
    servers: Vec<Server>,
    pub(super) now: SimTime,
    /// How servers stood at the end of each moment: how many ran, and how many instances differed.
    pub(super) stood: Vec<(SimTime, u32, u32)>,
    /// Each process's identity, and whether it runs.
    processes: Vec<(InstanceId, bool)>,
    identities: u32,
    /// Each observer's local registry.
    local: Vec<View>,
}

#[derive(Clone, Copy)]
struct Server {
    /// The log of what it shows.
    life: LifeId,
    /// The log of what a two-stage registry stores.
    stored: LifeId,
    running: bool,
}

impl Server {
    fn start(views: &mut Views) -> Self {
        Self { life: views.begin_life(), stored: views.begin_life(), running: true }
    }
}

impl Twins {
    /// Of so many servers, all of which run, and observers that look at everything, or at what they are `subscribed` to.
    pub(super) fn new(registry: Kind, subscribed: bool, servers: usize) -> Self {
        let mut views = Views::default();
        let mut twins = Self {
            registry,
            recorder: Recorder::new(servers, registry.stages()),
            oracle: Oracle::new(300, servers as u32, registry.stages()),
            servers: (0..servers).map(|_| Server::start(&mut views)).collect(),
            views,
            now: SimTime::ZERO,
            stood: Vec::new(),
            processes: (0..PROCESSES).map(|process| (InstanceId(process), false)).collect(),
            identities: PROCESSES,
            local: vec![View::EMPTY; OBSERVERS as usize],
        };
        for server in (0..servers as u32).map(ServerId) {
            twins.recorder.server_started(server, twins.now);
            twins.oracle.server_started(server);
        }
        for process in 0..PROCESSES {
            let observed_services = match services_of(process).filter(|_| subscribed) {
                _ if process >= OBSERVERS => ObservedServices::Nothing,
                None => ObservedServices::Everything,
                Some(services) => ObservedServices::Services(services),
            };
            if let ObservedServices::Services(services) = observed_services {
                twins.oracle.subscribes(process, services);
            }
            twins.recorder.add_client(ClientId(process), AppId(process % APPS), observed_services);
        }
        twins
    }

    pub(super) fn take(&mut self, step: Step) {
        match step {
            Step::Pass(times) => {
                self.stand();
                self.now += SimDuration::from_millis(400 * u64::from(times));
                self.oracle.pass(self.now);
            }
            Step::Toggle { process, new_id, crash } => self.toggle(process, new_id, crash),
            Step::Stop(process) => self.watch(process, EventKind::Stop),
            Step::Register { server, process, status, announced } => {
                if let Some(server) = self.running(server) {
                    self.register(server, process, status, announced);
                }
            }
            Step::Cancel { server, process } => {
                if let Some(server) = self.running(server) {
                    self.cancel(server, process);
                }
            }
            Step::Status { server, process, up } => {
                if let Some(server) = self.running(server) {
                    self.set_status(server, process, if up { Status::Up } else { Status::OutOfService });
                }
            }
            Step::Evict { server, bits } => {
                if let Some(server) = self.running(server) {
                    self.evict(server, bits);
                }
            }
            Step::Forget { server, bits } => {
                if let Some(server) = self.running(server).filter(|_| self.registry == Kind::TwoStage) {
                    self.forget(server, bits);
                }
            }
            Step::ToggleServer(server) => self.toggle_server(server),
            Step::Serve { server, back } => {
                if let Some(server) = self.running(server) {
                    self.serve(server, back);
                }
            }
            Step::Fetch { place, server, version, delta } => {
                if let Some(server) = self.running(server) {
                    self.fetch(place, server, version, delta);
                }
            }
            Step::Refresh(place) => {
                let place = u32::from(place) % OBSERVERS;
                if self.registry.stages().contains(&Stage::Balancer) {
                    self.show(place, Stage::Balancer, self.local[place as usize]);
                }
            }
            Step::Watch { process, event } => {
                let event = EventKind::ALL[event as usize % EventKind::ALL.len()];
                let (_, _, running) = self.process(process);
                if running != (event == EventKind::Crash) {
                    self.watch(process, event);
                }
            }
            Step::SetUnwell { process, unwell } => {
                let (_, instance, running) = self.process(process);
                if running {
                    match unwell {
                        true => self.recorder.not_well(instance, self.now),
                        false => self.recorder.well_again(instance, self.now),
                    }
                    self.oracle.set_unwell(instance, unwell);
                }
            }
        }
    }

    fn cancel(&mut self, server: ServerId, process: u8) {
        let (_, instance, _) = self.process(process);
        if self.put(server, instance, Presence::Absent, true) {
            self.server_fact(server, Fact::LeaseCancelled { instance }, Removal::NotShown);
            self.store(server, instance, Presence::Absent);
        }
    }

    fn serve(&mut self, server: ServerId, back: u8) {
        let to = self.version(server, back);
        let fact = Fact::ServedChanged { from: View::EMPTY, to };
        let slot = (Watcher::Server(server), Stage::Served);
        self.oracle.show(slot, to, Removal::NotShown, &self.views);
        self.server_fact(server, fact, Removal::NotShown);
    }

    /// Notes how servers stand, at the end of a moment.
    pub(super) fn stand(&mut self) {
        let running = || self.servers.iter().filter(|server| server.running);
        let differs = |&instance: &InstanceId| {
            let shown: BTreeSet<Presence> =
                running().map(|server| self.views.log(server.life).now(instance)).collect();
            shown.len() > 1
        };
        let differing = (0..self.identities).map(InstanceId).filter(differs).count() as u32;
        self.stood.push((self.now, running().count() as u32, differing));
    }

    fn running(&self, server: u8) -> Option<ServerId> {
        let server = usize::from(server) % self.servers.len();
        self.servers[server].running.then_some(ServerId(server as u32))
    }

    fn life(&self, server: ServerId) -> LifeId {
        self.servers[server.index()].life
    }

    fn toggle_server(&mut self, server: u8) {
        let several = self.servers.len() > 1;
        let server = ServerId(u32::from(server) % self.servers.len() as u32);
        let running = self.servers[server.index()].running;
        if running {
            self.recorder.server_ended(server, 0, self.now, &self.views);
            self.oracle.server_ended(server, &self.views);
            self.servers[server.index()].running = !several;
        }
        if !running || !several {
            self.servers[server.index()] = Server::start(&mut self.views);
            self.recorder.server_started(server, self.now);
            self.oracle.server_started(server);
        }
    }

    fn process(&self, process: u8) -> (u32, InstanceId, bool) {
        let process = u32::from(process) % PROCESSES;
        let (instance, running) = self.processes[process as usize];
        (process, instance, running)
    }

    fn toggle(&mut self, process: u8, new_id: bool, crash: bool) {
        let (process, mut instance, running) = self.process(process);
        let place = Some(process).filter(|&process| process < OBSERVERS);
        if running {
            self.recorder.process_ended(ClientId(process), instance, self.now);
            self.oracle.ended(place, instance);
        } else {
            if new_id {
                instance = InstanceId(self.identities);
                self.identities += 1;
            }
            self.recorder.process_started(ClientId(process), instance, self.now);
            self.oracle.started(place, instance, AppId(process % APPS));
            if let Some(place) = place {
                self.local[place as usize] = View::EMPTY;
            }
        }
        self.processes[process as usize] = (instance, !running);
        if running && crash {
            self.watch(process as u8, EventKind::Crash);
        }
    }

    fn watch(&mut self, process: u8, event: EventKind) {
        let (process, instance, running) = self.process(process);
        if running != (event == EventKind::Crash) {
            self.recorder.watch(event, ClientId(process), instance, self.now, &self.views);
            self.oracle.watch(event, instance, &self.views);
        }
    }

    fn register(&mut self, server: ServerId, process: u8, status: u8, announced: bool) {
        let (_, instance, running) = self.process(process);
        let mut status =
            [Status::Up, Status::Up, Status::Up, Status::Down, Status::Starting][status as usize];
        if running {
            let new = self.views.log(self.life(server)).now(instance) == Presence::Absent;
            if self.registry == Kind::TwoStage {
                status = Status::Up;
            }
            // Registering does not heal an entry of a two-stage registry.
            if new || self.registry == Kind::Eureka {
                self.put(server, instance, Presence::Present(status), announced);
            }
            let fact = Fact::LeaseRegistered { instance, status, new };
            self.server_fact(server, fact, Removal::NotShown);
            self.store(server, instance, Presence::Present(Status::Up));
        }
    }

    fn set_status(&mut self, server: ServerId, process: u8, status: Status) {
        let (_, instance, _) = self.process(process);
        if self.views.log(self.life(server)).now(instance) != Presence::Absent {
            self.put(server, instance, Presence::Present(status), true);
            self.server_fact(server, Fact::StatusChanged { instance, status }, Removal::NotShown);
        }
    }

    fn evict(&mut self, server: ServerId, bits: u16) {
        let marks = self.registry == Kind::TwoStage;
        let mut gone = self.chosen(bits);
        gone.retain(|&instance| match marks {
            true => {
                let is_shown = self.views.log(self.life(server)).now(instance).is_up();
                is_shown && self.put(server, instance, Presence::Present(Status::Down), true)
            }
            false => self.put(server, instance, Presence::Absent, true),
        });
        for instance in gone {
            let fact = if marks { Fact::SoftEvicted { instance } } else { Fact::LeaseEvicted { instance } };
            self.server_fact(server, fact, Removal::Evicted);
        }
    }

    /// Marks and removals of one sweep: what all of them change is there when the first is told.
    fn forget(&mut self, server: ServerId, bits: u16) {
        let mut gone = self.chosen(bits);
        gone.retain(|&instance| self.put(server, instance, Presence::Absent, true));
        for &instance in &gone {
            self.server_fact(server, Fact::LeaseEvicted { instance }, Removal::Evicted);
        }
        for instance in gone {
            self.store(server, instance, Presence::Absent);
        }
    }

    fn chosen(&self, bits: u16) -> Vec<InstanceId> {
        (0..self.identities).filter(|number| bits & (1 << (number % 16)) != 0).map(InstanceId).collect()
    }

    /// A two-stage registry stores an instance, or forgets it.
    fn store(&mut self, server: ServerId, instance: InstanceId, presence: Presence) {
        if self.registry != Kind::TwoStage {
            return;
        }
        let life = self.servers[server.index()].stored;
        self.views.log_mut(life).put(AppId(0), instance, presence);
        let to = View::of(life, self.views.log(life).version());
        let slot = (Watcher::Server(server), Stage::Entry);
        self.oracle.show(slot, to, Removal::Evicted, &self.views);
        self.server_fact(server, Fact::StoredChanged { from: View::EMPTY, to }, Removal::NotShown);
    }

    /// Writes a registry's log; says whether anything changed.
    fn put(&mut self, server: ServerId, instance: InstanceId, presence: Presence, announced: bool) -> bool {
        let life = self.life(server);
        let log = self.views.log_mut(life);
        let before = log.version();
        // Two applications, so that deltas bring in what was deleted.
        log.put(AppId(instance.0 % 2), instance, presence);
        match announced {
            true => log.announce(instance),
            false => log.leave_unannounced(),
        }
        log.version() > before
    }

    fn server_fact(&mut self, server: ServerId, fact: Fact, removal: Removal) {
        let registry = self.version(server, 0);
        self.oracle.server_fact(server, fact);
        self.oracle.show((Watcher::Server(server), Stage::Registry), registry, removal, &self.views);
        self.recorder.server_fact(server, fact, registry, self.now, &self.views);
    }

    /// A registry so many changes ago.
    fn version(&self, server: ServerId, back: u8) -> View {
        let life = self.life(server);
        View::of(life, self.views.log(life).version().saturating_sub(back.into()))
    }

    fn fetch(&mut self, place: u8, server: ServerId, back: u8, delta: Option<(u8, u8)>) {
        let place = u32::from(place) % OBSERVERS;
        if !self.processes[place as usize].1 {
            return;
        }
        self.recorder.observer_asks(ClientId(place), server);
        self.oracle.answered(place, server);
        let life = self.life(server);
        let log = self.views.log(life);
        let (version, queued) = (log.version().saturating_sub(back.into()), log.queued());
        let to = match delta {
            None => View::of(life, version),
            Some((head, length)) => {
                let queue_head = u32::from(head) % (queued + 1);
                let queue_tail = queued.min(queue_head + u32::from(length) % 6);
                let payload = Payload { life, version: log.version(), queue_head, queue_tail };
                self.views.apply_delta(self.local[place as usize], &payload).view
            }
        };
        self.local[place as usize] = to;
        self.show(place, Stage::Client, to);
    }

    fn show(&mut self, place: u32, stage: Stage, to: View) {
        let from = View::EMPTY;
        let fact = match stage {
            Stage::Client => Fact::ViewChanged { from, to },
            _ => Fact::BalancerChanged { from, to },
        };
        self.recorder.client_fact(ClientId(place), fact, self.now, &self.views);
        self.oracle.show((Watcher::Observer(place), stage), to, Removal::NotShown, &self.views);
    }
}
