//! The faults: one verb each, and together nothing that no fleet can be put through. Whom a verb hits is read in
//! [`crate::scenario::fault::read_targets`], what it does in [`crate::scenario::fault::read_verb`].

use crate::engine::SimDuration;
use crate::model::eureka::Flavour;
use crate::scenario::diagnostics::Problem;
use crate::scenario::diagnostics::suggest::one_of;
use crate::scenario::document::Table;
use crate::scenario::fault::format::FAULT;
use crate::scenario::fault::read_verb;
use crate::scenario::fault::verbs::VERBS;
use crate::scenario::format::Section;
use crate::scenario::format::values::Values;
use crate::scenario::sections::fleet::Fleet;
use crate::scenario::types::verb::FaultKind;
use crate::scenario::types::{Clock, Fault};

/// The default of `within`.
const WITHIN: SimDuration = SimDuration::from_secs(60);
/// The slowest that a wall clock may go with all that is done to it, parts per million.
const SLOWEST_PPM: i64 = -500_000;

/// Reads the faults.
pub(crate) fn faults(
    root: &Table,
    fleet: &Fleet,
    flavour: Flavour,
    problems: &mut Vec<Problem>,
) -> Vec<Fault> {
    root.tables("fault").filter_map(|table| fault(table, fleet, flavour, problems)).collect()
}

fn fault(table: &Table, fleet: &Fleet, flavour: Flavour, problems: &mut Vec<Problem>) -> Option<Fault> {
    let values = Values(Some(table));
    let names: Vec<&'static str> = VERBS.iter().map(|verb| verb.key.name).collect();
    let name =
        only_one(table, &names, &FAULT, ("a fault", Some("verb"), VERBS[0].section.example), problems)?;
    let form = VERBS.iter().find(|verb| verb.key.name == name)?;
    let verb = read_verb::verb(form, table.table(name)?, fleet, flavour, problems)?;
    Some(Fault {
        at: values.length("at").unwrap_or_default(),
        within: values.length("within").unwrap_or(WITHIN),
        verb,
    })
}

/// The one key of `choices` that a table has. None is no problem of its own where a key is misspelt. Messages
/// say whose keys they are, what to call them together (if there are too many to list), and give an example.
pub(crate) fn only_one(
    table: &Table,
    choices: &[&'static str],
    section: &'static Section,
    (whose, what, example): (&str, Option<&str>, &str),
    problems: &mut Vec<Problem>,
) -> Option<&'static str> {
    let known: Vec<&'static str> =
        choices.iter().copied().filter(|name| section.key(name).is_some()).collect();
    let given: Vec<&'static str> = known.iter().copied().filter(|name| table.get(name).is_some()).collect();
    let list = one_of(known.iter().copied());
    let one = what.map_or_else(|| format!("one of {list}"), |what| format!("one {what}"));
    match given.as_slice() {
        [only] => return Some(only),
        [] => {
            if table.entries.iter().all(|entry| section.key(&entry.key).is_some()) {
                let all = what.map_or_else(String::new, |what| format!("; a {what} is one of {list}"));
                problems.push(
                    Problem::error(table.place.clone(), format!("{whose} needs {one}"))
                        .label("has none")
                        .hint(format!("as in `{example}`{all}")),
                );
            }
        }
        [first, second, ..] => {
            let place = |name: &str| table.entry(name).map(|entry| entry.key_place.clone());
            problems.push(
                Problem::error(place(second), format!("{whose} takes only {one}"))
                    .label("one too many")
                    .related(place(first), "the other one"),
            );
        }
    }
    None
}

/// A wall clock that many faults slow down must still go forward: leases and caches are timed by it.
pub(crate) fn clocks_go_forward(
    root: &Table,
    faults: &[Fault],
    fleet: &Fleet,
    server: Clock,
    problems: &mut Vec<Problem>,
) {
    let drift = |fault: &Fault, of_server: bool| match &fault.verb {
        FaultKind::Clock { targets, drift_ppm, .. } if targets.is_server() == of_server => {
            i64::from(*drift_ppm).min(0)
        }
        _ => 0,
    };
    let instances = fleet.applications.iter().map(|app| i64::from(app.clock.drift_ppm)).min();
    for (of_server, base) in [(true, i64::from(server.drift_ppm)), (false, instances.unwrap_or(0))] {
        let slowest = base + faults.iter().map(|fault| drift(fault, of_server)).sum::<i64>();
        if slowest < SLOWEST_PPM {
            let place = root.entry("fault").map(|entry| entry.key_place.clone());
            problems.push(
                Problem::error(place, format!("faults may slow a clock by {} parts per million", -slowest))
                    .label(format!("all together by {} at most", -SLOWEST_PPM))
                    .hint("the drifts of faults on the same clock add up"),
            );
        }
    }
}
