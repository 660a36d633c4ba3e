//! The two-stage registry and its clients as canonical text. See [`super::print`].

use super::check_registry::registering;
use super::parameters;
use super::print::{Page, clock, list, string};
use super::types::{Application, Scenario};

/// Writes `[server]`, what is below it, and `[two-stage]`. The clients' settings are those of the first application.
pub(super) fn registry(page: &mut Page, scenario: &Scenario) {
    page.section("server", |lines| {
        lines.length_or("starts-at-second", scenario.server_starts_at_second, "random");
    });
    page.section("server.clock", |lines| clock(lines, scenario.server_clock));
    page.section("two-stage", |lines| {
        lines.properties(parameters::SERVER, scenario.server.two_stage(), None);
        if let Some(first) = scenario.applications.first() {
            lines.properties(parameters::CLIENT, first.client.two_stage(), None);
        }
    });
}

/// Writes what an application is in the registry, and which services it watches or polls one by one.
pub(super) fn roles(lines: &mut Page, app: &Application, scenario: &Scenario) {
    let config = app.client.two_stage();
    lines.line("register", config.registers);
    lines.line("fetch", config.fetches);
    if config.services != registering(&scenario.applications) {
        let names = config.services.iter().map(|app| string(&scenario.applications[app.index()].name));
        lines.line("subscribes", list(names));
    }
}

/// Writes the settings of an application's clients that are not those of the first.
pub(super) fn own(page: &mut Page, app: &Application, scenario: &Scenario) {
    let first = scenario.applications.first().map(|first| first.client.two_stage());
    page.section("application.two-stage", |lines| {
        lines.properties(parameters::CLIENT, app.client.two_stage(), first);
    });
}
