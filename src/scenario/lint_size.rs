//! A warning about a run that is larger than one thinks. Each watcher's sight of each watched event is an
//! observation of its own, so a fault that hits a share of the fleet, watched by the fleet, leaves rows by the
//! square of its size.

use super::diagnostic::Problem;
use super::types::{Fault, Scenario, Selection, Targets, Verb, Which};
use crate::model::client::BalancerConfig;

/// Observations that nobody minds; about 2 GB of memory, and 1 GB of `detections.csv`.
const FROM: u64 = 20_000_000;
/// What one takes in memory, bytes: a sighting while it is watched, a row at the end.
const BYTES: u64 = 100;

/// Observations by the ten million.
pub(super) fn lint(scenario: &Scenario) -> Option<Problem> {
    let events: u64 = scenario.faults.iter().map(|fault| watched(scenario, fault)).sum();
    let count = events.saturating_mul(watchers(scenario)).saturating_mul(scenario.replicates.into());
    if count < FROM {
        return None;
    }
    let (millions, gigabytes) = (count / 1_000_000, count.saturating_mul(BYTES) / 1_000_000_000);
    Some(
        Problem::warning(None, format!("about {millions} million observations: {gigabytes} GB of memory"))
            .hint(
                "set `observers = false` for most applications, or take fewer replicates or smaller faults",
            ),
    )
}

/// Watchers of one event: every observer's local registry and balancer.
fn watchers(scenario: &Scenario) -> u64 {
    let observers = scenario.applications.iter().filter(|app| app.observers && app.client.fetch_registry);
    let stages = |balancer| if balancer == BalancerConfig::None { 1 } else { 2 };
    observers.map(|app| u64::from(app.instances) * stages(app.client.balancer)).sum()
}

/// Events that a fault brings and that are watched.
fn watched(scenario: &Scenario, fault: &Fault) -> u64 {
    let hit = |selection: &Selection| selected(scenario, selection);
    match &fault.verb {
        Verb::Crash(Targets::Instances(selection)) | Verb::Stop(Targets::Instances(selection)) => {
            hit(selection)
        }
        // A death and a registration.
        Verb::Restart { targets: Targets::Instances(selection), .. } => 2 * hit(selection),
        Verb::Start { count, .. } => u64::from(*count),
        _ => 0,
    }
}

/// Instances that a selection hits, if all are up.
fn selected(scenario: &Scenario, selection: &Selection) -> u64 {
    let fleet = scenario.applications.iter().enumerate();
    let chosen = fleet.filter(|(at, _)| selection.application.is_none_or(|app| app.index() == *at));
    let of: u64 = chosen.map(|(_, app)| u64::from(app.instances)).sum();
    match &selection.which {
        Which::All => of,
        Which::Count(count) => u64::from(*count).min(of),
        Which::Share(share) => (share * of as f64) as u64,
        Which::Named(names) => names.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    fn warnings(instances: u32, observers: bool, share: f64) -> Vec<String> {
        let text = format!(
            "replicates = 10\n[[application]]\nname = \"a\"\ninstances = {instances}\nobservers = {observers}\n\
             [[application]]\nname = \"watchers\"\ninstances = 10\n\
             [[fault]]\ncrash = {{ application = \"a\", share = {share} }}"
        );
        let loaded = parse("test.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
        loaded.warnings.iter().map(|warning| warning.title.clone()).collect()
    }

    #[test]
    fn a_fleet_that_watches_its_own_mass_death() {
        // 990 deaths, 9,900 + 10 observers with two stages each, ten replicates.
        let text = warnings(9_900, true, 0.1).join("\n");
        // 990 × 9,910 × 2 × 10 = 196,218,000, at 100 bytes 19.6 GB.
        assert!(text.contains("about 196 million observations: 19 GB"), "{text}");
    }

    #[test]
    fn few_watchers_or_few_deaths_are_fine() {
        assert!(warnings(9_900, false, 0.1).is_empty()); // 990 × 10 × 2 × 10 = 198,000
        assert!(warnings(900, true, 0.1).is_empty()); // 90 × 910 × 2 × 10 = 1,638,000
    }
}
