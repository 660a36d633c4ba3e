//! Warnings about a scenario's size. Instances that come or go together cost an observer no more than one of them.
//! What it keeps grows with the moments at which it notices anything: one mark at each of its stages. So it is many
//! observers of a long series of events that take memory.

use crate::engine::SimDuration;
use crate::model::id::AppId;
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::types::Scenario;
use crate::scenario::types::targets::{Batch, Selection, TargetChoice};
use crate::scenario::types::verb::FaultKind;

/// Memory that an observer's marks of one moment take: two nodes of 24 bytes.
const BYTES_EACH: u64 = 48;
/// More memory than this in one replicate is told of.
const BYTES_MAX: u64 = 1_000_000_000;
/// The most rounds in which a mass death is let out: 15 % of what is left at a time.
const ROUNDS: u64 = 40;

/// Whether a replicate may need more memory than a machine has.
pub(crate) fn lint(scenario: &Scenario, root: &Table) -> Option<Problem> {
    let mut moments = Vec::new();
    let (mut bytes, mut observers) = (0_u64, 0_u64);
    for fault in &scenario.faults {
        moments.push(self::moments(scenario, &fault.verb, scenario.duration.saturating_sub(fault.at)));
    }
    let all: u64 = moments.iter().fold(0, |sum, own| sum.saturating_add(*own));
    let fleet = scenario.applications.iter().zip(scenario.setup.clients());
    for (app, client) in fleet.filter(|(app, _)| app.observers) {
        // It notices nothing more often than it fetches.
        let fetches = scenario.duration.as_millis() / client.notices_every().as_millis().max(1);
        let each = all.min(fetches).saturating_mul(BYTES_EACH);
        bytes = bytes.saturating_add(each.saturating_mul(app.instances.into()));
        observers += u64::from(app.instances);
    }
    if bytes <= BYTES_MAX {
        return None;
    }
    let (most, table) = moments.into_iter().zip(root.tables("fault")).max_by_key(|(own, _)| *own)?;
    let gigabytes = bytes.div_ceil(1_000_000_000);
    Some(
        Problem::warning(
            table.place.clone(),
            format!("what the observers notice in a replicate takes about {gigabytes} GB of memory"),
        )
        .label(format!("instances come or go at about {most} different moments before {observers} observers"))
        .hint(
            "set `observers = false` for applications whose instances need not watch, or let more happen at once",
        ),
    )
}

/// At how many different moments a fault makes instances come or go, at most, if it has `left` to go on.
fn moments(scenario: &Scenario, verb: &FaultKind, left: SimDuration) -> u64 {
    let hits = || verb.selection().map_or(0, |selection| hits(scenario, selection));
    let spread = |count: u64, over: SimDuration| if over.is_zero() { count.min(1) } else { count };
    match verb {
        FaultKind::Crash(_) => hits().min(ROUNDS),
        FaultKind::Reclaim { .. } => 1 + hits().min(ROUNDS),
        FaultKind::Stop { over, .. } => spread(hits(), *over),
        FaultKind::Restart { .. } => 1 + hits().min(ROUNDS),
        FaultKind::Start { count, over, .. } => spread(u64::from(*count), *over),
        // Again and again: whenever an observer fetches.
        FaultKind::CrashLoop { length, .. } => {
            length.map_or(left, |length| length.min(left)).as_millis() / 1_000
        }
        FaultKind::RollOut { application, batch, .. } => {
            let all = instances(scenario, Some(*application));
            2 * match batch {
                Batch::Count(count) => all.div_ceil(u64::from(*count).max(1)),
                Batch::Share(share) => ((1.0 / share).ceil() as u64).min(all),
            }
        }
        FaultKind::BlueGreen { .. } => 1 + ROUNDS,
        _ => 0,
    }
}

/// How many a fault hits at most.
fn hits(scenario: &Scenario, selection: &Selection) -> u64 {
    let of = instances(scenario, selection.application);
    match &selection.which {
        TargetChoice::All => of,
        TargetChoice::Count(count) => u64::from(*count).min(of),
        TargetChoice::Share(share) => (share * of as f64).round() as u64,
        TargetChoice::Named(named) => named.len() as u64,
    }
}

/// The instances of one application, or of all, that start with the server.
pub(crate) fn instances(scenario: &Scenario, application: Option<AppId>) -> u64 {
    let fleet = scenario.applications.iter().enumerate();
    let chosen = fleet.filter(|(at, _)| application.is_none_or(|app| app.index() == *at));
    chosen.map(|(_, app)| u64::from(app.instances)).sum()
}

#[cfg(test)]
mod tests {
    use crate::scenario::parse;

    fn warns(instances: u32, settings: &str, fault: &str) -> bool {
        let text = format!(
            "duration = \"10h\"\n[[application]]\nname = \"a\"\ninstances = {instances}\n{settings}\n\
             [[fault]]\n{fault}\n"
        );
        let loaded = parse("test.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
        loaded.warnings.iter().any(|warning| warning.title.contains("what the observers notice"))
    }

    #[test]
    fn what_happens_at_once_costs_little() {
        // 40 rounds x 48 bytes x 500,000 = 960 MB; of 530,000 it is 1,018 MB.
        assert!(!warns(500_000, "", "crash = { share = 0.9 }"));
        assert!(warns(530_000, "", "crash = { share = 0.9 }"));
        assert!(!warns(530_000, "observers = false", "crash = { share = 0.9 }"));
        assert!(!warns(530_000, "", "crash = { count = 39 }"));
        assert!(!warns(530_000, "", "partition = { all = true }"));
    }

    #[test]
    fn nobody_notices_more_often_than_it_fetches() {
        // A crash and a return each, at most 41 moments a fault: with 30 faults 1,230, but 10 h are 1,200 fetches.
        let restarts = "restart = { share = 0.9 }\n[[fault]]\n".repeat(29) + "restart = { share = 0.9 }";
        // 1,200 x 48 bytes x 17,000 = 979 MB; of 18,000 it is 1,037 MB.
        assert!(!warns(17_000, "", &restarts));
        assert!(warns(18_000, "", &restarts));
    }
}
