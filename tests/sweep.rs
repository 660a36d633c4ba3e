//! Sweeps and comparisons from outside: exit codes, what is refused before anything runs, and that one which is stopped
//! at any moment goes on to the same bytes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Two axes, six configurations, quick.
const AXES: [&str; 4] = [
    "--axis",
    "eureka.server.eviction-interval-timer-in-ms=5000,15000,60000",
    "--axis",
    "eureka.client.registry-fetch-interval-seconds=5,30",
];

/// The program, in a directory of its own.
fn stillup(directory: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stillup"));
    command.current_dir(directory.path()).args(arguments).stdin(Stdio::null()).env_remove("NO_COLOR");
    command
}

/// Runs it to the end, which must have this exit code.
fn run(directory: &TempDir, arguments: &[&str], code: i32) -> Output {
    let output = stillup(directory, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{}{}", stderr(&output), stdout(&output));
    output
}

fn sweep(more: &[&str]) -> Vec<String> {
    let all = ["sweep"].into_iter().chain(AXES).chain(["--replicates", "2"]);
    all.chain(more.iter().copied()).map(str::to_owned).collect()
}

fn words(owned: &[String]) -> Vec<&str> {
    owned.iter().map(String::as_str).collect()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The entries of a directory, hidden ones too.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The files by name, but the one that may differ.
fn files(place: &Path) -> Vec<(String, Vec<u8>)> {
    let names = names(place).into_iter().filter(|name| name != "host.json");
    names.map(|name| (name.clone(), fs::read(place.join(name)).unwrap())).collect()
}

/// The rows of a CSV file as maps from column to field.
fn rows(path: &Path) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut csv = csv::Reader::from_path(path).unwrap();
    csv.deserialize().map(Result::unwrap).collect()
}

#[test]
fn a_sweep_answers_and_leaves_a_directory_that_explains_itself() {
    let directory = TempDir::new().unwrap();
    let output = run(&directory, &words(&sweep(&[])), 0);
    let text = stdout(&output);
    assert!(text.contains("6 configurations, 2 replicates each"), "{text}");
    assert!(text.ends_with("registry-fetch-interval-seconds=5,30 --replicates 2\n"), "{text}");
    assert!(!text.contains('\x1b'), "colours are for terminals");
    assert_eq!(names(&directory.path().join("output")), ["default-crash-sweep"]);
    let place = directory.path().join("output/default-crash-sweep");
    assert_eq!(
        names(&place),
        [
            "configurations.csv",
            "detection-times.png",
            "detection-times.svg",
            "heat-map.png",
            "heat-map.svg",
            "host.json",
            "manifest.json",
            "observations.csv",
            "scenario.toml",
            "summary.json",
        ]
    );
    // Plan order, and what a configuration run alone gives.
    let configurations = rows(&place.join("configurations.csv"));
    assert_eq!(configurations.len(), 6 * 4);
    let fourth =
        configurations.iter().find(|row| row["configuration"] == "4" && row["stage"] == "client").unwrap();
    assert_eq!(fourth["eureka.server.eviction-interval-timer-in-ms"], "15000");
    assert_eq!(fourth["eureka.client.registry-fetch-interval-seconds"], "30");
    let summary: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(place.join("summary.json")).unwrap()).unwrap();
    let command = summary["configurations"][3]["command"].as_str().unwrap();
    let alone: Vec<&str> = command.split(' ').skip(1).chain(["--format", "json"]).collect();
    let alone: serde_json::Value = serde_json::from_str(&stdout(&run(&directory, &alone, 0))).unwrap();
    assert_eq!(alone["digest"], fourth["digest"].as_str());
    for column in ["count", "min_ms", "mean_ms", "p50_ms", "p99_ms", "max_ms", "bound_max_ms"] {
        assert_eq!(alone["stages"][2][column].to_string(), fourth[column], "{column}");
    }
    let observed = rows(&place.join("observations.csv"));
    let counted = observed.iter().filter(|row| row["configuration"] == "4" && row["stage"] == "client");
    let counted: u64 = counted.map(|row| row["count"].parse::<u64>().unwrap()).sum();
    assert_eq!(counted.to_string(), fourth["count"]);
    // Other results may take its place.
    run(&directory, &["run", "--replicates", "1", "--quiet", "--out", "output/default-crash-sweep"], 0);
}

#[test]
fn the_number_of_jobs_shows_nowhere() {
    let directory = TempDir::new().unwrap();
    for (jobs, place) in [("1", "one"), ("2", "two"), ("5", "five")] {
        run(&directory, &words(&sweep(&["--quiet", "--jobs", jobs, "--out", place])), 0);
    }
    let [one, two, five] = ["one", "two", "five"].map(|place| files(&directory.path().join(place)));
    assert!(one == two && two == five);
}

#[test]
fn other_formats_print_what_is_in_the_files() {
    let directory = TempDir::new().unwrap();
    for (format, file) in [("json", "summary.json"), ("csv", "configurations.csv")] {
        let output = run(&directory, &words(&sweep(&["--format", format, "--quiet", "--out", "out"])), 0);
        assert_eq!(stdout(&output), fs::read_to_string(directory.path().join("out").join(file)).unwrap());
        assert_eq!(stderr(&output), "");
    }
    let schema = stdout(&run(&directory, &["schema", "sweep"], 0));
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["properties"]["configurations"].is_object());
}

#[test]
fn the_table_is_sorted_as_asked() {
    let directory = TempDir::new().unwrap();
    let order = |sort: &[&str]| -> Vec<u32> {
        let text = stdout(&run(&directory, &words(&sweep(sort)), 0));
        text.lines()
            .filter_map(|line| line.split_whitespace().next()?.parse().ok())
            .filter(|n| *n <= 6)
            .collect()
    };
    // "6 configurations" is a number too.
    assert_eq!(order(&[]), [6, 1, 2, 3, 4, 5, 6]);
    assert_eq!(order(&["--descending"])[1..], [6, 5, 4, 3, 2, 1]);
    // A fetch every 5 s costs more than one every 30 s.
    let by_load = order(&["--sort", "-requests"]);
    assert!(by_load[1..4].iter().all(|number| number % 2 == 1), "{by_load:?}");
    let quick = order(&["--sort", "balancer.mean"]);
    assert_eq!((quick[1], quick[6]), (1, 6));
}

#[test]
fn what_is_wrong_is_refused_before_anything_runs() {
    let directory = TempDir::new().unwrap();
    let wrong: &[(&[&str], &[&str])] = &[
        (&["sweep"], &["--axis"]),
        (&["sweep", "--axis", "eureka.server.evict-interval=5,6"], &["did you mean"]),
        (
            &[
                "sweep",
                "--axis",
                "duration=0s,30m,x",
                "--axis",
                "replicates=1,2",
                "--axis",
                "start.window=1s,nope",
            ],
            &["must be longer than 0s", "`replicates` is no axis", "nope", "duration=0s,30m,x"],
        ),
        (&["sweep", "--axis", "duration=30m,40m", "--axis", "duration=50m"], &["stands twice"]),
        (&["sweep", "--axis", "duration="], &["has no value"]),
        (&["sweep", "--axis", "duration=30m,,40m"], &["a value is missing"]),
        (&["sweep", "--axis", "duration=30m,40m", "--sort", "balancer.p9"], &["no figure is called"]),
        (&["sweep", "--axis", "duration=30m,40m", "--figure", "nonsense"], &["no figure is called"]),
        (&["sweep", "--axis", "duration=30m,40m", "--set", "duration=50m"], &["set and varied at once"]),
        (&["compare", "default-crash"], &["2 values required"]),
        (&["compare", "default-crash", "graceful-stop", "--set", "duraton=1h"], &["did you mean `duration`"]),
    ];
    for (arguments, told) in wrong {
        let output = run(&directory, arguments, 2);
        let text = stderr(&output);
        assert_eq!(stdout(&output), "");
        for word in *told {
            assert!(text.contains(word), "{word} is missing from\n{text}");
        }
    }
    // One wrong value, in a hundred configurations, is one problem.
    let output = run(&directory, &["sweep", "--axis", "duration=0s", "--axis", "event-budget=1000..1099"], 2);
    assert_eq!(stderr(&output).matches("error").count(), 1, "{}", stderr(&output));
    run(&directory, &["sweep", "no-such.toml", "--axis", "duration=30m,40m"], 3);
    run(&directory, &["compare", "default-crash", "no-such.toml"], 3);
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn a_million_configurations_need_a_yes() {
    let directory = TempDir::new().unwrap();
    let million =
        ["sweep", "--axis", "event-budget=1001..2000", "--axis", "application.orders.instances=1..1000"];
    let output = run(&directory, &million, 2);
    assert!(stderr(&output).contains("1000000 configurations") && stderr(&output).contains("--yes"));
    let days = ["sweep", "day-of-10000", "--axis", "replicates-x=1", "--replicates", "1000000"];
    assert!(!stderr(&run(&directory, &days, 2)).contains("--yes"), "what is wrong is told first");
    let days = ["sweep", "day-of-10000", "--axis", "duration=23h,24h", "--replicates", "1000000"];
    assert!(stderr(&run(&directory, &days, 2)).contains("--yes"));
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn a_missed_expectation_says_where() {
    let directory = TempDir::new().unwrap();
    let text = stdout(&run(&directory, &["scenarios", "default-crash"], 0));
    let text = format!("{text}\n[[expect]]\nthat = \"crash registry max below 3m6s\"\n");
    fs::write(directory.path().join("strict.toml"), text).unwrap();
    let axis = "eureka.server.eviction-interval-timer-in-ms=1000,60000";
    let output = run(&directory, &["sweep", "strict.toml", "--axis", axis, "--replicates", "5"], 1);
    assert!(stdout(&output).contains("missed crash registry max below 3m6s (in #2)"), "{}", stdout(&output));
    assert!(directory.path().join("output/strict-sweep/manifest.json").exists());
}

#[test]
fn scenarios_are_compared_with_the_first() {
    let directory = TempDir::new().unwrap();
    let text = stdout(&run(&directory, &["scenarios", "default-crash"], 0));
    let quicker = format!("{text}\n[eureka.client]\nregistry-fetch-interval-seconds = 5\n");
    fs::write(directory.path().join("mine.toml"), quicker.replace("replicates = 300", "replicates = 7"))
        .unwrap();
    let arguments = ["compare", "default-crash", "mine.toml", "--replicates", "3", "--seed", "9"];
    let output = run(&directory, &arguments, 0);
    assert!(stdout(&output).contains("default-crash and mine compared"), "{}", stdout(&output));
    assert!(
        stdout(&output).ends_with("repeat stillup compare default-crash mine.toml --seed 9 --replicates 3\n")
    );
    let place = directory.path().join("output/default-crash-vs-mine");
    assert!(place.join("scenario-1.toml").exists() && place.join("scenario-2.toml").exists());
    let rows = rows(&place.join("configurations.csv"));
    let at = |number: &str, stage: &str| {
        rows.iter().find(|row| row["configuration"] == number && row["stage"] == stage).unwrap().clone()
    };
    // The same draws: fetching more often changes nothing at the registry, and it is 12.5 s at the client.
    assert_eq!(at("2", "registry")["difference_ms"], "0");
    assert_eq!(at("2", "registry")["difference_low_ms"], "0");
    let difference: i64 = at("2", "client")["difference_ms"].parse().unwrap();
    assert!((-16_000..-9_000).contains(&difference), "{difference}");
    assert_eq!(at("1", "client")["difference_ms"], "");
    // The same file twice is told apart.
    let twice = run(&directory, &["compare", "mine.toml", "mine.toml", "--replicates", "1"], 0);
    assert!(stdout(&twice).contains("mine.toml (2)") && stderr(&twice).contains("the same scenario"));
}

#[test]
fn a_spent_budget_keeps_what_was_finished_and_a_larger_one_goes_on() {
    let directory = TempDir::new().unwrap();
    // A replicate takes some 13,000 events with a fetch every 30 s, and 41,000 with one every 5 s.
    let axis = ["--axis", "eureka.client.registry-fetch-interval-seconds=45,30,5"];
    let with_budget =
        |budget: &'static str| [&["sweep", "--replicates", "2", "--set", budget], &axis[..]].concat();
    let output = run(&directory, &with_budget("event-budget=20000"), 4);
    let text = stderr(&output);
    assert!(text.contains("configuration 3") && text.contains("event-budget"), "{text}");
    assert!(text.contains("of 3 configurations are kept"), "{text}");
    let output = run(&directory, &with_budget("event-budget=2000000"), 0);
    assert!(stderr(&output).contains("Going on: "), "{}", stderr(&output));
    run(&directory, &[with_budget("event-budget=2000000"), vec!["--out", "anew"]].concat(), 0);
    let [resumed, anew] =
        ["output/default-crash-sweep", "anew"].map(|place| files(&directory.path().join(place)));
    assert!(resumed == anew);
}

#[cfg(unix)]
mod stopped {
    use std::os::unix::process::CommandExt;
    use std::process::Child;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    /// Long enough that it can be stopped anywhere.
    fn long(more: &[&str]) -> Vec<String> {
        with_replicates("12", "out", more)
    }

    fn with_replicates(replicates: &str, place: &str, more: &[&str]) -> Vec<String> {
        let axis = "eureka.client.registry-fetch-interval-seconds=5,10,15,20,30,45";
        let all =
            ["sweep", "--axis", axis, "--replicates", replicates, "--quiet", "--jobs", "2", "--out", place];
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
        let output = limited("4");
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
}
