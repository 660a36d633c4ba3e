//! A sweep that is stopped at any moment, however it is stopped, goes on to the same bytes.
#![cfg(unix)]

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::program::{files, names, run, stderr, stillup, words};
use tempfile::TempDir;

/// Long enough that it can be stopped anywhere.
fn long(more: &[&str]) -> Vec<String> {
    with_replicates("12", "out", more)
}

fn with_replicates(replicates: &str, place: &str, more: &[&str]) -> Vec<String> {
    let axis = "eureka.client.registry-fetch-interval-seconds=5,10,15,20,30,45";
    let all = ["sweep", "--axis", axis, "--replicates", replicates, "--quiet", "--jobs", "2", "--out", place];
    all.into_iter().chain(more.iter().copied()).map(str::to_owned).collect()
}

fn start(directory: &TempDir, arguments: &[String]) -> Child {
    stillup(directory, &words(arguments)).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn send(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

fn kept(directory: &TempDir) -> usize {
    let journal = directory.path().join(".out.unfinished");
    let names = if journal.exists() { names(&journal) } else { Vec::new() };
    names.iter().filter(|name| name.starts_with("configuration-") && name.ends_with(".json")).count()
}

/// Waits until so many configurations are finished; or the process is.
fn wait_for(directory: &TempDir, child: &mut Child, finished: usize) {
    while kept(directory) < finished && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(2));
    }
}

fn whole() -> Vec<(String, Vec<u8>)> {
    let directory = TempDir::new().unwrap();
    run(&directory, &words(&long(&[])), 0);
    files(&directory.path().join("out"))
}

#[test]
fn killed_at_any_moment_it_goes_on_to_the_same_bytes() {
    let whole = whole();
    let directory = TempDir::new().unwrap();
    // Spread over the run: while it starts, between configurations, and while it writes its results.
    let mut pause_ms = 3;
    for round in 0..40 {
        let mut child = start(&directory, &long(&[]));
        sleep(Duration::from_millis(pause_ms));
        let ended = child.try_wait().unwrap().is_some();
        let _ = child.kill();
        child.wait().unwrap();
        assert!(!ended || directory.path().join("out").exists());
        if ended {
            break;
        }
        pause_ms += 7 * (round % 5) + 5;
    }
    run(&directory, &words(&long(&[])), 0);
    assert!(files(&directory.path().join("out")) == whole);
    assert_eq!(names(directory.path()), ["out"], "nothing is left beside the results");
}

#[test]
fn an_interruption_says_how_to_go_on() {
    let directory = TempDir::new().unwrap();
    let mut child = start(&directory, &long(&[]));
    wait_for(&directory, &mut child, 2);
    send(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    if output.status.success() {
        // It was faster than the signal.
        return;
    }
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("of 6 configurations are kept in .out.unfinished"), "{text}");
    assert!(text.contains("the same command goes on"), "{text}");
    assert!(!directory.path().join("out").exists());

    // Another plan is refused, and says what is different.
    let output = run(&directory, &words(&long(&["--seed", "2"])), 2);
    let text = stderr(&output);
    assert!(text.contains("the seed: 1 then, 2 now") && text.contains("--fresh"), "{text}");
    let output = run(&directory, &words(&long(&["--set", "network.latency=2ms"])), 2);
    assert!(stderr(&output).contains("the scenario: `latency"), "{}", stderr(&output));
    // What is torn is run again.
    let torn = directory.path().join(".out.unfinished/configuration-000001.json");
    let bytes = fs::read(&torn).unwrap();
    fs::write(&torn, &bytes[..bytes.len() / 2]).unwrap();
    run(&directory, &words(&long(&[])), 0);
    assert!(files(&directory.path().join("out")) == whole());
    assert_eq!(names(directory.path()), ["out"]);
}

#[test]
fn fresh_starts_over() {
    let directory = TempDir::new().unwrap();
    let mut child = start(&directory, &long(&[]));
    wait_for(&directory, &mut child, 1);
    let _ = child.kill();
    child.wait().unwrap();
    run(&directory, &words(&long(&["--seed", "2", "--fresh"])), 0);
    assert_eq!(names(directory.path()), ["out"]);
}

#[test]
fn nothing_is_left_of_one_that_finished_nothing() {
    let directory = TempDir::new().unwrap();
    let child = start(&directory, &with_replicates("100000", "deep/down", &[]));
    while !directory.path().join("deep/.down.unfinished/plan.json").exists() {
        sleep(Duration::from_millis(2));
    }
    send(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("nothing was written"));
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn two_at_once_are_one_too_many() {
    let directory = TempDir::new().unwrap();
    let many = with_replicates("100000", "out", &[]);
    let mut first = start(&directory, &many);
    while !directory.path().join(".out.unfinished/plan.json").exists() {
        sleep(Duration::from_millis(2));
    }
    let second = run(&directory, &words(&many), 2);
    let text = stderr(&second);
    assert!(text.contains(&format!("by process {}", first.id())), "{text}");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn a_full_disk_leaves_what_was_finished() {
    let directory = TempDir::new().unwrap();
    // Files may have so many blocks of 512 bytes or 1 KiB, and writing more is an error rather than a signal: a
    // configuration is smaller, all observations are larger.
    let script = "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"";
    let limited = |blocks: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", script, blocks, env!("CARGO_BIN_EXE_stillup")]).args(long(&[]));
        shell.current_dir(directory.path()).arg0("bash").output().unwrap()
    };
    let output = limited("8");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot keep configuration"), "{}", stderr(&output));
    assert_eq!(names(directory.path()), [""; 0]);
    let output = limited("200");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("6 of 6 configurations are kept"), "{}", stderr(&output));
    assert_eq!(names(directory.path()), [".out.unfinished"]);
    run(&directory, &words(&long(&[])), 0);
    assert!(files(&directory.path().join("out")) == whole());
    assert_eq!(names(directory.path()), ["out"]);
}
