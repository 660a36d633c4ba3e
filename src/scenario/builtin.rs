//! The scenarios that come with the program.

use super::load::{Loaded, parse};
use crate::scenario::diagnostics::suggest::{closest, in_short};

/// Their names and texts, the default one first.
pub const BUILTIN: [(&str, &str); 122] = [
    ("default-crash", include_str!("../../scenarios/default-crash.toml")),
    ("graceful-stop", include_str!("../../scenarios/graceful-stop.toml")),
    ("registration-seen-by-all", include_str!("../../scenarios/registration-seen-by-all.toml")),
    ("scale-out-storm", include_str!("../../scenarios/scale-out-storm.toml")),
    ("blue-green", include_str!("../../scenarios/blue-green.toml")),
    ("rolling-restart-kills-batches", include_str!("../../scenarios/rolling-restart-kills-batches.toml")),
    ("rolling-restart-corrected", include_str!("../../scenarios/rolling-restart-corrected.toml")),
    ("balancer-ribbon", include_str!("../../scenarios/balancer-ribbon.toml")),
    ("balancer-loadbalancer", include_str!("../../scenarios/balancer-loadbalancer.toml")),
    ("balancer-none", include_str!("../../scenarios/balancer-none.toml")),
    ("read-only-cache-on", include_str!("../../scenarios/read-only-cache-on.toml")),
    ("read-only-cache-off", include_str!("../../scenarios/read-only-cache-off.toml")),
    ("fast-settings", include_str!("../../scenarios/fast-settings.toml")),
    ("fast-settings-ten-seconds", include_str!("../../scenarios/fast-settings-ten-seconds.toml")),
    ("fast-settings-small-fleet", include_str!("../../scenarios/fast-settings-small-fleet.toml")),
    ("stale-caller", include_str!("../../scenarios/stale-caller.toml")),
    ("missed-heartbeats", include_str!("../../scenarios/missed-heartbeats.toml")),
    ("lost-requests", include_str!("../../scenarios/lost-requests.toml")),
    ("slow-heartbeats", include_str!("../../scenarios/slow-heartbeats.toml")),
    ("flapping-link", include_str!("../../scenarios/flapping-link.toml")),
    ("heartbeat-60-expected-30", include_str!("../../scenarios/heartbeat-60-expected-30.toml")),
    ("small-fleets", include_str!("../../scenarios/small-fleets.toml")),
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
    ("spot-reclaim-14", include_str!("../../scenarios/spot-reclaim-14.toml")),
    ("spot-reclaim-16", include_str!("../../scenarios/spot-reclaim-16.toml")),
    ("spot-reclaim-heeded", include_str!("../../scenarios/spot-reclaim-heeded.toml")),
    ("scale-down-untold", include_str!("../../scenarios/scale-down-untold.toml")),
    ("scale-down-graceful", include_str!("../../scenarios/scale-down-graceful.toml")),
    ("scale-down-server-restarted", include_str!("../../scenarios/scale-down-server-restarted.toml")),
    ("scale-down-flag", include_str!("../../scenarios/scale-down-flag.toml")),
    ("two-waves-before-1-9-17", include_str!("../../scenarios/two-waves-before-1-9-17.toml")),
    ("two-waves-since-1-9-17", include_str!("../../scenarios/two-waves-since-1-9-17.toml")),
    ("out-of-service", include_str!("../../scenarios/out-of-service.toml")),
    ("gc-pauses-trip-protection", include_str!("../../scenarios/gc-pauses-trip-protection.toml")),
    ("mass-death-unprotected", include_str!("../../scenarios/mass-death-unprotected.toml")),
    ("blind-window", include_str!("../../scenarios/blind-window.toml")),
    ("blind-window-expected-30", include_str!("../../scenarios/blind-window-expected-30.toml")),
    ("blind-window-defaults", include_str!("../../scenarios/blind-window-defaults.toml")),
    ("server-pause", include_str!("../../scenarios/server-pause.toml")),
    ("shared-server-paused", include_str!("../../scenarios/shared-server-paused.toml")),
    ("peers-cut-off-three", include_str!("../../scenarios/peers-cut-off-three.toml")),
    ("peers-cut-off-eight", include_str!("../../scenarios/peers-cut-off-eight.toml")),
    ("peers-cut-off-phase", include_str!("../../scenarios/peers-cut-off-phase.toml")),
    ("server-cut-off", include_str!("../../scenarios/server-cut-off.toml")),
    ("zone-cut-off", include_str!("../../scenarios/zone-cut-off.toml")),
    ("peer-misses-a-registration", include_str!("../../scenarios/peer-misses-a-registration.toml")),
    ("peer-dies-too-early", include_str!("../../scenarios/peer-dies-too-early.toml")),
    ("peers-in-a-ring", include_str!("../../scenarios/peers-in-a-ring.toml")),
    ("clock-step-forward", include_str!("../../scenarios/clock-step-forward.toml")),
    ("clock-step-back", include_str!("../../scenarios/clock-step-back.toml")),
    ("crash-loop", include_str!("../../scenarios/crash-loop.toml")),
    ("grey-failure", include_str!("../../scenarios/grey-failure.toml")),
    ("unhealthy", include_str!("../../scenarios/unhealthy.toml")),
    ("server-restart-spring", include_str!("../../scenarios/server-restart-spring.toml")),
    ("server-restart-netflix", include_str!("../../scenarios/server-restart-netflix.toml")),
    ("server-killed", include_str!("../../scenarios/server-killed.toml")),
    ("server-hangs-jersey", include_str!("../../scenarios/server-hangs-jersey.toml")),
    ("server-hangs-rest-client", include_str!("../../scenarios/server-hangs-rest-client.toml")),
    ("server-hangs-fixed-order", include_str!("../../scenarios/server-hangs-fixed-order.toml")),
    ("copied-leases", include_str!("../../scenarios/copied-leases.toml")),
    ("counted-twice-22", include_str!("../../scenarios/counted-twice-22.toml")),
    ("counted-twice-23", include_str!("../../scenarios/counted-twice-23.toml")),
    ("rolling-servers", include_str!("../../scenarios/rolling-servers.toml")),
    ("rolling-servers-too-fast", include_str!("../../scenarios/rolling-servers-too-fast.toml")),
    ("out-of-service-freezes", include_str!("../../scenarios/out-of-service-freezes.toml")),
    ("load-per-server", include_str!("../../scenarios/load-per-server.toml")),
    ("storm-on-few-threads", include_str!("../../scenarios/storm-on-few-threads.toml")),
    ("late-peer-answers", include_str!("../../scenarios/late-peer-answers.toml")),
    ("two-stage-crash", include_str!("../../scenarios/two-stage-crash.toml")),
    ("two-stage-crash-long-poll", include_str!("../../scenarios/two-stage-crash-long-poll.toml")),
    ("two-stage-three-of-twenty", include_str!("../../scenarios/two-stage-three-of-twenty.toml")),
    ("two-stage-jam", include_str!("../../scenarios/two-stage-jam.toml")),
    ("two-stage-jam-ghost-returns", include_str!("../../scenarios/two-stage-jam-ghost-returns.toml")),
    ("two-stage-jam-operator", include_str!("../../scenarios/two-stage-jam-operator.toml")),
    ("two-stage-jam-newcomers", include_str!("../../scenarios/two-stage-jam-newcomers.toml")),
    ("two-stage-jam-below-ten", include_str!("../../scenarios/two-stage-jam-below-ten.toml")),
    ("two-stage-jam-registry-restarts", include_str!("../../scenarios/two-stage-jam-registry-restarts.toml")),
    ("two-stage-jam-soft-only", include_str!("../../scenarios/two-stage-jam-soft-only.toml")),
    ("two-stage-deaths-30s-apart", include_str!("../../scenarios/two-stage-deaths-30s-apart.toml")),
    ("two-stage-deaths-50s-apart", include_str!("../../scenarios/two-stage-deaths-50s-apart.toml")),
    ("two-stage-cut-in-step", include_str!("../../scenarios/two-stage-cut-in-step.toml")),
    ("two-stage-cut-off", include_str!("../../scenarios/two-stage-cut-off.toml")),
    ("two-stage-cut-off-twenty", include_str!("../../scenarios/two-stage-cut-off-twenty.toml")),
    ("two-stage-cut-off-nine", include_str!("../../scenarios/two-stage-cut-off-nine.toml")),
    ("two-stage-cut-off-capped", include_str!("../../scenarios/two-stage-cut-off-capped.toml")),
    ("two-stage-registry-restarts", include_str!("../../scenarios/two-stage-registry-restarts.toml")),
    (
        "two-stage-registry-restarts-unchecked",
        include_str!("../../scenarios/two-stage-registry-restarts-unchecked.toml"),
    ),
    ("two-stage-retired-service", include_str!("../../scenarios/two-stage-retired-service.toml")),
    ("two-stage-starts-from-snapshot", include_str!("../../scenarios/two-stage-starts-from-snapshot.toml")),
    (
        "two-stage-starts-without-snapshot",
        include_str!("../../scenarios/two-stage-starts-without-snapshot.toml"),
    ),
    ("two-stage-snapshot-wiped", include_str!("../../scenarios/two-stage-snapshot-wiped.toml")),
    ("two-stage-torn-snapshot", include_str!("../../scenarios/two-stage-torn-snapshot.toml")),
    ("two-stage-full-disk", include_str!("../../scenarios/two-stage-full-disk.toml")),
    ("two-stage-instance-pause-20s", include_str!("../../scenarios/two-stage-instance-pause-20s.toml")),
    ("two-stage-instance-pause-70s", include_str!("../../scenarios/two-stage-instance-pause-70s.toml")),
    ("two-stage-registry-pause-20s", include_str!("../../scenarios/two-stage-registry-pause-20s.toml")),
    ("two-stage-registry-pause-70s", include_str!("../../scenarios/two-stage-registry-pause-70s.toml")),
    ("two-stage-held-watches", include_str!("../../scenarios/two-stage-held-watches.toml")),
    ("two-stage-enough-workers", include_str!("../../scenarios/two-stage-enough-workers.toml")),
    ("two-stage-linger", include_str!("../../scenarios/two-stage-linger.toml")),
    ("two-stage-forgotten-timer", include_str!("../../scenarios/two-stage-forgotten-timer.toml")),
    ("nacos-crash", include_str!("../../scenarios/nacos-crash.toml")),
    ("nacos-push-lost", include_str!("../../scenarios/nacos-push-lost.toml")),
    ("nacos-single-instance", include_str!("../../scenarios/nacos-single-instance.toml")),
    ("nacos-whole-service", include_str!("../../scenarios/nacos-whole-service.toml")),
    ("nacos-server-pause", include_str!("../../scenarios/nacos-server-pause.toml")),
    ("beside-crash-eureka", include_str!("../../scenarios/beside-crash-eureka.toml")),
    ("beside-crash-two-stage", include_str!("../../scenarios/beside-crash-two-stage.toml")),
    ("beside-crash-nacos-1", include_str!("../../scenarios/beside-crash-nacos-1.toml")),
    ("beside-server-pause-eureka", include_str!("../../scenarios/beside-server-pause-eureka.toml")),
    ("beside-server-pause-two-stage", include_str!("../../scenarios/beside-server-pause-two-stage.toml")),
    ("beside-server-pause-nacos-1", include_str!("../../scenarios/beside-server-pause-nacos-1.toml")),
    ("beside-partition-eureka", include_str!("../../scenarios/beside-partition-eureka.toml")),
    ("beside-partition-two-stage", include_str!("../../scenarios/beside-partition-two-stage.toml")),
    ("beside-partition-nacos-1", include_str!("../../scenarios/beside-partition-nacos-1.toml")),
    ("beside-fifth-eureka", include_str!("../../scenarios/beside-fifth-eureka.toml")),
    ("beside-fifth-two-stage", include_str!("../../scenarios/beside-fifth-two-stage.toml")),
    ("beside-fifth-nacos-1", include_str!("../../scenarios/beside-fifth-nacos-1.toml")),
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
        let meant = [
            "blind-window",
            "blind-window-defaults",
            "blind-window-expected-30",
            "blue-green",
            "clock-step-back",
            "clock-step-forward",
            "counted-twice-22",
            "counted-twice-23",
            "late-peer-answers",
            "fast-settings",
            "fast-settings-small-fleet",
            "heartbeat-60-expected-30",
            "lost-requests",
            "peers-cut-off-eight",
            "peers-in-a-ring",
            "rolling-restart-kills-batches",
            "rolling-servers-too-fast",
            "scale-out-storm",
            "server-hangs-fixed-order",
            "server-hangs-rest-client",
            "server-pause",
            "server-restart-netflix",
            "shared-server-paused",
            "small-fleet-10-in-self-preservation",
            "storm-on-few-threads",
            "two-stage-cut-off-nine",
            "two-stage-deaths-30s-apart",
            "two-stage-held-watches",
            "two-stage-instance-pause-20s",
            "two-stage-instance-pause-70s",
            "two-stage-jam-below-ten",
            "two-stage-jam-newcomers",
            "two-stage-jam-operator",
            "two-stage-jam-registry-restarts",
            "two-stage-jam",
            "two-stage-registry-pause-20s",
            "two-stage-registry-pause-70s",
            "two-stage-torn-snapshot",
            "nacos-push-lost",
            "nacos-server-pause",
            "nacos-single-instance",
            "beside-fifth-two-stage",
            "beside-partition-eureka",
            "beside-server-pause-eureka",
            "beside-server-pause-nacos-1",
            "beside-server-pause-two-stage",
            "unhealthy",
        ];
        for (name, text) in BUILTIN {
            let loaded = parse(name, text, &[]).unwrap_or_else(|problems| panic!("{name}: {problems}"));
            let warned = !loaded.warnings.is_empty();
            assert_eq!(warned, meant.contains(&name), "{name}: {}", loaded.render_warnings(false));
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
