//! Scenarios for this room's tests: defaults, a fleet of applications `a0`, `a1` … and one crash.

use crate::engine::SimDuration;
use crate::scenario::{Application, Fault, Scenario, Selection, Targets, Verb, Which, default_scenario};

/// All defaults, these many instances by application, one of all crashes.
pub(super) fn scenario(fleet: &[u32]) -> Scenario {
    let default = default_scenario().scenario;
    let application = |(place, &instances): (usize, &u32)| Application {
        name: format!("a{place}"),
        instances,
        ..default.applications[0].clone()
    };
    Scenario {
        applications: fleet.iter().enumerate().map(application).collect(),
        faults: vec![crash_of(Selection { application: None, zone: None, which: Which::Count(1) })],
        expectations: Vec::new(),
        ..default
    }
}

/// A crash within the first minute.
pub(super) fn crash_of(selection: Selection) -> Fault {
    fault(0, Verb::Crash(Targets::Instances(selection)))
}

/// A fault within a minute of this second.
pub(super) fn fault(at_s: u64, verb: Verb) -> Fault {
    Fault { at: SimDuration::from_secs(at_s), within: SimDuration::from_secs(60), verb }
}
