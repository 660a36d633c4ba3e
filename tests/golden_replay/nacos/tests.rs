//! A comparison that cannot fail proves nothing: bent rules and forged recordings must be noticed.

use std::path::{Path, PathBuf};

use stillup::model::stage::Stage;
use stillup::model::two_stage::ServerConfig;
use stillup::scenario::Scenario;

use super::{Bent, replay, simulate};

const CRASHES: &str = "nacos-crashes-1";
const PAUSES: &str = "nacos-pauses-1";
const SILENCES: &str = "nacos-silences-1";
const SINGLE: &str = "nacos-single-instance-1";
const WHOLE: &str = "nacos-whole-service-1";

fn shipped(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(folder)
}

/// What is strict about a time-out cannot be told from polls: no check ran to the millisecond. Vectors do that.
#[test]
fn bent_rules_are_noticed() {
    let bent = [
        (CRASHES, Bent::ShorterSoft),
        (SILENCES, Bent::ShorterSoft),
        (WHOLE, Bent::ShorterSoft),
        (WHOLE, Bent::LongerSoft), // silent for 16.3 s
        (CRASHES, Bent::ShorterHard),
        (SINGLE, Bent::ShorterHard),
        (WHOLE, Bent::LongerHard), // silent for 31.3 s
        (CRASHES, Bent::FasterChecks),
        (SILENCES, Bent::FasterChecks),
        (SINGLE, Bent::FasterChecks),
        (WHOLE, Bent::FasterChecks),
        (CRASHES, Bent::ChecksFromTheStart),
        (WHOLE, Bent::ChecksFromTheStart),
        (PAUSES, Bent::MarkOrDelete),
        (SILENCES, Bent::BeatsHealNobody),
        (CRASHES, Bent::RegistrationIsNoSign),
        (SINGLE, Bent::RegistrationIsNoSign),
        (SINGLE, Bent::NoReadProtection),
        (WHOLE, Bent::NoReadProtection),
        (SINGLE, Bent::StrictReadProtection),
        (WHOLE, Bent::StrictReadProtection),
        (CRASHES, Bent::MoreReadProtection),
        (SILENCES, Bent::MoreReadProtection),
    ];
    for (folder, bent) in bent {
        let differences = |bent| replay(&shipped(folder), bent).expect(folder).1.differences.len();
        assert_eq!(differences(Bent::None), 0, "{folder} as it is");
        assert!(differences(bent) > 0, "{folder} does not notice {bent:?}");
    }
}

/// Copies a shipped recording, lets `change` edit each row of a file, and counts the differences. A row for which it
/// gives nothing stays, and an empty one goes.
fn differences_if(
    folder: &str,
    file: &str,
    change: impl Fn(&str) -> Option<String>,
) -> Result<usize, String> {
    let copy = tempfile::tempdir().expect("a place for the copy");
    let mut changed = false;
    for entry in shipped(folder).read_dir().expect(folder) {
        let path = entry.expect(folder).path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a file");
        let mut text = std::fs::read_to_string(&path).expect("text");
        if name == file {
            let edited = text.lines().map(|row| change(row).unwrap_or_else(|| row.to_owned()));
            let edited: Vec<String> = edited.filter(|row| !row.is_empty()).collect();
            let edited = edited.join("\n") + "\n";
            changed = edited != text;
            text = edited;
        }
        std::fs::write(copy.path().join(name), text).expect("a copy");
    }
    assert!(changed, "{folder}/{file} is as it was");
    replay(copy.path(), Bent::None).map(|replayed| replayed.1.differences.len())
}

/// Puts one text for another, wherever it stands in a row.
fn put(from: &'static str, to: &'static str) -> impl Fn(&str) -> Option<String> {
    move |row| row.contains(from).then(|| row.replace(from, to))
}

/// Drops the rows that contain all of these.
fn drop(parts: &'static [&'static str]) -> impl Fn(&str) -> Option<String> {
    move |row| parts.iter().all(|part| row.contains(part)).then(String::new)
}

/// Lets whatever observers saw of an instance happen so much later, ms.
fn later(change: &'static str, by_ms: i64) -> impl Fn(&str) -> Option<String> {
    move |row| {
        let columns: Vec<&str> = row.splitn(4, ',').collect();
        let moved = columns[..3].iter().map(|it| (it.parse::<i64>().unwrap_or(0) + by_ms).to_string());
        let rest = columns[3].to_owned();
        row.contains(change).then(|| moved.chain([rest]).collect::<Vec<_>>().join(","))
    }
}

#[test]
fn forged_recordings_are_noticed() {
    let noticed = |folder, file, change: &dyn Fn(&str) -> Option<String>| {
        differences_if(folder, file, change).expect("replayed") > 0
    };
    // Marks and removals a check too early, too late, or half a check off; of somebody else.
    assert!(noticed(CRASHES, "views.csv", &later("unhealthy,10.0.0.9,", -5_000)));
    assert!(noticed(CRASHES, "views.csv", &later("gone,10.0.0.9,", 5_000)));
    assert!(noticed(SINGLE, "views.csv", &later("query,gone,", 500)));
    assert!(noticed(SINGLE, "views.csv", &later("catalog,unhealthy,", -500)));
    assert!(noticed(
        CRASHES,
        "views.csv",
        &put("catalog,unhealthy,10.0.0.9,", "catalog,unhealthy,10.0.0.20,")
    ));
    // The answer shows the last instance unhealthy; a removal that nobody saw; a recovery that nobody saw.
    let protected = put("70136,70138,n1,catalog", "70136,70138,n1,query");
    assert!(noticed(SINGLE, "views.csv", &protected));
    assert!(noticed(CRASHES, "views.csv", &drop(&["gone,10.0.0.16,"])));
    assert!(noticed(SILENCES, "views.csv", &drop(&["query,healthy,10.0.0.3,"])));
    // One more, one fewer, one healthy one more.
    assert!(noticed(WHOLE, "views.csv", &put("query,gone,10.0.0.2,3,3", "query,gone,10.0.0.2,4,3")));
    assert!(noticed(WHOLE, "views.csv", &put("query,gone,10.0.0.2,3,3", "query,gone,10.0.0.2,3,2")));
    assert!(noticed(PAUSES, "views.csv", &put(",8,0", ",8,1")));
    // A beat that was refused, one that was not, one that nobody sent, and two that nobody saw.
    assert!(noticed(CRASHES, "requests.csv", &put("beat,10.0.0.20,10200", "beat,10.0.0.20,20404")));
    assert!(noticed(SILENCES, "requests.csv", &put("20404", "10200")));
    assert!(noticed(SILENCES, "requests.csv", &drop(&["195927,195929,"])));
    let unsent = put("\n", "");
    let one_more = |row: &str| {
        let more = "114050,114055,n1,instance,beat,10.0.0.3,10200";
        row.starts_with("114207,").then(|| format!("{more}\n{row}")).or_else(|| unsent(row))
    };
    assert!(noticed(SILENCES, "requests.csv", &one_more));
    let unheard = |row: &str| {
        let sent = ["149227,", "154230,", "159233,"].iter().any(|sent| row.starts_with(sent));
        sent.then(String::new)
    };
    assert!(noticed(SILENCES, "requests.csv", &unheard));
    // A pause that never was, and one that was shorter.
    assert!(noticed(PAUSES, "faults.csv", &drop(&["157295,pause"])));
    assert!(noticed(PAUSES, "faults.csv", &put("202312,resume", "172312,resume")));
}

#[test]
fn another_kind_of_server_is_not_replayed() {
    let other = |from, to| differences_if(SINGLE, "experiment.json", put(from, to));
    assert!(other("Nacos 1.4.8", "Nacos 2.5.1").is_err_and(|it| it.contains("kind")));
    assert!(other("standalone", "cluster").is_err_and(|it| it.contains("kind")));
    assert!(other("Nacos", "Consul").is_err_and(|it| it.contains("kind") || it.contains("registry")));
    let second = |row: &str| row.starts_with("50762,").then(|| row.replace(",n1,", ",n2,"));
    assert!(differences_if(SINGLE, "requests.csv", second).is_err_and(|it| it.contains("kind")));
}

/// A recording may say more than the shipped ones do.
#[test]
fn what_does_not_matter_is_no_difference() {
    assert_eq!(differences_if(PAUSES, "faults.csv", put("n1", "zeta")).map(|found| found > 0), Ok(true));
    let patch = put("Nacos 1.4.8", "Nacos 1.4.2");
    assert_eq!(differences_if(SINGLE, "experiment.json", patch), Ok(0));
    // A beat that reached nobody.
    let unheard = |row: &str| {
        let refused = "70000,70001,n1,instance,beat,10.0.0.1,ClientConnectorError";
        row.starts_with("50762,").then(|| format!("{row}\n{refused}"))
    };
    assert_eq!(differences_if(SINGLE, "requests.csv", unheard), Ok(0));
}

/// That crashes look like simulated ones as they were is told with those of Eureka.
#[test]
fn another_set_up_is_noticed() {
    let differs_at = |stage: Stage, change: fn(&mut ServerConfig)| {
        let bend = |scenario: &mut Scenario| {
            change(&mut scenario.setup.two_stage_mut().unwrap().server);
        };
        let stages = simulate(&shipped(CRASHES), &bend).expect(CRASHES);
        stages.iter().any(|compared| compared.stage == stage && !compared.differences.is_empty())
    };
    assert!(differs_at(Stage::Registry, |config| config.soft_timeout_ms -= 5_000));
    assert!(differs_at(Stage::Registry, |config| config.sweep_interval_ms = 3_000));
    assert!(differs_at(Stage::Served, |config| config.read_protect_threshold = Some(1.0)));
    assert!(differs_at(Stage::Entry, |config| config.hard_timeout_ms += 5_000));
}
