//! Fifteen recorded crashes on the simulated distributions: the README's chart.
//!
//! ```text
//! cargo run --release --example recorded_crashes
//! ```
//!
//! simulates the default scenario, reads what real Eureka servers and real and scripted clients did under the
//! same settings (`tests/golden/single-crashes-default-1` and `client-defaults-1`), prints from when to when
//! the crashes showed at each stage, and writes `docs/recorded-crashes.svg` and `.png`. Every observer of a
//! recorded crash is a dot.

#![expect(clippy::print_stdout, reason = "an example prints")]

#[path = "../tests/golden_replay/deaths.rs"]
#[expect(dead_code, reason = "the tests ask more of a recording")]
mod deaths;
#[path = "../tests/golden_replay/records.rs"]
#[expect(dead_code, reason = "the tests ask more of a recording")]
mod records;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use stillup::analysis;
use stillup::engine::SimDuration;
use stillup::model::stage::{EventKind, Stage};
use stillup::report::{Recorded, Report, Summary, detection_times_svg, svg_to_png};
use stillup::scenario::{canonical, default_scenario};
use stillup::sweep;

use records::Recording;

const FOLDERS: [&str; 2] = ["single-crashes-default-1", "client-defaults-1"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recorded = recorded(&root.join("tests/golden"))?;
    for row in &recorded {
        let ends = (row.lengths.iter().min(), row.lengths.iter().max());
        if let (Some(first), Some(last)) = ends {
            let (stage, count) = (row.stage.name(), row.lengths.len());
            println!(
                "{stage:8} {:.0} to {:.0} s, seen {count} times",
                first.as_secs_f64(),
                last.as_secs_f64()
            );
        }
    }
    let svg = chart(&recorded);
    std::fs::write(root.join("docs/recorded-crashes.png"), svg_to_png(&svg))?;
    std::fs::write(root.join("docs/recorded-crashes.svg"), svg)?;
    Ok(())
}

/// What every observer of every crash saw.
fn recorded(folders: &Path) -> Result<Vec<Recorded>, String> {
    let mut lengths: BTreeMap<Stage, Vec<SimDuration>> = BTreeMap::new();
    for folder in FOLDERS {
        for death in deaths::deaths(&Recording::read(&folders.join(folder))?) {
            for (stage, observers) in death.measured {
                let seen = observers.values().map(|it| SimDuration::from_millis(it.latest_ms as u64));
                lengths.entry(stage).or_default().extend(seen);
            }
        }
    }
    let row = |(stage, lengths)| Recorded { event: EventKind::Crash, stage, lengths };
    Ok(lengths.into_iter().map(row).collect())
}

/// The default scenario's chart with these dots.
fn chart(recorded: &[Recorded]) -> String {
    let scenario = default_scenario().scenario;
    let data = sweep::run(&scenario, 2, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts");
    let report = Report {
        scenario: &scenario,
        scenario_text: &canonical(&scenario),
        data: &data,
        bounds: &analysis::bounds(&scenario),
        verdicts: &sweep::judge(&scenario, &data),
        command: "stillup run".to_owned(),
        version: env!("CARGO_PKG_VERSION"),
        revision: None,
    };
    detection_times_svg(&report, &Summary::of(&report), recorded)
}
