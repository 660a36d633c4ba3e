//! A replicate that is run step by step, looked into, and copied: what stands behind a page that shows a run.
//!
//! [`Simulation`] is a queue and the world that it moves. It goes as far as it is told, answers what anybody in it
//! shows at that moment, and can be cloned: both copies go on alike, since chance has positions and no hidden state.
//! Looking changes nothing, and neither do stops: in however many goes, the run ends with the digest of
//! [`run`](super::run).

use std::sync::atomic::AtomicBool;

use super::event::Event;
use super::node::State;
use super::run::ending;
use super::setup::config_of;
use super::{Interrupted, World};
use crate::engine::{Engine, Limits, Outcome, RunEnd, SimTime};
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::message::Status;
use crate::model::registry::Server;
use crate::model::stage::Stage;
use crate::model::view::Presence;
use crate::observe::ReplicateData;
use crate::scenario::Scenario;

/// One replicate under way.
///
/// ```
/// use stillup::engine::SimTime;
/// use stillup::{Simulation, scenario};
///
/// let scenario = scenario::default_scenario().scenario;
/// let mut simulation = Simulation::new(&scenario, 0);
/// simulation.run_until(SimTime::from_secs(300));
/// let orders = simulation.processes().next().unwrap();
/// assert!(orders.registered);
///
/// // A copy ends as the original does, and as a run that nobody stopped.
/// let copy = simulation.clone();
/// assert_eq!(copy.finish(), simulation.finish());
/// ```
#[derive(Clone)]
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    replicate: u32,
    engine: Engine<Event>,
    world: World<'a>,
    now: SimTime,
    /// How it ended, once it has.
    end: Option<RunEnd>,
}

/// What a process does at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// It is not there: not started yet, crashed or stopped.
    Down,
    /// A server's process that does not listen yet, since its own client is still at its first fetch.
    Booting,
    /// It runs.
    Running,
    /// It was told to stop, and has not yet.
    Stopping,
    /// It stands still.
    Paused,
}

/// A registry server at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerNow {
    /// Which.
    pub server: ServerId,
    /// What its process does.
    pub activity: Activity,
    /// How many instances it has registered, shown or not.
    pub registered: u32,
    /// Whether something keeps it from evicting: self-preservation, or the guard of some service.
    pub protects_itself: bool,
}

/// A process with a registry client at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessNow {
    /// The process, for what it shows as an observer.
    pub client: ClientId,
    /// Its application: the place among [`Scenario::applications`]; servers' own clients have the one after the last.
    pub application: AppId,
    /// The identity that it registers under, for what others show of it.
    pub instance: InstanceId,
    /// What it does.
    pub activity: Activity,
    /// Whether it takes itself for registered.
    pub registered: bool,
    /// Whether it looks others up.
    pub observes: bool,
}

impl<'a> Simulation<'a> {
    /// Replicate `replicate` of `scenario`, before anything happened.
    pub fn new(scenario: &'a Scenario, replicate: u32) -> Self {
        let mut engine = Engine::new();
        let world = World::new(scenario, replicate, engine.schedule());
        Self { scenario, replicate, engine, world, now: SimTime::ZERO, end: None }
    }

    /// What is being run.
    pub fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// How far it has come: the last event, or the time that [`Self::run_until`] was told, whichever is later.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// How many events have happened.
    pub fn events(&self) -> u64 {
        self.engine.events()
    }

    /// When the next event happens; `None` if the run has ended, or ends before that.
    pub fn next_event_at(&self) -> Option<SimTime> {
        let next = self.engine.next_at().filter(|&at| at <= self.horizon());
        next.filter(|_| self.end.is_none() && self.events() < self.scenario.event_budget)
    }

    /// Lets the next event happen. Returns whether there was one.
    pub fn step(&mut self) -> bool {
        let before = self.events();
        self.go(SimTime::MAX, before + 1, None, |_, _| ());
        self.events() > before
    }

    /// Lets everything happen that is due until `until`, inclusive. Returns whether the run goes on after that.
    pub fn run_until(&mut self, until: SimTime) -> bool {
        self.go(until, u64::MAX, None, |_, _| ());
        if self.end.is_none() {
            self.now = self.now.max(until);
        }
        self.end.is_none()
    }

    /// Runs what is left, and returns what the replicate leaves behind.
    pub fn finish(mut self) -> ReplicateData {
        self.go(SimTime::MAX, u64::MAX, None, |_, _| ());
        self.into_data().expect("nobody interrupts it")
    }

    /// The servers.
    pub fn servers(&self) -> impl Iterator<Item = ServerNow> + '_ {
        (0..self.world.servers.len() as u32).map(|server| self.server(ServerId(server)))
    }

    /// A server.
    ///
    /// # Panics
    /// If the scenario does not have it.
    pub fn server(&self, server: ServerId) -> ServerNow {
        let node = &self.world.servers[server.index()];
        let activity = match node.state {
            State::Down => Activity::Down,
            State::Paused { .. } => Activity::Paused,
            State::Running if node.boots => Activity::Booting,
            State::Running => Activity::Running,
        };
        let life = node.server.as_ref();
        ServerNow {
            server,
            activity,
            registered: life.map_or(0, Server::registered),
            protects_itself: life.is_some_and(Server::is_protecting),
        }
    }

    /// All processes with a registry client that exist or existed: the fleet in order of start, then what faults
    /// started, with servers' own clients in between.
    pub fn processes(&self) -> impl Iterator<Item = ProcessNow> + '_ {
        (0..self.world.clients.len() as u32).map(|client| self.process(ClientId(client)))
    }

    /// A process.
    ///
    /// # Panics
    /// If there is none of this number.
    pub fn process(&self, client: ClientId) -> ProcessNow {
        let node = &self.world.clients[client.index()];
        let config = config_of(self.scenario, node.app);
        let activity = match node.state {
            State::Down => Activity::Down,
            State::Paused { .. } => Activity::Paused,
            State::Running if node.stopping => Activity::Stopping,
            State::Running => Activity::Running,
        };
        ProcessNow {
            client,
            application: node.app,
            instance: node.instance,
            activity,
            registered: node.state != State::Down && node.client.is_registered(),
            observes: config.fetches(),
        }
    }

    /// How an instance is called in results: `orders-7`.
    ///
    /// # Panics
    /// If there is none of this number.
    pub fn name(&self, instance: InstanceId) -> String {
        self.world.name_of(instance)
    }

    /// What a server's stage shows of an instance; `None` if nothing, or if the server is down, or has no such stage.
    /// What is stored without being shown is for [`Self::is_stored`].
    pub fn shown_by_server(&self, server: ServerId, stage: Stage, instance: InstanceId) -> Option<Status> {
        self.world.servers[server.index()].server.as_ref()?;
        let [_, served] = self.world.recorder.server_views(server);
        let view = match stage {
            Stage::Registry => self.world.registry_view(server),
            Stage::Served => served,
            Stage::Client | Stage::Balancer | Stage::Entry => return None,
        };
        status(self.world.views.presence(view, instance))
    }

    /// Whether a server has an instance at all, shown or not.
    pub fn is_stored(&self, server: ServerId, instance: InstanceId) -> bool {
        self.world.servers[server.index()].server.as_ref().is_some_and(|server| server.has(instance))
    }

    /// What an observer's stage shows of an instance; `None` if nothing, or if the observer is down, or has no such
    /// stage.
    pub fn shown_by_observer(
        &self,
        observer: ClientId,
        stage: Stage,
        instance: InstanceId,
    ) -> Option<Status> {
        let node = &self.world.clients[observer.index()];
        let view = match stage {
            _ if node.state == State::Down => return None,
            _ if !self.scenario.registry().stages().contains(&stage) => return None,
            Stage::Client => node.client.view(),
            Stage::Balancer => node.client.balancer_view(),
            Stage::Registry | Stage::Served | Stage::Entry => return None,
        };
        status(self.world.views.presence(view, instance))
    }

    /// The end of the scenario's duration.
    fn horizon(&self) -> SimTime {
        SimTime::ZERO + self.scenario.duration
    }

    /// Goes on until `horizon` or so many events in all, and shows each event to `watch` just before it happens.
    pub(super) fn go(
        &mut self,
        horizon: SimTime,
        events: u64,
        interrupt: Option<&AtomicBool>,
        watch: impl FnMut(SimTime, &Event),
    ) {
        if self.end.is_some() {
            return;
        }
        let horizon = horizon.min(self.horizon());
        let limits = Limits { horizon, events: events.min(self.scenario.event_budget), interrupt };
        let end = self.engine.run_watched(&mut self.world, &limits, watch);
        self.now = self.now.max(end.at);
        let is_over = match end.outcome {
            Outcome::Stopped | Outcome::Interrupted => true,
            Outcome::OverBudget => end.events >= self.scenario.event_budget,
            Outcome::Drained | Outcome::Horizon => horizon >= self.horizon(),
        };
        self.end = is_over.then_some(end);
    }

    /// What the replicate leaves behind, once it is over.
    pub(super) fn into_data(self) -> Result<ReplicateData, Interrupted> {
        let end = self.end.ok_or(Interrupted)?;
        let (ending, ended_at) = ending(&end, self.scenario).ok_or(Interrupted)?;
        Ok(self.world.finish(self.replicate, ending, ended_at, &end))
    }
}

fn status(presence: Presence) -> Option<Status> {
    match presence {
        Presence::Absent => None,
        Presence::Present(status) => Some(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SimDuration;
    use crate::scenario::{builtin, default_scenario, parse};
    use crate::world;

    /// Of both registries, with one server and with several, with calls, pauses, partitions and restarts.
    const SHIPPED: [&str; 8] = [
        "default-crash",
        "stale-caller",
        "rolling-servers",
        "peers-cut-off-three",
        "gc-pauses-trip-protection",
        "nacos-push-lost",
        "two-stage-held-watches",
        "beside-partition-two-stage",
    ];

    fn shipped(name: &str) -> Scenario {
        let text = builtin(name).unwrap_or_else(|| panic!("{name} comes with the program"));
        parse(name, text, &[]).unwrap_or_else(|problems| panic!("{problems}")).scenario
    }

    fn whole(scenario: &Scenario, replicate: u32) -> ReplicateData {
        world::run(scenario, replicate, &AtomicBool::new(false)).expect("nobody interrupts")
    }

    #[test]
    fn a_run_in_many_goes_is_the_same_run_and_so_is_a_copy() {
        for name in SHIPPED {
            let scenario = shipped(name);
            let mut simulation = Simulation::new(&scenario, 1);
            for _ in 0..500 {
                assert!(simulation.step(), "{name}");
            }
            let mut copies = Vec::new();
            let third = SimDuration::from_millis(scenario.duration.as_millis() / 3);
            while simulation.run_until(simulation.now() + third) {
                copies.push(simulation.clone());
                simulation.step();
            }
            let whole = whole(&scenario, 1);
            assert_eq!(simulation.finish(), whole, "{name}");
            assert!(!copies.is_empty(), "{name} was stopped half-way");
            for copy in copies {
                assert_eq!(copy.finish(), whole, "{name}, copied");
            }
        }
    }

    #[test]
    fn a_death_goes_from_stage_to_stage() {
        let scenario = default_scenario().scenario;
        let mut simulation = Simulation::new(&scenario, 0);
        // All have started by then, and no fault is due yet.
        simulation.run_until(SimTime::ZERO + scenario.start_window + scenario.warm_up);
        let is_dead = |process: &ProcessNow| process.activity == Activity::Down;
        assert_eq!(simulation.processes().find(is_dead), None);
        let dead = loop {
            assert!(simulation.step(), "somebody dies");
            if let Some(dead) = simulation.processes().find(is_dead) {
                break dead.instance;
            }
        };
        let observer = simulation.processes().find(|process| process.instance != dead).unwrap().client;
        let server = ServerId(0);
        let up = Some(Status::Up);
        let shown = |simulation: &Simulation<'_>| {
            [
                simulation.shown_by_server(server, Stage::Registry, dead),
                simulation.shown_by_server(server, Stage::Served, dead),
                simulation.shown_by_observer(observer, Stage::Client, dead),
                simulation.shown_by_observer(observer, Stage::Balancer, dead),
            ]
        };
        assert_eq!(shown(&simulation), [up; 4], "nobody knows yet");
        assert!(simulation.server(server).registered > 0);
        let mut seen = vec![shown(&simulation)];
        while simulation.step() {
            let now = shown(&simulation);
            if seen.last() != Some(&now) {
                seen.push(now);
            }
        }
        let in_order: Vec<[Option<Status>; 4]> =
            (0..=4).map(|gone| std::array::from_fn(|stage| (stage >= gone).then_some(Status::Up))).collect();
        assert_eq!(seen, in_order, "one stage after the other");
        assert!(!simulation.is_stored(server, dead));
        assert_eq!(simulation.next_event_at(), None);
        let names = || scenario.applications.iter().map(|application| format!("{}-", application.name));
        assert!(names().any(|name| simulation.name(dead).starts_with(&name)), "{}", simulation.name(dead));
    }

    #[test]
    fn an_event_budget_ends_it() {
        let mut scenario = default_scenario().scenario;
        scenario.event_budget = 1_000;
        let mut simulation = Simulation::new(&scenario, 0);
        assert!(!simulation.run_until(SimTime::MAX));
        assert_eq!((simulation.events(), simulation.next_event_at()), (1_000, None));
        assert!(!simulation.step());
        assert_eq!(simulation.finish(), whole(&scenario, 0));
    }
}
