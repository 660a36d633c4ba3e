//! The arithmetic in the comments of shipped scenarios about servers that restart, die, hang, count twice or have too
//! much to do, as in `fault_arithmetic.rs`: over a row of settings. Every prediction is computed here from the rules in
//! `docs/spec`, and shares nothing with the simulator.

use std::net::Ipv4Addr;

use stillup::engine::{SimDuration, SimTime};
use stillup::model::id::ServerId;
use stillup::model::message::RequestKind;
use stillup::model::stage::{EventKind, Stage};
use stillup::observe::{Injected, LoadMinute, Minute, Mistake, Outcome, ReplicateData};

use crate::figures::{mean, minutes, threshold};
use crate::shipped::run;

const FIRST: ServerId = ServerId(0);
const SECOND: ServerId = ServerId(1);

fn seconds(length: SimDuration) -> f64 {
    length.as_nanos() as f64 / 1e9
}

/// The first fault of that verb.
fn fault<'a>(replicate: &'a ReplicateData, verb: &str) -> &'a Injected {
    replicate.faults.iter().find(|fault| fault.verb == verb).expect("there is one")
}

fn mistakes(replicate: &ReplicateData, stage: Stage) -> impl Iterator<Item = &Mistake> {
    replicate.mistakes.iter().filter(move |row| row.stage == stage)
}

/// Mistakes of observers.
fn seen_by_clients(replicate: &ReplicateData) -> u64 {
    mistakes(replicate, Stage::Client).map(|row| row.count).sum()
}

/// For how long a pair of instances did not see each other on average, s.
fn hidden(replicate: &ReplicateData, fleet: u32) -> f64 {
    let rows = replicate.quality.iter().filter(|row| row.stage == Stage::Client);
    let nanos: u128 = rows.map(|row| row.mistaken_nanos).sum();
    nanos as f64 / 1e9 / f64::from(fleet * (fleet - 1))
}

/// Leases that rounds of a server removed.
fn evicted(replicate: &ReplicateData, server: ServerId) -> u32 {
    let rounds = replicate.rounds.iter().filter(|row| row.server == server);
    rounds.map(|row| row.round.evicted).sum()
}

/// Minutes of load, from a moment on.
fn load_from(replicate: &ReplicateData, from: SimTime) -> impl Iterator<Item = &LoadMinute> {
    replicate.load.iter().filter(move |row| row.from >= from)
}

#[test]
fn after_an_empty_start_everybody_is_hidden_for_half_a_minute() {
    // `server-restart-spring.toml`: u x (u 30 + (1 - u) 60) + (1 - u)^2 x 30 = 30 s for every u. What the very first
    // fetch finds is not quite nothing: it comes some 30 s / 50 after the start, which makes a second less.
    for down_for in ["5s", "20s", "2m"] {
        let down = format!("fault.1.restart.down-for=\"{down_for}\"");
        for replicate in &run("server-restart-spring", &[&down]) {
            let hidden = hidden(replicate, 50);
            assert!((27.0..30.2).contains(&hidden), "{down_for}: {hidden} s");
            for row in mistakes(replicate, Stage::Client) {
                let lasted = seconds(row.lasted);
                assert!((lasted - 30.0).abs() < 0.2 || (lasted - 60.0).abs() < 0.2, "{lasted} s");
            }
            // u + (1 - u)^2 of all pairs lose each other: between 3/4 and 1.
            assert!((1_750..=2_450).contains(&seen_by_clients(replicate)));
        }
    }
}

#[test]
fn a_gate_that_is_shut_hides_nobody_from_clients() {
    // `server-restart-netflix.toml`: 20 s + (tries - 1) x 30 s + the wait, if that is longer than the 30 s in which
    // everybody comes back. Spring's server tries once, and has the gate if it counts nobody at the start.
    let spring = "eureka.instance.registry.default-open-for-traffic-count=0";
    let cases: [(&str, &[&str], f64); 4] = [
        ("server-restart-netflix", &[], 440.0),
        ("server-restart-netflix", &["eureka.server.registry-sync-retries=2"], 350.0),
        ("server-restart-netflix", &["eureka.server.wait-time-in-ms-when-sync-empty=100000"], 240.0),
        ("server-restart-spring", &[spring], 320.0),
    ];
    for (name, sets, away) in cases {
        // Netflix refuses fetches at the first start too: the faults come after that.
        let sets: Vec<&str> =
            sets.iter().copied().chain(["start.warm-up=\"8m\"", "duration=\"25m\""]).collect();
        for replicate in &run(name, &[&sets[..], &["replicates=10"]].concat()) {
            for row in mistakes(replicate, Stage::Served) {
                assert!((seconds(row.lasted) - away).abs() < 0.2, "{name} {sets:?}: {:?}", row.lasted);
            }
            assert_eq!(mistakes(replicate, Stage::Served).map(|row| row.count).sum::<u64>(), 50);
            assert_eq!(seen_by_clients(replicate), 0, "{name} {sets:?}");
        }
    }
    let short = "eureka.server.wait-time-in-ms-when-sync-empty=5000";
    assert!(run("server-restart-netflix", &[short]).iter().all(|replicate| seen_by_clients(replicate) > 0));
}

#[test]
fn a_killed_server_costs_what_it_had_not_passed_on() {
    // `server-killed.toml`: 160 a minute, but for what came in during the last 0.5 s: 160 / 3 a minute make 0.44.
    let mut lost = 0.0;
    for replicate in &run("server-killed", &[]) {
        let killed = fault(replicate, "crash").at;
        let before = SimTime::from_nanos(killed.as_nanos() - 60_000_000_000);
        let rows = minutes(replicate, before, replicate.ended_at).filter(|row| row.server != FIRST);
        for row in rows {
            assert!(row.renewals >= 156, "{row:?}");
            lost += f64::from(160_u32.saturating_sub(row.renewals)) / 100.0;
        }
        let registrations =
            load_from(replicate, killed).map(|row| row.requests[RequestKind::Register as usize]);
        assert_eq!(registrations.sum::<u64>(), 0);
    }
    // Two servers, fifty replicates; a heartbeat that is a little later may slip into the next minute besides.
    assert!(lost < 2.5, "{lost} a replicate and server");
}

#[test]
fn jersey_leaves_a_hung_server_in_time() {
    // `server-hangs-jersey.toml`: 8 or 16 s late, with any release. Each of six may miss one minute by that.
    for release in ["2025.1", "Hoxton.SR12"] {
        let release_is = format!("release=\"{release}\"");
        for replicate in &run("server-hangs-jersey", &[&release_is, "replicates=20"]) {
            let pause = fault(replicate, "pause");
            let rows = minutes(replicate, pause.at, pause.until.expect("it ends"));
            assert!(rows.filter(|row| row.server != FIRST).all(|row| row.renewals >= 126), "{release}");
            assert_eq!(replicate.leases.evicted, 0, "{release}");
        }
    }
}

#[test]
fn who_waits_for_180_s_is_back_after_240_or_510_or_with_the_server() {
    // `server-hangs-rest-client.toml`, without sessions that end meanwhile. T_M from a removal 150 to 210 s after the
    // first heartbeat that hangs. A return takes half a second to the other server, and the same again by a 404.
    let sessions = "eureka.client.transport.sessioned-client-reconnect-interval-seconds=7200";
    // The last is of those who are led astray before they are removed.
    let (mut counts, mut astray) = ([0.0; 4], 0);
    for replicate in &run("server-hangs-rest-client", &[sessions, "replicates=150"]) {
        let pause = fault(replicate, "pause");
        let resumed = pause.until.expect("it ends");
        let (mut by_answer, mut again, mut led_astray) = (0, 0, 0);
        for row in mistakes(replicate, Stage::Registry).filter(|row| row.server == Some(SECOND)) {
            let (since, lasted) = (seconds(row.at.since(pause.at)), seconds(row.lasted));
            let answered =
                row.at < resumed && (seconds((row.at + row.lasted).since(resumed)) - 1.0).abs() < 0.6;
            by_answer += if answered { row.instances } else { 0 };
            if row.at >= resumed {
                again += row.instances;
            } else if since > 240.1 {
                led_astray += row.instances;
            } else {
                let way = match lasted {
                    29.9..=91.5 => 0,
                    _ if answered => 2,
                    300.0..=361.5 => 1,
                    _ => 3,
                };
                assert!(since >= 150.0, "{since} s");
                counts[way] += f64::from(row.instances);
            }
        }
        // Freed by the answer, silent for 240 s and more, with leases of 90 s there and 180 s here. Who was led astray
        // is silent for 190 s.
        assert_eq!(again, by_answer);
        assert!((by_answer - led_astray..=by_answer).contains(&evicted(replicate, FIRST)));
        astray += led_astray;
    }
    // The second call makes a connection that nobody answers, and ends after 134 s: before the third begins.
    assert_eq!(astray, 0, "{counts:?}");
    let all: f64 = counts.iter().sum();
    assert!(counts[3] <= 0.02 * all, "{counts:?}");
    // 150 replicates with 6 / 3 each.
    assert!((250.0..350.0).contains(&all), "{all}");
    for (count, share) in counts.into_iter().zip([2.0 / 3.0, 2.0 / 9.0, 1.0 / 9.0]) {
        let deviation = f64::sqrt(all * share * (1.0 - share));
        assert!((count - all * share).abs() < 3.5 * deviation, "{counts:?}");
    }
}

/// Where `ResolverUtils.randomize` of Eureka 1.10.13 puts the first of three servers: a shuffle by `java.util.Random`,
/// seeded with the hash of the address as a text (`eureka-client.md` 6.3).
fn begins_with_the_first(address: Ipv4Addr) -> bool {
    let text = address.to_string();
    let hash = text.bytes().fold(0_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte)));
    let mut state = (i64::from(hash) as u64 ^ 0x5_DEEC_E66D) & ((1 << 48) - 1);
    let mut next = |bits: u32| {
        state = state.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & ((1 << 48) - 1);
        (state >> (48 - bits)) as i64
    };
    let mut servers = [0, 1, 2];
    for at in 0..2 {
        let bound = 3 - at as i64;
        // `Random.nextInt`: a power of two takes the upper bits; the other case rejects next to never.
        let to = if bound == 2 { (2 * next(31)) >> 31 } else { next(31) % bound };
        servers.swap(at, to as usize);
    }
    servers[0] == 0
}

#[test]
fn an_address_decides_who_is_stuck() {
    // `server-hangs-fixed-order.toml`: whoever begins with the hung server, and nobody else.
    for first in ["10.1.1.1", "10.0.3.7", "172.16.20.5", "192.168.1.100"] {
        let from = u32::from(first.parse::<Ipv4Addr>().expect("an address"));
        let stuck = (0..6).filter(|at| begins_with_the_first(Ipv4Addr::from(from + at))).count() as u32;
        let first_is = format!("application.billing.first-address=\"{first}\"");
        for replicate in &run("server-hangs-fixed-order", &[&first_is, "replicates=10"]) {
            // Once while the server hangs, and once more before the heartbeat after the hang.
            assert_eq!(
                (evicted(replicate, FIRST), evicted(replicate, SECOND)),
                (stuck, 2 * stuck),
                "{first}"
            );
            let resumed = fault(replicate, "pause").until.expect("it ends");
            for row in mistakes(replicate, Stage::Registry) {
                let back = seconds((row.at + row.lasted).since(resumed));
                // The hung heartbeat's answer and two batches; or the heartbeat that begins 840 s after the first one,
                // which was due within 30 s of the hang of 600 s.
                let expected = if row.at < resumed { 0.5..1.6 } else { 240.0..271.6 };
                assert!(expected.contains(&back), "{back} s");
            }
        }
    }
}

#[test]
fn a_copied_lease_ends_with_a_round_after_the_opening() {
    // `copied-leases.toml`: one duration from the copy on, and the rounds are locked to the opening.
    for (lease, down_for) in [(90, 10), (90, 25), (45, 10), (130, 10)] {
        let sets = [
            format!("eureka.instance.lease-expiration-duration-in-seconds={lease}"),
            format!("fault.2.restart.down-for=\"{down_for}s\""),
        ];
        for replicate in &run("copied-leases", &[&sets[0], &sets[1], "replicates=10"]) {
            let opened = fault(replicate, "restart").until.expect("it ends");
            let rounds: Vec<_> = replicate.rounds.iter().filter(|row| row.server == SECOND).collect();
            let [round] = rounds[..] else { panic!("{rounds:?}") };
            assert_eq!(round.round.evicted, 3);
            let predicted = f64::from(60 * (lease / 60 + 1));
            let seen = seconds(round.at.since(opened));
            assert!((seen - predicted).abs() < 0.1, "{lease} s: {seen}, not {predicted}");
        }
    }
}

#[test]
fn counting_twice_moves_the_limit() {
    // `counted-twice-22.toml` and `counted-twice-23.toml`: 2 or 4 a minute from each that is left, against 69.
    for (recognises, each) in [(true, 2), (false, 4)] {
        for dead in [5, 6, 12, 22, 23, 30] {
            let sets =
                [format!("server.recognises-own-url={recognises}"), format!("fault.1.crash.count={dead}")];
            let gone = if (40 - dead) * each > threshold(41) { dead } else { 0 };
            let data = run("counted-twice-22", &[&sets[0], &sets[1], "replicates=5"]);
            assert!(data.iter().all(|it| evicted(it, FIRST) == gone), "{recognises}, {dead} dead");
        }
    }
}

#[test]
fn who_comes_back_to_a_server_that_copied_nothing() {
    // `rolling-servers-too-fast.toml`, with one of the three only. A share of r = 1 - d / 30 of a third ask the server
    // again, up to 30 r seconds after the opening. What clients told its peers while it was away, a share of d / 30, is
    // known a second after it: two batches. Who asks before the tick g loses what the first of them did not find, and
    // then what is still missing at g; who asks after it, only that. Of each 30 s:
    //   P(before) = 1 - r / 2        missing at g, in the mean over g: r^2 / 2
    let one = "fault.1.restart.servers=[\"server-1\"]";
    for down in [1.0, 10.0, 20.0] {
        let down_is = format!("fault.1.restart.down-for=\"{down}s\"");
        let r = 1.0 - down / 30.0;
        // Twenty clients of each server, of whom 20 / 30 a second ask: whether one did within the second.
        let at_once = 1.0 - libm::exp(-20.0 / 30.0 * 1.1);
        let found_nobody = (1.0 - r / 2.0) * (at_once + (1.0 - at_once) * r);
        let predicted = r / 3.0 * 30.0 * (found_nobody + r * r / 2.0);
        let seen = mean(run("rolling-servers-too-fast", &[one, &down_is]).iter().map(|it| hidden(it, 60)));
        assert!((seen / predicted - 1.0).abs() < 0.12, "{down} s: {seen} s, not {predicted}");
    }
    let (away, apart) = ("fault.1.restart.down-for=\"40s\"", "fault.1.restart.one-by-one=\"40s\"");
    let slow = run("rolling-servers-too-fast", &[away, apart]);
    assert!(slow.iter().all(|replicate| seen_by_clients(replicate) == 0));
    // With a copy no haste does harm.
    let haste = ["fault.1.restart.down-for=\"1s\"", "fault.1.restart.one-by-one=\"0s\"", "replicates=20"];
    assert!(run("rolling-servers", &haste).iter().all(|replicate| seen_by_clients(replicate) == 0));
}

#[test]
fn more_than_fifteen_percent_out_of_service_freeze_the_threshold() {
    // `out-of-service-freezes.toml`: the UP ones, if they are more than 0.85 x 101.
    for out in [14, 15, 20] {
        let count = format!("fault.1.override.count={out}");
        let up = 100 - out;
        let expected = if f64::from(up) > 0.85 * 101.0 { up } else { 101 };
        for replicate in &run("out-of-service-freezes", &[&count, "replicates=5"]) {
            let all_updated = SimTime::from_secs(900);
            let rows: Vec<&Minute> = minutes(replicate, all_updated, fault(replicate, "crash").at).collect();
            assert!(
                rows.len() >= 2 && rows.iter().all(|row| row.threshold == threshold(expected)),
                "{rows:?}"
            );
            let gone = if 160 > threshold(expected) { 20 } else { 0 };
            assert_eq!((evicted(replicate, FIRST), evicted(replicate, SECOND)), (gone, gone), "{out} out");
            for row in replicate.detections.iter().filter(|row| row.event == EventKind::Override) {
                let Outcome::Detected(t_d) = row.outcome else { panic!("{row:?}") };
                if row.stage == Stage::Registry {
                    // At once where the operator calls, a batch later at the peer.
                    assert!(seconds(t_d) < if row.server == Some(FIRST) { 0.01 } else { 0.53 }, "{row:?}");
                }
            }
        }
    }
}

#[test]
fn servers_share_fetches_but_not_renewals() {
    // `load-per-server.toml`: 800 a minute of each kind, and all renewals on each server.
    for servers in [1, 2, 4] {
        let data = run("load-per-server", &[&format!("server.count={servers}"), "replicates=3"]);
        for replicate in &data {
            let settled = SimTime::from_secs(240);
            let last = SimTime::from_secs(600);
            for row in minutes(replicate, settled, last) {
                // Half a second's batch may slip into the next minute.
                assert!(row.renewals.abs_diff(800) <= 12, "{servers}: {row:?}");
            }
            let rows = || load_from(replicate, settled).filter(|row| row.from < last);
            let of = |kind: RequestKind| mean(rows().map(|row| row.requests[kind as usize] as f64));
            let passed_on = mean(rows().map(|row| row.items[RequestKind::Renew as usize] as f64));
            let share = 800.0 / f64::from(servers);
            assert!((of(RequestKind::FetchDelta) - share).abs() < 2.0);
            assert!((of(RequestKind::Renew) - share).abs() < 2.0);
            assert!((passed_on - (800.0 - share)).abs() < 2.0, "{servers}: {passed_on} passed on");
        }
    }
}

#[test]
fn a_storm_takes_as_long_as_its_fetches() {
    // `storm-on-few-threads.toml`: 0.1 s of two threads for each that starts at a server, and the times of all other
    // requests, in ms. Some of the registrations that are passed on to the busier one come more than once.
    let cost = |row: &LoadMinute| {
        let ms = [2.0, 1.0, 0.0, 100.0, 2.0, 0.0, 1.0];
        let requests = row.requests.iter().zip(ms).map(|(&requests, ms)| requests as f64 * ms);
        requests.sum::<f64>() + row.items.iter().sum::<u64>() as f64 * 0.2
    };
    for replicate in &run("storm-on-few-threads", &["replicates=3"]) {
        let busy: u64 = replicate.load.iter().map(|row| row.busy_nanos).sum();
        let predicted: f64 = replicate.load.iter().map(cost).sum();
        assert!((busy as f64 / 1e6 / predicted - 1.0).abs() < 0.001, "{busy} ns, not {predicted} ms");
        let storm = fault(replicate, "start").at;
        let minute = SimTime::from_secs(storm.as_nanos() / 60_000_000_000 * 60);
        let rows: Vec<&LoadMinute> = load_from(replicate, minute).take(2).collect();
        let started = |row: &LoadMinute| row.requests[RequestKind::FetchFull as usize];
        let longest = rows.iter().map(|row| started(row) as f64 * 0.1 / 2.0).fold(0.0, f64::max);
        let registered = replicate.detections.iter().filter(|row| {
            (row.event, row.stage) == (EventKind::Registration, Stage::Registry) && row.at >= storm
        });
        let last = registered.map(|row| row.at.since(storm)).max().expect("all register");
        assert!(seconds(last) <= longest + 8.0, "{last:?}, {longest} s");
        let register = RequestKind::Register as usize;
        let (told, passed_on) = rows
            .iter()
            .fold((0, 0), |(told, on), row| (told + row.requests[register], on + row.items[register]));
        assert_eq!(told, 1_000);
        assert!(passed_on > 1_100, "{passed_on}");
        assert!(rows.iter().all(|row| row.waiting_max > 400), "{rows:?}");
    }
}

#[test]
fn an_answer_that_is_too_late_is_counted_as_often_as_it_is_tried() {
    // `late-peer-answers.toml`: 100 a minute of a server's own, and 50 tasks every T + 1 s if a batch takes longer than
    // the T ms that a server waits, with 2 ms on the way; each once if it does not.
    for (batch, limit) in [(180, 200), (220, 200), (220, 150), (220, 1_000), (450, 400)] {
        let sets = [
            format!("server.capacity.replicate=\"{batch}ms\""),
            format!("eureka.server.peer-node-read-timeout-ms={limit}"),
        ];
        let late = batch + 2 > limit;
        let tries = if late { 60.0 / (f64::from(limit) / 1e3 + 1.0) } else { 2.0 };
        for replicate in &run("late-peer-answers", &[&sets[0], &sets[1], "replicates=5"]) {
            let cut = fault(replicate, "partition").at;
            let settled = SimTime::from_secs(180);
            let seen = mean(minutes(replicate, settled, cut).map(|row| f64::from(row.renewals)));
            let predicted = 100.0 + 50.0 * tries;
            assert!((seen / predicted - 1.0).abs() < 0.03, "{batch} ms, {limit} ms: {seen}, not {predicted}");
            let gone = if late { 50 } else { 0 };
            assert_eq!((evicted(replicate, FIRST), evicted(replicate, SECOND)), (gone, gone), "{limit} ms");
        }
    }
}
