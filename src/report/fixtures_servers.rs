//! A made-up run of several servers, the last of which is cut off from the others for five minutes.

use super::fixtures::{Fixture, SECOND_NS, detection, replicate};
use crate::engine::{Distribution, SimDuration, SimTime};
use crate::model::fact::EvictionRound;
use crate::model::id::{InstanceId, ServerId};
use crate::model::message::RequestKind;
use crate::model::stage::{EventKind, Stage};
use crate::observe::{
    Detection, Divergence, Injected, LoadMinute, Minute, Mistake, Outcome, Removal, ReplicateData, RoundRow,
    ServerEnd,
};
use crate::scenario::{Capacity, ServerNode};

const MINUTES: u64 = 15;
/// The partition, seconds.
const CUT: [u64; 2] = [370, 670];
/// The server whose process is gone for two minutes, and from which minute on.
const RESTARTED: (u32, u64) = (1, 12);

impl Fixture {
    /// A hundred clients spread over so many servers. While the last is cut off, an instance dies, and the first removes
    /// ten, eleven and so on live ones by mistake; afterwards the second restarts.
    pub(super) fn cut_off(replicates: u32, servers: u32) -> Self {
        let mut made = Self::crashes(replicates, 0);
        made.scenario.title = format!("The last of {servers} servers is cut off for five minutes");
        let node = |_| ServerNode { starts_after: None, zone: None, peers: Vec::new() };
        made.scenario.servers = (0..servers).map(node).collect();
        let service = Distribution::constant(SimDuration::from_millis(20));
        made.scenario.capacity =
            Some(Capacity { threads: 4, service: [service; RequestKind::COUNT], item: service });
        made.bounds.clear();
        made.verdicts.clear();
        made.data.replicates = (0..replicates).map(|number| one(number, servers)).collect();
        made
    }
}

fn one(number: u32, servers: u32) -> ReplicateData {
    let mut made = replicate(number, MINUTES);
    let numbers = || (0..servers).map(ServerId);
    let [from, until] = CUT.map(SimTime::from_secs);
    let killed = SimTime::from_secs(380);
    made.faults = vec![
        Injected { at: from, until: Some(until), verb: "partition", targets: 1 },
        Injected { at: killed, until: None, verb: "crash", targets: 1 },
        Injected {
            at: SimTime::from_secs(725),
            until: Some(SimTime::from_secs(845)),
            verb: "restart",
            targets: 1,
        },
    ];
    let minutes =
        (1..=MINUTES).flat_map(|index| numbers().filter_map(move |server| minute(server, servers, index)));
    made.timeline = minutes.collect();
    made.load =
        (0..MINUTES).flat_map(|index| numbers().map(move |server| load(server, servers, index))).collect();
    made.servers = numbers().map(|server| end(server, servers)).collect();
    made.detections = numbers().flat_map(|server| detections(server, killed)).collect();
    let removed = 10 + number;
    let at = SimTime::from_secs(500);
    let round = EvictionRound {
        enabled: true,
        compensation_ms: 0,
        expired: removed,
        limit: 15,
        evicted: removed,
        registered: 100,
    };
    made.rounds = vec![RoundRow { at, server: ServerId(0), round }];
    made.mistakes = vec![Mistake {
        instance: InstanceId(0),
        instances: removed,
        stage: Stage::Registry,
        server: Some(ServerId(0)),
        at,
        lasted: SimDuration::from_secs(172),
        removal: Removal::Evicted,
        corrected: true,
        count: removed.into(),
    }];
    made.quality[0].mistakes = removed.into();
    made.divergence = divergence(servers, removed, number);
    made
}

fn minute(server: ServerId, servers: u32, index: u64) -> Option<Minute> {
    let (gone, from) = RESTARTED;
    if server.0 == gone && (from..from + 2).contains(&index) {
        return None;
    }
    let renewals = match index {
        0..2 => 40,
        7..=11 if server.0 + 1 == servers => 200 / servers,
        7..=11 => 200 - 200 / servers,
        _ => 200,
    };
    Some(Minute {
        server,
        at: SimTime::from_secs(60 * index + 7 * u64::from(server.0)),
        registered: 100,
        expired: 0,
        renewals,
        threshold: 170,
        expected: 100,
        self_preservation: renewals < 170,
        evicted: 0,
    })
}

fn load(server: ServerId, servers: u32, index: u64) -> LoadMinute {
    let own = u64::from(200 / servers);
    let heard = if index > 5 && index < 11 && server.0 + 1 == servers { 0 } else { 200 - own };
    let mut requests = [0; RequestKind::COUNT];
    requests[RequestKind::Renew as usize] = own;
    requests[RequestKind::FetchDelta as usize] = own + 3 * index;
    requests[RequestKind::Replicate as usize] = heard.min(120);
    let mut items = [0; RequestKind::COUNT];
    items[RequestKind::Renew as usize] = heard;
    // Of four threads' 240 s: 10 % and 0.5 % more each minute.
    let busy_nanos = 24 * SECOND_NS + 1_200_000_000 * index;
    LoadMinute {
        from: SimTime::from_secs(60 * index),
        server,
        requests,
        refused: 0,
        items,
        busy_nanos,
        waiting_max: index as u32,
    }
}

fn end(server: ServerId, servers: u32) -> ServerEnd {
    let is_up = server.0 + 1 < servers || servers < 4;
    ServerEnd { is_up, left: if is_up { 99 } else { 0 }, self_preservation: false }
}

/// The dead one's lease ends a little later at each server; two observers of each see it 40 s after that.
fn detections(server: ServerId, at: SimTime) -> Vec<Detection> {
    let registry = 200 + 9 * u64::from(server.0);
    let stages =
        [(Stage::Registry, registry), (Stage::Served, registry + 15), (Stage::Client, registry + 40)];
    let row = |(stage, secs)| Detection {
        server: Some(server),
        count: if stage == Stage::Client { 2 } else { 1 },
        ..detection(EventKind::Crash, stage, at, Outcome::Detected(SimDuration::from_secs(secs)))
    };
    stages.into_iter().map(row).collect()
}

/// In replicate `number` they agree `2 + number` s after the second server is back, which ends the last fault.
fn divergence(servers: u32, removed: u32, number: u32) -> Vec<Divergence> {
    let row = |ms: u64, differing: u32, differing_max: u32| Divergence {
        at: SimTime::from_nanos(ms * 1_000_000),
        servers,
        differing,
        differing_max,
    };
    vec![
        row(61_000, 0, 40),
        row(500_000, removed, removed),
        row(580_000, removed + 1, removed + 1),
        row(598_400, removed, removed + 1),
        row(672_300, 0, removed),
        row(725_000, 0, 0),
        row(845_900, 3, 7),
        row(847_000 + 1_000 * u64::from(number), 0, 3),
    ]
}
