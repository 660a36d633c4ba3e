//! Warnings: what is legal, what people really run, and what will surprise them.
//!
//! Each names the consequence, not the rule. None stops a run. A warning points at the setting that a user
//! wrote, or at nothing if it follows from defaults alone. What concerns self-preservation, where several
//! settings and the fleet's size meet, is in [`super::lint_protection`] and, for roll-outs and storms, in
//! [`super::lint_fleet`]; links are in [`super::lint_link`], faults in [`super::lint_fault`] and, as far as a lease may
//! run out, in [`super::lint_lease`], several servers in [`super::lint_servers`] and what is done to them in
//! [`super::lint_outage`], and what concerns a scenario's size in [`super::lint_scale`]. The two-stage registry has its
//! own, in [`super::lint_two_stage`] and, for what makes it take the living for silent, in [`super::lint_silence`].

use std::collections::BTreeSet;

use super::diagnostic::{Place, Problem};
use super::document::{Node, Table};
use super::setup::{AppOf, ScenarioOf, Setup};
use super::types::{Application, Scenario};
use super::{
    lint_expect, lint_fault, lint_fleet, lint_lease, lint_link, lint_outage, lint_protection, lint_scale,
    lint_servers, lint_silence, lint_two_stage,
};
use crate::engine::SimDuration;
use crate::model::eureka::{Eureka, ServerConfig};
use crate::model::registry::Kind;

/// Everything that one should know before running a scenario.
pub(super) fn lint(scenario: &Scenario, root: &Table) -> Vec<Problem> {
    let whence = Whence { root, applications: root.tables("application").collect() };
    let mut warnings = Vec::new();
    match &scenario.setup {
        Setup::Eureka(its) => eureka(ScenarioOf::new(scenario, its), &whence, &mut warnings),
        Setup::TwoStage(its) => {
            lint_two_stage::lint(ScenarioOf::new(scenario, its), &whence, &mut warnings);
        }
    }
    for (at, app) in scenario.applications.iter().enumerate() {
        warnings.extend(nobody_answers(scenario, app, at, &whence));
    }
    warnings.extend(nobody_watches(scenario));
    warnings.extend(lint_scale::lint(scenario, root));
    for (fault, table) in scenario.faults.iter().zip(root.tables("fault")) {
        warnings.extend(lint_fault::lint(scenario, fault, table));
        match &scenario.setup {
            Setup::Eureka(its) => {
                let scenario = ScenarioOf::new(scenario, its);
                warnings.extend(lint_lease::lint(scenario, fault, table));
                warnings.extend(lint_link::lossy_fault(scenario, fault, table));
                warnings.extend(lint_fleet::lint(scenario, fault, table));
                warnings.extend(lint_outage::lint(scenario, fault, table));
            }
            Setup::TwoStage(its) => {
                warnings.extend(lint_silence::lint(ScenarioOf::new(scenario, its), fault, table));
            }
        }
    }
    for (expectation, table) in scenario.expectations.iter().zip(root.tables("expect")) {
        warnings.extend(lint_expect::never_observed(scenario, &expectation.claim, table));
        warnings.extend(lint_servers::claim(scenario, &expectation.claim, table));
    }
    // Applications that share a setting share its warning.
    let mut told = BTreeSet::new();
    warnings.retain(|warning| told.insert((warning.title.clone(), warning.place.clone())));
    warnings
}

/// What concerns Eureka's settings.
fn eureka(scenario: ScenarioOf<'_, Eureka>, whence: &Whence<'_>, warnings: &mut Vec<Problem>) {
    for (at, app) in scenario.apps().enumerate() {
        warnings.extend(lease(app, at, whence));
        warnings.extend(delta_window(scenario, app, at, whence));
        warnings.extend(refused_delta(scenario, app, at, whence));
        warnings.extend(logged_delta(app, at, whence));
        warnings.extend(lint_link::hanging_calls(scenario, app, at, whence));
        warnings.extend(lint_link::slow_network(scenario, app, at, whence));
        warnings.extend(lint_link::lossy_network(scenario, app, at, whence));
        warnings.extend(lint_servers::zones(&scenario, &app, at, whence));
    }
    warnings.extend(lint_protection::lint(scenario, whence));
    warnings.extend(lint_servers::lint(scenario, whence));
    warnings.extend(without_effect(scenario, whence));
}

/// Where a setting was written.
pub(super) struct Whence<'d> {
    root: &'d Table,
    applications: Vec<&'d Table>,
}

impl Whence<'_> {
    /// The place of a setting of the file.
    pub(super) fn global(&self, path: &[&str]) -> Option<Place> {
        self.root.at(path).map(|node| node.place.clone())
    }

    /// The place of a setting that applies to an application: its own, or the file's.
    pub(super) fn of(&self, application: usize, path: &[&str]) -> Option<Place> {
        self.own(application, path).or_else(|| self.global(path))
    }

    /// The place of a setting of an application's own.
    pub(super) fn own(&self, application: usize, path: &[&str]) -> Option<Place> {
        let own = self.applications.get(application).and_then(|table| table.at(path));
        own.map(|node: &Node| node.place.clone())
    }
}

pub(super) const HEARTBEAT: [&str; 3] = ["eureka", "instance", "lease-renewal-interval-in-seconds"];
const LEASE: [&str; 3] = ["eureka", "instance", "lease-expiration-duration-in-seconds"];
const FETCH: [&str; 3] = ["eureka", "client", "registry-fetch-interval-seconds"];

pub(super) fn seconds(count: u32) -> SimDuration {
    SimDuration::from_secs(u64::from(count))
}

/// A lease that ends before a heartbeat is due: one duration after a registration (`eureka-server.md` 1.2).
fn lease(app: AppOf<'_, Eureka>, at: usize, whence: &Whence<'_>) -> Option<Problem> {
    let heartbeat = app.client.lease_renewal_interval_in_seconds;
    let lease = app.client.lease_expiration_duration_in_seconds;
    if lease > heartbeat || !app.client.register_with_eureka {
        return None;
    }
    let place = whence.of(at, &LEASE).or_else(|| whence.of(at, &HEARTBEAT));
    let consequence = if lease.saturating_mul(2) <= heartbeat {
        "every lease expires between two heartbeats: live instances are removed"
    } else {
        "the lease can expire between two heartbeats: live instances are removed"
    };
    Some(
        Problem::warning(place, format!("a lease of {lease} s is not longer than the heartbeat interval of {heartbeat} s"))
            .label(consequence)
            .related(whence.of(at, &HEARTBEAT), "the heartbeat interval")
            .hint("a lease lasts one duration after a registration, two after a heartbeat: give it at least three intervals"),
    )
}

/// A change that leaves the delta before a client comes to fetch it (`eureka-server.md` section 6).
fn delta_window(
    scenario: ScenarioOf<'_, Eureka>,
    app: AppOf<'_, Eureka>,
    at: usize,
    whence: &Whence<'_>,
) -> Option<Problem> {
    let (server, client) = (scenario.server(), app.client);
    if !client.fetch_registry || client.disable_delta || server.disable_delta {
        return None;
    }
    let cached =
        if server.use_read_only_response_cache { server.response_cache_update_interval_ms } else { 0 };
    let gap_ms = u64::from(client.registry_fetch_interval_seconds) * 1_000 + u64::from(cached);
    let kept_ms = u64::from(server.retention_time_in_ms_in_delta_queue);
    if gap_ms <= kept_ms {
        return None;
    }
    let retention = ["eureka", "server", "retention-time-in-m-s-in-delta-queue"];
    let place = whence.of(at, &FETCH).or_else(|| whence.global(&retention));
    let (gap, kept) = (SimDuration::from_millis(gap_ms), SimDuration::from_millis(kept_ms));
    Some(
        Problem::warning(
            place,
            format!("a change stays in the delta for {kept}, but a client may look only after {gap}"),
        )
        .label("clients miss changes: the hash differs and they fetch everything")
        .hint("the fetch interval and the response cache's together should stay below the delta's retention"),
    )
}

/// A server that refuses deltas to clients that ask for them (`eureka-client.md` 3.3).
fn refused_delta(
    scenario: ScenarioOf<'_, Eureka>,
    app: AppOf<'_, Eureka>,
    at: usize,
    whence: &Whence<'_>,
) -> Option<Problem> {
    if !scenario.server().disable_delta || app.client.disable_delta || !app.client.fetch_registry {
        return None;
    }
    Some(
        Problem::warning(
            whence.global(&["eureka", "server", "disable-delta"]),
            "the server refuses deltas, but its clients ask for them",
        )
        .label("every fetch is two requests: a delta answered 403, then a full one")
        .related(whence.of(at, &["eureka", "client", "disable-delta"]), "the clients' setting")
        .hint("set `disable-delta = true` in `[eureka.client]` too"),
    )
}

/// `log-delta-diff` (`eureka-client.md` 3.3).
fn logged_delta(app: AppOf<'_, Eureka>, at: usize, whence: &Whence<'_>) -> Option<Problem> {
    if !app.client.log_delta_diff || app.client.disable_delta {
        return None;
    }
    Some(
        Problem::warning(
            whence.of(at, &["eureka", "client", "log-delta-diff"]),
            "`log-delta-diff` does more than log",
        )
        .label("every delta is followed by a full fetch"),
    )
}

/// Settings that another one makes idle, unless they have their default, as in a canonical text.
fn without_effect(scenario: ScenarioOf<'_, Eureka>, whence: &Whence<'_>) -> Vec<Problem> {
    let server = scenario.server();
    let usual = ServerConfig::defaults(server.flavour);
    let idle = [
        (
            !server.use_read_only_response_cache
                && server.response_cache_update_interval_ms != usual.response_cache_update_interval_ms,
            "response-cache-update-interval-ms",
            "the read-only cache is off",
        ),
        (
            server.default_open_for_traffic_count > 0
                && server.wait_time_in_ms_when_sync_empty != usual.wait_time_in_ms_when_sync_empty,
            "wait-time-in-ms-when-sync-empty",
            "a Spring server counts as filled from the start, since `default-open-for-traffic-count` is not 0",
        ),
        (
            !server.enable_self_preservation
                && server.expected_client_renewal_interval_seconds
                    != usual.expected_client_renewal_interval_seconds,
            "expected-client-renewal-interval-seconds",
            "self-preservation is off",
        ),
    ];
    idle.into_iter()
        .filter(|(holds, ..)| *holds)
        .filter_map(|(_, name, why)| {
            let place = whence.global(&["eureka", "server", name])?;
            Some(Problem::warning(place, format!("`{name}` has no effect")).label(why))
        })
        .collect()
}

/// Calls to an application that the registry never shows.
fn nobody_answers(scenario: &Scenario, app: &Application, at: usize, whence: &Whence<'_>) -> Option<Problem> {
    let mut callees = app.traffic.iter().flat_map(|traffic| &traffic.to);
    let hidden = callees.find(|callee| !scenario.setup.client(**callee).is_shown_at_first())?;
    let hidden = &scenario.applications[hidden.index()];
    let place = whence.of(at, &["traffic", "to"]).or_else(|| whence.of(at, &["traffic"]));
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

#[cfg(test)]
pub(super) mod tests {
    use super::super::parse;

    /// The titles and labels of the warnings about a scenario, one a line.
    pub(in crate::scenario) fn warnings(text: &str) -> String {
        let text = format!("{text}\n[[application]]\nname = \"a\"\ninstances = 100\n");
        let loaded = parse("test.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
        let lines = loaded.warnings.iter().map(|warning| format!("{}: {}\n", warning.title, warning.label));
        lines.collect()
    }

    #[test]
    fn the_defaults_are_no_surprise() {
        assert_eq!(warnings(""), "");
    }

    #[test]
    fn a_lease_shorter_than_its_heartbeat() {
        let text = warnings("[eureka.instance]\nlease-expiration-duration-in-seconds = 20");
        assert!(text.contains("the lease can expire between two heartbeats"), "{text}");
        // Two durations of 15 s are the interval of 30 s: even a renewed lease ends.
        let text = warnings("[eureka.instance]\nlease-expiration-duration-in-seconds = 15");
        assert!(text.contains("every lease expires between two heartbeats"), "{text}");
    }

    #[test]
    fn a_change_that_leaves_the_delta_too_early() {
        // 160 s until the fetch and 30 s until the cache's refill exceed 180 s; 150 s and 30 s do not.
        let text = warnings("[eureka.client]\nregistry-fetch-interval-seconds = 160");
        assert!(text.contains("clients miss changes"), "{text}");
        assert_eq!(warnings("[eureka.client]\nregistry-fetch-interval-seconds = 150"), "");
    }

    #[test]
    fn deltas_that_are_refused_or_doubled() {
        let text = warnings("[eureka.server]\ndisable-delta = true");
        assert!(text.contains("every fetch is two requests"), "{text}");
        assert_eq!(
            warnings("[eureka.server]\ndisable-delta = true\n[eureka.client]\ndisable-delta = true"),
            ""
        );
        assert!(warnings("[eureka.client]\nlog-delta-diff = true").contains("followed by a full fetch"));
    }

    #[test]
    fn settings_without_effect() {
        let text = warnings("[eureka.client]\neureka-server-read-timeout-seconds = 4");
        assert!(text.contains("only Jersey heeds it; the transport is `rest-client`"), "{text}");
        let text = warnings("[eureka.server]\nwait-time-in-ms-when-sync-empty = 0");
        assert!(text.contains("counts as filled from the start"), "{text}");
    }
}
