//! Whom a scenario's faults hit, when, and who is left to watch: counts by application.

use crate::engine::SimDuration;
use crate::model::id::AppId;
use crate::model::stage::EventKind;
use crate::scenario::{Application, Fault, FaultKind, Scenario, Selection, TargetChoice, Targets};

/// Weights count instances in millionths, so that shares of a fleet stay whole numbers.
const MILLION: u128 = 1_000_000;

/// Instances to which one fault makes one kind of event happen.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    /// The fault's place in the scenario.
    pub(super) fault: usize,
    /// The earliest moment, from the end of the warm-up.
    pub(super) from: SimDuration,
    /// The latest.
    pub(super) to: SimDuration,
    /// The moment is the earliest plus a uniform draw from each of these: one for all, one for each instance.
    pub(super) spread: [SimDuration; 2],
    /// How many it hits in all, registered or not.
    pub(super) count: u64,
    /// Out of so many of each application.
    candidates: Vec<u64>,
    /// Candidates in all.
    all: u64,
    /// Whether it hits just these candidates (named, or all of them) or some at random.
    certain: bool,
    /// Whether they arrive rather than leave.
    arrives: bool,
}

/// What `scenario`'s faults make happen, of one kind, in the order of the file.
pub(super) fn hits(scenario: &Scenario, event: EventKind) -> Vec<Hit> {
    let all = (0..scenario.faults.len()).flat_map(|place| brought_about(scenario, place));
    all.filter(|(kind, _)| *kind == event).map(|(_, hit)| hit).collect()
}

/// Of verbs that no closed form covers (`assumptions::undisturbed`) it matters only that there is something.
fn brought_about(scenario: &Scenario, place: usize) -> Vec<(EventKind, Hit)> {
    let ends = |graceful: bool| if graceful { EventKind::Stop } else { EventKind::Crash };
    let of = |chosen: &Selection| Hit::of(scenario, place, chosen);
    let all_of = |application: AppId| {
        of(&Selection { application: Some(application), zone: None, which: TargetChoice::All })
    };
    let arriving = |application: AppId, count: u32| {
        let mut started = vec![0; scenario.applications.len()];
        started[application.index()] = u64::from(count);
        Hit::certain(&scenario.faults[place], place, started).returning_after(SimDuration::ZERO)
    };
    match &scenario.faults[place].verb {
        FaultKind::Crash(Targets::Instances(chosen)) => vec![(EventKind::Crash, of(chosen))],
        FaultKind::Stop { targets, over, .. } => vec![(EventKind::Stop, of(targets).over(*over))],
        FaultKind::Restart { targets: Targets::Instances(chosen), graceful, down_for, .. } => {
            let back = of(chosen).returning_after(*down_for);
            vec![(ends(*graceful), of(chosen)), (EventKind::Registration, back)]
        }
        FaultKind::CrashLoop { targets, .. } => {
            let back = of(targets).returning_after(SimDuration::ZERO);
            vec![(EventKind::Crash, of(targets)), (EventKind::Registration, back)]
        }
        FaultKind::Reclaim { targets, notice, heeded } => {
            let stopped = (*heeded > 0.0).then(|| (EventKind::Stop, of(targets)));
            let killed = (*heeded < 1.0).then(|| (EventKind::Crash, of(targets).later_by(*notice)));
            stopped.into_iter().chain(killed).collect()
        }
        FaultKind::Start { application, count, over } => {
            vec![(EventKind::Registration, arriving(*application, *count).over(*over))]
        }
        FaultKind::RollOut { application, graceful, .. } => {
            let new = all_of(*application).returning_after(SimDuration::ZERO);
            vec![(ends(*graceful), all_of(*application)), (EventKind::Registration, new)]
        }
        FaultKind::BlueGreen { from, to, graceful, .. } => {
            let new = arriving(*to, scenario.applications[from.index()].instances);
            vec![(ends(*graceful), all_of(*from)), (EventKind::Registration, new)]
        }
        FaultKind::Unhealthy { targets, .. } => {
            vec![(EventKind::Unhealthy, of(targets)), (EventKind::Recovery, of(targets))]
        }
        FaultKind::Override { targets, .. } => {
            vec![(EventKind::Override, of(targets)), (EventKind::Recovery, of(targets))]
        }
        _ => Vec::new(),
    }
}

impl Hit {
    fn of(scenario: &Scenario, place: usize, chosen: &Selection) -> Self {
        let fault = &scenario.faults[place];
        let in_scope = |(place, app): (usize, &Application)| {
            let wanted = chosen.application.is_none_or(|wanted| wanted.index() == place);
            if wanted { app.in_zone(u64::from(app.instances), chosen.zone) } else { 0 }
        };
        let candidates: Vec<u64> = scenario.applications.iter().enumerate().map(in_scope).collect();
        let all: u64 = candidates.iter().sum();
        let some = |count: u64| {
            let hit = Self::certain(fault, place, candidates.clone());
            Self { count: count.min(all), certain: count >= all, ..hit }
        };
        match &chosen.which {
            TargetChoice::All => some(all),
            TargetChoice::Count(count) => some(u64::from(*count)),
            TargetChoice::Share(share) => some((share * all as f64).round() as u64),
            TargetChoice::Named(names) => {
                let mut named = vec![0; scenario.applications.len()];
                for (application, _) in names {
                    named[application.index()] += 1;
                }
                Self::certain(fault, place, named)
            }
        }
    }

    fn certain(fault: &Fault, place: usize, candidates: Vec<u64>) -> Self {
        let count: u64 = candidates.iter().sum();
        let to = fault.at + fault.within;
        Self {
            fault: place,
            from: fault.at,
            to,
            spread: [fault.within, SimDuration::ZERO],
            count,
            candidates,
            all: count,
            certain: true,
            arrives: false,
        }
    }

    fn later_by(self, delay: SimDuration) -> Self {
        Self { from: self.from + delay, to: self.to + delay, ..self }
    }

    fn returning_after(self, away: SimDuration) -> Self {
        Self { arrives: true, ..self.later_by(away) }
    }

    /// Each at a uniform moment within this.
    fn over(self, over: SimDuration) -> Self {
        Self { to: self.to + over, spread: [self.spread[0], over], ..self }
    }

    /// Whether those hit see each other come or go, because each has a moment of its own.
    pub(super) fn is_watched_from_within(&self, scenario: &Scenario) -> bool {
        let watching = |(place, app): (usize, &Application)| app.observers && self.candidates[place] > 0;
        !self.spread[1].is_zero() && self.count > 1 && scenario.applications.iter().enumerate().any(watching)
    }

    /// How many of application `place` it hits on average, in millionths.
    pub(super) fn expected_of(&self, place: usize) -> u128 {
        let candidates = u128::from(self.candidates[place]);
        if self.certain {
            candidates * MILLION
        } else {
            candidates * u128::from(self.count) * MILLION / u128::from(self.all.max(1))
        }
    }

    /// How many of application `place` it may hit at most.
    pub(super) fn at_most_of(&self, place: usize) -> u64 {
        self.candidates[place].min(self.count)
    }

    /// Whether, if it hits any of application `place`, it hits just as many of it as it may at most.
    pub(super) fn is_sure_of(&self, place: usize) -> bool {
        self.certain || self.candidates[place] == self.all || self.at_most_of(place) == 1
    }

    /// Pairs of one that is hit and one observer that is not, on average, in millionths, for victims of
    /// application `victim` and observers of application `watcher`.
    pub(super) fn watched_by(&self, scenario: &Scenario, victim: usize, watcher: usize) -> u128 {
        let app = &scenario.applications[watcher];
        let observers = if app.observers { u64::from(app.instances) } else { 0 };
        let hit = self.expected_of(victim);
        if self.arrives || self.candidates[watcher] == 0 {
            return hit * u128::from(observers);
        }
        if self.certain {
            return hit * u128::from(observers.saturating_sub(self.candidates[watcher]));
        }
        // Drawn without replacement: given one victim of `all`, another candidate is spared with
        // (all − count) / (all − 1); the victim itself does not watch. Who is no candidate is spared anyway.
        let candidates = self.candidates[watcher].min(observers);
        let others = if victim == watcher { candidates.saturating_sub(1) } else { candidates };
        let spared = self.all - self.count;
        hit * u128::from(others) * u128::from(spared) / u128::from((self.all - 1).max(1))
            + hit * u128::from(observers - candidates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{crash_of, scenario};
    use crate::scenario::ZoneId;

    fn with(which: TargetChoice, application: Option<AppId>) -> (Scenario, Hit) {
        let mut scenario = scenario(&[10, 30]);
        scenario.faults = vec![crash_of(Selection { application, zone: None, which })];
        let hit = hits(&scenario, EventKind::Crash).remove(0);
        (scenario, hit)
    }

    #[test]
    fn one_of_forty_at_random() {
        let (scenario, hit) = with(TargetChoice::Count(1), None);
        assert_eq!((hit.expected_of(0), hit.expected_of(1)), (250_000, 750_000)); // 10/40, 30/40
        assert_eq!(hit.at_most_of(1), 1);
        // A victim of the first application is watched by nine others of it and thirty of the second.
        assert_eq!(hit.watched_by(&scenario, 0, 0), 250_000 * 9);
        assert_eq!(hit.watched_by(&scenario, 0, 1), 250_000 * 30);
    }

    #[test]
    fn four_of_the_first_application() {
        let (scenario, hit) = with(TargetChoice::Count(4), Some(AppId(0)));
        assert_eq!((hit.expected_of(0), hit.expected_of(1)), (4_000_000, 0));
        // Each of four victims is watched by the six left of its application, and by all of the other.
        assert_eq!(hit.watched_by(&scenario, 0, 0), 4_000_000 * 6);
        assert_eq!(hit.watched_by(&scenario, 0, 1), 4_000_000 * 30);
    }

    #[test]
    fn named_shares_and_all() {
        let (scenario, hit) =
            with(TargetChoice::Named(vec![(AppId(0), 3), (AppId(1), 1), (AppId(1), 2)]), None);
        assert_eq!((hit.count, hit.at_most_of(0), hit.at_most_of(1)), (3, 1, 2));
        assert_eq!(hit.watched_by(&scenario, 0, 1), 1_000_000 * 28);
        let (_, hit) = with(TargetChoice::Share(0.6), None);
        assert_eq!(hit.count, 24); // 0.6 · 40
        let (scenario, hit) = with(TargetChoice::All, None);
        assert_eq!((hit.count, hit.watched_by(&scenario, 0, 1)), (40, 0));
    }

    /// 10 and 30 instances, each in turn in one of two zones: 5 and 15 of them. One of the 20 dies; of the other
    /// 39 observers 19 are candidates too.
    #[test]
    fn a_zone_is_a_part_of_every_application() {
        let (mut scenario, _) = with(TargetChoice::Count(1), None);
        scenario.zones = vec!["east".into(), "west".into()];
        for app in &mut scenario.applications {
            app.zones = vec![ZoneId(0), ZoneId(1)];
        }
        let in_east = |which| crash_of(Selection { application: None, zone: Some(ZoneId(0)), which });
        scenario.faults = vec![in_east(TargetChoice::Count(1))];
        let hit = hits(&scenario, EventKind::Crash).remove(0);
        assert_eq!((hit.expected_of(0), hit.expected_of(1)), (250_000, 750_000));
        let pairs: u128 =
            [(0, 0), (0, 1), (1, 0), (1, 1)].iter().map(|&(v, w)| hit.watched_by(&scenario, v, w)).sum();
        assert_eq!(pairs, 39_000_000);
        scenario.faults = vec![in_east(TargetChoice::All)];
        let hit = hits(&scenario, EventKind::Crash).remove(0);
        assert_eq!((hit.count, hit.watched_by(&scenario, 1, 1)), (20, 15 * 15 * 1_000_000));
    }

    #[test]
    fn reclaimed_instances_die_at_the_end_of_the_notice() {
        let mut scenario = scenario(&[10]);
        let targets = Selection { application: None, zone: None, which: TargetChoice::Count(2) };
        let notice = SimDuration::from_secs(120);
        scenario.faults[0].verb = FaultKind::Reclaim { targets, notice, heeded: 0.0 };
        let hit = hits(&scenario, EventKind::Crash).remove(0);
        assert_eq!((hit.from, hit.to), (notice, notice + SimDuration::from_secs(60)));
        assert!(hits(&scenario, EventKind::Stop).is_empty());
    }

    #[test]
    fn a_restart_ends_one_life_and_begins_another() {
        let mut scenario = scenario(&[5]);
        let targets =
            Targets::Instances(Selection { application: None, zone: None, which: TargetChoice::Count(1) });
        let down_for = SimDuration::from_secs(40);
        scenario.faults[0].verb =
            FaultKind::Restart { one_by_one: None, targets, down_for, new_id: true, graceful: true };
        assert!(hits(&scenario, EventKind::Crash).is_empty());
        assert_eq!(hits(&scenario, EventKind::Stop)[0].from, SimDuration::ZERO);
        let back = &hits(&scenario, EventKind::Registration)[0];
        assert_eq!((back.from, back.to), (down_for, SimDuration::from_secs(100)));
    }
}
