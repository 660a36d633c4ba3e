//! What the program costs: CPU seconds and peak memory of whole runs, each a process of its own.
//!
//! ```text
//! cargo bench --bench world                               # each case, the median of its rounds
//! cargo bench --bench world -- sweep million --rounds 1   # those cases only
//! cargo bench --bench world -- --against PATH             # beside another build of the program
//! ```
//!
//! Two programs take turns, and so does who comes first. Their ratio is the median of the ratios of the rounds: what
//! else the machine does hits both halves of a round alike. Memory is the largest resident set that the system saw.
#![allow(missing_docs, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Parser;
use serde_json::Value;
use wait4::Wait4;

/// A run of the program.
struct Case {
    name: &'static str,
    arguments: &'static [&'static str],
}

const CASES: [Case; 4] = [
    Case { name: "the default run", arguments: &["run"] },
    Case { name: "the day of 10,000", arguments: &["run", "day-of-10000"] },
    Case {
        name: "the sweep",
        arguments: &[
            "sweep",
            "default-crash",
            "--replicates=20",
            "--set=expect=[]",
            "--axis=eureka.server.eviction-interval-timer-in-ms=6000..60000..6000",
            "--axis=eureka.client.registry-fetch-interval-seconds=3..30..3",
        ],
    },
    Case {
        name: "the million",
        arguments: &[
            "run",
            "default-crash",
            "--replicates=1",
            r#"--set=application=[{name="orders",instances=1000000}]"#,
            "--set=duration=10m",
            "--set=expect=[]",
        ],
    },
];

/// Jobs of every run, whatever the machine has: memory depends on them.
const JOBS: &str = "--jobs=2";

#[derive(Parser)]
struct Flags {
    /// Only the cases with one of these words in their names
    words: Vec<String>,
    /// Compare with this program
    #[arg(long)]
    against: Option<PathBuf>,
    /// Runs of each case by each program
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Cargo says so
    #[arg(long, hide = true)]
    bench: bool,
}

/// What a run took.
#[derive(Clone)]
struct Cost {
    cpu_secs: f64,
    peak_bytes: u64,
    /// The events of all replicates, and a digest for each configuration.
    outcome: (u64, Vec<String>),
}

fn main() {
    let flags = Flags::parse();
    let ours = Path::new(env!("CARGO_BIN_EXE_stillup"));
    let chosen =
        |case: &&Case| flags.words.is_empty() || flags.words.iter().any(|word| case.name.contains(word));
    for case in CASES.iter().filter(chosen) {
        match &flags.against {
            None => {
                let costs: Vec<Cost> = (0..flags.rounds).map(|_| cost(ours, case)).collect();
                alone(case, &costs);
            }
            Some(other) => {
                let rounds: Vec<[Cost; 2]> =
                    (0..flags.rounds).map(|round| pair(ours, other, case, round)).collect();
                beside(case, &rounds);
            }
        }
    }
}

/// One run of each, ours first in every other round.
fn pair(ours: &Path, other: &Path, case: &Case, round: u32) -> [Cost; 2] {
    if round.is_multiple_of(2) {
        [ours, other].map(|program| cost(program, case))
    } else {
        let [other, ours] = [other, ours].map(|program| cost(program, case));
        [ours, other]
    }
}

fn alone(case: &Case, costs: &[Cost]) {
    let (cpu_secs, bytes) =
        (median(costs, |cost| cost.cpu_secs), median(costs, |cost| cost.peak_bytes as f64));
    let events = costs[0].outcome.0;
    println!(
        "{:<18} {cpu_secs:7.2} CPU s  {:7.0} MB  {:6.2} M events/s  {events} events",
        case.name,
        bytes / 1e6,
        events as f64 / cpu_secs / 1e6,
    );
}

fn beside(case: &Case, rounds: &[[Cost; 2]]) {
    let cpu_secs = |program: usize| median(rounds, |round| round[program].cpu_secs);
    let megabytes = |program: usize| median(rounds, |round| round[program].peak_bytes as f64 / 1e6);
    let same = rounds.iter().all(|[ours, other]| ours.outcome == other.outcome);
    println!(
        "{:<18} {:7.2} CPU s beside {:7.2}: {:5.3}  {:7.0} MB beside {:7.0}: {:5.3}  {}",
        case.name,
        cpu_secs(0),
        cpu_secs(1),
        median(rounds, |[ours, other]| ours.cpu_secs / other.cpu_secs),
        megabytes(0),
        megabytes(1),
        median(rounds, |[ours, other]| ours.peak_bytes as f64 / other.peak_bytes as f64),
        if same { "same digests" } else { "OTHER DIGESTS" },
    );
}

/// Runs a case in a folder of its own.
fn cost(program: &Path, case: &Case) -> Cost {
    let folder = tempfile::tempdir().expect("a folder to run in");
    let mut command = Command::new(fs::canonicalize(program).expect("there is such a program"));
    command.args(case.arguments).args([JOBS, "--quiet", "--out", "out"]);
    command.current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let ended = child.wait4().expect("it ends");
    assert!(ended.status.success(), "{}: {}", case.name, ended.status);
    Cost {
        cpu_secs: (ended.rusage.utime + ended.rusage.stime).as_secs_f64(),
        peak_bytes: ended.rusage.maxrss,
        outcome: outcome(&folder.path().join("out/summary.json")),
    }
}

/// What a run, or each configuration of a sweep, says of itself.
fn outcome(summary: &Path) -> (u64, Vec<String>) {
    let text = fs::read_to_string(summary).expect("it says what came out");
    let summary: Value = serde_json::from_str(&text).expect("it is JSON");
    let configurations = match summary["configurations"].as_array() {
        Some(configurations) => configurations.iter().collect(),
        None => vec![&summary],
    };
    let events = configurations.iter().map(|it| it["events"].as_u64().expect("a count")).sum();
    let digests = configurations.iter().map(|it| it["digest"].as_str().expect("a digest").to_owned());
    (events, digests.collect())
}

fn median<T>(rows: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    let mut figures: Vec<f64> = rows.iter().map(figure).collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}
