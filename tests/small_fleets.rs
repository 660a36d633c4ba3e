//! Fleets of 1 to 20, of which one instance is killed: is it ever removed, and is self-preservation on at the end?
//!
//! `scenarios/small-fleets.toml` in all starts that a single server can have: either flavour, a server that
//! registers with itself or not, that fetches the registry or not. A server starts empty, or, a Spring server that
//! registers with itself, among clients that are there before it opens: they are copied from its own cache if it
//! fetches, and else never counted. A plain Netflix server serves nobody before it opens, so alone it always starts
//! empty.
//!
//! What must come out is computed below from `eureka-server.md` 4.2 to 4.6, in a few lines that share nothing with
//! the simulator. They speak of an ideal steady state, two renewals a minute from everybody, so messages take no
//! time here: otherwise a heartbeat would slip into the next minute now and then.

use crate::figures::threshold;
use crate::shipped::run;

/// How a server starts.
#[derive(Clone, Copy, Debug)]
struct Start {
    flavour: &'static str,
    registers: bool,
    fetches: bool,
}

/// What becomes of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    removed: bool,
    protected: bool,
}

/// What the server expects once it has opened and all have registered (4.6, 8.3), `members` of them.
fn opened(start: Start, members: u32) -> u32 {
    match (start.flavour, start.registers, start.fetches) {
        // It opens with 0, and registrations lift nothing off 0.
        ("netflix", ..) => 0,
        // It waits for two minutes for a copy that never comes, meanwhile all register, and then it says 1.
        (_, true, false) => 1,
        // It opens with those that its own cache shows, the others register later.
        (_, true, true) => members,
        // It opens at once with 1, and all register later.
        (_, false, _) => members + 1,
    }
}

/// The threshold update (4.5): a server that does not fetch counts 0 and changes nothing.
fn updated(start: Start, expected: u32, registered: u32) -> u32 {
    if start.fetches && 100 * registered > 85 * expected { registered } else { expected }
}

/// Whether so many renewals a minute let leases expire (4.3).
fn open(renewals: u32, expected: u32) -> bool {
    threshold(expected) > 0 && renewals > threshold(expected)
}

/// One of `instances` is killed after the first update, and there are more updates to come.
fn predicted(start: Start, instances: u32) -> End {
    let members = instances + u32::from(start.registers);
    let renewals = 2 * (members - 1);
    let expected = updated(start, opened(start, members), members);
    let removed = open(renewals, expected);
    // An eviction lowers what is expected (2.4, the newest release); who is not removed is counted on.
    let after = updated(start, expected - u32::from(removed), members - u32::from(removed));
    End { removed, protected: !open(renewals, after) }
}

/// What the simulator says, replicate by replicate.
fn simulated(start: Start, instances: u32) -> Vec<End> {
    let members = instances + u32::from(start.registers);
    let sets = [
        format!("flavour=\"{}\"", start.flavour),
        format!("server.register-with-eureka={}", start.registers),
        format!("server.fetch-registry={}", start.fetches),
        format!("application.orders.instances={instances}"),
        format!("expect.3.that=\"at most {members} left at the end\""),
        "network.latency=\"0s\"".to_owned(),
        "stop-when-settled=false".to_owned(),
        "replicates=3".to_owned(),
    ];
    let data = run("small-fleets", &sets.each_ref().map(String::as_str));
    let end = |replicate: &stillup::observe::ReplicateData| {
        let gone = members - replicate.left_at_end();
        assert!(gone <= 1, "nobody but the dead is removed");
        End { removed: gone == 1, protected: replicate.self_preservation_at_end() }
    };
    data.iter().map(end).collect()
}

/// All starts.
fn starts() -> Vec<Start> {
    let each = |flavour| {
        [(false, false), (false, true), (true, false), (true, true)].map(|(registers, fetches)| Start {
            flavour,
            registers,
            fetches,
        })
    };
    [each("spring"), each("netflix")].concat()
}

#[test]
fn one_dead_is_removed_or_not_as_the_rules_say() {
    let mut differences = Vec::new();
    for start in starts() {
        for instances in 1..=20 {
            let predicted = predicted(start, instances);
            for simulated in simulated(start, instances).into_iter().filter(|&end| end != predicted) {
                differences.push(format!("{start:?}, {instances}: {predicted:?}, but {simulated:?}"));
            }
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn the_rules_say_what_the_scenario_file_says() {
    // The table of `scenarios/small-fleets.toml`: the least fleet that forgets one of its dead.
    let least = |start| (1..=20).find(|&instances| predicted(start, instances).removed);
    let all: Vec<Option<u32>> = starts().into_iter().map(least).collect();
    let (spring, netflix) = all.split_at(4);
    assert_eq!(spring, [Some(13), Some(7), Some(1), Some(6)]);
    assert_eq!(netflix, [None, Some(7), None, Some(6)]);
    for start in starts() {
        let least = least(start).unwrap_or(21);
        assert!((least..=20).all(|instances| predicted(start, instances).removed), "{start:?}");
    }
}
