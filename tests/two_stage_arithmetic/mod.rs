//! The arithmetic in the comments of the two-stage registry's scenarios: what each must come to, computed a second
//! time from the rules in `two-stage.md`. Nothing here knows the simulator's rules; cuts are played by a model of
//! thirty lines.

mod cuts;
mod jams;

use stillup::model::stage::{EventKind, Stage};
use stillup::observe::{Outcome, ReplicateData, SweepRow};

use crate::figures::{is_likely, mean};
use crate::shipped::run;

/// Heartbeat H, soft time-out S, hard time-out R, sweep K and poll P, ms: the defaults (`two-stage.md` section 6).
const HEARTBEAT: u64 = 5_000;
const SOFT: u64 = 15_000;
const HARD: u64 = 60_000;
const SWEEP: u64 = 3_000;
const POLL: u64 = 5_000;
/// A few trips over the network, 1 ms each.
const TRIPS: u64 = 10;

/// C1, C2: whether the guard lets a sweep pass.
fn passes(healthy: u32, entries: u32) -> bool {
    entries < 10 || 100 * healthy >= 85 * entries
}

/// All T_D of one event at one stage, ms, each as often as it was observed. Nothing may be censored.
fn detected(data: &[ReplicateData], event: EventKind, stage: Stage) -> Vec<u64> {
    let rows = data.iter().flat_map(|replicate| &replicate.detections);
    let own = rows.filter(|row| row.event == event && row.stage == stage);
    own.flat_map(|row| match row.outcome {
        Outcome::Detected(t_d) => vec![t_d.as_millis(); row.count as usize],
        Outcome::Superseded(_) => Vec::new(),
        Outcome::Censored(_) => panic!("{row:?}"),
    })
    .collect()
}

fn mean_ms(values: &[u64]) -> f64 {
    mean(values.iter().map(|&value| value as f64))
}

/// Sweeps that marked, and sweeps that removed: when, ms, and how many.
fn marks(replicate: &ReplicateData) -> Vec<(u64, u32)> {
    counted(replicate, |row| row.sweep.marked)
}

fn removals(replicate: &ReplicateData) -> Vec<(u64, u32)> {
    counted(replicate, |row| row.sweep.removed)
}

fn counted(replicate: &ReplicateData, count: fn(&SweepRow) -> u32) -> Vec<(u64, u32)> {
    let rows = replicate.sweeps.iter().map(|row| (row.at.as_millis(), count(row)));
    rows.filter(|(_, count)| *count > 0).collect()
}

fn sum(rows: &[(u64, u32)]) -> u32 {
    rows.iter().map(|(_, count)| count).sum()
}

/// Pairs of a caller and an instance of which the caller lost the instance, at such a moment, ms.
fn lost_by_callers(replicate: &ReplicateData, when: impl Fn(u64) -> bool) -> u64 {
    let own = replicate.mistakes.iter().filter(|mistake| mistake.stage == Stage::Client);
    own.filter(|mistake| when(mistake.at.as_millis())).map(|mistake| mistake.count).sum()
}

fn ends_shut(replicate: &ReplicateData) -> bool {
    replicate.self_preservation_at_end()
}

/// Section 3: the silence of a crash is counted from a heartbeat that is U(0, H) old, a sweep comes U(0, K] after the
/// time-out, and a consumer `wait` at most after that. Range and mean, and how far the mean of `replicates` may be off.
fn crash(data: &[ReplicateData], stage: Stage, timeout: u64, wait: u64) {
    let seen = detected(data, EventKind::Crash, stage);
    let (least, most) = (timeout - HEARTBEAT, timeout + SWEEP + wait);
    let range = least..=most + TRIPS;
    assert!(
        seen.iter().all(|t_d| range.contains(t_d)),
        "{stage:?}: {:?} to {:?}",
        seen.iter().min(),
        seen.iter().max()
    );
    // The variance of a uniform draw from 0 to a is a²/12.
    let square = |length: u64| (length * length) as f64 / 12.0;
    let deviation = (square(HEARTBEAT) + square(SWEEP) + square(wait)).sqrt() / (data.len() as f64).sqrt();
    let expected = (least + most) as f64 / 2.0;
    assert!(
        (mean_ms(&seen) - expected).abs() <= 4.0 * deviation,
        "{stage:?}: {}, not {expected}",
        mean_ms(&seen)
    );
}

#[test]
fn a_crash_polled_and_polled_long() {
    for (name, wait) in [("two-stage-crash", POLL), ("two-stage-crash-long-poll", 200)] {
        let data = run(name, &[]);
        crash(&data, Stage::Registry, SOFT, 0);
        crash(&data, Stage::Served, SOFT, 0);
        crash(&data, Stage::Client, SOFT, wait);
        crash(&data, Stage::Entry, HARD, 0);
    }
}

/// What a caller loses of a registry that restarts empty after `down` ms, on average over the moment of its first fetch
/// into the outage (2.2, 2.3).
fn lost_at_a_restart(down: u64, checks: bool) -> f64 {
    let lost = |first: u64| {
        // After the f-th failure in a row it waits for 2, 4, 8, 16, and then 30 s.
        let waits = [2_000, 4_000, 8_000, 16_000, 30_000];
        let attempts = waits.iter().scan(first, |at, wait| {
            let this = *at;
            *at += wait;
            Some(this)
        });
        let back = attempts.into_iter().find(|&at| at >= down).unwrap() - down;
        let there = (back as f64 / HEARTBEAT as f64).min(1.0);
        if checks && there < 0.5 { 0.0 } else { 1.0 - there }
    };
    mean((0..POLL).map(lost))
}

#[test]
fn a_registry_restarts_with_and_without_the_check() {
    let percent = |down, checks| (lost_at_a_restart(down, checks) * 1_000.0).round() / 10.0;
    assert_eq!((percent(8_000, true), percent(8_000, false)), (4.5, 42.0));
    assert_eq!((percent(20_000, true), percent(20_000, false)), (0.0, 0.0));
    for (name, checks) in
        [("two-stage-registry-restarts", true), ("two-stage-registry-restarts-unchecked", false)]
    {
        for down in [1_000, 3_000, 8_000, 20_000] {
            let set = format!("fault.1.restart.down-for=\"{down}ms\"");
            let data = run(name, &[&set, "expect=[]"]);
            let pairs = (data.len() * 40 * 100) as f64;
            let seen =
                data.iter().map(|replicate| lost_by_callers(replicate, |_| true)).sum::<u64>() as f64 / pairs;
            let expected = lost_at_a_restart(down, checks);
            // 4,000 callers, of which one deviates by 0.4, and the phases of a hundred fleets.
            assert!((seen - expected).abs() <= 0.03, "{name}, {down} ms: {seen}, not {expected}");
        }
    }
}

/// 2.3: a frozen caller refuses an answer every P, and a call's two trips.
#[test]
fn a_retired_service_freezes_its_consumers() {
    for replicate in run("two-stage-retired-service", &[]) {
        let at = |place: usize| replicate.faults[place].at.as_millis() as f64;
        let end = replicate.ended_at.as_millis() as f64;
        let answers = 5.0 * ((end - at(0)) + (at(1) - at(0))) / (POLL + 2) as f64;
        let refused = replicate.consumers.refused_answers as f64;
        assert!((refused - answers).abs() <= 10.0, "{refused}, not {answers}");
        let seen = |event| {
            let rows =
                replicate.detections.iter().filter(|row| (row.event, row.stage) == (event, Stage::Client));
            let seen = rows.filter(|row| matches!(row.outcome, Outcome::Detected(_)));
            seen.map(|row| row.count).sum::<u64>()
        };
        // The five that were restarted; of the retired one, nobody who stayed up.
        assert_eq!([EventKind::Crash, EventKind::Registration, EventKind::Stop].map(seen), [5, 5, 0]);
    }
}
