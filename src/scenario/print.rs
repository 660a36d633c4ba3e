//! A scenario as canonical text: every setting written out, in one order and one spelling.
//!
//! The text is a scenario file itself: reading it gives the same scenario again. It says everything that
//! defaults would say, so that its hash, which every manifest carries, stands for what was run even after a
//! default has changed. The settings of the first application are written as those of the fleet; other
//! applications add only what differs.

use std::fmt::Write;

use super::check_eureka::{Layer, balancer_word, transport_word};
use super::claim::Expectation;
use super::distribution;
use super::duration::print_shift_ms;
use super::format_client::BALANCER_KINDS;
use super::properties;
use super::property::{Property, printed};
use super::setup::{AppOf, ScenarioOf, Setup};
use super::types::{Application, Clock, Network, Scenario, ZoneId};
use super::{print_fault, print_server, print_two_stage};
use crate::engine::SimDuration;
use crate::model::eureka::client::{BalancerConfig, ClientConfig, TransportConfig};
use crate::model::eureka::{Eureka, Flavour};
use crate::model::id::AppId;

/// The canonical text of a scenario.
pub fn canonical(scenario: &Scenario) -> String {
    let mut page = Page { text: String::new(), section: String::new() };
    top(&mut page, scenario);
    match &scenario.setup {
        Setup::Eureka(its) => eureka(&mut page, ScenarioOf::new(scenario, its)),
        Setup::TwoStage(its) => print_two_stage::registry(&mut page, ScenarioOf::new(scenario, its)),
    }
    page.section("network", |lines| network(lines, &scenario.network));
    for (id, app) in (0..).map(AppId).zip(&scenario.applications) {
        application(&mut page, id, app, scenario);
    }
    for fault in &scenario.faults {
        print_fault::fault(&mut page, fault, scenario);
    }
    for expectation in &scenario.expectations {
        expect(&mut page, expectation);
    }
    page.text
}

/// The text so far, and the lines of the section being written.
pub(super) struct Page {
    text: String,
    section: String,
}

impl Page {
    /// A table with its lines; without lines no table.
    pub(super) fn section(&mut self, path: &str, write: impl FnOnce(&mut Self)) {
        write(self);
        let lines = std::mem::take(&mut self.section);
        if !lines.is_empty() {
            let gap = if self.text.is_empty() { "" } else { "\n" };
            let _ = write!(self.text, "{gap}[{path}]\n{lines}");
        }
    }

    pub(super) fn line(&mut self, key: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.section, "{key} = {value}");
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.line(key, string(value));
    }

    pub(super) fn length(&mut self, key: &str, value: SimDuration) {
        self.line(key, quoted(value));
    }

    pub(super) fn length_or(&mut self, key: &str, value: Option<SimDuration>, word: &str) {
        self.line(key, value.map_or_else(|| string(word), quoted));
    }

    fn number(&mut self, key: &str, value: f64) {
        self.line(key, format!("{value:?}"));
    }

    /// The properties of a configuration: all, or those that differ from another.
    pub(super) fn properties<C: Clone>(
        &mut self,
        properties: &[Property<C>],
        config: &C,
        unless: Option<&C>,
    ) {
        for property in properties {
            let value = printed(property, config);
            if unless.is_none_or(|other| printed(property, other) != value) {
                self.line(property.key.name, value);
            }
        }
    }
}

/// A TOML string.
pub(super) fn string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

pub(super) fn quoted(length: SimDuration) -> String {
    format!("\"{length}\"")
}

fn top(page: &mut Page, scenario: &Scenario) {
    page.text("title", &scenario.title);
    page.text("about", &scenario.about);
    page.line("seed", scenario.seed);
    page.line("replicates", scenario.replicates);
    page.length("duration", scenario.duration);
    page.line("stop-when-settled", scenario.stop_when_settled);
    page.line("event-budget", scenario.event_budget);
    match &scenario.setup {
        Setup::Eureka(its) => {
            page.text("flavour", if its.server.flavour == Flavour::Spring { "spring" } else { "netflix" });
            page.text("release", &its.release);
        }
        Setup::TwoStage(its) => page.text("registry", &its.release),
    }
    page.text = std::mem::take(&mut page.section);
    page.section("start", |lines| {
        lines.length("window", scenario.start_window);
        lines.length("warm-up", scenario.warm_up);
    });
}

/// The servers, and the clients' settings: those of the first application.
fn eureka(page: &mut Page, scenario: ScenarioOf<'_, Eureka>) {
    print_server::server(page, scenario);
    let Some(first) = scenario.apps().next() else { return };
    client_settings(page, "", &layer(first), None);
    if scenario.server().flavour == Flavour::Spring {
        page.section("eureka.instance.registry", |lines| {
            lines.properties(properties::REGISTRY, scenario.server(), None);
        });
    }
}

fn layer(app: AppOf<'_, Eureka>) -> Layer {
    Layer { config: app.client.clone(), first_call: app.balancer_first_call }
}

/// The tables of a client's settings below `prefix`: all, or what differs from `base`.
pub(super) fn client_settings(page: &mut Page, prefix: &str, own: &Layer, base: Option<&Layer>) {
    let other = base.map(|base| &base.config);
    let config = &own.config;
    page.section(&format!("{prefix}eureka.client"), |lines| {
        lines.properties(properties::CLIENT, config, other);
    });
    page.section(&format!("{prefix}eureka.client.transport"), |lines| {
        lines.properties(properties::CLIENT_TRANSPORT, config, other);
    });
    page.section(&format!("{prefix}eureka.client.healthcheck"), |lines| {
        lines.properties(properties::CLIENT_HEALTHCHECK, config, other);
    });
    page.section(&format!("{prefix}eureka.instance"), |lines| {
        lines.properties(properties::INSTANCE, config, other);
    });
    if other.is_none_or(|other| other.transport != config.transport) {
        page.section(&format!("{prefix}transport"), |lines| transport(lines, &config.transport));
    }
    let same_balancer =
        base.is_some_and(|base| base.config.balancer == config.balancer && base.first_call == own.first_call);
    if !same_balancer {
        page.section(&format!("{prefix}balancer"), |lines| balancer(lines, config, own.first_call));
    }
}

fn transport(lines: &mut Page, config: &TransportConfig) {
    lines.text("kind", transport_word(config.kind));
    lines.length_or("connect-timeout", config.connect_timeout, "none");
    lines.length_or("read-timeout", config.read_timeout, "none");
    lines.line("pooled", config.pooled);
    lines.line("interrupt-cancels-retries", config.interrupt_cancels_retries);
    lines.line("understands-not-found", config.understands_not_found);
}

fn balancer(lines: &mut Page, config: &ClientConfig, first_call: Option<SimDuration>) {
    debug_assert!(BALANCER_KINDS.contains(&balancer_word(&config.balancer)));
    lines.text("kind", balancer_word(&config.balancer));
    match config.balancer {
        BalancerConfig::None => {}
        BalancerConfig::Ribbon { refresh_interval } => lines.length("refresh-interval", refresh_interval),
        BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate } => {
            lines.length("ttl", ttl);
            match call_rate {
                Some(rate) => lines.number("calls-per-second", rate),
                None => lines.text("calls-per-second", "dense"),
            }
        }
    }
    lines.length_or("first-call", first_call, "random");
}

fn application(page: &mut Page, id: AppId, app: &Application, scenario: &Scenario) {
    page.section("[application]", |lines| {
        lines.text("name", &app.name);
        lines.line("instances", app.instances);
        lines.line("observers", app.observers);
        if !app.zones.is_empty() {
            lines.line("zones", list(zone_names(scenario, &app.zones)));
        }
        match &scenario.setup {
            Setup::Eureka(_) => {
                print_server::server_list(lines, &app.server_list, scenario);
                lines.text("first-address", &app.first_address.to_string());
            }
            Setup::TwoStage(its) => print_two_stage::roles(lines, id, ScenarioOf::new(scenario, its)),
        }
    });
    match &scenario.setup {
        Setup::Eureka(its) => {
            let scenario = ScenarioOf::new(scenario, its);
            let first = scenario.apps().next().map(layer);
            client_settings(page, "application.", &layer(scenario.app(id)), first.as_ref());
        }
        Setup::TwoStage(its) => print_two_stage::own(page, id, ScenarioOf::new(scenario, its)),
    }
    if let Some(own) = &app.network {
        page.section("application.network", |lines| network(lines, own));
    }
    page.section("application.clock", |lines| clock(lines, app.clock));
    if let Some(traffic) = &app.traffic {
        page.section("application.traffic", |lines| {
            lines.number("calls-per-second", traffic.calls_per_second);
            let names = traffic.to.iter().map(|app| string(&scenario.applications[app.index()].name));
            lines.line("to", list(names));
            lines.line("retries-on-same-instance", traffic.retries_on_same_instance);
            lines.line("retries-on-next-instance", traffic.retries_on_next_instance);
            lines.length("read-timeout", traffic.read_timeout);
        });
    }
}

/// Zones as texts.
pub(super) fn zone_names<'a>(
    scenario: &'a Scenario,
    zones: &'a [ZoneId],
) -> impl Iterator<Item = String> + use<'a> {
    zones.iter().map(|zone| string(&scenario.zones[usize::from(zone.0)]))
}

pub(super) fn list(texts: impl Iterator<Item = String>) -> String {
    format!("[{}]", texts.collect::<Vec<_>>().join(", "))
}

pub(super) fn network(lines: &mut Page, network: &Network) {
    lines.line("latency", distribution::print_delay(network.latency));
    lines.number("loss", network.loss);
}

/// A clock that is exact is not written.
pub(super) fn clock(lines: &mut Page, clock: Clock) {
    if clock != Clock::default() {
        lines.line("offset", print_shift_ms(clock.offset_ms));
        lines.line("drift-ppm", clock.drift_ppm);
    }
}

fn expect(page: &mut Page, expectation: &Expectation) {
    page.section("[expect]", |lines| {
        lines.text("that", &expectation.text);
        if expectation.in_share < 1.0 {
            lines.number("in", expectation.in_share);
        } else {
            lines.text("in", "all");
        }
    });
}
