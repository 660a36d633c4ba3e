//! The arithmetic in the comments of shipped scenarios, where an expectation cannot hold it: over a row of
//! settings, replicate by replicate, or between scenarios. Every prediction is computed here from the rules in
//! `docs/spec`, and shares nothing with the simulator.

use stillup::engine::SimDuration;
use stillup::model::stage::Stage;
use stillup::observe::{Detection, Outcome, ReplicateData, RoundRow};

use crate::figures::{evicted, is_likely};
use crate::shipped::run;

#[test]
fn one_to_eight_missed_heartbeats() {
    for missed in 1..=8_u32 {
        // The cut that swallows so many, and the silence that it makes: `missed-heartbeats.toml`.
        let cut_ms = 100 + 30_100 * missed;
        let silent_secs = 30.102 + 30.1 * f64::from(missed);
        let removed = ((silent_secs - 180.0) / 60.0).clamp(0.0, 1.0);
        let data = run("missed-heartbeats", &[&format!("fault.1.partition.for=\"{cut_ms}ms\"")]);
        let seen = data.iter().filter(|&replicate| evicted(replicate) > 0).count();
        assert!(is_likely(seen, data.len(), removed), "{missed} missed: {seen} of {}", data.len());
        assert!(data.iter().all(|replicate| evicted(replicate) <= 1));
    }
}

/// Who is lost in `blind-window.toml`, in the mean, if the network fails `phase` seconds after a tick, and the
/// server assumes a heartbeat every `assumed` seconds.
fn lost_in_the_blind_window(phase: f64, assumed: u32) -> u32 {
    // Leases end 15 to 20 s after the cut, evenly.
    let ended = |at: f64| (20.0 * (at - phase - 15.0)).clamp(0.0, 100.0) as u32;
    let mut lost = 0;
    for round in (5..180).step_by(5) {
        let renewals = match round / 60 {
            0 => 1_200.0,
            1 => 20.0 * phase,
            _ => 0.0,
        };
        let threshold = (f64::from(101 - lost) * f64::from(60 / assumed) * 0.85).trunc();
        if threshold > 0.0 && renewals > threshold {
            let (left, expired) = (100 - lost, ended(f64::from(round)) - lost.min(ended(f64::from(round))));
            lost += expired.min(left - left * 85 / 100);
        }
    }
    lost
}

#[test]
fn the_blind_window_phase_by_phase() {
    for (name, assumed) in [("blind-window", 5), ("blind-window-expected-30", 30)] {
        for replicate in run(name, &[]) {
            // The server opened at 0, so its minutes are those of the run.
            let phase = replicate.faults[0].at.as_nanos() as f64 / 1e9 % 60.0;
            // How many a first round finds is chance: a binomial draw, whose deviation is at most 5 of 100. A
            // phase that differs by 0.8 s makes a difference of 16 there.
            let nearby = (-8..=8).map(|tenths| (phase + f64::from(tenths) / 10.0).clamp(0.0, 59.99));
            let range: Vec<u32> = nearby.map(|phase| lost_in_the_blind_window(phase, assumed)).collect();
            let (least, most) = (range.iter().min().unwrap(), range.iter().max().unwrap());
            let lost = u32::try_from(evicted(&replicate)).unwrap();
            assert!((*least..=*most).contains(&lost), "{name} at {phase}: {lost}, not {least} to {most}");
        }
    }
}

#[test]
fn the_blind_window_in_figures() {
    // What the comment says: the share of phases without a loss, the median, the worst; the mean and the range
    // where the server assumes 30 s.
    let losses = |assumed| {
        let mut losses: Vec<u32> =
            (0..6_000).map(|at| lost_in_the_blind_window(f64::from(at) / 100.0, assumed)).collect();
        losses.sort_unstable();
        losses
    };
    let told = losses(5);
    let without = told.iter().filter(|&&lost| lost == 0).count();
    assert_eq!((without / 60, told[3_000], told[5_999]), (19, 49, 83));
    let untold = losses(30);
    let mean = untold.iter().sum::<u32>() / 6_000;
    assert_eq!((untold[0], mean, untold[5_999]), (75, 91, 100));
}

/// Observations at a stage as if it were another, so that stages can be compared.
fn seen_at(data: &[ReplicateData], stage: Stage) -> Vec<Detection> {
    let rows = data.iter().flat_map(|replicate| &replicate.detections);
    rows.filter(|row| row.stage == stage)
        .map(|row| Detection { stage: Stage::Client, ..row.clone() })
        .collect()
}

/// The mean T_D of rows that all were detected, seconds.
fn mean_secs(rows: &[Detection]) -> f64 {
    let secs = |row: &Detection| match row.outcome {
        Outcome::Detected(t_d) => t_d.as_nanos() as f64 / 1e9 * row.count as f64,
        other => panic!("{other:?}"),
    };
    rows.iter().map(secs).sum::<f64>() / rows.iter().map(|row| row.count as f64).sum::<f64>()
}

#[test]
fn three_balancers_differ_by_their_lists_alone() {
    let none = run("balancer-none", &[]);
    let client = seen_at(&none, Stage::Client);
    assert_eq!(seen_at(&none, Stage::Balancer), client, "without a balancer there is one list");
    // A list that is read anew every so many seconds is half of that old on average. 9,900 observers in phases of
    // their own: four deviations of the mean, 4 x 35 / sqrt(12 x 9900), are 0.41 s.
    for (name, period_secs) in [("balancer-ribbon", 30.0), ("balancer-loadbalancer", 35.0)] {
        let data = run(name, &[]);
        assert_eq!(seen_at(&data, Stage::Client), client, "{name}: the same luck up to the client's list");
        let more = mean_secs(&seen_at(&data, Stage::Balancer)) - mean_secs(&client);
        assert!((more - period_secs / 2.0).abs() < 0.41, "{name}: {more} s");
    }
}

#[test]
fn reclaims_of_one_to_twenty() {
    // 101 expected clients: more than trunc(101 x 1.7) = 171 renewals let the dead go, 2 from each survivor.
    for dead in 1..=20_u32 {
        let sets = [format!("fault.1.crash.count={dead}"), "replicates=5".to_owned()];
        let data = run("spot-reclaim-16", &sets.each_ref().map(String::as_str));
        let gone = if 2 * (100 - dead) > 171 { u64::from(dead) } else { 0 };
        assert!(data.iter().all(|replicate| evicted(replicate) == gone), "{dead} of 100");
    }
}

#[test]
fn two_waves_on_either_side_of_the_change() {
    // A plain Netflix server knows no clients until its threshold update, here after an hour: it counts 40, and
    // trunc(40 x 1.7) = 68. The first four leave 72 renewals and go. The second leave 64, against 68 if evictions
    // do not lower what is expected, against trunc(36 x 1.7) = 61 if they do. The next update is after the end.
    let sets = |release| {
        [
            "flavour=\"netflix\"",
            release,
            "server.fetch-registry=true",
            "eureka.server.renewal-threshold-update-interval-ms=3600000",
            "start.warm-up=\"65m\"",
            "duration=\"110m\"",
            "replicates=10",
        ]
    };
    for (release, gone) in [("release=\"1.9.16\"", 4), ("release=\"1.9.17\"", 8)] {
        let data = run("two-waves-before-1-9-17", &sets(release));
        assert!(data.iter().all(|replicate| evicted(replicate) == gone), "{release}");
    }
}

#[test]
fn the_pause_hits_whom_the_comment_says() {
    // `shared-server-paused.toml` without queue and protection: the round at 260 finds 99 x 1/3 of the living
    // and the dead one, and removes 100 - 85 = 15 of them. The pause begins 1 minute after the faults.
    let sets = ["server.process-backlog-after-pause=false", "eureka.server.enable-self-preservation=false"];
    for replicate in run("shared-server-paused", &sets) {
        let paused =
            replicate.faults.iter().find(|fault| fault.verb == "pause").expect("there is a pause").at;
        let RoundRow { at, round, .. } = replicate.rounds[0];
        assert_eq!((at.since(paused), round.evicted), (SimDuration::from_secs(260), 15));
        assert!((20..=50).contains(&round.expired), "{} expired", round.expired);
    }
}
