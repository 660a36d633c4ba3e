//! Every shipped scenario keeps what it promises: it loads without a complaint and its expectations hold.
//! Scenarios too large for a debug build are run in release, by `.ci/run`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use stillup::scenario;
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

/// What went wrong with one scenario.
fn complaints(path: &Path) -> Vec<String> {
    let loaded = match scenario::load(path, &[]) {
        Ok(loaded) => loaded,
        Err(error) => return vec![format!("{}: {error}", stem(path))],
    };
    let data = sweep::run(&loaded.scenario, 2, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts");
    sweep::judge(&loaded.scenario, &data)
        .into_iter()
        .filter(|verdict| !verdict.passed)
        .map(|verdict| format!("{}: {verdict:?}", stem(path)))
        .collect()
}

#[test]
fn every_scenario_keeps_its_promise() {
    let files = files();
    assert!(files.len() >= 12, "{} scenarios", files.len());
    let complaints: Vec<String> =
        files.iter().filter(|path| !LARGE.contains(&stem(path))).flat_map(|path| complaints(path)).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
#[ignore = "minutes in a debug build: run with --release -- --ignored"]
fn every_large_scenario_keeps_its_promise() {
    let complaints: Vec<String> =
        files().iter().filter(|path| LARGE.contains(&stem(path))).flat_map(|path| complaints(path)).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn every_scenario_says_what_it_shows_and_expects() {
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("can be read");
        assert!(text.starts_with('#'), "{} opens with a comment", stem(&path));
        assert!(text.contains("[[expect]]"), "{} expects something", stem(&path));
    }
}
