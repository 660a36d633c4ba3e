//! What each verb does. Its keys are those of [`crate::scenario::fault::verbs`].

use crate::engine::{Distribution, SimDuration};
use crate::model::eureka::Flavour;
use crate::model::id::ServerId;
use crate::model::message::Status;
use crate::scenario::diagnostics::Problem;
use crate::scenario::diagnostics::suggest::{all_of, one_of};
use crate::scenario::document::Table;
use crate::scenario::fault::format::TARGETS;
use crate::scenario::fault::keys::CHANGES;
use crate::scenario::fault::read::only_one;
use crate::scenario::fault::read_targets::{application, has_two_ends, peer, targets};
use crate::scenario::fault::verbs::VerbForm;
use crate::scenario::format::values::Values;
use crate::scenario::sections::fleet::Fleet;
use crate::scenario::types::targets::{Batch, Change, Direction, HealthVia, Order, Peer, Selection, Targets};
use crate::scenario::types::verb::FaultKind;

/// The default of `down-for`.
const DOWN_FOR: SimDuration = SimDuration::from_secs(10);
/// The default of a roll-out's `wait`.
const WAIT: SimDuration = SimDuration::from_secs(30);
/// The default of `wait` between blue and green.
const BLUE_GREEN_WAIT: SimDuration = SimDuration::from_secs(60);
/// The default of `notice`.
const NOTICE: SimDuration = SimDuration::from_secs(120);

/// Reads one verb.
pub(crate) fn verb(
    form: &VerbForm,
    table: &Table,
    fleet: &Fleet,
    flavour: Flavour,
    problems: &mut Vec<Problem>,
) -> Option<FaultKind> {
    let values = Values(Some(table));
    let complete = has_what_it_needs(form, table, problems);
    let verb = if form.section.key(TARGETS[0]).is_some() && form.section.key(TARGETS[1]).is_some() {
        let targets = targets(form, table, fleet, problems);
        let peer = peer(values, fleet, problems);
        let server = targets.as_ref().is_some_and(Targets::is_server);
        if targets.is_some() {
            of_others(form.key.name, server, values, problems);
        }
        if let (Some(targets), Some(peer)) = (&targets, &peer)
            && form.section.key("peer").is_some()
        {
            has_two_ends(targets, peer, table, fleet, problems);
        }
        let at = operator_calls(values, fleet, problems);
        of_targets(form.key.name, targets?, peer?, at?, values)
    } else {
        match form.key.name {
            "change" => change(table, flavour, problems),
            "start" => start(values, fleet, problems),
            "roll-out" => roll_out(form, table, fleet, problems),
            _ => blue_green(values, fleet, problems),
        }
    };
    verb.filter(|_| complete)
}

/// Whether the keys are there that a verb cannot do without.
fn has_what_it_needs(form: &VerbForm, table: &Table, problems: &mut Vec<Problem>) -> bool {
    let lacks = |name: &&&'static str| table.get(name).is_none();
    let name = form.key.name;
    let missing: Vec<&'static str> = form.section.required.iter().filter(lacks).copied().collect();
    let none_of =
        !form.section.some_of.is_empty() && form.section.some_of.iter().all(|name| table.get(name).is_none());
    // A key that is misspelt has been reported.
    let misspelt = table.entries.iter().any(|entry| form.section.key(&entry.key).is_none());
    let mut lack = |what: String, label: String| {
        if !misspelt {
            problems.push(
                Problem::error(table.place.clone(), format!("`{name}` needs {what}"))
                    .label(label)
                    .hint(format!("as in `{}`", form.section.example)),
            );
        }
    };
    for key in &missing {
        lack(format!("`{key}`"), format!("has no `{key}`"));
    }
    if none_of {
        lack(one_of(form.section.some_of.iter().copied()), "has none".into());
    }
    missing.is_empty() && !none_of
}

/// Keys of a verb that mean nothing for servers, or nothing for instances.
fn of_others(name: &str, server: bool, values: Values<'_>, problems: &mut Vec<Problem>) {
    if name != "restart" {
        return;
    }
    let refused: &[(&str, &str, &str)] = if server {
        &[
            ("new-id", "a server has no instance id", "leave it out"),
            ("graceful", "a server tells nobody that it stops", "leave it out"),
        ]
    } else {
        &[("one-by-one", "all targets restart at once", "to replace instances in batches, use `roll-out`")]
    };
    let whose = if server { "instances" } else { "servers" };
    for (key, why, hint) in refused {
        problems.extend(values.node(key).map(|node| {
            Problem::error(node.place.clone(), format!("`{key}` is for {whose}")).label(*why).hint(*hint)
        }));
    }
}

/// The server that an operator calls; the first if it is not named.
fn operator_calls(values: Values<'_>, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<ServerId> {
    let Some(node) = values.node("at") else { return Some(ServerId(0)) };
    fleet.servers.resolve(node.as_text()?, &node.place).map_err(|problem| problems.push(*problem)).ok()
}

/// The verbs that hit targets. `None` if a value is missing, which has been reported.
fn of_targets(
    name: &str,
    targets: Targets,
    peer: Peer,
    at: ServerId,
    values: Values<'_>,
) -> Option<FaultKind> {
    let length = values.length("for");
    let flag = |key| values.flag(key).unwrap_or(false);
    let down_for = values.distribution("down-for");
    let server_too = match name {
        "crash" => Some(FaultKind::Crash(targets.clone())),
        "restart" => Some(FaultKind::Restart {
            targets: targets.clone(),
            down_for: values.length("down-for").unwrap_or(DOWN_FOR),
            new_id: flag("new-id"),
            graceful: flag("graceful"),
            one_by_one: values.length("one-by-one"),
        }),
        "pause" => Some(FaultKind::Pause { targets: targets.clone(), length: values.distribution("for")? }),
        "pauses" => Some(FaultKind::Pauses {
            targets: targets.clone(),
            every: values.distribution("every")?,
            lasting: values.distribution("lasting")?,
            length,
        }),
        "clock" => Some(FaultKind::Clock {
            targets: targets.clone(),
            step_ms: values.shift_ms("step").unwrap_or_default(),
            drift_ppm: values.signed("drift-ppm").unwrap_or_default(),
            length,
        }),
        _ => None,
    };
    if server_too.is_some() {
        return server_too;
    }
    if matches!(name, "partition" | "flap" | "degrade") {
        return of_link(name, targets, peer, values);
    }
    // The shapes of all others have neither `server` nor `servers`.
    let Targets::Instances(targets) = targets else { return None };
    match name {
        "crash-loop" => Some(FaultKind::CrashLoop {
            targets,
            up_for: values.distribution("up-for")?,
            down_for: down_for.unwrap_or(Distribution::constant(DOWN_FOR)),
            new_id: flag("new-id"),
            length,
        }),
        _ => of_instances(name, targets, at, values),
    }
}

/// The verbs that hit links.
fn of_link(name: &str, targets: Targets, peer: Peer, values: Values<'_>) -> Option<FaultKind> {
    let length = values.length("for");
    match name {
        "partition" => {
            Some(FaultKind::Partition { targets, peer, length, lost: direction(values.text("lost")) })
        }
        "flap" => Some(FaultKind::Flap {
            targets,
            peer,
            up_for: values.distribution("up-for")?,
            down_for: values.distribution("down-for")?,
            length,
            lost: direction(values.text("lost")),
        }),
        "degrade" => Some(FaultKind::Degrade {
            targets,
            peer,
            loss: values.number("loss").unwrap_or_default(),
            latency: values.distribution("latency"),
            length,
            direction: direction(values.text("direction")),
        }),
        _ => None,
    }
}

/// The verbs that hit instances, and not their links.
fn of_instances(name: &str, targets: Selection, at: ServerId, values: Values<'_>) -> Option<FaultKind> {
    let length = values.length("for");
    Some(match name {
        "stop" => FaultKind::Stop {
            targets,
            linger: values.length("linger").unwrap_or_default(),
            over: values.length("over").unwrap_or_default(),
        },
        "slow-heartbeats" => {
            FaultKind::SlowHeartbeats { targets, delay: values.distribution("delay")?, length }
        }
        "unhealthy" => FaultKind::Unhealthy {
            targets,
            via: match values.text("via") {
                Some("status-change") => HealthVia::StatusChange,
                _ => HealthVia::HealthCheck,
            },
            length,
            calls_fail: values.number("calls-fail").unwrap_or_default(),
        },
        "grey" => FaultKind::Grey { targets, calls_fail: values.number("calls-fail").unwrap_or(1.0), length },
        "full-disk" => FaultKind::FullDisk { targets, length },
        "override" => {
            let word = values.text("status").unwrap_or(Status::OutOfService.name());
            let status = Status::ALL.into_iter().find(|status| status.name() == word)?;
            FaultKind::Override { targets, at, status, length }
        }
        "delete" => FaultKind::Delete { targets, at, dead: values.flag("dead").unwrap_or(false) },
        "reclaim" => FaultKind::Reclaim {
            targets,
            notice: values.length("notice").unwrap_or(NOTICE),
            heeded: values.number("heeded").unwrap_or_default(),
        },
        _ => return None,
    })
}

fn direction(word: Option<&str>) -> Direction {
    match word {
        Some("to-server" | "to-peer") => Direction::ToServer,
        Some("from-server" | "from-peer") => Direction::FromServer,
        _ => Direction::Both,
    }
}

/// In the order of [`CHANGES`], whatever the file's is.
fn change(table: &Table, flavour: Flavour, problems: &mut Vec<Problem>) -> Option<FaultKind> {
    let server = Values(Some(table)).section("eureka").section("server");
    let below = |table: &Table, key: &str| table.entries.iter().all(|entry| entry.key == key);
    let misspelt =
        !below(table, "eureka") || !table.table("eureka").is_none_or(|table| below(table, "server"));
    if server.0.is_none_or(|table| table.entries.is_empty()) && !misspelt {
        problems.push(
            Problem::error(table.place.clone(), "`change` changes nothing")
                .label("names no setting")
                .hint(format!("below `eureka.server` it takes {}", all_of(CHANGES))),
        );
    }
    let assumed = |seconds: u32| match (seconds, flavour) {
        // Plain Netflix takes zero for the default, Spring divides by it (`eureka-server.md` section 10).
        (0, Flavour::Netflix) => Some(30),
        (0, Flavour::Spring) => None,
        (seconds, _) => Some(seconds),
    };
    if let (Some(0), Flavour::Spring, Some(node)) =
        (server.count(CHANGES[2]), flavour, server.node(CHANGES[2]))
    {
        problems.push(
            Problem::error(node.place.clone(), format!("`{}` is out of range", CHANGES[2]))
                .label("must be at least 1")
                .hint("Spring divides by it: the renewal threshold would be infinite"),
        );
    }
    let changes = CHANGES.into_iter().filter_map(|key| match key {
        "enable-self-preservation" => server.flag(key).map(Change::EnableSelfPreservation),
        "renewal-percent-threshold" => server.number(key).map(Change::RenewalPercentThreshold),
        "expected-client-renewal-interval-seconds" => {
            server.count(key).and_then(assumed).map(Change::ExpectedClientRenewalIntervalSeconds)
        }
        "disable-delta" => server.flag(key).map(Change::DisableDelta),
        _ => server.flag(key).map(Change::SyncWhenTimestampDiffers),
    });
    Some(FaultKind::Change(changes.collect()))
}

fn start(values: Values<'_>, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<FaultKind> {
    Some(FaultKind::Start {
        application: application(values, "application", fleet, problems)?,
        count: values.count("count").unwrap_or(1),
        over: values.length("over").unwrap_or_default(),
    })
}

fn roll_out(form: &VerbForm, table: &Table, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<FaultKind> {
    let values = Values(Some(table));
    let application = application(values, "application", fleet, problems);
    if form.section.some_of.iter().all(|key| values.has(key)) {
        only_one(
            table,
            form.section.some_of,
            form.section,
            ("`roll-out`", None, form.section.example),
            problems,
        );
    }
    let order = match values.text("order") {
        Some("start-first") => Order::StartFirst,
        _ => Order::StopFirst,
    };
    let start_first = order == Order::StartFirst;
    if start_first && values.length("down-for").is_some_and(|length| !length.is_zero()) {
        problems.extend(values.node("down-for").map(|node| {
            Problem::error(
                node.place.clone(),
                "with `start-first` nobody is away: the new ones are there first",
            )
            .label("without effect")
            .hint("leave it out, or set `order = \"stop-first\"`")
        }));
    }
    if start_first && values.flag("new-id") == Some(false) {
        problems.extend(values.node("new-id").map(|node| {
            Problem::error(node.place.clone(), "with `start-first` two instances would have one id")
                .label("the old one still runs")
                .hint("leave it out, or set `order = \"stop-first\"`")
        }));
    }
    let batch = match (values.count("batch"), values.number("batch-share")) {
        (Some(count), _) => Batch::Count(count),
        (None, share) => Batch::Share(share?),
    };
    Some(FaultKind::RollOut {
        application: application?,
        batch,
        wait: values.length("wait").unwrap_or(WAIT),
        down_for: values.length("down-for").unwrap_or(if start_first { SimDuration::ZERO } else { DOWN_FOR }),
        graceful: values.flag("graceful").unwrap_or(true),
        linger: values.length("linger").unwrap_or_default(),
        new_id: values.flag("new-id").unwrap_or(true),
        order,
    })
}

fn blue_green(values: Values<'_>, fleet: &Fleet, problems: &mut Vec<Problem>) -> Option<FaultKind> {
    let from = application(values, "from", fleet, problems);
    let to = application(values, "to", fleet, problems);
    let (from, to) = (from?, to?);
    if from == to {
        problems.extend(values.node("to").map(|node| {
            Problem::error(node.place.clone(), "`from` and `to` are the same application")
                .label("must be another one")
                .hint("to replace the instances of one application, use `roll-out`")
        }));
    }
    Some(FaultKind::BlueGreen {
        from,
        to,
        wait: values.length("wait").unwrap_or(BLUE_GREEN_WAIT),
        graceful: values.flag("graceful").unwrap_or(true),
        linger: values.length("linger").unwrap_or_default(),
    })
}
