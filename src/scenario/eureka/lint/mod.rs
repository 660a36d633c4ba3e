//! Warnings about Eureka's settings: of one client and one server here, self-preservation in [`protection`] and, for
//! roll-outs and storms, in [`fleet`], links in [`link`], leases that run out in [`lease`], several servers in [`servers`],
//! what is done to them in [`outage`], and what they can do in [`capacity`].

use crate::engine::SimDuration;
use crate::model::eureka::{Eureka, ServerConfig};
use crate::scenario::diagnostics::Problem;
use crate::scenario::lint::Spans;
use crate::scenario::setup::{AppOf, ScenarioOf};

mod capacity;
pub(crate) mod fleet;
pub(crate) mod lease;
pub(crate) mod link;
pub(crate) mod outage;
pub(crate) mod protection;
pub(crate) mod servers;

/// What concerns Eureka's settings.
pub(crate) fn lint(scenario: ScenarioOf<'_, Eureka>, spans: &Spans<'_>, warnings: &mut Vec<Problem>) {
    for (at, app) in scenario.apps().enumerate() {
        warnings.extend(lease(app, at, spans));
        warnings.extend(delta_window(scenario, app, at, spans));
        warnings.extend(refused_delta(scenario, app, at, spans));
        warnings.extend(logged_delta(app, at, spans));
        warnings.extend(link::hanging_calls(scenario, app, at, spans));
        warnings.extend(link::slow_network(scenario, app, at, spans));
        warnings.extend(link::lossy_network(scenario, app, at, spans));
        warnings.extend(servers::zones(&scenario, &app, at, spans));
    }
    warnings.extend(protection::lint(scenario, spans));
    warnings.extend(servers::lint(scenario, spans));
    warnings.extend(without_effect(scenario, spans));
}

pub(crate) const HEARTBEAT: [&str; 3] = ["eureka", "instance", "lease-renewal-interval-in-seconds"];
const LEASE: [&str; 3] = ["eureka", "instance", "lease-expiration-duration-in-seconds"];
const FETCH: [&str; 3] = ["eureka", "client", "registry-fetch-interval-seconds"];

/// A lease that ends before a heartbeat is due: one duration after a registration (`eureka-server.md` 1.2).
fn lease(app: AppOf<'_, Eureka>, at: usize, spans: &Spans<'_>) -> Option<Problem> {
    let heartbeat = app.client.lease_renewal_interval_in_seconds;
    let lease = app.client.lease_expiration_duration_in_seconds;
    if lease > heartbeat || !app.client.register_with_eureka {
        return None;
    }
    let place = spans.of(at, &LEASE).or_else(|| spans.of(at, &HEARTBEAT));
    let consequence = if lease.saturating_mul(2) <= heartbeat {
        "every lease expires between two heartbeats: live instances are removed"
    } else {
        "the lease can expire between two heartbeats: live instances are removed"
    };
    Some(
        Problem::warning(place, format!("a lease of {lease} s is not longer than the heartbeat interval of {heartbeat} s"))
            .label(consequence)
            .related(spans.of(at, &HEARTBEAT), "the heartbeat interval")
            .hint("a lease lasts one duration after a registration, two after a heartbeat: give it at least three intervals"),
    )
}

/// A change that leaves the delta before a client comes to fetch it (`eureka-server.md` section 6).
fn delta_window(
    scenario: ScenarioOf<'_, Eureka>,
    app: AppOf<'_, Eureka>,
    at: usize,
    spans: &Spans<'_>,
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
    let place = spans.of(at, &FETCH).or_else(|| spans.global(&retention));
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
    spans: &Spans<'_>,
) -> Option<Problem> {
    if !scenario.server().disable_delta || app.client.disable_delta || !app.client.fetch_registry {
        return None;
    }
    Some(
        Problem::warning(
            spans.global(&["eureka", "server", "disable-delta"]),
            "the server refuses deltas, but its clients ask for them",
        )
        .label("every fetch is two requests: a delta answered 403, then a full one")
        .related(spans.of(at, &["eureka", "client", "disable-delta"]), "the clients' setting")
        .hint("set `disable-delta = true` in `[eureka.client]` too"),
    )
}

/// `log-delta-diff` (`eureka-client.md` 3.3).
fn logged_delta(app: AppOf<'_, Eureka>, at: usize, spans: &Spans<'_>) -> Option<Problem> {
    if !app.client.log_delta_diff || app.client.disable_delta {
        return None;
    }
    Some(
        Problem::warning(
            spans.of(at, &["eureka", "client", "log-delta-diff"]),
            "`log-delta-diff` does more than log",
        )
        .label("every delta is followed by a full fetch"),
    )
}

/// Settings that another one makes idle, unless they have their default, as in a canonical text.
fn without_effect(scenario: ScenarioOf<'_, Eureka>, spans: &Spans<'_>) -> Vec<Problem> {
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
            let place = spans.global(&["eureka", "server", name])?;
            Some(Problem::warning(place, format!("`{name}` has no effect")).label(why))
        })
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::scenario::lint::tests::warnings;

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
