//! A world for each seed: its fleet, its servers, its network, its clocks.

use std::net::Ipv4Addr;

use stillup::engine::{Distribution, Purpose, Rng, Seed, SimDuration, Streams};
use stillup::model::eureka::client::{BalancerConfig, ClientConfig, TransportConfig, TransportKind};
use stillup::model::eureka::{Eureka, Flavour, ServerConfig};
use stillup::model::id::ServerId;
use stillup::model::message::RequestKind;
use stillup::scenario::{
    Application, Capacity, Clock, Delay, Network, Scenario, ServerList, ServerNode, Settings, ZoneId,
    default_scenario,
};

use super::faults::{LENGTH_MAX, fault};

/// From the last heal until everybody must agree: a supervisor's longest back-off, a read limit, a lease, a few
/// rounds of everything.
const CALM: SimDuration = SimDuration::from_secs(2_400);

/// What everything is drawn with.
pub(crate) struct Draw<'a>(Rng<'a>);

impl Draw<'_> {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(Purpose(0), bound)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    pub(crate) fn seconds(&mut self, of: &[u64]) -> SimDuration {
        SimDuration::from_secs(self.one_of(of))
    }
}

/// The world of a seed.
pub(crate) fn scenario(seed: u64) -> Scenario {
    let (key, mut streams) = (Seed::new(seed, 0), Streams::of("swarm"));
    let mut draw = Draw(streams.with(&key));
    let flavour = if draw.chance(20) { Flavour::Netflix } else { Flavour::Spring };
    let client = client(&mut draw, flavour);
    let servers = servers(&mut draw);
    let count = servers.len() as u64;
    let applications = (0..1 + draw.below(4))
        .map(|number| Application {
            name: format!("app{number}"),
            instances: 1 + draw.below(25) as u32,
            observers: draw.chance(90),
            balancer_first_call: None,
            zones: if draw.chance(50) { vec![ZoneId(0), ZoneId(1)] } else { Vec::new() },
            server_list: server_list(&mut draw, count),
            first_address: Ipv4Addr::new(10, 0, 1, 1),
            network: draw
                .chance(20)
                .then_some(Network { loss: 0.0, latency: Delay::Constant(SimDuration::from_millis(20)) }),
            traffic: None,
            clock: clock(&mut draw),
        })
        .collect::<Vec<_>>();
    let faults =
        (0..draw.below(6)).map(|_| fault(&mut draw, applications.len() as u64, count)).collect::<Vec<_>>();
    let last = faults.iter().map(|fault| fault.at + fault.within + LENGTH_MAX).max();
    let server = server(&mut draw, flavour, &client);
    let servers_start_window = draw.seconds(&[0, 5, 60]);
    let (server_network, capacity) = (server_network(&mut draw), capacity(&mut draw));
    Scenario {
        title: format!("swarm {seed}"),
        seed,
        replicates: 1,
        duration: SimDuration::from_secs(600) + last.unwrap_or_default() + CALM,
        stop_when_settled: draw.chance(50),
        start_window: draw.seconds(&[0, 5, 30]),
        warm_up: draw.seconds(&[0, 60, 300]),
        event_budget: 20_000_000,
        setup: Settings::<Eureka> {
            release: "swarm".to_owned(),
            server,
            own_client: ClientConfig::defaults(flavour),
            clients: vec![client; applications.len()],
        }
        .into(),
        server_clock: clock(&mut draw),
        servers,
        servers_start_window,
        server_network,
        capacity,
        zones: vec!["a".to_owned(), "b".to_owned()],
        applications,
        network: Network {
            loss: if draw.chance(10) { 0.05 } else { 0.0 },
            latency: match draw.below(4) {
                3 => Delay::Drawn(
                    Distribution::log_normal(SimDuration::from_millis(2), 1.0).expect("longer than zero"),
                ),
                0 => Delay::Constant(SimDuration::ZERO),
                1 => Delay::Constant(SimDuration::from_millis(1)),
                _ => Delay::Uniform(SimDuration::from_nanos(1), SimDuration::from_millis(200)),
            },
        },
        faults,
        expectations: Vec::new(),
        ..default_scenario().scenario
    }
}

/// One to four, each of which passes on to all others.
fn servers(draw: &mut Draw<'_>) -> Vec<ServerNode> {
    let count = draw.one_of(&[1, 1, 2, 3, 4]);
    let in_zones = draw.chance(50);
    let all = || (0..count).map(ServerId);
    all()
        .map(|own| ServerNode {
            starts_after: None,
            zone: in_zones.then_some(ZoneId(own.0 as u16 % 2)),
            peers: all().filter(|other| *other != own).collect(),
        })
        .collect()
}

/// All servers, with or without those of the own zone first, or seldom just one.
fn server_list(draw: &mut Draw<'_>, count: u64) -> ServerList {
    match draw.below(10) {
        0 => ServerList::OneZone(vec![ServerId(draw.below(count) as u32)]),
        1..4 => ServerList::OwnZoneFirst,
        _ => ServerList::OneZone((0..count as u32).map(ServerId).collect()),
    }
}

fn server_network(draw: &mut Draw<'_>) -> Option<Network> {
    let latency = match draw.below(4) {
        0 => Delay::Constant(SimDuration::from_millis(90)),
        1 => Delay::Uniform(SimDuration::ZERO, SimDuration::from_millis(150)),
        _ => return None,
    };
    Some(Network { loss: 0.0, latency })
}

/// Enough for all, though not at once.
fn capacity(draw: &mut Draw<'_>) -> Option<Capacity> {
    draw.chance(20).then(|| Capacity {
        threads: 1 + draw.below(4) as u32,
        service: [Distribution::constant(SimDuration::from_millis(2)); RequestKind::COUNT],
        item: Distribution::constant(SimDuration::from_nanos(200_000)),
    })
}

fn clock(draw: &mut Draw<'_>) -> Clock {
    match draw.below(5) {
        0 => Clock {
            offset_ms: draw.one_of(&[-3_600_000, -7, 120_000]),
            drift_ppm: draw.one_of(&[-200, 0, 200]),
        },
        _ => Clock::default(),
    }
}

fn client(draw: &mut Draw<'_>, flavour: Flavour) -> ClientConfig {
    let heartbeat = draw.one_of(&[2, 5, 30]);
    let kinds = [
        TransportKind::Jersey,
        TransportKind::RestTemplate,
        TransportKind::RestClient,
        TransportKind::WebClient,
    ];
    ClientConfig {
        lease_renewal_interval_in_seconds: heartbeat,
        lease_expiration_duration_in_seconds: heartbeat * (2 + draw.below(3) as u32),
        registry_fetch_interval_seconds: draw.one_of(&[3, 10, 30]),
        disable_delta: draw.chance(10),
        log_delta_diff: draw.chance(5),
        healthcheck_enabled: draw.chance(25),
        transport: TransportConfig::of_kind(draw.one_of(&kinds)),
        balancer: draw.one_of(&[
            BalancerConfig::None,
            BalancerConfig::Ribbon { refresh_interval: SimDuration::from_secs(30) },
            BalancerConfig::SpringCloudLoadBalancer { ttl: SimDuration::from_secs(35), call_rate: None },
            BalancerConfig::SpringCloudLoadBalancer { ttl: SimDuration::from_secs(5), call_rate: Some(0.5) },
        ]),
        ..ClientConfig::defaults(flavour)
    }
}

fn server(draw: &mut Draw<'_>, flavour: Flavour, client: &ClientConfig) -> ServerConfig {
    let own = draw.chance(15);
    ServerConfig {
        enable_self_preservation: draw.chance(50),
        expected_client_renewal_interval_seconds: client.lease_renewal_interval_in_seconds,
        eviction_interval_timer_in_ms: draw.one_of(&[1_000, 4_000, 60_000]),
        use_read_only_response_cache: draw.chance(70),
        response_cache_update_interval_ms: draw.one_of(&[1_000, 3_000, 30_000]),
        disable_delta: draw.chance(10),
        registry_sync_retries: if own { 5 } else { 0 },
        register_with_eureka: own,
        fetch_registry: own,
        process_backlog_after_pause: draw.chance(80),
        eviction_before_bucket: draw.chance(20),
        ..ServerConfig::defaults(flavour)
    }
}
