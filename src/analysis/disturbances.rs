//! What no closed form of any registry survives: several servers, disturbed links and clocks, faults that do more than
//! make instances come or go.

use super::types::Absence;
use crate::scenario::{Peer, Scenario, Targets, Verb};

/// Nothing stands still, no message is lost, no clock runs wrong, and nobody interferes.
pub(super) fn undisturbed(scenario: &Scenario) -> Result<(), Absence> {
    one_server(scenario)?;
    if scenario.server_clock.drift_ppm != 0 {
        return Err(Absence::because("the server's clock drifts"));
    }
    let own = scenario.applications.iter().filter_map(|app| app.network);
    if own.chain([scenario.network]).any(|links| links.loss > 0.0) {
        return Err(Absence::because("messages are lost at random"));
    }
    match scenario.faults.iter().find_map(|fault| disturbance(&fault.verb)) {
        Some(reason) => Err(Absence::because(reason)),
        None => Ok(()),
    }
}

/// One server that answers at once and hears everything once.
fn one_server(scenario: &Scenario) -> Result<(), Absence> {
    let because = if scenario.servers.len() > 1 {
        "with several servers, whom an observer asks and when a peer learns are not in the closed form"
    } else if scenario.servers.iter().any(|server| !server.peers.is_empty()) {
        "the server replicates to itself: it counts heartbeats twice"
    } else if scenario.capacity.is_some() {
        "requests wait for the server's threads"
    } else {
        return Ok(());
    };
    Err(Absence::because(because))
}

/// What a fault does beyond making instances come or go at a known moment. Faults of which only callers notice
/// something (grey failures, links between instances) do nothing to what is registered and fetched.
fn disturbance(verb: &Verb) -> Option<&'static str> {
    // Links between servers are those of several, which no closed form covers.
    let carries_calls =
        |targets: &Targets, peer: &Peer| targets.is_server() || !matches!(peer, Peer::Instances { .. });
    match verb {
        Verb::Crash(targets) | Verb::Restart { targets, .. } => {
            targets.is_server().then_some("the server does not run all the time")
        }
        Verb::Stop { .. } | Verb::Start { .. } | Verb::Grey { .. } | Verb::FullDisk { .. } => None,
        Verb::Pause { targets, .. } | Verb::Pauses { targets, .. } if targets.is_server() => {
            Some("the server is paused")
        }
        Verb::Pause { .. } | Verb::Pauses { .. } => Some("a pause may delay what is watched"),
        Verb::Partition { targets, peer, .. } => {
            carries_calls(targets, peer).then_some("a partition may delay what is watched")
        }
        Verb::Flap { targets, peer, .. } | Verb::Degrade { targets, peer, .. } => {
            carries_calls(targets, peer).then_some("a bad link may delay what is watched")
        }
        Verb::CrashLoop { .. } => Some("instances may come back before their end has been noticed"),
        Verb::SlowHeartbeats { .. } => Some("heartbeats are late, so leases end at other times"),
        Verb::Clock { .. } => Some("a clock is set while leases are timed by it"),
        Verb::Unhealthy { .. } => Some("instances may be hidden before they end"),
        Verb::Override { .. } => Some("an operator changes what is shown"),
        Verb::Delete { .. } => Some("an operator deletes leases"),
        Verb::Change(_) => Some("a setting of the server changes during the run"),
        Verb::RollOut { .. } => Some("the batches of a roll-out depend on each other"),
        Verb::BlueGreen { .. } => Some("as many start as happen to run of the other application"),
        // All are killed at one moment, or all stop at one.
        Verb::Reclaim { heeded, .. } => {
            (*heeded > 0.0 && *heeded < 1.0).then_some("some heed the notice and some do not")
        }
    }
}
