//! The two-stage registry and its clients as canonical text. See [`crate::scenario::file::print`].

use crate::model::id::AppId;
use crate::model::two_stage::TwoStage;
use crate::scenario::format::page::{TomlWriter, list, string};
use crate::scenario::setup::{ScenarioOf, registering};
use crate::scenario::two_stage::parameters;
use crate::scenario::types::Names;

/// Writes `[two-stage]`. The clients' settings are those of the first application.
pub(crate) fn registry(page: &mut TomlWriter, scenario: ScenarioOf<'_, TwoStage>) {
    page.section("two-stage", |lines| {
        lines.settings(parameters::server::ALL, scenario.server(), None, Names::NONE);
        if let Some(first) = scenario.settings.clients.first() {
            lines.settings(parameters::client::ALL, first, None, Names::NONE);
        }
    });
}

/// Writes what an application is in the registry, and which services it watches or polls one by one.
pub(crate) fn roles(lines: &mut TomlWriter, app: AppId, scenario: ScenarioOf<'_, TwoStage>) {
    let config = scenario.settings.client(app);
    lines.line("register", config.registers);
    lines.line("fetch", config.fetches);
    if config.services != registering(&scenario.setup) {
        let names = config.services.iter().map(|app| string(&scenario.applications[app.index()].name));
        lines.line("subscribes", list(names));
    }
}

/// Writes the settings of an application's clients that are not those of the first.
pub(crate) fn own(page: &mut TomlWriter, app: AppId, scenario: ScenarioOf<'_, TwoStage>) {
    let first = scenario.settings.clients.first();
    page.section("application.two-stage", |lines| {
        lines.settings(parameters::client::ALL, scenario.settings.client(app), first, Names::NONE);
    });
}
