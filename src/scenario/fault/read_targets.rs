//! Whom a fault hits: applications, zones and instances that exist, and no more of them than there can be.

use crate::model::id::{AppId, ServerId};
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::{Node, Table};
use crate::scenario::fault::format::TARGETS;
use crate::scenario::fault::read::only_one;
use crate::scenario::fault::verbs::VerbForm;
use crate::scenario::format::values::Values;
use crate::scenario::sections::fleet::Fleet;
use crate::scenario::types::ZoneId;
use crate::scenario::types::targets::{Peer, Selection, ServerChoice, TargetChoice, Targets};

/// The targets that a verb names.
pub(crate) fn targets(
    form: &VerbForm,
    table: &Table,
    fleet: &Fleet,
    problems: &mut Vec<Problem>,
) -> Option<Targets> {
    let values = Values(Some(table));
    let whose = format!("`{}`", form.key.name);
    let target = only_one(table, &TARGETS, form.section, (&whose, None, form.section.example), problems)?;
    if matches!(target, "all" | "server") && values.flag(target) == Some(false) {
        let place = values.node(target).map(|node| node.place.clone());
        problems.push(
            Problem::error(place, format!("`{target} = false` hits nobody"))
                .label("nobody")
                .hint("leave the fault out, or name other targets"),
        );
        return None;
    }
    if matches!(target, "server" | "servers") {
        return servers(values, target, fleet, problems).map(Targets::Servers);
    }
    let scope = scope(values, fleet, problems)?;
    let which = match target {
        "count" => TargetChoice::Count(count(values, scope, fleet, problems)?),
        "share" => TargetChoice::Share(values.number("share")?),
        "instances" => TargetChoice::Named(named(values, scope, fleet, problems)),
        _ => TargetChoice::All,
    };
    Some(Targets::Instances(Selection { application: scope.application, zone: scope.zone, which }))
}

/// The servers that `server` or `servers` names.
fn servers(
    values: Values<'_>,
    target: &str,
    fleet: &Fleet,
    problems: &mut Vec<Problem>,
) -> Option<ServerChoice> {
    for (filter, hint) in [
        ("application", "leave it out"),
        ("zone", "leave it out; to hit those of one zone name them, as in `servers = [\"server-1\"]`"),
    ] {
        problems.extend(values.node(filter).map(|node| {
            Problem::error(
                node.place.clone(),
                format!("`{filter}` chooses among instances, not among servers"),
            )
            .label("without effect")
            .hint(hint)
        }));
    }
    let Some(node) = values.node(target).filter(|_| target == "servers") else {
        return Some(ServerChoice::All);
    };
    if let Some(count) = values.count(target) {
        if let Some(there) = fleet.servers.count()
            && count as usize > there
        {
            let servers = if there == 1 { "1 server".into() } else { format!("{there} servers") };
            problems.push(
                Problem::error(node.place.clone(), format!("there {} only {servers}", are(there)))
                    .label(format!("at most {there}"))
                    .hint("to hit every one, write `servers = \"all\"`"),
            );
        }
        return (count > 0).then_some(ServerChoice::Count(count));
    }
    if node.as_list().is_none() {
        return (node.as_text() == Some("all")).then_some(ServerChoice::All);
    }
    let named = fleet.servers.named(values, target, problems);
    (!named.is_empty()).then_some(ServerChoice::Named(named))
}

const fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// The other end of a link; the servers if it is not named.
pub(crate) fn peer(values: Values<'_>, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<Peer> {
    let Some(node) = values.node("peer") else { return Some(Peer::Servers) };
    match node.as_text() {
        Some("all") => return Some(Peer::All),
        Some("instances") => return Some(Peer::Instances { application: None, zone: None }),
        Some(_) => return Some(Peer::Servers),
        None => {}
    }
    let table = Values(node.as_table());
    if table.has("servers") {
        let named = fleet.servers.named(table, "servers", problems);
        return (!named.is_empty()).then_some(Peer::Named(named));
    }
    let Scope { application, zone } = scope(table, fleet, problems)?;
    Some(Peer::Instances { application, zone })
}

/// A link between servers must have two ends: `targets` are not to be all that `peer` names.
pub(crate) fn has_two_ends(
    targets: &Targets,
    peer: &Peer,
    table: &Table,
    fleet: &Fleet,
    problems: &mut Vec<Problem>,
) {
    let (Targets::Servers(hit), Some(count)) = (targets, fleet.servers.count()) else { return };
    let is_hit = |server: ServerId| match hit {
        ServerChoice::All => true,
        ServerChoice::Named(named) => named.contains(&server),
        // More than there are is told elsewhere.
        ServerChoice::Count(hit) => *hit as usize == count,
    };
    let all_hit = match peer {
        Peer::Servers => fleet.servers.all().all(is_hit),
        Peer::Named(named) => named.iter().all(|server| is_hit(*server)),
        Peer::All | Peer::Instances { .. } => false,
    };
    if !all_hit {
        return;
    }
    let place = table.get("peer").map_or_else(|| table.place.clone(), |node| node.place.clone());
    let title = if count == 1 {
        "there is no other server that `server-1` could be cut off from"
    } else {
        "nobody is at the other end: every server of `peer` is among the targets"
    };
    problems.push(Problem::error(place, title).label("without effect").hint(
        "targets keep their links to each other; to cut them off from their clients set `peer = \"instances\"`, from \
         everyone `peer = \"all\"`",
    ));
}

/// The application of a verb that takes one.
pub(crate) fn application(
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
            let known = fleet.resolve_zone(node.as_text()?, node);
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
