//! From a scenario and a replicate's number to a world at its start: every process in its place, every draw
//! that the start needs made, every fault timed.

use std::net::Ipv4Addr;
use std::sync::Arc;

use super::World;
use super::calls::Calls;
use super::clock::{MIDNIGHT, MINUTES_PER_DAY, Skew, WallClock};
use super::event::Event;
use super::fabric::{Fabric, Networks, Slab};
use super::faults::FaultPlan;
use super::impairments::Impairments;
use super::lanes::Lanes;
use super::node::{ClientNode, Identity, NO_SERVER, NodeFaults, ServerNode, State, Waiting};
use super::work::Threads;
use crate::engine::{Purpose, Schedule, Seed, SimDuration, SimTime, Streams};
use crate::model::eureka::client::{BalancerConfig, ServerUrls, purpose};
use crate::model::id::{AppId, ClientId, InstanceId, ServerId};
use crate::model::registry::{Client, ClientConfig};
use crate::model::view::Views;
use crate::observe::{ObservedServices, Recorder};
use crate::scenario::{Delay, FaultKind, Network, Scenario, ServerList, ZoneId};

/// The first server's draw of the wall-clock moment at which the run starts. Its rules draw from other streams.
const STARTING_MOMENT: Purpose = Purpose(7);
/// A server's draw of when it starts.
const SERVER_START: Purpose = Purpose(6);

/// The name under which servers' own clients register.
const OWN_APPLICATION: &str = "eureka";

/// A client that is there from the start.
struct InitialClient {
    at: SimTime,
    app: usize,
    ordinal: u32,
    streams: Streams,
}

impl<'a> World<'a> {
    /// The world of `scenario` before anything happened, its first events scheduled.
    pub(super) fn new(scenario: &'a Scenario, replicate: u32, schedule: &mut Schedule<Event>) -> Self {
        let seed = Seed::new(scenario.seed, replicate);
        let mut servers: Vec<ServerNode> = (0..)
            .map(ServerId)
            .zip(&scenario.servers)
            .map(|(server, its)| ServerNode {
                server: None,
                boots: false,
                ended: 0,
                config: scenario.setup.server_config(),
                saved: None,
                generation: 0,
                peers: Arc::from(&*its.peers),
                own_client: None,
                streams: Streams::of(&server_label(server)),
                state: State::Down,
                threads: scenario.capacity.as_ref().map(|capacity| Threads::new(server, capacity)),
                waiting: Waiting::default(),
                operator_calls: Vec::new(),
                skew: Skew::from_the_start(scenario.server_clock),
            })
            .collect();
        let wall = WallClock::starting_at(starting_wall(scenario, &seed, &mut servers[0].streams));
        let mut world = Self {
            scenario,
            lanes: Lanes::new(scenario, schedule),
            wall,
            clients: Vec::new(),
            asked: Vec::new(),
            batches: Vec::new(),
            fabric: Fabric::new(servers.len(), networks(scenario, schedule)),
            servers,
            booting: 0,
            views: Views::default(),
            datagrams: Slab::default(),
            recorder: Recorder::new(scenario.servers.len(), scenario.registry().stages()),
            calls: Calls::of(scenario),
            identities: Vec::new(),
            members: scenario.applications.iter().map(|_| Vec::new()).collect(),
            link_faults: Vec::new(),
            impairments: Impairments::default(),
            plan: FaultPlan::new(scenario, &seed, schedule),
            stall_after: applications_and_own(scenario).map(|config| config.stall_after()).collect(),
            client_effects: Vec::new(),
            server_effects: Vec::new(),
            awaited_registrations: 0,
            may_settle: may_settle(scenario),
            seed,
        };
        world.start_servers(schedule);
        world.add_fleet(schedule);
        world
    }

    /// Starts the servers, now or when they are meant to.
    fn start_servers(&mut self, schedule: &mut Schedule<Event>) {
        let scenario = self.scenario;
        for (server, its) in (0..).map(ServerId).zip(&scenario.servers) {
            let window = if server.0 == 0 { SimDuration::ZERO } else { scenario.servers_start_window };
            let drawn = || {
                let mut rng = self.servers[server.index()].streams.with(&self.seed);
                rng.duration_below(SERVER_START, window)
            };
            let at = SimTime::ZERO + its.starts_after.unwrap_or_else(drawn);
            if at == SimTime::ZERO {
                self.start_server(server, schedule);
            } else {
                schedule.at(at, Event::ServerStarts { server });
            }
        }
    }

    /// Numbers the fleet in the order in which it starts: neighbours in time are neighbours in memory.
    fn add_fleet(&mut self, schedule: &mut Schedule<Event>) {
        let scenario = self.scenario;
        let opens = SimTime::ZERO + scenario.all_serve_after();
        let all_started = opens + scenario.start_window;
        let mut starters = Vec::new();
        for (app, application) in scenario.applications.iter().enumerate() {
            for ordinal in 1..=application.instances {
                let mut streams = Streams::of(&client_label(&application.name, ordinal));
                let offset =
                    streams.with(&self.seed).duration_below(purpose::START_OFFSET, scenario.start_window);
                starters.push(InitialClient { at: opens + offset, app, ordinal, streams });
            }
        }
        starters.sort_by_key(|starter| (starter.at, starter.app, starter.ordinal));
        for (members, application) in self.members.iter_mut().zip(&scenario.applications) {
            members.resize(application.instances as usize, ClientId(u32::MAX));
        }
        for starter in starters {
            let client = self.add_client(AppId(starter.app as u32), starter.ordinal, starter.streams);
            self.members[starter.app][starter.ordinal as usize - 1] = client;
            let fetch_interval = config_of(scenario, AppId(starter.app as u32)).fetch_interval();
            let lists_are_there = all_started + fetch_interval;
            self.draw_first_call(client, lists_are_there.since(starter.at));
            schedule.at(starter.at, Event::ClientStarts { client });
        }
    }

    /// Another process of an application, not started yet.
    pub(super) fn add_newcomer(&mut self, app: AppId) -> ClientId {
        let ordinal = self.members[app.index()].len() as u32 + 1;
        let streams = Streams::of(&client_label(&self.scenario.applications[app.index()].name, ordinal));
        let client = self.add_client(app, ordinal, streams);
        self.clients[client.index()].newcomer = true;
        self.draw_first_call(client, SimDuration::ZERO);
        self.members[app.index()].push(client);
        self.joins_its_peers(client);
        client
    }

    fn add_client(&mut self, app: AppId, ordinal: u32, streams: Streams) -> ClientId {
        let id = ClientId(self.clients.len() as u32);
        let own = app.index() == self.scenario.applications.len();
        let config = config_of(self.scenario, app);
        let instance = self.add_identity(Identity { app, ordinal, number: 1 });
        let (own_zone, other_zones) = self.servers_known_to(app, ordinal);
        let address =
            self.scenario.applications.get(app.index()).map_or(Ipv4Addr::LOCALHOST, |application| {
                Ipv4Addr::from_bits(application.first_address.to_bits().wrapping_add(ordinal - 1))
            });
        let urls = ServerUrls { own_zone: &own_zone, other_zones: &other_zones, address };
        let client = Client::new(config, id, app, instance, urls);
        let skew = match self.scenario.applications.get(app.index()) {
            Some(application) => Skew::from_the_start(application.clock),
            None => self.servers[ordinal as usize - 1].skew.clone(),
        };
        self.clients.push(ClientNode {
            client,
            streams,
            app,
            ordinal,
            instance,
            identities: 1,
            state: State::Down,
            asks: NO_SERVER,
            stopping: false,
            lingers: false,
            calls_fail: 0.0,
            newcomer: false,
            waiting: None,
            node_faults: (!skew.is_exact()).then(|| Box::new(NodeFaults { skew, ..NodeFaults::default() })),
        });
        let observes = !own && config.fetches() && self.scenario.applications[app.index()].observers;
        let observed_services = match config.services() {
            _ if !observes => ObservedServices::Nothing,
            None => ObservedServices::Everything,
            Some(services) => ObservedServices::Services(services),
        };
        self.recorder.add_client(id, app, observed_services);
        if let Some(calls) = &mut self.calls {
            calls.add_client(app);
        }
        id
    }

    /// Draws when the next process calls through its balancer for the first time: uniform over one period of
    /// the balancer, after `lead` from its start. The lead of a fleet that starts together lasts until all have
    /// started and fetched once more. A call before that would mostly find an empty list, which is looked up
    /// again until a fetch fills it, and so would tie the balancer's phase to the fetch's.
    pub(super) fn draw_first_call(&mut self, client: ClientId, lead: SimDuration) {
        let node = &mut self.clients[client.index()];
        let Some(application) = self.scenario.applications.get(node.app.index()) else { return };
        let first_call = application.balancer_first_call.unwrap_or_else(|| {
            let period = balancer_period(&config_of(self.scenario, node.app).balancer());
            lead + node.streams.with(&self.seed).duration_below(purpose::BALANCER_FIRST_CALL, period)
        });
        node.client.set_first_call(first_call);
    }

    /// A new identity for a process that comes back under another instance id.
    pub(super) fn new_identity(&mut self, client: ClientId) -> InstanceId {
        let node = &mut self.clients[client.index()];
        node.identities += 1;
        let identity = Identity { app: node.app, ordinal: node.ordinal, number: node.identities };
        self.add_identity(identity)
    }

    fn add_identity(&mut self, identity: Identity) -> InstanceId {
        self.identities.push(identity);
        InstanceId(self.identities.len() as u32 - 1)
    }

    /// The process that an identity belongs to.
    pub(super) fn owner(&self, instance: InstanceId) -> ClientId {
        let Identity { app, ordinal, .. } = self.identities[instance.index()];
        match self.members.get(app.index()) {
            Some(members) => members[ordinal as usize - 1],
            None => self.servers[ordinal as usize - 1].own_client.expect("it had an identity made"),
        }
    }

    /// How an identity is called: `orders-7`, and `orders-7.2` once the process came back under another.
    pub(super) fn name_of(&self, instance: InstanceId) -> String {
        let number = self.identities[instance.index()].number;
        let name = self.name_of_process(self.owner(instance));
        if number == 1 { name } else { format!("{name}.{number}") }
    }

    /// How a process is called, whatever its identity: `orders-7`.
    pub(super) fn name_of_process(&self, client: ClientId) -> String {
        let node = &self.clients[client.index()];
        let application = self.scenario.applications.get(node.app.index());
        let name = application.map_or(OWN_APPLICATION, |application| &application.name);
        format!("{name}-{}", node.ordinal)
    }

    /// A server's own client, made when first needed.
    pub(super) fn own_client(&mut self, server: ServerId) -> Option<ClientId> {
        let config = self.scenario.setup.server();
        if self.servers[server.index()].own_client.is_none() && config.has_own_client() {
            let app = AppId(self.scenario.applications.len() as u32);
            let streams = Streams::of(&format!("{}/client", server_label(server)));
            let client = self.add_client(app, server.0 + 1, streams);
            self.servers[server.index()].own_client = Some(client);
        }
        self.servers[server.index()].own_client
    }

    /// The servers that an instance knows: those of its own zone, and the others. A server's own client knows its
    /// server's peers and the server itself, in one zone.
    fn servers_known_to(&self, app: AppId, ordinal: u32) -> (Vec<ServerId>, Vec<ServerId>) {
        let scenario = self.scenario;
        let all = || (0..scenario.servers.len() as u32).map(ServerId);
        let zone_of = |server: ServerId| scenario.servers[server.index()].zone;
        let Some(application) = scenario.applications.get(app.index()) else {
            let server = ServerId(ordinal - 1);
            let peers = &scenario.servers[server.index()].peers;
            return (all().filter(|&other| other == server || peers.contains(&other)).collect(), Vec::new());
        };
        match &application.server_list {
            ServerList::OneZone(servers) => (servers.clone(), Vec::new()),
            ServerList::Zones(zones) => {
                let first = zones[0];
                let known = |zone: ZoneId| all().filter(move |&server| zone_of(server) == Some(zone));
                let others = zones[1..].iter().filter(|&&zone| zone != first);
                (known(first).collect(), others.flat_map(|&zone| known(zone)).collect())
            }
            ServerList::OwnZoneFirst => {
                let own = application.zone_of(ordinal);
                all().partition(|&server| own.is_some() && zone_of(server) == own)
            }
        }
    }
}

fn server_label(server: ServerId) -> String {
    format!("server/{}", server.0 + 1)
}

pub(super) fn client_label(app: &str, ordinal: u32) -> String {
    format!("client/{app}/{ordinal}")
}

/// The networks of the applications' clients, last that of the servers' own, and between servers.
fn networks(scenario: &Scenario, schedule: &mut Schedule<Event>) -> Networks {
    let of_fleet = scenario.applications.iter().map(|it| it.network.unwrap_or(scenario.network));
    // A server's own client shares its host, so that nothing gets lost on the way; what it loses on the way to
    // another server is for the links between servers to say.
    let own = Network { loss: 0.0, ..scenario.network };
    let between_servers = scenario.server_network.unwrap_or(scenario.network);
    Networks::new(of_fleet.chain([own]), between_servers, |delay| schedule.lane(delay))
}

/// The settings of an application's clients, or of the servers' own.
#[inline]
pub(super) fn config_of(scenario: &Scenario, app: AppId) -> ClientConfig<'_> {
    scenario.setup.client_config(app).expect("only servers that have a client of their own make one")
}

/// How often a balancer looks at the local registry: the span of its phase.
const fn balancer_period(balancer: &BalancerConfig) -> SimDuration {
    match *balancer {
        BalancerConfig::None => SimDuration::ZERO,
        BalancerConfig::Ribbon { refresh_interval } => refresh_interval,
        BalancerConfig::SpringCloudLoadBalancer { ttl, .. } => ttl,
    }
}

/// The settings of all applications' clients and, last, of the servers' own, if they have any.
fn applications_and_own(scenario: &Scenario) -> impl Iterator<Item = ClientConfig<'_>> {
    (0..=scenario.applications.len() as u32).filter_map(|app| scenario.setup.client_config(AppId(app)))
}

/// What the wall clock shows when the first server starts. Caches tick on the clock's grid, so its phase is drawn:
/// uniform over a day, or within the minute that the scenario names.
fn starting_wall(scenario: &Scenario, seed: &Seed, streams: &mut Streams) -> crate::model::clock::WallMs {
    let offset_ms = match scenario.server_starts_at_second {
        Some(second) => second.as_millis(),
        None => streams.with(seed).below(STARTING_MOMENT, MINUTES_PER_DAY * 60_000),
    };
    MIDNIGHT.plus(offset_ms as i64)
}

/// Whether a run may end once nothing watched is open: only if no live instance can be removed later, by a fault
/// that has an aftermath, by a network that loses messages or delays them without limit, by servers that may have more
/// to do than they can, by a server's clock that runs faster or slower, or by settings that let leases expire between
/// heartbeats; and if nobody who has left can come back.
fn may_settle(scenario: &Scenario) -> bool {
    let has_no_aftermath = |verb: &FaultKind| match verb {
        FaultKind::Crash(targets) | FaultKind::Restart { targets, .. } => !targets.is_server(),
        FaultKind::Stop { .. }
        | FaultKind::Start { .. }
        | FaultKind::CrashLoop { .. }
        | FaultKind::RollOut { .. }
        | FaultKind::BlueGreen { .. }
        | FaultKind::Reclaim { .. } => true,
        FaultKind::Delete { dead, .. } => *dead,
        FaultKind::Pause { .. }
        | FaultKind::Pauses { .. }
        | FaultKind::Partition { .. }
        | FaultKind::Flap { .. }
        | FaultKind::Degrade { .. }
        | FaultKind::SlowHeartbeats { .. }
        | FaultKind::Clock { .. }
        | FaultKind::Unhealthy { .. }
        | FaultKind::Grey { .. }
        | FaultKind::FullDisk { .. }
        | FaultKind::Change(_)
        | FaultKind::Override { .. } => false,
    };
    let delivers = |network: Network| network.loss == 0.0 && !matches!(network.latency, Delay::Drawn(_));
    scenario.stop_when_settled
        && !scenario.faults.is_empty()
        && scenario.faults.iter().all(|fault| has_no_aftermath(&fault.verb))
        && scenario.server_clock.drift_ppm == 0
        && scenario.capacity.is_none()
        && delivers(scenario.network)
        && scenario.server_network.is_none_or(delivers)
        && scenario.setup.is_steady()
        && scenario.applications.iter().all(|application| application.network.is_none_or(delivers))
}
