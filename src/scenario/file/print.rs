//! A scenario as canonical text: every setting written out, in one order and one spelling.
//!
//! The text is a scenario file itself: reading it gives the same scenario again. It says everything that
//! defaults would say, so that its hash, which every manifest carries, stands for what was run even after a
//! default has changed. The settings of the first application are written as those of the fleet; other
//! applications add only what differs.

use crate::model::id::AppId;
use crate::scenario::eureka::print::{client_settings, layer};
use crate::scenario::eureka::release::FLAVOUR;
use crate::scenario::file::format;
use crate::scenario::format::page::{TomlWriter, zones};
use crate::scenario::sections::servers_print;
use crate::scenario::sections::start::Start;
use crate::scenario::sections::traffic;
use crate::scenario::setup::{ScenarioOf, Setup};
use crate::scenario::types::claim::Expectation;
use crate::scenario::types::{Application, Names, Scenario};
use crate::scenario::{eureka, fault, two_stage};

/// The canonical text of a scenario.
pub fn canonical(scenario: &Scenario) -> String {
    let mut page = TomlWriter { text: String::new(), section: String::new() };
    top(&mut page, scenario);
    match &scenario.setup {
        Setup::Eureka(its) => {
            servers_print::server(&mut page, ScenarioOf::new(scenario, its));
            eureka::print::clients(&mut page, ScenarioOf::new(scenario, its));
        }
        Setup::TwoStage(its) => {
            servers_print::single_server(&mut page, scenario);
            two_stage::print::registry(&mut page, ScenarioOf::new(scenario, its));
        }
    }
    scenario.network.print(&mut page, "network");
    for (id, app) in (0..).map(AppId).zip(&scenario.applications) {
        application(&mut page, id, app, scenario);
    }
    for fault in &scenario.faults {
        fault::print::fault(&mut page, fault, scenario);
    }
    for expectation in &scenario.expectations {
        expect(&mut page, expectation);
    }
    page.text
}

fn top(page: &mut TomlWriter, scenario: &Scenario) {
    page.settings(format::top::ALL, scenario, None, Names::NONE);
    match &scenario.setup {
        Setup::Eureka(its) => {
            page.text("flavour", FLAVOUR.word(&its.server.flavour));
            page.text("release", &its.release);
        }
        Setup::TwoStage(its) => page.text("registry", &its.release),
    }
    page.text = std::mem::take(&mut page.section);
    Start { window: Some(scenario.start_window), warm_up: scenario.warm_up }.print(page);
}

fn application(page: &mut TomlWriter, id: AppId, app: &Application, scenario: &Scenario) {
    page.section("[application]", |lines| {
        lines.text("name", &app.name);
        lines.line("instances", app.instances);
        lines.line("observers", app.observers);
        if !app.zones.is_empty() {
            lines.line("zones", zones(&app.zones, Names::of(scenario)));
        }
        match &scenario.setup {
            Setup::Eureka(_) => {
                servers_print::server_list(lines, &app.server_list, scenario);
                lines.text("first-address", &app.first_address.to_string());
            }
            Setup::TwoStage(its) => two_stage::print::roles(lines, id, ScenarioOf::new(scenario, its)),
        }
    });
    match &scenario.setup {
        Setup::Eureka(its) => {
            let scenario = ScenarioOf::new(scenario, its);
            let (own, first) = (layer(scenario.app(id)), scenario.apps().next().map(layer));
            client_settings(page, "application.", &own, first.as_ref());
        }
        Setup::TwoStage(its) => two_stage::print::own(page, id, ScenarioOf::new(scenario, its)),
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

fn expect(page: &mut TomlWriter, expectation: &Expectation) {
    page.section("[expect]", |lines| {
        lines.text("that", &expectation.text);
        if expectation.in_share < 1.0 {
            lines.number("in", expectation.in_share);
        } else {
            lines.text("in", "all");
        }
    });
}
