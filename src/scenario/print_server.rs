//! The servers as canonical text. See [`super::print`].

use super::check_eureka::Layer;
use super::check_release;
use super::check_servers::{all_of, by_topology, server_name};
use super::distribution;
use super::format_server::{SERVICE_KEYS, TOPOLOGIES};
use super::print::{Page, client_settings, clock, list, network, quoted, string, zone_names};
use super::properties;
use super::setup::ScenarioOf;
use super::types::{Scenario, ServerList};
use crate::model::eureka::Eureka;
use crate::model::id::ServerId;
use crate::model::registry::Registry;

/// Writes `[server]`, what is below it, and `[eureka.server]`.
pub(super) fn server(page: &mut Page, scenario: ScenarioOf<'_, Eureka>) {
    let config = scenario.server();
    page.section("server", |lines| {
        several(lines, &scenario);
        lines.line("register-with-eureka", config.register_with_eureka);
        lines.line("fetch-registry", config.fetch_registry);
        lines.length_or("starts-at-second", scenario.server_starts_at_second, "random");
        lines.line("eviction-before-bucket", config.eviction_before_bucket);
        lines.line("process-backlog-after-pause", config.process_backlog_after_pause);
    });
    let rules = check_release::named(&scenario.settings.release, config.flavour);
    let mut base = Layer::server(&rules, config.flavour);
    base.config.register_with_eureka = config.register_with_eureka;
    base.config.fetch_registry = config.fetch_registry;
    let own = Layer { config: scenario.settings.own_client.clone(), first_call: None };
    client_settings(page, "server.", &own, Some(&base));
    page.section("server.clock", |lines| clock(lines, scenario.server_clock));
    if let Some(own) = &scenario.server_network {
        page.section("server.network", |lines| network(lines, own));
    }
    capacity(page, &scenario);
    page.section("eureka.server", |lines| lines.properties(properties::SERVER, config, None));
}

/// How many, who tells whom, and when they start.
fn several(lines: &mut Page, scenario: &Scenario) {
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
        lines.line("zones", list(zone_names(scenario, &turn)));
    }
    let moments: Option<Vec<String>> = nodes.iter().map(|node| node.starts_after.map(quoted)).collect();
    match moments {
        Some(moments) => lines.line("starts-after", list(moments.into_iter())),
        None => lines.length("start-window", scenario.servers_start_window),
    }
}

fn capacity(page: &mut Page, scenario: &Scenario) {
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
pub(super) fn server_list(lines: &mut Page, servers: &ServerList, scenario: &Scenario) {
    match servers {
        ServerList::OneZone(ids) => {
            lines.line("servers", list(ids.iter().map(|id| string(&server_name(*id)))));
        }
        ServerList::Zones(zones) => lines.line("server-zones", list(zone_names(scenario, zones))),
        ServerList::OwnZoneFirst => lines.text("server-zones", "own-first"),
    }
}
