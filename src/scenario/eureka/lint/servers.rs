//! Warnings about several servers: those that never hear of each other's clients, those that come back empty, those
//! that count a heartbeat twice, and batches that no peer can answer in time.

use crate::engine::{Distribution, SimDuration};
use crate::model::eureka::Eureka;
use crate::model::id::ServerId;
use crate::model::message::RequestKind;
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::eureka::lint::capacity;
use crate::scenario::eureka::lint::protection::{self, threshold};
use crate::scenario::lint::Spans;
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::types::claim::Claim;
use crate::scenario::types::{Application, Delay, Scenario, ServerList, ZoneId};
use crate::scenario::types::{all_of, server_name};

/// Items of a batch at most, and how long the oldest waits for others (`eureka-peers.md` 4.3).
const BATCH_MAX: f64 = 250.0;
const BATCH_DELAY: SimDuration = SimDuration::from_millis(500);
/// How long a peer is left alone after an answer that came too late (`eureka-peers.md` 4.2).
const CONGESTION: SimDuration = SimDuration::from_secs(1);
/// Pairs of servers that a message lists.
const PAIRS_MAX: usize = 3;

/// Whether every server hears of the clients of every other, each heartbeat once: what the arithmetic of one server
/// takes for granted.
pub(crate) fn all_hear_all(scenario: &Scenario) -> bool {
    let count = scenario.servers.len();
    all_of(count).all(|own| all_of(count).all(|to| is_told(scenario, own, to) == (own != to)))
}

fn is_told(scenario: &Scenario, own: ServerId, to: ServerId) -> bool {
    scenario.servers[own.index()].peers.contains(&to)
}

/// The servers that one of an application's instances may know.
pub(crate) fn known_by(scenario: &Scenario, app: &Application) -> Vec<ServerId> {
    match &app.server_list {
        ServerList::OneZone(named) => named.clone(),
        ServerList::OwnZoneFirst => all_of(scenario.servers.len()).collect(),
        ServerList::Zones(zones) => {
            let is_in = |id: &ServerId| zone_of(scenario, *id).is_some_and(|zone| zones.contains(&zone));
            all_of(scenario.servers.len()).filter(is_in).collect()
        }
    }
}

fn zone_of(scenario: &Scenario, id: ServerId) -> Option<ZoneId> {
    scenario.servers[id.index()].zone
}

/// What concerns all servers.
pub(crate) fn lint(scenario: ScenarioOf<'_, Eureka>, spans: &Spans<'_>) -> Vec<Problem> {
    let lints = [one_hop, counted_twice, late_answers, capacity::overload, refused_at_the_start];
    lints.into_iter().filter_map(|lint| lint(scenario, spans)).collect()
}

/// Changes travel one hop (`eureka-peers.md` section 1): who is no peer of the server that a client talks to never
/// learns of it.
fn one_hop(scenario: ScenarioOf<'_, Eureka>, spans: &Spans<'_>) -> Option<Problem> {
    let knowing = |wants: fn(&AppOf<'_, Eureka>) -> bool| -> Vec<ServerId> {
        let apps = scenario.apps().filter(|app| wants(app));
        let mut known: Vec<ServerId> = apps.flat_map(|app| known_by(&scenario, &app)).collect();
        known.sort_unstable();
        known.dedup();
        known
    };
    let (told, asked) =
        (knowing(|app| app.client.register_with_eureka), knowing(|app| app.client.fetch_registry));
    let pairs = told.iter().flat_map(|own| asked.iter().map(move |to| (*own, *to)));
    let deaf: Vec<_> = pairs.filter(|(own, to)| own != to && !is_told(&scenario, *own, *to)).collect();
    // Servers that nobody uses together are several registries, and meant so.
    let to_nobody = |own: ServerId| scenario.servers[own.index()].peers.iter().all(|peer| *peer == own);
    let apart = all_of(scenario.servers.len()).all(to_nobody);
    let alone = scenario.apps().all(|app| known_by(&scenario, &app).len() <= 1);
    if deaf.is_empty() || apart && alone {
        return None;
    }
    let place = spans.global(&["server", "peers"]).or_else(|| spans.global(&["server", "topology"]));
    let pair = |(own, to): &(ServerId, ServerId)| {
        format!("`{}` of those of `{}`", server_name(*to), server_name(*own))
    };
    let mut listed: Vec<String> = deaf.iter().take(PAIRS_MAX).map(pair).collect();
    if deaf.len() > PAIRS_MAX {
        listed.push(format!("{} more such pairs", deaf.len() - PAIRS_MAX));
    }
    Some(
        Problem::warning(place, "some servers never hear of the clients of others")
            .label(listed.join(", "))
            .hint(
                "a server passes on what clients tell it, and not what peers do: let each name all others, as \
                 `topology = \"full-mesh\"` does",
            ),
    )
}

/// A server that takes its own URL for a peer's counts what its clients tell it twice (`eureka-peers.md` section 1).
fn counted_twice(scenario: ScenarioOf<'_, Eureka>, spans: &Spans<'_>) -> Option<Problem> {
    let server = scenario.server();
    let count = scenario.servers.len();
    let twice = all_of(count).all(|own| is_told(&scenario, own, own));
    let others = all_of(count).all(|own| all_of(count).all(|to| is_told(&scenario, own, to)));
    let fleet = protection::Fleet::of(scenario);
    if !twice || !others || !server.enable_self_preservation || fleet.size == 0 {
        return None;
    }
    // With several, a share of 1 / count of the heartbeats comes from a server's own clients.
    let counted = fleet.renewals * (1.0 + 1.0 / count as f64);
    let needed = threshold(server, fleet.size.saturating_add(server.default_open_for_traffic_count));
    let lost = ((1.0 - needed / counted) * 100.0).round();
    let label = if counted <= needed {
        "even so self-preservation is always on".to_owned()
    } else {
        format!("self-preservation is disarmed until {lost} % of the fleet are gone")
    };
    let servers = if count == 1 { "it counts" } else { "with clients spread evenly each counts" };
    Some(
        Problem::warning(
            spans.global(&["server", "recognises-own-url"]),
            "a server that takes its own URL for a peer's counts its clients' heartbeats twice",
        )
        .label(label)
        .hint(format!("{servers} {counted:.0} renewals a minute against a threshold of {needed}")),
    )
}

/// A read limit that a peer's answer cannot meet: the batch is sent again and counted again (`eureka-peers.md` 4.5,
/// 4.6).
fn late_answers(scenario: ScenarioOf<'_, Eureka>, spans: &Spans<'_>) -> Option<Problem> {
    if scenario.servers.iter().all(|server| server.peers.is_empty()) {
        return None;
    }
    let limit = SimDuration::from_millis(u64::from(scenario.server().peer_node_read_timeout_ms));
    let links = scenario.server_network.unwrap_or(scenario.network);
    let way = match links.latency {
        Delay::Constant(longest) | Delay::Uniform(_, longest) => longest,
        Delay::Drawn(distribution) => distribution.p99(),
    };
    let trip = way * 2;
    // A server's own clients' heartbeats of half a second make a batch.
    let renewals = protection::Fleet::of(scenario).renewals / scenario.servers.len() as f64;
    let items = (renewals / 60.0 * BATCH_DELAY.as_secs_f64()).ceil().clamp(1.0, BATCH_MAX);
    let work = scenario.capacity.as_ref().map_or(SimDuration::ZERO, |capacity| {
        let batch = longest(capacity.service[RequestKind::Replicate as usize]);
        batch + longest(capacity.item) * items as u64
    });
    let needed = trip + work;
    if needed <= limit {
        return None;
    }
    let place = spans
        .global(&["eureka", "server", "peer-node-read-timeout-ms"])
        .or_else(|| spans.global(&["server", "capacity", "replicated-item"]))
        .or_else(|| spans.global(&["server", "capacity", "replicate"]))
        .or_else(|| spans.global(&["server", "network", "latency"]))
        .or_else(|| spans.global(&["network", "latency"]));
    let size = if items > 1.0 { format!("a batch of {items:.0}") } else { "a batch".to_owned() };
    let again = limit + CONGESTION;
    Some(
        Problem::warning(
            place,
            format!("a peer's answer may take {needed}, but a server waits {limit} for it"),
        )
        .label(format!("such a batch is sent again every {again}, and its heartbeats are counted again"))
        .hint(format!("{trip} on the way and {work} for {size}; set a longer `peer-node-read-timeout-ms`")),
    )
}

fn longest(distribution: Distribution) -> SimDuration {
    distribution.greatest().unwrap_or_else(|| distribution.p99())
}

/// Plain Netflix servers that start together: none finds a peer to copy from, and each then refuses fetches for a
/// while (`eureka-peers.md` 8.1, 8.3). Told only if that lasts until faults are due.
fn refused_at_the_start(scenario: ScenarioOf<'_, Eureka>, spans: &Spans<'_>) -> Option<Problem> {
    let server = scenario.server();
    if scenario.servers.len() < 2 || server.default_open_for_traffic_count > 0 {
        return None;
    }
    let all_serve = scenario.all_serve_after();
    let wait = SimDuration::from_millis(u64::from(server.wait_time_in_ms_when_sync_empty));
    let faults = all_serve + scenario.start_window + scenario.warm_up;
    let until = all_serve + wait;
    // Who starts when another already answers copies from it.
    if all_serve.saturating_sub(server.serves_after()) >= wait || until <= faults {
        return None;
    }
    let place = spans.global(&["start", "warm-up"]).or_else(|| spans.global(&["flavour"]));
    Some(
        Problem::warning(
            place,
            format!("servers that start empty refuse fetches until {until}, after the warm-up"),
        )
        .label(format!("faults are timed from {faults} on: clients may hold no registry then"))
        .hint(format!(
            "a server refuses for {wait} after it opened with nothing to copy; set a longer `warm-up`"
        )),
    )
}

/// The zones that an application prefers (`eureka-client.md` 6.3).
pub(crate) fn zones(scenario: &Scenario, app: &Application, at: usize, spans: &Spans<'_>) -> Option<Problem> {
    let holds = |zone: ZoneId| scenario.servers.iter().any(|server| server.zone == Some(zone));
    let place = spans.of(at, &["server-zones"]);
    match &app.server_list {
        ServerList::Zones(zones) => {
            let empty = zones.iter().find(|zone| !holds(**zone))?;
            let name = &scenario.zones[usize::from(empty.0)];
            Some(
                Problem::warning(place, format!("no server is in zone `{name}`"))
                    .label("without effect on the order of servers"),
            )
        }
        ServerList::OwnZoneFirst if app.zones.is_empty() => Some(
            Problem::warning(place, format!("the instances of `{}` are in no zone", app.name))
                .label("no server comes first")
                .hint("give the application `zones`"),
        ),
        ServerList::OwnZoneFirst => {
            let empty = app.zones.iter().find(|zone| !holds(**zone))?;
            let name = &scenario.zones[usize::from(empty.0)];
            Some(
                Problem::warning(place, format!("no server is in zone `{name}`"))
                    .label("for instances there no server comes first"),
            )
        }
        ServerList::OneZone(_) => None,
    }
}

/// Claims about servers that say nothing.
pub(crate) fn claim(scenario: &Scenario, claim: &Claim, table: &Table) -> Option<Problem> {
    let place = table.get("that").map(|node| node.place.clone());
    match claim {
        Claim::Utilisation(..) if scenario.capacity.is_none() => Some(
            Problem::warning(place, "servers without `capacity` are never busy")
                .label("their utilisation says nothing")
                .hint("set `threads` and how long requests take in `[server.capacity]`"),
        ),
        Claim::ServersAgree | Claim::ServersAgreeAfter(_) | Claim::Differing(..)
            if scenario.servers.len() == 1 =>
        {
            Some(Problem::warning(place, "there is one server").label("with whom should it agree?"))
        }
        Claim::ServersAgreeAfter(_) if scenario.faults.is_empty() => {
            Some(Problem::warning(place, "there is no fault").label("without one this expectation is missed"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::lint::tests::warnings;

    #[test]
    fn an_ordinary_cluster_is_no_surprise() {
        let usual = "register-with-eureka = true\nfetch-registry = true";
        for text in ["", usual, "zones = [\"a\", \"b\"]"] {
            assert_eq!(warnings(&format!("[server]\ncount = 3\n{text}")), "", "{text}");
        }
        let netflix = "flavour = \"netflix\"\n[server]\ncount = 3\nfetch-registry = true";
        assert_eq!(warnings(netflix), "");
    }

    #[test]
    fn changes_travel_one_hop() {
        let text = warnings("[server]\ncount = 3\ntopology = \"ring\"");
        assert!(
            text.contains("`server-3` of those of `server-1`, `server-1` of those of `server-2`"),
            "{text}"
        );
        // A ring of two is a mesh. Of four each misses two: eight pairs.
        assert_eq!(warnings("[server]\ncount = 2\ntopology = \"ring\""), "");
        assert!(warnings("[server]\ncount = 4\ntopology = \"ring\"").contains("5 more such pairs"));
        assert!(warnings("[server]\ncount = 2\ntopology = \"none\"").contains("never hear"));
    }

    #[test]
    fn a_server_that_is_its_own_peer_counts_twice() {
        // 100 clients: 200 renewals twice, against ⌊1.7 · 101⌋ = 171; 57 % may be gone.
        let text = warnings("[server]\nrecognises-own-url = false");
        assert!(text.contains("disarmed until 57 % of the fleet are gone"), "{text}");
        // Of two servers each hears half of them once and half twice: 300.
        let text = warnings("[server]\ncount = 2\nrecognises-own-url = false");
        assert!(text.contains("disarmed until 43 %"), "{text}");
    }

    #[test]
    fn answers_that_come_too_late_for_a_peer() {
        // 200 renewals a minute on two servers make 100 / 60 / 2 = 0.83 in half a second: a batch of one. 2 ms of way
        // and 250 ms of work.
        let slow = "[server]\ncount = 2\n[server.capacity]\nthreads = 10\nreplicated-item = \"250ms\"";
        let text = warnings(slow);
        assert!(text.contains("may take 252ms, but a server waits 200ms"), "{text}");
        assert!(text.contains("again every 1s 200ms"), "{text}");
        let patient = "[eureka.server]\npeer-node-read-timeout-ms = 252\n";
        assert_eq!(warnings(&format!("{patient}{slow}")), "");
        assert!(
            warnings("[server]\ncount = 2\n[server.network]\nlatency = \"101ms\"").contains("may take 202ms")
        );
    }

    #[test]
    fn netflix_servers_that_refuse_beyond_the_warm_up() {
        // The last opens after 1 min and 2 min, and refuses for 5 min; a warm-up of 4 min ends before.
        let text =
            "flavour = \"netflix\"\nstart.warm-up = \"4m\"\n[server]\ncount = 3\nfetch-registry = true";
        assert!(warnings(text).contains("refuse fetches until 8m"), "{}", warnings(text));
    }

    #[test]
    fn claims_that_say_nothing() {
        let claim = |text: &str| warnings(&format!("[[expect]]\nthat = \"{text}\""));
        assert!(claim("utilisation below 90 %").contains("never busy"));
        assert!(claim("servers agree at the end").contains("there is one server"));
        let unmet =
            warnings("[server]\ncount = 2\n[[expect]]\nthat = \"servers agree 5s after the last fault\"");
        assert!(unmet.contains("there is no fault"), "{unmet}");
    }
}
