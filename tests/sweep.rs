//! Sweeps and comparisons from outside: exit codes, what is refused before anything runs, what is printed and written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::program::{files, names, run, stderr, stdout, words};
use tempfile::TempDir;

/// Two axes, six configurations, quick.
const AXES: [&str; 4] = [
    "--axis",
    "eureka.server.eviction-interval-timer-in-ms=5000,15000,60000",
    "--axis",
    "eureka.client.registry-fetch-interval-seconds=5,30",
];

fn sweep(more: &[&str]) -> Vec<String> {
    let all = ["sweep"].into_iter().chain(AXES).chain(["--replicates", "2"]);
    all.chain(more.iter().copied()).map(str::to_owned).collect()
}

/// The rows of a CSV file as maps from column to field.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
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
