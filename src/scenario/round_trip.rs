//! What is printed is read back: every corner of the format, and scenarios at random.

mod two_stage;

use super::print::string;
use super::types::{Scenario, ServerList, ServerNode};
use super::{Loaded, canonical, parse};
use crate::engine::SimDuration;
use crate::model::eureka::client::ServerOrder;
use crate::model::id::ServerId;

fn read(text: &str) -> Scenario {
    match parse("test.toml", text, &[]) {
        Ok(Loaded { scenario, .. }) => scenario,
        Err(problems) => panic!("{problems}\n{text}"),
    }
}

fn comes_back(text: &str) {
    let scenario = read(text);
    let printed = canonical(&scenario);
    assert_eq!(read(&printed), scenario, "{printed}");
    assert_eq!(canonical(&read(&printed)), printed);
}

#[test]
fn a_small_scenario_comes_back() {
    comes_back("[[application]]\nname = \"a\"\n");
}

#[test]
fn every_corner_comes_back() {
    comes_back(
        r#"
title = "quotes \" and \\ and ü"
about = """
two
lines"""
seed = 18446744073709551615
flavour = "spring"
[server]
register-with-eureka = true
starts-at-second = "59s 999ms 999us 999ns"
[server.eureka.client]
registry-fetch-interval-seconds = 5
[server.transport]
read-timeout = "none"
[eureka.instance.registry]
default-open-for-traffic-count = 0
[network]
latency = { uniform = ["1ns", "5ms"] }
[[application]]
name = "a-1"
instances = 3
[application.balancer]
kind = "ribbon"
first-call = "3s"
[application.transport]
kind = "jersey"
[application.eureka.instance]
initial-status = "none"
[[application]]
name = "a"
instances = 0
observers = false
[application.balancer]
calls-per-second = 1e-3
[[fault]]
crash = { instances = ["a-1-1", "a-1"], }
[[fault]]
at = "1h"
within = "0s"
restart = { server = true }
[[fault]]
restart = { share = 0.3, application = "a-1", new-id = true, graceful = true }
[[fault]]
pause = { all = true, for = "1m" }
[[fault]]
partition = { count = 1, lost = "to-server" }
[[fault]]
start = { application = "a", count = 2 }
[[expect]]
that = "Balancer P99  below 5m30s"
in = 0.95
"#,
    );
}

/// Every verb with every key that it takes, and every way to name targets, peers and lengths.
const VERBS: [&str; 41] = [
    "crash = { count = 2, zone = \"east\" }",
    "crash = { server = true }",
    "stop = { share = 0.125, application = \"b\", linger = \"5s\", over = \"1m\" }",
    "restart = { instances = [\"a-1\"], zone = \"east\", down-for = \"1ms\" }",
    "crash-loop = { all = true, up-for = \"20s\" }",
    "crash-loop = { count = 1, up-for = { exponential = \"20s\" }, down-for = { uniform = [\"0s\", \"5s\"] }, \
     new-id = true, for = \"10m\" }",
    "pause = { server = true, for = \"1h 1ns\" }",
    "pause = { all = true, for = { pareto = { least = \"1s\", shape = 1.5 } } }",
    "pauses = { server = true, every = { exponential = \"5m\" }, lasting = { log-normal = { median = \"200ms\", \
     p99 = \"5s\" } } }",
    "pauses = { all = true, every = \"5m\", lasting = { normal = { mean = \"2s\", deviation = \"500ms\" } }, \
     for = \"20m\" }",
    "partition = { all = true, for = \"5m\" }",
    "partition = { count = 1, peer = \"all\", lost = \"to-peer\" }",
    "partition = { count = 1, peer = { zone = \"west\" }, lost = \"from-server\" }",
    "flap = { count = 1, peer = { application = \"b\", zone = \"west\" }, up-for = \"1m\", down-for = \"10s\" }",
    "degrade = { all = true, loss = 0.05 }",
    "degrade = { all = true, latency = { log-normal = { median = \"1s\", sigma = 1.2 } }, direction = \
     \"from-server\", for = \"1m\" }",
    "slow-heartbeats = { count = 1, delay = { uniform = [\"10s\", \"40s\"] }, for = \"10m\" }",
    "clock = { server = true, step = \"-60s\" }",
    "clock = { all = true, drift-ppm = -50, for = \"1h\" }",
    "unhealthy = { count = 1 }",
    "unhealthy = { count = 1, via = \"status-change\", calls-fail = 0.5, for = \"5m\" }",
    "grey = { share = 0.5, calls-fail = 0.1 }",
    "full-disk = { count = 1 }",
    "full-disk = { instances = [\"b-2\"], for = \"1m\" }",
    "change = { eureka.server.enable-self-preservation = false }",
    "change = { eureka = { server = { sync-when-timestamp-differs = false, disable-delta = true, \
     renewal-percent-threshold = 0.5, expected-client-renewal-interval-seconds = 5 } } }",
    "override = { count = 1, for = \"5m\" }",
    "override = { count = 1, status = \"DOWN\" }",
    "delete = { count = 1, dead = true }",
    "start = { application = \"b\", over = \"1m\" }",
    "roll-out = { application = \"a\", batch = 1, graceful = false, linger = \"30s\", new-id = false }",
    "roll-out = { application = \"a\", batch-share = 0.2, wait = \"2m\", order = \"start-first\" }",
    "blue-green = { from = \"a\", to = \"b\", wait = \"0s\", graceful = false }",
    "reclaim = { count = 1, notice = \"0s\", heeded = 0.75 }",
    "restart = { servers = \"all\", down-for = \"30s\", one-by-one = \"2m\" }",
    "pause = { servers = [\"server-3\", \"server-1\"], for = \"20s\" }",
    "partition = { servers = 2, lost = \"to-peer\", for = \"5m\" }",
    "flap = { servers = [\"server-2\"], peer = { servers = [\"server-3\", \"server-2\"] }, up-for = \"1m\", \
     down-for = \"1s\" }",
    "degrade = { servers = [\"server-1\"], peer = \"instances\", latency = \"300ms\" }",
    "partition = { all = true, peer = { servers = [\"server-2\"] }, lost = \"from-server\" }",
    "delete = { count = 1, at = \"server-3\" }",
];

#[test]
fn every_verb_is_among_them() {
    for form in &super::format_verb::VERBS {
        let name = form.key.name;
        assert!(VERBS.iter().any(|verb| verb.starts_with(&format!("{name} = "))), "{name}");
    }
}

/// Three servers, and two applications in two zones.
const ZONED: &str = "[server]\ncount = 3\n[[application]]\nname = \"a\"\ninstances = 3\nzones = [\"east\", \"west\"]\n\
                     [[application]]\nname = \"b\"\ninstances = 2\nzones = [\"west\"]\n";

/// The same with the one server of a two-stage registry.
fn zoned_two_stage() -> String {
    ZONED.replace("[server]\ncount = 3\n", "registry = \"two-stage\"\n")
}

/// Which registries know a verb: Eureka, the two-stage registry.
fn known_to(verb: &str) -> (bool, bool) {
    let is_one_of = |names: &[&str]| names.iter().any(|name| verb.starts_with(&format!("{name} = ")));
    (!is_one_of(&["full-disk"]), !is_one_of(&["change", "override", "unhealthy"]))
}

/// Whether a verb is about more than one server.
fn needs_several(verb: &str) -> bool {
    ["one-by-one", "server-2", "server-3", "servers = 2"].iter().any(|word| verb.contains(word))
}

#[test]
fn every_verb_comes_back() {
    for verb in VERBS {
        let (eureka, two_stage) = known_to(verb);
        if eureka {
            comes_back(&format!("{ZONED}[[fault]]\n{verb}\n"));
        }
        if two_stage && !needs_several(verb) {
            comes_back(&format!("{}[[fault]]\n{verb}\n", zoned_two_stage()));
        }
    }
}

#[test]
fn an_example_of_a_verb_is_one() {
    for form in &super::format_verb::VERBS {
        let fleet = ["orders", "blue", "green"].map(|name| format!("[[application]]\nname = \"{name}\"\n"));
        let (fleet, (eureka, two_stage)) = (fleet.concat(), known_to(form.example));
        let registries = [("eureka", eureka), ("two-stage", two_stage), ("nacos-1", two_stage)];
        for (registry, _) in registries.into_iter().filter(|(_, knows)| *knows) {
            comes_back(&format!("registry = \"{registry}\"\n{fleet}[[fault]]\n{}\n", form.example));
        }
    }
}

#[test]
fn zones_links_clocks_and_calls_come_back() {
    comes_back(
        r#"
[network]
latency = { pareto = { least = "1ms", shape = 2.5 } }
loss = 0.01
[server.clock]
offset = "-60s"
drift-ppm = -7
[traffic]
calls-per-second = 2.0
retries-on-next-instance = 1
[eureka.client]
healthcheck.enabled = true
[[application]]
name = "a"
instances = 5
zones = ["east", "east", "west"]
[application.network]
loss = 0.0
[application.clock]
drift-ppm = 100000
[[application]]
name = "b"
[application.eureka.client.healthcheck]
enabled = false
[application.traffic]
to = ["b", "a"]
calls-per-second = 0.5
read-timeout = "1s"
retries-on-same-instance = 2
[[application]]
name = "c"
zones = ["north"]
[application.eureka.client]
fetch-registry = false
"#,
    );
}

#[test]
fn servers_come_back() {
    let fleet = r#"
[[application]]
name = "a"
instances = 2
zones = ["east", "north"]
servers = ["server-2", "server-1"]
first-address = "192.168.0.254"
[[application]]
name = "b"
server-zones = ["west", "east"]
[[application]]
name = "c"
server-zones = "own-first"
[[expect]]
that = "self-preservation meanwhile on server-3"
[[expect]]
that = "servers agree 1m 5s after the last fault"
"#;
    for topology in [
        "topology = \"full-mesh\"",
        "topology = \"ring\"\nrecognises-own-url = false",
        "topology = \"none\"\nstart-window = \"0s\"",
        "peers = { server-3 = [\"server-1\", \"server-2\"], server-1 = [] }",
        "peers = { server-1 = [\"server-3\"] }\nrecognises-own-url = false",
        "starts-after = [\"3s\", \"0s\", \"1m 1ns\"]",
    ] {
        comes_back(&format!(
            "[server]\ncount = 3\nzones = [\"west\", \"east\"]\n{topology}\n[server.network]\nloss = 0.25\n\
             [server.capacity]\nthreads = 200\nrenew = {{ exponential = \"2ms\" }}\nreplicated-item = \"1ms\"\n\
             [eureka.server]\npeer-node-read-timeout-ms = 300\n{fleet}"
        ));
    }
    comes_back(
        "[server]\nrecognises-own-url = false\nstart-window = \"5s\"\n[[application]]\nname = \"a\"\n",
    );
}

#[test]
fn servers_have_their_defaults() {
    let scenario = read("[[application]]\nname = \"a\"\n[[application]]\nname = \"b\"\n");
    assert_eq!(scenario.servers, [ServerNode { starts_after: None, zone: None, peers: Vec::new() }]);
    let addresses = scenario.applications.iter().map(|app| app.first_address.to_string());
    assert_eq!(addresses.collect::<Vec<_>>(), ["10.0.1.1", "10.1.1.1"]);
    assert_eq!((scenario.servers_start_window, scenario.capacity), (SimDuration::ZERO, None));
    let ring = read("[server]\ncount = 4\ntopology = \"ring\"\n[[application]]\nname = \"a\"\n");
    let peers: Vec<_> = ring.servers.iter().map(|server| server.peers.as_slice()).collect();
    assert_eq!(peers, [[ServerId(1)], [ServerId(2)], [ServerId(3)], [ServerId(0)]]);
    assert_eq!(ring.servers_start_window, SimDuration::from_secs(60));
    let all = [0, 1, 2, 3].map(ServerId).to_vec();
    assert_eq!(ring.applications[0].server_list, ServerList::OneZone(all));
    let own = "[server]\ncount = 2\nrecognises-own-url = false\n[[application]]\nname = \"a\"\n";
    assert_eq!(read(own).servers[0].peers, [ServerId(1), ServerId(0)]);
}

#[test]
fn an_old_release_orders_servers_by_host() {
    let order = |release: &str| {
        let text = format!("release = \"{release}\"\n[[application]]\nname = \"a\"\n");
        read(&text).setup.eureka().expect("it is Eureka").clients[0].server_order
    };
    // Eureka 1.10.11 and 1.10.14 (`eureka-client.md` 0.2).
    assert_eq!(
        [order("2.2.8.RELEASE"), order("2.2.9.RELEASE")],
        [ServerOrder::ByHost, ServerOrder::Shuffled]
    );
}

proptest::proptest! {
    #[test]
    fn what_is_printed_is_read_back(
        title in "\\PC{0,20}",
        (seed, nanos, budget) in (0..=u64::MAX, 1..=1_000_000_000_000_u64, 1..=u64::MAX),
        (share, in_share, rate) in (0.0..=1.0_f64, 0.001..=1.0_f64, 0.001..=1e6_f64),
        (flag, netflix, ribbon) in (proptest::bool::ANY, proptest::bool::ANY, proptest::bool::ANY),
        (count, second_count) in (1..=2_147_483_u32, 1..=2_147_483_u32),
        verbs in proptest::collection::vec(proptest::sample::select(VERBS.to_vec()), 0..4),
    ) {
        let flavour = if netflix { "netflix" } else { "spring" };
        let balancer = if ribbon {
            format!("kind = \"ribbon\"\nrefresh-interval = \"{nanos}ns\"")
        } else {
            format!("kind = \"spring-cloud-loadbalancer\"\ncalls-per-second = {rate:?}")
        };
        let verbs = verbs.iter().filter(|verb| known_to(verb).0);
        let faults: String = verbs.map(|verb| format!("[[fault]]\n{verb}\n")).collect();
        comes_back(&format!(
            "title = {}\nseed = {seed}\nevent-budget = {budget}\nduration = \"{nanos}ns\"\n\
             flavour = \"{flavour}\"\n\
             [eureka.server]\nrenewal-percent-threshold = {share:?}\nuse-read-only-response-cache = {flag}\n\
             [eureka.instance]\nlease-renewal-interval-in-seconds = {count}\n\
             [balancer]\n{balancer}\n[server]\ncount = 3\n\
             [[application]]\nname = \"a\"\ninstances = 3\nzones = [\"east\", \"west\"]\n\
             [[application]]\nname = \"b\"\nzones = [\"west\"]\n\
             [application.eureka.client]\nregistry-fetch-interval-seconds = {second_count}\n\
             [application.transport]\nkind = \"web-client\"\npooled = {flag}\n\
             {faults}[[expect]]\nthat = \"no eviction\"\nin = {in_share:?}\n",
            string(&title),
        ));
    }
}
