//! What no closed form of any registry survives: several servers, disturbed links and clocks, faults that do more than
//! make instances come or go.

use thiserror::Error;

use crate::scenario::{Peer, Scenario, Targets, Verb};

/// What leaves no closed form of any registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Disturbance {
    /// Whom an observer asks is not known.
    #[error("with several servers, whom an observer asks and when a peer learns are not in the closed form")]
    SeveralServers,
    /// The server takes its own address for a peer's.
    #[error("the server replicates to itself: it counts heartbeats twice")]
    ReplicatesToItself,
    /// The server takes up a request when it has a thread for it.
    #[error("requests wait for the server's threads")]
    ServerThreads,
    /// Its seconds are longer or shorter than others'.
    #[error("the server's clock drifts")]
    ServerClock,
    /// Some link loses messages.
    #[error("messages are lost at random")]
    Loss,
    /// A fault ends the server.
    #[error("the server does not run all the time")]
    ServerEnds,
    /// A fault halts the server.
    #[error("the server is paused")]
    ServerPause,
    /// A fault halts instances.
    #[error("a pause may delay what is watched")]
    Pause,
    /// A fault cuts off those who register or fetch.
    #[error("a partition may delay what is watched")]
    Partition,
    /// A fault makes their links worse.
    #[error("a bad link may delay what is watched")]
    BadLink,
    /// Instances end again and again.
    #[error("instances may come back before their end has been noticed")]
    CrashLoop,
    /// Heartbeats keep no interval.
    #[error("heartbeats are late, so leases end at other times")]
    SlowHeartbeats,
    /// A clock jumps.
    #[error("a clock is set while leases are timed by it")]
    ClockIsSet,
    /// Instances report that they are not well.
    #[error("instances may be hidden before they end")]
    Unhealthy,
    /// An operator overrides a status.
    #[error("an operator changes what is shown")]
    Override,
    /// An operator takes out who is there.
    #[error("an operator deletes leases")]
    Delete,
    /// The settings of one moment are not those of another.
    #[error("a setting of the server changes during the run")]
    Change,
    /// A batch starts when the one before it is through.
    #[error("the batches of a roll-out depend on each other")]
    RollOut,
    /// How many start is known when they do.
    #[error("as many start as happen to run of the other application")]
    BlueGreen,
    /// Some stop in order and some are killed.
    #[error("some heed the notice and some do not")]
    SomeHeed,
}

/// Nothing stands still, no message is lost, no clock runs wrong, and nobody interferes.
pub(super) fn undisturbed(scenario: &Scenario) -> Result<(), Disturbance> {
    one_server(scenario)?;
    if scenario.server_clock.drift_ppm != 0 {
        return Err(Disturbance::ServerClock);
    }
    let own = scenario.applications.iter().filter_map(|app| app.network);
    if own.chain([scenario.network]).any(|links| links.loss > 0.0) {
        return Err(Disturbance::Loss);
    }
    let by_fault = scenario.faults.iter().find_map(|fault| disturbance(&fault.verb));
    by_fault.map_or(Ok(()), Err)
}

/// One server that answers at once and hears everything once.
fn one_server(scenario: &Scenario) -> Result<(), Disturbance> {
    let disturbance = if scenario.servers.len() > 1 {
        Disturbance::SeveralServers
    } else if scenario.servers.iter().any(|server| !server.peers.is_empty()) {
        Disturbance::ReplicatesToItself
    } else if scenario.capacity.is_some() {
        Disturbance::ServerThreads
    } else {
        return Ok(());
    };
    Err(disturbance)
}

/// What a fault does beyond making instances come or go at a known moment. Faults of which only callers notice
/// something (grey failures, links between instances) do nothing to what is registered and fetched.
fn disturbance(verb: &Verb) -> Option<Disturbance> {
    // Links between servers are those of several, which no closed form covers.
    let carries_calls =
        |targets: &Targets, peer: &Peer| targets.is_server() || !matches!(peer, Peer::Instances { .. });
    match verb {
        Verb::Crash(targets) | Verb::Restart { targets, .. } => {
            targets.is_server().then_some(Disturbance::ServerEnds)
        }
        Verb::Stop { .. } | Verb::Start { .. } | Verb::Grey { .. } | Verb::FullDisk { .. } => None,
        Verb::Pause { targets, .. } | Verb::Pauses { targets, .. } if targets.is_server() => {
            Some(Disturbance::ServerPause)
        }
        Verb::Pause { .. } | Verb::Pauses { .. } => Some(Disturbance::Pause),
        Verb::Partition { targets, peer, .. } => {
            carries_calls(targets, peer).then_some(Disturbance::Partition)
        }
        Verb::Flap { targets, peer, .. } | Verb::Degrade { targets, peer, .. } => {
            carries_calls(targets, peer).then_some(Disturbance::BadLink)
        }
        Verb::CrashLoop { .. } => Some(Disturbance::CrashLoop),
        Verb::SlowHeartbeats { .. } => Some(Disturbance::SlowHeartbeats),
        Verb::Clock { .. } => Some(Disturbance::ClockIsSet),
        Verb::Unhealthy { .. } => Some(Disturbance::Unhealthy),
        Verb::Override { .. } => Some(Disturbance::Override),
        Verb::Delete { .. } => Some(Disturbance::Delete),
        Verb::Change(_) => Some(Disturbance::Change),
        Verb::RollOut { .. } => Some(Disturbance::RollOut),
        Verb::BlueGreen { .. } => Some(Disturbance::BlueGreen),
        // All are killed at one moment, or all stop at one.
        Verb::Reclaim { heeded, .. } => (*heeded > 0.0 && *heeded < 1.0).then_some(Disturbance::SomeHeed),
    }
}
