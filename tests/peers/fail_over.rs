//! How long a client takes to its next server, by transport (`eureka-client.md` 6.7, `eureka-peers.md` 11.7).
//!
//! Servers that tell each other nothing show it: the next one learns of the client from itself, by a heartbeat that it
//! answers with 404 and the registration at once, and then registries differ otherwise than before.

use stillup::observe::ReplicateData;

use super::cluster::replicate;

/// The moment of the fault, ms. The client beats 7 s later, and every 30 s.
const FAULT_MS: u64 = 1_200_000;
const BEAT_MS: u64 = FAULT_MS + 7_000;

/// Three servers that do not know each other, and a client whose home is the first if its zone comes first.
fn text(servers: u32, list: &str, transport: &str, fault: &str, lasts_s: u64) -> String {
    let start_ms = BEAT_MS - 30_000 * 39;
    format!(
        "replicates = 1\nstop-when-settled = false\nduration = \"{}s\"\n{transport}\n\
         start = {{ window = \"0s\", warm-up = \"0s\" }}\nnetwork.latency = \"0s\"\n\
         server.count = {servers}\nserver.topology = \"none\"\nserver.start-window = \"0s\"\n\
         server.zones = [\"a\", \"b\", \"b\"]\n\
         eureka.client.transport.sessioned-client-reconnect-interval-seconds = 1000000\n\
         [[application]]\nname = \"orders\"\ninstances = 0\nzones = [\"a\"]\n{list}\n\
         [[fault]]\nat = \"{start_ms}ms\"\nwithin = \"0s\"\nstart = {{ application = \"orders\", count = 1 }}\n\
         [[fault]]\nat = \"{FAULT_MS}ms\"\nwithin = \"0s\"\n{fault}\n",
        FAULT_MS / 1_000 + lasts_s,
    )
}

const HOME_FIRST: &str = "server-zones = \"own-first\"";
const ANY: &str = "servers = [\"server-1\", \"server-2\"]";

/// How long after its beat the client is known elsewhere, ms; `None`: not until the end.
fn moved_after(data: &ReplicateData) -> Option<u64> {
    let change = data.divergence.iter().find(|row| row.at.as_millis() > FAULT_MS);
    change.map(|row| row.at.as_millis() - BEAT_MS)
}

fn killed(transport: &str) -> Option<u64> {
    moved_after(&replicate(&text(3, HOME_FIRST, transport, "crash = { servers = [\"server-1\"] }", 60), 0))
}

/// Over 20 replicates, in order, each once.
fn black_holed(list: &str, transport: &str, lasts_s: u64) -> Vec<Option<u64>> {
    let cut = "partition = { servers = [\"server-1\"], peer = \"all\" }";
    let text = text(2, list, transport, cut, lasts_s);
    let mut seen: Vec<_> = (0..20).map(|number| moved_after(&replicate(&text, number))).collect();
    seen.sort_unstable();
    seen.dedup();
    seen
}

const JERSEY: &str = "transport.kind = \"jersey\"";
const POOLED_JERSEY: &str = "transport = { kind = \"jersey\", pooled = true }";

#[test]
fn six_7_who_is_refused_moves_in_the_same_call() {
    for transport in [JERSEY, "transport.kind = \"rest-template\"", "transport.kind = \"rest-client\""] {
        assert_eq!(killed(transport), Some(0), "{transport}");
    }
}

#[test]
fn six_7_jersey_moves_after_one_limit_or_two() {
    // The delegate costs 5 s to connect to. If the list starts with it, it is tried once more.
    assert_eq!(black_holed(HOME_FIRST, JERSEY, 100), [Some(10_000)]);
    // In any order: whose home is the other server does not move. The list is shuffled anew every 300 s.
    assert_eq!(black_holed(ANY, JERSEY, 100), [None, Some(5_000), Some(10_000)]);
    // Over a pooled connection the first attempt waits 8 s for an answer; the second one connects.
    assert_eq!(black_holed(HOME_FIRST, POOLED_JERSEY, 100), [Some(13_000)]);
    assert_eq!(black_holed(ANY, POOLED_JERSEY, 100), [None, Some(8_000), Some(13_000)]);
}

#[test]
fn six_7_after_180_s_it_moves_when_its_list_starts_with_another() {
    // Calls begin 0, 90, 240, 510, 840, 1170, … s after the first into the black hole. The first to find no delegate is
    // the third. A list that starts with the server that is lost costs the call, and the next comes 270 or 330 s later.
    let seen = black_holed(ANY, "", 1_400);
    assert!(seen.contains(&Some(240_000)), "{seen:?}");
    let calls = [None, Some(240_000), Some(510_000), Some(840_000), Some(1_170_000)];
    assert!(seen.iter().all(|moved| calls.contains(moved)), "{seen:?}");
    // A list that always starts with the own zone never lets it go.
    assert_eq!(black_holed(HOME_FIRST, "", 1_400), [None]);
}
