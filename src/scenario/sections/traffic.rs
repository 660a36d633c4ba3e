//! The calls that applications make to each other: the file's `[traffic]`, and each application's own over it.

use crate::engine::SimDuration;
use crate::model::eureka::client::BalancerConfig;
use crate::model::id::AppId;
use crate::model::registry::Kind;
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::eureka::format::balancer;
use crate::scenario::format::form::Reading;
use crate::scenario::format::forms::{Applications, Count, Rate, count, positive_length};
use crate::scenario::format::{self, settings};
use crate::scenario::sections::fleet::Fleet;
use crate::scenario::sections::registry::fetching;
use crate::scenario::setup::Setup;
use crate::scenario::types::{Application, Traffic};

/// Applications that one application may call. Events count them in a byte.
const CALLEES_MAX: usize = 255;
/// More retries of a call than anybody sets.
const RETRIES: Count<u32> = count(0, 100);

settings! {
    /// `[traffic]` and `[application.traffic]`
    keys: Traffic, "traffic";
    "calls-per-second": Rate, calls_per_second,
        "Calls a second of one instance to each application of `to`, at random moments.";
    "to": Applications, to, else "all other applications, or the only one", "Which applications are called.";
    "retries-on-same-instance": RETRIES, retries_on_same_instance = 0,
        "Further attempts at the same instance (`max-retries-on-same-service-instance`, Ribbon's \
        `MaxAutoRetries`).";
    "retries-on-next-instance": RETRIES, retries_on_next_instance = 0,
        "Further instances that are tried (`max-retries-on-next-service-instance`, Ribbon's \
        `MaxAutoRetriesNextServer`).";
    "read-timeout": positive_length(), read_timeout = SimDuration::from_secs(5),
        "How long an attempt waits for an instance that stands still or is cut off.";
}

/// Gives each application the calls that it makes, and its balancer their rate where the file names none.
pub(crate) fn calls(root: &Table, fleet: &mut Fleet, problems: &mut Vec<Problem>) {
    if !fleet.is_whole() {
        return;
    }
    let base = root.table("traffic");
    let mut usual = format::reset(keys::ALL, Traffic::default());
    format::read(keys::ALL, base, &mut usual, &mut Reading::names(fleet, problems));
    let (mut callers, mut lacks_rate) = (0, false);
    for (at, table) in root.tables("application").enumerate() {
        let own = table.table("traffic");
        let fetches = fleet.setup.client(AppId(at as u32)).fetches();
        if let (Some(section), false) = (own, fetches) {
            problems.push(cannot_call(section, &fleet.applications[at], fleet.setup.kind()));
        }
        if !fetches || base.is_none() && own.is_none() {
            continue;
        }
        callers += 1;
        let mut calls = usual.clone();
        format::read(keys::ALL, own, &mut calls, &mut Reading::names(fleet, problems));
        if !keys::to.is_in(own) {
            calls.to = others(AppId(at as u32), &usual.to, keys::to.is_in(base), fleet);
        }
        if ![own, base].iter().any(|table| keys::calls_per_second.is_in(*table)) {
            // A rate of a wrong name has been reported before.
            if ![own, base].into_iter().any(has_unknown) {
                lacks_rate |= own.is_none();
                problems.extend(own.map(no_rate));
            }
            continue;
        }
        problems.extend(too_many(calls.to.len(), own.or(base)));
        let given = [table, root].iter().any(|layer| balancer::call_rate.place(layer).is_some());
        if let Setup::Eureka(settings) = &mut fleet.setup
            && let (BalancerConfig::SpringCloudLoadBalancer { call_rate, .. }, false) =
                (&mut settings.clients[at].balancer, given)
        {
            *call_rate = Some(calls.calls_per_second);
        }
        fleet.applications[at].traffic = Some(calls).filter(|calls| !calls.to.is_empty());
    }
    problems.extend(base.filter(|_| lacks_rate).map(no_rate));
    let kind = fleet.setup.kind();
    problems.extend(base.filter(|_| callers == 0).map(|table| nobody_calls(table, kind)));
}

/// Whom an application calls that does not say: those that the file names, or all, but for itself unless it is
/// alone.
fn others(id: AppId, named: &[AppId], are_named: bool, fleet: &Fleet) -> Vec<AppId> {
    if fleet.applications.len() == 1 {
        return vec![id];
    }
    let all: Vec<AppId> = (0..fleet.applications.len()).map(|at| AppId(at as u32)).collect();
    let from = if are_named { named } else { &all };
    from.iter().copied().filter(|other| *other != id).collect()
}

/// Whether a section has a key that may have been meant to be a rate.
fn has_unknown(table: Option<&Table>) -> bool {
    table.is_some_and(|table| table.entries.iter().any(|it| keys::SECTION.key(&it.key).is_none()))
}

fn cannot_call(table: &Table, app: &Application, kind: Kind) -> Problem {
    let (name, fetching) = (&app.name, fetching(kind));
    Problem::error(table.place.clone(), format!("`{name}` cannot call others without fetching the registry"))
        .label("callers pick instances from their registry")
        .hint(format!("leave its `traffic` out, or set `{fetching}`"))
}

fn no_rate(table: &Table) -> Problem {
    Problem::error(table.place.clone(), "`traffic` needs `calls-per-second`")
        .label("how many?")
        .hint("as in `calls-per-second = 2.0`")
}

fn nobody_calls(table: &Table, kind: Kind) -> Problem {
    Problem::error(table.place.clone(), "no application fetches the registry: nobody can call")
        .label("without effect")
        .hint(format!("set `{}` for those that call", fetching(kind)))
}

fn too_many(callees: usize, table: Option<&Table>) -> Option<Problem> {
    (callees > CALLEES_MAX).then(|| {
        Problem::error(table.map(|table| table.place.clone()), format!("{callees} applications are called"))
            .label(format!("at most {CALLEES_MAX} by one application"))
            .hint("name those that are called with `to`")
    })
}
