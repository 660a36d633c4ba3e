//! The faults: one verb each, targets that exist, and no more of them than there can be.

use super::check_fleet::Fleet;
use super::diagnostic::Problem;
use super::document::{Node, Table};
use super::format::{Section, Shape};
use super::format_fault::{FAULT, TARGETS, VERBS};
use super::suggest::one_of;
use super::types::{Direction, Fault, Peer, Selection, Targets, Verb, Which};
use super::values::Values;
use crate::engine::{Distribution, SimDuration};
use crate::model::id::AppId;

/// The default of `within`.
const WITHIN: SimDuration = SimDuration::from_secs(60);
/// The default of `down-for`.
const DOWN_FOR: SimDuration = SimDuration::from_secs(10);

/// Reads the faults.
pub(super) fn faults(root: &Table, fleet: &Fleet, problems: &mut Vec<Problem>) -> Vec<Fault> {
    root.tables("fault").filter_map(|table| fault(table, fleet, problems)).collect()
}

fn fault(table: &Table, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<Fault> {
    let values = Values(Some(table));
    let name = only_one(table, &VERBS, &FAULT, "a fault", "as in `crash = { count = 1 }`", problems)?;
    let verb_table = table.table(name)?;
    let verb = verb(name, verb_table, fleet, problems)?;
    Some(Fault {
        at: values.length("at").unwrap_or_default(),
        within: values.length("within").unwrap_or(WITHIN),
        verb,
    })
}

/// The one key of `choices` that a table has. None is no problem of its own where a key is misspelt.
fn only_one(
    table: &Table,
    choices: &[&'static str],
    section: &'static Section,
    whose: &str,
    example: &str,
    problems: &mut Vec<Problem>,
) -> Option<&'static str> {
    let known: Vec<&'static str> =
        choices.iter().copied().filter(|name| section.key(name).is_some()).collect();
    let given: Vec<&'static str> = known.iter().copied().filter(|name| table.get(name).is_some()).collect();
    match given.as_slice() {
        [only] => return Some(only),
        [] => {
            if table.entries.iter().all(|entry| section.key(&entry.key).is_some()) {
                let title = format!("{whose} needs one of {}", one_of(known));
                problems.push(Problem::error(table.place.clone(), title).label("has none").hint(example));
            }
        }
        [first, second, ..] => {
            let place = |name: &str| table.entry(name).map(|entry| entry.key_place.clone());
            problems.push(
                Problem::error(place(second), format!("{whose} takes only one of {}", one_of(known)))
                    .label("one too many")
                    .related(place(first), "the other one"),
            );
        }
    }
    None
}

fn verb(name: &'static str, table: &Table, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<Verb> {
    let values = Values(Some(table));
    if name == "start" {
        return start(table, fleet, problems);
    }
    let targets = targets(name, table, fleet, problems);
    let length = values.length("for");
    if name == "pause" && !values.has("for") {
        problems.push(
            Problem::error(table.place.clone(), "a pause needs a length")
                .label("has no `for`")
                .hint("as in `pause = { count = 1, for = \"40s\" }`"),
        );
    }
    match (name, targets?) {
        ("crash", targets) => Some(Verb::Crash(targets)),
        ("stop", Targets::Instances(targets)) => {
            Some(Verb::Stop { targets, linger: SimDuration::ZERO, over: SimDuration::ZERO })
        }
        ("restart", targets) => restart(targets, values, problems),
        ("pause", targets) => Some(Verb::Pause { targets, length: Distribution::constant(length?) }),
        ("partition", Targets::Instances(targets)) => Some(Verb::Partition {
            targets,
            peer: Peer::Server,
            length,
            lost: direction(values.text("lost")),
        }),
        // The shape of `partition` has no `server`.
        _ => None,
    }
}

fn direction(word: Option<&str>) -> Direction {
    match word {
        Some("to-server") => Direction::ToServer,
        Some("from-server") => Direction::FromServer,
        _ => Direction::Both,
    }
}

fn restart(targets: Targets, values: Values<'_>, problems: &mut Vec<Problem>) -> Option<Verb> {
    if targets == Targets::Server {
        let of_instances =
            [("new-id", "a server has no instance id"), ("graceful", "a server tells nobody that it stops")];
        for (name, why) in of_instances {
            if let Some(node) = values.node(name) {
                problems.push(
                    Problem::error(node.place.clone(), format!("`{name}` is for instances"))
                        .label(why)
                        .hint("leave it out"),
                );
            }
        }
    }
    Some(Verb::Restart {
        targets,
        down_for: values.length("down-for").unwrap_or(DOWN_FOR),
        new_id: values.flag("new-id").unwrap_or(false),
        graceful: values.flag("graceful").unwrap_or(false),
    })
}

fn start(table: &Table, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<Verb> {
    let values = Values(Some(table));
    let Some(node) = values.node("application") else {
        problems.push(
            Problem::error(table.place.clone(), "`start` needs an application")
                .label("which one?")
                .hint("as in `start = { application = \"orders\", count = 1 }`"),
        );
        return None;
    };
    let application = known(node.as_text()?, node, fleet, problems)?;
    Some(Verb::Start { application, count: values.count("count").unwrap_or(1), over: SimDuration::ZERO })
}

fn known(name: &str, node: &Node, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<AppId> {
    fleet.resolve(name, &node.place).map_err(|problem| problems.push(*problem)).ok()
}

fn targets(name: &'static str, table: &Table, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<Targets> {
    let Some(Shape::Table(section)) = FAULT.key(name).map(|key| key.shape) else { return None };
    let example = format!("as in `{name} = {{ count = 1 }}`");
    let values = Values(Some(table));
    let target = only_one(table, &TARGETS, section, &format!("`{name}`"), &example, problems)?;
    let application = match values.node("application") {
        Some(node) => Some(known(node.as_text()?, node, fleet, problems)?),
        None => None,
    };
    if matches!(target, "all" | "server") && values.flag(target) == Some(false) {
        let place = values.node(target).map(|node| node.place.clone());
        problems.push(
            Problem::error(place, format!("`{target} = false` hits nobody"))
                .label("nobody")
                .hint("leave the fault out, or name other targets"),
        );
        return None;
    }
    if target == "server" {
        if let Some(node) = values.node("application") {
            problems.push(
                Problem::error(node.place.clone(), "the server belongs to no application")
                    .label("without effect")
                    .hint("leave it out"),
            );
        }
        return Some(Targets::Server);
    }
    let which = match target {
        "count" => Which::Count(count(values, application, fleet, problems)?),
        "share" => Which::Share(values.number("share")?),
        "instances" => Which::Named(named(values, application, fleet, problems)?),
        _ => Which::All,
    };
    Some(Targets::Instances(Selection { application, zone: None, which }))
}

fn count(
    values: Values<'_>,
    application: Option<AppId>,
    fleet: &Fleet,
    problems: &mut Vec<Problem>,
) -> Option<u32> {
    let count = values.count("count")?;
    let most = fleet.most(application);
    // That there is nobody at all is told where the instances are.
    if let Some(most) = most
        && (1..u64::from(count)).contains(&most)
    {
        let most_in_words = if most == 1 { "1 instance".into() } else { format!("{most} instances") };
        let whose = match application {
            Some(app) => format!("`{}` has", fleet.applications[app.index()].name),
            None => "the fleet has".into(),
        };
        let place = values.node("count").map(|node| node.place.clone());
        problems.push(
            Problem::error(place, format!("{whose} only {}", most_in_words))
                .label(format!("at most {most}"))
                .hint("to hit every one, write `all = true`"),
        );
    }
    Some(count)
}

fn named(
    values: Values<'_>,
    application: Option<AppId>,
    fleet: &Fleet,
    problems: &mut Vec<Problem>,
) -> Option<Vec<(AppId, u32)>> {
    let mut named = Vec::new();
    for (name, node) in values.names("instances") {
        match instance(name, node, application, fleet) {
            Ok(instance) if named.contains(&instance) => problems.push(
                Problem::error(node.place.clone(), format!("`{name}` is named twice")).label("again here"),
            ),
            Ok(instance) => named.push(instance),
            Err(problem) => problems.push(*problem),
        }
    }
    Some(named)
}

fn instance(
    name: &str,
    node: &Node,
    application: Option<AppId>,
    fleet: &Fleet,
) -> Result<(AppId, u32), Box<Problem>> {
    let problem = |title: String| Problem::error(node.place.clone(), title);
    let form = "instance `n` of `orders` is called `orders-n`, from 1";
    let parts = name.rsplit_once('-').and_then(|(app, ordinal)| Some((app, ordinal.parse::<u32>().ok()?)));
    let Some((app_name, ordinal)) = parts else {
        return Err(problem(format!("`{name}` is not the name of an instance")).hint(form).boxed());
    };
    let app =
        fleet.resolve(app_name, &node.place).map_err(|problem| problem.label("names no instance").boxed())?;
    if let Some(only) = application
        && only != app
    {
        let other = &fleet.applications[only.index()].name;
        return Err(problem(format!("`{name}` is not an instance of `{other}`"))
            .label(format!("an instance of `{app_name}`"))
            .boxed());
    }
    let most = fleet.most(Some(app));
    if ordinal == 0 || most.is_some_and(|most| u64::from(ordinal) > most) {
        let range = most.map_or(String::new(), |most| format!("`{app_name}-1` to `{app_name}-{most}`"));
        return Err(problem(format!("there is no instance `{name}`")).label(range).hint(form).boxed());
    }
    Ok((app, ordinal))
}
