//! The applications: names that are unique, sizes that add up, observers that can observe.

use std::collections::BTreeMap;

use super::check_eureka::Layer;
use super::check_release::Rules;
use super::diagnostic::{Place, Problem};
use super::document::Table;
use super::format::INSTANCES_MAX;
use super::suggest::{did_you_mean, one_of};
use super::types::{Application, Clock};
use super::values::Values;
use crate::model::id::AppId;

/// Letters of a name at most.
const NAME_MAX: usize = 64;

/// The applications, and what a fault needs to know of them.
pub(super) struct Fleet {
    pub(super) applications: Vec<Application>,
    ids: BTreeMap<String, AppId>,
    /// Instances that `start` faults add, by application.
    started: Vec<u64>,
    /// Whether every application could be read; if not, sizes and names prove nothing.
    whole: bool,
}

impl Fleet {
    /// The application of a name, or a problem that lists those there are.
    pub(super) fn resolve(&self, name: &str, place: &Place) -> Result<AppId, Box<Problem>> {
        self.ids.get(name).copied().ok_or_else(|| {
            let names = || self.applications.iter().map(|app| app.name.as_str());
            let known = || format!("there are {}", one_of(names().take(20)));
            Problem::error(place.clone(), format!("no application is called `{name}`"))
                .label("not in the fleet")
                .hint(did_you_mean(name, names()).unwrap_or_else(known))
                .boxed()
        })
    }

    /// Instances of an application, or of all, that can be up at some time; `None` if that cannot be told.
    pub(super) fn most(&self, application: Option<AppId>) -> Option<u64> {
        let of = |at: usize| u64::from(self.applications[at].instances) + self.started[at];
        self.whole.then(|| match application {
            Some(app) => of(app.index()),
            None => (0..self.applications.len()).map(of).sum(),
        })
    }

    /// Instances that start with the server; `None` if that cannot be told.
    pub(super) fn size_at_start(&self) -> Option<u32> {
        let sum: u64 = self.applications.iter().map(|app| u64::from(app.instances)).sum();
        u32::try_from(sum).ok().filter(|_| self.whole)
    }
}

/// Reads the fleet.
pub(super) fn fleet(root: &Table, base: &Layer, rules: &Rules, problems: &mut Vec<Problem>) -> Fleet {
    let before = problems.len();
    let mut fleet = Fleet {
        applications: Vec::new(),
        ids: BTreeMap::new(),
        started: Vec::new(),
        whole: root.get("application").is_none_or(|node| node.as_list().is_some()),
    };
    let mut places = BTreeMap::new();
    for table in root.tables("application") {
        let values = Values(Some(table));
        let Some(name) = name(table, &mut places, problems) else {
            fleet.whole = false;
            continue;
        };
        fleet.whole &= !values.has("instances") || values.count("instances").is_some();
        let id = AppId(u32::try_from(fleet.applications.len()).unwrap_or(u32::MAX));
        fleet.ids.insert(name.clone(), id);
        fleet.applications.push(application(name, values, base, rules, problems));
    }
    fleet.started = starts(root, &fleet);
    if fleet.applications.is_empty() && problems.len() == before && fleet.whole {
        problems.push(empty(root));
    }
    check_sizes(root, &fleet, problems);
    fleet
}

fn empty(root: &Table) -> Problem {
    let place = root.entry("application").map(|entry| entry.key_place.clone());
    Problem::error(place, "an empty fleet: the scenario names no application")
        .hint("add one:\n  [[application]]\n  name = \"orders\"\n  instances = 10")
}

/// The name of an application, if it has one that can be used.
fn name(table: &Table, places: &mut BTreeMap<String, Place>, problems: &mut Vec<Problem>) -> Option<String> {
    let Some(node) = table.get("name") else {
        problems.push(
            Problem::error(table.place.clone(), "an application needs a name")
                .hint("as in `name = \"orders\"`"),
        );
        return None;
    };
    let name = node.as_text()?;
    let problem = |title: String| Problem::error(node.place.clone(), title);
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(allowed) {
        problems.push(
            problem(format!("`{name}` is not a name for an application"))
                .label(format!("1 to {NAME_MAX} of the letters a to z, digits, `.`, `_` and `-`")),
        );
        return None;
    }
    // Eureka keys applications in upper case (`eureka-server.md` section 2).
    let key = name.to_ascii_uppercase();
    if let Some(first) = places.get(&key) {
        problems.push(
            problem(format!("two applications are called `{name}`"))
                .label("again here")
                .related(Some(first.clone()), "first here")
                .hint("Eureka takes names in upper case: they must differ in more than case"),
        );
        return None;
    }
    places.insert(key, node.place.clone());
    Some(name.to_owned())
}

fn application(
    name: String,
    values: Values<'_>,
    base: &Layer,
    rules: &Rules,
    problems: &mut Vec<Problem>,
) -> Application {
    let layer = base.overlay(values, rules, problems);
    let fetches = layer.config.fetch_registry;
    let wanted = values.flag("observers");
    if let (Some(true), false, Some(node)) = (wanted, fetches, values.node("observers")) {
        let own = values.section("eureka").section("client").node("fetch-registry");
        problems.push(
            Problem::error(node.place.clone(), format!("`{name}` cannot observe without fetching"))
                .label("observers fetch the registry")
                .related(own.map(|node| node.place.clone()), "but this application does not")
                .hint("leave `observers` out, or set `fetch-registry = true`"),
        );
    }
    Application {
        name,
        instances: values.count("instances").unwrap_or(1),
        observers: wanted.unwrap_or(fetches) && fetches,
        balancer_first_call: layer.first_call,
        client: layer.config,
        zones: Vec::new(),
        network: None,
        traffic: None,
        clock: Clock::default(),
    }
}

/// Instances that `start` faults add, by application.
fn starts(root: &Table, fleet: &Fleet) -> Vec<u64> {
    let mut started = vec![0_u64; fleet.applications.len()];
    for fault in root.tables("fault") {
        let verb = Values(Some(fault)).section("start");
        if let Some(id) = verb.text("application").and_then(|name| fleet.ids.get(name)) {
            let count = u64::from(verb.count("count").unwrap_or(1));
            started[id.index()] = started[id.index()].saturating_add(count);
        }
    }
    started
}

fn check_sizes(root: &Table, fleet: &Fleet, problems: &mut Vec<Problem>) {
    if !fleet.whole {
        return;
    }
    let tables: Vec<&Table> = root.tables("application").collect();
    for ((app, started), table) in fleet.applications.iter().zip(&fleet.started).zip(tables) {
        if app.instances == 0 && *started == 0 {
            let place = table.get("instances").map(|node| node.place.clone());
            problems.push(
                Problem::error(place, format!("`{}` has no instances and no fault starts any", app.name))
                    .label("an application without instances")
                    .hint("give it at least 1, or add a fault `start = { application = … }`"),
            );
        }
    }
    let total = fleet.most(None).unwrap_or_default();
    if total > INSTANCES_MAX {
        let place = root.entry("application").map(|entry| entry.key_place.clone());
        problems.push(
            Problem::error(place, format!("the fleet has {total} instances"))
                .label(format!("at most {INSTANCES_MAX} in all, those that faults start included")),
        );
    }
}
