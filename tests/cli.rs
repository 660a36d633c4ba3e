//! The command line from outside: exit codes, what goes to which stream, and what is left on the disk.

use std::fs;
use std::process::{Command, Stdio};

use assert_cmd::assert::{Assert, OutputAssertExt};
use tempfile::TempDir;

use crate::program::{self, files, names, stillup};

fn run(directory: &TempDir, arguments: &[&str]) -> Assert {
    stillup(directory, arguments).assert()
}

fn stdout(assert: &Assert) -> String {
    program::stdout(assert.get_output())
}

fn stderr(assert: &Assert) -> String {
    program::stderr(assert.get_output())
}

fn empty(directory: &TempDir) -> bool {
    names(directory.path()).is_empty()
}

#[test]
fn help_and_version_are_results() {
    let directory = TempDir::new().unwrap();
    let help = run(&directory, &["--help"]).success();
    let help = stdout(&help);
    for word in ["run", "check", "schema", "completions", "man", "Exit codes", "130"] {
        assert!(help.contains(word), "{word} is missing from --help");
    }
    let version = run(&directory, &["--version"]).success();
    assert_eq!(stdout(&version), format!("stillup {}\n", env!("CARGO_PKG_VERSION")));
    let help = run(&directory, &["run", "--help"]).success();
    for flag in ["--seed", "--replicates", "--jobs", "--out", "--format", "--set", "--quiet", "NO_COLOR"] {
        assert!(stdout(&help).contains(flag), "{flag} is missing from run --help");
    }
    assert!(empty(&directory));
}

#[test]
fn completions_manual_and_schemas_come_from_the_program() {
    let directory = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&directory, &["completions", shell]).success();
        assert!(stdout(&script).contains("verify-determinism"), "{shell}");
    }
    for page in [&["man"][..], &["man", "run"]] {
        assert!(stdout(&run(&directory, page).success()).contains(".TH stillup"));
    }
    for schema in [&["schema"][..], &["schema", "scenario"], &["schema", "summary"]] {
        let text = stdout(&run(&directory, schema).success());
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
}

#[test]
fn a_wrong_command_line_is_an_input_error() {
    let directory = TempDir::new().unwrap();
    let wrong: &[&[&str]] = &[
        &["rnu"],
        &["run", "--sede", "1"],
        &["run", "--seed", "-1"],
        &["run", "--replicates", "0"],
        &["run", "--jobs", "0"],
        &["run", "--jobs", "100000000"],
        &["run", "--format", "xml"],
        &["completions", "cmd"],
        &["man", "rnu"],
    ];
    for arguments in wrong {
        let assert = run(&directory, arguments).code(2);
        assert_eq!(stdout(&assert), "", "{arguments:?}");
        assert!(stderr(&assert).contains("error"), "{arguments:?}");
    }
    assert!(empty(&directory));
}

#[test]
fn a_file_that_is_not_there_cannot_be_read() {
    let directory = TempDir::new().unwrap();
    for command in ["run", "check"] {
        let assert = run(&directory, &[command, "no-such.toml"]).code(3);
        assert!(stderr(&assert).contains("no-such.toml"));
    }
    assert!(empty(&directory));
}

#[test]
fn everything_wrong_with_a_scenario_is_told_at_once() {
    let directory = TempDir::new().unwrap();
    let text = "replicats = 5\nduration = \"30 parsecs\"\n[[application]]\nname = \"a\"\ninstances = 0\n";
    fs::write(directory.path().join("bad.toml"), text).unwrap();
    for command in ["run", "check"] {
        let assert = run(&directory, &[command, "bad.toml"]).code(2);
        for word in ["replicats", "parsecs", "instances", "bad.toml"] {
            assert!(stderr(&assert).contains(word), "{word} is missing from\n{}", stderr(&assert));
        }
        assert_eq!(stdout(&assert), "");
    }
    run(&directory, &["run", "--set", "nonsense"]).code(2);
    run(&directory, &["run", "--set", "no-such-key=1"]).code(2);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn shipped_scenarios_are_listed_printed_and_run_by_name() {
    let directory = TempDir::new().unwrap();
    let list = stdout(&run(&directory, &["scenarios"]).success());
    assert!(list.starts_with("default-crash "));
    let text = stdout(&run(&directory, &["scenarios", "graceful-stop"]).success());
    fs::write(directory.path().join("mine.toml"), text).unwrap();
    run(&directory, &["check", "mine.toml"]).success();
    run(&directory, &["check", "graceful-stop"]).success();
    run(&directory, &["scenarios", "graceless-stop"]).code(2);
    let repeat = stdout(&run(&directory, &["run", "graceful-stop", "--replicates", "1"]).success());
    assert!(repeat.ends_with("stillup run graceful-stop --replicates 1\n"));
    let written = directory.path().join("output/graceful-stop/scenario.toml");
    run(&directory, &["check", written.to_str().unwrap()]).success();
}

#[test]
fn a_missed_expectation_and_a_spent_budget_have_codes_of_their_own() {
    let directory = TempDir::new().unwrap();
    let text = stdout(&run(&directory, &["scenarios", "default-crash"]).success());
    let text = format!("{text}\n[[expect]]\nthat = \"crash registry max below 1s\"\n");
    fs::write(directory.path().join("strict.toml"), text).unwrap();
    let spent = ["run", "strict.toml", "--set", "event-budget=1000"];
    let spent = run(&directory, &spent).code(4);
    assert!(stderr(&spent).contains("event budget"));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is written");
    let missed = run(&directory, &["run", "strict.toml", "--replicates", "2"]).code(1);
    assert!(stdout(&missed).contains("missed crash registry max below 1s (in 0 of 2"));
    assert!(directory.path().join("output/strict/manifest.json").exists());
}

#[test]
fn a_run_answers_and_leaves_a_directory_that_repeats() {
    let directory = TempDir::new().unwrap();
    let first = run(&directory, &["run", "--seed", "5", "--replicates", "2", "--jobs", "1"]).success();
    let text = stdout(&first);
    for word in ["registry", "served", "client", "balancer", "closed form", "output/default-crash"] {
        assert!(text.contains(word), "{word} is missing from\n{text}");
    }
    assert!(text.ends_with("stillup run --seed 5 --replicates 2\n"), "{text}");
    assert!(!text.contains('\x1b'), "colours are for terminals");
    let colourful =
        run(&directory, &["run", "--color", "always", "--replicates", "1", "--out", "colour"]).success();
    assert!(stdout(&colourful).contains('\x1b'));

    let again = ["run", "--replicates", "2", "--seed", "5", "--jobs", "2", "--out", "again", "--quiet"];
    assert_eq!(stdout(&run(&directory, &again).success()), "");
    let [first, again] = ["output/default-crash", "again"].map(|place| files(&directory.path().join(place)));
    assert!(first == again, "the same run gives the same bytes");
}

#[test]
fn json_is_the_summary_and_nothing_else() {
    let directory = TempDir::new().unwrap();
    let arguments = ["run", "--replicates", "2", "--format", "json", "--quiet"];
    let printed = stdout(&run(&directory, &arguments).success());
    let written = fs::read_to_string(directory.path().join("output/default-crash/summary.json")).unwrap();
    assert_eq!(printed, written);
}

#[test]
fn determinism_can_be_verified() {
    let directory = TempDir::new().unwrap();
    let assert = run(&directory, &["run", "--replicates", "2", "--verify-determinism"]).success();
    assert!(stderr(&assert).contains("the same, event by event"));
}

#[test]
fn a_place_that_is_not_ours_is_refused_before_anything_runs() {
    let directory = TempDir::new().unwrap();
    let precious = directory.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("thesis.txt"), "all of it").unwrap();
    let assert = run(&directory, &["run", "--out", "precious"]).code(2);
    assert!(stderr(&assert).contains("not a run directory"));
    assert!(stderr(&assert).contains("thesis.txt"));
    run(&directory, &["run", "--out", "precious/thesis.txt"]).code(2);
    run(&directory, &["run", "--out", "precious/thesis.txt/run"]).code(3);
    run(&directory, &["run", "--out", "."]).code(2);
    assert_eq!(fs::read_to_string(precious.join("thesis.txt")).unwrap(), "all of it");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let directory = TempDir::new().unwrap();
    let mut child = stillup(&directory, &["run", "--replicates", "2", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    use std::time::Duration;

    let directory = TempDir::new().unwrap();
    let mut child = stillup(&directory, &["run", "--replicates", "200000", "--out", "deep/down"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Once the place is prepared, the handler is set and the run goes on for minutes.
    while empty(&directory) {
        std::thread::sleep(Duration::from_millis(10));
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it began");
    }
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8(output.stderr).unwrap().contains("nothing was written"));
    assert!(empty(&directory), "nothing half-written is left");
}

#[test]
fn a_wrong_word_gets_the_right_one() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("mine"), "").unwrap();
    let tips: &[(&[&str], i32, &str)] = &[
        (&["run", "gracefull-stop"], 3, "did you mean `graceful-stop`?"),
        (&["run", "self-preservation-traps"], 3, "did you mean `self-preservation-traps-the-dead`?"),
        (&["run", "nothing-like-it"], 3, "`stillup scenarios` lists them"),
        (&["scenarios", "gracefull-stop"], 2, "did you mean `graceful-stop`?"),
        (&["my scenario.toml"], 2, "stillup run 'my scenario.toml'"),
        (&["mine"], 2, "stillup run mine"),
        (&["graceful-stop"], 2, "stillup run graceful-stop"),
        (&["--replicates", "3"], 2, "stillup run --replicates"),
        (&["check", "mine", "--seed=3"], 2, "stillup run --seed"),
    ];
    for (arguments, code, tip) in tips {
        let assert = run(&directory, arguments).code(*code);
        assert!(stderr(&assert).contains(tip), "{arguments:?}\n{}", stderr(&assert));
    }
    // A path is not taken for a name.
    assert!(!stderr(&run(&directory, &["run", "a/graceful-stop"]).code(3)).contains("did you mean"));
}

#[test]
fn a_shipped_scenario_runs_beside_results_of_its_name() {
    let directory = TempDir::new().unwrap();
    let arguments = ["run", "graceful-stop", "--replicates", "1", "--quiet", "--out", "graceful-stop"];
    run(&directory, &arguments).success();
    run(&directory, &arguments).success();
}

#[test]
fn notes_within_a_run_directory_are_kept() {
    let directory = TempDir::new().unwrap();
    let arguments = ["run", "graceful-stop", "--replicates", "1", "--quiet", "--out", "out"];
    run(&directory, &arguments).success();
    fs::write(directory.path().join("out/notes.txt"), "the p99 is odd").unwrap();
    let assert = run(&directory, &arguments).code(2);
    assert!(stderr(&assert).contains("it holds \"notes.txt\""), "{}", stderr(&assert));
    assert_eq!(fs::read_to_string(directory.path().join("out/notes.txt")).unwrap(), "the p99 is odd");
}

#[test]
fn any_title_that_is_accepted_can_be_drawn() {
    let directory = TempDir::new().unwrap();
    let titles = ["为什么 🦀", "<b>&amp;\"'</b> ]]>", "почему γιατί", "\u{200F}\u{202E}rtl \u{E000}\u{FFFD}"];
    for title in titles {
        let set = format!("title={title}");
        let arguments = ["run", "graceful-stop", "--replicates", "1", "--quiet", "--set", set.as_str()];
        run(&directory, &arguments).success();
    }
    for title in ["\u{1B}[31mred", "two\nlines", "\u{FFFF}", "\u{7F}", "a\u{85}b"] {
        let set = format!("title={title}");
        let assert = run(&directory, &["check", "graceful-stop", "--set", set.as_str()]).code(2);
        assert!(!stderr(&assert).contains('\u{1B}'));
    }
}
