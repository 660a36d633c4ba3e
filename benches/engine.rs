//! The engine alone: workload W through the world's queue, and beside it through a plain binary heap.
//!
//! One line a case. The two take turns in one process, and each figure is the median of its rounds, in millions
//! of events per CPU second of the loop; set-up is not counted. All must agree on counts, sums and digests.
//!
//! `cargo bench --bench engine -- --check` only asks whether the queue is as many times as quick as the heap as it should
//! be. The best of a few rounds counts: whatever else the machine does can only make one slower.
#![allow(clippy::disallowed_types, clippy::print_stdout, missing_docs)]

mod workload;

use std::process::ExitCode;
use std::time::Instant;

use stillup::engine::{EventQueue, OrderDigest, SimTime};
use stillup::world::Event;
use workload::{HeapQueue, Queue, Totals, Workload, WorkloadEvent};

/// A size of W, and what it must come to.
struct Case {
    clients: u32,
    secs: u64,
    rounds: usize,
    events: u64,
    round_trips_ns: u64,
    /// How many times as quick as the heap the queue must be, where that is checked.
    ratio_min: Option<f64>,
}

const CASES: [Case; 4] = [
    Case {
        clients: 1_000,
        secs: 3_600,
        rounds: 5,
        events: 720_059,
        round_trips_ns: 1_319_900_783_129,
        ratio_min: None,
    },
    Case {
        clients: 10_000,
        secs: 600,
        rounds: 5,
        events: 1_200_003,
        round_trips_ns: 2_200_952_548_609,
        ratio_min: Some(2.5),
    },
    Case {
        clients: 100_000,
        secs: 600,
        rounds: 3,
        events: 11_999_949,
        round_trips_ns: 21_998_158_623_735,
        ratio_min: Some(4.0),
    },
    Case {
        clients: 1_000_000,
        secs: 60,
        rounds: 3,
        events: 11_999_420,
        round_trips_ns: 21_994_871_306_543,
        ratio_min: None,
    },
];

/// Rounds that `--check` gives the queue to be quick enough.
const TRIES: usize = 7;

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--check") {
        CASES.iter().for_each(show);
        return ExitCode::SUCCESS;
    }
    let wanted = CASES.iter().filter_map(|case| case.ratio_min.map(|least| (case, least)));
    let slow = wanted.filter(|(case, least)| !is_quick_enough(case, *least)).count();
    if slow == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A line for a case.
fn show(case: &Case) {
    let rounds: Vec<Round> = (0..case.rounds).map(|_| round(case)).collect();
    assert!(rounds.iter().all(|round| round.digest == rounds[0].digest), "each round is the same");
    let median_of = |rate: fn(&Round) -> f64| median(rounds.iter().map(rate).collect());
    let (ours, heap) = (median_of(|round| round.ours), median_of(|round| round.heap));
    println!(
        "N={:<8} lanes+wheel {ours:5.1} M/s  heap {heap:5.1} M/s  ratio {:5.2}  digest {}",
        case.clients,
        ours / heap,
        rounds[0].digest,
    );
}

/// Whether the best ratio of some rounds is at least `least`; no more are run than it takes to know.
fn is_quick_enough(case: &Case, least: f64) -> bool {
    let mut best = 0.0_f64;
    let mut tries = 0;
    while best < least && tries < TRIES {
        let Round { ours, heap, .. } = round(case);
        best = best.max(ours / heap);
        tries += 1;
    }
    println!("N={:<8} ratio {best:.2} in {tries} of {TRIES} tries, at least {least:.1}", case.clients);
    best >= least
}

/// Each queue once: millions of events per CPU second.
struct Round {
    ours: f64,
    heap: f64,
    digest: OrderDigest,
}

fn round(case: &Case) -> Round {
    let (ours, totals) = measure::<Event, EventQueue<_>>(case);
    let (heap, totals_of_heap) = measure::<Event, HeapQueue<_>>(case);
    assert_eq!((totals.events, totals.round_trips_ns), (case.events, case.round_trips_ns));
    assert_eq!(totals, totals_of_heap, "the order is the same");
    Round { ours, heap, digest: totals.digest }
}

/// Millions of events per CPU second, and what they came to.
fn measure<E: WorkloadEvent, Q: Queue<E>>(case: &Case) -> (f64, Totals) {
    let workload = Workload::<E, Q>::new(case.clients);
    let before = Clock::read();
    let totals = workload.run(SimTime::from_secs(case.secs));
    (totals.events as f64 / 1e6 / before.secs_since(), totals)
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_unstable_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// CPU time of this thread where the system tells it, else time on the wall.
enum Clock {
    Cpu(f64),
    Wall(Instant),
}

impl Clock {
    fn read() -> Self {
        cpu_secs().map_or_else(|| Self::Wall(Instant::now()), Self::Cpu)
    }

    fn secs_since(&self) -> f64 {
        match self {
            Self::Cpu(before) => cpu_secs().expect("it could be read before") - before,
            Self::Wall(before) => before.elapsed().as_secs_f64(),
        }
    }
}

/// Linux: nanoseconds on a CPU, the first number of the thread's scheduler statistics.
fn cpu_secs() -> Option<f64> {
    // The scheduler brings its books up to date when it is asked for another thread.
    std::thread::yield_now();
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos: u64 = stat.split(' ').next()?.parse().ok()?;
    (nanos > 0).then_some(nanos as f64 / 1e9)
}
