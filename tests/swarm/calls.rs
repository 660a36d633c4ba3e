//! The same world with calls: they add up, and change nothing else.

use std::sync::atomic::AtomicBool;

use stillup::engine::SimDuration;
use stillup::model::id::AppId;
use stillup::observe::{CallOutcome, ReplicateData};
use stillup::scenario::{Scenario, Traffic};
use stillup::world;

/// The same world with calls from everyone to everyone: they must add up, and change nothing else.
pub(super) fn calls(scenario: &Scenario, silent: &ReplicateData) -> Vec<String> {
    let mut scenario = scenario.clone();
    let everyone: Vec<AppId> = (0..scenario.applications.len() as u32).map(AppId).collect();
    for application in &mut scenario.applications {
        application.traffic = Some(Traffic {
            calls_per_second: 0.2,
            to: everyone.clone(),
            retries_on_same_instance: 1,
            retries_on_next_instance: 1,
            read_timeout: SimDuration::from_secs(1),
        });
    }
    let mut data = world::run(&scenario, 0, &AtomicBool::new(false)).expect("nobody interrupts");
    let rows = std::mem::take(&mut data.calls);
    let mut broken = Vec::new();
    if data != *silent {
        broken.push("calls change what else happens".to_owned());
    }
    for row in rows {
        let attempt = |fate: CallOutcome| row.attempts[fate as usize];
        let adds_up = row.failed + attempt(CallOutcome::Answered) == row.calls
            && row.dead_by_stage.iter().sum::<u64>() == attempt(CallOutcome::Dead)
            && row.attempts.iter().sum::<u64>() <= 4 * row.calls;
        if !adds_up {
            broken.push(format!("calls do not add up: {row:?}"));
        }
    }
    broken
}
