//! Scenarios to start from, and the comparison of what is simulated with what is computed.

use std::sync::atomic::AtomicBool;

use stillup::analysis::{Bound, BoundRange, bounds};
use stillup::engine::SimDuration;
use stillup::model::id::AppId;
use stillup::model::registry::{ClientConfig, ServerConfig};
use stillup::model::stage::{EventKind, Stage};
use stillup::model::two_stage::{self, Preset};
use stillup::observe::{Outcome, RunData};
use stillup::scenario::{self, Application, Fault, Scenario, Selection, Targets, Verb, Which};
use stillup::sweep;

pub(crate) const fn s(seconds: u64) -> SimDuration {
    SimDuration::from_secs(seconds)
}

/// All defaults, these many instances by application, one of all crashes within a minute. Everybody hears of everybody.
pub(crate) fn scenario(preset: Preset, fleet: &[u32]) -> Scenario {
    let default = scenario::default_scenario().scenario;
    let services = (0..fleet.len() as u32).map(AppId).collect();
    let client = two_stage::ClientConfig { services, ..two_stage::ClientConfig::defaults(preset) };
    let application = |(place, &instances): (usize, &u32)| Application {
        name: format!("a{place}"),
        instances,
        client: client.clone().into(),
        ..default.applications[0].clone()
    };
    Scenario {
        seed: 20,
        replicates: 200,
        duration: s(600),
        start_window: s(5),
        server: two_stage::ServerConfig::defaults(preset).into(),
        server_client: client.clone().into(),
        applications: fleet.iter().enumerate().map(application).collect(),
        faults: vec![crash(some(1))],
        expectations: Vec::new(),
        ..default
    }
}

pub(crate) fn registry_of(scenario: &mut Scenario) -> &mut two_stage::ServerConfig {
    match &mut scenario.server {
        ServerConfig::TwoStage(config) => config,
        ServerConfig::Eureka(_) => panic!("not the two-stage registry"),
    }
}

pub(crate) fn client_of(scenario: &mut Scenario, place: usize) -> &mut two_stage::ClientConfig {
    match &mut scenario.applications[place].client {
        ClientConfig::TwoStage(config) => config,
        ClientConfig::Eureka(_) => panic!("not the two-stage registry"),
    }
}

pub(crate) fn some(count: u32) -> Selection {
    Selection { application: None, zone: None, which: Which::Count(count) }
}

pub(crate) fn of_app(place: u32, which: Which) -> Selection {
    Selection { application: Some(AppId(place)), zone: None, which }
}

pub(crate) fn stop(targets: Selection) -> Verb {
    Verb::Stop { targets, linger: SimDuration::ZERO, over: SimDuration::ZERO }
}

pub(crate) fn crash(targets: Selection) -> Fault {
    fault(Verb::Crash(Targets::Instances(targets)))
}

/// Within a minute.
pub(crate) fn fault(verb: Verb) -> Fault {
    Fault { at: SimDuration::ZERO, within: s(60), verb }
}

pub(crate) fn run(scenario: &Scenario) -> RunData {
    sweep::run(scenario, 2, &AtomicBool::new(false), &|_| ()).expect("nobody interrupts")
}

/// T_D of everything detected, each with how many saw it.
pub(crate) fn detected(data: &RunData, event: EventKind, stage: Stage) -> Vec<(SimDuration, u64)> {
    let detections = data.replicates.iter().flat_map(|replicate| &replicate.detections);
    let of_stage = detections.filter(|it| it.event == event && it.stage == stage);
    let seen = of_stage.filter_map(|it| match it.outcome {
        Outcome::Detected(t_d) => Some((t_d, it.count)),
        _ => None,
    });
    seen.collect()
}

/// In how many replicates anything was detected.
pub(crate) fn replicates_with(data: &RunData, event: EventKind, stage: Stage) -> usize {
    let has = |it: &stillup::observe::Detection| {
        it.event == event && it.stage == stage && matches!(it.outcome, Outcome::Detected(_))
    };
    data.replicates.iter().filter(|replicate| replicate.detections.iter().any(has)).count()
}

/// Checks every closed form that there is, and that nothing was censored; returns how many there were.
pub(crate) fn hold(scenario: &Scenario) -> usize {
    check(scenario, true)
}

/// The same without the means, and without asking that anything was seen.
pub(crate) fn hold_range(scenario: &Scenario) -> usize {
    check(scenario, false)
}

fn check(scenario: &Scenario, closely: bool) -> usize {
    let data = run(scenario);
    let mut held = 0;
    for Bound { event, stage, range, mean_absent } in bounds(scenario) {
        let Ok(range) = range else { continue };
        let seen = detected(&data, event, stage);
        let place = format!("{} at {}", event.name(), stage.name());
        assert!(!closely || !seen.is_empty(), "{place}: nothing was detected");
        for (t_d, _) in &seen {
            assert!(range.min <= *t_d && *t_d <= range.max, "{place}: {t_d} outside {range:?}\n{scenario:?}");
        }
        let open = data.replicates.iter().flat_map(|replicate| &replicate.detections).find(|it| {
            it.event == event
                && it.stage == stage
                && matches!(it.outcome, Outcome::Censored(after) if after > range.max)
        });
        assert!(open.is_none(), "{place}: {open:?} against {range:?}\n{scenario:?}");
        if closely && mean_absent.is_none() {
            assert_mean(&seen, &range, &place);
        }
        held += 1;
    }
    held
}

/// Observers of one crash share most of the way, so 200 crashes give a mean with an error of about a third of the width
/// over √200, a fiftieth: five of these are never exceeded.
fn assert_mean(seen: &[(SimDuration, u64)], range: &BoundRange, place: &str) {
    let count: u64 = seen.iter().map(|(_, count)| count).sum();
    let sum: u128 = seen.iter().map(|(t_d, count)| u128::from(t_d.as_nanos()) * u128::from(*count)).sum();
    let mean = (sum / u128::from(count)) as u64;
    let width = range.max.as_nanos() - range.min.as_nanos();
    let off = mean.abs_diff(range.mean.as_nanos());
    assert!(off <= width / 10, "{place}: mean {} against {range:?}", SimDuration::from_nanos(mean));
}
