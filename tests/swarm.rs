//! Swarm: worlds drawn at random, faults and all. Safety holds at every moment, liveness after the last heal.
//!
//! A failing world prints the command that brings it back. `STILLUP_SWARM=N` runs N worlds, `STILLUP_SWARM_SEED=S`
//! just one.

use std::sync::atomic::AtomicBool;

use stillup::engine::{Chance, Dice, Distribution, Purpose, Seed, SimDuration};
use stillup::model::client::{BalancerConfig, ClientConfig, TransportConfig, TransportKind};
use stillup::model::eureka::{Flavour, ServerConfig};
use stillup::model::id::AppId;
use stillup::model::message::Status;
use stillup::model::stage::Stage;
use stillup::observe::{Ending, Outcome, Removal, ReplicateData};
use stillup::scenario::{
    Application, Batch, Change, Clock, Delay, Direction, Fault, HealthVia, Network, Order, Peer, Scenario,
    Selection, Targets, Verb, Which, ZoneId, default_scenario,
};
use stillup::world;

/// Worlds in an ordinary run of the tests.
const WORLDS: u64 = 60;

/// From the last heal until everybody must agree: a supervisor's longest back-off, a read limit, a lease, a few
/// rounds of everything.
const CALM: SimDuration = SimDuration::from_secs(2_400);

struct Draw<'a>(Dice<'a>);

impl Draw<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.below(Purpose(0), bound)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    fn seconds(&mut self, of: &[u64]) -> SimDuration {
        SimDuration::from_secs(self.one_of(of))
    }
}

fn scenario(seed: u64) -> Scenario {
    let (key, mut chance) = (Seed::new(seed, 0), Chance::of("swarm"));
    let mut draw = Draw(chance.with(&key));
    let flavour = if draw.chance(20) { Flavour::Netflix } else { Flavour::Spring };
    let client = client(&mut draw, flavour);
    let applications = (0..1 + draw.below(4))
        .map(|number| Application {
            name: format!("app{number}"),
            instances: 1 + draw.below(25) as u32,
            observers: draw.chance(90),
            balancer_first_call: None,
            client: client.clone(),
            zones: if draw.chance(50) { vec![ZoneId(0), ZoneId(1)] } else { Vec::new() },
            network: draw
                .chance(20)
                .then_some(Network { loss: 0.0, latency: Delay::Constant(SimDuration::from_millis(20)) }),
            traffic: None,
            clock: clock(&mut draw),
        })
        .collect::<Vec<_>>();
    let faults = (0..draw.below(6)).map(|_| fault(&mut draw, applications.len() as u64)).collect::<Vec<_>>();
    let last = faults.iter().map(|fault| fault.at + fault.within + SimDuration::from_secs(300)).max();
    let server = server(&mut draw, flavour, &client);
    Scenario {
        title: format!("swarm {seed}"),
        seed,
        replicates: 1,
        duration: SimDuration::from_secs(600) + last.unwrap_or_default() + CALM,
        stop_when_settled: draw.chance(50),
        start_window: draw.seconds(&[0, 5, 30]),
        warm_up: draw.seconds(&[0, 60, 300]),
        event_budget: 20_000_000,
        release: "swarm".to_owned(),
        server,
        server_client: ClientConfig::defaults(flavour),
        server_clock: clock(&mut draw),
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

fn fault(draw: &mut Draw<'_>, applications: u64) -> Fault {
    let application = AppId(draw.below(applications) as u32);
    let other = AppId(draw.below(applications) as u32);
    let selection = Selection {
        application: draw.chance(50).then_some(application),
        zone: draw.chance(20).then_some(ZoneId(draw.below(2) as u16)),
        which: match draw.below(3) {
            0 => Which::All,
            1 => Which::Count(1 + draw.below(5) as u32),
            _ => Which::Share(draw.below(100) as f64 / 100.0),
        },
    };
    let verb = match draw.below(5) {
        0 => of_processes(draw, selection, application),
        1 => of_pauses_and_clocks(draw, selection),
        2 => of_links(draw, selection, other),
        3 => of_health_and_operators(draw, selection),
        _ => of_fleets(draw, selection, application, other),
    };
    Fault { at: draw.seconds(&[0, 20, 200]), within: draw.seconds(&[0, 30]), verb }
}

fn length(draw: &mut Draw<'_>) -> SimDuration {
    draw.seconds(&[1, 10, 40, 120, 300])
}

/// Something that takes seconds, now and then next to nothing, and seldom minutes.
fn random_length(draw: &mut Draw<'_>) -> Distribution {
    let seconds = draw.seconds(&[1, 5, 30]);
    match draw.below(4) {
        0 => Distribution::constant(seconds),
        1 => Distribution::uniform(SimDuration::ZERO, seconds).expect("in order"),
        2 => Distribution::exponential(seconds).expect("longer than zero"),
        _ => Distribution::log_normal(seconds, 1.0).expect("longer than zero"),
    }
}

fn server_or(draw: &mut Draw<'_>, selection: Selection) -> Targets {
    if draw.chance(20) { Targets::Server } else { Targets::Instances(selection) }
}

fn direction(draw: &mut Draw<'_>) -> Direction {
    draw.one_of(&[Direction::Both, Direction::ToServer, Direction::FromServer])
}

fn of_processes(draw: &mut Draw<'_>, selection: Selection, application: AppId) -> Verb {
    match draw.below(5) {
        0 => Verb::Crash(Targets::Instances(selection)),
        1 => Verb::Stop { targets: selection, linger: draw.seconds(&[0, 20]), over: draw.seconds(&[0, 60]) },
        2 => Verb::Restart {
            targets: server_or(draw, selection),
            down_for: length(draw),
            new_id: draw.chance(50),
            graceful: draw.chance(50),
        },
        3 => Verb::CrashLoop {
            targets: selection,
            up_for: random_length(draw),
            down_for: random_length(draw),
            new_id: draw.chance(20),
            length: Some(length(draw)),
        },
        _ => Verb::Start { application, count: 1 + draw.below(5) as u32, over: draw.seconds(&[0, 30]) },
    }
}

fn of_pauses_and_clocks(draw: &mut Draw<'_>, selection: Selection) -> Verb {
    let targets = server_or(draw, selection);
    match draw.below(4) {
        0 => Verb::Pause { targets, length: Distribution::constant(length(draw)) },
        1 => Verb::Pause { targets, length: random_length(draw) },
        2 => Verb::Pauses {
            targets,
            every: random_length(draw),
            lasting: random_length(draw),
            length: Some(length(draw)),
        },
        _ => Verb::Clock {
            targets,
            step_ms: draw.one_of(&[-300_000, -60_000, -1_500, 0, 1_500, 60_000, 300_000]),
            drift_ppm: draw.one_of(&[-10_000, 0, 0, 10_000]),
            length: draw.chance(50).then(|| length(draw)),
        },
    }
}

fn of_links(draw: &mut Draw<'_>, targets: Selection, application: AppId) -> Verb {
    let peer = draw.one_of(&[
        Peer::Server,
        Peer::Server,
        Peer::All,
        Peer::Instances { application: Some(application), zone: None },
    ]);
    let length = Some(length(draw));
    match draw.below(3) {
        0 => Verb::Partition { targets, peer, length, lost: direction(draw) },
        1 => Verb::Flap {
            targets,
            peer,
            up_for: random_length(draw),
            down_for: random_length(draw),
            length,
            lost: direction(draw),
        },
        _ => Verb::Degrade {
            targets,
            peer,
            loss: draw.one_of(&[0.0, 0.05, 0.5, 1.0]),
            latency: draw.chance(50).then(|| random_length(draw)),
            length,
            direction: direction(draw),
        },
    }
}

fn of_health_and_operators(draw: &mut Draw<'_>, targets: Selection) -> Verb {
    let length = draw.chance(80).then(|| length(draw));
    match draw.below(7) {
        0 => Verb::SlowHeartbeats {
            targets,
            delay: random_length(draw),
            length: length.or(Some(SimDuration::ZERO)),
        },
        1 => Verb::Grey { targets, calls_fail: 0.5, length },
        2 => Verb::Override {
            targets,
            status: draw.one_of(&[Status::OutOfService, Status::OutOfService, Status::Down, Status::Up]),
            length,
        },
        3 => Verb::Delete { targets, dead: draw.chance(50) },
        4 => Verb::Change(vec![draw.one_of(&[
            Change::EnableSelfPreservation(true),
            Change::EnableSelfPreservation(false),
            Change::RenewalPercentThreshold(0.5),
            Change::ExpectedClientRenewalIntervalSeconds(10),
            Change::DisableDelta(true),
            Change::SyncWhenTimestampDiffers(false),
        ])]),
        _ => Verb::Unhealthy {
            targets,
            via: draw.one_of(&[HealthVia::HealthCheck, HealthVia::StatusChange]),
            length,
            calls_fail: 1.0,
        },
    }
}

fn of_fleets(draw: &mut Draw<'_>, targets: Selection, application: AppId, to: AppId) -> Verb {
    let (wait, graceful, linger) = (draw.seconds(&[0, 30]), draw.chance(50), draw.seconds(&[0, 20]));
    let order = draw.one_of(&[Order::StopFirst, Order::StartFirst]);
    match draw.below(3) {
        0 => Verb::RollOut {
            application,
            batch: Batch::Share(draw.one_of(&[0.25, 0.5, 1.0])),
            wait,
            down_for: if order == Order::StopFirst { draw.seconds(&[0, 20]) } else { SimDuration::ZERO },
            graceful,
            linger,
            new_id: order == Order::StartFirst || draw.chance(50),
            order,
        },
        1 => Verb::BlueGreen { from: application, to, wait, graceful, linger },
        _ => Verb::Reclaim { targets, notice: length(draw), heeded: draw.one_of(&[0.0, 0.6, 1.0]) },
    }
}

/// What no world may do at any moment.
fn safety(scenario: &Scenario, data: &ReplicateData) -> Vec<String> {
    let mut broken = Vec::new();
    let mut check = |holds: bool, what: String| {
        if !holds {
            broken.push(what);
        }
    };
    check(data.ending != Ending::Budget, format!("{} events", data.events));
    let leases = data.leases;
    check(
        leases.created == leases.cancelled + leases.evicted + leases.lost + u64::from(data.left_at_end),
        format!("leases do not add up: {leases:?}, {} left", data.left_at_end),
    );
    for (at, round) in &data.rounds {
        check(round.enabled, format!("a round evicted behind a shut gate at {at}"));
        check(round.evicted <= round.limit, format!("a round went beyond its limit at {at}: {round:?}"));
        check(round.evicted <= round.expired, format!("a round evicted the living at {at}: {round:?}"));
    }
    let injected = data.faults.len() == scenario.faults.len();
    check(injected || data.ending == Ending::Budget, format!("not all faults came: {:?}", data.faults));
    let lease = scenario.applications[0].client.lease_expiration_duration_in_seconds;
    let earliest = SimDuration::from_secs(u64::from(lease));
    let server_clock_is_exact = scenario.server_clock.drift_ppm == 0
        && !scenario
            .faults
            .iter()
            .any(|fault| matches!(&fault.verb, Verb::Clock { .. } if fault.verb.hits_server()));
    let evicted = data.mistakes.iter().filter(|mistake| mistake.removal == Removal::Evicted);
    for mistake in evicted.filter(|_| server_clock_is_exact) {
        check(mistake.at.since(stillup::engine::SimTime::ZERO) > earliest, format!("too early: {mistake:?}"));
    }
    let server_untouched = data
        .faults
        .iter()
        .all(|fault| fault.verb == "crash" || fault.verb == "start" || fault.verb == "stop");
    if server_untouched && scenario.warm_up >= SimDuration::from_secs(300) {
        stages_in_order(data, &mut check);
    }
    broken
}

/// Along one path nothing is noticed downstream before it is upstream.
fn stages_in_order(data: &ReplicateData, check: &mut impl FnMut(bool, String)) {
    for row in data.detections.iter().filter(|row| row.stage != Stage::Registry) {
        let Outcome::Detected(after) = row.outcome else { continue };
        let upstream = Stage::ALL[row.stage as usize - 1];
        let earliest = data
            .detections
            .iter()
            .filter(|other| {
                (other.at, other.instance, other.event, other.stage)
                    == (row.at, row.instance, row.event, upstream)
            })
            .map(|other| match other.outcome {
                Outcome::Detected(after) | Outcome::Censored(after) | Outcome::Superseded(after) => after,
            })
            .min();
        check(
            earliest.is_none_or(|earliest| earliest <= after),
            format!("{} before {}: {row:?}, {earliest:?}", row.stage.name(), upstream.name()),
        );
    }
}

/// Whether a world is ever left alone. A network that goes on to lose messages is not. And an instance whose clock was
/// set back may have a record that its server takes for old, and holds to the newer one, for good if nothing changes
/// again (`eureka-client.md` 9.2).
fn comes_to_rest(scenario: &Scenario) -> bool {
    let goes_back = |verb: &Verb| match verb {
        Verb::Clock { targets, step_ms, drift_ppm, length } => {
            !targets.is_server() && (*step_ms < 0 || (length.is_some() && (*step_ms, *drift_ppm) != (0, 0)))
        }
        _ => false,
    };
    scenario.network.loss == 0.0 && !scenario.faults.iter().any(|fault| goes_back(&fault.verb))
}

/// What every world must reach once it is left alone.
fn liveness(data: &ReplicateData) -> Vec<String> {
    let agreement = data.agreement;
    let mut broken = Vec::new();
    if agreement.missing_in_registry > 0 {
        broken.push(format!("live instances are missing in the registry: {agreement:?}"));
    }
    if agreement.missing_in_views > 0 {
        broken.push(format!("live instances are missing in views: {agreement:?}"));
    }
    broken
}

#[test]
fn random_worlds_are_safe_and_come_to_rest() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seeds = match number("STILLUP_SWARM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("STILLUP_SWARM").unwrap_or(WORLDS),
    };
    for seed in seeds {
        let scenario = scenario(seed);
        let data = world::run(&scenario, 0, &AtomicBool::new(false)).expect("nobody interrupts");
        let mut broken = safety(&scenario, &data);
        if data.ending == Ending::Duration && comes_to_rest(&scenario) {
            broken.extend(liveness(&data));
        }
        assert!(
            broken.is_empty(),
            "world {seed}: {broken:#?}\nSTILLUP_SWARM_SEED={seed} cargo test --test swarm\n{:#?}",
            scenario.faults
        );
    }
}
