//! What one registry has and another lacks: settings, faults and claims that mean nothing under the registry that a
//! scenario runs are errors, each with the reason and with what says the same there.
//!
//! A scenario that has none of them runs under any registry: `--set registry=nacos-1`.

use crate::model::registry::Kind;
use crate::model::stage::Stage;
use crate::scenario::diagnostics::{Place, Problem};
use crate::scenario::document::{Entry, Table};
use crate::scenario::eureka::format::EUREKA;
use crate::scenario::file::counterparts::{counterpart_of_eureka_key, counterpart_of_two_stage_key};
use crate::scenario::format::values::Values;
use crate::scenario::format::{Section, form::Below};
use crate::scenario::two_stage::format::TWO_STAGE;
use crate::scenario::types::claim::Claim;

/// The registry that a scenario runs, as messages show it.
pub(crate) struct ActiveRegistry<'d> {
    pub(crate) kind: Kind,
    /// The word of `registry`.
    name: &'static str,
    /// Where it says so.
    place: Option<&'d Place>,
    /// Whether the file's word for it is one. If not, that has been reported, and nobody knows which was meant.
    certain: bool,
}

impl<'d> ActiveRegistry<'d> {
    pub(crate) fn new(top: Values<'d>, kind: Kind, name: &'static str) -> Self {
        let place = top.node("registry").map(|node| &node.place);
        Self { kind, name, place, certain: place.is_none() || top.text("registry") == Some(name) }
    }

    /// Something of the other registry's.
    fn foreign(&self, place: Place, title: String, hint: impl Into<String>) -> Problem {
        Problem::error(place, title)
            .label(format!("the registry is `{}`", self.name))
            .related(self.place.cloned(), "as it says here")
            .hint(hint)
    }
}

/// A key that only Eureka has: why the two-stage registry lacks it, or what to write instead.
type EurekaOnlyKey = (&'static str, &'static str);

const NO_PEERS: &str = "the registry is one server, `server-1`: leave it out";
const NO_CLIENT: &str = "the server has no client of its own: leave it out";

const TOP_KEYS: [EurekaOnlyKey; 4] = [
    ("flavour", "leave it out: the defaults are those of the preset that `registry` names"),
    ("release", "leave it out: the rules are those of the preset that `registry` names"),
    ("balancer", "leave it out: callers pick from their consumer's list, the stage `client`"),
    ("transport", "leave it out: how long calls wait is `request-timeout-ms` in `[two-stage]`"),
];
const SERVER_KEYS: [EurekaOnlyKey; 13] = [
    ("topology", NO_PEERS),
    ("peers", NO_PEERS),
    ("recognises-own-url", NO_PEERS),
    ("zones", NO_PEERS),
    ("starts-after", NO_PEERS),
    ("start-window", NO_PEERS),
    ("network", NO_PEERS),
    ("register-with-eureka", NO_CLIENT),
    ("fetch-registry", NO_CLIENT),
    ("transport", NO_CLIENT),
    ("eviction-before-bucket", "leave it out: there are no buckets of renewals"),
    (
        "process-backlog-after-pause",
        "requests that waited are always answered; who comes first is `resume-order` in `[two-stage]`",
    ),
    ("capacity", "how many requests it works at, long polls included, is `worker-threads` in `[two-stage]`"),
];
const APPLICATION_KEYS: [EurekaOnlyKey; 5] = [
    ("servers", NO_PEERS),
    ("server-zones", NO_PEERS),
    ("first-address", "leave it out: with one server nobody orders servers by address"),
    ("balancer", TOP_KEYS[2].1),
    ("transport", TOP_KEYS[3].1),
];
const VERBS: [EurekaOnlyKey; 3] = [
    ("change", "no setting of its changes while it runs; to compare two settings run a sweep"),
    (
        "override",
        "it knows no statuses; `delete` deregisters an instance, which comes back with its next heartbeat",
    ),
    ("unhealthy", "whoever sends heartbeats is healthy; `grey` lets calls fail though heartbeats go on"),
];

/// Every setting and fault of the file that belongs to another registry.
pub(crate) fn check(root: &Table, active: &ActiveRegistry<'_>, problems: &mut Vec<Problem>) {
    match active.kind {
        _ if !active.certain => {}
        Kind::Eureka => of_two_stage(root, active, problems),
        Kind::TwoStage => of_eureka(root, active, problems),
    }
}

fn of_eureka(root: &Table, active: &ActiveRegistry<'_>, problems: &mut Vec<Problem>) {
    let mut keys = |table: &Table, section: &str, known: &[EurekaOnlyKey]| {
        let whose = if section.is_empty() { String::new() } else { format!(" of `{section}`") };
        for (name, hint) in known {
            problems.extend(table.entry(name).map(|entry| {
                active.foreign(entry.key_place.clone(), format!("`{name}`{whose} belongs to Eureka"), *hint)
            }));
        }
    };
    keys(root, "", &TOP_KEYS);
    if let Some(server) = root.table("server") {
        keys(server, "server", &SERVER_KEYS);
    }
    for app in root.tables("application") {
        keys(app, "application", &APPLICATION_KEYS);
    }
    for fault in root.tables("fault") {
        keys(fault, "fault", &VERBS);
    }
    for below in [Some(root), root.table("server")].into_iter().flatten().chain(root.tables("application")) {
        if let Some(table) = below.table("eureka") {
            eureka_settings(table, &EUREKA, active, problems);
        }
    }
    let server = Values(Some(root)).section("server");
    if let (Some(count), Some(node)) = (server.count("count"), server.node("count"))
        && count > 1
    {
        problems.push(active.foreign(
            node.place.clone(),
            "a two-stage registry is a single server".into(),
            "leave `count` out",
        ));
    }
    for fault in root.tables("fault") {
        let restart = Values(Some(fault)).section("restart");
        problems.extend(restart.node("one-by-one").map(|node| {
            let title = "there is only one server to restart".into();
            active.foreign(node.place.clone(), title, "leave `one-by-one` out")
        }));
    }
}

/// Every setting of Eureka's in a table and below.
fn eureka_settings(
    table: &Table,
    section: &'static Section,
    active: &ActiveRegistry<'_>,
    problems: &mut Vec<Problem>,
) {
    for Entry { key, key_place, node } in &table.entries {
        let Some(known) = section.key(key) else { continue };
        match (known.form.below(), node.as_table()) {
            (Below::Table(below), Some(table)) => eureka_settings(table, below, active, problems),
            _ => {
                let hint = match key.as_str() {
                    "register-with-eureka" => Some("here it is `register` of an application".to_owned()),
                    "fetch-registry" => Some("here it is `fetch` of an application".to_owned()),
                    _ => counterpart_of_eureka_key(section.path, key),
                };
                problems.push(active.foreign(
                    key_place.clone(),
                    format!("`{key}` is a setting of Eureka"),
                    hint.unwrap_or_else(|| {
                        "leave it out: a two-stage registry has nothing of the kind".into()
                    }),
                ));
            }
        }
    }
}

fn of_two_stage(root: &Table, active: &ActiveRegistry<'_>, problems: &mut Vec<Problem>) {
    let other = "leave it out, or set `registry = \"two-stage\"` or `\"nacos-1\"`";
    for below in std::iter::once(root).chain(root.tables("application")) {
        for Entry { key, key_place, .. } in below.table("two-stage").iter().flat_map(|table| &table.entries) {
            if TWO_STAGE.key(key).is_none() {
                continue;
            }
            let hint = counterpart_of_two_stage_key(key).unwrap_or_else(|| other.to_owned());
            let title = format!("`{key}` is a setting of the two-stage registry");
            problems.push(active.foreign(key_place.clone(), title, hint));
        }
    }
    for app in root.tables("application") {
        problems.extend(app.entry("subscribes").map(|entry| {
            active.foreign(
                entry.key_place.clone(),
                "`subscribes` belongs to the two-stage registry".into(),
                "leave it out: a client of Eureka's fetches all applications",
            )
        }));
    }
    for fault in root.tables("fault") {
        problems.extend(fault.entry("full-disk").map(|entry| {
            active.foreign(
                entry.key_place.clone(),
                "`full-disk` of `fault` belongs to the two-stage registry".into(),
                "leave it out: a client of Eureka's keeps nothing on disk",
            )
        }));
    }
}

/// Why a claim says nothing of the registry here, and what to write instead.
pub(crate) fn claim(claim: &Claim, place: Place, active: &ActiveRegistry<'_>) -> Option<Problem> {
    let (title, hint) = match claim {
        Claim::Latency { stage, .. } | Claim::Mistakes(stage, ..) | Claim::QueryAccuracy(stage, ..) => {
            stage_is_missing(*stage, active.kind)?
        }
        Claim::SelfPreservationAtEnd(_) | Claim::SelfPreservationMeanwhile(_)
            if active.kind == Kind::TwoStage =>
        {
            ("self-preservation is Eureka's", "here it is the guard, as in `no guard shut at the end`")
        }
        Claim::Rounds(_) if active.kind == Kind::TwoStage => (
            "rounds that evict are Eureka's",
            "here it is `exactly 4 soft evictions` or, for removals, `exactly 4 evictions`",
        ),
        Claim::ServersAgree | Claim::ServersAgreeAfter(_) | Claim::Differing(..)
            if active.kind == Kind::TwoStage =>
        {
            ("there is only one server", "leave the expectation out")
        }
        Claim::Utilisation(..) if active.kind == Kind::TwoStage => (
            "its threads are not measured",
            "what few `worker-threads` do shows in detections and mistakes, as in `no mistake at client`",
        ),
        Claim::GuardShutAtEnd(_) | Claim::GuardShutMeanwhile(_) if active.kind == Kind::Eureka => (
            "the guard is the two-stage registry's",
            "in Eureka it is self-preservation, as in `no self-preservation at the end`",
        ),
        Claim::SoftEvictions(..) if active.kind == Kind::Eureka => (
            "soft evictions are the two-stage registry's",
            "Eureka removes at once, as in `exactly 4 evictions`",
        ),
        Claim::RefusedAnswers(..) | Claim::FailedStarts(..) if active.kind == Kind::Eureka => {
            ("clients of Eureka's take every answer, and keep nothing on disk", "leave the expectation out")
        }
        _ => return None,
    };
    let problem = active.foreign(place, format!("this expectation says nothing here: {title}"), hint);
    Some(problem).filter(|_| active.certain)
}

fn stage_is_missing(stage: Stage, kind: Kind) -> Option<(&'static str, &'static str)> {
    if kind.stages().contains(&stage) {
        return None;
    }
    Some(match stage {
        Stage::Entry => (
            "`entry` is a stage of the two-stage registry",
            "Eureka forgets an instance when it hides it: that is the stage `registry`",
        ),
        _ => (
            "`balancer` is a stage of Eureka",
            "here callers pick from their consumer's list: that is the stage `client`",
        ),
    })
}
