//! What was recorded of peers, as a scenario.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use stillup::engine::{Distribution, SimDuration};
use stillup::model::eureka::client::ClientConfig;
use stillup::model::id::{AppId, ServerId};
use stillup::scenario::{
    Application, Clock, Direction, Fault, FaultKind, Peer, Scenario, Selection, ServerChoice, ServerList,
    ServerNode, TargetChoice, Targets, default_scenario,
};

use crate::golden_replay::records::{FaultRow, LogLine, Recording};
use crate::golden_replay::settings::server_config;
use crate::golden_replay::tape;
use crate::golden_replay::timeline::Timeline;

/// Cuts of the two directions of a link come this close together, ms.
const AT_ONCE_MS: i64 = 100;

/// A scenario, and how to find its servers and moments in the recording.
pub(super) struct Setup {
    pub(super) scenario: Scenario,
    /// By the place in the recording.
    pub(super) names: Vec<String>,
    /// The places in the recording, by the number in the scenario: in order of their starts.
    pub(super) order: Vec<usize>,
    /// The moment in the recording at which the simulation starts.
    pub(super) zero_ms: i64,
    /// When the last of the fleet had registered, in the recording.
    pub(super) started_ms: i64,
    /// When faults end, in the recording.
    pub(super) ends_ms: Vec<i64>,
}

/// Somebody who registered with a server, and perhaps left it in order.
struct Member<'a> {
    home: ServerId,
    line: &'a LogLine,
    left_ms: Option<i64>,
}

/// The scenario of a recording; `None` if a fault cannot be said: a link that is cut one way only, where the recorder
/// cuts what one side begins, or anything else done to a server than a cut, a crash with a restart, or a pause.
pub(super) fn setup(recording: &Recording, timelines: &[Timeline]) -> Result<Option<Setup>, String> {
    let names: Vec<String> = timelines.iter().map(|timeline| timeline.server.clone()).collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&at| timelines[at].lives[0].start_ms);
    let zero_ms = timelines[order[0]].lives[0].start_ms;
    let millis = |ms: i64| SimDuration::from_millis(ms.max(0) as u64);
    let starts: Vec<i64> = order.iter().map(|&at| timelines[at].lives[0].start_ms - zero_ms).collect();
    let all = || (0..names.len() as u32).map(ServerId);
    let peers = super::peers(recording);
    let number = |at: ServerId| order.iter().position(|&other| other == at.index());
    let nodes = all().map(|server| ServerNode {
        starts_after: Some(millis(starts[server.index()])),
        zone: None,
        peers: peers[order[server.index()]]
            .iter()
            .filter_map(|&peer| number(peer).map(|at| ServerId(at as u32)))
            .collect(),
    });
    let part = recording.part_of(&names[0]);
    let (server, _) = server_config(&part.experiment)?;
    let serve_ms =
        zero_ms + starts.iter().max().copied().unwrap_or(0) + server.serves_after().as_millis() as i64;
    let faults_ms = recording.faults.iter().map(|row| row.t_ms).min().unwrap_or(i64::MAX);
    let members = members(recording, &names, &order);
    // All that were there before anything happened, and stayed.
    let fleet = members.iter().filter(|it| it.left_ms.is_none() && it.line.t_ms < faults_ms);
    let Some(started_ms) = fleet.map(|it| it.line.t_ms).max() else { return Ok(None) };
    let Some((server_faults, ends_ms)) = server_faults(recording, timelines, &order, started_ms) else {
        return Ok(None);
    };
    let (applications, comings) = fleet_of(&members, started_ms, names.len());
    let end_ms = timelines.iter().map(|timeline| timeline.end_ms).max().unwrap_or(0);
    let client =
        ClientConfig { register_with_eureka: true, fetch_registry: false, ..tape::config(recording) };
    let mut default = default_scenario().scenario;
    let settings = default.setup.eureka_mut().ok_or("the default scenario is one of Eureka")?;
    settings.release.clone_from(&recording.experiment.eureka);
    settings.server = server;
    settings.clients = vec![client; applications.len()];
    let scenario = Scenario {
        title: recording.name.clone(),
        seed: 5,
        duration: millis(end_ms - zero_ms),
        stop_when_settled: false,
        start_window: millis(started_ms - serve_ms),
        warm_up: SimDuration::ZERO,
        server_starts_at_second: Some(millis(
            (recording.experiment.t0_epoch_ms + zero_ms).rem_euclid(60_000),
        )),
        servers: nodes.collect(),
        applications,
        faults: server_faults.into_iter().chain(comings).collect(),
        expectations: Vec::new(),
        ..default
    };
    Ok(Some(Setup { scenario, names, order, zero_ms, started_ms, ends_ms }))
}

fn members<'a>(recording: &'a Recording, names: &[String], order: &[usize]) -> Vec<Member<'a>> {
    let mut members: BTreeMap<&str, Member<'a>> = BTreeMap::new();
    for line in recording.log.iter().filter(|line| line.value.ends_with("replication=false")) {
        let Some(home) = order.iter().position(|&at| names[at] == line.server) else { continue };
        if line.event == "registered" {
            let member = Member { home: ServerId(home as u32), line, left_ms: None };
            members.entry(line.instance.as_str()).or_insert(member);
        }
    }
    for call in recording.calls.iter().filter(|call| call.kind == "cancel" && call.status == "200") {
        if let Some(member) = members.get_mut(call.instance.as_str()) {
            member.left_ms = Some(call.done_ms);
        }
    }
    let mut members: Vec<Member<'a>> = members.into_values().collect();
    members.sort_by_key(|member| member.line.t_ms);
    members
}

/// Two applications for each server: those that stay, from the start, and those that come, and perhaps go, when they
/// did. Faults are timed from `started_ms`.
fn fleet_of(members: &[Member<'_>], started_ms: i64, servers: usize) -> (Vec<Application>, Vec<Fault>) {
    let application = |name: String, instances: usize, home: ServerId| Application {
        name,
        instances: instances as u32,
        observers: false,
        balancer_first_call: None,
        zones: Vec::new(),
        server_list: ServerList::OneZone(vec![home]),
        first_address: Ipv4Addr::LOCALHOST,
        network: None,
        traffic: None,
        clock: Clock::default(),
    };
    let (mut applications, mut faults) = (Vec::new(), Vec::new());
    for home in (0..servers as u32).map(ServerId) {
        let own = || members.iter().filter(move |member| member.home == home);
        let stay = own().filter(|it| it.line.t_ms <= started_ms && it.left_ms.is_none()).count();
        if stay > 0 {
            applications.push(application(format!("fleet-{}", home.0), stay, home));
        }
        let coming = own().filter(|it| it.line.t_ms > started_ms || it.left_ms.is_some());
        let app = AppId(applications.len() as u32);
        for (ordinal, member) in (1..).zip(coming) {
            let fault = |t_ms: i64, verb| Fault {
                at: SimDuration::from_millis((t_ms - started_ms).max(0) as u64),
                within: SimDuration::ZERO,
                verb,
            };
            let start = FaultKind::Start { application: app, count: 1, over: SimDuration::ZERO };
            faults.push(fault(member.line.t_ms, start));
            if let Some(left_ms) = member.left_ms {
                let which = TargetChoice::Named(vec![(app, ordinal)]);
                let targets = Selection { application: Some(app), zone: None, which };
                let stop = FaultKind::Stop { targets, linger: SimDuration::ZERO, over: SimDuration::ZERO };
                faults.push(fault(left_ms, stop));
            }
            if ordinal == 1 {
                applications.push(application(format!("guest-{}", home.0), 0, home));
            }
        }
    }
    (applications, faults)
}

/// What was done to servers and their links, and when it was over.
fn server_faults(
    recording: &Recording,
    timelines: &[Timeline],
    order: &[usize],
    started_ms: i64,
) -> Option<(Vec<Fault>, Vec<i64>)> {
    let number = |name: &str| {
        let at = order.iter().position(|&at| timelines[at].server == name)?;
        Some(ServerId(at as u32))
    };
    let length = |from: i64, to: i64| SimDuration::from_millis((to - from).max(0) as u64);
    let (mut faults, mut ends_ms) = (Vec::new(), Vec::new());
    for row in &recording.faults {
        let named = || ServerChoice::Named(number(&row.target).into_iter().collect());
        let (verb, end_ms) = match row.fault.as_str() {
            "cut" => {
                let (from, to) = row.target.split_once('>')?;
                let end_ms = end_of(recording, row, "cut", "heal")?;
                is_mutual(recording, row, (from, to), end_ms).then_some(())?;
                let (from, to) = (number(from)?, number(to)?);
                if from > to {
                    continue;
                }
                let targets = Targets::Servers(ServerChoice::Named(vec![from]));
                let (peer, length) = (Peer::Named(vec![to]), Some(length(row.t_ms, end_ms)));
                (FaultKind::Partition { targets, peer, length, lost: Direction::Both }, end_ms)
            }
            "crash" if number(&row.target).is_some() => {
                let lives = &timelines[order[number(&row.target)?.index()]].lives;
                let end_ms = lives.iter().map(|life| life.start_ms).find(|&start_ms| start_ms > row.t_ms)?;
                let down_for = length(row.t_ms, end_ms);
                let targets = Targets::Servers(named());
                let (new_id, graceful, one_by_one) = (false, false, None);
                (FaultKind::Restart { targets, down_for, new_id, graceful, one_by_one }, end_ms)
            }
            "pause" if number(&row.target).is_some() => {
                let end_ms = end_of(recording, row, "pause", "resume")?;
                let length = Distribution::constant(length(row.t_ms, end_ms));
                (FaultKind::Pause { targets: Targets::Servers(named()), length }, end_ms)
            }
            "heal" | "resume" | "started" | "start" => continue,
            _ => return None,
        };
        ends_ms.push(end_ms);
        faults.push(Fault { at: length(started_ms, row.t_ms), within: SimDuration::ZERO, verb });
    }
    Some((faults, ends_ms))
}

fn end_of(recording: &Recording, row: &FaultRow, begins: &str, ends: &str) -> Option<i64> {
    let spells = recording.spells(&row.target, begins, ends);
    spells.into_iter().find(|spell| spell.0 == row.t_ms && spell.1 < i64::MAX).map(|spell| spell.1)
}

/// Whether the other direction was cut and healed with this one.
fn is_mutual(recording: &Recording, row: &FaultRow, (from, to): (&str, &str), end_ms: i64) -> bool {
    let others = recording.spells(&format!("{to}>{from}"), "cut", "heal");
    let near = |one: i64, other: i64| (one - other).abs() <= AT_ONCE_MS;
    others.iter().any(|other| near(other.0, row.t_ms) && near(other.1, end_ms))
}
