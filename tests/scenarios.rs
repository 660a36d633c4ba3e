//! Every shipped scenario keeps what it promises: it loads without a complaint and its expectations hold.
//! Its digest and figures are pinned, so that no change to a result goes by unseen.
//! Scenarios too large for a debug build are run in release, by `.ci/run`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use stillup::analysis;
use stillup::observe::RunData;
use stillup::report::{Report, Summary};
use stillup::scenario::{self, Scenario};
use stillup::sweep;

/// Scenarios for release builds only.
const LARGE: [&str; 1] = ["day-of-10000"];

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("scenarios/ is there")
        .map(|entry| entry.expect("can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).expect("a plain name")
}

fn run(path: &Path) -> (Scenario, RunData) {
    let scenario = scenario::load(path, &[]).unwrap_or_else(|error| panic!("{error}")).scenario;
    let data = sweep::run(&scenario, 2, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts");
    (scenario, data)
}

/// Expectations that did not hold.
fn broken(scenario: &Scenario, data: &RunData) -> Vec<String> {
    let verdicts = sweep::judge(scenario, data).into_iter().filter(|verdict| !verdict.passed);
    verdicts.map(|verdict| format!("{}: {verdict:?}", scenario.title)).collect()
}

/// One line that changes whenever anything that happened changes, and the figures that people look at.
fn fingerprint(path: &Path, scenario: &Scenario, data: &RunData) -> String {
    let bounds = analysis::bounds(scenario);
    let report = Report {
        scenario,
        scenario_text: "",
        data,
        bounds: &bounds,
        verdicts: &[],
        command: String::new(),
        version: "",
        revision: None,
    };
    let summary = Summary::of(&report);
    let mut text = format!("{}: {} events, digest {}\n", stem(path), summary.events, summary.digest);
    for stage in &summary.stages {
        text += &format!(
            "  {} {}: {} seen, {} censored, mean {:?}, p99 {:?} ms\n",
            stage.event.name(),
            stage.stage.name(),
            stage.count,
            stage.censored,
            stage.mean_ms,
            stage.p99_ms
        );
    }
    // Calls are no events: no digest knows of them.
    let calls = || data.replicates.iter().flat_map(|replicate| &replicate.calls);
    let (made, failed) = calls().fold((0, 0), |(made, failed), row| (made + row.calls, failed + row.failed));
    if made > 0 {
        text += &format!("  calls: {made} made, {failed} failed\n");
    }
    text
}

#[test]
fn every_scenario_keeps_its_promise_and_comes_out_as_ever() {
    let files = files();
    assert!(files.len() >= 72, "{} scenarios", files.len());
    let (mut complaints, mut prints) = (Vec::new(), String::new());
    for path in files.iter().filter(|path| !LARGE.contains(&stem(path))) {
        let (scenario, data) = run(path);
        complaints.extend(broken(&scenario, &data));
        prints += &fingerprint(path, &scenario, &data);
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
    insta::assert_snapshot!(prints);
}

#[test]
#[ignore = "minutes in a debug build: run with --release -- --ignored"]
fn every_large_scenario_keeps_its_promise_and_comes_out_as_ever() {
    let (mut complaints, mut prints) = (Vec::new(), String::new());
    for path in files().iter().filter(|path| LARGE.contains(&stem(path))) {
        let (scenario, data) = run(path);
        complaints.extend(broken(&scenario, &data));
        prints += &fingerprint(path, &scenario, &data);
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
    insta::assert_snapshot!(prints);
}

#[test]
fn every_scenario_says_what_it_shows_and_expects() {
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("can be read");
        assert!(text.starts_with('#'), "{} opens with a comment", stem(&path));
        assert!(text.contains("[[expect]]"), "{} expects something", stem(&path));
    }
}
