//! The scenarios that come with the program.

use super::load::{Loaded, parse};
use super::suggest::{closest, in_short};

/// Their names and texts, the default one first.
pub const BUILTIN: [(&str, &str); 12] = [
    ("default-crash", include_str!("../../scenarios/default-crash.toml")),
    ("graceful-stop", include_str!("../../scenarios/graceful-stop.toml")),
    ("registration-seen-by-all", include_str!("../../scenarios/registration-seen-by-all.toml")),
    (
        "small-fleet-10-in-self-preservation",
        include_str!("../../scenarios/small-fleet-10-in-self-preservation.toml"),
    ),
    ("small-fleet-13-evicted", include_str!("../../scenarios/small-fleet-13-evicted.toml")),
    (
        "self-preservation-saves-a-partitioned-fleet",
        include_str!("../../scenarios/self-preservation-saves-a-partitioned-fleet.toml"),
    ),
    (
        "self-preservation-traps-the-dead",
        include_str!("../../scenarios/self-preservation-traps-the-dead.toml"),
    ),
    ("mass-death-unprotected", include_str!("../../scenarios/mass-death-unprotected.toml")),
    ("server-pause", include_str!("../../scenarios/server-pause.toml")),
    ("read-only-cache-on", include_str!("../../scenarios/read-only-cache-on.toml")),
    ("read-only-cache-off", include_str!("../../scenarios/read-only-cache-off.toml")),
    ("day-of-10000", include_str!("../../scenarios/day-of-10000.toml")),
];

/// The text of a scenario that comes with the program.
pub fn builtin(name: &str) -> Option<&'static str> {
    BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The name among them that a word most likely stands for, if one is near or has all of its words.
pub fn closest_builtin(word: &str) -> Option<&'static str> {
    let names = || BUILTIN.iter().map(|(name, _)| *name);
    closest(word, names()).or_else(|| in_short(word, names()))
}

/// The scenario that runs when none is named: one instance of a default fleet is killed.
pub fn default_scenario() -> Loaded {
    let (name, text) = BUILTIN[0];
    parse(name, text, &[]).unwrap_or_else(|problems| panic!("the built-in scenario is valid: {problems}"))
}

#[cfg(test)]
mod tests {
    use super::super::canonical;
    use super::*;

    #[test]
    fn every_shipped_scenario_is_valid_and_comes_back_from_its_text() {
        for (name, text) in BUILTIN {
            let loaded = parse(name, text, &[]).unwrap_or_else(|problems| panic!("{name}: {problems}"));
            let printed = canonical(&loaded.scenario);
            let again = parse(name, &printed, &[]).unwrap_or_else(|problems| panic!("{name}: {problems}"));
            assert_eq!(again.scenario, loaded.scenario, "{name}");
            assert_eq!(again.warnings.len(), loaded.warnings.len(), "{name}");
            assert!(text.starts_with("# What it shows: "), "{name}");
            assert!(!loaded.scenario.expectations.is_empty(), "{name}");
        }
    }

    #[test]
    fn every_scenario_file_is_shipped() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let files = std::fs::read_dir(folder).expect("it is there");
        let mut names: Vec<String> = files
            .map(|file| file.expect("it can be read").path().file_stem().expect("it has a name").to_owned())
            .map(|stem| stem.to_string_lossy().into_owned())
            .collect();
        names.sort();
        let mut shipped = BUILTIN.map(|(name, _)| name);
        shipped.sort_unstable();
        assert_eq!(names, shipped);
    }

    #[test]
    fn only_scenarios_that_mean_to_surprise_carry_warnings() {
        for (name, text) in BUILTIN {
            let loaded = parse(name, text, &[]).unwrap_or_else(|problems| panic!("{name}: {problems}"));
            let meant = ["small-fleet-10-in-self-preservation", "server-pause"].contains(&name);
            assert_eq!(!loaded.warnings.is_empty(), meant, "{name}: {}", loaded.render_warnings(false));
        }
    }

    #[test]
    fn the_default_scenario_is_the_default_question() {
        let scenario = default_scenario().scenario;
        let instances: u32 = scenario.applications.iter().map(|app| app.instances).sum();
        assert_eq!((instances, scenario.replicates), (100, 300));
        assert!(scenario.applications.iter().all(|app| app.observers));
    }
}
