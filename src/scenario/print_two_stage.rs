//! The two-stage registry and its clients as canonical text. See [`super::print`].

use super::check_registry::registering;
use super::parameters;
use super::print::{Page, clock, list, string};
use super::setup::ScenarioOf;
use crate::model::id::AppId;
use crate::model::two_stage::TwoStage;

/// Writes `[server]`, what is below it, and `[two-stage]`. The clients' settings are those of the first application.
pub(super) fn registry(page: &mut Page, scenario: ScenarioOf<'_, TwoStage>) {
    page.section("server", |lines| {
        lines.length_or("starts-at-second", scenario.server_starts_at_second, "random");
    });
    page.section("server.clock", |lines| clock(lines, scenario.server_clock));
    page.section("two-stage", |lines| {
        lines.properties(parameters::SERVER, scenario.server(), None);
        if let Some(first) = scenario.settings.clients.first() {
            lines.properties(parameters::CLIENT, first, None);
        }
    });
}

/// Writes what an application is in the registry, and which services it watches or polls one by one.
pub(super) fn roles(lines: &mut Page, app: AppId, scenario: ScenarioOf<'_, TwoStage>) {
    let config = scenario.settings.client(app);
    lines.line("register", config.registers);
    lines.line("fetch", config.fetches);
    if config.services != registering(&scenario.setup) {
        let names = config.services.iter().map(|app| string(&scenario.applications[app.index()].name));
        lines.line("subscribes", list(names));
    }
}

/// Writes the settings of an application's clients that are not those of the first.
pub(super) fn own(page: &mut Page, app: AppId, scenario: ScenarioOf<'_, TwoStage>) {
    let first = scenario.settings.clients.first();
    page.section("application.two-stage", |lines| {
        lines.properties(parameters::CLIENT, scenario.settings.client(app), first);
    });
}
