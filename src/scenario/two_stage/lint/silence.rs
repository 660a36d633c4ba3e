//! Warnings about faults that make the two-stage registry take the living for silent: pauses of instances and of the
//! registry, and its own clock. And about a disk that nobody writes to.

use crate::engine::{Distribution, SimDuration};
use crate::model::two_stage::{DiskMode, ResumeOrder, Schedule, ServerConfig, SweepPasses, TwoStage};
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::lint::fault::{Fleet, percent, place};
use crate::scenario::lint::roughly;
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::two_stage::lint::jam;
use crate::scenario::two_stage::lint::ms;
use crate::scenario::types::Fault;
use crate::scenario::types::targets::Targets;
use crate::scenario::types::verb::FaultKind;

/// A drift of the registry's clock that is told: silence counts a hundredth more or less.
const DRIFT_TOLD_PPM: u32 = 10_000;

/// All warnings about one fault.
pub(crate) fn lint(scenario: ScenarioOf<'_, TwoStage>, fault: &Fault, table: &Table) -> Vec<Problem> {
    let lints = [long_pause, server_clock, nobody_writes, jam::jam];
    lints.into_iter().filter_map(|lint| lint(scenario, fault, table)).collect()
}

/// Pauses in which an instance, or all while the registry stands still, is silent for too long (`two-stage.md` C10 and
/// section 3).
fn long_pause(scenario: ScenarioOf<'_, TwoStage>, fault: &Fault, table: &Table) -> Option<Problem> {
    let (targets, length, key): (&Targets, Distribution, _) = match &fault.verb {
        FaultKind::Pause { targets, length } => (targets, *length, "for"),
        FaultKind::Pauses { targets, lasting, .. } => (targets, *lasting, "lasting"),
        _ => return None,
    };
    let server = scenario.server();
    let hit: Vec<AppOf<'_, TwoStage>> = match targets.selection() {
        Some(selection) => Fleet::of(&scenario, selection).apps().map(|(app, _)| scenario.app(app)).collect(),
        None => scenario.apps().collect(),
    };
    let registering = hit.into_iter().filter(|app| app.client.registers);
    // Up to an interval has passed since the last heartbeat when a pause begins.
    let interval = registering.map(|app| ms(app.client.heartbeat_interval_ms)).max()?;
    let (longest, title) = match length.greatest() {
        Some(longest) => (longest, format!("a pause may take {longest}")),
        None => {
            let title = format!("one pause in a hundred takes longer than {}", roughly(length.p99()));
            (length.p99(), title)
        }
    };
    let silence = longest + interval;
    let (soft, hard) = (ms(server.soft_timeout_ms), ms(server.hard_timeout_ms));
    let answers_first = targets.is_server() && server.resume_order == ResumeOrder::RequestsFirst;
    if silence <= soft || answers_first {
        return None;
    }
    let label = match targets.is_server() {
        true => after_the_registrys(server, longest, silence),
        false if silence > hard => "live instances are hidden, and may be removed".to_owned(),
        false => "live instances are hidden until their next heartbeat".to_owned(),
    };
    let place = place(fault, table, key);
    let title = format!("{title}, and {soft} of silence hide an instance");
    Some(
        Problem::warning(place, title)
            .label(label)
            .hint(format!("up to {interval} of silence are over when a pause begins")),
    )
}

/// What the first sweep does after the registry stood still, before it looks at the heartbeats that waited (C10).
fn after_the_registrys(server: &ServerConfig, longest: SimDuration, silence: SimDuration) -> String {
    let (soft, hard) = (ms(server.soft_timeout_ms), ms(server.hard_timeout_ms));
    let whom = if longest > soft { "all instances" } else { "instances" };
    let twice = server.sweep_mode == Schedule::FixedRate && longest > ms(server.sweep_interval_ms);
    let removes = server.sweep_passes == SweepPasses::MarkThenDelete || twice;
    if removes && silence > hard {
        return format!("the sweeps that are overdue then remove {whom}, alive, before a heartbeat is read");
    }
    format!("the sweep that is overdue then hides {whom}, which come back one by one with their heartbeats")
}

/// The registry's own clock, which alone judges silence (C10).
fn server_clock(scenario: ScenarioOf<'_, TwoStage>, fault: &Fault, table: &Table) -> Option<Problem> {
    let FaultKind::Clock { targets, step_ms, drift_ppm, .. } = &fault.verb else { return None };
    if !targets.is_server() {
        return None;
    }
    let server = scenario.server();
    let step = SimDuration::from_millis(step_ms.unsigned_abs());
    let registering = scenario.apps().filter(|app| app.client.registers);
    let interval = registering.map(|app| ms(app.client.heartbeat_interval_ms)).max()?;
    let (soft, hard) = (ms(server.soft_timeout_ms), ms(server.hard_timeout_ms));
    if *step_ms > 0 && step + interval > soft {
        let (whom, why) = if step > soft {
            ("everybody", "not heard of between that and the next sweep")
        } else {
            ("whoever", "silent for the rest of the soft timeout already")
        };
        let removed = server.sweep_passes == SweepPasses::MarkThenDelete && step + interval > hard;
        let does = if removed { "removed" } else { "hidden" };
        let title =
            format!("the registry's clock goes {step} forward: everybody is silent that much longer at once");
        return Some(
            Problem::warning(place(fault, table, "step"), title)
                .label(format!("{whom} is {does} who is {why}")),
        );
    }
    if *step_ms < 0 {
        let title =
            format!("the registry's clock goes {step} back: everybody is silent that much less at once");
        let label = format!("whoever is dead then is shown {step} longer");
        return Some(Problem::warning(place(fault, table, "step"), title).label(label));
    }
    let (faster, ppm) = (*drift_ppm > 0, drift_ppm.unsigned_abs());
    (ppm >= DRIFT_TOLD_PPM).then(|| {
        let share = percent(f64::from(ppm) / 1e6);
        let title = format!("the registry's clock runs {share} {}", if faster { "fast" } else { "slow" });
        let label = format!("silence is too long {share} {}", if faster { "earlier" } else { "later" });
        Problem::warning(place(fault, table, "drift-ppm"), title).label(label)
    })
}

/// A disk that is full for consumers that write nothing to it.
fn nobody_writes(scenario: ScenarioOf<'_, TwoStage>, fault: &Fault, table: &Table) -> Option<Problem> {
    let FaultKind::FullDisk { targets, .. } = &fault.verb else { return None };
    let why = |app: AppOf<'_, TwoStage>| {
        let client = app.client;
        match () {
            () if !client.fetches => Some("does not fetch"),
            () if client.disk_mode == DiskMode::None => Some("keeps nothing on disk"),
            () if !client.disk_writable => Some("can never write to its disk"),
            () => None,
        }
    };
    let fleet = Fleet::of(&scenario, targets);
    let hit = fleet.apps().map(|(app, _)| scenario.app(app));
    let idle: Vec<_> = hit.map(|app| (app, why(app))).collect();
    let (first, reason) = idle.first()?;
    if idle.iter().any(|(_, why)| why.is_none()) {
        return None;
    }
    let label = format!("`{}` {}", first.name, (*reason)?);
    Some(Problem::warning(table.place.clone(), "this fault has no effect").label(label))
}

#[cfg(test)]
mod tests {
    use crate::scenario::two_stage::lint::tests::{about, warnings};

    #[test]
    fn pauses_of_instances() {
        // 15 s less the 5 s that may be over.
        assert_eq!(about("pause = { count = 1, for = \"10s\" }"), "");
        let text = about("pause = { count = 1, for = \"11s\" }");
        assert!(text.contains("hidden until their next heartbeat"), "{text}");
        assert!(about("pause = { count = 1, for = \"56s\" }").contains("hidden, and may be removed"));
        let rare = about("pauses = { all = true, every = \"5m\", lasting = { exponential = \"4s\" } }");
        // ln 100 · 4 s.
        assert!(rare.contains("one pause in a hundred takes longer than 18s 420ms"), "{rare}");
    }

    #[test]
    fn pauses_of_the_registry() {
        let text = about("pause = { server = true, for = \"12s\" }");
        assert!(text.contains("hides instances, which come back one by one"), "{text}");
        let text = about("pause = { server = true, for = \"70s\" }");
        assert!(text.contains("hides all instances, which come back one by one"), "{text}");
        let pause = "[[fault]]\npause = { server = true, for = \"70s\" }";
        let fixed = format!("two-stage.sweep-mode = \"fixed-rate\"\n{pause}");
        assert!(warnings("two-stage", &fixed).contains("remove all instances, alive"), "{fixed}");
        assert!(warnings("nacos-1", pause).contains("before a heartbeat is read"));
        let polite = format!("two-stage.resume-order = \"requests-first\"\n{pause}");
        assert_eq!(warnings("two-stage", &polite), "");
    }

    #[test]
    fn the_registrys_clock() {
        assert_eq!(about("clock = { server = true, step = \"10s\" }"), "");
        assert!(
            about("clock = { server = true, step = \"11s\" }").contains("whoever is hidden who is silent")
        );
        assert!(
            about("clock = { server = true, step = \"16s\" }")
                .contains("everybody is hidden who is not heard")
        );
        assert!(about("clock = { server = true, step = \"-60s\" }").contains("shown 1m longer"));
        assert!(
            about("clock = { server = true, drift-ppm = 20000 }").contains("silence is too long 2 % earlier")
        );
    }

    #[test]
    fn a_full_disk_that_nobody_writes_to() {
        assert_eq!(about("full-disk = { count = 1 }"), "");
        let none = "two-stage.disk-mode = \"none\"\n[[fault]]\nfull-disk = { count = 1 }";
        assert!(warnings("two-stage", none).contains("`a` keeps nothing on disk"));
    }
}
