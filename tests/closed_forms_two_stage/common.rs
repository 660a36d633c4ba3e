//! Scenarios to start from.

pub(crate) use crate::held::{Picks, detected, hold, hold_range, ms, run, s};
use stillup::engine::SimDuration;
use stillup::model::id::AppId;
use stillup::model::stage::{EventKind, Stage};
use stillup::model::two_stage::{self, Preset, TwoStage};
use stillup::observe::{Outcome, RunData};
use stillup::scenario::{
    self, Application, Fault, FaultKind, Scenario, Selection, Settings, TargetChoice, Targets,
};

/// All defaults, these many instances by application, one of all crashes within a minute. Everybody hears of everybody.
pub(crate) fn scenario(preset: Preset, fleet: &[u32]) -> Scenario {
    let default = scenario::default_scenario().scenario;
    let services = (0..fleet.len() as u32).map(AppId).collect();
    let client = two_stage::ClientConfig { services, ..two_stage::ClientConfig::defaults(preset) };
    let application = |(place, &instances): (usize, &u32)| Application {
        name: format!("a{place}"),
        instances,
        ..default.applications[0].clone()
    };
    let (release, server) = (String::new(), two_stage::ServerConfig::defaults(preset));
    let clients = vec![client; fleet.len()];
    Scenario {
        setup: Settings::<TwoStage> { release, server, own_client: (), clients }.into(),
        seed: 20,
        replicates: 200,
        duration: s(600),
        start_window: s(5),
        applications: fleet.iter().enumerate().map(application).collect(),
        faults: vec![crash(some(1))],
        expectations: Vec::new(),
        ..default
    }
}

pub(crate) fn registry_of(scenario: &mut Scenario) -> &mut two_stage::ServerConfig {
    &mut scenario.setup.two_stage_mut().unwrap().server
}

pub(crate) fn client_of(scenario: &mut Scenario, place: usize) -> &mut two_stage::ClientConfig {
    &mut scenario.setup.two_stage_mut().unwrap().clients[place]
}

pub(crate) fn some(count: u32) -> Selection {
    Selection { application: None, zone: None, which: TargetChoice::Count(count) }
}

pub(crate) fn of_app(place: u32, which: TargetChoice) -> Selection {
    Selection { application: Some(AppId(place)), zone: None, which }
}

pub(crate) fn stop(targets: Selection) -> FaultKind {
    FaultKind::Stop { targets, linger: SimDuration::ZERO, over: SimDuration::ZERO }
}

pub(crate) fn crash(targets: Selection) -> Fault {
    fault(FaultKind::Crash(Targets::Instances(targets)))
}

/// Within a minute.
pub(crate) fn fault(verb: FaultKind) -> Fault {
    Fault { at: SimDuration::ZERO, within: s(60), verb }
}

/// In how many replicates anything was detected.
pub(crate) fn replicates_with(data: &RunData, event: EventKind, stage: Stage) -> usize {
    let has = |it: &stillup::observe::Detection| {
        it.event == event && it.stage == stage && matches!(it.outcome, Outcome::Detected(_))
    };
    data.replicates.iter().filter(|replicate| replicate.detections.iter().any(has)).count()
}
