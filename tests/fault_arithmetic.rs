//! The arithmetic in the comments of shipped scenarios about faults, roll-outs and calls, as in `arithmetic.rs`:
//! over a row of settings, or minute by minute. Every prediction is computed here from the rules in `docs/spec`,
//! and shares nothing with the simulator.

use stillup::engine::{SimDuration, SimTime};
use stillup::model::stage::{EventKind, Stage};
use stillup::observe::{CallOutcome, Minute, Outcome, ReplicateData};

use crate::figures::{evicted, mean, minutes, threshold};
use crate::shipped::run;

/// When the first fault of that verb came.
fn when(replicate: &ReplicateData, verb: &str) -> SimTime {
    replicate.faults.iter().find(|fault| fault.verb == verb).expect("there is one").at
}

#[test]
fn pauses_stretch_the_time_between_heartbeats() {
    // `gc-pauses-trip-protection.toml`: (E + L)(1 - exp(-30 / E)) for a pause L of at least 30 s. Twenty others
    // beat every 30 s. Some 150 minutes with a deviation of 6: four deviations of their mean are 2.
    for (work, pause) in [(30.0_f64, 50.0), (60.0, 40.0)] {
        let every = format!("fault.1.pauses.every={{ exponential = \"{work}s\" }}");
        let lasting = format!("fault.1.pauses.lasting=\"{pause}s\"");
        let between = (work + pause) * (1.0 - libm::exp(-30.0 / work));
        let predicted = 80.0 * 60.0 / between + 40.0;
        let data = run("gc-pauses-trip-protection", &[&every, &lasting]);
        let settled = |replicate| when(replicate, "pauses") + SimDuration::from_secs(60);
        let rows = data.iter().flat_map(|it| minutes(it, settled(it), when(it, "crash")));
        let seen = mean(rows.map(|row| f64::from(row.renewals)));
        assert!((seen - predicted).abs() < 2.0, "{work} s, {pause} s: {seen}, not {predicted}");
    }
}

#[test]
fn a_flag_that_is_off_at_a_threshold_update_breaks_protection() {
    // `scale-down-flag.toml`: updates come 15 and 30 minutes after the start, which is 5.5 minutes before the
    // faults. The flag is off from 10 to 25 minutes into the faults, which takes in the second.
    let data = run("scale-down-flag", &["fault.3.at=\"25m\"", "fault.4.at=\"27m\""]);
    for replicate in &data {
        assert_eq!(evicted(replicate), 40, "the forty, and not the one after");
        let last = replicate.timeline.last().expect("there were minutes");
        assert_eq!((last.expected, last.threshold, last.self_preservation), (0, 0, true));
    }
}

#[test]
fn out_of_service_is_not_counted() {
    // `out-of-service.toml`: expected 101, from the first update on 90, which counts who is UP.
    for replicate in &run("out-of-service", &[]) {
        let crash = when(replicate, "crash");
        // At 900 s, just before that minute is told.
        let update = SimTime::from_secs(899);
        assert!(minutes(replicate, SimTime::ZERO, update).all(|row| row.threshold == threshold(101)));
        assert!(minutes(replicate, update, crash).all(|row| row.threshold == threshold(90)));
        let rows = minutes(replicate, when(replicate, "override"), crash);
        assert!(rows.min_by_key(|row| row.renewals).is_some_and(|row| row.renewals >= 197), "they renew");
        assert_eq!(replicate.timeline.last().map(|row| row.threshold), Some(threshold(80)));
    }
    // A server that does not fetch counts nobody and changes nothing: 160 are not more than 171.
    for replicate in &run("out-of-service", &["server.fetch-registry=false", "replicates=10"]) {
        assert_eq!(evicted(replicate), 0);
    }
}

#[test]
fn heartbeats_may_take_as_long_as_their_interval() {
    // `slow-heartbeats.toml`: no longer than 30 s, and they only come further apart, by 59 s at most. Longer, and
    // they start at 0, 90, 240, 510, … s: whatever the delay, twice more than 180 s apart while it lasts.
    for (delay, removals) in [(10, 0), (29, 0), (31, 2), (35, 2), (60, 2)] {
        let delay_is = format!("fault.1.slow-heartbeats.delay=\"{delay}s\"");
        let data = run("slow-heartbeats", &[&delay_is, "replicates=30"]);
        assert!(data.iter().all(|replicate| evicted(replicate) == removals), "{delay} s");
    }
}

#[test]
fn a_step_forward_hits_who_has_not_renewed_since() {
    // `clock-step-forward.toml`: rounds come every 60 s from the start. d seconds after the step, 10 (10 - d) of the
    // hundred have not renewed, a binomial number: with d up to 6.5 surely 15 or more, the limit.
    for replicate in &run("clock-step-forward", &[]) {
        let since_round = when(replicate, "clock").as_nanos() as f64 / 1e9 % 60.0;
        let removed = evicted(replicate);
        match 60.0 - since_round {
            d if d > 10.01 => assert_eq!(removed, 0, "{d} s"),
            d if d < 6.5 => assert_eq!(removed, 15, "{d} s"),
            _ => assert!(removed <= 15),
        }
    }
    let defaults = [
        "eureka.server.expected-client-renewal-interval-seconds=30",
        "eureka.instance.lease-renewal-interval-in-seconds=30",
        "eureka.instance.lease-expiration-duration-in-seconds=90",
        "replicates=50",
    ];
    assert!(run("clock-step-forward", &defaults).iter().all(|replicate| evicted(replicate) == 0));
}

#[test]
fn a_step_back_makes_one_minute_two() {
    // `clock-step-back.toml`: one bucket of 120 s with four renewals of each of 99 or 100, all others of 60 s.
    for replicate in &run("clock-step-back", &[]) {
        let gaps = replicate.timeline.windows(2).map(|rows| (rows[1].at.since(rows[0].at), rows[1].renewals));
        let long: Vec<_> = gaps.filter(|(gap, _)| *gap != SimDuration::from_secs(60)).collect();
        let [(gap, renewals)] = long[..] else { panic!("{long:?}") };
        assert_eq!(gap, SimDuration::from_secs(120));
        assert!((392..=401).contains(&renewals), "{renewals}");
    }
}

/// What `lost-requests.toml` derives for a probability of loss: renewals a minute and removals an hour, without
/// protection.
fn with_loss(p: f64) -> (f64, f64) {
    let q = 1.0 - (1.0 - p) * (1.0 - p);
    let (mut between, mut in_a_row) = (0.0, 1.0 - q);
    for failures in 0..60 {
        // 30 s after a success; 30 s of waiting and 60, 120, 240, 300 … s of delay after failures.
        let wait =
            if failures == 0 { 30.0 } else { 30.0 + f64::min(300.0, 30.0 * libm::exp2(failures.into())) };
        between += in_a_row * wait;
        in_a_row *= q;
    }
    let removal = q * (p + p * (1.0 - p) * q);
    (6_000.0 * (1.0 - p) / between, 100.0 * 3_600.0 / between * (1.0 - q) * removal)
}

#[test]
fn lost_messages_by_their_share() {
    let off = "eureka.server.enable-self-preservation=false";
    for (loss, replicates, protection) in [(0.01, 50, "on"), (0.05, 10, off), (0.2, 10, "on")] {
        let loss_is = format!("fault.1.degrade.loss={loss}");
        let replicates_are = format!("replicates={replicates}");
        let protection_is =
            if protection == off { off } else { "eureka.server.enable-self-preservation=true" };
        let data = run("lost-requests", &[&loss_is, &replicates_are, protection_is]);
        let (renewals, removals) = with_loss(loss);
        let rows = data.iter().flat_map(|it| minutes(it, SimTime::from_secs(1_200), it.ended_at));
        let seen = mean(rows.map(|row| f64::from(row.renewals)));
        // Whoever is removed does not renew for a while, which the derivation leaves out: one in a hundred.
        assert!((seen / renewals - 1.0).abs() < 0.015, "{loss}: {seen} renewals, not {renewals}");
        let removed: u64 = data.iter().map(evicted).sum();
        // An hour each. A Poisson number; what a removal does to the next one is left out, 6 % at a loss of 5 %.
        let predicted = if loss > 0.1 { 0.0 } else { removals * f64::from(replicates) };
        let slack = 4.0 * predicted.sqrt() + 0.07 * predicted;
        assert!((removed as f64 - predicted).abs() <= slack, "{loss}: {removed} removed, not {predicted}");
    }
}

#[test]
fn jersey_gives_up_in_time_and_loses_nobody() {
    // An attempt is given up after 8 s and made again, at once or after 30 s: it takes five lost requests in a row
    // to be silent for 180 s, 3 in 10 million at a loss of 5 %.
    for loss in ["0.01", "0.05"] {
        let loss_is = format!("fault.1.degrade.loss={loss}");
        let data = run("lost-requests", &[&loss_is, "transport.kind=\"jersey\"", "replicates=5"]);
        assert!(data.iter().all(|replicate| evicted(replicate) == 0), "{loss}");
    }
}

#[test]
fn a_storm_is_an_outage_for_one_round() {
    // `scale-out-storm.toml`: 301 expected, at most 398 renewals in the minute of the storm, 598 in the next.
    for replicate in &run("scale-out-storm", &["replicates=5"]) {
        let storm = when(replicate, "start");
        let after: Vec<&Minute> = replicate.timeline.iter().filter(|row| row.at > storm).collect();
        let (first, second) = (after[0], after[1]);
        assert_eq!(first.threshold, threshold(301));
        assert!(first.self_preservation && first.renewals <= 398, "{first:?}");
        assert!(!second.self_preservation && (590..=598).contains(&second.renewals), "{second:?}");
    }
}

#[test]
fn a_share_of_the_reclaimed_says_goodbye() {
    // `spot-reclaim-heeded.toml`: each goodbye lowers what is expected of 101; seventy send 140 in the end.
    for tenths in 0..=10_u32 {
        let heeded = format!("fault.1.reclaim.heeded={}", f64::from(tenths) / 10.0);
        let sets = [heeded.as_str(), "replicates=5", "stop-when-settled=false"];
        let goodbyes = 3 * tenths;
        let gone = if 140 > threshold(101 - goodbyes) { u64::from(30 - goodbyes) } else { 0 };
        assert!(run("spot-reclaim-heeded", &sets).iter().all(|it| evicted(it) == gone), "{tenths} of 10");
    }
}

#[test]
fn a_killed_blue_stays() {
    // `blue-green.toml`: 120 renewals against trunc(101 x 1.7) = 171.
    for replicate in &run("blue-green", &["fault.1.blue-green.graceful=false", "replicates=5"]) {
        assert_eq!((evicted(replicate), replicate.left_at_end()), (0, 100));
        assert!(replicate.self_preservation_at_end());
    }
}

#[test]
fn a_handler_is_all_that_it_takes() {
    // `unhealthy.toml`: with a handler of its own, billing is seen as soon as orders.
    let sets = ["application.billing.eureka.client.healthcheck.enabled=true", "replicates=20"];
    for replicate in &run("unhealthy", &sets) {
        let rows = || replicate.detections.iter().filter(|row| row.event == EventKind::Unhealthy);
        let limits =
            [(Stage::Registry, 30), (Stage::Served, 60), (Stage::Client, 90), (Stage::Balancer, 125)];
        for (stage, limit) in limits {
            // A second for the network.
            let limit = SimDuration::from_secs(limit + 1);
            let seen = |row: &stillup::observe::Detection| match row.outcome {
                Outcome::Detected(t_d) => t_d < limit,
                Outcome::Censored(_) | Outcome::Superseded(_) => false,
            };
            assert!(rows().filter(|row| row.stage == stage).all(seen), "{}", stage.name());
        }
    }
}

/// Calls, failed calls, and attempts that met nobody alive, from a moment on.
fn calls_from(data: &[ReplicateData], from: impl Fn(&ReplicateData) -> SimTime) -> (f64, f64, f64) {
    let mut sums = (0.0, 0.0, 0.0);
    for replicate in data {
        let from = from(replicate);
        for row in replicate.calls.iter().filter(|row| row.from >= from) {
            let unanswered = row.attempts.iter().sum::<u64>() - row.attempts[CallOutcome::Answered as usize];
            sums.0 += row.calls as f64;
            sums.1 += row.failed as f64;
            sums.2 += unanswered as f64;
        }
    }
    sums
}

/// What a round robin over a shuffled list does, `troubled` of whose `size` instances fail, with one retry among the
/// others, which takes a turn: failed calls and failed attempts for each call.
fn with_one_retry(size: usize, troubled: usize) -> (f64, f64) {
    let (mut state, mut failed, mut attempts) = (1_u64, 0, 0);
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let (lists, calls) = (2_000, 1_000);
    for _ in 0..lists {
        let mut fails: Vec<bool> = (0..size).map(|place| place < troubled).collect();
        (1..size).rev().for_each(|place| fails.swap(place, below(place + 1)));
        let mut turn = below(1_000);
        for _ in 0..calls {
            turn += 1;
            let first = turn % size;
            if fails[first] {
                turn += 1;
                let second = turn % (size - 1);
                let second = if second < first { second } else { second + 1 };
                failed += u32::from(fails[second]);
                attempts += 1 + u32::from(fails[second]);
            }
        }
    }
    let all = f64::from(lists * calls);
    (f64::from(failed) / all, f64::from(attempts) / all)
}

#[test]
fn what_a_roll_out_that_kills_leaves_behind() {
    // `rolling-restart-kills-batches.toml`: forty dead among eighty. From 925 s on nothing changes any more.
    for (retries, share) in [(0, 40.0 / 80.0), (1, with_one_retry(80, 40).0)] {
        let retries_are = format!("application.gateway.traffic.retries-on-next-instance={retries}");
        let data = run("rolling-restart-kills-batches", &[&retries_are, "replicates=5"]);
        let (calls, failed, _) = calls_from(&data, |_| SimTime::from_secs(960));
        // 20 callers for 44 minutes, five times: 264,000 calls, of which a share is off by 0.4 % at most.
        assert!((failed / calls - share).abs() < 0.004, "{retries}: {}", failed / calls);
    }
}

#[test]
fn the_corrected_roll_out_costs_not_even_a_retry() {
    let data = run("rolling-restart-corrected", &["replicates=5"]);
    let (calls, failed, unanswered) = calls_from(&data, |_| SimTime::ZERO);
    assert!(calls > 150_000.0, "{calls}");
    assert_eq!((failed, unanswered), (0.0, 0.0));
}

#[test]
fn what_makes_a_caller_stale() {
    // `stale-caller.toml`: ten callers meet 5 of 20, for half of each interval on the way in the mean.
    let (fetch, list) = (
        "application.gateway.eureka.client.registry-fetch-interval-seconds=30",
        "application.gateway.balancer.ttl=\"35s\"",
    );
    let (no_same, one_next) = (
        "application.gateway.traffic.retries-on-same-instance=0",
        "application.gateway.traffic.retries-on-next-instance=1",
    );
    // Of a call that meets one of them at first: failed calls, and attempts.
    let (failed, attempts) = with_one_retry(20, 5);
    let (dead_again, dead_attempts) = (4.0 * failed, 4.0 * attempts);
    let cases: [(&[&str], f64, f64, f64); 6] = [
        (&[], 225.0, 1.0, 3.0),
        (&[fetch], 180.0, 1.0, 3.0),
        (&[list], 92.5, 1.0, 3.0),
        (&[no_same], 225.0, 1.0, 1.0),
        (&[no_same, one_next], 225.0, dead_again, dead_attempts),
        (&[fetch, list, no_same, one_next], 47.5, dead_again, dead_attempts),
    ];
    for (sets, window, failing, attempts) in cases {
        let data = run("stale-caller", sets);
        let (_, failed, unanswered) = calls_from(&data, |_| SimTime::ZERO);
        let met = 100.0 * 10.0 * window * 5.0 / 20.0;
        // A window deviates by 2 % over 100 replicates, few calls by as much again.
        assert!((failed / (met * failing) - 1.0).abs() < 0.1, "{sets:?}: {failed}, not {}", met * failing);
        assert!((unanswered / (met * attempts) - 1.0).abs() < 0.1, "{sets:?}: {unanswered} attempts");
    }
}

#[test]
fn shares_of_calls_to_one_and_two_of_ten() {
    // `crash-loop.toml`: dead for 40 of 60 s; `grey-failure.toml`: two fail everything.
    let next = "application.gateway.traffic.retries-on-next-instance";
    let cases = [
        ("crash-loop", "crash-loop", 0, 2.0 / 3.0 / 10.0),
        ("crash-loop", "crash-loop", 1, 0.0),
        ("grey-failure", "grey", 0, 2.0 / 10.0),
        ("grey-failure", "grey", 1, (7.0 / 9.0 * 2.0 / 8.0 + 2.0 / 9.0 / 9.0) / 9.0),
    ];
    for (name, verb, retries, share) in cases {
        let retries_are = format!("{next}={retries}");
        let data = run(name, &[&retries_are, "replicates=5"]);
        let (calls, failed, _) =
            calls_from(&data, |replicate| when(replicate, verb) + SimDuration::from_secs(1));
        // 340,000 calls of 200 callers; whether the two are neighbours in a list deviates by 0.05 %.
        assert!((failed / calls - share).abs() < 0.003, "{name} {retries}: {}", failed / calls);
    }
}
