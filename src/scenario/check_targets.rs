//! Whom a fault hits: applications, zones and instances that exist, and no more of them than there can be.

use super::check_fault::only_one;
use super::check_fleet::Fleet;
use super::diagnostic::Problem;
use super::document::{Node, Table};
use super::format_fault::TARGETS;
use super::format_verb::VerbForm;
use super::targets::{Peer, Selection, Targets, Which, WhichServers};
use super::types::ZoneId;
use super::values::Values;
use crate::model::id::AppId;

/// The targets that a verb names.
pub(super) fn targets(
    form: &VerbForm,
    table: &Table,
    fleet: &Fleet,
    problems: &mut Vec<Problem>,
) -> Option<Targets> {
    let values = Values(Some(table));
    let whose = format!("`{}`", form.key.name);
    let target = only_one(table, &TARGETS, form.section(), (&whose, None, form.example), problems)?;
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
        for (filter, what) in [("application", "application"), ("zone", "zone")] {
            problems.extend(values.node(filter).map(|node| {
                Problem::error(node.place.clone(), format!("the server belongs to no {what}"))
                    .label("without effect")
                    .hint("leave it out")
            }));
        }
        return Some(Targets::Servers(WhichServers::All));
    }
    let scope = scope(values, fleet, problems)?;
    let which = match target {
        "count" => Which::Count(count(values, scope, fleet, problems)?),
        "share" => Which::Share(values.number("share")?),
        "instances" => Which::Named(named(values, scope, fleet, problems)),
        _ => Which::All,
    };
    Some(Targets::Instances(Selection { application: scope.application, zone: scope.zone, which }))
}

/// The other end of a link; the server if it is not named.
pub(super) fn peer(values: Values<'_>, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<Peer> {
    let Some(node) = values.node("peer") else { return Some(Peer::Servers) };
    match node.as_text() {
        Some("all") => return Some(Peer::All),
        Some(_) => return Some(Peer::Servers),
        None => {}
    }
    let Scope { application, zone } = scope(Values(node.as_table()), fleet, problems)?;
    Some(Peer::Instances { application, zone })
}

/// The application of a verb that takes one.
pub(super) fn application(
    values: Values<'_>,
    key: &str,
    fleet: &Fleet,
    problems: &mut Vec<Problem>,
) -> Option<AppId> {
    let node = values.node(key)?;
    fleet.resolve(node.as_text()?, &node.place).map_err(|problem| problems.push(*problem)).ok()
}

/// Out of whom targets are taken.
#[derive(Clone, Copy)]
struct Scope {
    application: Option<AppId>,
    zone: Option<ZoneId>,
}

impl Scope {
    /// `the fleet has only 3 instances in zone `a``.
    fn has_only(self, most: u64, fleet: &Fleet) -> String {
        let whose = match self.application {
            Some(app) => format!("`{}`", fleet.applications[app.index()].name),
            None => "the fleet".into(),
        };
        let instances = if most == 1 { "1 instance".into() } else { format!("{most} instances") };
        let zone = self.zone.map(|zone| format!(" in zone `{}`", fleet.zones[usize::from(zone.0)]));
        format!("{whose} has only {instances}{}", zone.unwrap_or_default())
    }
}

/// The filters of a table. `None` if one names nobody.
fn scope(values: Values<'_>, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<Scope> {
    let application = match values.node("application") {
        Some(_) => Some(application(values, "application", fleet, problems)?),
        None => None,
    };
    let zone = match values.node("zone") {
        Some(node) => {
            let known = fleet.resolve_zone(node.as_text()?, &node.place);
            Some(known.map_err(|problem| problems.push(*problem)).ok()?)
        }
        None => None,
    };
    if let (Some(app), Some(zone), Some(node)) = (application, zone, values.node("zone"))
        && !fleet.applications[app.index()].zones.contains(&zone)
    {
        let name = &fleet.applications[app.index()].name;
        problems.push(
            Problem::error(node.place.clone(), format!("no instance of `{name}` is in this zone"))
                .label("not among its `zones`"),
        );
        return None;
    }
    Some(Scope { application, zone })
}

fn count(values: Values<'_>, scope: Scope, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<u32> {
    let count = values.count("count")?;
    let most = fleet.most(scope.application, scope.zone);
    // That there is nobody at all is told where the instances are.
    if let Some(most) = most
        && (1..u64::from(count)).contains(&most)
    {
        let place = values.node("count").map(|node| node.place.clone());
        problems.push(
            Problem::error(place, scope.has_only(most, fleet))
                .label(format!("at most {most}"))
                .hint("to hit every one, write `all = true`"),
        );
    }
    Some(count)
}

fn named(values: Values<'_>, scope: Scope, fleet: &Fleet, problems: &mut Vec<Problem>) -> Vec<(AppId, u32)> {
    let mut named = Vec::new();
    for (name, node) in values.names("instances") {
        match instance(name, node, scope, fleet) {
            Ok(instance) if named.contains(&instance) => problems.push(
                Problem::error(node.place.clone(), format!("`{name}` is named twice")).label("again here"),
            ),
            Ok(instance) => named.push(instance),
            Err(problem) => problems.push(*problem),
        }
    }
    named
}

fn instance(name: &str, node: &Node, scope: Scope, fleet: &Fleet) -> Result<(AppId, u32), Box<Problem>> {
    let problem = |title: String| Problem::error(node.place.clone(), title);
    let form = "instance `n` of `orders` is called `orders-n`, from 1";
    let parts = name.rsplit_once('-').and_then(|(app, ordinal)| Some((app, ordinal.parse::<u32>().ok()?)));
    let Some((app_name, ordinal)) = parts else {
        return Err(problem(format!("`{name}` is not the name of an instance")).hint(form).boxed());
    };
    let app =
        fleet.resolve(app_name, &node.place).map_err(|problem| problem.label("names no instance").boxed())?;
    if let Some(only) = scope.application
        && only != app
    {
        let other = &fleet.applications[only.index()].name;
        return Err(problem(format!("`{name}` is not an instance of `{other}`"))
            .label(format!("an instance of `{app_name}`"))
            .boxed());
    }
    let last = fleet.last_ordinal(app);
    if ordinal == 0 || last.is_some_and(|last| u64::from(ordinal) > last) {
        let range = last.map_or(String::new(), |last| format!("`{app_name}-1` to `{app_name}-{last}`"));
        return Err(problem(format!("there is no instance `{name}`")).label(range).hint(form).boxed());
    }
    if let Some(zone) = scope.zone
        && fleet.applications[app.index()].zone_of(ordinal) != Some(zone)
    {
        let zone = &fleet.zones[usize::from(zone.0)];
        let why = "an application's zones are taken in turn";
        return Err(problem(format!("`{name}` is not in zone `{zone}`")).hint(why).boxed());
    }
    Ok((app, ordinal))
}
