//! A warning about deaths that jam a service's guard in the two-stage registry.
//!
//! The dead that are hidden but not removed count against the guard, and only a guard that is open removes them
//! (`two-stage.md` C3). A ghost lives from the soft to the hard timeout, 45 s by default; so it is the rate that counts: more
//! of them than the guard tolerates in one such window shut it, and nothing in the registry opens it again (C5).

use crate::engine::SimDuration;
use crate::model::two_stage::TwoStage;
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::lint::fault::Fleet;
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::two_stage::lint::{can_jam, ms, tolerated};
use crate::scenario::types::Fault;
use crate::scenario::types::targets::{Batch, Selection, Targets};
use crate::scenario::types::verb::FaultKind;

/// Whether a fault jams the guard of a service, alone or with those shortly before it.
pub(crate) fn jam(scenario: ScenarioOf<'_, TwoStage>, fault: &Fault, table: &Table) -> Option<Problem> {
    let server = scenario.server();
    if !can_jam(server) {
        return None;
    }
    let life = server.hard_timeout_ms.saturating_sub(server.soft_timeout_ms);
    let life = ms(life.max(server.sweep_interval_ms));
    scenario.apps().enumerate().filter(|(_, app)| app.client.registers).find_map(|(at, app)| {
        let own = ghosts(scenario, &fault.verb, at, life)?;
        let before: f64 = scenario
            .faults
            .iter()
            .filter(|other| !std::ptr::eq(*other, fault) && shortly_before(other, fault, life))
            .filter_map(|other| ghosts(scenario, &other.verb, at, life))
            .map(|other| other.dead)
            .sum();
        let size = u64::from(app.instances) + own.new as u64;
        let dead = (own.dead + before).round() as u64;
        // A guard that tolerates nobody is told of without a fault.
        let most = tolerated(server, size).filter(|most| *most > 0 && dead > *most)?;
        Some(problem(app, table, Counts { size, dead, most, alone: before == 0.0 }, life))
    })
}

/// Whether the dead of one fault are ghosts still when those of another are hidden.
fn shortly_before(other: &Fault, fault: &Fault, life: SimDuration) -> bool {
    other.at <= fault.at && fault.at < other.at + life
}

/// The dead that a fault leaves behind at a time, and the new that came for them.
struct Ghosts {
    dead: f64,
    new: f64,
}

/// Those of the application at a place; `None` if a fault leaves none.
fn ghosts(
    scenario: ScenarioOf<'_, TwoStage>,
    verb: &FaultKind,
    at: usize,
    life: SimDuration,
) -> Option<Ghosts> {
    let app = &scenario.applications[at];
    let hit = |selection: &Selection| {
        let fleet = Fleet::of(&scenario, selection);
        fleet.apps().find(|(hit, _)| hit.index() == at).map(|(_, count)| count)
    };
    match verb {
        FaultKind::Crash(Targets::Instances(selection)) => Some(Ghosts { dead: hit(selection)?, new: 0.0 }),
        FaultKind::Restart {
            targets: Targets::Instances(selection), new_id: true, graceful: false, ..
        } => {
            let dead = hit(selection)?;
            Some(Ghosts { dead, new: dead })
        }
        FaultKind::Reclaim { targets, heeded, .. } if *heeded < 1.0 => {
            Some(Ghosts { dead: hit(targets)? * (1.0 - heeded), new: 0.0 })
        }
        FaultKind::RollOut { application, batch, wait, down_for, graceful: false, new_id: true, .. }
            if application.index() == at =>
        {
            let of = f64::from(app.instances);
            let batch = match batch {
                Batch::Count(count) => f64::from(*count).min(of),
                Batch::Share(share) => (share * of).round().max(1.0),
            };
            let period = (*wait + *down_for).as_secs_f64().max(1e-3);
            let batches = (life.as_secs_f64() / period).floor() + 1.0;
            let dead = (batch * batches).min(of);
            Some(Ghosts { dead, new: dead })
        }
        _ => None,
    }
}

struct Counts {
    size: u64,
    dead: u64,
    most: u64,
    alone: bool,
}

fn problem(app: AppOf<'_, TwoStage>, table: &Table, counts: Counts, life: SimDuration) -> Problem {
    let Counts { size, dead, most, alone } = counts;
    let with = if alone { "" } else { ", with those shortly before," };
    let title = format!("{dead} dead of {size}{with} shut the guard of `{}` for good", app.name);
    Problem::warning(table.place.clone(), title)
        .label("they are hidden but never removed, and whoever dies later stays visible")
        .hint(format!(
            "of {size} it tolerates {most} unhealthy within {life}; newcomers, `delete = {{ dead = true, … }}` or a \
             restart of the registry end it, and so does `guard-scope = \"soft-only\"`"
        ))
}

#[cfg(test)]
mod tests {
    use crate::scenario::two_stage::lint::tests::{about, warnings};

    #[test]
    fn more_at_once_than_the_guard_tolerates() {
        // ⌊0.15 · 20⌋ = 3.
        assert_eq!(about("crash = { count = 3 }"), "");
        let text = about("crash = { count = 4 }");
        assert!(text.contains("4 dead of 20 shut the guard of `a` for good"), "{text}");
        for repaired in ["guard-scope = \"soft-only\"", "guard-cap = true", "guard = \"none\""] {
            let text = format!("[two-stage]\n{repaired}\n[[fault]]\ncrash = {{ count = 4 }}");
            assert_eq!(warnings("two-stage", &text), "", "{repaired}");
        }
        assert_eq!(warnings("nacos-1", "[[fault]]\ncrash = { count = 4 }"), "");
    }

    #[test]
    fn it_is_the_rate_that_counts() {
        // A ghost lives for 45 s: two and two 44 s apart are four, 45 s apart they are two.
        let twice = |second: &str| {
            about(&format!("crash = {{ count = 2 }}\n[[fault]]\nat = \"{second}\"\ncrash = {{ count = 2 }}"))
        };
        assert!(twice("44s").contains("4 dead of 20, with those shortly before,"), "{}", twice("44s"));
        assert_eq!(twice("45s"), "");
        // One every 40 s: two ghosts of 22. Two every 10 s: ten of 30, which tolerate 4.
        let roll_out =
            |keys: &str| about(&format!("roll-out = {{ application = \"a\", {keys}, graceful = false }}"));
        assert_eq!(roll_out("batch = 1"), "");
        let text = roll_out("batch = 2, wait = \"0s\"");
        assert!(text.contains("10 dead of 30 shut the guard"), "{text}");
        assert_eq!(about("roll-out = { application = \"a\", batch = 5 }"), "");
    }

    #[test]
    fn the_heedful_leave_no_ghosts() {
        // Of ten 40 % stay: four.
        assert!(about("reclaim = { count = 10, heeded = 0.6 }").contains("4 dead of 20"));
        assert_eq!(about("reclaim = { count = 10, heeded = 0.7 }"), "");
    }
}
