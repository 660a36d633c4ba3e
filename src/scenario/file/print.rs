//! A scenario as canonical text: every setting written out, in one order and one spelling.
//!
//! The text is a scenario file itself: reading it gives the same scenario again. It says everything that
//! defaults would say, so that its hash, which every manifest carries, stands for what was run even after a
//! default has changed. The settings of the first application are written as those of the fleet; other
//! applications add only what differs.

use crate::model::eureka::Flavour;
use crate::model::registry::{Kind, ServerConfig};
use crate::scenario::format::page::{Page, zones};
use crate::scenario::sections::servers_print;
use crate::scenario::sections::start::Start;
use crate::scenario::sections::traffic;
use crate::scenario::types::claim::Expectation;
use crate::scenario::types::{Application, Names, Scenario};
use crate::scenario::{eureka, fault, two_stage};

/// The canonical text of a scenario.
pub fn canonical(scenario: &Scenario) -> String {
    let mut page = Page { text: String::new(), section: String::new() };
    top(&mut page, scenario);
    match scenario.registry() {
        Kind::Eureka => {
            servers_print::server(&mut page, scenario);
            eureka::print::clients(&mut page, scenario);
        }
        Kind::TwoStage => {
            servers_print::single_server(&mut page, scenario);
            two_stage::print::registry(&mut page, scenario);
        }
    }
    scenario.network.print(&mut page, "network");
    for app in &scenario.applications {
        application(&mut page, app, scenario);
    }
    for fault in &scenario.faults {
        fault::print::fault(&mut page, fault, scenario);
    }
    for expectation in &scenario.expectations {
        expect(&mut page, expectation);
    }
    page.text
}

fn top(page: &mut Page, scenario: &Scenario) {
    page.text("title", &scenario.title);
    page.text("about", &scenario.about);
    page.line("seed", scenario.seed);
    page.line("replicates", scenario.replicates);
    page.length("duration", scenario.duration);
    page.line("stop-when-settled", scenario.stop_when_settled);
    page.line("event-budget", scenario.event_budget);
    match &scenario.server {
        ServerConfig::Eureka(server) => {
            page.text("flavour", if server.flavour == Flavour::Spring { "spring" } else { "netflix" });
            page.text("release", &scenario.release);
        }
        ServerConfig::TwoStage(_) => page.text("registry", &scenario.release),
    }
    page.text = std::mem::take(&mut page.section);
    Start { window: Some(scenario.start_window), warm_up: scenario.warm_up }.print(page);
}

fn application(page: &mut Page, app: &Application, scenario: &Scenario) {
    let kind = scenario.registry();
    page.section("[application]", |lines| {
        lines.text("name", &app.name);
        lines.line("instances", app.instances);
        lines.line("observers", app.observers);
        if !app.zones.is_empty() {
            lines.line("zones", zones(&app.zones, Names::of(scenario)));
        }
        match kind {
            Kind::Eureka => {
                servers_print::server_list(lines, &app.server_list, scenario);
                lines.text("first-address", &app.first_address.to_string());
            }
            Kind::TwoStage => two_stage::print::roles(lines, app, scenario),
        }
    });
    match kind {
        Kind::Eureka => {
            let first = scenario.applications.first().map(eureka::print::layer);
            eureka::print::client_settings(page, "application.", &eureka::print::layer(app), first.as_ref());
        }
        Kind::TwoStage => two_stage::print::own(page, app, scenario),
    }
    if let Some(own) = &app.network {
        own.print(page, "application.network");
    }
    app.clock.print(page, "application.clock");
    if let Some(calls) = &app.traffic {
        page.section("application.traffic", |lines| {
            lines.settings(traffic::keys::ALL, calls, None, Names::of(scenario));
        });
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
