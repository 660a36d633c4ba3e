//! The jam, each way out of it, and the rate of deaths that leads into it.

use super::{HARD, HEARTBEAT, SOFT, SWEEP, TRIPS, ends_shut, is_likely, marks, passes, removals, run, sum};

/// C2, C3: of twenty the guard bears three.
#[test]
fn one_to_four_of_twenty() {
    for dead in 1..=4 {
        let count = format!("fault.1.crash.count={dead}");
        let data = run("two-stage-three-of-twenty", &[&count, "expect=[]", "stop-when-settled=false"]);
        for replicate in &data {
            assert_eq!(sum(&marks(replicate)), dead, "the guard looks before it marks");
            let open = passes(20 - dead, 20);
            assert_eq!(sum(&removals(replicate)), if open { dead } else { 0 }, "{dead} dead");
            assert_eq!(ends_shut(replicate), !open);
        }
    }
}

/// C3: how many ghosts an operator must deregister, and how many newcomers there must be.
#[test]
fn the_least_that_ends_a_jam() {
    let ghosts_deleted = (1..).find(|&deleted| passes(16, 20 - deleted)).unwrap();
    let newcomers = (1..).find(|&new| passes(16 + new, 20 + new)).unwrap();
    assert_eq!((ghosts_deleted, newcomers), (2, 7));
    let outcomes = [
        ("two-stage-jam-operator", "fault.2.delete.count", ghosts_deleted, 4 - ghosts_deleted),
        ("two-stage-jam-newcomers", "fault.3.start.count", newcomers, 5),
    ];
    for (name, key, least, removed) in outcomes {
        for (count, removed) in [(least - 1, 0), (least, removed)] {
            let data = run(name, &[&format!("{key}={count}"), "expect=[]", "replicates=30"]);
            for replicate in &data {
                assert_eq!(sum(&removals(replicate)), removed, "{name}: {count}");
                assert_eq!(ends_shut(replicate), removed == 0, "{name}: {count}");
            }
        }
    }
}

/// C8: in the sweep that opens the guard the fifth is marked, and in the next one it is removed.
#[test]
fn the_fifth_death_has_three_seconds() {
    for replicate in run("two-stage-jam-newcomers", &[]) {
        let (marks, removals) = (marks(&replicate), removals(&replicate));
        let &(opened, marked) = marks.last().unwrap();
        assert_eq!((marked, removals), (1, vec![(opened, 4), (opened + SWEEP, 1)]));
    }
}

/// C3, C9: a ghost that comes back registers, is healed by its heartbeat H later, and the next sweep lets others go.
#[test]
fn a_ghost_that_returns() {
    assert!(passes(17, 20));
    for replicate in run("two-stage-jam-ghost-returns", &[]) {
        let back = replicate.faults.iter().find_map(|fault| fault.until).unwrap().as_millis();
        let removals = removals(&replicate);
        assert_eq!(sum(&removals), 3);
        let soonest = back + HEARTBEAT;
        assert!(
            removals.iter().all(|(at, _)| (soonest..=soonest + SWEEP + TRIPS).contains(at)),
            "{removals:?}"
        );
    }
}

/// C3: 8 of 10 are shut out, 7 of 9 are not asked.
#[test]
fn below_ten_and_after_a_restart() {
    assert!(!passes(8, 10) && passes(7, 9));
    for replicate in run("two-stage-jam-below-ten", &[]) {
        let stopped = replicate.faults[1].at.as_millis();
        let [(at, 2)] = removals(&replicate)[..] else { panic!("one sweep removes both") };
        assert!((stopped..=stopped + SWEEP + TRIPS).contains(&at));
    }
    // A restart ends the jam, and nothing is removed.
    for replicate in run("two-stage-jam-registry-restarts", &[]) {
        assert!(removals(&replicate).is_empty() && !ends_shut(&replicate));
        let (restarted, last) = (replicate.faults[1].at, replicate.sweeps.last().unwrap());
        assert!(last.sweep.guard_open && last.at == restarted, "the guard is shut until the registry ends");
    }
}

/// C5: the probability that two crashes of thirteen, `apart` ms after each other, jam the service. Sweeps come at
/// multiples of 3 s from the registry's start, the first crash 65 s after it. Who dies is marked by the first sweep that
/// comes more than 15 s after its last heartbeat, which is up to 5 s old at the crash.
fn jammed(apart: u64) -> f64 {
    let sweep = |crash: u64, age: u64| (crash + SOFT - age * 100) / SWEEP + 1;
    let ages = || 0..HEARTBEAT / 100;
    let pairs = ages().flat_map(|first| ages().map(move |second| (first, second)));
    // Ages in tenths of a second, counted from the middle of one, so that no two moments are equal.
    let overlap = |&(first, second): &(u64, u64)| {
        sweep(64_950 + apart, second) - sweep(64_950, first) < (HARD - SOFT) / SWEEP
    };
    pairs.clone().filter(overlap).count() as f64 / pairs.count() as f64
}

#[test]
fn it_is_the_rate_of_deaths_that_jams() {
    assert!(passes(12, 13) && !passes(11, 13));
    assert_eq!(
        [30, 40, 45, 50].map(|apart| (jammed(apart * 1_000) * 100.0).round()),
        [100.0, 100.0, 24.0, 0.0]
    );
    for apart in [30, 40, 45, 48, 50] {
        let at = format!("fault.2.at=\"{apart}s\"");
        let data = run("two-stage-deaths-30s-apart", &[&at, "expect=[]", "duration=5m"]);
        let shut = data.iter().filter(|&replicate| ends_shut(replicate)).count();
        assert!(is_likely(shut, data.len(), jammed(apart * 1_000)), "{apart} s: {shut} of {}", data.len());
    }
    let without = run("two-stage-deaths-50s-apart", &[]);
    assert!(without.iter().all(|replicate| sum(&removals(replicate)) == 2));
}

/// 1.9, C8: whoever is marked is removed fifteen sweeps later, whatever the guard says. It opens with the second ghost:
/// 16 of 19 are too few, 16 of 18 are not.
#[test]
fn a_guard_that_holds_back_marks_only() {
    assert!(!passes(16, 20) && !passes(16, 19) && passes(16, 18));
    for replicate in run("two-stage-jam-soft-only", &[]) {
        let later: Vec<(u64, u32)> =
            marks(&replicate).into_iter().map(|(at, count)| (at + HARD - SOFT, count)).collect();
        assert_eq!(removals(&replicate), later);
    }
}
