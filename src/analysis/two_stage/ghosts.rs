//! Does the guard let a scenario's dead go?
//!
//! Whom a sweep has marked counts against the guard until it is removed, and the guard looks before the sweep marks. So
//! the last mark of several needs a guard that bears all others, and the removals need one that bears all. What matters
//! is not how many die, but how many are ghosts at the same time (`two-stage.md` C5); and ghosts that are not removed
//! are ghosts for good, also for whoever dies later (C3, C4). Everything here is counted on the safe side.

use super::super::fleet::{Hit, hits};
use super::super::reason::Reason;
use super::super::types::BoundRange;
use super::Case;
use super::guard::unhealthy_tolerated;
use super::reason::TwoStageReason;
use crate::engine::SimDuration;
use crate::model::id::AppId;
use crate::model::stage::EventKind;
use crate::model::two_stage::{Guard, GuardScope, ServerConfig};
use crate::scenario::FaultKind;

/// When an instance of one application is marked and removed, seen from its crash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Death {
    pub(super) hidden: BoundRange,
    pub(super) forgotten: BoundRange,
}

/// The crashes of one service, and what its guard makes of them.
pub(super) struct Ghosts<'a> {
    server: &'a ServerConfig,
    name: &'a str,
    crashes: Vec<&'a Hit>,
    place: usize,
    death: Death,
    /// Entries at the start.
    entries: u64,
    /// How many of them leave in order, and how many come that have no entry yet.
    leave: u64,
    come: u64,
    /// Of each crash, whether its removal may be denied.
    stays: Vec<bool>,
}

impl<'a> Ghosts<'a> {
    /// Those of application `place`.
    pub(super) fn of(scenario: Case<'a>, crashes: &'a [Hit], place: usize, death: Death) -> Self {
        let app = scenario.app(AppId(place as u32));
        let of_kind = |kind, counts: fn(&FaultKind) -> bool| {
            let all = hits(&scenario, kind);
            let those = all.iter().filter(|hit| counts(&scenario.faults[hit.fault].verb));
            those.map(|hit| hit.at_most_of(place)).sum()
        };
        let concerned: Vec<&Hit> = crashes.iter().filter(|hit| hit.at_most_of(place) > 0).collect();
        let mut ghosts = Self {
            server: scenario.server(),
            name: &scenario.scenario().applications[place].name,
            stays: vec![false; concerned.len()],
            crashes: concerned,
            place,
            death,
            entries: if app.client.registers { u64::from(app.instances) } else { 0 },
            leave: of_kind(EventKind::Stop, |_| true),
            come: of_kind(EventKind::Registration, adds_an_entry),
        };
        ghosts.settle();
        ghosts
    }

    /// Who stays makes others stay: until nothing changes any more.
    fn settle(&mut self) {
        if self.server.guard_scope == GuardScope::SoftOnly {
            return;
        }
        let denied = |place: usize| {
            let ghosts = self.ghosts_with(place, self.death.forgotten);
            self.tolerated(place).is_some_and(|tolerated| ghosts > tolerated)
        };
        let stays: Vec<bool> =
            (0..self.crashes.len()).map(|place| self.stays[place] || denied(place)).collect();
        if stays != self.stays {
            self.stays = stays;
            self.settle();
        }
    }

    /// Whether all are marked by the first sweep that finds them silent for too long.
    ///
    /// # Errors
    ///
    /// The guard may be shut.
    pub(super) fn are_marked(&self) -> Result<(), Reason> {
        for place in 0..self.crashes.len() {
            let ghosts = self.ghosts_with(place, self.death.hidden);
            // With a cap the mark itself must leave the guard open (1.9).
            let others = if self.server.guard_cap { ghosts } else { ghosts.saturating_sub(1) };
            if let Some(tolerated) = self.tolerated(place).filter(|tolerated| others > *tolerated) {
                return Err(self.shut(place, ghosts, tolerated));
            }
        }
        Ok(())
    }

    /// Whether all are removed by the first sweep that finds them silent for long enough.
    ///
    /// # Errors
    ///
    /// The guard may be shut.
    pub(super) fn are_removed(&self) -> Result<(), Reason> {
        self.are_marked()?;
        match self.stays.iter().position(|stays| *stays) {
            Some(place) => {
                let ghosts = self.ghosts_with(place, self.death.forgotten);
                Err(self.shut(place, ghosts, self.tolerated(place).unwrap_or_default()))
            }
            None => Ok(()),
        }
    }

    /// How many may be ghosts at the same time as those of crash `place`, until all these have got so far.
    fn ghosts_with(&self, place: usize, until: BoundRange) -> u64 {
        let own = self.crashes[place];
        let (from, to) = (own.from + self.death.hidden.min, own.to + until.max);
        let together = |other: &usize| self.is_ghost_between(*other, from, to);
        (0..self.crashes.len()).filter(together).map(|other| self.dead(other)).sum::<u64>().min(self.entries)
    }

    fn is_ghost_between(&self, place: usize, from: SimDuration, to: SimDuration) -> bool {
        let crash = self.crashes[place];
        let gone = self.stays[place].then_some(SimDuration::MAX);
        let (begins, ends) = (crash.from + self.death.hidden.min, crash.to + self.death.forgotten.max);
        begins <= to && from <= gone.unwrap_or(ends)
    }

    fn dead(&self, place: usize) -> u64 {
        self.crashes[place].at_most_of(self.place)
    }

    /// How many ghosts the guard bears at the worst while those of crash `place` are about: the service may have shrunk,
    /// down to the size from which on there is a guard.
    fn tolerated(&self, place: usize) -> Option<u64> {
        let fewest = self.fewest(place);
        let most = self.entries + self.come;
        let guarded = u64::from(self.server.guard_min_instances);
        if self.server.guard == Guard::None || most < guarded {
            return None;
        }
        unhealthy_tolerated(self.server, fewest.max(guarded))
    }

    /// Entries, if all who may have gone by then have.
    fn fewest(&self, place: usize) -> u64 {
        let begins = self.crashes[place].from + self.death.hidden.min;
        let forgotten = |other: &usize| self.crashes[*other].from + self.death.forgotten.min < begins;
        let gone: u64 = (0..self.crashes.len()).filter(forgotten).map(|other| self.dead(other)).sum();
        self.entries.saturating_sub(self.leave + gone)
    }

    fn shut(&self, place: usize, ghosts: u64, tolerated: u64) -> Reason {
        let entries = self.entries + self.come;
        let shrinks = self.fewest(place) < entries;
        TwoStageReason::GuardMayShut {
            application: self.name.to_owned(),
            ghosts,
            entries,
            tolerated,
            shrinks,
        }
        .into()
    }
}

/// Whether those whom it brings had no entry: who comes back under its id has one.
fn adds_an_entry(verb: &FaultKind) -> bool {
    !matches!(verb, FaultKind::Restart { new_id: false, .. } | FaultKind::CrashLoop { new_id: false, .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{crash_of, fault, registry_of, two_stage};
    use crate::model::id::AppId;
    use crate::model::two_stage::Preset;
    use crate::scenario::{Fault, Scenario, Selection, TargetChoice};

    fn range(min_s: u64, max_s: u64) -> BoundRange {
        let [min, mean, max] = [min_s, (min_s + max_s) / 2, max_s].map(SimDuration::from_secs);
        BoundRange { min, mean, max }
    }

    fn some(count: u32) -> Selection {
        Selection { application: Some(AppId(0)), zone: None, which: TargetChoice::Count(count) }
    }

    fn crash(count: u32, at_s: u64) -> Fault {
        Fault { at: SimDuration::from_secs(at_s), within: SimDuration::ZERO, ..crash_of(some(count)) }
    }

    /// Whether all are marked, and whether all are removed.
    fn outcome(scenario: &Scenario) -> [bool; 2] {
        let crashes = hits(scenario, EventKind::Crash);
        let death = Death { hidden: range(10, 18), forgotten: range(55, 63) };
        let ghosts = Ghosts::of(scenario.two_stage().unwrap(), &crashes, 0, death);
        [ghosts.are_marked().is_ok(), ghosts.are_removed().is_ok()]
    }

    fn of(fleet: u32, faults: Vec<Fault>) -> [bool; 2] {
        outcome(&Scenario { faults, ..two_stage(Preset::TwoStage, &[fleet]) })
    }

    /// Of twenty the guard bears three. The fourth is marked all the same, since the guard looks before it is; a fifth
    /// may find it shut.
    #[test]
    fn four_of_twenty_jam() {
        let outcomes = [3, 4, 5].map(|count| of(20, vec![crash(count, 0)]));
        assert_eq!(outcomes, [[true, true], [true, false], [false, false]]);
    }

    /// Below ten there is no guard. At ten it bears one.
    #[test]
    fn the_cliff_at_ten() {
        assert_eq!(of(9, vec![crash(9, 0)]), [true, true]);
        assert_eq!(
            [1, 2, 3].map(|count| of(10, vec![crash(count, 0)])),
            [[true, true], [true, false], [false, false]]
        );
    }

    /// C5: of thirteen the guard bears one. Two deaths 30 s apart are ghosts at the same time, 50 s apart only if one is
    /// marked early and the other removed late: 63 s apart never.
    #[test]
    fn it_is_the_rate_that_counts() {
        assert_eq!(of(13, vec![crash(1, 0), crash(1, 30)]), [true, false]);
        assert_eq!(of(13, vec![crash(1, 0), crash(1, 54)]), [true, true]);
    }

    /// A jam has no end: who dies ten minutes later is not even marked.
    #[test]
    fn a_jam_hides_the_fifth() {
        assert_eq!(of(20, vec![crash(4, 0), crash(1, 600)]), [false, false]);
        assert_eq!(of(20, vec![crash(3, 0), crash(1, 600)]), [true, true]);
    }

    /// Twenty of which seven leave are thirteen, and these bear one; newcomers may lift nine over the cliff.
    #[test]
    fn others_come_and_go() {
        let stop = FaultKind::Stop { targets: some(7), linger: SimDuration::ZERO, over: SimDuration::ZERO };
        assert_eq!(of(20, vec![fault(0, stop.clone()), crash(2, 300)]), [true, false]);
        assert_eq!(of(20, vec![fault(0, stop), crash(1, 300)]), [true, true]);
        let start = FaultKind::Start { application: AppId(0), count: 1, over: SimDuration::ZERO };
        assert_eq!(of(9, vec![fault(0, start), crash(2, 300)]), [true, false]);
    }

    /// 1.9: a guard that blocks marks only, and one that stops marking in time.
    #[test]
    fn mended_guards() {
        let mut scenario = Scenario { faults: vec![crash(4, 0)], ..two_stage(Preset::TwoStage, &[20]) };
        registry_of(&mut scenario).guard_scope = GuardScope::SoftOnly;
        assert_eq!(outcome(&scenario), [true, true]);
        registry_of(&mut scenario).guard_scope = GuardScope::Both;
        registry_of(&mut scenario).guard_cap = true;
        assert_eq!(outcome(&scenario), [false, false]);
        registry_of(&mut scenario).guard = Guard::None;
        scenario.faults = vec![crash(20, 0)];
        assert_eq!(outcome(&scenario), [true, true]);
    }
}
