//! The simulation against the closed forms, which share no code: every simulated T_D lies within its bound,
//! the mean comes close, and where the closed forms say that a dead instance stays, it stays.

use stillup::analysis::bounds;
use stillup::engine::SimDuration;
use stillup::model::eureka::client::{BalancerConfig, ClientConfig};
use stillup::model::eureka::{Flavour, ServerConfig};
use stillup::model::id::AppId;
use stillup::model::stage::{EventKind, Stage};
use stillup::scenario::{
    self, Application, Delay, Fault, FaultKind, Scenario, Selection, Settings, TargetChoice, Targets,
};

use crate::held::{Picks, detected, hold, hold_range, ms, run, s};
use crate::shipped::parse;

/// All defaults, these many instances by application, one of all crashes within a minute.
fn scenario(fleet: &[u32]) -> Scenario {
    let mut default = scenario::default_scenario().scenario;
    let application = |(place, &instances): (usize, &u32)| Application {
        name: format!("a{place}"),
        instances,
        ..default.applications[0].clone()
    };
    let applications = fleet.iter().enumerate().map(application).collect();
    default.set_applications(applications, AppId(0));
    default.setup.eureka_mut().unwrap().own_client = ClientConfig::defaults(Flavour::Spring);
    Scenario {
        seed: 20,
        replicates: 200,
        duration: s(1_500),
        faults: vec![fault(FaultKind::Crash(one()))],
        expectations: Vec::new(),
        ..default
    }
}

/// An orderly stop of these.
fn stop(targets: Targets) -> FaultKind {
    let Targets::Instances(targets) = targets else { panic!("a server does not stop") };
    FaultKind::Stop { targets, linger: SimDuration::ZERO, over: SimDuration::ZERO }
}

fn one() -> Targets {
    some(1)
}

fn some(count: u32) -> Targets {
    Targets::Instances(Selection { application: None, zone: None, which: TargetChoice::Count(count) })
}

fn fault(verb: FaultKind) -> Fault {
    Fault { at: SimDuration::ZERO, within: s(60), verb }
}

#[test]
fn defaults() {
    assert_eq!(hold(&scenario(&[20, 20])), 4);
}

#[test]
fn a_stop_and_a_registration() {
    let mut scenario = scenario(&[20]);
    scenario.faults = vec![fault(stop(one()))];
    assert_eq!(hold(&scenario), 4);
    scenario.faults =
        vec![fault(FaultKind::Start { application: AppId(0), count: 2, over: SimDuration::ZERO })];
    assert_eq!(hold(&scenario), 4);
    let restart = FaultKind::Restart {
        one_by_one: None,
        targets: one(),
        down_for: s(120),
        new_id: false,
        graceful: true,
    };
    scenario.faults = vec![fault(restart)];
    assert_eq!(hold(&scenario), 8);
}

#[test]
fn other_caches_and_balancers() {
    let mut scenario = scenario(&[20, 10]);
    scenario.setup.eureka_mut().unwrap().server.use_read_only_response_cache = false;
    scenario.setup.eureka_mut().unwrap().clients[0].balancer =
        BalancerConfig::Ribbon { refresh_interval: s(30) };
    scenario.setup.eureka_mut().unwrap().clients[1].balancer = BalancerConfig::None;
    scenario.setup.eureka_mut().unwrap().clients[1].registry_fetch_interval_seconds = 7;
    scenario.setup.eureka_mut().unwrap().clients[1].log_delta_diff = true;
    assert_eq!(hold(&scenario), 4);
    scenario.setup.eureka_mut().unwrap().server.use_read_only_response_cache = true;
    scenario.setup.eureka_mut().unwrap().server.disable_delta = true;
    scenario.server_starts_at_second = Some(s(12));
    assert_eq!(hold(&scenario), 4);
}

#[test]
fn latencies_as_long_as_intervals() {
    let mut scenario = scenario(&[20]);
    scenario.network.latency = Delay::Uniform(ms(100), ms(1_000));
    scenario.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
    scenario.setup.eureka_mut().unwrap().server.eviction_interval_timer_in_ms = 1_700;
    scenario.setup.eureka_mut().unwrap().server.response_cache_update_interval_ms = 1_100;
    let client = &mut scenario.setup.eureka_mut().unwrap().clients[0];
    client.lease_renewal_interval_in_seconds = 4;
    client.lease_expiration_duration_in_seconds = 7;
    client.registry_fetch_interval_seconds = 4;
    client.balancer = BalancerConfig::SpringCloudLoadBalancer { ttl: ms(900), call_rate: None };
    assert_eq!(hold(&scenario), 4);
}

#[test]
fn a_crash_before_the_first_heartbeat() {
    let mut scenario = scenario(&[20]);
    scenario.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
    scenario.start_window = s(5);
    scenario.warm_up = s(5);
    scenario.faults[0].within = s(15);
    assert_eq!(hold(&scenario), 4);
}

#[test]
fn a_server_with_a_client_of_its_own() {
    let mut scenario = scenario(&[30]);
    scenario.setup.eureka_mut().unwrap().server.register_with_eureka = true;
    scenario.setup.eureka_mut().unwrap().server.fetch_registry = true;
    scenario.setup.eureka_mut().unwrap().server.registry_sync_retries = 5;
    assert_eq!(hold(&scenario), 4);
}

#[test]
fn plain_netflix_after_the_first_update_of_the_threshold() {
    let mut scenario = scenario(&[20]);
    let settings = scenario.setup.eureka_mut().unwrap();
    settings.server = ServerConfig { fetch_registry: true, ..ServerConfig::defaults(Flavour::Netflix) };
    settings.clients = vec![ClientConfig::defaults(Flavour::Netflix)];
    scenario.warm_up = s(1_000);
    scenario.duration = s(2_400);
    assert_eq!(hold(&scenario), 4);
}

#[test]
fn small_fleets_keep_their_dead_just_when_the_closed_forms_say_so() {
    for fleet in 1..=20 {
        let mut scenario = scenario(&[fleet]);
        scenario.replicates = 20;
        let form = &bounds(&scenario)[Stage::Registry as usize].range;
        let seen = detected(&run(&scenario), EventKind::Crash, Stage::Registry).len();
        assert_eq!(seen, if form.is_ok() { 20 } else { 0 }, "n = {fleet}: {form:?}");
    }
}

#[test]
fn two_waves() {
    let mut scenario = scenario(&[40]);
    scenario.replicates = 100;
    let second = Fault { at: s(600), within: s(60), verb: FaultKind::Crash(some(4)) };
    scenario.faults = vec![fault(FaultKind::Crash(some(4))), second];
    assert_eq!(hold(&scenario), 4);
    scenario.setup.eureka_mut().unwrap().server.rules.decrement_expected_on_eviction = false;
    scenario.replicates = 10;
    assert_eq!(hold(&scenario), 0);
    let seen = detected(&run(&scenario), EventKind::Crash, Stage::Registry);
    let seen: u64 = seen.into_iter().map(|(_, count)| count).sum();
    assert_eq!(seen, 40, "the first four of ten replicates go, the second do not");
}

#[test]
fn the_shipped_scenarios() {
    // How many closed forms each has, of how many that were asked for.
    let forms = [
        ("balancer-loadbalancer", 4, 4),
        ("balancer-none", 4, 4),
        ("balancer-ribbon", 4, 4),
        ("blind-window", 0, 0),
        ("default-crash", 4, 4),
        ("fast-settings", 4, 4),
        ("fast-settings-small-fleet", 0, 4),
        ("fast-settings-ten-seconds", 4, 4),
        ("graceful-stop", 4, 4),
        ("heartbeat-60-expected-30", 0, 4),
        ("mass-death-unprotected", 0, 4),
        ("missed-heartbeats", 0, 0),
        ("read-only-cache-off", 8, 8),
        ("read-only-cache-on", 8, 8),
        ("registration-seen-by-all", 4, 4),
        ("rolling-restart-corrected", 0, 8),
        ("scale-down-graceful", 4, 8),
        ("scale-down-server-restarted", 0, 4),
        ("scale-down-untold", 0, 4),
        ("scale-out-storm", 4, 8),
        ("self-preservation-saves-a-partitioned-fleet", 0, 0),
        ("self-preservation-traps-the-dead", 0, 4),
        ("server-pause", 0, 0),
        ("shared-server-paused", 0, 4),
        ("small-fleet-10-in-self-preservation", 0, 4),
        ("small-fleet-13-evicted", 4, 4),
        ("small-fleets", 4, 4),
        ("spot-reclaim-14", 0, 4),
        ("spot-reclaim-16", 0, 4),
        ("spot-reclaim-heeded", 0, 8),
        ("stale-caller", 3, 4),
        ("two-waves-before-1-9-17", 0, 4),
        ("two-waves-since-1-9-17", 4, 4),
    ];
    for (name, present, asked) in forms {
        let path = format!("{}/scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let mut scenario = scenario::load(path.as_ref(), &[]).expect("a shipped scenario").scenario;
        scenario.replicates = scenario.replicates.min(60);
        assert_eq!(bounds(&scenario).len(), asked, "{name}");
        assert_eq!(hold_range(&scenario), present, "{name}: {:?}", bounds(&scenario));
    }
}

#[test]
fn settings_of_all_kinds() {
    // Every combination of these, in a fixed order of pseudo-random picks: what has a closed form holds.
    let mut pick = Picks(1);
    let mut held = 0;
    for case in 0..60 {
        let mut scenario = scenario(&[pick.of(&[15, 25]), pick.of(&[5, 20])]);
        scenario.replicates = 25;
        scenario.seed = case;
        scenario.network.latency = pick.of(&[
            Delay::Constant(SimDuration::ZERO),
            Delay::Constant(ms(20)),
            Delay::Uniform(SimDuration::ZERO, ms(300)),
        ]);
        scenario.start_window = pick.of(&[SimDuration::ZERO, s(1), s(30), s(100)]);
        scenario.warm_up = pick.of(&[s(10), s(60), s(300)]);
        let Settings { server, clients, .. } = scenario.setup.eureka_mut().unwrap();
        server.enable_self_preservation = pick.of(&[true, false]);
        server.eviction_interval_timer_in_ms = pick.of(&[1_000, 5_500, 60_000, 90_000]);
        server.response_cache_update_interval_ms = pick.of(&[500, 7_000, 30_000]);
        server.expected_client_renewal_interval_seconds = pick.of(&[10, 30]);
        server.eviction_before_bucket = pick.of(&[true, false]);
        server.fetch_registry = pick.of(&[true, false]);
        server.registry_sync_retries = pick.of(&[0, 5]);
        server.renewal_threshold_update_interval_ms = pick.of(&[60_000, 900_000]);
        for client in clients {
            client.lease_renewal_interval_in_seconds = pick.of(&[5, 10, 30, 35]);
            client.lease_expiration_duration_in_seconds = pick.of(&[10, 40, 90]);
            client.registry_fetch_interval_seconds = pick.of(&[5, 30]);
            client.disable_delta = pick.of(&[true, false]);
            client.instance_enabled_onit = pick.of(&[true, false]);
        }
        scenario.faults = match pick.of(&[0, 1, 2, 3]) {
            0 => vec![fault(FaultKind::Crash(some(3)))],
            1 => vec![fault(FaultKind::Crash(one())), fault(stop(one()))],
            2 => vec![
                fault(FaultKind::Start { application: AppId(1), count: 2, over: SimDuration::ZERO }),
                fault(stop(some(2))),
            ],
            _ => vec![fault(FaultKind::Crash(one()))],
        };
        held += hold_range(&scenario);
    }
    assert!(held > 100, "only {held} closed forms were looked at");
}

/// Stops and starts at moments of their own, a part of one zone, and instances that are killed when their notice
/// ends.
#[test]
fn spread_out_zoned_and_reclaimed() {
    let read = |fault: &str| {
        let text = format!(
            "replicates = 200\nduration = \"25m\"\nseed = 20\n\
             [[application]]\nname = \"a\"\ninstances = 24\nzones = [\"east\", \"west\", \"west\"]\n\
             [[application]]\nname = \"b\"\ninstances = 10\nzones = [\"east\"]\n[application.eureka.client]\n\
             registry-fetch-interval-seconds = 10\n[[fault]]\n{fault}\n"
        );
        parse("test.toml", &text, &[])
    };
    for fault in [
        "stop = { count = 5, over = \"1m\", linger = \"10s\" }",
        "start = { application = \"a\", count = 3, over = \"1m\" }",
        "crash = { count = 1, zone = \"west\" }",
        "stop = { all = true, zone = \"east\", application = \"a\" }",
        "reclaim = { count = 2, notice = \"2m\" }",
        "reclaim = { count = 2, notice = \"2m\", heeded = 1.0 }",
    ] {
        assert_eq!(hold(&read(fault)), 4, "{fault}");
    }
}

/// What only callers notice moves nothing.
#[test]
fn beside_grey_failures_and_cut_callers() {
    let text = "replicates = 200\nduration = \"25m\"\nseed = 20\n[traffic]\ncalls-per-second = 0.2\n\
                [balancer]\ncalls-per-second = \"dense\"\n[server.clock]\noffset = \"-7s\"\n\
                [[application]]\nname = \"a\"\ninstances = 20\n[application.clock]\noffset = \"1h\"\ndrift-ppm = 50\n\
                [[application]]\nname = \"b\"\ninstances = 10\n[[fault]]\ncrash = { count = 1 }\n\
                [[fault]]\ngrey = { count = 5 }\n[[fault]]\npartition = { count = 5, peer = { application = \"a\" } }\n";
    assert_eq!(hold(&parse("test.toml", text, &[])), 4);
}
