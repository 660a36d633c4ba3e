//! Whether the clocks on the way are come upon at phases as uniform as the mean takes them (`two-stage.md` 3, "Phase
//! locking").
//!
//! What spreads phases are two draws: the moment of the fault (`within`) and an instance's start (the start window). An
//! instance's heartbeats and polls keep the phase of its start. Sweeps keep that of the registry's start; or, swept by
//! themselves, services keep the phase of their first instance's, so that this one's heartbeats and the sweeps never
//! change their distance. With `H`, `K` and `P` of 5, 3 and 5 s all have a common period of 15 s. Calls take so little
//! beside the intervals that they are left out here.

use super::super::evenness::{MANY, evens, gcd, lcm};
use super::super::fleet::Hit;
use super::super::latency::Latency;
use super::super::reason::Reason;
use super::consumer::Watching;
use super::reason::TwoStageReason;
use super::silence::ms;
use super::{App, Case};
use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};
use crate::model::two_stage::{ClientConfig, Discovery, SweepPhase};

/// From so many instances on, it hardly matters to the mean of a service that its sweeps begin with its first one. That
/// one's heartbeats come at a fixed distance to them, and all others start after it: with `n` instances that started
/// within one interval the mean wait is off by an interval in `n + 1`, and `evens` overlooks an eighth of one in [`MANY`].
const FIRST_OF_MANY: u32 = 8 * MANY as u32;

/// Why the mean at `stage` is not that over uniform phases; `None` if it is.
pub(super) fn uneven(
    scenario: Case<'_>,
    latency: &Latency,
    event: EventKind,
    hits: &[Hit],
    stage: Stage,
) -> Option<Reason> {
    let phases = Phases { scenario, latency, event, hits };
    if event == EventKind::Crash && phases.first_instances_matter() {
        return Some(TwoStageReason::FirstInstance.into());
    }
    if event == EventKind::Crash && !phases.sweeps_are_met_evenly() {
        return Some(TwoStageReason::SweepsInStep.into());
    }
    if stage == Stage::Client && !phases.consumers_are_met_evenly() {
        return Some(TwoStageReason::PollsInStep.into());
    }
    if stage == Stage::Client && hits.iter().any(|hit| hit.is_watched_from_within(&scenario)) {
        return Some(Reason::WatchEachOther);
    }
    None
}

/// The same for a consumer that polls an empty service every `interval`, and not as often as it does otherwise.
pub(super) fn uneven_while_empty(
    client: &ClientConfig,
    hit: &Hit,
    interval: SimDuration,
) -> Option<TwoStageReason> {
    let usual = interval == ms(client.poll_interval_ms);
    let is_even = usual || hit.spread.into_iter().any(|draw| evens(draw, interval));
    (!is_even).then_some(TwoStageReason::EmptyPollsInStep)
}

struct Phases<'a> {
    scenario: Case<'a>,
    latency: &'a Latency,
    event: EventKind,
    hits: &'a [Hit],
}

impl Phases<'_> {
    fn first_instances_matter(&self) -> bool {
        let by_service = self.scenario.server().sweep_phase == SweepPhase::ServiceCreation;
        by_service && self.concerned().any(|app| app.instances < FIRST_OF_MANY)
    }

    /// Let a crash come at `c`, `g` after the last heartbeat, which has the phase of the start. The mean holds if `g` is
    /// uniform over the heartbeat's interval and `c - g` over the sweep's.
    fn sweeps_are_met_evenly(&self) -> bool {
        let (window, sweep) = (self.scenario.start_window, self.sweep());
        self.concerned().all(|app| {
            let beat = ms(app.client.heartbeat_interval_ms);
            // Starts make `g` uniform whatever `c`; then `c - g` is uniform over the interval before `c`.
            let by_start = evens(window, beat) && (evens(beat, sweep) || self.faults_even(sweep));
            // Faults make `c` uniform over both periods; it remains the phase of beats to sweeps.
            let by_fault = self.faults_even(lcm(beat, sweep)) && evens(window, gcd(beat, sweep));
            by_start || by_fault
        })
    }

    /// A poll's phase is the start's, too, and so is that of the looks at a long poll.
    fn consumers_are_met_evenly(&self) -> bool {
        let window = self.scenario.start_window;
        self.watching().all(|app| {
            let client = app.client;
            let period = self.looked_at_every(client);
            let by_fault = match self.event {
                EventKind::Crash => {
                    self.faults_even(lcm(self.sweep(), period)) && evens(window, gcd(self.sweep(), period))
                }
                _ => self.faults_even(period),
            };
            (evens(window, period) || by_fault) && self.long_polls_end_evenly(client)
        })
    }

    fn looked_at_every(&self, client: &ClientConfig) -> SimDuration {
        match client.discovery {
            Discovery::LongPoll => ms(self.scenario.server().watch_park_ms),
            Discovery::Poll | Discovery::PushPlusPoll => ms(client.poll_interval_ms),
        }
    }

    /// All long polls for a service end together whenever it changes, so their time-outs keep in step. That matters only
    /// if it takes long to the next one.
    fn long_polls_end_evenly(&self, client: &ClientConfig) -> bool {
        let watching = Watching::of(self.scenario.server(), client, self.latency);
        let (park, turnaround) = watching.gaps();
        client.discovery != Discovery::LongPoll
            || turnaround * MANY <= park
            || self.faults_even(watching.cycle())
    }

    /// Applications of which somebody who registers is hit.
    fn concerned(&self) -> impl Iterator<Item = App<'_>> {
        let apps = self.scenario.apps().enumerate();
        let hit = |place| self.hits.iter().any(|hit| hit.at_most_of(place) > 0);
        apps.filter(move |(place, app)| app.client.registers && hit(*place)).map(|(_, app)| app)
    }

    fn watching(&self) -> impl Iterator<Item = App<'_>> {
        self.scenario.apps().filter(|app| app.observers && app.instances > 0)
    }

    fn sweep(&self) -> SimDuration {
        ms(self.scenario.server().sweep_interval_ms)
    }

    fn faults_even(&self, period: SimDuration) -> bool {
        self.hits.iter().all(|hit| hit.spread.into_iter().any(|draw| evens(draw, period)))
    }
}
