//! The servers as canonical text. See [`crate::scenario::file::print`].

use crate::model::eureka::Eureka;
use crate::model::id::ServerId;
use crate::model::registry::Registry;
use crate::scenario::eureka::format::process;
use crate::scenario::eureka::print::client_settings;
use crate::scenario::eureka::properties;
use crate::scenario::eureka::release;
use crate::scenario::eureka::settings::Layer;
use crate::scenario::format::distribution;
use crate::scenario::format::page::{TomlWriter, list, quoted, string, zones};
use crate::scenario::sections::server::{SERVICE_KEYS, TOPOLOGIES, start};
use crate::scenario::sections::servers::by_topology;
use crate::scenario::setup::ScenarioOf;
use crate::scenario::types::Names;
use crate::scenario::types::{Scenario, ServerList};
use crate::scenario::types::{all_of, server_name};

/// Writes `[server]`, what is below it, and `[eureka.server]`.
pub(crate) fn server(page: &mut TomlWriter, scenario: ScenarioOf<'_, Eureka>) {
    let config = scenario.server();
    page.section("server", |lines| {
        several(lines, &scenario);
        let (clients, timers) = process::ALL.split_at(2);
        lines.settings(clients, config, None, Names::NONE);
        lines.settings(start::ALL, &scenario, None, Names::NONE);
        lines.settings(timers, config, None, Names::NONE);
    });
    let rules = release::named(&scenario.settings.release, config.flavour);
    let mut base = Layer::server(&rules, config.flavour);
    base.config.register_with_eureka = config.register_with_eureka;
    base.config.fetch_registry = config.fetch_registry;
    let own = Layer { config: scenario.settings.own_client.clone(), first_call: None };
    client_settings(page, "server.", &own, Some(&base));
    scenario.server_clock.print(page, "server.clock");
    if let Some(own) = &scenario.server_network {
        own.print(page, "server.network");
    }
    capacity(page, &scenario);
    page.section("eureka.server", |lines| lines.settings(properties::server::ALL, config, None, Names::NONE));
}

/// Writes `[server]` of a registry that is one server, and what is below it.
pub(crate) fn single_server(page: &mut TomlWriter, scenario: &Scenario) {
    page.section("server", |lines| {
        lines.settings(start::ALL, scenario, None, Names::NONE);
    });
    scenario.server_clock.print(page, "server.clock");
}

/// How many, who tells whom, and when they start.
fn several(lines: &mut TomlWriter, scenario: &Scenario) {
    let nodes = &scenario.servers;
    lines.line("count", nodes.len());
    let ids = || all_of(nodes.len());
    let knows_itself = |own: ServerId| !nodes[own.index()].peers.contains(&own);
    let others = |own: ServerId| -> Vec<ServerId> {
        nodes[own.index()].peers.iter().copied().filter(|peer| *peer != own).collect()
    };
    let peers: Vec<Vec<ServerId>> = ids().map(others).collect();
    match TOPOLOGIES.iter().find(|topology| by_topology(topology, nodes.len()) == peers) {
        Some(topology) => lines.text("topology", topology),
        None => {
            let own = |own: ServerId| {
                let names = peers[own.index()].iter().map(|peer| string(&server_name(*peer)));
                format!("{} = {}", server_name(own), list(names))
            };
            let own: Vec<String> = ids().map(own).collect();
            lines.line("peers", format!("{{ {} }}", own.join(", ")));
        }
    }
    lines.line("recognises-own-url", ids().all(knows_itself));
    let turn: Vec<_> = nodes.iter().filter_map(|node| node.zone).collect();
    if !turn.is_empty() {
        lines.line("zones", zones(&turn, Names::of(scenario)));
    }
    let moments: Option<Vec<String>> = nodes.iter().map(|node| node.starts_after.map(quoted)).collect();
    match moments {
        Some(moments) => lines.line("starts-after", list(moments.into_iter())),
        None => lines.length("start-window", scenario.servers_start_window),
    }
}

fn capacity(page: &mut TomlWriter, scenario: &Scenario) {
    let Some(capacity) = &scenario.capacity else { return };
    page.section("server.capacity", |lines| {
        lines.line("threads", capacity.threads);
        for kind in Eureka::REQUESTS {
            let at = *kind as usize;
            lines.line(SERVICE_KEYS[at], distribution::print(capacity.service[at]));
        }
        lines.line("replicated-item", distribution::print(capacity.item));
    });
}

/// Writes which servers an application knows.
pub(crate) fn server_list(lines: &mut TomlWriter, servers: &ServerList, scenario: &Scenario) {
    match servers {
        ServerList::OneZone(ids) => {
            lines.line("servers", list(ids.iter().map(|id| string(&server_name(*id)))));
        }
        ServerList::Zones(tried) => lines.line("server-zones", zones(tried, Names::of(scenario))),
        ServerList::OwnZoneFirst => lines.text("server-zones", "own-first"),
    }
}
