//! What no closed form of any registry survives: several servers, disturbed links and clocks, faults that do more than
//! make instances come or go.

use thiserror::Error;

use crate::scenario::{FaultKind, Peer, Scenario, Targets};

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
fn disturbance(verb: &FaultKind) -> Option<Disturbance> {
    // Links between servers are those of several, which no closed form covers.
    let carries_calls =
        |targets: &Targets, peer: &Peer| targets.is_server() || !matches!(peer, Peer::Instances { .. });
    match verb {
        FaultKind::Crash(targets) | FaultKind::Restart { targets, .. } => {
            targets.is_server().then_some(Disturbance::ServerEnds)
        }
        FaultKind::Stop { .. }
        | FaultKind::Start { .. }
        | FaultKind::Grey { .. }
        | FaultKind::FullDisk { .. } => None,
        FaultKind::Pause { targets, .. } | FaultKind::Pauses { targets, .. } if targets.is_server() => {
            Some(Disturbance::ServerPause)
        }
        FaultKind::Pause { .. } | FaultKind::Pauses { .. } => Some(Disturbance::Pause),
        FaultKind::Partition { targets, peer, .. } => {
            carries_calls(targets, peer).then_some(Disturbance::Partition)
        }
        FaultKind::Flap { targets, peer, .. } | FaultKind::Degrade { targets, peer, .. } => {
            carries_calls(targets, peer).then_some(Disturbance::BadLink)
        }
        FaultKind::CrashLoop { .. } => Some(Disturbance::CrashLoop),
        FaultKind::SlowHeartbeats { .. } => Some(Disturbance::SlowHeartbeats),
        FaultKind::Clock { .. } => Some(Disturbance::ClockIsSet),
        FaultKind::Unhealthy { .. } => Some(Disturbance::Unhealthy),
        FaultKind::Override { .. } => Some(Disturbance::Override),
        FaultKind::Delete { .. } => Some(Disturbance::Delete),
        FaultKind::Change(_) => Some(Disturbance::Change),
        FaultKind::RollOut { .. } => Some(Disturbance::RollOut),
        FaultKind::BlueGreen { .. } => Some(Disturbance::BlueGreen),
        // All are killed at one moment, or all stop at one.
        FaultKind::Reclaim { heeded, .. } => {
            (*heeded > 0.0 && *heeded < 1.0).then_some(Disturbance::SomeHeed)
        }
    }
}
