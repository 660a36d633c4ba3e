//! Warnings about faults of servers: partitions in which a server evicts whom another has, and restarts after which
//! a server is empty.

use crate::engine::SimDuration;
use crate::model::eureka::Eureka;
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::eureka::lint::protection::{self, threshold};
use crate::scenario::eureka::lint::servers::{all_hear_all, known_by};
use crate::scenario::lint::seconds;
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::types::Fault;
use crate::scenario::types::targets::{Direction, Peer, ServerChoice, Targets};
use crate::scenario::types::verb::FaultKind;

/// All warnings about one fault.
pub(crate) fn lint(scenario: ScenarioOf<'_, Eureka>, fault: &Fault, table: &Table) -> Vec<Problem> {
    let lints = [unprotected, empty_again, too_fast];
    lints.into_iter().filter_map(|lint| lint(scenario, fault, table)).collect()
}

/// A partition between servers in which one side still sees more renewals than its threshold, and so evicts the live
/// instances of the other (`eureka-peers.md` section 10). Told only where the clients of all servers are equally many.
fn unprotected(scenario: ScenarioOf<'_, Eureka>, fault: &Fault, table: &Table) -> Option<Problem> {
    let FaultKind::Partition { targets: Targets::Servers(which), peer: Peer::Servers, length, lost } =
        &fault.verb
    else {
        return None;
    };
    let (server, count) = (scenario.server(), scenario.servers.len());
    let cut = match which {
        ServerChoice::All => return None,
        ServerChoice::Named(named) => named.len(),
        ServerChoice::Count(cut) => *cut as usize,
    };
    let even = scenario.apps().all(|app| known_by(&scenario, &app).len() == count);
    let fleet = protection::Fleet::of(scenario);
    let registering = scenario.apps().filter(|app| app.client.register_with_eureka);
    let lease = registering.map(life).min()?;
    let lasts = length.is_none_or(|length| length > lease);
    // Servers that register with each other are expected too, how many of them depends on their start.
    let sure = all_hear_all(&scenario) && server.enable_self_preservation && !server.register_with_eureka;
    if !even || !lasts || !sure || fleet.size == 0 {
        return None;
    }
    let needed = threshold(server, fleet.size.saturating_add(server.default_open_for_traffic_count));
    let share = |servers: usize| fleet.renewals * servers as f64 / count as f64;
    let sees = |servers: usize| share(servers) > needed && needed > 0.0;
    // Who is told less: the others of what the targets pass on, the targets of what the others do.
    let others = *lost != Direction::FromServer && sees(count - cut);
    let targets = *lost != Direction::ToServer && sees(cut);
    let (who, seen) = match (others, targets) {
        (true, true) => ("both sides evict", share(cut.min(count - cut))),
        (true, false) => ("the other servers evict", share(count - cut)),
        (false, true) => ("those that are cut off evict", share(cut)),
        (false, false) => return None,
    };
    let total = fleet.renewals;
    Some(
        Problem::warning(
            table.place.clone(),
            format!("{who} live instances of the other side: self-preservation does not hold them"),
        )
        .label(format!("their leases last {lease}, and nobody passes on their heartbeats"))
        .hint(format!(
            "of {total:.0} renewals a minute {seen:.0} still come, if every server has equally many clients, and the \
             threshold is {needed}"
        )),
    )
}

/// How long a renewed lease lasts.
fn life(app: AppOf<'_, Eureka>) -> SimDuration {
    seconds(app.client.lease_expiration_duration_in_seconds) * 2
}

/// A restarted server that copies nothing (`eureka-peers.md` 8.1, 8.3).
fn empty_again(scenario: ScenarioOf<'_, Eureka>, fault: &Fault, table: &Table) -> Option<Problem> {
    let FaultKind::Restart { targets: Targets::Servers(_), .. } = &fault.verb else { return None };
    if scenario.servers.len() < 2 || copies(scenario) || scenario.servers.iter().all(|it| it.peers.is_empty())
    {
        return None;
    }
    let why = if scenario.server().fetch_registry {
        "`registry-sync-retries` is 0, as by default without `register-with-eureka`"
    } else {
        "`fetch-registry` is off in `[server]`"
    };
    Some(
        Problem::warning(table.place.clone(), "a restarted server copies nothing from its peers")
            .label(format!("{why}: it starts empty"))
            .hint("real clusters set `register-with-eureka` and `fetch-registry`: then it tries five times to copy"),
    )
}

/// Servers that go down one after the other, before the last one has a whole registry again.
fn too_fast(scenario: ScenarioOf<'_, Eureka>, fault: &Fault, table: &Table) -> Option<Problem> {
    let FaultKind::Restart { targets: Targets::Servers(_), one_by_one: Some(wait), .. } = &fault.verb else {
        return None;
    };
    let needed = complete_after(scenario);
    if scenario.servers.len() < 2 || copies(scenario) || *wait >= needed {
        return None;
    }
    let place = table.at(&["restart", "one-by-one"]).map(|node| node.place.clone());
    Some(
        Problem::warning(place, format!("the next server goes down {wait} after one is back"))
            .label(format!("one that copies nothing is whole again only after {needed}"))
            .hint("it opens, and then every client must have sent a heartbeat"),
    )
}

/// Whether a server that starts copies what a peer has (`eureka-peers.md` 8.1).
fn copies(scenario: ScenarioOf<'_, Eureka>) -> bool {
    scenario.server().fetch_registry && scenario.server().registry_sync_retries > 0
}

/// From a server's start until it has a whole registry again, if it copies nothing: until it accepts requests, and
/// then one heartbeat interval, in which every client's heartbeat is answered 404 or passed on.
fn complete_after(scenario: ScenarioOf<'_, Eureka>) -> SimDuration {
    let registering = scenario.apps().filter(|app| app.client.register_with_eureka);
    let longest = registering.map(|app| app.client.lease_renewal_interval_in_seconds).max();
    scenario.server().serves_after() + seconds(longest.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use crate::scenario::lint::tests::warnings;

    fn about(servers: u32, fault: &str) -> String {
        warnings(&format!("[server]\ncount = {servers}\n[[fault]]\n{fault}"))
    }

    #[test]
    fn a_share_too_small_to_protect() {
        let cut = "partition = { servers = 1, for = \"10m\" }";
        // 100 clients, 200 renewals against ⌊1.7 · 101⌋ = 171: six servers see 166.7 without the seventh, seven of
        // eight 175.
        assert_eq!(about(6, cut), "");
        assert!(about(8, cut).contains("the other servers evict live instances"), "{}", about(8, cut));
        // No lease of 180 s ends within three minutes, and who still hears of all evicts nobody.
        assert_eq!(about(8, "partition = { servers = 1, for = \"3m\" }"), "");
        assert_eq!(about(8, "partition = { servers = 1, lost = \"from-peer\" }"), "");
    }

    #[test]
    fn fast_heartbeats_protect_neither_side() {
        // Every 5 s: 1,200 renewals, of which one of three sees 400, more than 171.
        let text = warnings(
            "[eureka.instance]\nlease-renewal-interval-in-seconds = 5\n[server]\ncount = 3\n[[fault]]\n\
             partition = { servers = [\"server-3\"], for = \"10m\" }",
        );
        assert!(text.contains("both sides evict"), "{text}");
    }

    #[test]
    fn servers_that_come_back_empty() {
        let restart = "restart = { servers = 1 }";
        assert!(about(2, restart).contains("`fetch-registry` is off"), "{}", about(2, restart));
        let fetches = format!("[server]\ncount = 2\nfetch-registry = true\n[[fault]]\n{restart}");
        assert!(warnings(&fetches).contains("`registry-sync-retries` is 0"));
        let both = fetches.replace("fetch-registry", "register-with-eureka = true\nfetch-registry");
        assert_eq!(warnings(&both), "");
        let rolling =
            |wait: &str| about(2, &format!("restart = {{ servers = \"all\", one-by-one = \"{wait}\" }}"));
        assert!(rolling("10s").contains("whole again only after 30s"), "{}", rolling("10s"));
        assert!(!rolling("30s").contains("whole again"));
    }
}
