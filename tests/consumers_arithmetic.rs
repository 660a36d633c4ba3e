//! The arithmetic in the comments of shipped scenarios about what consumers of a two-stage registry go through, and
//! about Nacos 1, as in `arithmetic.rs`: over a row of settings. Every prediction is computed here from the rules in
//! `docs/spec/two-stage.md`, and shares nothing with the simulator.

use stillup::model::stage::Stage;
use stillup::observe::{Outcome, ReplicateData};

use crate::figures::mean;
use crate::shipped::run;

/// Detection times at a stage, s, one for each observation. All have ended.
fn detected(data: &[ReplicateData], stage: Stage) -> Vec<f64> {
    let rows = data.iter().flat_map(|replicate| &replicate.detections).filter(|row| row.stage == stage);
    rows.flat_map(|row| {
        let Outcome::Detected(after) = row.outcome else { panic!("{row:?}") };
        std::iter::repeat_n(after.as_nanos() as f64 / 1e9, row.count as usize)
    })
    .collect()
}

fn share(numbers: &[f64], wanted: impl Fn(f64) -> bool) -> f64 {
    numbers.iter().filter(|&&number| wanted(number)).count() as f64 / numbers.len() as f64
}

fn assert_near(seen: f64, predicted: f64, tolerance: f64, what: &str) {
    assert!((seen - predicted).abs() < tolerance, "{what}: {seen}, not {predicted}");
}

#[test]
fn a_push_comes_a_second_later_and_a_poll_five_on_average() {
    // `nacos-crash.toml`, `nacos-push-lost.toml`: 300 crashes. Of U(0, 10) the deviation is 2.9 s, of a crash's mean over
    // 19 observers 0.7 s, of all crashes' 0.04 s.
    for (loss, predicted, tolerance) in [("0.0", 1.0, 0.05), ("1.0", 5.0, 0.25)] {
        let data = run("nacos-push-lost", &[&format!("two-stage.push-loss={loss}")]);
        let [registry, client] = [Stage::Registry, Stage::Client].map(|stage| mean(detected(&data, stage)));
        assert_near(client - registry, predicted, tolerance, loss);
    }
}

#[test]
fn the_only_instance_is_seen_at_its_deletion() {
    // `nacos-single-instance.toml`: flag S - H to S + K, answers D - H to D + K, and a push a second later.
    let data = run("nacos-single-instance", &[]);
    for (stage, from, to) in
        [(Stage::Registry, 10.0, 20.0), (Stage::Served, 25.0, 35.0), (Stage::Client, 25.0, 36.1)]
    {
        let seen = detected(&data, stage);
        assert!(seen.iter().all(|after| (from..=to).contains(after)), "{}: {seen:?}", stage.name());
    }
    // Without the protection the answers follow the flag.
    let data = run("nacos-single-instance", &["two-stage.read-protect-threshold=none", "expect=[]"]);
    assert_eq!(detected(&data, Stage::Registry), detected(&data, Stage::Served));
}

#[test]
fn a_pause_of_the_server_marks_and_deletes_by_its_length() {
    // `nacos-server-pause.toml`: everybody has been silent for P to P + 5 s when the overdue check runs; it marks beyond
    // 15 s and deletes beyond 30 s.
    for (seconds, marked, deleted) in [(9, 0, 0), (20, 8, 0), (45, 8, 8)] {
        let data = run("nacos-server-pause", &[&format!("fault.1.pause.for=\"{seconds}s\""), "expect=[]"]);
        for replicate in &data {
            let leases = &replicate.leases;
            assert_eq!((leases.soft_evicted, leases.evicted), (marked, deleted), "{seconds} s");
        }
    }
}

#[test]
fn files_are_torn_in_the_share_of_time_in_which_they_are_written() {
    // `two-stage-torn-snapshot.toml`: w / (5 s + a round trip) of 10,000 kills; five deviations.
    for write_ms in [20_u32, 200, 1_000] {
        let data =
            run("two-stage-torn-snapshot", &[&format!("two-stage.disk-write-ms={write_ms}"), "expect=[]"]);
        let torn: u64 = data.iter().map(|replicate| replicate.consumers.failed_starts).sum();
        let predicted = 10_000.0 * f64::from(write_ms) / 5_002.0;
        assert_near(torn as f64, predicted, 5.0 * libm::sqrt(predicted), &format!("{write_ms} ms"));
    }
    let atomic = run("two-stage-torn-snapshot", &["two-stage.disk-mode=atomic", "expect=[]"]);
    assert!(atomic.iter().all(|replicate| replicate.consumers.failed_starts == 0));
}

/// The probability that a pause of an instance evicts it (section 3).
fn evicts(pause_s: f64) -> f64 {
    let phi = |y: f64| {
        if y <= 0.0 {
            0.0
        } else if y <= 3.0 {
            y * y / 6.0
        } else {
            y - 1.5
        }
    };
    (phi(pause_s - 10.0) - phi(pause_s - 15.0)) / 5.0
}

#[test]
fn a_pause_of_an_instance_evicts_by_its_length() {
    // `two-stage-instance-pause-20s.toml`: 200 pauses; four deviations are at most 0.14.
    for pause_s in [10.0, 12.0, 14.0, 16.0, 18.0] {
        let set = format!("fault.1.pause.for=\"{}ms\"", pause_s * 1e3);
        let data = run("two-stage-instance-pause-20s", &[&set, "expect=[]"]);
        let evicted: u64 = data.iter().map(|replicate| replicate.leases.soft_evicted).sum();
        let seen = evicted as f64 / data.len() as f64;
        assert_near(seen, evicts(pause_s), 0.14, &format!("{pause_s} s"));
    }
}

#[test]
fn a_paused_registry_takes_out_everybody_or_nobody() {
    // `two-stage-registry-pause-20s.toml`: it depends on who runs first.
    let marks = |sets: &[&str]| -> Vec<u64> {
        let data = run("two-stage-registry-pause-20s", sets);
        data.iter().map(|replicate| replicate.leases.soft_evicted).collect()
    };
    assert!(marks(&[]).into_iter().all(|marks| marks == 20));
    assert!(
        marks(&["two-stage.resume-order=requests-first", "expect=[]"]).into_iter().all(|marks| marks == 0)
    );
    // `two-stage-registry-pause-70s.toml`: with ten instances the guard stops the second sweep, and with a fixed delay
    // there is none.
    let forgotten = |sets: &[&str]| -> u64 {
        let data = run("two-stage-registry-pause-70s", sets);
        data.iter().map(|replicate| replicate.leases.evicted).sum()
    };
    assert_eq!(forgotten(&[]), 900);
    assert_eq!(forgotten(&["application.1.instances=10", "expect=[]"]), 0);
    assert_eq!(forgotten(&["two-stage.sweep-mode=fixed-delay", "expect=[]"]), 0);
}

#[test]
fn two_callers_of_five_outlast_a_linger_of_three_seconds() {
    // `two-stage-linger.toml`: of U(0, 5) a share of 2/5 lies beyond 3 s, by 1 s on average: 0.4 s of all. 300 stops.
    let seen = detected(&run("two-stage-linger", &[]), Stage::Client);
    assert_near(share(&seen, |after| after > 3.0), 0.4, 0.06, "share");
    let beyond: Vec<f64> = seen.iter().map(|after| (after - 3.0).max(0.0)).collect();
    assert_near(mean(beyond), 0.4, 0.1, "mean");
}

#[test]
fn three_processes_of_five_register_again_while_they_stop() {
    // `two-stage-forgotten-timer.toml`: 300 stops. A ghost's last sign is its registration, U(0, 3) s before the exit,
    // which comes 3 s after the order; then 15 s and U(0, 3) s to the sweep: 18 s after the order on average.
    let seen = detected(&run("two-stage-forgotten-timer", &[]), Stage::Registry);
    assert_near(share(&seen, |after| after > 1.0), 0.6, 0.12, "share");
    let ghosts: Vec<f64> = seen.into_iter().filter(|after| *after > 1.0).collect();
    assert_near(mean(ghosts.iter().copied()), 18.0, 0.5, "mean");
    assert!(ghosts.iter().all(|after| (15.0..=21.1).contains(after)), "{ghosts:?}");
}
