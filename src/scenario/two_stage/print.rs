//! The two-stage registry and its clients as canonical text. See [`crate::scenario::file::print`].

use crate::scenario::format::page::{Page, list, string};
use crate::scenario::two_stage::parameters;
use crate::scenario::types::Names;
use crate::scenario::types::registering;
use crate::scenario::types::{Application, Scenario};

/// Writes `[two-stage]`. The clients' settings are those of the first application.
pub(crate) fn registry(page: &mut Page, scenario: &Scenario) {
    page.section("two-stage", |lines| {
        lines.settings(parameters::server::ALL, scenario.server.two_stage(), None, Names::NONE);
        if let Some(first) = scenario.applications.first() {
            lines.settings(parameters::client::ALL, first.client.two_stage(), None, Names::NONE);
        }
    });
}

/// Writes what an application is in the registry, and which services it watches or polls one by one.
pub(crate) fn roles(lines: &mut Page, app: &Application, scenario: &Scenario) {
    let config = app.client.two_stage();
    lines.line("register", config.registers);
    lines.line("fetch", config.fetches);
    if config.services != registering(&scenario.applications) {
        let names = config.services.iter().map(|app| string(&scenario.applications[app.index()].name));
        lines.line("subscribes", list(names));
    }
}

/// Writes the settings of an application's clients that are not those of the first.
pub(crate) fn own(page: &mut Page, app: &Application, scenario: &Scenario) {
    let first = scenario.applications.first().map(|first| first.client.two_stage());
    page.section("application.two-stage", |lines| {
        lines.settings(parameters::client::ALL, app.client.two_stage(), first, Names::NONE);
    });
}
