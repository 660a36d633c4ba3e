//! All warnings about a scenario. See [`crate::scenario::lint`].

use std::collections::BTreeSet;

use crate::model::registry::Kind;
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::lint::{self, Spans};
use crate::scenario::sections::traffic;
use crate::scenario::setup::{ScenarioOf, Setup};
use crate::scenario::types::{Application, Scenario};
use crate::scenario::{eureka, two_stage};

/// Everything that one should know before running a scenario.
pub(crate) fn lint(scenario: &Scenario, root: &Table) -> Vec<Problem> {
    let spans = Spans { root, applications: root.tables("application").collect() };
    let mut warnings = Vec::new();
    match &scenario.setup {
        Setup::Eureka(its) => eureka::lint::lint(ScenarioOf::new(scenario, its), &spans, &mut warnings),
        Setup::TwoStage(its) => two_stage::lint::lint(ScenarioOf::new(scenario, its), &spans, &mut warnings),
    }
    for (at, app) in scenario.applications.iter().enumerate() {
        warnings.extend(nobody_answers(scenario, app, at, &spans));
    }
    warnings.extend(nobody_watches(scenario));
    warnings.extend(lint::scale::lint(scenario, root));
    for (fault, table) in scenario.faults.iter().zip(root.tables("fault")) {
        warnings.extend(lint::fault::lint(scenario, fault, table));
        match &scenario.setup {
            Setup::Eureka(its) => {
                let scenario = ScenarioOf::new(scenario, its);
                warnings.extend(eureka::lint::lease::lint(scenario, fault, table));
                warnings.extend(eureka::lint::link::lossy_fault(scenario, fault, table));
                warnings.extend(eureka::lint::fleet::lint(scenario, fault, table));
                warnings.extend(eureka::lint::outage::lint(scenario, fault, table));
            }
            Setup::TwoStage(its) => {
                let scenario = ScenarioOf::new(scenario, its);
                warnings.extend(two_stage::lint::silence::lint(scenario, fault, table));
            }
        }
    }
    for (expectation, table) in scenario.expectations.iter().zip(root.tables("expect")) {
        warnings.extend(lint::expect::never_observed(scenario, &expectation.claim, table));
        warnings.extend(eureka::lint::servers::claim(scenario, &expectation.claim, table));
    }
    // Applications that share a setting share its warning.
    let mut told = BTreeSet::new();
    warnings.retain(|warning| told.insert((warning.title.clone(), warning.place.clone())));
    warnings
}

/// Calls to an application that the registry never shows.
fn nobody_answers(scenario: &Scenario, app: &Application, at: usize, spans: &Spans<'_>) -> Option<Problem> {
    let mut callees = app.traffic.iter().flat_map(|traffic| &traffic.to);
    let hidden = callees.find(|callee| !scenario.setup.client(**callee).is_shown_at_first())?;
    let hidden = &scenario.applications[hidden.index()];
    let place = spans.setting(at, &traffic::keys::to).or_else(|| spans.of(at, &["traffic"]));
    let title = format!("`{}` calls `{}`, which is never registered as UP", app.name, hidden.name);
    Some(Problem::warning(place, title).label("every such call finds no instance and fails"))
}

fn nobody_watches(scenario: &Scenario) -> Option<Problem> {
    let watches = scenario.applications.iter().any(|app| app.observers);
    let unseen = match scenario.setup.kind() {
        Kind::Eureka => "`client` and `balancer`",
        Kind::TwoStage => "`client`",
    };
    (!watches).then(|| {
        Problem::warning(None, format!("no application observes: {unseen} will have no observations"))
            .hint("set `observers = true` for at least one that fetches the registry")
    })
}
