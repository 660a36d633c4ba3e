//! The servers: how many there are, whom each tells what it is told, when each starts and how much it can do. And
//! which of them an application knows.

use crate::scenario::types::{all_of, server_name};
use std::net::Ipv4Addr;

use crate::engine::{Distribution, SimDuration};
use crate::model::id::ServerId;
use crate::scenario::diagnostics::suggest::{did_you_mean, one_of};
use crate::scenario::diagnostics::{Place, Problem};
use crate::scenario::document::{Node, Table};
use crate::scenario::format::values::Values;
use crate::scenario::sections::fleet;
use crate::scenario::sections::server::SERVICE_KEYS;
use crate::scenario::types::{Capacity, Network, SERVERS_MAX, ServerList, ServerNode};

/// The default of `start-window` with more than one server: the phases of their minutes matter.
const START_WINDOW: SimDuration = SimDuration::from_secs(60);
/// The address of the first application's first instance; the next application's is `SPREAD` higher.
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
const SPREAD: u32 = 1 << 16;

/// The servers as `[server]` has them.
pub(crate) struct Servers {
    pub(crate) nodes: Vec<ServerNode>,
    pub(crate) start_window: SimDuration,
    pub(crate) network: Option<Network>,
    pub(crate) capacity: Option<Capacity>,
    /// Whether their number could be read; if not, there seem to be [`SERVERS_MAX`], and names prove nothing.
    whole: bool,
}

impl Servers {
    /// How many there are; `None` if that cannot be told.
    pub(crate) fn count(&self) -> Option<usize> {
        self.whole.then_some(self.nodes.len())
    }

    /// Every one.
    pub(crate) fn all(&self) -> impl Iterator<Item = ServerId> + Clone + use<> {
        all_of(self.nodes.len())
    }

    /// The server of a name, or a problem that says which there are.
    pub(crate) fn resolve(&self, name: &str, place: &Place) -> Result<ServerId, Box<Problem>> {
        self.all().find(|id| server_name(*id) == name).ok_or_else(|| {
            let count = self.nodes.len();
            let label = match count {
                1 => "there is only `server-1`".to_owned(),
                _ => format!("there are `server-1` to `server-{count}`"),
            };
            let ordinal = name.strip_prefix("server-").and_then(|digits| digits.parse::<usize>().ok());
            let hint = match ordinal {
                Some(more) if (count + 1..=SERVERS_MAX).contains(&more) => {
                    Some(format!("to have so many, set `count = {more}` in `[server]`"))
                }
                Some(_) => Some("they are counted from 1".to_owned()),
                None => {
                    let names: Vec<String> = self.all().take(20).map(server_name).collect();
                    did_you_mean(name, names.iter().map(String::as_str))
                }
            };
            Problem::error(place.clone(), format!("no server is called `{name}`"))
                .label(label)
                .maybe_hint(hint)
                .boxed()
        })
    }

    /// The servers that a list names, each once.
    pub(crate) fn named(&self, values: Values<'_>, key: &str, problems: &mut Vec<Problem>) -> Vec<ServerId> {
        self.list(values.names(key), problems)
    }

    fn list(&self, names: Vec<(&str, &Node)>, problems: &mut Vec<Problem>) -> Vec<ServerId> {
        let mut named = Vec::new();
        for (name, node) in names {
            match self.resolve(name, &node.place) {
                Ok(id) if named.contains(&id) => problems.push(
                    Problem::error(node.place.clone(), format!("`{name}` is named twice"))
                        .label("again here"),
                ),
                Ok(id) => named.push(id),
                Err(problem) => problems.push(*problem),
            }
        }
        named
    }
}

/// Reads the servers. Their zones are the first of `zones`.
pub(crate) fn servers(
    section: Values<'_>,
    network: Network,
    zones: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) -> Servers {
    let count = section.count("count").map(|count| count as usize);
    let count = count.filter(|count| (1..=SERVERS_MAX).contains(count));
    let whole = count.is_some() || !section.has("count");
    let count = if whole { count.unwrap_or(1) } else { SERVERS_MAX };
    let node = ServerNode { starts_after: None, zone: None, peers: Vec::new() };
    let mut servers = Servers {
        nodes: vec![node; count],
        start_window: SimDuration::ZERO,
        network: network.with(section.section("network")),
        capacity: section.section("capacity").0.map(|table| capacity(table, problems)),
        whole,
    };
    let in_turn = fleet::zones(section, zones, problems);
    for (node, zone) in servers.nodes.iter_mut().zip(in_turn.iter().cycle()) {
        node.zone = Some(*zone);
    }
    start(section, &mut servers, problems);
    let peers = peers(section, &servers, problems);
    for (node, peers) in servers.nodes.iter_mut().zip(peers) {
        node.peers = peers;
    }
    servers
}

/// When they start: each at its moment, or all in a window.
fn start(section: Values<'_>, servers: &mut Servers, problems: &mut Vec<Problem>) {
    let place = |key: &str| section.node(key).map(|node| node.place.clone());
    let several = servers.nodes.len() > 1;
    let (moments, window) = ("starts-after", "start-window");
    if !section.has(moments) {
        let default = if several { START_WINDOW } else { SimDuration::ZERO };
        servers.start_window = section.length(window).unwrap_or(default);
        return;
    }
    if section.has(window) {
        problems.push(
            Problem::error(place(window), "`start-window` is for servers whose starts are drawn")
                .label("without effect")
                .related(place(moments), "here each start is given")
                .hint("leave one of the two out"),
        );
    }
    let Some(given) = section.lengths(moments) else { return };
    let Some(count) = servers.count() else { return };
    if given.len() != count {
        let there = if count == 1 { "is 1 server".into() } else { format!("are {count} servers") };
        problems.push(
            Problem::error(place(moments), format!("there {there}, but {} starts", given.len()))
                .label("one for each server"),
        );
        return;
    }
    if given.iter().all(|moment| !moment.is_zero()) {
        problems.push(
            Problem::error(place(moments), "no server starts at 0s")
                .label("a replicate starts with its first server")
                .hint("let one of them start at `\"0s\"`, and the others so much earlier too"),
        );
    }
    for (node, moment) in servers.nodes.iter_mut().zip(given) {
        node.starts_after = Some(moment);
    }
}

/// The peers of each server.
fn peers(section: Values<'_>, servers: &Servers, problems: &mut Vec<Problem>) -> Vec<Vec<ServerId>> {
    if let (Some(peers), Some(topology)) = (section.node("peers"), section.node("topology")) {
        problems.push(
            Problem::error(peers.place.clone(), "`peers` and `topology` say the same in two ways")
                .label("one too many")
                .related(Some(topology.place.clone()), "the other one")
                .hint("leave one of the two out"),
        );
    }
    let mut peers = match section.section("peers").0 {
        Some(table) => by_name(table, servers, problems),
        None => by_topology(section.text("topology").unwrap_or("full-mesh"), servers.nodes.len()),
    };
    if section.flag("recognises-own-url") == Some(false) {
        for (own, peers) in servers.all().zip(&mut peers) {
            peers.push(own);
        }
    }
    peers
}

/// The peers that a topology gives to each of so many servers.
pub(crate) fn by_topology(topology: &str, count: usize) -> Vec<Vec<ServerId>> {
    let others = |own: ServerId| all_of(count).filter(move |other| *other != own);
    let next = |own: ServerId| ServerId((own.0 + 1) % count as u32);
    all_of(count)
        .map(|own| match topology {
            "full-mesh" => others(own).collect(),
            "ring" => others(own).filter(|other| *other == next(own)).collect(),
            _ => Vec::new(),
        })
        .collect()
}

fn by_name(table: &Table, servers: &Servers, problems: &mut Vec<Problem>) -> Vec<Vec<ServerId>> {
    let mut peers = vec![Vec::new(); servers.nodes.len()];
    for entry in &table.entries {
        let own = match servers.resolve(&entry.key, &entry.key_place) {
            Ok(own) => own,
            Err(problem) => {
                problems.push(*problem);
                continue;
            }
        };
        let nodes = entry.node.as_list().unwrap_or_default();
        let mut names = Vec::new();
        for (name, node) in nodes.iter().filter_map(|node| Some((node.as_text()?, node))) {
            if name == entry.key {
                problems.push(
                    Problem::error(node.place.clone(), format!("`{name}` is no peer of its own"))
                        .label("the server itself")
                        .hint(
                            "leave it out, or set `recognises-own-url = false`: then every server passes on to \
                             itself too",
                        ),
                );
            } else {
                names.push((name, node));
            }
        }
        peers[own.index()] = servers.list(names, problems);
    }
    peers
}

fn capacity(table: &Table, problems: &mut Vec<Problem>) -> Capacity {
    let values = Values(Some(table));
    if !values.has("threads") {
        problems.push(
            Problem::error(table.place.clone(), "`capacity` needs `threads`")
                .label("how many?")
                .hint("as in `threads = 200`; without `[server.capacity]` nothing ever waits"),
        );
    }
    let time =
        |key: &str| values.distribution(key).unwrap_or_else(|| Distribution::constant(SimDuration::ZERO));
    Capacity {
        threads: values.count("threads").unwrap_or(1).max(1),
        service: SERVICE_KEYS.map(time),
        item: time("replicated-item"),
    }
}

/// Which servers an application knows, in the order in which it tries them.
pub(crate) fn server_list(
    app: Values<'_>,
    servers: &Servers,
    zones: &[String],
    problems: &mut Vec<Problem>,
) -> ServerList {
    let (names, by_zone) = ("servers", "server-zones");
    if let (Some(names), Some(by_zone)) = (app.node(names), app.node(by_zone)) {
        problems.push(
            Problem::error(by_zone.place.clone(), "`servers` and `server-zones` say the same in two ways")
                .label("one too many")
                .related(Some(names.place.clone()), "the other one")
                .hint("leave one of the two out"),
        );
    }
    if app.text(by_zone) == Some("own-first") {
        return ServerList::OwnZoneFirst;
    }
    if let Some(node) = app.node(by_zone) {
        return in_zones(app.names(by_zone), node, servers, zones, problems);
    }
    let named = servers.named(app, names, problems);
    ServerList::OneZone(if app.has(names) { named } else { servers.all().collect() })
}

fn in_zones(
    names: Vec<(&str, &Node)>,
    list: &Node,
    servers: &Servers,
    zones: &[String],
    problems: &mut Vec<Problem>,
) -> ServerList {
    let mut wanted = Vec::new();
    let before = problems.len();
    for (name, node) in names {
        match fleet::resolve_zone(zones, name, node) {
            Ok(zone) if wanted.contains(&zone) => problems.push(
                Problem::error(node.place.clone(), format!("`{name}` is named twice")).label("again here"),
            ),
            Ok(zone) => wanted.push(zone),
            Err(problem) => problems.push(*problem),
        }
    }
    let found = servers.nodes.iter().any(|node| node.zone.is_some_and(|zone| wanted.contains(&zone)));
    if !found && problems.len() == before && list.as_list().is_some() {
        let of_servers = servers.nodes.iter().filter_map(|node| node.zone);
        let mut there: Vec<&str> = of_servers.map(|zone| zones[usize::from(zone.0)].as_str()).collect();
        there.dedup();
        there.truncate(servers.nodes.len().min(20));
        let hint = match there.as_slice() {
            [] => "give servers zones, as in `[server]` `zones = [\"a\", \"b\"]`".to_owned(),
            _ => format!("servers are in {}", one_of(there)),
        };
        problems.push(
            Problem::error(list.place.clone(), "no server is in one of these zones")
                .label("its instances would know no server")
                .hint(hint),
        );
    }
    ServerList::Zones(wanted)
}

/// The address of the first instance of the application at `place`, of which there may be `instances` in all.
pub(crate) fn first_address(
    app: Values<'_>,
    place: usize,
    instances: Option<u64>,
    problems: &mut Vec<Problem>,
) -> Ipv4Addr {
    let given = app.text("first-address").and_then(|text| text.parse::<Ipv4Addr>().ok());
    let first = given.unwrap_or_else(|| {
        Ipv4Addr::from(u32::from(FIRST_ADDRESS).wrapping_add((place as u32).wrapping_mul(SPREAD)))
    });
    let room = u64::from(u32::MAX - u32::from(first)) + 1;
    if let (Some(node), Some(instances)) = (app.node("first-address"), instances)
        && instances > room
    {
        problems.push(
            Problem::error(node.place.clone(), format!("{instances} instances have no room from {first} on"))
                .label(format!("addresses end at 255.255.255.255: room for {room}"))
                .hint("leave it out, or give a lower one"),
        );
    }
    first
}
