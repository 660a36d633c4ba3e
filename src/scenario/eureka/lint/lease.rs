//! Warnings about faults of Eureka in which leases run out though their instances live: pauses that outlast them, and a
//! server's clock by which they age at once.

use crate::engine::{Distribution, SimDuration};
use crate::model::eureka::Eureka;
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::lint::fault::{Fleet, percent, place};
use crate::scenario::lint::{roughly, seconds};
use crate::scenario::setup::{AppOf, ScenarioOf};
use crate::scenario::types::Fault;
use crate::scenario::types::verb::FaultKind;

/// A drift of a server's clock that is told: leases end a hundredth earlier or later.
const DRIFT_TOLD_PPM: i32 = 10_000;

/// All warnings about one fault.
pub(crate) fn lint(scenario: ScenarioOf<'_, Eureka>, fault: &Fault, table: &Table) -> Vec<Problem> {
    let lints = [long_pause, server_clock];
    lints.into_iter().filter_map(|lint| lint(scenario, fault, table)).collect()
}

/// Pauses in which a lease runs out: what is left of it when one begins is at least its life less an interval.
fn long_pause(scenario: ScenarioOf<'_, Eureka>, fault: &Fault, table: &Table) -> Option<Problem> {
    let (length, key): (Distribution, _) = match &fault.verb {
        FaultKind::Pause { length, .. } => (*length, "for"),
        FaultKind::Pauses { lasting, .. } => (*lasting, "lasting"),
        _ => return None,
    };
    let fleet = Fleet::of(&scenario, fault.verb.selection()?);
    let hit = fleet.apps().map(|(app, _)| scenario.app(app));
    let registering = hit.filter(|app| app.client.register_with_eureka);
    let life = registering.map(life).min_by_key(|(life, interval)| life.saturating_sub(*interval));
    let (life, interval) = life?;
    let (longest, title) = match length.greatest() {
        Some(longest) => (longest, format!("a pause may take {longest}, and a lease lasts {life}")),
        None => {
            let rare = length.p99();
            let shown = roughly(rare);
            (rare, format!("one pause in a hundred takes longer than {shown}, and a lease lasts {life}"))
        }
    };
    if longest <= life.saturating_sub(interval) {
        return None;
    }
    let label = if scenario.server().enable_self_preservation {
        "live instances are removed, unless self-preservation holds them"
    } else {
        "live instances are removed, and come back when they go on"
    };
    Some(
        Problem::warning(place(fault, table, key), title)
            .label(label)
            .hint(format!("up to {interval} of a lease are gone when a pause begins")),
    )
}

/// How long a renewed lease lasts, and its heartbeat interval.
fn life(app: AppOf<'_, Eureka>) -> (SimDuration, SimDuration) {
    let interval = seconds(app.client.lease_renewal_interval_in_seconds);
    (seconds(app.client.lease_expiration_duration_in_seconds) * 2, interval)
}

/// A server's clock that is set or drifts ages every lease (`eureka-server.md` 1.1).
fn server_clock(scenario: ScenarioOf<'_, Eureka>, fault: &Fault, table: &Table) -> Option<Problem> {
    let FaultKind::Clock { targets, step_ms, drift_ppm, .. } = &fault.verb else { return None };
    if !targets.is_server() {
        return None;
    }
    let step = SimDuration::from_millis(step_ms.unsigned_abs());
    let lives = scenario.apps().filter(|app| app.client.register_with_eureka).map(life);
    let shortest = lives.map(|(life, _)| life).min()?;
    if *step_ms > 0 {
        let label = if step >= shortest {
            format!("leases of {shortest} all expire at once")
        } else {
            format!("leases that have less than {step} left expire at once")
        };
        let title = format!("the server's clock goes {step} forward: every lease is that much older at once");
        return Some(Problem::warning(place(fault, table, "step"), title).label(label));
    }
    if *step_ms < 0 {
        let title = format!("the server's clock goes {step} back: every lease is that much fresher at once");
        let label = format!("whoever is dead then is shown {step} longer");
        return Some(Problem::warning(place(fault, table, "step"), title).label(label));
    }
    let faster = *drift_ppm > 0;
    let share = percent(f64::from(drift_ppm.unsigned_abs()) / 1e6);
    (drift_ppm.unsigned_abs() >= DRIFT_TOLD_PPM.unsigned_abs()).then(|| {
        let title = format!("the server's clock runs {share} {}", if faster { "fast" } else { "slow" });
        let label = format!("every lease ends {share} {}", if faster { "earlier" } else { "later" });
        Problem::warning(place(fault, table, "drift-ppm"), title).label(label)
    })
}

#[cfg(test)]
mod tests {
    use crate::scenario::lint::tests::warnings;

    fn about(fault: &str) -> String {
        warnings(&format!("[[fault]]\n{fault}"))
    }

    #[test]
    fn pauses_that_outlast_a_lease() {
        // 2 × 90 s, less the 30 s that may be gone.
        assert_eq!(about("pause = { count = 1, for = \"150s\" }"), "");
        let text = about("pause = { count = 1, for = { uniform = [\"1s\", \"151s\"] } }");
        assert!(
            text.contains("may take 2m 31s, and a lease lasts 3m: live instances are removed, unless"),
            "{text}"
        );
        // ln 100 · 40 s = 184 s.
        let rare = about("pauses = { all = true, every = \"5m\", lasting = { exponential = \"40s\" } }");
        assert!(rare.contains("one pause in a hundred takes longer than 3m 4s, and"), "{rare}");
        let wild = "pause = { count = 1, for = { log-normal = { median = \"1s\", sigma = 100 } } }";
        assert!(about(wild).contains("longer than a year, and"), "{}", about(wild));
        assert_eq!(about("pauses = { all = true, every = \"5m\", lasting = { exponential = \"5s\" } }"), "");
    }

    #[test]
    fn a_server_whose_clock_is_set() {
        let text = about("clock = { server = true, step = \"60s\" }");
        assert!(
            text.contains("goes 1m forward") && text.contains("less than 1m left expire at once"),
            "{text}"
        );
        assert!(about("clock = { server = true, step = \"3m\" }").contains("all expire at once"));
        assert!(about("clock = { server = true, step = \"-60s\" }").contains("shown 1m longer"));
        assert!(
            about("clock = { server = true, drift-ppm = 20000 }").contains("every lease ends 2 % earlier")
        );
        assert_eq!(about("clock = { all = true, step = \"60s\" }"), "");
    }
}
