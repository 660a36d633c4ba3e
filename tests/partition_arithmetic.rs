//! The arithmetic in the comments of shipped scenarios about servers that do not hear each other, as in
//! `arithmetic.rs`: over a row of settings, or server by server. Every prediction is computed here from the rules in
//! `docs/spec`, and shares nothing with the simulator.

use stillup::engine::{SimDuration, SimTime};
use stillup::model::id::ServerId;
use stillup::model::stage::Stage;
use stillup::observe::{Minute, Outcome, ReplicateData};

use crate::figures::threshold;
use crate::shipped::run_with;

fn run(name: &str, sets: &[&str]) -> Vec<ReplicateData> {
    run_with(name, sets, "")
}

/// The minutes of one server.
fn minutes(replicate: &ReplicateData, server: ServerId) -> impl Iterator<Item = &Minute> {
    replicate.timeline.iter().filter(move |row| row.server == server)
}

/// What one server's rounds removed from a moment on, up to another.
fn removed(replicate: &ReplicateData, server: ServerId, from: SimTime, to: SimTime) -> u32 {
    let rounds = replicate.rounds.iter().filter(|row| row.server == server && row.at >= from && row.at < to);
    rounds.map(|row| row.round.evicted).sum()
}

/// Seconds of a moment or a length.
fn secs(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// When a server first had whom a fault had started, seconds after its process was told to register.
fn learned(replicate: &ReplicateData, server: ServerId) -> f64 {
    let mut rows = replicate.detections.iter();
    let row = rows.find(|row| row.stage == Stage::Registry && row.server == Some(server));
    match row.expect("it was watched").outcome {
        Outcome::Detected(after) => secs(after.as_nanos()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_majority_of_seven_and_more_evicts() {
    // `peers-cut-off-eight.toml` with other numbers of servers: the majority hears (n - 1) x 20 and needs more than
    // trunc((10 n + 1) x 1.7). Seven are one short.
    for count in 3..=9_u32 {
        let zones: Vec<String> = (1..=count).map(|zone| format!("\"{zone}\"")).collect();
        let zones = zones.join(", ");
        let sets = [
            format!("server.count={count}"),
            format!("server.zones=[{zones}]"),
            format!("application.orders.zones=[{zones}]"),
            format!("application.orders.instances={}", 10 * count),
            "fault.1.partition.servers=[\"server-1\"]".to_owned(),
            "replicates=5".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let evicts = 20 * (count - 1) > threshold(10 * count + 1);
        assert_eq!(evicts, count >= 8);
        for replicate in run("peers-cut-off-eight", &sets) {
            let of_all = if evicts { 10 * u64::from(count - 1) } else { 0 };
            assert_eq!(replicate.leases.evicted, of_all, "{count} servers");
            assert_eq!(removed(&replicate, ServerId(0), SimTime::ZERO, SimTime::MAX), 0, "{count} servers");
        }
    }
}

#[test]
fn a_second_partition_depends_on_the_release() {
    // `peers-cut-off-eight.toml`: since Eureka 1.9.17 (Spring Cloud Netflix 2.2.2) evictions lower what the ten that
    // come back raise again. Before, 91 are expected: 140 are not more than 154.
    let again = "[[fault]]\nat = \"10m\"\npartition = { servers = [\"server-8\"], for = \"5m\" }";
    assert!(140 <= threshold(91) && 140 > threshold(81));
    for (release, expected, evicted) in [("2.2.1.RELEASE", 91, 70), ("2.2.2.RELEASE", 81, 140)] {
        let release_is = format!("release=\"{release}\"");
        let data = run_with("peers-cut-off-eight", &[&release_is, "replicates=5", "duration=\"28m\""], again);
        for replicate in &data {
            assert_eq!(replicate.leases.evicted, evicted, "{release}");
            let last = minutes(replicate, ServerId(0)).last().expect("there were minutes");
            assert_eq!((last.expected, last.threshold), (expected, threshold(expected)), "{release}");
        }
    }
}

#[test]
fn what_each_side_counts_meanwhile() {
    // `peers-cut-off-three.toml`: minutes that lie between the cut and the newcomer hold 40 and 20. A heartbeat may
    // slip into the next minute, since a client's period is 30.002 s.
    for replicate in run("peers-cut-off-three", &[]) {
        let (cut, newcomer) = (replicate.faults[0].at, replicate.faults[1].at);
        for (server, renewals) in [(0, 40), (1, 40), (2, 20)] {
            let whole = |row: &&Minute| row.at > cut + SimDuration::from_secs(60) && row.at < newcomer;
            for row in minutes(&replicate, ServerId(server)).filter(whole) {
                assert!((renewals - 2..=renewals).contains(&row.renewals), "{row:?}");
                assert!(row.self_preservation && row.threshold == threshold(31), "{row:?}");
            }
        }
    }
}

/// Who is removed in `peers-cut-off-phase.toml`, in the mean, by a server that hears nothing more of `unheard` of
/// thirty `phase` seconds after its minute turned; and how many of them before it turns again.
fn lost_by_phase(phase: f64, unheard: u32) -> (u32, u32) {
    let every_minute = |clients: f64| 12.0 * clients;
    let heard = f64::from(30 - unheard);
    // Their leases end 25 to 30 s after the cut, evenly.
    let ended =
        |at: f64| (f64::from(unheard) * (at - phase - 25.0) / 5.0).clamp(0.0, f64::from(unheard)) as u32;
    let (mut lost, mut early) = (0, 0);
    for round in (5..180).step_by(5) {
        let renewals = match round / 60 {
            0 => every_minute(30.0),
            1 => every_minute(heard + f64::from(unheard) * phase / 60.0),
            _ => every_minute(heard),
        };
        if renewals > (f64::from(31 - lost) * 12.0 * 0.85).trunc() {
            let left = 30 - lost;
            lost += ended(f64::from(round)).saturating_sub(lost).min(left - left * 85 / 100);
        }
        if round < 60 {
            early = lost;
        }
    }
    (lost, early)
}

#[test]
fn the_phase_of_each_servers_minute_decides() {
    for replicate in run("peers-cut-off-phase", &[]) {
        let cut = replicate.faults[0].at;
        for (server, unheard) in
            [(0, 10), (1, 10), (2, 20)].map(|(server, unheard)| (ServerId(server), unheard))
        {
            let turned = minutes(&replicate, server).map(|row| row.at).filter(|at| *at <= cut).max();
            let turned = turned.expect("minutes turned before");
            let turns = turned + SimDuration::from_secs(60);
            let phase = secs(cut.since(turned).as_nanos());
            // How many a round finds, and how many renewals a minute holds, is chance: as a second and a half of phase.
            let nearby = (-15..=15).map(|tenths| (phase + f64::from(tenths) / 10.0).clamp(0.0, 59.99));
            let nearby: Vec<_> = nearby.map(|phase| lost_by_phase(phase, unheard)).collect();
            let is_among = |seen: u32, all: &mut dyn Iterator<Item = u32>| {
                let (least, most) =
                    all.fold((u32::MAX, 0), |(least, most), it| (least.min(it), most.max(it)));
                (least..=most).contains(&seen)
            };
            let (all, early) =
                (removed(&replicate, server, cut, SimTime::MAX), removed(&replicate, server, cut, turns));
            assert!(is_among(all, &mut nearby.iter().map(|it| it.0)), "{all} by {server:?} at {phase}");
            assert!(
                is_among(early, &mut nearby.iter().map(|it| it.1)),
                "{early} early by {server:?} at {phase}"
            );
        }
    }
}

#[test]
fn the_phases_in_figures() {
    // What the comment says, in per mille of the phases: all, none, some; and who begins before its minute turns.
    let shares = |unheard| {
        let losses: Vec<_> = (0..6_000).map(|at| lost_by_phase(f64::from(at) / 100.0, unheard)).collect();
        let share = |is: &dyn Fn(&(u32, u32)) -> bool| losses.iter().filter(|loss| is(loss)).count() / 6;
        let all = share(&|loss| loss.0 == unheard);
        let none = share(&|loss| loss.0 == 0);
        (all, none, share(&|loss| loss.1 > 0))
    };
    assert_eq!(shares(10), (850, 141, 491));
    assert_eq!(shares(20), (483, 320, 496));
}

#[test]
fn an_observer_in_a_ring_notices_unequal_counts_only() {
    // `peers-in-a-ring.toml`: zones a, b and c hold so many; server-1 has those of a and c, server-3 those of c and b.
    for (zones, [a, b, c]) in [
        (r#"["a", "a", "b", "c"]"#, [20, 10, 10]),
        (r#"["a", "b", "b", "c"]"#, [10, 20, 10]),
        (r#"["a", "b", "c", "c"]"#, [10, 10, 20]),
    ] {
        let zones_are = format!("application.orders.zones={zones}");
        // The warm-up leaves time for registrations to leave the delta: 180 s, and as long in the cache.
        let data = run(
            "peers-in-a-ring",
            &[&zones_are, "start.warm-up=\"10m\"", "duration=\"20m\"", "replicates=5"],
        );
        for replicate in data {
            let left: Vec<u32> = replicate.servers.iter().map(|server| server.left).collect();
            assert_eq!(left, [a + c, a + b, b + c], "{zones}");
            let client = replicate.mistakes.iter().filter(|row| row.stage == Stage::Client);
            let seen: u64 = client.map(|row| row.count).sum();
            let hidden = if a == b { 0 } else { 5 * a };
            assert_eq!(seen, u64::from(hidden), "{zones}");
        }
    }
}

#[test]
fn a_registration_is_safe_after_half_a_second() {
    // `peer-dies-too-early.toml`: the registration arrives 3 ms after the start and leaves 500 ms later.
    for death_ms in [50_u32, 300, 480, 510, 800] {
        let at = format!("fault.2.at=\"{death_ms}ms\"");
        let data = run("peer-dies-too-early", &[&at, "replicates=60"]);
        let mut late = 0_u32;
        for replicate in &data {
            let mut others = [ServerId(1), ServerId(2)].map(|server| learned(replicate, server));
            others.sort_by(f64::total_cmp);
            let [first, second] = others;
            if first > 1.0 {
                // With the next heartbeat to one of them; half a second later, or with an earlier batch, to the other.
                late += 1;
                assert!(
                    first > 30.0 && first < 30.02 && second < 30.52,
                    "{death_ms} ms: {first} and {second}"
                );
            } else {
                assert!(first <= 0.503 && second <= 0.503, "{death_ms} ms: {first} and {second}");
            }
        }
        // A batch leaves in time and takes it along if one of the ten others called in a window as long as the time from
        // the registration to the death, 500 ms earlier: 1 - exp(-t / 3 s).
        let early = if death_ms > 503 { 1.0 } else { 1.0 - libm::exp(-f64::from(death_ms - 3) / 3e3) };
        let slack = 4.0 * (early * (1.0 - early) * 60.0).sqrt();
        let seen = 60.0 - f64::from(late);
        assert!((seen - 60.0 * early).abs() <= slack, "{death_ms} ms: {seen} in time");
    }
}

#[test]
fn a_registration_waits_for_a_peer_for_thirty_seconds() {
    // `peer-misses-a-registration.toml`: younger than 30 s at the heal, it is delivered by itself, after a try that
    // takes 0.3 s at most, and 0.5 s more if the head of the queue is replaced just then. Older, it takes a heartbeat
    // that waits likewise, and 500 ms. The rest is for the network.
    for (at_secs, least, most) in
        [(0, 0.5, 1.32), (60, 0.5, 1.32), (89, 0.5, 1.32), (91, 0.0, 0.82), (110, 0.0, 0.82)]
    {
        let at = format!("fault.2.at=\"{at_secs}s\"");
        let sets = [at.as_str(), "fault.2.within=\"0s\"", "replicates=60"];
        for replicate in run("peer-misses-a-registration", &sets) {
            let healed = f64::from(120 - at_secs);
            let after = learned(&replicate, ServerId(2)) - healed;
            assert!((least - 0.01..most).contains(&after), "{at_secs} s: {after} s after the heal");
        }
    }
}

#[test]
fn calls_between_zones_fail_for_as_long_as_the_cut_lasts() {
    // `zone-cut-off.toml`: 4/9 of six calls a second. In 60 whole seconds of twenty replicates about 3,200 of 7,200
    // fail, a number with a deviation of 42.
    let data = run("zone-cut-off", &[]);
    for minute in 7..11 {
        let from = SimTime::from_secs(60 * minute);
        let rows = || data.iter().flat_map(|it| &it.calls).filter(|row| row.from == from);
        let (calls, failed) =
            rows().fold((0, 0), |(calls, failed), row| (calls + row.calls, failed + row.failed));
        let share = failed as f64 / calls as f64;
        assert!((share - 4.0 / 9.0).abs() < 4.0 * 42.0 / 7_200.0, "minute {minute}: {failed} of {calls}");
    }
    let outside = data
        .iter()
        .flat_map(|it| &it.calls)
        .filter(|row| row.from < SimTime::from_secs(360) || row.from >= SimTime::from_secs(720));
    assert_eq!(outside.map(|row| row.failed).sum::<u64>(), 0);
}

#[test]
fn clients_of_a_server_that_is_cut_off_are_late_once() {
    // `server-cut-off.toml`: ten heartbeats late by so much are 10 x s / 30 renewals fewer in the three minutes after
    // the cut, on either server. Forty counts of whole heartbeats, each off by less than 2 or so: their mean by 0.5.
    for (pooled, late_secs) in [(false, 10.0), (true, 13.0)] {
        let pooled_is = format!("transport.pooled={pooled}");
        let data = run("server-cut-off", &[&pooled_is]);
        let mut missing = 0.0;
        for replicate in &data {
            let cut = replicate.faults[0].at;
            let after = |row: &&Minute| row.at > cut && row.at <= cut + SimDuration::from_secs(180);
            for server in [ServerId(0), ServerId(1)] {
                let seen: u32 = minutes(replicate, server).filter(after).map(|row| row.renewals).sum();
                missing += 180.0 - f64::from(seen);
            }
            assert_eq!(replicate.leases.evicted, 0);
            // The third has nothing but leases that have ended, all of them.
            let is_old = |row: &&Minute| {
                row.at > cut + SimDuration::from_secs(180) && row.at < cut + SimDuration::from_secs(300)
            };
            let alone: Vec<&Minute> = minutes(replicate, ServerId(2)).filter(is_old).collect();
            assert!(!alone.is_empty());
            for row in alone {
                assert_eq!((row.renewals, row.expired, row.self_preservation), (0, 30, true), "{row:?}");
            }
        }
        let mean = missing / (2 * data.len()) as f64;
        let predicted = 10.0 * late_secs / 30.0;
        assert!((mean - predicted).abs() < 0.5, "pooled {pooled}: {mean} missing, not {predicted}");
    }
}
