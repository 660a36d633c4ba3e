//! Warnings about self-preservation: where it never lets go, where it never takes hold.
//!
//! All of them compare two numbers of `eureka-server.md` section 4: the renewals of a minute, `60 / heartbeat`
//! for each client, and the threshold, `⌊expected × (60 / assumed interval) × share⌋`. Eviction needs more
//! renewals than the threshold, strictly. `expected` is the fleet, and one more on a standalone Spring server
//! (4.6), for good unless the server fetches the registry.

use crate::engine::SimDuration;
use crate::model::eureka::{Eureka, ServerConfig};
use crate::scenario::diagnostics::Problem;
use crate::scenario::eureka::lint::servers::all_hear_all;
use crate::scenario::lint::Spans;
use crate::scenario::setup::ScenarioOf;

const SHARE: [&str; 3] = ["eureka", "server", "renewal-percent-threshold"];
const ASSUMED: [&str; 3] = ["eureka", "server", "expected-client-renewal-interval-seconds"];
const HEARTBEAT: [&str; 3] = ["eureka", "instance", "lease-renewal-interval-in-seconds"];

/// At most one warning: the first that applies makes the others moot.
pub(crate) fn lint(scenario: ScenarioOf<'_, Eureka>, spans: &Spans<'_>) -> Option<Problem> {
    let server = scenario.server();
    let fleet = Fleet::of(scenario);
    if fleet.size == 0 {
        return None;
    }
    let certain = impossible_share(server, spans).or_else(|| never_counted(scenario, spans));
    // What a server is not told, or is told twice, makes it count otherwise.
    if certain.is_some() || !all_hear_all(&scenario) {
        return certain;
    }
    other_interval(server, &fleet, spans).or_else(|| structural(server, &fleet))
}

/// The clients that renew.
pub(crate) struct Fleet {
    pub(crate) size: u32,
    /// Renewals of a minute while all are alive.
    pub(crate) renewals: f64,
    /// Renewals of a minute of the client that renews most.
    most: f64,
    /// The shortest and the longest heartbeat interval, seconds.
    intervals: (u32, u32),
}

impl Fleet {
    pub(crate) fn of(scenario: ScenarioOf<'_, Eureka>) -> Self {
        let mut fleet = Self { size: 0, renewals: 0.0, most: 0.0, intervals: (u32::MAX, 0) };
        for app in scenario.apps().filter(|app| app.client.register_with_eureka) {
            let interval = app.client.lease_renewal_interval_in_seconds;
            let each = 60.0 / f64::from(interval);
            fleet.size = fleet.size.saturating_add(app.instances);
            fleet.renewals += each * f64::from(app.instances);
            fleet.most = fleet.most.max(each);
            fleet.intervals = (fleet.intervals.0.min(interval), fleet.intervals.1.max(interval));
        }
        fleet
    }
}

/// The threshold for so many expected clients (`eureka-server.md` 4.2).
pub(crate) fn threshold(server: &ServerConfig, expected: u32) -> f64 {
    let interval =
        if server.rules.legacy_threshold { 30 } else { server.expected_client_renewal_interval_seconds };
    (f64::from(expected) * (60.0 / f64::from(interval)) * server.renewal_percent_threshold).trunc()
}

fn impossible_share(server: &ServerConfig, spans: &Spans<'_>) -> Option<Problem> {
    let share = server.renewal_percent_threshold;
    let why = if share >= 1.0 {
        "a round may evict `size - size × 1.0` leases, none: nothing is ever evicted, protection on or off"
    } else if share <= 0.0 && server.enable_self_preservation {
        "the threshold is 0, and a threshold of 0 disables eviction: nothing is ever evicted"
    } else {
        return None;
    };
    Some(
        Problem::warning(spans.global(&SHARE), format!("a `renewal-percent-threshold` of {share:?}"))
            .label("nothing is ever evicted")
            .hint(why),
    )
}

/// An empty start with an expectation of 0, which registrations never lift (`eureka-server.md` 4.6, Netflix #1459).
fn never_counted(scenario: ScenarioOf<'_, Eureka>, spans: &Spans<'_>) -> Option<Problem> {
    let server = scenario.server();
    if !server.enable_self_preservation || server.default_open_for_traffic_count > 0 {
        return None;
    }
    let place = spans
        .global(&["eureka", "instance", "registry", "default-open-for-traffic-count"])
        .or_else(|| spans.global(&["flavour"]));
    let update = SimDuration::from_millis(u64::from(server.renewal_threshold_update_interval_ms));
    let problem = Problem::warning(place, "an empty start leaves the expected number of clients at 0").hint(
        "registrations raise it only from 1 on; the threshold update counts what the server itself fetches",
    );
    if !server.fetch_registry {
        return Some(problem.label("nothing is ever evicted: the server does not fetch the registry"));
    }
    (scenario.all_serve_after() + update >= scenario.duration)
        .then(|| problem.label(format!("nothing is evicted before the threshold update after {update}")))
}

/// Heartbeats at another interval than the server assumes (`eureka-client.md` section 7).
fn other_interval(server: &ServerConfig, fleet: &Fleet, spans: &Spans<'_>) -> Option<Problem> {
    let assumed =
        if server.rules.legacy_threshold { 30 } else { server.expected_client_renewal_interval_seconds };
    if !server.enable_self_preservation || fleet.intervals == (assumed, assumed) {
        return None;
    }
    let needed = threshold(server, fleet.size);
    let place = spans.of(0, &HEARTBEAT).or_else(|| spans.global(&ASSUMED));
    let (shortest, longest) = fleet.intervals;
    let beats =
        if shortest == longest { format!("{shortest} s") } else { format!("{shortest} to {longest} s") };
    let lost = ((1.0 - needed / fleet.renewals) * 100.0).round();
    let label = if fleet.renewals <= needed {
        "self-preservation is always on: nothing is ever evicted".to_owned()
    } else if fleet.renewals * server.renewal_percent_threshold > needed {
        format!("self-preservation is disarmed until {lost} % of the fleet are gone")
    } else {
        format!("self-preservation engages already when {lost} % of the fleet are gone")
    };
    Some(
        Problem::warning(place, format!("heartbeats come every {beats}, but the server assumes {assumed} s"))
            .label(label)
            .related(spans.global(&ASSUMED), "what the server assumes")
            .hint("set `expected-client-renewal-interval-seconds` to the heartbeat interval"),
    )
}

/// A fleet so small that it is protected while healthy, or as soon as one is gone (`eureka-server.md` 4.4).
fn structural(server: &ServerConfig, fleet: &Fleet) -> Option<Problem> {
    // A server that registers with itself opens with a count that depends on phases (8.3): nothing is certain.
    if !server.enable_self_preservation || server.register_with_eureka {
        return None;
    }
    let surplus = server.default_open_for_traffic_count;
    let expected = fleet.size.saturating_add(surplus);
    let corrected = server.fetch_registry
        && f64::from(fleet.size) > server.renewal_percent_threshold * f64::from(expected);
    let needed = threshold(server, if corrected { fleet.size } else { expected });
    let expected = if corrected { fleet.size } else { expected };
    let renewals = fleet.renewals;
    let left = renewals - fleet.most;
    let (label, compared) = if renewals <= needed {
        ("nothing is ever evicted, even while every instance is alive", renewals)
    } else if left <= needed {
        ("a single crash engages self-preservation: the dead instance is never evicted", left)
    } else {
        return None;
    };
    let clients = fleet.size;
    Some(
        Problem::warning(None, format!("a fleet of {clients} is too small for self-preservation: {label}"))
            .hint(format!(
                "{compared} renewals a minute against a threshold of {needed}, from {expected} expected clients; \
                 eviction needs more than the threshold"
            )),
    )
}

#[cfg(test)]
mod tests {
    use crate::scenario::parse;

    fn warning(instances: u32, text: &str) -> String {
        let text = format!("{text}\n[[application]]\nname = \"a\"\ninstances = {instances}\n");
        let loaded = parse("test.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
        loaded.warnings.iter().map(|it| format!("{}: {}", it.title, it.label)).collect()
    }

    #[test]
    fn small_fleets_are_protected_for_ever() {
        // Standalone Spring expects one more: 5 clients, 10 renewals against ⌊1.7 × 6⌋ = 10.
        assert!(warning(5, "").contains("even while every instance is alive"));
        // 10 clients, one dead: 18 renewals against ⌊1.7 × 11⌋ = 18. 14 clients: 26 against ⌊1.7 × 15⌋ = 25.
        assert!(warning(10, "").contains("a single crash engages"));
        assert_eq!(warning(14, ""), "");
        assert_eq!(warning(5, "[eureka.server]\nenable-self-preservation = false"), "");
    }

    #[test]
    fn a_server_that_fetches_loses_its_surplus_of_one() {
        // 10 > 0.85 × 11, so the update sets 10: 18 renewals against ⌊1.7 × 10⌋ = 17.
        assert_eq!(warning(10, "[server]\nfetch-registry = true"), "");
    }

    #[test]
    fn heartbeats_at_another_interval() {
        // 100 clients every 10 s: 600 renewals against ⌊100 × 2 × 0.85⌋ = 170, 71.7 % may be gone.
        let fast = warning(100, "[eureka.instance]\nlease-renewal-interval-in-seconds = 10");
        assert!(fast.contains("disarmed until 72 % of the fleet are gone"), "{fast}");
        // Every 40 s: 150 renewals are below 170.
        let slow = warning(100, "[eureka.instance]\nlease-renewal-interval-in-seconds = 40");
        assert!(slow.contains("always on"), "{slow}");
        // Every 33 s: 181.8 renewals, 170 needed: 6.5 %.
        let slow = warning(100, "[eureka.instance]\nlease-renewal-interval-in-seconds = 33");
        assert!(slow.contains("engages already when 6 % of the fleet are gone"), "{slow}");
    }

    #[test]
    fn shares_that_forbid_eviction() {
        assert!(
            warning(100, "[eureka.server]\nrenewal-percent-threshold = 1.0")
                .contains("nothing is ever evicted")
        );
        assert!(
            warning(100, "[eureka.server]\nrenewal-percent-threshold = 0")
                .contains("nothing is ever evicted")
        );
    }

    #[test]
    fn plain_netflix_never_counts_an_empty_start() {
        assert!(warning(100, "flavour = \"netflix\"").contains("the server does not fetch the registry"));
        assert_eq!(warning(100, "flavour = \"netflix\"\n[server]\nfetch-registry = true"), "");
        let short = "flavour = \"netflix\"\nduration = \"16m\"\n[server]\nfetch-registry = true";
        assert!(warning(100, short).contains("before the threshold update after 15m"));
    }
}
