//! The client as a state machine: what it holds, and the doors through which the world tells it what
//! happened.
//!
//! The way of one heartbeat: the world says that [`ClientTimer::Heartbeat`] is due; out comes a `Send`. The
//! world brings the answer; out comes a `SetTimer`, one interval from now. Nothing else happens, and nothing
//! is allocated. Everything that is rare (time-outs, the replicator's runs, the balancer's reads) is found
//! without a timer of its own, or lives in a box that is usually not there: there may be a million clients.

use super::ClientConfig;
use super::balancer::Balancer;
use super::grid::Grid;
use super::job::{Background, Job, Task};
use super::record::OwnRecord;
use super::replicator::Replicator;
use super::servers::{ServerUrls, Servers};
use super::supervisor::Supervisor;
use super::transport::Stack;
use crate::engine::{SimDuration, SimTime};
use crate::model::effect::{ClientEffect, ClientTimer};
use crate::model::id::{AppId, InstanceId};
use crate::model::message::Status;
use crate::model::step::Step;
use crate::model::timers::Timers;
use crate::model::view::View;

/// Where a process is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// There is no process.
    Down,
    /// The constructor is at work.
    Starting,
    /// The timers run.
    Running,
    /// The process was told to stop.
    Stopping,
}

/// A process with a Eureka client and a load balancer above it, through all its lives.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) app: AppId,
    pub(super) instance: InstanceId,
    pub(super) servers: Servers,
    pub(super) life: Life,
    /// Whether the last registration of this life was answered with 204, and no 404 came since.
    pub(super) is_registered: bool,
    /// Whether this life has sent a registration.
    pub(super) registration_sent: bool,
    pub(super) view_is_empty: bool,
    pub(super) record: OwnRecord,
    pub(super) view: View,
    /// Counts what was stored into the local registry (`fetchRegistryGeneration`).
    pub(super) generation: u32,
    pub(super) heartbeat_supervisor: Supervisor,
    pub(super) fetch_supervisor: Supervisor,
    pub(super) heartbeat: Job,
    pub(super) fetch: Job,
    pub(super) background: Option<Box<Background>>,
    pub(super) registration_stack: Stack,
    pub(super) query_stack: Stack,
    pub(super) replicator: Replicator,
    pub(super) balancer: Balancer,
    pub(super) timers: Timers,
    /// The serial number of the last call.
    pub(super) serial: u32,
}

impl Client {
    /// A client of `app` that is not running yet, registers as `instance`, and knows `servers`.
    pub fn new(app: AppId, instance: InstanceId, servers: ServerUrls<'_>) -> Self {
        Self {
            app,
            instance,
            servers: Servers::new(servers),
            life: Life::Down,
            is_registered: false,
            registration_sent: false,
            view_is_empty: true,
            record: OwnRecord::UNBORN,
            view: View::EMPTY,
            generation: 0,
            heartbeat_supervisor: Supervisor::default(),
            fetch_supervisor: Supervisor::default(),
            heartbeat: Job::idle(Task::Heartbeat),
            fetch: Job::idle(Task::Fetch),
            background: None,
            registration_stack: Stack::default(),
            query_stack: Stack::default(),
            replicator: Replicator::default(),
            balancer: Balancer::unused(SimDuration::ZERO),
            timers: Timers::default(),
            serial: 0,
        }
    }

    /// The next process registers as `instance`.
    pub fn set_identity(&mut self, instance: InstanceId) {
        assert!(self.life == Life::Down, "a process keeps its identity");
        self.instance = instance;
    }

    /// The next process calls through its balancer for the first time `first_call` after its start.
    pub fn set_first_call(&mut self, first_call: SimDuration) {
        assert!(self.life == Life::Down, "the first call is known before the process starts");
        self.balancer = Balancer::unused(first_call);
    }

    /// The application.
    pub const fn app(&self) -> AppId {
        self.app
    }

    /// Whom it registers as.
    pub const fn instance(&self) -> InstanceId {
        self.instance
    }

    /// The status of its own record.
    pub const fn status(&self) -> Status {
        self.record.status()
    }

    /// Whether, as far as it knows, it is registered: its last registration was answered with 204, and no
    /// heartbeat with 404 since.
    pub const fn is_registered(&self) -> bool {
        self.is_registered
    }

    /// Whether there is a process: starting, running or stopping.
    pub fn is_running(&self) -> bool {
        self.life != Life::Down
    }

    /// Whether its constructor has returned: it runs, or is stopping.
    pub fn has_started(&self) -> bool {
        matches!(self.life, Life::Running | Life::Stopping)
    }

    /// Its local registry.
    pub const fn view(&self) -> View {
        self.view
    }

    /// The list that its balancer picks from; without a balancer the local registry.
    pub const fn balancer_view(&self) -> View {
        self.balancer.view()
    }

    /// How long after the start of a job its outcome may stay out before anything follows from that: the
    /// shortest of the supervisors' time-outs. See [`Self::on_stall`].
    pub fn stall_after(config: &ClientConfig) -> SimDuration {
        let heartbeat = config.register_with_eureka.then(|| config.heartbeat_interval());
        let fetch = config.fetch_registry.then(|| config.fetch_interval());
        heartbeat.into_iter().chain(fetch).min().unwrap_or(SimDuration::MAX)
    }

    /// A timer is due. A stale one is dropped.
    pub fn on_timer(
        &mut self,
        config: &ClientConfig,
        timer: ClientTimer,
        generation: u16,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if !self.timers.is_current(timer, generation) {
            return;
        }
        match timer {
            ClientTimer::Heartbeat => self.heartbeat_due(config, step),
            ClientTimer::Fetch => self.fetch_due(config, step),
            ClientTimer::Replicator => self.run_replicator(config, step),
            ClientTimer::HeartbeatTimeout => self.task_timed_out(Task::Heartbeat, config, step),
            ClientTimer::FetchTimeout => self.task_timed_out(Task::Fetch, config, step),
            ClientTimer::BalancerRefresh => self.balancer_due(config, step),
            ClientTimer::ServerList => {
                self.servers.resolve(config.server_order, &mut step.rng);
                self.timers.set(ClientTimer::ServerList, config.server_list_interval(), step.out);
            }
            ClientTimer::ShutdownWait => self.cancel_registration(config, step),
        }
    }

    /// The process goes on after a pause that began at `paused_since` on its monotonic clock. To be told
    /// before what arrived meanwhile and the timers that came due: a task that was due in the pause runs
    /// once, now, and its later runs count from here (`eureka-client.md` 9.1).
    pub fn on_resume(
        &mut self,
        config: &ClientConfig,
        paused_since: SimTime,
        step: &mut Step<'_, ClientEffect>,
    ) {
        if self.life != Life::Running {
            return;
        }
        let (now, replicator) = (step.now.mono, &mut self.replicator);
        if replicator.grid.missed(paused_since, now, config.replication_interval()) {
            replicator.grid = Grid::starting_at(now);
        }
        self.balancer_resumes(config, paused_since, step);
    }

    /// The process is gone, without a word. What it waited for and its timers never match anything again.
    pub fn on_crash(&mut self) {
        let first_call = self.balancer.first_call();
        let blank = Self::new(self.app, self.instance, ServerUrls::in_one_zone(&[]));
        let before = std::mem::replace(self, blank);
        self.servers = before.servers;
        self.serial = before.serial;
        self.timers = before.timers;
        self.timers.cancel_all();
        self.balancer = Balancer::unused(first_call);
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness::{Rig, at_ms};
    use super::*;
    use crate::model::eureka::Flavour;
    use crate::model::message::Reply;

    #[test]
    fn a_heartbeat_is_one_send_and_one_timer() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.run_to(at_ms(20_000));
        for (timer, reply) in [
            (ClientTimer::Heartbeat, Reply::bare(200)),
            (ClientTimer::Fetch, Reply::served(rig.registry.payload())),
        ] {
            let mut effects = Vec::new();
            rig.step(|client, config, step| {
                let generation = client.timers.cancel(timer);
                client.on_timer(config, timer, generation, step);
                effects.append(step.out);
                let [ClientEffect::Send { call, .. }] = effects[..] else { panic!("{effects:?}") };
                client.on_reply(config, call, reply, step);
                effects.append(step.out);
            });
            let [_, ClientEffect::SetTimer { timer: next, delay, .. }] = effects[..] else {
                panic!("{effects:?}")
            };
            assert_eq!((next, delay), (timer, SimDuration::from_secs(30)));
        }
    }

    #[test]
    fn patience_is_the_shortest_supervised_interval() {
        let mut config = ClientConfig::defaults(Flavour::Spring);
        config.lease_renewal_interval_in_seconds = 5;
        assert_eq!(Client::stall_after(&config), SimDuration::from_secs(5));
        config.register_with_eureka = false;
        assert_eq!(Client::stall_after(&config), SimDuration::from_secs(30));
        config.fetch_registry = false;
        assert_eq!(Client::stall_after(&config), SimDuration::MAX);
    }

    #[test]
    fn answers_to_calls_that_nobody_waits_for_are_dropped() {
        let mut rig = Rig::new(Flavour::Spring);
        rig.start();
        rig.run_to(at_ms(10));
        rig.step(|client, config, step| {
            let call = super::super::Call::numbered(1, true); // the constructor's fetch, answered at 2 ms
            client.on_reply(config, call, Reply::bare(404), step);
            client.on_stall(config, call, step);
            assert!(step.out.is_empty());
        });
    }

    #[test]
    fn a_client_is_small_at_rest() {
        assert!(size_of::<Client>() <= 336, "{} bytes", size_of::<Client>());
    }
}
