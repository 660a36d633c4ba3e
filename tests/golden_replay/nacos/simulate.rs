//! Recorded crashes of a Nacos server's instances against simulated ones.
//!
//! As with Eureka the set-up is taken over and chance decides when within its beat interval an instance dies. What chance
//! does not decide is the phase of its beats against the service's check: both have a period of 5 s, so it is the same
//! for every check, and it is recorded. In the simulation the fleet starts with the service, and the victim later, by
//! just so much that its silence at a check is what it was.

use std::collections::BTreeMap;
use std::path::Path;

use stillup::model::stage::Stage;
use stillup::model::two_stage::{Preset, ServerConfig};
use stillup::scenario::{Scenario, parse};

use super::super::deaths::{Death, Measured};
use super::super::simulate::{Compared, against};
use super::checks::Checks;
use super::recording::{Recording, Sight};

/// Two that crash so close together are not told apart, ms.
const APART_MS: i64 = 5_000;
/// From the start of the victim to its crash, at least, ms.
const LIFE_MS: i64 = 60_000;

/// Compares a folder's crashes with simulated ones; nothing where there are too few, or where the server stood still.
/// `bend` may change the set-up, to see that it matters.
pub(crate) fn simulate(folder: &Path, bend: &dyn Fn(&mut Scenario)) -> Result<Vec<Compared>, String> {
    let recording = Recording::read(folder)?;
    if !recording.pauses().is_empty() {
        return Ok(Vec::new());
    }
    let config = ServerConfig::defaults(Preset::Nacos1);
    let checks = Checks::of(&recording, &config)?;
    let deaths = deaths(&recording, &config, checks);
    let fleet = recording.instances();
    against(&deaths, bend, &|death| setup(&recording.name, fleet, death.gap_ms, &config))
}

/// The crashes that can be compared one by one: those alone in their time whose ends were seen. The gap of each is that
/// from the creation of the service, or any check, to the beats that its victim sends.
fn deaths(recording: &Recording, config: &ServerConfig, checks: Checks) -> Vec<Death> {
    let near = |at_ms: i64| recording.crashes().filter(|it| (it.1 - at_ms).abs() < APART_MS).count();
    let alone = recording.crashes().filter(|it| near(it.1) == 1);
    let death = |(instance, at_ms): (&str, i64)| {
        let seen = |observer, changes: &[&str]| {
            let mut since = recording.sights_of(observer).filter(|sight| sight.done_ms > at_ms);
            since.find(|sight| sight.instance == instance && changes.contains(&sight.change.as_str()))
        };
        let marked = seen("catalog", &["unhealthy"])?;
        let check_us = checks.run_near_us((marked.prev_sent_ms, marked.done_ms), config, recording)?;
        let own = recording.calls.iter().filter(|call| call.instance == instance);
        let heard_ms = own.map(|call| call.done_ms).filter(|&done_ms| done_ms < check_us / 1_000).max()?;
        let watched = [
            (Stage::Registry, marked),
            (Stage::Served, seen("query", &["unhealthy", "gone"])?),
            (Stage::Entry, seen("catalog", &["gone"])?),
        ];
        let measured = |sight: &Sight| {
            let length =
                Measured { latest_ms: sight.done_ms - at_ms, poll_ms: sight.done_ms - sight.prev_sent_ms };
            BTreeMap::from([(sight.observer.clone(), length)])
        };
        Some(Death {
            at_ms,
            instance: instance.to_owned(),
            gap_ms: (heard_ms - check_us / 1_000).rem_euclid(i64::from(config.sweep_interval_ms)),
            measured: watched.into_iter().map(|(stage, sight)| (stage, measured(sight))).collect(),
        })
    };
    alone.filter_map(death).collect()
}

/// The recorded set-up: the service is there from the start, and one instance more starts and dies.
fn setup(title: &str, fleet: usize, gap_ms: i64, config: &ServerConfig) -> Scenario {
    let text = format!(
        r#"
title = "{title}"
registry = "nacos-1"
duration = "5m"
start = {{ window = "0s", warm-up = "0s" }}
network = {{ latency = "0ms" }}

[[application]]
name = "service"
instances = {others}
observers = false
fetch = false

[[fault]]
at = "{gap_ms}ms"
within = "0s"
start = {{ application = "service", count = 1 }}

[[fault]]
at = "{crash_ms}ms"
within = "{interval_ms}ms"
crash = {{ instances = ["service-{fleet}"] }}
"#,
        others = fleet.saturating_sub(1).max(1),
        crash_ms = gap_ms + LIFE_MS,
        interval_ms = config.sweep_interval_ms,
    );
    parse(title, &text, &[]).unwrap_or_else(|problems| panic!("{problems}")).scenario
}
