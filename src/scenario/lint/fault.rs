//! Warnings about faults: those that come too late, hit nobody or change nothing, and those that do something else
//! than they seem to.

use crate::engine::SimDuration;
use crate::model::id::AppId;
use crate::model::message::Status;
use crate::scenario::diagnostics::{Place, Problem};
use crate::scenario::document::Table;
use crate::scenario::types::targets::{
    Change, HealthVia, Peer, Selection, ServerChoice, TargetChoice, Targets,
};
use crate::scenario::types::verb::FaultKind;
use crate::scenario::types::{Application, Fault, Scenario};

/// All warnings about one fault.
pub(crate) fn lint(scenario: &Scenario, fault: &Fault, table: &Table) -> Vec<Problem> {
    let lints = [
        too_late,
        ends_too_late,
        hits_nobody,
        unheard,
        hidden_from_nobody,
        changes_nothing,
        does_nothing,
        nobody_calls,
    ];
    lints.into_iter().filter_map(|lint| lint(scenario, fault, table)).collect()
}

/// A share as people say it.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", (share * 10_000.0).round() / 100.0)
}

/// Whom a selection hits, by application.
pub(crate) struct Fleet {
    hit: Vec<(AppId, f64)>,
}

impl Fleet {
    pub(crate) fn of(scenario: &Scenario, selection: &Selection) -> Self {
        let candidates = |at: usize, app: &Application| {
            let wanted = selection.application.is_none_or(|wanted| wanted.index() == at);
            if wanted { app.in_zone(u64::from(app.instances), selection.zone) as f64 } else { 0.0 }
        };
        let all = || scenario.applications.iter().enumerate();
        let size: f64 = all().map(|(at, app)| candidates(at, app)).sum();
        let hit = |at: usize, app: &Application| match &selection.which {
            TargetChoice::All => candidates(at, app),
            TargetChoice::Share(share) => share * candidates(at, app),
            TargetChoice::Count(count) => candidates(at, app) * (f64::from(*count) / size.max(1.0)).min(1.0),
            TargetChoice::Named(named) => named.iter().filter(|(app, _)| app.index() == at).count() as f64,
        };
        let hits = all().map(|(at, app)| (AppId(at as u32), hit(at, app)));
        Self { hit: hits.filter(|(_, hit)| *hit > 0.0).collect() }
    }

    /// Each application that may be hit, with how many of it are on average.
    pub(crate) fn apps(&self) -> impl Iterator<Item = (AppId, f64)> {
        self.hit.iter().copied()
    }
}

/// The earliest and the latest moment of a fault.
fn due(scenario: &Scenario, fault: &Fault) -> (SimDuration, SimDuration) {
    let opened = scenario.all_serve_after() + scenario.start_window + scenario.warm_up;
    (opened + fault.at, opened + fault.at + fault.within)
}

/// The place of a key of the verb, or of the fault.
pub(crate) fn place(fault: &Fault, table: &Table, key: &str) -> Place {
    table.at(&[fault.verb.name(), key]).map_or_else(|| table.place.clone(), |node| node.place.clone())
}

/// A fault that comes when the run is over.
fn too_late(scenario: &Scenario, fault: &Fault, table: &Table) -> Option<Problem> {
    let (earliest, latest) = due(scenario, fault);
    if latest < scenario.duration {
        return None;
    }
    let never = earliest >= scenario.duration;
    let place = table.get("at").map_or_else(|| table.place.clone(), |node| node.place.clone());
    Some(
        Problem::warning(place, format!("the run ends at {}", scenario.duration))
            .label(if never {
                format!("this fault never happens: it is due at {earliest}")
            } else {
                format!("this fault may never happen: it is due at {earliest} to {latest}")
            })
            .hint("faults are timed from the end of the warm-up; set a longer `duration`"),
    )
}

/// A fault that is still on when the run ends, though it says when it would be over.
fn ends_too_late(scenario: &Scenario, fault: &Fault, table: &Table) -> Option<Problem> {
    let (earliest, latest) = due(scenario, fault);
    let length = lasts(scenario, &fault.verb)?;
    if latest >= scenario.duration || latest + length < scenario.duration {
        return None;
    }
    let word = if earliest + length >= scenario.duration { "is" } else { "may be" };
    Some(
        Problem::warning(place(fault, table, "for"), format!("the run ends at {}", scenario.duration))
            .label(format!("this fault {word} still on then: it would be over at {}", latest + length))
            .hint("set a longer `duration`, or leave `for` out: until the end"),
    )
}

/// How long a fault lasts, if it says so; servers may be hit one after the other.
fn lasts(scenario: &Scenario, verb: &FaultKind) -> Option<SimDuration> {
    let FaultKind::Restart { targets: Targets::Servers(which), down_for, one_by_one: Some(wait), .. } = verb
    else {
        return verb.length();
    };
    let count = match which {
        ServerChoice::All => scenario.servers.len() as u64,
        ServerChoice::Named(named) => named.len() as u64,
        ServerChoice::Count(count) => u64::from(*count),
    };
    Some(*down_for * count + *wait * count.saturating_sub(1))
}

/// A share so small that nobody is hit.
fn hits_nobody(scenario: &Scenario, fault: &Fault, table: &Table) -> Option<Problem> {
    let selection = fault.verb.selection()?;
    let TargetChoice::Share(share) = selection.which else { return None };
    let all = Selection { which: TargetChoice::All, ..selection.clone() };
    let of: f64 = Fleet::of(scenario, &all).apps().map(|(_, candidates)| candidates).sum();
    if share * of >= 0.5 {
        return None;
    }
    Some(
        Problem::warning(table.place.clone(), format!("a share of {share} of {of} instances rounds to none"))
            .label("this fault hits nobody"),
    )
}

/// A health check that nobody looks at (`eureka-client.md` 4.2).
fn unheard(scenario: &Scenario, fault: &Fault, table: &Table) -> Option<Problem> {
    let FaultKind::Unhealthy { targets, via: HealthVia::HealthCheck, .. } = &fault.verb else { return None };
    let scenario = scenario.eureka()?;
    let fleet = Fleet::of(&scenario, targets);
    let deaf = fleet.apps().map(|(app, _)| scenario.app(app)).find(|app| !app.client.healthcheck_enabled)?;
    let title = format!("`healthcheck.enabled` is false for `{}`: the registry never learns", deaf.name);
    Some(
        Problem::warning(place(fault, table, "via"), title)
            .label("heartbeats go on and the instance stays UP: this is a grey failure")
            .hint("set `eureka.client.healthcheck.enabled = true`, or `via = \"status-change\"`"),
    )
}

/// A status that is shown to clients that do not look at it (`eureka-client.md` 3.6).
fn hidden_from_nobody(scenario: &Scenario, fault: &Fault, table: &Table) -> Option<Problem> {
    match &fault.verb {
        FaultKind::Override { status: Status::Up, .. } => return None,
        FaultKind::Override { .. } | FaultKind::Unhealthy { .. } => {}
        _ => return None,
    }
    let scenario = scenario.eureka()?;
    let blind = scenario.apps().find(|app| app.observers && !app.client.filter_only_up_instances)?;
    Some(
        Problem::warning(
            table.place.clone(),
            format!("`filter-only-up-instances` is false for `{}`", blind.name),
        )
        .label("its instances go on using those that are not UP: they never see this"),
    )
}

/// A setting that is what it is changed to, or that does nothing as things are.
fn changes_nothing(scenario: &Scenario, fault: &Fault, table: &Table) -> Option<Problem> {
    let FaultKind::Change(changes) = &fault.verb else { return None };
    let server = scenario.eureka()?.server();
    // Whoever changes the same setting twice may well want it back.
    let changers = scenario.faults.iter().filter(|other| matches!(other.verb, FaultKind::Change(_))).count();
    let idle = changes.iter().find_map(|change| match *change {
        Change::EnableSelfPreservation(on) => {
            (on == server.enable_self_preservation).then_some("it is so already")
        }
        Change::RenewalPercentThreshold(share) => {
            (share == server.renewal_percent_threshold).then_some("it is so already")
        }
        Change::ExpectedClientRenewalIntervalSeconds(_) if server.rules.legacy_threshold => {
            Some("up to Eureka 1.9.3 the threshold takes two heartbeats a minute for granted")
        }
        Change::ExpectedClientRenewalIntervalSeconds(seconds) => {
            (seconds == server.expected_client_renewal_interval_seconds).then_some("it is so already")
        }
        Change::DisableDelta(off) => (off == server.disable_delta).then_some("it is so already"),
        Change::SyncWhenTimestampDiffers(on) => {
            (on == server.sync_when_timestamp_differs).then_some("it is so already")
        }
    });
    let why = idle.filter(|_| changers == 1)?;
    Some(Problem::warning(place(fault, table, "eureka"), "this change has no effect").label(why))
}

/// A bad link that is as good as any, or a wrong clock that is right.
fn does_nothing(_: &Scenario, fault: &Fault, table: &Table) -> Option<Problem> {
    const SO_ALREADY: &str = "it is so already";
    let (idle, key, why) = match &fault.verb {
        FaultKind::Degrade {
            targets: Targets::Instances(_),
            loss,
            latency: Some(_),
            peer: Peer::Instances { .. },
            ..
        } => (*loss <= 0.0, "latency", "calls take no time: of their links only `loss` shows"),
        FaultKind::Degrade { loss, latency, .. } => (*loss <= 0.0 && latency.is_none(), "loss", SO_ALREADY),
        FaultKind::Clock { step_ms, drift_ppm, .. } => (*step_ms == 0 && *drift_ppm == 0, "step", SO_ALREADY),
        _ => return None,
    };
    idle.then(|| Problem::warning(place(fault, table, key), "this fault has no effect").label(why))
}

/// A fault that shows in calls, of which there are none.
fn nobody_calls(scenario: &Scenario, fault: &Fault, table: &Table) -> Option<Problem> {
    let label = match &fault.verb {
        FaultKind::Grey { .. } => "a grey failure shows in calls only",
        FaultKind::Partition { targets: Targets::Instances(_), peer: Peer::Instances { .. }, .. }
        | FaultKind::Flap { targets: Targets::Instances(_), peer: Peer::Instances { .. }, .. }
        | FaultKind::Degrade { targets: Targets::Instances(_), peer: Peer::Instances { .. }, .. } => {
            "links between instances carry calls only"
        }
        FaultKind::Unhealthy { calls_fail, .. } if *calls_fail > 0.0 => "`calls-fail` shows in calls only",
        _ => return None,
    };
    let calls = scenario.applications.iter().any(|app| app.traffic.is_some());
    (!calls).then(|| {
        Problem::warning(table.place.clone(), "no application calls another")
            .label(label)
            .hint("add calls:\n  [traffic]\n  calls-per-second = 1.0")
    })
}

#[cfg(test)]
mod tests {
    use crate::scenario::lint::tests::warnings;

    fn about(fault: &str) -> String {
        warnings(&format!("[[fault]]\n{fault}"))
    }

    #[test]
    fn faults_that_come_too_late_or_hit_nobody() {
        // Window 30 s and warm-up 5 min: a fault at 25 min is due at 30 min 30 s, the run ends at 30 min.
        assert!(about("at = \"25m\"\ncrash = { count = 1 }").contains("never happens"));
        assert!(about("at = \"24m\"\ncrash = { count = 1 }").contains("may never happen"));
        assert!(about("crash = { share = 0.004 }").contains("rounds to none"));
        // Over at 5 min 30 s + 60 s + 23 min 30 s.
        let cut = |length: &str| about(&format!("grey = {{ count = 1, for = \"{length}\" }}"));
        assert!(cut("24m 30s").contains("is still on then: it would be over at 31m"));
        assert!(cut("23m 30s").contains("may be still on"));
        assert!(!cut("23m").contains("still on"));
    }

    #[test]
    fn health_that_nobody_hears_of_or_looks_at() {
        assert!(about("unhealthy = { count = 1 }").contains("the registry never learns: heartbeats go on"));
        assert_eq!(about("unhealthy = { count = 1, via = \"status-change\" }"), "");
        assert_eq!(
            warnings("eureka.client.healthcheck.enabled = true\n[[fault]]\nunhealthy = { count = 1 }"),
            ""
        );
        let blind = "eureka.client.filter-only-up-instances = false\n[[fault]]\noverride = { count = 1 }";
        assert!(warnings(blind).contains("they never see this"));
    }

    #[test]
    fn what_changes_nothing() {
        assert!(about("change.eureka.server.disable-delta = false").contains("it is so already"));
        assert_eq!(about("change.eureka.server.disable-delta = true"), "");
        assert!(about("degrade = { all = true, loss = 0 }").contains("has no effect"));
        assert!(about("clock = { server = true, step = \"0s\", drift-ppm = 0 }").contains("has no effect"));
        let slow_calls = "degrade = { all = true, latency = \"1s\", peer = { application = \"a\" } }";
        assert!(about(slow_calls).contains("calls take no time"));
        assert!(about("grey = { count = 1 }").contains("a grey failure shows in calls only"));
        assert_eq!(warnings("traffic.calls-per-second = 1\n[[fault]]\ngrey = { count = 1 }"), "");
        assert!(
            about("partition = { count = 1, peer = { application = \"a\" } }").contains("carry calls only")
        );
    }
}
