//! A fault as canonical text. See [`crate::scenario::file::print`].

use crate::engine::{Distribution, SimDuration};
use crate::model::id::{AppId, ServerId};
use crate::scenario::format::distribution::print as drawn;
use crate::scenario::format::duration::print_shift_ms;
use crate::scenario::format::page::{TomlWriter, list, quoted, string};
use crate::scenario::types::server_name;
use crate::scenario::types::targets::{
    Batch, Change, Direction, HealthVia, Order, Peer, Selection, ServerChoice, TargetChoice, Targets,
};
use crate::scenario::types::verb::FaultKind;
use crate::scenario::types::{Fault, Scenario, ZoneId};

/// Writes one `[[fault]]`.
pub(crate) fn fault(page: &mut TomlWriter, fault: &Fault, scenario: &Scenario) {
    let mut parts = VerbKeys { scenario, parts: Vec::new() };
    parts.verb(&fault.verb);
    page.section("[fault]", |lines| {
        lines.length("at", fault.at);
        lines.length("within", fault.within);
        lines.line(fault.verb.name(), format!("{{ {} }}", parts.parts.join(", ")));
    });
}

/// The keys of a verb, in the order of the format.
struct VerbKeys<'a> {
    scenario: &'a Scenario,
    parts: Vec<String>,
}

impl VerbKeys<'_> {
    fn verb(&mut self, verb: &FaultKind) {
        match verb {
            FaultKind::Crash(targets) => self.targets(targets),
            FaultKind::Restart { targets, down_for, new_id, graceful, one_by_one } => {
                self.targets(targets);
                self.length("down-for", *down_for);
                if let Some(wait) = one_by_one {
                    self.length("one-by-one", *wait);
                }
                if !targets.is_server() {
                    self.part("new-id", new_id);
                    self.part("graceful", graceful);
                }
            }
            FaultKind::Pause { targets, length } => {
                self.targets(targets);
                self.drawn("for", *length);
            }
            FaultKind::Pauses { targets, every, lasting, length } => {
                self.targets(targets);
                self.drawn("every", *every);
                self.drawn("lasting", *lasting);
                self.until(*length);
            }
            FaultKind::Clock { targets, step_ms, drift_ppm, length } => {
                self.targets(targets);
                self.part("step", print_shift_ms(*step_ms));
                self.part("drift-ppm", drift_ppm);
                self.until(*length);
            }
            FaultKind::Partition { .. } | FaultKind::Flap { .. } | FaultKind::Degrade { .. } => {
                self.link(verb)
            }
            FaultKind::Change(changes) => {
                for change in changes {
                    self.change(change);
                }
            }
            FaultKind::Start { .. } | FaultKind::RollOut { .. } | FaultKind::BlueGreen { .. } => {
                self.of_fleet(verb)
            }
            _ => self.of_instances(verb),
        }
    }

    fn link(&mut self, verb: &FaultKind) {
        match verb {
            FaultKind::Partition { targets, peer, length, lost } => {
                self.targets(targets);
                self.peer(peer);
                self.until(*length);
                self.direction("lost", *lost, peer);
            }
            FaultKind::Flap { targets, peer, up_for, down_for, length, lost } => {
                self.targets(targets);
                self.peer(peer);
                self.drawn("up-for", *up_for);
                self.drawn("down-for", *down_for);
                self.until(*length);
                self.direction("lost", *lost, peer);
            }
            FaultKind::Degrade { targets, peer, loss, latency, length, direction } => {
                self.targets(targets);
                self.peer(peer);
                self.part("loss", format!("{loss:?}"));
                if let Some(latency) = latency {
                    self.drawn("latency", *latency);
                }
                self.until(*length);
                self.direction("direction", *direction, peer);
            }
            _ => unreachable!("no fault of a link"),
        }
    }

    fn of_instances(&mut self, verb: &FaultKind) {
        match verb {
            FaultKind::Stop { targets, linger, over } => {
                self.selection(targets);
                self.length("linger", *linger);
                self.length("over", *over);
            }
            FaultKind::CrashLoop { targets, up_for, down_for, new_id, length } => {
                self.selection(targets);
                self.drawn("up-for", *up_for);
                self.drawn("down-for", *down_for);
                self.part("new-id", new_id);
                self.until(*length);
            }
            FaultKind::SlowHeartbeats { targets, delay, length } => {
                self.selection(targets);
                self.drawn("delay", *delay);
                self.until(*length);
            }
            FaultKind::Unhealthy { targets, via, length, calls_fail } => {
                self.selection(targets);
                self.part(
                    "via",
                    match via {
                        HealthVia::HealthCheck => "\"health-check\"",
                        HealthVia::StatusChange => "\"status-change\"",
                    },
                );
                self.part("calls-fail", format!("{calls_fail:?}"));
                self.until(*length);
            }
            FaultKind::Grey { targets, calls_fail, length } => {
                self.selection(targets);
                self.part("calls-fail", format!("{calls_fail:?}"));
                self.until(*length);
            }
            FaultKind::FullDisk { targets, length } => {
                self.selection(targets);
                self.until(*length);
            }
            FaultKind::Override { targets, at, status, length } => {
                self.selection(targets);
                self.part("at", string(&server_name(*at)));
                self.part("status", string(status.name()));
                self.until(*length);
            }
            FaultKind::Delete { targets, at, dead } => {
                self.selection(targets);
                self.part("at", string(&server_name(*at)));
                self.part("dead", dead);
            }
            FaultKind::Reclaim { targets, notice, heeded } => {
                self.selection(targets);
                self.length("notice", *notice);
                self.part("heeded", format!("{heeded:?}"));
            }
            _ => unreachable!("no fault of instances alone"),
        }
    }

    fn of_fleet(&mut self, verb: &FaultKind) {
        match verb {
            FaultKind::Start { application, count, over } => {
                self.application("application", *application);
                self.part("count", count);
                self.length("over", *over);
            }
            FaultKind::RollOut { application, batch, wait, down_for, graceful, linger, new_id, order } => {
                self.application("application", *application);
                match batch {
                    Batch::Count(count) => self.part("batch", count),
                    Batch::Share(share) => self.part("batch-share", format!("{share:?}")),
                }
                self.length("wait", *wait);
                self.length("down-for", *down_for);
                self.part("graceful", graceful);
                self.length("linger", *linger);
                self.part("new-id", new_id);
                self.part(
                    "order",
                    match order {
                        Order::StopFirst => "\"stop-first\"",
                        Order::StartFirst => "\"start-first\"",
                    },
                );
            }
            FaultKind::BlueGreen { from, to, wait, graceful, linger } => {
                self.application("from", *from);
                self.application("to", *to);
                self.length("wait", *wait);
                self.part("graceful", graceful);
                self.length("linger", *linger);
            }
            _ => unreachable!("no event of a fleet"),
        }
    }

    fn part(&mut self, key: &str, value: impl std::fmt::Display) {
        self.parts.push(format!("{key} = {value}"));
    }

    fn length(&mut self, key: &str, length: SimDuration) {
        self.part(key, quoted(length));
    }

    fn drawn(&mut self, key: &str, length: Distribution) {
        self.part(key, drawn(length));
    }

    fn until(&mut self, length: Option<SimDuration>) {
        if let Some(length) = length {
            self.length("for", length);
        }
    }

    fn application(&mut self, key: &str, app: AppId) {
        self.part(key, string(&self.scenario.applications[app.index()].name));
    }

    fn zone(&mut self, zone: ZoneId) {
        self.part("zone", string(&self.scenario.zones[usize::from(zone.0)]));
    }

    fn targets(&mut self, targets: &Targets) {
        match targets {
            Targets::Servers(ServerChoice::All) => self.part("servers", "\"all\""),
            Targets::Servers(ServerChoice::Count(count)) => self.part("servers", count),
            Targets::Servers(ServerChoice::Named(ids)) => self.part("servers", names(ids)),
            Targets::Instances(selection) => self.selection(selection),
        }
    }

    fn selection(&mut self, selection: &Selection) {
        match &selection.which {
            TargetChoice::All => self.part("all", true),
            TargetChoice::Count(count) => self.part("count", count),
            TargetChoice::Share(share) => self.part("share", format!("{share:?}")),
            TargetChoice::Named(names) => {
                let name = |(app, ordinal): &(AppId, u32)| {
                    string(&format!("{}-{ordinal}", self.scenario.applications[app.index()].name))
                };
                let names: Vec<String> = names.iter().map(name).collect();
                self.part("instances", format!("[{}]", names.join(", ")));
            }
        }
        if let Some(app) = selection.application {
            self.application("application", app);
        }
        if let Some(zone) = selection.zone {
            self.zone(zone);
        }
    }

    fn peer(&mut self, peer: &Peer) {
        match peer {
            Peer::Servers => self.part("peer", "\"servers\""),
            Peer::Named(ids) => self.part("peer", format!("{{ servers = {} }}", names(ids))),
            Peer::All => self.part("peer", "\"all\""),
            Peer::Instances { application: None, zone: None } => self.part("peer", "\"instances\""),
            Peer::Instances { application, zone } => {
                let mut inner = VerbKeys { scenario: self.scenario, parts: Vec::new() };
                if let Some(app) = application {
                    inner.application("application", *app);
                }
                if let Some(zone) = zone {
                    inner.zone(*zone);
                }
                self.part("peer", format!("{{ {} }}", inner.parts.join(", ")));
            }
        }
    }

    fn direction(&mut self, key: &str, direction: Direction, peer: &Peer) {
        let end = if matches!(peer, Peer::Servers | Peer::Named(_)) { "server" } else { "peer" };
        self.part(
            key,
            match direction {
                Direction::Both => "\"both\"".to_owned(),
                Direction::ToServer => format!("\"to-{end}\""),
                Direction::FromServer => format!("\"from-{end}\""),
            },
        );
    }

    fn change(&mut self, change: &Change) {
        let (name, value) = match change {
            Change::EnableSelfPreservation(flag) => ("enable-self-preservation", flag.to_string()),
            Change::RenewalPercentThreshold(share) => ("renewal-percent-threshold", format!("{share:?}")),
            Change::ExpectedClientRenewalIntervalSeconds(seconds) => {
                ("expected-client-renewal-interval-seconds", seconds.to_string())
            }
            Change::DisableDelta(flag) => ("disable-delta", flag.to_string()),
            Change::SyncWhenTimestampDiffers(flag) => ("sync-when-timestamp-differs", flag.to_string()),
        };
        self.part(&format!("eureka.server.{name}"), value);
    }
}

/// Servers as a list.
fn names(ids: &[ServerId]) -> String {
    list(ids.iter().map(|id| string(&server_name(*id))))
}
