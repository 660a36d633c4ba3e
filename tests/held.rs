//! What is simulated, held against its closed forms, of whichever registry.

use stillup::analysis::{Bound, BoundRange, bounds};
use stillup::engine::SimDuration;
use stillup::model::stage::{EventKind, Stage};
use stillup::observe::{Outcome, RunData};
use stillup::scenario::Scenario;

pub(crate) use crate::shipped::run_all as run;

pub(crate) const fn ms(millis: u64) -> SimDuration {
    SimDuration::from_millis(millis)
}

pub(crate) const fn s(seconds: u64) -> SimDuration {
    SimDuration::from_secs(seconds)
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

/// Checks every closed form that there is, and that nothing was censored that should have been seen; returns how many
/// there were.
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

/// Picks from lists, by a linear congruence: the same on every machine.
pub(crate) struct Picks(pub(crate) u64);

impl Picks {
    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        choices[(self.0 >> 33) as usize % choices.len()]
    }
}
