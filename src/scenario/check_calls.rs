//! The calls that applications make to each other: the file's `[traffic]`, and each application's own over it.

use super::check_fleet::Fleet;
use super::check_registry::fetching;
use super::diagnostic::Problem;
use super::document::Table;
use super::format_world::TRAFFIC;
use super::setup::Setup;
use super::types::{Application, Traffic};
use super::values::Values;
use crate::engine::SimDuration;
use crate::model::eureka::client::BalancerConfig;
use crate::model::id::AppId;
use crate::model::registry::Kind;

/// The default of `read-timeout`.
const READ_TIMEOUT: SimDuration = SimDuration::from_secs(5);
/// Applications that one application may call. Events count them in a byte.
const CALLEES_MAX: usize = 255;

/// Gives each application the calls that it makes, and its balancer their rate where the file names none.
pub(super) fn traffic(root: &Table, fleet: &mut Fleet, problems: &mut Vec<Problem>) {
    let top = Values(Some(root));
    let base = top.section("traffic");
    if !fleet.is_whole() {
        return;
    }
    let named = names(base, fleet, problems);
    let mut callers = 0;
    let mut lacks_rate = false;
    for (place, table) in root.tables("application").enumerate() {
        let values = Values(Some(table));
        let own = values.section("traffic");
        let fetches = fleet.setup.client(AppId(place as u32)).fetches();
        if let (Some(section), false) = (own.0, fetches) {
            problems.push(cannot_call(section, &fleet.applications[place], fleet.setup.kind()));
        }
        if !fetches || base.0.is_none() && own.0.is_none() {
            continue;
        }
        callers += 1;
        let id = AppId(place as u32);
        let to = if own.has("to") { names(own, fleet, problems) } else { others(id, &named, base, fleet) };
        let first = |key: &'static str| if own.has(key) { own } else { base };
        let Some(rate) = first("calls-per-second").number("calls-per-second") else {
            // A rate of a wrong type or name has been reported before.
            if ![own, base].into_iter().any(is_reported) {
                lacks_rate |= own.0.is_none();
                problems.extend(own.0.map(no_rate));
            }
            continue;
        };
        problems.extend(too_many(to.len(), own.0.or(base.0)));
        let count = |key: &'static str| first(key).count(key).unwrap_or_default();
        let traffic = Traffic {
            calls_per_second: rate,
            to,
            retries_on_same_instance: count("retries-on-same-instance"),
            retries_on_next_instance: count("retries-on-next-instance"),
            read_timeout: first("read-timeout").length("read-timeout").unwrap_or(READ_TIMEOUT),
        };
        let given = [values, top].iter().any(|layer| layer.section("balancer").has("calls-per-second"));
        if let Setup::Eureka(settings) = &mut fleet.setup
            && let (BalancerConfig::SpringCloudLoadBalancer { call_rate, .. }, false) =
                (&mut settings.clients[place].balancer, given)
        {
            *call_rate = Some(rate);
        }
        fleet.applications[place].traffic = Some(traffic).filter(|traffic| !traffic.to.is_empty());
    }
    problems.extend(base.0.filter(|_| lacks_rate).map(no_rate));
    let kind = fleet.setup.kind();
    problems.extend(base.0.filter(|_| callers == 0).map(|table| nobody_calls(table, kind)));
}

/// The applications that `to` names.
fn names(values: Values<'_>, fleet: &Fleet, problems: &mut Vec<Problem>) -> Vec<AppId> {
    let mut named = Vec::new();
    for (name, node) in values.names("to") {
        match fleet.resolve(name, &node.place) {
            Ok(id) if named.contains(&id) => problems.push(
                Problem::error(node.place.clone(), format!("`{name}` is named twice")).label("again here"),
            ),
            Ok(id) => named.push(id),
            Err(problem) => problems.push(*problem),
        }
    }
    named
}

/// Whom an application calls that does not say: those that the file names, or all, but for itself unless it is
/// alone.
fn others(id: AppId, named: &[AppId], base: Values<'_>, fleet: &Fleet) -> Vec<AppId> {
    if fleet.applications.len() == 1 {
        return vec![id];
    }
    let all: Vec<AppId> = (0..fleet.applications.len()).map(|at| AppId(at as u32)).collect();
    let from = if base.has("to") { named } else { &all };
    from.iter().copied().filter(|other| *other != id).collect()
}

/// Whether a section has a rate that is none, or a key that may have been meant to be one.
fn is_reported(values: Values<'_>) -> bool {
    let known = |key: &str| TRAFFIC.key(key).is_some();
    values.has("calls-per-second")
        || values.0.is_some_and(|table| table.entries.iter().any(|it| !known(&it.key)))
}

fn cannot_call(table: &Table, app: &Application, kind: Kind) -> Problem {
    let (name, fetching) = (&app.name, fetching(kind));
    Problem::error(table.place.clone(), format!("`{name}` cannot call others without fetching the registry"))
        .label("callers pick instances from their registry")
        .hint(format!("leave its `traffic` out, or set `{fetching}`"))
}

fn no_rate(table: &Table) -> Problem {
    Problem::error(table.place.clone(), "`traffic` needs `calls-per-second`")
        .label("how many?")
        .hint("as in `calls-per-second = 2.0`")
}

fn nobody_calls(table: &Table, kind: Kind) -> Problem {
    Problem::error(table.place.clone(), "no application fetches the registry: nobody can call")
        .label("without effect")
        .hint(format!("set `{}` for those that call", fetching(kind)))
}

fn too_many(callees: usize, table: Option<&Table>) -> Option<Problem> {
    (callees > CALLEES_MAX).then(|| {
        Problem::error(table.map(|table| table.place.clone()), format!("{callees} applications are called"))
            .label(format!("at most {CALLEES_MAX} by one application"))
            .hint("name those that are called with `to`")
    })
}
