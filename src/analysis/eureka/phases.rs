//! Whether the clocks on the way are come upon at phases as uniform as the closed form's mean takes them.
//!
//! The range holds whatever the phases are. The mean does not: a fleet that starts within 10 s and fetches
//! every 30 s does all its fetches in the same third of half a minute, and evictions come on a grid that is
//! tied to the start as well. What spreads phases are four draws, each uniform over its own length: the moment
//! of the fault (`within`), an instance's start (the start window), the second at which the server starts, and
//! the balancer's first call. A draw over a multiple of a period is uniform over the period; one over many
//! periods nearly so. Calls take so little beside the intervals that they are left out here.

use super::super::evenness::{evens, gcd, lcm};
use super::super::fleet::Hit;
use super::super::reason::Reason;
use super::lease;
use super::pipeline::cache_interval;
use super::reason::EurekaReason;
use super::start::registers_at_once;
use super::{App, Case};
use crate::engine::SimDuration;
use crate::model::stage::{EventKind, Stage};

const MINUTE: SimDuration = SimDuration::from_secs(60);

/// Why the mean at `stage` is not that over uniform phases; `None` if it is.
pub(super) fn uneven(scenario: Case<'_>, event: EventKind, hits: &[Hit], stage: Stage) -> Option<Reason> {
    let phases = Phases { scenario, event, hits };
    if event == EventKind::Crash && !phases.rounds_are_met_evenly() {
        return Some(EurekaReason::RoundsInStep.into());
    }
    if stage >= Stage::Served && !phases.copies_are_met_evenly() {
        return Some(EurekaReason::CopiesInStep.into());
    }
    if stage >= Stage::Client && !phases.fetches_are_met_evenly() {
        return Some(EurekaReason::FetchesInStep.into());
    }
    if stage >= Stage::Client && hits.iter().any(|hit| hit.is_watched_from_within(&scenario)) {
        return Some(Reason::WatchEachOther);
    }
    if stage >= Stage::Balancer && phases.watching().any(|app| app.balancer_first_call.is_some()) {
        return Some(EurekaReason::FirstCallIsFixed.into());
    }
    None
}

struct Phases<'a> {
    scenario: Case<'a>,
    event: EventKind,
    hits: &'a [Hit],
}

impl Phases<'_> {
    /// A heartbeat's phase is the start's; the crash comes any time after it. Rounds keep their distance to the
    /// opening. A lease that was never renewed ends so long after the start, any other so long after a heartbeat, and
    /// the last one lies within one interval before the crash: then it is not enough that starts are spread.
    fn rounds_are_met_evenly(&self) -> bool {
        let window = self.scenario.start_window;
        let round = self.round();
        let registering = self.scenario.apps().enumerate();
        let mut concerned = registering.filter(|(place, app)| {
            app.client.register_with_eureka && self.hits.iter().any(|hit| hit.at_most_of(*place) > 0)
        });
        concerned.all(|(_, app)| {
            let beat = lease::interval(app.client);
            let any_beat = evens(window, beat) && self.faults_even(round);
            let any_end = self.comes_before_heartbeats(beat) || self.faults_even(round) || evens(beat, round);
            let any_start =
                evens(window, round) && (evens(window, beat) || self.faults_even(beat)) && any_end;
            let grid = |within| evens(within, lcm(beat, round)) && evens(window, gcd(beat, round));
            let later = registers_at_once(app.client) && self.scenario.warm_up >= beat;
            any_start || later && (any_beat || self.hits.iter().all(|hit| hit.spread.into_iter().any(grid)))
        })
    }

    /// Whether every crash comes before its instance's first heartbeat.
    fn comes_before_heartbeats(&self, beat: SimDuration) -> bool {
        let started = self.scenario.start_window + self.scenario.warm_up;
        self.hits.iter().all(|hit| started + hit.to <= beat)
    }

    fn copies_are_met_evenly(&self) -> bool {
        let server = self.scenario.server();
        let copy = cache_interval(server);
        !server.use_read_only_response_cache
            || self.second_evens(copy)
            || evens(MINUTE, copy) && self.event == EventKind::Crash
            || self.event != EventKind::Crash && self.faults_even(copy)
    }

    /// A fetch's phase is the start's too. A change is served with a copy, whose phase is the server's second's,
    /// or else with the round or the request.
    fn fetches_are_met_evenly(&self) -> bool {
        let server = self.scenario.server();
        let copied = server.use_read_only_response_cache;
        let copy = cache_interval(server);
        self.watching().all(|app| {
            let fetch = SimDuration::from_secs(u64::from(app.client.registry_fetch_interval_seconds));
            let spread = |step| {
                evens(self.scenario.start_window, step) || copied && copy >= step && self.second_evens(step)
            };
            // Changes on a grid of this step, at moments spread by the faults.
            let grid = match self.event {
                EventKind::Crash => self.round(),
                _ if copied => copy,
                _ => return spread(fetch) || self.faults_even(fetch),
            };
            spread(fetch) || self.faults_even(lcm(grid, fetch)) && spread(gcd(grid, fetch))
        })
    }

    fn watching(&self) -> impl Iterator<Item = App<'_>> {
        self.scenario.apps().filter(|app| app.observers && app.instances > 0)
    }

    fn round(&self) -> SimDuration {
        SimDuration::from_millis(u64::from(self.scenario.server().eviction_interval_timer_in_ms))
    }

    fn faults_even(&self, period: SimDuration) -> bool {
        self.hits.iter().all(|hit| hit.spread.into_iter().any(|draw| evens(draw, period)))
    }

    /// The server's second is drawn from a minute.
    fn second_evens(&self, period: SimDuration) -> bool {
        self.scenario.server_starts_at_second.is_none() && evens(MINUTE, period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::bounds;
    use crate::analysis::fixture::scenario;
    use crate::scenario::Scenario;

    fn s(seconds: u64) -> SimDuration {
        SimDuration::from_secs(seconds)
    }

    /// At which stages there is a mean.
    fn means(scenario: &Scenario) -> [bool; 4] {
        let all: Vec<bool> = bounds(scenario).iter().map(|bound| bound.mean_absent.is_none()).collect();
        all.try_into().expect("four stages of one kind of event")
    }

    /// Heartbeats every so many seconds, started within one interval.
    fn beating(seconds: u32) -> Scenario {
        let mut scenario = scenario(&[100]);
        scenario.setup.eureka_mut().unwrap().clients[0].lease_renewal_interval_in_seconds = seconds;
        scenario.start_window = s(seconds.into());
        scenario
    }

    #[test]
    fn defaults_are_even_everywhere() {
        assert_eq!(means(&scenario(&[50, 50])), [true; 4]);
        let mut fresh = scenario(&[100]);
        fresh.setup.eureka_mut().unwrap().server.use_read_only_response_cache = false;
        assert_eq!(means(&fresh), [true; 4]);
    }

    #[test]
    fn a_copy_whose_phase_is_drawn_spreads_fetches_that_are_bunched() {
        // Starts within 10 s, fetches every 30 s: copies every 30 s at a drawn second make up for it, copies
        // every 3 s do not, nor does no copy at all.
        assert_eq!(means(&beating(10)), [true; 4]);
        let mut often = beating(10);
        often.setup.eureka_mut().unwrap().server.response_cache_update_interval_ms = 3_000;
        assert_eq!(means(&often), [true, true, false, false]);
        let mut fresh = beating(10);
        fresh.setup.eureka_mut().unwrap().server.use_read_only_response_cache = false;
        assert_eq!(means(&fresh), [true, true, false, false]);
        // Rounds every 10 s meet the fetches of each third alike: a minute is two times 30 s.
        fresh.setup.eureka_mut().unwrap().server.eviction_interval_timer_in_ms = 10_000;
        assert_eq!(means(&fresh), [true; 4]);
    }

    #[test]
    fn a_fault_at_a_known_moment_meets_its_round_at_a_known_phase() {
        let mut scenario = beating(30);
        scenario.faults[0].within = SimDuration::ZERO;
        assert_eq!(means(&scenario), [false; 4]);
        // Starts spread over two minutes spread heartbeats. But the last ones lie in the 30 s before the crash, and the
        // ends of their leases in 30 s, while rounds come every 60 s; every 15 s they meet them evenly.
        scenario.start_window = s(120);
        assert_eq!(means(&scenario), [false; 4]);
        scenario.setup.eureka_mut().unwrap().server.eviction_interval_timer_in_ms = 15_000;
        assert_eq!(means(&scenario), [true; 4]);
        // A fault within 60 s of rounds every 90 s.
        let mut scenario = beating(30);
        scenario.setup.eureka_mut().unwrap().server.eviction_interval_timer_in_ms = 90_000;
        assert_eq!(means(&scenario), [false; 4]);
    }

    #[test]
    fn a_first_call_at_a_known_moment_is_not_drawn() {
        let mut scenario = beating(30);
        scenario.applications[0].balancer_first_call = Some(s(5));
        assert_eq!(means(&scenario), [true, true, true, false]);
    }
}
