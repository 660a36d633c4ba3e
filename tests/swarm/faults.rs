//! Faults drawn at random: every verb that there is.

use stillup::engine::{Distribution, SimDuration};
use stillup::model::id::{AppId, ServerId};
use stillup::model::message::Status;
use stillup::scenario::{
    Batch, Change, Direction, Fault, FaultKind, HealthVia, Order, Peer, Selection, ServerChoice,
    TargetChoice, Targets, ZoneId,
};

use super::worlds::Draw;

/// No fault lasts longer. Roll-outs take at most five batches of 50 s each.
pub(crate) const LENGTH_MAX: SimDuration = SimDuration::from_secs(300);

/// Any verb, with any targets.
pub(crate) fn fault(draw: &mut Draw<'_>, applications: u64, servers: u64) -> Fault {
    let application = AppId(draw.below(applications) as u32);
    let other = AppId(draw.below(applications) as u32);
    let selection = Selection {
        application: draw.chance(50).then_some(application),
        zone: draw.chance(20).then_some(ZoneId(draw.below(2) as u16)),
        which: match draw.below(3) {
            0 => TargetChoice::All,
            1 => TargetChoice::Count(1 + draw.below(5) as u32),
            _ => TargetChoice::Share(draw.below(100) as f64 / 100.0),
        },
    };
    let verb = match draw.below(if servers > 1 { 8 } else { 5 }) {
        0 => of_processes(draw, selection, application),
        1 => of_pauses_and_clocks(draw, selection),
        2 => of_links(draw, selection.into(), other, servers),
        3 => of_health_and_operators(draw, selection, servers),
        5 => of_servers(draw, servers),
        6 | 7 => {
            let targets = Targets::Servers(some_servers(draw, servers));
            of_links(draw, targets, other, servers)
        }
        _ => of_fleets(draw, selection, application, other),
    };
    Fault { at: draw.seconds(&[0, 20, 200]), within: draw.seconds(&[0, 30]), verb }
}

fn length(draw: &mut Draw<'_>) -> SimDuration {
    draw.seconds(&[1, 10, 40, 120, 300])
}

/// Something that takes seconds, now and then next to nothing, and seldom minutes.
fn random_length(draw: &mut Draw<'_>) -> Distribution {
    let seconds = draw.seconds(&[1, 5, 30]);
    match draw.below(4) {
        0 => Distribution::constant(seconds),
        1 => Distribution::uniform(SimDuration::ZERO, seconds).expect("in order"),
        2 => Distribution::exponential(seconds).expect("longer than zero"),
        _ => Distribution::log_normal(seconds, 1.0).expect("longer than zero"),
    }
}

fn server_or(draw: &mut Draw<'_>, selection: Selection) -> Targets {
    if draw.chance(20) { Targets::Servers(ServerChoice::All) } else { Targets::Instances(selection) }
}

/// Some of several servers.
fn some_servers(draw: &mut Draw<'_>, servers: u64) -> ServerChoice {
    match draw.below(3) {
        0 => ServerChoice::Count(1 + draw.below(servers) as u32),
        1 => ServerChoice::Named(vec![ServerId(draw.below(servers) as u32)]),
        _ => {
            let rest = (1..servers as u32).filter(|_| draw.chance(50)).map(ServerId);
            ServerChoice::Named(std::iter::once(ServerId(0)).chain(rest).collect())
        }
    }
}

/// What ends servers, and what makes one stand still.
fn of_servers(draw: &mut Draw<'_>, servers: u64) -> FaultKind {
    let targets = Targets::Servers(some_servers(draw, servers));
    match draw.below(5) {
        0 => FaultKind::Crash(Targets::Servers(ServerChoice::Count(1))),
        1 => FaultKind::Pause { targets, length: Distribution::constant(length(draw)) },
        2 => FaultKind::Restart {
            targets: Targets::Servers(ServerChoice::All),
            down_for: draw.seconds(&[1, 10, 40]),
            new_id: false,
            graceful: false,
            one_by_one: Some(draw.seconds(&[0, 10, 30])),
        },
        _ => FaultKind::Restart {
            targets,
            down_for: length(draw),
            new_id: false,
            graceful: false,
            one_by_one: None,
        },
    }
}

fn direction(draw: &mut Draw<'_>) -> Direction {
    draw.one_of(&[Direction::Both, Direction::ToServer, Direction::FromServer])
}

fn of_processes(draw: &mut Draw<'_>, selection: Selection, application: AppId) -> FaultKind {
    match draw.below(5) {
        0 => FaultKind::Crash(Targets::Instances(selection)),
        1 => FaultKind::Stop {
            targets: selection,
            linger: draw.seconds(&[0, 20]),
            over: draw.seconds(&[0, 60]),
        },
        2 => FaultKind::Restart {
            one_by_one: None,
            targets: server_or(draw, selection),
            down_for: length(draw),
            new_id: draw.chance(50),
            graceful: draw.chance(50),
        },
        3 => FaultKind::CrashLoop {
            targets: selection,
            up_for: random_length(draw),
            down_for: random_length(draw),
            new_id: draw.chance(20),
            length: Some(length(draw)),
        },
        _ => FaultKind::Start { application, count: 1 + draw.below(5) as u32, over: draw.seconds(&[0, 30]) },
    }
}

fn of_pauses_and_clocks(draw: &mut Draw<'_>, selection: Selection) -> FaultKind {
    let targets = server_or(draw, selection);
    match draw.below(4) {
        0 => FaultKind::Pause { targets, length: Distribution::constant(length(draw)) },
        1 => FaultKind::Pause { targets, length: random_length(draw) },
        2 => FaultKind::Pauses {
            targets,
            every: random_length(draw),
            lasting: random_length(draw),
            length: Some(length(draw)),
        },
        _ => FaultKind::Clock {
            targets,
            step_ms: draw.one_of(&[-300_000, -60_000, -1_500, 0, 1_500, 60_000, 300_000]),
            drift_ppm: draw.one_of(&[-10_000, 0, 0, 10_000]),
            length: draw.chance(50).then(|| length(draw)),
        },
    }
}

fn of_links(draw: &mut Draw<'_>, targets: Targets, application: AppId, servers: u64) -> FaultKind {
    let peer = match draw.below(5) {
        0 | 1 => Peer::Servers,
        2 => Peer::All,
        3 => Peer::Named(vec![ServerId(draw.below(servers) as u32)]),
        _ => Peer::Instances { application: Some(application), zone: None },
    };
    let length = Some(length(draw));
    match draw.below(3) {
        0 => FaultKind::Partition { targets, peer, length, lost: direction(draw) },
        1 => FaultKind::Flap {
            targets,
            peer,
            up_for: random_length(draw),
            down_for: random_length(draw),
            length,
            lost: direction(draw),
        },
        _ => FaultKind::Degrade {
            targets,
            peer,
            loss: draw.one_of(&[0.0, 0.05, 0.5, 1.0]),
            latency: draw.chance(50).then(|| random_length(draw)),
            length,
            direction: direction(draw),
        },
    }
}

fn of_health_and_operators(draw: &mut Draw<'_>, targets: Selection, servers: u64) -> FaultKind {
    let at = ServerId(draw.below(servers) as u32);
    let length = draw.chance(80).then(|| length(draw));
    match draw.below(7) {
        0 => FaultKind::SlowHeartbeats {
            targets,
            delay: random_length(draw),
            length: length.or(Some(SimDuration::ZERO)),
        },
        1 => FaultKind::Grey { targets, calls_fail: 0.5, length },
        2 => FaultKind::Override {
            at,
            targets,
            status: draw.one_of(&[Status::OutOfService, Status::OutOfService, Status::Down, Status::Up]),
            length,
        },
        3 => FaultKind::Delete { at, targets, dead: draw.chance(50) },
        4 => FaultKind::Change(vec![draw.one_of(&[
            Change::EnableSelfPreservation(true),
            Change::EnableSelfPreservation(false),
            Change::RenewalPercentThreshold(0.5),
            Change::ExpectedClientRenewalIntervalSeconds(10),
            Change::DisableDelta(true),
            Change::SyncWhenTimestampDiffers(false),
        ])]),
        _ => FaultKind::Unhealthy {
            targets,
            via: draw.one_of(&[HealthVia::HealthCheck, HealthVia::StatusChange]),
            length,
            calls_fail: 1.0,
        },
    }
}

fn of_fleets(draw: &mut Draw<'_>, targets: Selection, application: AppId, to: AppId) -> FaultKind {
    let (wait, graceful, linger) = (draw.seconds(&[0, 30]), draw.chance(50), draw.seconds(&[0, 20]));
    let order = draw.one_of(&[Order::StopFirst, Order::StartFirst]);
    match draw.below(3) {
        0 => FaultKind::RollOut {
            application,
            batch: Batch::Share(draw.one_of(&[0.25, 0.5, 1.0])),
            wait,
            down_for: if order == Order::StopFirst { draw.seconds(&[0, 20]) } else { SimDuration::ZERO },
            graceful,
            linger,
            new_id: order == Order::StartFirst || draw.chance(50),
            order,
        },
        1 => FaultKind::BlueGreen { from: application, to, wait, graceful, linger },
        _ => FaultKind::Reclaim { targets, notice: length(draw), heeded: draw.one_of(&[0.0, 0.6, 1.0]) },
    }
}
