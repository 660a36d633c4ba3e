//! One replicate from start to end.

use std::sync::atomic::AtomicBool;

use super::World;
use super::event::Event;
use crate::engine::{Engine, Limits, Outcome, RunEnd, SimTime};
use crate::model::eureka::EurekaServer;
use crate::observe::{Ending, ReplicateData};
use crate::scenario::Scenario;

/// The user asked to stop: there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Runs replicate `replicate` of `scenario`.
///
/// # Errors
///
/// [`Interrupted`] once `interrupt` is set.
pub fn run(
    scenario: &Scenario,
    replicate: u32,
    interrupt: &AtomicBool,
) -> Result<ReplicateData, Interrupted> {
    run_watched(scenario, replicate, interrupt, |_, _| ())
}

/// Runs the replicate and shows each event to `watch` just before it happens. The run is the same.
///
/// # Errors
///
/// [`Interrupted`] once `interrupt` is set.
pub fn trace(
    scenario: &Scenario,
    replicate: u32,
    interrupt: &AtomicBool,
    watch: &mut dyn FnMut(SimTime, &Event),
) -> Result<ReplicateData, Interrupted> {
    run_watched(scenario, replicate, interrupt, watch)
}

fn run_watched(
    scenario: &Scenario,
    replicate: u32,
    interrupt: &AtomicBool,
    watch: impl FnMut(SimTime, &Event),
) -> Result<ReplicateData, Interrupted> {
    let mut engine = Engine::new();
    let mut world = World::new(scenario, replicate, engine.schedule());
    let limits = Limits {
        horizon: SimTime::ZERO + scenario.duration,
        events: scenario.event_budget,
        interrupt: Some(interrupt),
    };
    let end = engine.run_watched(&mut world, &limits, watch);
    match ending(&end, scenario) {
        Some((ending, ended_at)) => Ok(world.finish(replicate, ending, ended_at, &end)),
        None => Err(Interrupted),
    }
}

/// How the run ended and when: a run whose future is empty or lies behind the horizon lasts as long as it was
/// meant to.
fn ending(end: &RunEnd, scenario: &Scenario) -> Option<(Ending, SimTime)> {
    match end.outcome {
        Outcome::Stopped => Some((Ending::Settled, end.at)),
        Outcome::Drained | Outcome::Horizon => Some((Ending::Duration, SimTime::ZERO + scenario.duration)),
        Outcome::OverBudget => Some((Ending::Budget, end.at)),
        Outcome::Interrupted => None,
    }
}

impl World<'_> {
    fn finish(self, replicate: u32, ending: Ending, ended_at: SimTime, end: &RunEnd) -> ReplicateData {
        let server = self.server.server.as_ref();
        let left_at_end = server.map_or(0, EurekaServer::registered);
        let self_preservation_at_end = server.is_some_and(EurekaServer::self_preservation_engaged);
        let recorded = self.recorder.finish(ended_at);
        ReplicateData {
            replicate,
            ending,
            ended_at,
            events: end.events,
            digest: end.digest.value(),
            instances: self.instance_names,
            detections: recorded.detections,
            mistakes: recorded.mistakes,
            timeline: recorded.timeline,
            load: recorded.load,
            faults: recorded.faults,
            rounds: recorded.rounds,
            left_at_end,
            self_preservation_at_end,
        }
    }
}
