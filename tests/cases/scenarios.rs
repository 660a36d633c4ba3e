//! Every shipped scenario keeps what it promises: it loads without a complaint and its expectations hold.
//! Its digest and figures are pinned, so that no change to a result goes by unseen.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use libtest_mimic::{Failed, Trial};
use stillup::analysis;
use stillup::observe::RunData;
use stillup::report::{Report, Summary};
use stillup::scenario::{self, Scenario};
use stillup::sweep;

use crate::expected::{compare, in_the_package, names};

/// Scenarios that take minutes in a debug build: ignored, but for `--ignored`.
const LARGE: [&str; 1] = ["day-of-10000"];

/// What is expected of them.
const EXPECTED: &str = "tests/scenarios";

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name: String| {
        let large = LARGE.contains(&name.as_str());
        let test = format!("scenarios/{name}");
        Trial::test(test, move || keeps_its_promise_and_comes_out_as_ever(&name)).with_ignored_flag(large)
    };
    let mut trials: Vec<Trial> = shipped().into_iter().map(trial).collect();
    trials.push(Trial::test("scenarios/all_are_expected", all_are_expected));
    trials
}

fn shipped() -> Vec<String> {
    names(&in_the_package("scenarios"), Some("toml"))
}

/// No scenario is lost, nor stays what was expected of one that is gone.
fn all_are_expected() -> Result<(), Failed> {
    let shipped = shipped();
    assert!(shipped.len() >= 122, "{} scenarios", shipped.len());
    assert_eq!(names(&in_the_package(EXPECTED), Some("txt")), shipped);
    assert!(LARGE.iter().all(|large| shipped.iter().any(|name| name == large)), "{LARGE:?}");
    Ok(())
}

fn keeps_its_promise_and_comes_out_as_ever(name: &str) -> Result<(), Failed> {
    let path = in_the_package("scenarios").join(name).with_extension("toml");
    says_what_it_shows_and_expects(&path)?;
    let (scenario, data) = run(&path)?;
    let broken = broken(&scenario, &data);
    assert!(broken.is_empty(), "{broken:#?}");
    compare(&fingerprint(name, &scenario, &data), &in_the_package(EXPECTED).join(name).with_extension("txt"))
}

fn says_what_it_shows_and_expects(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    assert!(text.starts_with('#'), "it opens with a comment");
    assert!(text.contains("[[expect]]"), "it expects something");
    Ok(())
}

fn run(path: &Path) -> Result<(Scenario, RunData), Failed> {
    let scenario = scenario::load(path, &[]).map_err(|problems| problems.to_string())?.scenario;
    let data = sweep::run(&scenario, 2, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts");
    Ok((scenario, data))
}

/// Expectations that did not hold.
fn broken(scenario: &Scenario, data: &RunData) -> Vec<String> {
    let verdicts = sweep::judge(scenario, data).into_iter().filter(|verdict| !verdict.passed);
    verdicts.map(|verdict| format!("{}: {verdict:?}", scenario.title)).collect()
}

/// One line that changes whenever anything that happened changes, and the figures that people look at.
fn fingerprint(name: &str, scenario: &Scenario, data: &RunData) -> String {
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
    let mut text = format!("{name}: {} events, digest {}\n", summary.events, summary.digest);
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
