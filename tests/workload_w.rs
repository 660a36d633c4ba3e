//! Workload W has one right answer, which engines of other projects gave as well.

use crate::workload::{HeapQueue, Totals, Workload};
use stillup::engine::{EventQueue, SimTime};
use stillup::world::Event;

/// W for ten minutes through both queues, which must agree in everything.
fn ten_minutes(clients: u32) -> Totals {
    let end = SimTime::from_secs(600);
    let ours = Workload::<Event, EventQueue<_>>::new(clients).run(end);
    let reference = Workload::<Event, HeapQueue<_>>::new(clients).run(end);
    assert_eq!(ours, reference);
    ours
}

/// 1,000 clients · 6 events · 20 periods, 9 scans (60, 120, … 540 s); no message crosses the end.
#[test]
fn a_thousand_clients() {
    let totals = ten_minutes(1_000);
    assert_eq!((totals.events, totals.round_trips_ns), (120_009, 220_122_293_867));
    assert_eq!(totals.expired, 0);
}

/// 10,000 · 6 · 20 and 9 scans, less 6 events that lie behind the end.
#[test]
fn ten_thousand_clients() {
    let totals = ten_minutes(10_000);
    assert_eq!((totals.events, totals.round_trips_ns), (1_200_003, 2_200_952_548_609));
    assert_eq!(totals.expired, 0);
}
