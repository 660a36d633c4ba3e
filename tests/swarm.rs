//! Swarm: worlds drawn at random, faults and all. Safety holds at every moment, liveness after the last heal.
//!
//! A failing world prints the command that brings it back. `STILLUP_SWARM=N` runs N worlds, `STILLUP_SWARM_SEED=S`
//! just one.

use std::sync::atomic::AtomicBool;

use stillup::engine::{Chance, Dice, Distribution, Purpose, Seed, SimDuration};
use stillup::model::client::{BalancerConfig, ClientConfig, TransportConfig, TransportKind};
use stillup::model::eureka::{Flavour, ServerConfig};
use stillup::model::id::AppId;
use stillup::model::stage::Stage;
use stillup::observe::{Ending, Outcome, Removal, ReplicateData};
use stillup::scenario::{
    Application, Clock, Delay, Direction, Fault, Network, Peer, Scenario, Selection, Targets, Verb, Which,
    default_scenario,
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
            zones: Vec::new(),
            network: None,
            traffic: None,
            clock: Clock::default(),
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
        server_clock: Clock::default(),
        zones: Vec::new(),
        applications,
        network: Network {
            loss: 0.0,
            latency: match draw.below(3) {
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
    let selection = Selection {
        application: draw.chance(50).then_some(application),
        zone: None,
        which: match draw.below(3) {
            0 => Which::All,
            1 => Which::Count(1 + draw.below(5) as u32),
            _ => Which::Share(draw.below(100) as f64 / 100.0),
        },
    };
    let targets = if draw.chance(20) { Targets::Server } else { Targets::Instances(selection.clone()) };
    let length = draw.seconds(&[1, 10, 40, 120, 300]);
    let verb = match draw.below(6) {
        0 => Verb::Crash(Targets::Instances(selection)),
        1 => Verb::Stop { targets: selection, linger: SimDuration::ZERO, over: SimDuration::ZERO },
        2 => Verb::Restart { targets, down_for: length, new_id: draw.chance(50), graceful: draw.chance(50) },
        3 => Verb::Pause { targets, length: Distribution::constant(length) },
        4 => Verb::Partition {
            targets: selection,
            peer: Peer::Server,
            length: Some(length),
            lost: draw.one_of(&[Direction::Both, Direction::ToServer, Direction::FromServer]),
        },
        _ => Verb::Start { application, count: 1 + draw.below(5) as u32, over: SimDuration::ZERO },
    };
    Fault { at: draw.seconds(&[0, 20, 200]), within: draw.seconds(&[0, 30]), verb }
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
    let lease = scenario.applications[0].client.lease_expiration_duration_in_seconds;
    let earliest = SimDuration::from_secs(u64::from(lease));
    for mistake in data.mistakes.iter().filter(|mistake| mistake.removal == Removal::Evicted) {
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
        if data.ending == Ending::Duration {
            broken.extend(liveness(&data));
        }
        assert!(
            broken.is_empty(),
            "world {seed}: {broken:#?}\nSTILLUP_SWARM_SEED={seed} cargo test --test swarm\n{:#?}",
            scenario.faults
        );
    }
}
