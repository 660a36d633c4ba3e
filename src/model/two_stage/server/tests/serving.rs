//! What fetches show, and what is told of it: `two-stage.md` 1.2, 4.1, N1, N2.

use super::*;
use crate::model::view::View;

#[test]
fn an_unhealthy_entry_is_stored_and_not_shown() {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 0, 1..=2);
    bench.beats(5_100, 0, 100_000, 1..=1);
    bench.run_to(20_000);
    assert_eq!((bench.fetched(), stored(&bench)), (vec![1], vec![1, 2]));
    assert!(bench.server.has(InstanceId(2)));
    bench.run_to(64_000);
    assert_eq!((bench.fetched(), stored(&bench)), (vec![1], vec![1]));
    assert!(!bench.server.has(InstanceId(2)));
}

#[test]
fn facts_tell_of_each_change_from_the_one_before() {
    let mut bench = Bench::new(two_stage());
    bench.register_from(100, 0, 1..=2);
    bench.run_to(64_000);
    let (mut served, mut stored) = (View::EMPTY, View::EMPTY);
    let mut told = Vec::new();
    for &(at, fact, _) in &bench.facts {
        match fact {
            Fact::ServedChanged { from, to } => {
                assert_eq!(std::mem::replace(&mut served, to), from);
                told.push((at, "served", bench.views.counts(to).of(Status::Up)));
            }
            Fact::StoredChanged { from, to } => {
                assert_eq!(std::mem::replace(&mut stored, to), from);
                told.push((at, "stored", bench.views.counts(to).of(Status::Up)));
            }
            _ => {}
        }
    }
    // At the start; two registrations; one sweep marks both, one removes both.
    assert_eq!(
        told,
        [
            (0, "stored", 0),
            (0, "served", 0),
            (100, "stored", 1),
            (100, "served", 1),
            (100, "stored", 2),
            (100, "served", 2),
            (18_000, "served", 0),
            (63_000, "stored", 0),
            (63_000, "served", 0),
        ]
    );
}

#[test]
fn n1_the_only_instance_of_a_service_is_shown_until_it_is_deleted() {
    let mut bench = Bench::new(nacos());
    bench.at(100, register(S, 1));
    bench.run_to(21_000);
    assert_eq!(bench.sweep_rows(), ["20100 soft 1 @2"]);
    assert_eq!(bench.fetched(), [1]);
    // The flag's own log says that it is unhealthy.
    let life = bench.server.life();
    let flags = View::of(life, bench.views.log(life).version());
    assert!(!bench.views.is_up(flags, InstanceId(1)));
    bench.run_to(36_000);
    assert_eq!(bench.fetched(), [0; 0]);
}

#[test]
fn a_negative_threshold_protects_nothing() {
    let mut bench = Bench::new(ServerConfig { read_protect_threshold: Some(-1.0), ..nacos() });
    bench.at(100, register(S, 1));
    bench.run_to(21_000);
    assert_eq!(bench.fetched(), [0; 0]);
}

#[test]
fn below_the_threshold_all_are_handed_out_as_healthy() {
    let mut bench = Bench::new(ServerConfig { read_protect_threshold: Some(0.5), ..nacos() });
    bench.register_from(100, 0, 1..=4);
    // Last signs at 100, 10 100, 5 100, 10 100: they are marked at 20 100 (1 and 3), and 30 100 (2 and 4).
    bench.beats(5_100, 0, 5_100, 3..=3);
    bench.beats(10_100, 0, 10_100, 2..=2);
    bench.beats(10_100, 0, 10_100, 4..=4);
    bench.run_to(20_100);
    assert_eq!(bench.sweep_rows(), ["20100 soft 1 @5"]);
    assert_eq!(bench.fetched(), [2, 3, 4]); // 3/4
    bench.run_to(25_100);
    assert_eq!(bench.fetched(), [1, 2, 3, 4]); // 2/4 <= 0.5
    bench.ask(register(S, 5));
    assert_eq!(bench.fetched(), [2, 4, 5]); // 3/5
    bench.ask(deregister(2));
    assert_eq!(bench.fetched(), [1, 3, 4, 5]); // 2/4
    bench.ask(beat(1));
    assert_eq!(bench.fetched(), [1, 4, 5]); // 3/4
    bench.ask(deregister(3));
    assert_eq!(bench.fetched(), [1, 4, 5]); // 3/3
}

/// What the last fact told of what is stored.
fn stored(bench: &Bench) -> Vec<u32> {
    let told = bench.facts.iter().rev().find_map(|&(_, fact, _)| match fact {
        Fact::StoredChanged { to, .. } => Some(to),
        _ => None,
    });
    bench.views.instances(told.unwrap_or(View::EMPTY)).iter().map(|entry| entry.0.0).collect()
}
