//! Warnings about expectations that nothing in the scenario can meet.

use crate::model::stage::EventKind;
use crate::scenario::diagnostics::Problem;
use crate::scenario::document::Table;
use crate::scenario::types::Scenario;
use crate::scenario::types::claim::Claim;
use crate::scenario::types::verb::FaultKind;

/// An expectation of something that no fault brings about, or of calls that nobody makes.
pub(crate) fn never_observed(scenario: &Scenario, claim: &Claim, table: &Table) -> Option<Problem> {
    let what = match claim {
        Claim::Latency { event: Some(event), .. } => {
            if scenario.faults.iter().any(|fault| brings_about(&fault.verb, *event)) {
                return None;
            }
            match event {
                EventKind::Crash => "no fault brings about a crash",
                EventKind::Stop => "no fault brings about a stop",
                EventKind::Registration => "no fault brings about a registration",
                EventKind::Unhealthy => "no fault makes an instance unhealthy",
                EventKind::Override => "no fault takes an instance out of service",
                EventKind::Recovery => "no fault lets an instance recover",
            }
        }
        Claim::FailedCalls(..) if scenario.applications.iter().all(|app| app.traffic.is_none()) => {
            "no application calls another: there is no `traffic`"
        }
        _ => return None,
    };
    let place = table.get("that").map(|node| node.place.clone());
    Some(Problem::warning(place, what).label("without an observation an expectation is missed"))
}

fn brings_about(verb: &FaultKind, event: EventKind) -> bool {
    let ends = |graceful: bool| event == if graceful { EventKind::Stop } else { EventKind::Crash };
    let registers = event == EventKind::Registration;
    match verb {
        FaultKind::Crash(targets) => event == EventKind::Crash && !targets.is_server(),
        FaultKind::Stop { .. } => event == EventKind::Stop,
        FaultKind::Restart { targets, graceful, .. } => {
            !targets.is_server() && (ends(*graceful) || registers)
        }
        FaultKind::CrashLoop { .. } => event == EventKind::Crash || registers,
        FaultKind::Start { .. } => registers,
        FaultKind::RollOut { graceful, .. } | FaultKind::BlueGreen { graceful, .. } => {
            ends(*graceful) || registers
        }
        FaultKind::Reclaim { heeded, .. } => ends(true) && *heeded > 0.0 || ends(false) && *heeded < 1.0,
        FaultKind::Unhealthy { length, .. } => {
            event == EventKind::Unhealthy || event == EventKind::Recovery && length.is_some()
        }
        FaultKind::Override { length, .. } => {
            event == EventKind::Override || event == EventKind::Recovery && length.is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::lint::tests::warnings;

    #[test]
    fn expectations_of_what_never_happens() {
        let text = warnings("[[expect]]\nthat = \"crash registry max below 5m\"");
        assert!(text.contains("no fault brings about a crash"), "{text}");
        let text = warnings(
            "[[fault]]\noverride = { count = 1 }\n[[expect]]\nthat = \"recovery client max below 5m\"",
        );
        assert!(text.contains("no fault lets an instance recover"), "{text}");
        assert!(warnings("[[expect]]\nthat = \"no failed call\"").contains("there is no `traffic`"));
    }
}
