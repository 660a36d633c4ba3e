//! Warnings about a scenario's size. What takes memory and time in a run is its observations: every observer
//! watches every instance that a fault hits, so they grow with the square of the fleet.

use super::diagnostic::Problem;
use super::document::Table;
use super::targets::Which;
use super::types::Scenario;
use super::verb::Verb;
use crate::model::id::AppId;

/// More observations than this in one replicate are told of. They take about 700 MB.
const OBSERVATIONS_MAX: u64 = 20_000_000;
/// Memory that an observation takes at `client` and `balancer` together: two moments with how they ended, and a flag.
const BYTES_EACH: u64 = 33;

/// Whether a replicate may need more memory than a machine has.
pub(super) fn lint(scenario: &Scenario, root: &Table) -> Option<Problem> {
    let watching = scenario.applications.iter().filter(|app| app.observers);
    let observers: u64 = watching.map(|app| u64::from(app.instances)).sum();
    let hits: Vec<u64> = scenario.faults.iter().map(|fault| events(scenario, &fault.verb)).collect();
    let observations = hits.iter().sum::<u64>().saturating_mul(observers);
    if observations <= OBSERVATIONS_MAX {
        return None;
    }
    let (most, table) = hits.into_iter().zip(root.tables("fault")).max_by_key(|(hits, _)| *hits)?;
    let gigabytes = observations.saturating_mul(BYTES_EACH).div_ceil(1_000_000_000);
    let millions = observations / 1_000_000;
    Some(
        Problem::warning(
            table.place.clone(),
            format!(
                "a replicate makes about {millions} million observations, in about {gigabytes} GB of memory"
            ),
        )
        .label(format!("{observers} observers watch {most} instances come or go"))
        .hint(
            "set `observers = false` for applications whose instances need not watch, or hit fewer instances",
        ),
    )
}

/// Ends and beginnings that a fault brings about at most, each watched by every observer.
fn events(scenario: &Scenario, verb: &Verb) -> u64 {
    let Some(selection) = verb.selection() else {
        return if let Verb::Start { count, .. } = verb { u64::from(*count) } else { 0 };
    };
    let of = instances(scenario, selection.application);
    let hit = match &selection.which {
        Which::All => of,
        Which::Count(count) => u64::from(*count).min(of),
        Which::Share(share) => (share * of as f64).round() as u64,
        Which::Named(named) => named.len() as u64,
    };
    match verb {
        Verb::Restart { .. } => 2 * hit,
        Verb::Pause { .. } | Verb::Partition { .. } => 0,
        _ => hit,
    }
}

/// The instances of one application, or of all, that start with the server.
pub(super) fn instances(scenario: &Scenario, application: Option<AppId>) -> u64 {
    let fleet = scenario.applications.iter().enumerate();
    let chosen = fleet.filter(|(at, _)| application.is_none_or(|app| app.index() == *at));
    chosen.map(|(_, app)| u64::from(app.instances)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    fn warns(fault: &str, observers: bool) -> bool {
        let text = format!(
            "[[application]]\nname = \"a\"\ninstances = 5000\nobservers = {observers}\n\
             [[application]]\nname = \"b\"\ninstances = 15\n[[fault]]\n{fault}\n"
        );
        let loaded = parse("test.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
        loaded.warnings.iter().any(|warning| warning.title.contains("million observations"))
    }

    #[test]
    fn a_run_that_memory_may_not_hold_is_told_of() {
        // 5,015 observers of 3,988 are 19,999,820 observations, of 3,989 they are 20,004,835.
        assert!(!warns("crash = { count = 3988 }", true));
        assert!(warns("crash = { count = 3989 }", true));
        // Each that restarts goes and comes: 2 x 2,500 x 5,015 = 25,075,000.
        assert!(warns("restart = { application = \"a\", share = 0.5 }", true));
        assert!(!warns("restart = { all = true }", false));
        assert!(!warns("partition = { all = true }", true));
    }
}
