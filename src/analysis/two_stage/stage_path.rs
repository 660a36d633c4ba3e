//! The range and mean of T_D at every stage of the two-stage registry, by addition (`two-stage.md` 3).
//!
//! ```text
//!                              ┌──────────────────────── sweep ─────────────────────────▶ entry
//! crash ──silence──▶ sweep ──▶ registry ──protection──▶ served ──poll, long poll, push──▶ client
//! stop, registration ──request──▶ registry, entry ──…
//! ```
//!
//! With all defaults and no latency: 10 to 18 s at the registry, 23 s at a consumer that polls, 55 to 63 s until the
//! entry is forgotten. Where that does not hold there is a reason instead (`assumptions`, `ghosts`).

use super::super::fleet::{Hit, hits};
use super::super::latency::Latency;
use super::super::reason::Reason;
use super::super::types::{Bound, BoundRange};
use super::assumptions;
use super::comeback::{self, Comeback};
use super::consumer::{Wait, polled, pushed, watched};
use super::ghosts::{Death, Ghosts};
use super::phases;
use super::protection::Served;
use super::quiet::is_quiet;
use super::reason::TwoStageReason;
use super::silence::{until_forgotten, until_hidden};
use super::{App, Case};
use crate::engine::SimDuration;
use crate::model::id::AppId;
use crate::model::registry::Registry;
use crate::model::stage::{EventKind, Stage};
use crate::model::two_stage::{ClientConfig, Discovery, TwoStage};

/// The closed form of each kind of event that the scenario's faults cause, at each stage: by kind, then stage.
pub(super) fn bounds(scenario: Case<'_>) -> Vec<Bound> {
    let kinds = EventKind::ALL.into_iter().filter(|&event| !hits(&scenario, event).is_empty());
    kinds.flat_map(|event| of_kind(scenario, event)).collect()
}

fn of_kind(scenario: Case<'_>, event: EventKind) -> Vec<Bound> {
    let way = StagePath::of(scenario, event);
    let of_stage = |&stage| {
        let wait = way.as_ref().map_err(Clone::clone).and_then(|way| way.until(stage));
        let mean_absent = match (&way, &wait) {
            (Ok(_), Ok(Wait { uneven: Some(reason), .. })) => Some(reason.clone().into()),
            (Ok(way), Ok(_)) => phases::uneven(scenario, &way.latency, event, &way.hits, stage),
            _ => None,
        };
        Bound { event, stage, range: wait.map(|wait| wait.range), mean_absent }
    };
    TwoStage::STAGES.iter().map(of_stage).collect()
}

/// The way of one kind of event through the stages.
pub(super) struct StagePath<'a> {
    scenario: Case<'a>,
    event: EventKind,
    latency: Latency,
    hits: Vec<Hit>,
    /// Of an instance of each application that crashes.
    deaths: Vec<Death>,
}

impl<'a> StagePath<'a> {
    pub(super) fn of(scenario: Case<'a>, event: EventKind) -> Result<Self, Reason> {
        let latency = Latency::of_links(&scenario)?;
        assumptions::ordinary(scenario, &latency)?;
        let server = scenario.server();
        let death = |app: App<'_>| {
            let client = app.client;
            let forgotten = until_forgotten(server, client, &latency);
            Death { hidden: until_hidden(server, client, &latency), forgotten }
        };
        let deaths: Vec<Death> = scenario.apps().map(death).collect();
        let hits = hits(&scenario, event);
        match event {
            EventKind::Crash => assumptions::crashes_come_late(scenario, &hits, &latency, &deaths)?,
            EventKind::Stop => assumptions::stops_are_final(scenario, &hits, &latency)?,
            EventKind::Registration => {}
            EventKind::Unhealthy | EventKind::Override | EventKind::Recovery => {
                return Err(Reason::ChangeOfStatus);
            }
        }
        Ok(Self { scenario, event, latency, hits, deaths })
    }

    /// T_D at `stage`.
    pub(super) fn until(&self, stage: Stage) -> Result<Wait, Reason> {
        match stage {
            Stage::Registry | Stage::Served | Stage::Entry => self.over_subjects(stage),
            Stage::Client => self.over_observers(),
            Stage::Balancer => unreachable!("a two-stage registry has no such stage"),
        }
    }

    /// T_D at a stage of the registry of those that one fault hits, as if nobody ever came back.
    pub(super) fn of_fault(&self, stage: Stage, fault: usize) -> Result<BoundRange, Reason> {
        let mut cases = Vec::new();
        for hit in self.hits.iter().filter(|hit| hit.fault == fault) {
            for place in self.registering().filter(|place| hit.at_most_of(*place) > 0) {
                cases.push((hit.expected_of(place), self.shown(stage, hit, place)?));
            }
        }
        mixture(cases, Reason::NobodyIsHit).map(|wait| wait.range)
    }

    /// One observation a subject.
    fn over_subjects(&self, stage: Stage) -> Result<Wait, Reason> {
        let mut cases = Vec::new();
        for hit in &self.hits {
            for place in self.registering().filter(|place| hit.at_most_of(*place) > 0) {
                let wait = self.in_time(hit, stage, self.shown(stage, hit, place)?)?;
                cases.push((hit.expected_of(place), wait));
            }
        }
        mixture(cases, Reason::NobodyIsHit)
    }

    /// One observation a subject and observer.
    fn over_observers(&self) -> Result<Wait, Reason> {
        let mut cases = Vec::new();
        for (watcher, app) in self.scenario.apps().enumerate() {
            let client = app.client;
            if !app.observers || app.instances == 0 {
                continue;
            }
            for hit in &self.hits {
                for place in self.registering().filter(|place| hears_of(client, *place)) {
                    let weight = hit.watched_by(&self.scenario, place, watcher);
                    if weight > 0 {
                        let wait = self.taken_over(client, hit, place)?;
                        cases.push((weight, self.in_time(hit, Stage::Client, wait)?));
                    }
                }
            }
        }
        mixture(cases, Reason::NobodyWatches)
    }

    /// From the event to a stage of the registry, for an instance of application `place`.
    fn shown(&self, stage: Stage, hit: &Hit, place: usize) -> Result<Wait, Reason> {
        match self.event {
            EventKind::Crash => self.dead(stage, place),
            EventKind::Registration => self.come(stage, hit),
            _ => Ok(self.latency.range.into()),
        }
    }

    fn dead(&self, stage: Stage, place: usize) -> Result<Wait, Reason> {
        let death = self.deaths[place];
        let ghosts = Ghosts::of(self.scenario, &self.hits, place, death);
        ghosts.are_marked()?;
        let served = || Served::of(self.scenario, &self.hits, place, death);
        match stage {
            Stage::Registry => Ok(death.hidden.into()),
            Stage::Entry => ghosts.are_removed().map(|()| death.forgotten.into()),
            _ if served() == Served::AsRegistry => Ok(death.hidden.into()),
            _ => ghosts.are_removed().map(|()| served().wait(death)),
        }
    }

    fn come(&self, stage: Stage, hit: &Hit) -> Result<Wait, Reason> {
        let request = self.latency.range;
        match comeback::of(self.scenario, &self.latency, hit)? {
            Comeback::Anew => Ok(request.into()),
            Comeback::ToItsEntry if stage == Stage::Entry => Err(TwoStageReason::EntryIsThere.into()),
            Comeback::ToItsEntry => comeback::healed(self.scenario, &self.latency, hit).map(Wait::from),
        }
    }

    /// From the event to a consumer that has taken over what it changes.
    fn taken_over(&self, client: &ClientConfig, hit: &Hit, place: usize) -> Result<Wait, Reason> {
        let scenario = self.scenario;
        let served = self.shown(Stage::Served, hit, place)?;
        assumptions::answers_are_taken(scenario, client, place)?;
        assumptions::files_do_not_matter(scenario, client, self.event)?;
        let heard = self.heard(client, hit, place, served.range)?;
        let served = match self.event {
            EventKind::Crash => self.seen_again(place, served, heard.range.max),
            _ => served,
        };
        Ok(Wait { range: served.range.then(heard.range), uneven: served.uneven.or(heard.uneven) })
    }

    /// From a change of what is served, `served` after the event, to a consumer that has heard of it.
    fn heard(
        &self,
        client: &ClientConfig,
        hit: &Hit,
        place: usize,
        served: BoundRange,
    ) -> Result<Wait, Reason> {
        let (scenario, latency, change) = (self.scenario, &self.latency, (self.event, hit, place));
        let server = scenario.server();
        match client.discovery {
            Discovery::Poll => {
                assumptions::poll_interval(scenario, client, change, latency)?;
                Ok(polled(client, latency).into())
            }
            Discovery::LongPoll => {
                let may_be_first = assumptions::may_be_empty(scenario, self.event, hit, place);
                watched(server, client, latency, may_be_first).map(Wait::from)
            }
            Discovery::PushPlusPoll => {
                let interval = assumptions::poll_interval(scenario, client, change, latency)?;
                let quiet = is_quiet(scenario, client, latency, change, served, &self.deaths);
                let wait = pushed(server, client, latency, interval, quiet)?;
                let uneven = phases::uneven_while_empty(client, hit, interval);
                Ok(Wait { uneven: wait.uneven.or(uneven), ..wait })
            }
        }
    }

    /// What counts for a consumer that hears of changes within `heard`. Of several that are hidden one by one, shown
    /// again and deleted, it may miss that they are shown again.
    fn seen_again(&self, place: usize, served: Wait, heard: SimDuration) -> Wait {
        let death = self.deaths[place];
        let several = self.hits.iter().map(|hit| hit.at_most_of(place)).sum::<u64>() > 1;
        let protected = Served::of(self.scenario, &self.hits, place, death) == Served::AsEntry;
        if protected && several && death.hidden.max + heard > death.forgotten.min {
            Served::Between.wait(death)
        } else {
            served
        }
    }

    /// Whoever comes back under its own id does so after its end, or before its return, has been noticed at `stage`.
    fn in_time(&self, hit: &Hit, stage: Stage, wait: Wait) -> Result<Wait, Reason> {
        let Some((ends, down_for)) = comeback::under_its_own_id(self.scenario, hit) else { return Ok(wait) };
        let noticed_after = if self.event == ends {
            wait.range.max
        } else {
            StagePath::of(self.scenario, ends)?.until(stage)?.range.max
        };
        if noticed_after <= down_for { Ok(wait) } else { Err(comeback::too_early()) }
    }

    /// Applications whose instances register.
    fn registering(&self) -> impl Iterator<Item = usize> {
        let apps = self.scenario.apps().enumerate();
        apps.filter(|(_, app)| app.client.registers).map(|(place, _)| place)
    }
}

/// Whether it is told of application `place`.
fn hears_of(client: &ClientConfig, place: usize) -> bool {
    client.discovery == Discovery::Poll || client.services.contains(&AppId(place as u32))
}

/// All cases, each with its weight; `none` says why there may be no case.
fn mixture(cases: Vec<(u128, Wait)>, none: Reason) -> Result<Wait, Reason> {
    let uneven = cases.iter().find_map(|(_, wait)| wait.uneven.clone());
    let range = BoundRange::mixture(cases.into_iter().map(|(weight, wait)| (weight, wait.range)));
    range.map(|range| Wait { range, uneven }).ok_or(none)
}
