//! Scenarios for this room's tests: defaults, a fleet of applications `a0`, `a1` … and one crash.

use crate::engine::SimDuration;
use crate::model::id::AppId;
use crate::model::two_stage::{self, Preset, TwoStage};
use crate::scenario::{
    Application, Fault, FaultKind, Scenario, Selection, Settings, TargetChoice, Targets, default_scenario,
};

/// All defaults, these many instances by application, one of all crashes.
pub(super) fn scenario(fleet: &[u32]) -> Scenario {
    let mut default = default_scenario().scenario;
    let application = |(place, &instances): (usize, &u32)| Application {
        name: format!("a{place}"),
        instances,
        ..default.applications[0].clone()
    };
    let applications = fleet.iter().enumerate().map(application).collect();
    default.set_applications(applications, AppId(0));
    Scenario {
        faults: vec![crash_of(Selection { application: None, zone: None, which: TargetChoice::Count(1) })],
        expectations: Vec::new(),
        ..default
    }
}

/// The same of a two-stage registry. Every application hears of every other.
pub(super) fn two_stage(preset: Preset, fleet: &[u32]) -> Scenario {
    let mut scenario = scenario(fleet);
    let services = (0..fleet.len() as u32).map(AppId).collect();
    let client = two_stage::ClientConfig { services, ..two_stage::ClientConfig::defaults(preset) };
    let (release, server) = (String::new(), two_stage::ServerConfig::defaults(preset));
    let clients = vec![client; fleet.len()];
    scenario.setup = Settings::<TwoStage> { release, server, own_client: (), clients }.into();
    scenario
}

/// The settings of a two-stage registry, to change.
pub(super) fn registry_of(scenario: &mut Scenario) -> &mut two_stage::ServerConfig {
    &mut scenario.setup.two_stage_mut().unwrap().server
}

/// The settings of its application at `place`, to change.
pub(super) fn client_of(scenario: &mut Scenario, place: usize) -> &mut two_stage::ClientConfig {
    &mut scenario.setup.two_stage_mut().unwrap().clients[place]
}

/// A crash within the first minute.
pub(super) fn crash_of(selection: Selection) -> Fault {
    fault(0, FaultKind::Crash(Targets::Instances(selection)))
}

/// A fault within a minute of this second.
pub(super) fn fault(at_s: u64, verb: FaultKind) -> Fault {
    Fault { at: SimDuration::from_secs(at_s), within: SimDuration::from_secs(60), verb }
}
