//! The range and mean of T_D at every stage, by addition (`eureka-server.md` 14.1).
//!
//! ```text
//! crash ──lease──▶ expired ──round──▶ registry ──copy──▶ served ──fetch──▶ client ──refresh──▶ balancer
//! stop, registration ──request──▶ registry ──…
//! ```
//!
//! With all defaults and no latency: 150 to 240 s, 270, 300 and 335 s. The mean is taken over uniform phases
//! of all clocks (`phases` says where they are not); the range holds whatever the phases are. Where it does not hold there is a reason instead
//! (`assumptions`, `protection`).

use super::super::disturbances::undisturbed;
use super::super::fleet::{Hit, hits};
use super::super::latency::Latency;
use super::super::reason::Reason;
use super::super::types::{Bound, BoundRange};
use super::Case;
use super::assumptions;
use super::eviction::evicted;
use super::phases;
use super::pipeline;
use super::reason::EurekaReason;
use super::start::opens_between;
use crate::engine::SimDuration;
use crate::model::eureka::client::{BalancerConfig, ClientConfig};
use crate::model::stage::{EventKind, Stage};

/// The closed form of each kind of event that the scenario's faults cause, at each stage: by kind, then stage.
pub(super) fn bounds(scenario: Case<'_>) -> Vec<Bound> {
    let kinds = EventKind::ALL.into_iter().filter(|&event| !hits(&scenario, event).is_empty());
    let of_kind = |event| {
        let stages = match assumptions::returns_unnoticed(scenario, event, ranges) {
            Some(absence) => Stage::WAY.map(|_| Err(absence.clone())),
            None => ranges(scenario, event),
        };
        Stage::WAY.into_iter().zip(stages).map(move |(stage, range)| {
            let uneven = || phases::uneven(scenario, event, &hits(&scenario, event), stage);
            let mean_absent = range.as_ref().ok().and_then(|_| uneven());
            Bound { event, stage, range, mean_absent }
        })
    };
    kinds.flat_map(of_kind).collect()
}

/// By stage, as if nothing ever came back under its own id.
fn ranges(scenario: Case<'_>, event: EventKind) -> [Result<BoundRange, Reason>; Stage::WAY.len()] {
    match StagePath::of(scenario, event) {
        Ok(way) => Stage::WAY.map(|stage| way.until(stage)),
        Err(absence) => Stage::WAY.map(|_| Err(absence.clone())),
    }
}

/// The way of one kind of event through the stages.
struct StagePath<'a> {
    scenario: Case<'a>,
    event: EventKind,
    latency: Latency,
    hits: Vec<Hit>,
    /// From the event to the registry, for an instance of each application.
    registry: Vec<BoundRange>,
    /// From the registry to the answers.
    served: BoundRange,
}

impl<'a> StagePath<'a> {
    fn of(scenario: Case<'a>, event: EventKind) -> Result<Self, Reason> {
        undisturbed(&scenario)?;
        let latency = Latency::of_links(&scenario)?;
        let hits = hits(&scenario, event);
        assumptions::calls_are_short(scenario, &latency)?;
        assumptions::subjects_are_shown(scenario, event, &hits)?;
        assumptions::leases_cover_heartbeats(scenario, &latency)?;
        assumptions::copying_is_over(scenario, &hits)?;
        let (registry, served) = match event {
            EventKind::Crash => {
                let served = pipeline::served_after_eviction(scenario.server(), opened_at(scenario));
                (evicted(scenario, &latency, &hits)?, served)
            }
            EventKind::Stop | EventKind::Registration => {
                let request = vec![latency.range; scenario.applications.len()];
                (request, pipeline::served_after_any(scenario.server()))
            }
            EventKind::Unhealthy | EventKind::Override | EventKind::Recovery => {
                return Err(Reason::ChangeOfStatus);
            }
        };
        Ok(Self { scenario, event, latency, hits, registry, served })
    }

    fn until(&self, stage: Stage) -> Result<BoundRange, Reason> {
        if stage != Stage::Registry {
            assumptions::answers_follow_the_cache(self.scenario, &self.hits)?;
        }
        match stage {
            Stage::Registry => self.over_subjects(BoundRange::exactly(SimDuration::ZERO)),
            Stage::Served => self.over_subjects(self.served),
            Stage::Client => self.over_observers(|client| Ok(self.fetched(client))),
            Stage::Balancer => {
                self.list_is_not_empty()?;
                self.over_observers(|client| Ok(self.fetched(client).then(pipeline::balanced(client)?)))
            }
            Stage::Entry => unreachable!("Eureka has no such stage"),
        }
    }

    fn fetched(&self, client: &ClientConfig) -> BoundRange {
        pipeline::fetched(client, self.scenario.server(), &self.latency)
    }

    /// One observation a subject.
    fn over_subjects(&self, after: BoundRange) -> Result<BoundRange, Reason> {
        let of_hit = |hit: &Hit| -> Vec<_> {
            let weigh = |place| (hit.expected_of(place), self.registry[place].then(after));
            self.registering().map(weigh).collect()
        };
        BoundRange::mixture(self.hits.iter().flat_map(of_hit)).ok_or(Reason::NobodyIsHit)
    }

    /// One observation a subject and observer; `after` is an observer's share of the way.
    fn over_observers(
        &self,
        after: impl Fn(&ClientConfig) -> Result<BoundRange, Reason>,
    ) -> Result<BoundRange, Reason> {
        let mut cases = Vec::new();
        for (watcher, app) in self.scenario.apps().enumerate() {
            if !app.observers || app.instances == 0 {
                continue;
            }
            let after = self.served.then(after(app.client)?);
            for hit in &self.hits {
                let weigh = |place| {
                    (hit.watched_by(&self.scenario, place, watcher), self.registry[place].then(after))
                };
                cases.extend(self.registering().map(weigh));
            }
        }
        if !cases.is_empty() {
            assumptions::deltas_last(self.scenario, &self.latency)?;
        }
        BoundRange::mixture(cases).ok_or(Reason::NobodyWatches)
    }

    /// Applications whose instances register.
    fn registering(&self) -> impl Iterator<Item = usize> {
        let apps = self.scenario.apps().enumerate();
        apps.filter(|(_, app)| app.client.register_with_eureka).map(|(place, _)| place)
    }

    /// Spring Cloud LoadBalancer serves no empty list from its cache (`eureka-client.md` 8.3), so the first
    /// instance of a service waits for no time to live.
    fn list_is_not_empty(&self) -> Result<(), Reason> {
        let cached =
            |client: &ClientConfig| matches!(client.balancer, BalancerConfig::SpringCloudLoadBalancer { .. });
        let apps = &self.scenario.applications;
        let first = |place: usize| {
            apps[place].instances == 0 && self.hits.iter().any(|hit| hit.at_most_of(place) > 0)
        };
        let by_cache = self.scenario.apps().any(|app| app.observers && cached(app.client));
        if self.event == EventKind::Registration && by_cache && (0..apps.len()).any(first) {
            return Err(EurekaReason::EmptyList.into());
        }
        Ok(())
    }
}

/// The moment within a wall-clock minute at which the server opens for traffic, if it is always the same.
fn opened_at(scenario: Case<'_>) -> Option<SimDuration> {
    let (earliest, latest) = opens_between(scenario);
    // The second is that of the true time; caches tick on the server's own clock.
    let same_second = scenario.server_clock.offset_ms % 60_000 == 0;
    let known = scenario.server_starts_at_second.filter(|_| earliest == latest && same_second);
    known.map(|second| second + earliest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{fault, scenario};
    use crate::analysis::{Disturbance, bounds};
    use crate::engine::Distribution;
    use crate::model::eureka::{Flavour, ServerConfig};
    use crate::model::id::AppId;
    use crate::scenario::{Delay, FaultKind, Scenario, Selection, ServerChoice, TargetChoice, Targets};

    fn one() -> Targets {
        Targets::Instances(Selection { application: None, zone: None, which: TargetChoice::Count(1) })
    }

    fn stop_one() -> FaultKind {
        let targets = Selection { application: None, zone: None, which: TargetChoice::Count(1) };
        FaultKind::Stop { targets, linger: SimDuration::ZERO, over: SimDuration::ZERO }
    }

    fn ms(millis: u64) -> SimDuration {
        SimDuration::from_millis(millis)
    }

    /// Minimum, mean and maximum in milliseconds, by stage, of the only kind of event.
    fn figures(scenario: &Scenario) -> Vec<[u64; 3]> {
        let of_bound = |bound: &Bound| {
            let range = bound.range.as_ref().expect("a closed form");
            [range.min, range.mean, range.max].map(SimDuration::as_millis)
        };
        bounds(scenario).iter().map(of_bound).collect()
    }

    fn reasons(scenario: &Scenario) -> Vec<Reason> {
        bounds(scenario).into_iter().filter_map(|bound| bound.range.err()).collect()
    }

    #[test]
    fn the_default_answer_without_latency() {
        let mut scenario = scenario(&[50, 50]);
        scenario.network.latency = Delay::Constant(SimDuration::ZERO);
        let expected = [
            [150_000, 195_000, 240_000],
            [150_000, 210_000, 270_000],
            [150_000, 225_000, 300_000],
            [150_000, 242_500, 335_000],
        ];
        assert_eq!(figures(&scenario), expected);
        for client in &mut scenario.setup.eureka_mut().unwrap().clients {
            client.balancer = BalancerConfig::Ribbon { refresh_interval: ms(30_000) };
        }
        assert_eq!(figures(&scenario)[3], [150_000, 240_000, 330_000]);
    }

    #[test]
    fn latency_moves_both_ends() {
        // Earliest: a reply less; latest: a request more; at the client a reply more, and a fetch's three.
        let expected = [
            [149_999, 195_000, 240_001],
            [149_999, 210_000, 270_001],
            [150_000, 225_002, 300_004],
            [150_000, 242_502, 335_004],
        ];
        assert_eq!(figures(&scenario(&[100])), expected);
        let mut scenario = scenario(&[100]);
        scenario.network.latency = Delay::Uniform(ms(10), ms(50));
        // 180 − 30 − 0.05; 240 + 0.05. At the client + 0.01 and + 30 + 3 · 0.05; mean + (30 + 2 · 0.03)/2 +
        // 0.03 s, and the length bias of 40²/12 / 30,060 ms = 4 µs.
        assert_eq!(figures(&scenario)[0], [149_950, 195_000, 240_050]);
        assert_eq!(figures(&scenario)[2], [149_960, 225_060, 300_200]);
    }

    #[test]
    fn the_scaled_experiment() {
        // Heartbeat 2, lease 6, eviction 4, cache 3, fetch 3 s: 10 to 16, 19 and 22 s.
        let mut scenario = scenario(&[100]);
        scenario.network.latency = Delay::Constant(SimDuration::ZERO);
        scenario.setup.eureka_mut().unwrap().server.eviction_interval_timer_in_ms = 4_000;
        scenario.setup.eureka_mut().unwrap().server.response_cache_update_interval_ms = 3_000;
        scenario.setup.eureka_mut().unwrap().server.expected_client_renewal_interval_seconds = 2;
        let client = &mut scenario.setup.eureka_mut().unwrap().clients[0];
        client.lease_renewal_interval_in_seconds = 2;
        client.lease_expiration_duration_in_seconds = 6;
        client.registry_fetch_interval_seconds = 3;
        let expected = [[10_000, 13_000, 16_000], [10_000, 14_500, 19_000], [10_000, 16_000, 22_000]];
        assert_eq!(figures(&scenario)[..3], expected);
    }

    #[test]
    fn without_the_read_only_cache_answers_are_fresh() {
        let mut scenario = scenario(&[100]);
        scenario.setup.eureka_mut().unwrap().server.use_read_only_response_cache = false;
        let figures = figures(&scenario);
        assert_eq!(figures[0], figures[1]);
        assert_eq!(figures[2], [150_000, 210_002, 270_004]);
    }

    #[test]
    fn a_fixed_second_narrows_the_range() {
        let mut scenario = scenario(&[100]);
        scenario.server_starts_at_second = Some(SimDuration::from_secs(12));
        // Rounds at :12, copies at :30: always 18 s.
        assert_eq!(figures(&scenario)[1], [167_999, 213_000, 258_001]);
    }

    #[test]
    fn an_orderly_stop_and_a_registration_take_a_request() {
        let mut scenario = scenario(&[10]);
        let expected = [[1, 1, 1], [1, 15_001, 30_001], [2, 30_003, 60_004], [2, 47_503, 95_004]];
        scenario.faults = vec![fault(0, stop_one())];
        assert_eq!(figures(&scenario), expected);
        scenario.faults =
            vec![fault(0, FaultKind::Start { application: AppId(0), count: 1, over: SimDuration::ZERO })];
        assert_eq!(figures(&scenario), expected);
    }

    #[test]
    fn the_first_instance_of_a_service_waits_for_no_time_to_live() {
        let mut scenario = scenario(&[10, 0]);
        scenario.faults =
            vec![fault(0, FaultKind::Start { application: AppId(1), count: 1, over: SimDuration::ZERO })];
        assert_eq!(reasons(&scenario), [EurekaReason::EmptyList.into()]);
    }

    #[test]
    fn observers_with_other_settings_widen_the_range() {
        // The second application fetches every 10 s: of 60 and 30 observers the mean fetch is
        // (2 · 15 + 1 · 5) / 3 = 11.67 s, and the longest wait stays that of the slow ones.
        let mut scenario = scenario(&[60, 30]);
        scenario.network.latency = Delay::Constant(SimDuration::ZERO);
        scenario.setup.eureka_mut().unwrap().clients[1].registry_fetch_interval_seconds = 10;
        let client = figures(&scenario)[2];
        assert_eq!((client[0], client[2]), (150_000, 300_000));
        assert!(client[1].abs_diff(221_667) <= 1, "{client:?}");
    }

    #[test]
    fn a_crash_before_the_first_heartbeat_finds_half_a_lease() {
        // No protection, no warm-up, all start at once, crash 10 to 20 s later; the POST leaves after a fetch
        // (2 ms) and takes 1 ms. 90.003 − 20 and 90.003 − 10 + 60 s.
        let mut scenario = scenario(&[100]);
        scenario.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
        scenario.start_window = SimDuration::ZERO;
        scenario.warm_up = SimDuration::from_secs(10);
        scenario.faults[0].within = SimDuration::from_secs(10);
        assert_eq!(figures(&scenario)[0], [70_003, 105_003, 140_003]);
        scenario.faults[0].within = SimDuration::from_secs(60);
        assert_eq!(reasons(&scenario)[0], EurekaReason::MixedLeases.into());
    }

    #[test]
    fn reasons_for_an_absence() {
        let because = |change: &dyn Fn(&mut Scenario)| {
            let mut scenario = scenario(&[100]);
            change(&mut scenario);
            reasons(&scenario)
        };
        let pause = FaultKind::Pause {
            targets: Targets::Servers(ServerChoice::All),
            length: Distribution::constant(SimDuration::from_secs(10)),
        };
        assert_eq!(
            because(&|it| it.faults.push(fault(0, pause.clone())))[0],
            Disturbance::ServerPause.into()
        );
        let short = because(&|it| {
            it.setup.eureka_mut().unwrap().clients[0].lease_expiration_duration_in_seconds = 30
        });
        let [duration, interval] = [30, 30].map(SimDuration::from_secs);
        let application = "a0".to_owned();
        assert_eq!(short[0], EurekaReason::ShortLeases { application, duration, interval }.into());
        let slow = because(&|it| it.network.latency = Delay::Constant(SimDuration::from_secs(10)));
        assert_eq!(slow.len(), 4);
        let ttl = SimDuration::from_secs(35);
        let rare = BalancerConfig::SpringCloudLoadBalancer { ttl, call_rate: Some(1.0) };
        assert_eq!(because(&|it| it.setup.eureka_mut().unwrap().clients[0].balancer = rare).len(), 1);
        assert_eq!(because(&|it| it.applications[0].observers = false).len(), 2);
        assert_eq!(
            because(&|it| it.setup.eureka_mut().unwrap().server.retention_time_in_ms_in_delta_queue = 50_000)
                .len(),
            2
        );
        // Leases of 40 s: the first may expire 35 + 50 s after the last start, while the minute that counts
        // began up to 120 s before.
        let early = because(&|it| {
            it.warm_up = SimDuration::from_secs(35);
            it.setup.eureka_mut().unwrap().clients[0].lease_expiration_duration_in_seconds = 40;
        });
        assert_eq!(early[0], EurekaReason::FirstMinutes.into());
    }

    #[test]
    fn a_netflix_server_keeps_the_dead_and_shows_stops() {
        let mut scenario = scenario(&[100]);
        scenario.setup.eureka_mut().unwrap().server = ServerConfig::defaults(Flavour::Netflix);
        assert_eq!(reasons(&scenario)[0], EurekaReason::NothingIsEnough { settled: true }.into());
        scenario.faults = vec![fault(60, stop_one())];
        assert_eq!(figures(&scenario)[1], [1, 15_001, 30_001]);
        // Opened empty after 120 s, it refuses to answer for 300 s more.
        scenario.warm_up = SimDuration::from_secs(100);
        assert_eq!(reasons(&scenario).len(), 3);
    }

    #[test]
    fn a_return_under_the_same_id_must_be_late_enough() {
        let mut scenario = scenario(&[100]);
        let restart = |down_s, new_id, graceful| {
            let down_for = SimDuration::from_secs(down_s);
            vec![fault(
                0,
                FaultKind::Restart { one_by_one: None, targets: one(), down_for, new_id, graceful },
            )]
        };
        scenario.faults = restart(20, false, true);
        assert!(reasons(&scenario).iter().all(|it| *it == Reason::ReturnsUnnoticed));
        scenario.faults = restart(100, false, true);
        assert_eq!(figures(&scenario).len(), 8); // stop and registration
        scenario.faults = restart(20, true, false);
        assert_eq!(figures(&scenario)[0], [149_999, 195_000, 240_001]);
    }
}
