//! What real servers did, replayed: the recorded calls and timer ticks drive the same rules that the
//! simulation runs, and every status, gate, eviction count, limit, victim, threshold, gauge and served view,
//! of Nacos every code, raw flag and answer, must agree. `tests/golden/README.md` says what the recordings are.
//!
//! `STILLUP_GOLDEN=FOLDER cargo test --test golden` replays another folder: one recording, or several in
//! folders of their own.

mod golden_replay;

use std::path::{Path, PathBuf};

use stillup::engine::SimDuration;
use stillup::model::eureka::client::ClientConfig;
use stillup::model::stage::Stage;
use stillup::scenario::Scenario;

use golden_replay::{Kind, Mutation, folders, replay, simulate, simulate_peers};

fn root() -> PathBuf {
    std::env::var_os("STILLUP_GOLDEN").map_or_else(shipped, PathBuf::from)
}

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn recordings_agree_with_the_rules() {
    let mut failures = Vec::new();
    for folder in folders(&root()).expect("recordings") {
        match replay(&folder, Mutation::None) {
            Err(reason) => failures.push(format!("{}: {reason}", folder.display())),
            Ok((name, kind, outcome)) => {
                let compared = outcome.compared;
                let server = compared.statuses > 0 && compared.rounds > 0;
                let (something, watched) = match kind {
                    Kind::Scripted => (server, compared.sights > 0),
                    Kind::ScriptedPeers => (server && compared.passed_on > 0, compared.sights > 0),
                    Kind::RealClients => (server, true),
                    Kind::RealClientsOfPeers => (compared.calls > 0, true),
                    Kind::Nacos => (server, compared.sights > 0),
                };
                assert!(something, "{name}: nothing to compare: {compared:?}");
                assert!(watched, "{name}: nobody watched");
                failures.extend(outcome.differences.iter().map(|it| format!("{name}: at {it}")));
            }
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

/// Replays a shipped recording with a bent rule.
fn differences(folder: &str, mutation: Mutation) -> usize {
    replay(&shipped().join(folder), mutation).expect(folder).2.differences.len()
}

/// A comparison that cannot fail proves nothing: each bent rule must be noticed.
#[test]
fn bent_rules_are_noticed() {
    let bent = [
        ("single-crashes-scaled-1", Mutation::LongerLease),
        ("lease-forms-1", Mutation::LongerLease),
        ("server-pauses-1", Mutation::NoCompensation),
        ("small-fleet-13-1", Mutation::OneMoreExpected),
        ("trap-default-1", Mutation::OneMoreExpected),
        ("two-waves-1", Mutation::OtherSideOfTheBreak),
        ("old-two-waves-1", Mutation::OtherSideOfTheBreak),
        ("graceful-1", Mutation::NoReadOnlyCache),
        ("single-crashes-default-1", Mutation::NoReadOnlyCache),
        ("blind-window-3", Mutation::OtherProtection),
        ("mass-death-unprotected-1", Mutation::OtherProtection),
        ("mass-death-unprotected-1", Mutation::SmallerLimit),
        ("peers-lag-1", Mutation::ReplicasNotCounted),
        ("peers-partition-1", Mutation::ReplicasNotCounted),
        ("peers-lag-1", Mutation::NotFoundNotFollowed),
        ("peers-partition-1", Mutation::NotFoundNotFollowed),
        ("peers-partition-1", Mutation::EvictionsPassedOn),
        ("peers-lag-1", Mutation::SecondHop),
        ("peers-partition-1", Mutation::SecondHop),
        ("peers-partition-1", Mutation::LongerLease),
        ("peers-partition-1", Mutation::OtherProtection),
        ("peers-lag-1", Mutation::OneMoreExpected),
        ("peers-lag-1", Mutation::NoReadOnlyCache),
        ("client-failover-2", Mutation::OtherInterrupt),
        ("client-failover-3", Mutation::OtherInterrupt),
        ("old-client-failover-2", Mutation::OtherInterrupt),
        ("client-failover-3", Mutation::NoListRefresh),
        ("client-failover-2", Mutation::ShorterRead),
        ("old-client-failover-2", Mutation::ShorterRead),
        ("client-failover-3", Mutation::SmallerBackOff),
        ("client-failover-2", Mutation::OneMoreWorker),
        ("client-failover-3", Mutation::NotFoundNotUnderstood),
    ];
    for (folder, mutation) in bent {
        assert_eq!(differences(folder, Mutation::None), 0, "{folder} as it is");
        assert!(differences(folder, mutation) > 0, "{folder} does not notice {mutation:?}");
    }
}

/// Copies a shipped recording, lets `change` edit one file's text, and counts the differences.
fn differences_if(folder: &str, file: &str, change: impl Fn(&str) -> String) -> Result<usize, String> {
    let only_there = |name: &str, text: &str| if name == file { change(text) } else { text.to_owned() };
    differences_with(folder, &only_there)
}

/// Copies a shipped recording, lets `change` edit each file's text by its name, and counts the differences.
fn differences_with(folder: &str, change: &dyn Fn(&str, &str) -> String) -> Result<usize, String> {
    let copy = tempfile::tempdir().expect("a place for the copy");
    for entry in shipped().join(folder).read_dir().expect(folder) {
        let path = entry.expect(folder).path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a file");
        let text = std::fs::read_to_string(&path).expect("text");
        std::fs::write(copy.path().join(name), change(name, &text)).expect("a copy");
    }
    replay(copy.path(), Mutation::None).map(|replayed| replayed.2.differences.len())
}

/// The lines of `text`, with those for which `edit` gives something else.
fn edit(text: &str, edit: impl Fn(&str) -> Option<String>) -> String {
    text.lines().map(|line| edit(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

#[test]
fn forged_recordings_are_noticed() {
    let forge = |file, from: &'static str, to: &'static str| {
        let changed = |text: &str| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        };
        differences_if("single-crashes-scaled-1", file, changed)
    };
    // Another victim, one more expired, another limit, an open gate that was shut, a late removal from the
    // served view, a wrong count of renewals, a heartbeat that was refused.
    assert!(forge("server.csv", "expired,i000", "expired,i050").expect("replayed") > 0);
    assert!(forge("server.csv", "evict-batch,,1/1/9", "evict-batch,,1/2/9").expect("replayed") > 0);
    assert!(forge("server.csv", "evict-batch,,1/1/9", "evict-batch,,1/1/8").expect("replayed") > 0);
    assert!(forge("server.csv", "evict-disabled", "evict-enabled").is_err());
    assert!(forge("gauges.csv", "1555,1792", "1555,1692").expect("replayed") > 0);
    assert!(forge("gauges.csv", "1530,1792", "1529,1792").expect("replayed") > 0);
    let refused =
        |text: &str| edit(text, |line| line.ends_with("renew,i007,200").then(|| line.replace("200", "404")));
    assert!(differences_if("single-crashes-scaled-1", "requests.csv", refused).expect("replayed") > 0);
    let unseen = |text: &str| {
        text.lines().filter(|line| !line.contains("gone,i003")).map(|line| format!("{line}\n")).collect()
    };
    assert!(differences_if("single-crashes-scaled-1", "views.csv", unseen).expect("replayed") > 0);
    let open = |text: &str| {
        text.lines().filter(|line| !line.contains("evict-disabled")).map(|line| format!("{line}\n")).collect()
    };
    assert!(differences_if("trap-default-1", "server.csv", open).expect("replayed") > 0);
}

/// What only the client rules say something about: when a client calls, and what its observers saw.
#[test]
fn forged_recordings_of_real_clients_are_noticed() {
    let forge = |folder, file, from: &'static str, to: &'static str| {
        let changed = |text: &str| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        };
        differences_if(folder, file, changed).expect("replayed")
    };
    // A heartbeat to the other server, one that left the hung server too early, a supervisor's time-out that was a
    // rejection, another instance gone from a local registry.
    let renewal =
        ("93614,93616,s2,Apache-HttpClient/5.4.4,renew", "93614,93616,s1,Apache-HttpClient/5.4.4,renew");
    assert!(forge("client-failover-1", "requests.csv", renewal.0, renewal.1) > 0);
    assert!(forge("client-failover-3", "requests.csv", "\n336097,", "\n335897,") > 0);
    let timed_out = ("113193,java1,supervisor-timed-out", "113193,java1,supervisor-rejected");
    assert!(forge("client-failover-2", "server.csv", timed_out.0, timed_out.1) > 0);
    assert!(
        forge("client-failover-3", "views.csv", "java0.client,gone,java2", "java0.client,gone,java1") > 0
    );
    // A balancer a second early, a local registry that saw an instance go too early, a delta for a full fetch, a
    // fetch that nobody made, a time-out that was none, a registration after a 404 that the log denies.
    assert!(forge("client-defaults-1", "views.csv", ",1302459,1302459,", ",1301459,1301459,") > 0);
    assert!(forge("old-client-timeline-1", "views.csv", ",249214,249214,", ",248214,248214,") > 0);
    assert!(
        forge(
            "old-client-timeline-1",
            "requests.csv",
            "124040,124042,s1,Java-EurekaClient/v1.9.13,fetch-full",
            "124040,124042,s1,Java-EurekaClient/v1.9.13,fetch-delta"
        ) > 0
    );
    assert!(forge("client-timeline-1", "requests.csv", "\n44360,", "\n43360,") > 0);
    assert!(
        forge(
            "client-timeline-1",
            "server.csv",
            "67418,java0,heartbeat-failed",
            "67418,java0,supervisor-timed-out"
        ) > 0
    );
    assert!(
        forge("client-timeline-1", "server.csv", "275767,java0,re-registering", "275767,java0,full-fetch")
            > 0
    );
}

/// What servers told each other, and what came of it.
#[test]
fn forged_recordings_of_peers_are_noticed() {
    let forge = |folder, file, from: &'static str, to: &'static str| {
        let changed = |text: &str| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        };
        differences_if(folder, file, changed).expect("replayed")
    };
    let lag = "peers-lag-1";
    // A registration that the peer heard of too late, or never, or of somebody else; a heartbeat that it did not know
    // twice; one renewal too many beyond those that were under way.
    assert!(forge(lag, "server.csv", "133576,s2,registered,p04", "134076,s2,registered,p04") > 0);
    assert!(forge(lag, "server.csv", "133576,s2,registered,p04", "133576,s2,renew-unknown,p04") > 0);
    assert!(forge(lag, "server.csv", "140805,s2,cancelled,p04", "140805,s2,cancelled,i004") > 0);
    assert!(forge(lag, "gauges.csv", "261434,s1,316,360", "261434,s1,316,364") > 0);
    assert!(forge(lag, "gauges.csv", "158973,s2,326,365", "158973,s2,326,380") > 0);
    let partition = "peers-partition-1";
    // The other side of the cut hears of a registration; a victim that is alive there; an open gate that was shut.
    let heard = |text: &str| {
        let line = "186000,s3,registered,late-s1,UP;replication=true";
        text.replacen("189566,s3,evict-task", &format!("{line}\n189566,s3,evict-task"), 1)
    };
    assert!(differences_if(partition, "server.csv", heard).expect("replayed") > 0);
    assert!(forge(partition, "server.csv", "213053,s1,expired,c002", "213053,s1,expired,b002") > 0);
    assert!(forge(partition, "server.csv", "221417,s2,evict-disabled,,\n", "") > 0);
    // A cut that never was.
    let whole = |text: &str| text.lines().take(1).map(|line| format!("{line}\n")).collect();
    assert!(differences_if(partition, "faults.csv", whole).expect("replayed") > 0);
}

#[test]
fn an_unknown_kind_fails() {
    let other = |text: &str| text.replace("\"s1\": {", "\"s2\": { \"settings\": {} },\n  \"s1\": {");
    assert!(differences_if("trap-default-1", "experiment.json", other).is_err_and(|it| it.contains("kind")));
    let nacos = |text: &str| text.replace("\"eureka\"", "\"registry\"");
    assert!(differences_if("trap-default-1", "experiment.json", nacos).is_err_and(|it| it.contains("kind")));
    let setting =
        |text: &str| text.replace("\"settings\": {}", "\"settings\": { \"eureka.server.what\": 1 }");
    assert!(
        differences_if("trap-default-1", "experiment.json", setting).is_err_and(|it| it.contains("what"))
    );
    let call = |text: &str| text.replacen("renew,i000,200", "beat,i000,200", 1);
    assert!(differences_if("trap-default-1", "requests.csv", call).expect("replayed") > 0);
}

/// A recording may say more than the shipped ones do.
#[test]
fn what_does_not_matter_is_no_difference() {
    let more = |text: &str| {
        let settings = "\"settings\": { \"eureka.server.peer-node-read-timeout-ms\": 500, \
            \"eureka.client.service-url.defaultZone\": \"http://localhost:8761/eureka/\", \
            \"eureka.server.renewal-percent-threshold\": \"0.85\", \"eureka.instance.hostname\": \"a\" }";
        text.replace("\"settings\": {}", settings).replace("4.3.0", "4.3.99")
    };
    assert_eq!(differences_if("small-fleet-13-1", "experiment.json", more), Ok(0));
    // Servers go by other names, in another order.
    let renamed = |text: &str| {
        let (s1, s3) = ("s1", "s3");
        let text = text.replace(&format!("\"{s1}\""), "\"zeta\"").replace(&format!(",{s1},"), ",zeta,");
        let text = text.replace(&format!("\"{s3}\""), "\"alpha\"").replace(&format!(",{s3},"), ",alpha,");
        text.replace("s1>", "zeta>").replace("s3>", "alpha>").replace(">s1", ">zeta").replace(">s3", ">alpha")
    };
    assert_eq!(differences_with("peers-partition-1", &|_, text| renamed(text)), Ok(0));
    // A registration that reached nobody, and one that the server is said to have refused.
    let unheard =
        |text: &str| format!("{text}150000,150001,s1,instance,register,i999,ClientConnectorError\n");
    assert_eq!(differences_if("small-fleet-13-1", "requests.csv", unheard), Ok(0));
    let refused = |text: &str| format!("{text}150000,150001,s1,instance,register,i999,500\n");
    assert_eq!(differences_if("small-fleet-13-1", "requests.csv", refused), Ok(1));
}

/// Crashes of many a moment are also compared with simulated ones. `-- --nocapture` shows the figures.
#[test]
#[expect(clippy::print_stdout, reason = "the figures are worth reading where they agree, too")]
fn recorded_crashes_look_like_simulated_ones() {
    let mut failures = Vec::new();
    for folder in folders(&root()).expect("recordings") {
        match simulate(&folder, &|_| ()) {
            Err(reason) => failures.push(format!("{}: {reason}", folder.display())),
            Ok(stages) => {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                for compared in stages {
                    println!("{name} {compared}");
                    failures.extend(compared.differences.iter().map(|it| format!("{name}: {it}")));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

/// What servers told each other is also compared with simulated peers.
#[test]
#[expect(clippy::print_stdout, reason = "the figures are worth reading where they agree, too")]
fn recorded_peers_look_like_simulated_ones() {
    let mut failures = Vec::new();
    for folder in folders(&root()).expect("recordings") {
        match simulate_peers(&folder, &|_| ()) {
            Err(reason) => failures.push(format!("{}: {reason}", folder.display())),
            Ok(figures) => {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                for compared in figures {
                    println!("{name}: {compared}");
                    failures.extend(compared.differences().iter().map(|it| format!("{name}: {it}")));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn another_set_up_of_peers_is_noticed() {
    let differs = |folder: &str, bend: &dyn Fn(&mut Scenario)| {
        let figures = simulate_peers(&shipped().join(folder), bend).expect(folder);
        figures.iter().any(|compared| !compared.differences().is_empty())
    };
    // The phases of the servers' minutes decide who evicts: all of them in the phase of the first.
    let same_phase = |scenario: &mut Scenario| {
        scenario.servers.iter_mut().for_each(|server| server.starts_after = Some(SimDuration::ZERO));
    };
    assert!(differs("peers-partition-1", &same_phase));
    let expected = |scenario: &mut Scenario| {
        scenario.setup.eureka_mut().unwrap().server.expected_client_renewal_interval_seconds = 30;
    };
    assert!(differs("peers-partition-1", &expected));
    // Nobody is told anything.
    let alone = |scenario: &mut Scenario| scenario.servers.iter_mut().for_each(|server| server.peers.clear());
    assert!(differs("peers-lag-1", &alone));
}

/// Whether a shipped recording differs at `stage` from a simulation with one thing changed.
fn differs_at(stage: Stage, folder: &str, bend: &dyn Fn(&mut Scenario)) -> bool {
    let stages = simulate(&shipped().join(folder), bend).expect(folder);
    stages.iter().any(|it| it.stage == stage && !it.differences.is_empty())
}

#[test]
fn another_set_up_is_noticed() {
    let clients = |change: fn(&mut ClientConfig)| {
        move |scenario: &mut Scenario| {
            scenario.setup.eureka_mut().unwrap().clients.iter_mut().for_each(change);
        }
    };
    let later = |ms| {
        move |scenario: &mut Scenario| {
            let starts = scenario.server_starts_at_second.expect("recorded");
            scenario.server_starts_at_second = Some(starts + SimDuration::from_millis(ms));
        }
    };
    // Defaults: 30/90/60/30/30 s.
    let default = "single-crashes-default-1";
    let lease = clients(|client| client.lease_expiration_duration_in_seconds = 60);
    assert!(differs_at(Stage::Registry, default, &lease));
    // The phase of eviction against the cache, by a second of 30.
    assert!(differs_at(Stage::Served, default, &later(1_000)));
    // Heartbeat 2, lease 6, eviction 4, cache 3, fetch 3 s.
    let scaled = "single-crashes-scaled-1";
    let eviction = |scenario: &mut Scenario| {
        scenario.setup.eureka_mut().unwrap().server.eviction_interval_timer_in_ms = 3_000
    };
    assert!(differs_at(Stage::Registry, scaled, &eviction));
    let fetch = clients(|client| client.registry_fetch_interval_seconds = 1);
    assert!(differs_at(Stage::Client, scaled, &fetch));
}
