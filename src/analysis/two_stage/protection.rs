//! From a crash to the first answer that never shows the instance again, where answers are protected
//! (`two-stage.md` 4.1, N1, N2).
//!
//! If the share of healthy entries of a service is not above a threshold, all its entries are handed out as healthy.
//! With Nacos' threshold of 0 that happens just when none is healthy. So the only instance of a service, or the last
//! healthy one, is hidden by its deletion; and of a service that dies as a whole every instance is, after having been
//! hidden and shown again in between.

use super::super::fleet::{Hit, hits};
use super::super::types::BoundRange;
use super::Case;
use super::consumer::Wait;
use super::ghosts::Death;
use super::reason::TwoStageReason;
use crate::model::stage::EventKind;

/// What decides when the dead of a service are served no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Served {
    /// The mark: protection is never on.
    AsRegistry,
    /// The deletion: protection is on from before any deletion until the last.
    AsEntry,
    /// One or the other, depending on the others.
    Between,
}

impl Served {
    /// For the dead of application `place`.
    pub(super) fn of(scenario: Case<'_>, crashes: &[Hit], place: usize, death: Death) -> Self {
        let server = scenario.server();
        // Otherwise nobody is unhealthy for any time.
        let has_ghosts = death.hidden != death.forgotten;
        let Some(threshold) = server.read_protect_threshold.filter(|_| has_ghosts) else {
            return Self::AsRegistry;
        };
        let shows_all =
            |healthy: u64, ghosts: u64| healthy as f64 / (healthy + ghosts).max(1) as f64 <= threshold;
        let entries = u64::from(scenario.applications[place].instances);
        let of_kind = |kind| -> u64 { hits(&scenario, kind).iter().map(|hit| hit.at_most_of(place)).sum() };
        let (stopped, started) = (of_kind(EventKind::Stop), of_kind(EventKind::Registration));
        let dead: u64 = crashes.iter().map(|hit| hit.at_most_of(place)).sum();
        let healthy = entries.saturating_sub(dead + stopped);
        if !shows_all(healthy, dead) {
            return Self::AsRegistry;
        }
        // All at one moment, just these, and nobody else comes or goes: they are all marked before one is deleted, and
        // when only the last is left its deletion still counts.
        let mut concerned = crashes.iter().filter(|hit| hit.at_most_of(place) > 0);
        let together = match (concerned.next(), concerned.next()) {
            (Some(hit), None) => hit.is_sure_of(place) && hit.spread[1].is_zero(),
            _ => false,
        };
        let in_order = death.hidden.max <= death.forgotten.min;
        if together && in_order && stopped + started == 0 && shows_all(healthy, 1) {
            Self::AsEntry
        } else {
            Self::Between
        }
    }

    /// From the crash.
    pub(super) fn wait(self, death: Death) -> Wait {
        match self {
            Self::AsRegistry => death.hidden.into(),
            Self::AsEntry => death.forgotten.into(),
            Self::Between => {
                let (min, max) = (death.hidden.min, death.forgotten.max.max(death.hidden.max));
                let range = BoundRange { min, mean: death.hidden.mean, max };
                Wait { range, uneven: Some(TwoStageReason::ShownAgain) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{crash_of, fault, registry_of, two_stage};
    use crate::engine::SimDuration;
    use crate::model::id::AppId;
    use crate::model::two_stage::Preset;
    use crate::scenario::{FaultKind, Scenario, Selection, TargetChoice};

    fn death() -> Death {
        let range = |min, max| {
            let [min, mean, max] = [min, (min + max) / 2, max].map(SimDuration::from_secs);
            BoundRange { min, mean, max }
        };
        Death { hidden: range(10, 20), forgotten: range(25, 35) }
    }

    fn served(scenario: &Scenario) -> Served {
        Served::of(scenario.two_stage().unwrap(), &hits(scenario, EventKind::Crash), 0, death())
    }

    fn crash(fleet: &[u32], which: TargetChoice, application: Option<AppId>) -> Scenario {
        let faults = vec![crash_of(Selection { application, zone: None, which })];
        Scenario { faults, ..two_stage(Preset::Nacos1, fleet) }
    }

    /// N1, N2: the only instance, the whole service; one of two is hidden by its mark.
    #[test]
    fn the_last_one_is_hidden_by_its_deletion() {
        assert_eq!(served(&crash(&[1], TargetChoice::Count(1), None)), Served::AsEntry);
        assert_eq!(served(&crash(&[4], TargetChoice::All, None)), Served::AsEntry);
        assert_eq!(served(&crash(&[2], TargetChoice::Count(1), None)), Served::AsRegistry);
        // Drawn from all: if it is the only one of its service, it is the last.
        assert_eq!(served(&crash(&[1, 20], TargetChoice::Count(1), None)), Served::AsEntry);
        // Two of four and twenty may be two of four, three of three and twenty all three.
        assert_eq!(served(&crash(&[4, 20], TargetChoice::Count(2), None)), Served::AsRegistry);
        assert_eq!(served(&crash(&[3, 20], TargetChoice::Count(3), None)), Served::Between);
    }

    #[test]
    fn two_crashes_of_one_service_depend_on_each_other() {
        let mut scenario = crash(&[2], TargetChoice::Named(vec![(AppId(0), 1)]), None);
        scenario.faults.push(crash_of(Selection {
            application: None,
            zone: None,
            which: TargetChoice::Named(vec![(AppId(0), 2)]),
        }));
        assert_eq!(served(&scenario), Served::Between);
        let wait = Served::Between.wait(death());
        assert_eq!((wait.range.min, wait.range.max), (death().hidden.min, death().forgotten.max));
        assert!(wait.uneven.is_some());
        // Somebody who starts meanwhile is healthy.
        let mut scenario = crash(&[1], TargetChoice::Count(1), None);
        let start = FaultKind::Start { application: AppId(0), count: 1, over: SimDuration::ZERO };
        scenario.faults.push(fault(0, start));
        assert_eq!(served(&scenario), Served::Between);
    }

    /// With a threshold of one half two of four turn it on: 2/4. When one of these is deleted 2/3 is above.
    #[test]
    fn other_thresholds() {
        let mut scenario = crash(&[4], TargetChoice::Count(2), None);
        registry_of(&mut scenario).read_protect_threshold = Some(0.5);
        assert_eq!(served(&scenario), Served::Between);
        registry_of(&mut scenario).read_protect_threshold = Some(0.7);
        assert_eq!(served(&scenario), Served::AsEntry);
        registry_of(&mut scenario).read_protect_threshold = None;
        assert_eq!(served(&scenario), Served::AsRegistry);
    }
}
