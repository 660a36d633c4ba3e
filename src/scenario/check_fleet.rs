//! The applications: names that are unique, zones, sizes that add up, observers that can observe.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::check;
use super::check_registry::{Reading, fetching};
use super::check_servers::{self, Servers};
use super::diagnostic::{Place, Problem};
use super::document::{Node, Table};
use super::format::INSTANCES_MAX;
use super::setup::Setup;
use super::suggest::{did_you_mean, one_of};
use super::types::{Application, Network, ServerList, ZoneId};
use super::values::Values;
use crate::model::id::AppId;

/// Letters of a name at most.
const NAME_MAX: usize = 64;
/// What a name is made of.
const NAME: &str = "1 to 64 of the letters a to z, digits, `.`, `_` and `-`";
/// Zones of a scenario at most.
const ZONES_MAX: usize = 1_000;

/// The applications, and what a fault needs to know of them.
pub(super) struct Fleet {
    pub(super) applications: Vec<Application>,
    /// The registry's settings, and those of the applications' clients.
    pub(super) setup: Setup,
    /// Zones in the order in which servers and applications first name them.
    pub(super) zones: Vec<String>,
    pub(super) servers: Servers,
    ids: BTreeMap<String, AppId>,
    /// What faults make of it.
    growth: Growth,
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

    /// The zone of a name that instances are in, or a problem that lists those there are.
    pub(super) fn resolve_zone(&self, name: &str, node: &Node) -> Result<ZoneId, Box<Problem>> {
        let zone = resolve_zone(&self.zones, name, node)?;
        if self.whole && !self.applications.iter().any(|app| app.zones.contains(&zone)) {
            return Err(Problem::error(node.place.clone(), format!("no instance is in zone `{name}`"))
                .label("only servers are")
                .hint("give applications zones, as in `zones = [\"a\", \"b\"]`")
                .boxed());
        }
        Ok(zone)
    }

    /// Instances of an application, or of all, in a zone or anywhere, that can be up at the same time; `None` if
    /// that cannot be told.
    pub(super) fn most(&self, application: Option<AppId>, zone: Option<ZoneId>) -> Option<u64> {
        let of = |at: usize| self.applications[at].in_zone(self.growth.at_once[at], zone);
        self.whole.then(|| match application {
            Some(app) => of(app.index()),
            None => (0..self.applications.len()).map(of).sum(),
        })
    }

    /// The greatest ordinal of an application's instances in the whole run; `None` if that cannot be told.
    pub(super) fn last_ordinal(&self, application: AppId) -> Option<u64> {
        self.whole.then(|| self.growth.ever[application.index()])
    }

    /// Resolves which servers the application at a place knows: zones may be named after it.
    fn know_servers(&mut self, at: usize, values: Values<'_>, problems: &mut Vec<Problem>) {
        let list = check_servers::server_list(values, &self.servers, &self.zones, problems);
        let ever = self.last_ordinal(AppId(at as u32));
        let app = &mut self.applications[at];
        app.server_list = list;
        app.first_address = check_servers::first_address(values, at, ever, problems);
    }

    /// Whether every application could be read.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Instances that start with the server; `None` if that cannot be told.
    pub(super) fn size_at_start(&self) -> Option<u32> {
        let sum: u64 = self.applications.iter().map(|app| u64::from(app.instances)).sum();
        u32::try_from(sum).ok().filter(|_| self.whole)
    }
}

/// The zone of a name, or a problem that lists those there are.
pub(super) fn resolve_zone(zones: &[String], name: &str, node: &Node) -> Result<ZoneId, Box<Problem>> {
    let at = zones.iter().position(|zone| zone == name);
    at.and_then(|at| u16::try_from(at).ok()).map(ZoneId).ok_or_else(|| {
        let names = || zones.iter().map(String::as_str);
        let known = || match zones {
            [] => "give applications zones, as in `zones = [\"a\", \"b\"]`".to_owned(),
            _ => format!("there are {}", one_of(names().take(20))),
        };
        Problem::error(node.place.clone(), format!("no zone is called `{name}`"))
            .label("nobody is in it")
            .hint(did_you_mean(name, names()).unwrap_or_else(known))
            .boxed()
    })
}

/// Reads the fleet and the servers that it knows. `reading` and `network` are what applications start from.
pub(super) fn fleet(
    root: &Table,
    mut reading: Reading<'_>,
    network: Network,
    problems: &mut Vec<Problem>,
) -> Fleet {
    let before = problems.len();
    let mut zones = Vec::new();
    let section = Values(Some(root)).section("server");
    let servers = check_servers::servers(section, network, &mut zones, problems);
    let servers_problems = problems.len() - before;
    let mut whole = root.get("application").is_none_or(|node| node.as_list().is_some());
    let (mut applications, mut ids) = (Vec::new(), BTreeMap::new());
    let (mut places, mut tables) = (BTreeMap::new(), Vec::new());
    for table in root.tables("application") {
        let values = Values(Some(table));
        let Some(name) = name(table, &mut places, problems) else {
            whole = false;
            continue;
        };
        whole &= !values.has("instances") || values.count("instances").is_some();
        let id = AppId(u32::try_from(applications.len()).unwrap_or(u32::MAX));
        ids.insert(name.clone(), id);
        let mut app = application(name, values, &mut reading, network, problems);
        app.zones = self::zones(values, &mut zones, problems);
        applications.push(app);
        tables.push(table);
    }
    let growth = Growth::of(root, &applications, &ids);
    let mut fleet = Fleet { applications, setup: reading.done(), zones, servers, ids, growth, whole };
    for (at, table) in tables.into_iter().enumerate() {
        fleet.know_servers(at, Values(Some(table)), problems);
    }
    if fleet.applications.is_empty() && problems.len() == before + servers_problems && fleet.whole {
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
    if !is_name(name) {
        problems.push(problem(format!("`{name}` is not a name for an application")).label(NAME));
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

fn is_name(name: &str) -> bool {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(allowed)
}

fn application(
    name: String,
    values: Values<'_>,
    reading: &mut Reading<'_>,
    network: Network,
    problems: &mut Vec<Problem>,
) -> Application {
    let (fetches, balancer_first_call) = reading.client(values, problems);
    let wanted = values.flag("observers");
    if let (Some(true), false, Some(node)) = (wanted, fetches, values.node("observers")) {
        let own = values.section("eureka").section("client").node("fetch-registry");
        let own = own.or_else(|| values.node("fetch"));
        problems.push(
            Problem::error(node.place.clone(), format!("`{name}` cannot observe without fetching"))
                .label("observers fetch the registry")
                .related(own.map(|node| node.place.clone()), "but this application does not")
                .hint(format!("leave `observers` out, or set `{}`", fetching(reading.kind()))),
        );
    }
    Application {
        name,
        instances: values.count("instances").unwrap_or(1),
        observers: wanted.unwrap_or(fetches) && fetches,
        balancer_first_call,
        zones: Vec::new(),
        server_list: ServerList::OwnZoneFirst,
        first_address: Ipv4Addr::UNSPECIFIED,
        network: values.section("network").0.map(|own| check::network(Values(Some(own)), network)),
        traffic: None,
        clock: check::clock(values.section("clock")),
    }
}

/// The zones of an application or of the servers. A zone that is named twice gets twice as many.
pub(super) fn zones(values: Values<'_>, known: &mut Vec<String>, problems: &mut Vec<Problem>) -> Vec<ZoneId> {
    let mut zones = Vec::new();
    for (name, node) in values.names("zones") {
        if !is_name(name) {
            problems.push(
                Problem::error(node.place.clone(), format!("`{name}` is not a name for a zone")).label(NAME),
            );
            continue;
        }
        let at = known.iter().position(|zone| zone == name).unwrap_or_else(|| {
            known.push(name.to_owned());
            known.len() - 1
        });
        match u16::try_from(at).ok().filter(|_| at < ZONES_MAX) {
            Some(at) => zones.push(ZoneId(at)),
            None => {
                let problem = Problem::error(node.place.clone(), "too many zones");
                problems.push(problem.label(format!("at most {ZONES_MAX} in all")));
                break;
            }
        }
    }
    zones
}

/// What faults make of the fleet's size, by application.
#[derive(Default)]
struct Growth {
    /// Instances that may run at once.
    at_once: Vec<u64>,
    /// Instances that there may be in the whole run, each with an ordinal of its own.
    ever: Vec<u64>,
    /// Instances of all applications that may run at once.
    peak: u64,
}

impl Growth {
    /// Goes through the faults in the order in which they may first come.
    fn of(root: &Table, applications: &[Application], ids: &BTreeMap<String, AppId>) -> Self {
        let mut now: Vec<u64> = applications.iter().map(|app| u64::from(app.instances)).collect();
        let mut growth = Self { at_once: now.clone(), ever: now.clone(), peak: now.iter().sum() };
        let mut faults: Vec<Values<'_>> = root.tables("fault").map(|table| Values(Some(table))).collect();
        faults.sort_by_key(|fault| fault.length("at").unwrap_or_default());
        for fault in faults {
            let app = |verb: &str, key: &str| {
                let name = fault.section(verb).text(key)?;
                ids.get(name).map(|id| id.index())
            };
            if let Some(at) = app("start", "application") {
                growth.add(&mut now, at, u64::from(fault.section("start").count("count").unwrap_or(1)));
            }
            if let (Some(from), Some(to)) = (app("blue-green", "from"), app("blue-green", "to"))
                && from != to
            {
                let count = now[from];
                growth.add(&mut now, to, count);
                now[from] = 0;
            }
            if let Some(at) = app("roll-out", "application") {
                growth.replace(&now, at, fault.section("roll-out"));
            }
        }
        growth
    }

    /// A roll-out: with new ids whoever comes has a new ordinal, and with `start-first` a batch runs twice.
    fn replace(&mut self, now: &[u64], at: usize, roll_out: Values<'_>) {
        let start_first = roll_out.text("order") == Some("start-first");
        if start_first || roll_out.flag("new-id") != Some(false) {
            self.ever[at] = self.ever[at].saturating_add(now[at]);
        }
        if start_first {
            let extra = batch(roll_out, now[at]);
            self.at_once[at] = self.at_once[at].max(now[at].saturating_add(extra));
            self.peak = self.peak.max(now.iter().sum::<u64>().saturating_add(extra));
        }
    }

    fn add(&mut self, now: &mut [u64], at: usize, count: u64) {
        now[at] = now[at].saturating_add(count);
        self.ever[at] = self.ever[at].saturating_add(count);
        self.at_once[at] = self.at_once[at].max(now[at]);
        self.peak = self.peak.max(now.iter().fold(0, |sum, app| sum.saturating_add(*app)));
    }
}

/// How many a roll-out of so many replaces at a time.
fn batch(roll_out: Values<'_>, of: u64) -> u64 {
    match (roll_out.count("batch"), roll_out.number("batch-share")) {
        (Some(count), _) => u64::from(count).min(of),
        (None, Some(share)) => (share * of as f64).round().max(1.0) as u64,
        (None, None) => 0,
    }
}

fn check_sizes(root: &Table, fleet: &Fleet, problems: &mut Vec<Problem>) {
    if !fleet.whole {
        return;
    }
    let tables: Vec<&Table> = root.tables("application").collect();
    for ((app, ever), table) in fleet.applications.iter().zip(&fleet.growth.ever).zip(tables) {
        if *ever == 0 {
            let place = table.get("instances").map(|node| node.place.clone());
            problems.push(
                Problem::error(place, format!("`{}` has no instances and no fault starts any", app.name))
                    .label("an application without instances")
                    .hint("give it at least 1, or add a fault `start = { application = … }`"),
            );
        }
    }
    let total = fleet.growth.peak;
    if total > INSTANCES_MAX {
        let place = root.entry("application").map(|entry| entry.key_place.clone());
        problems.push(
            Problem::error(place, format!("the fleet has {total} instances"))
                .label(format!("at most {INSTANCES_MAX} may run at once, those that faults start included")),
        );
    }
}
