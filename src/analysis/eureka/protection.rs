//! Does self-preservation let a dead instance go?
//!
//! A round evicts only while the renewals of the last complete minute *exceed* the threshold
//! `⌊expected · 60/interval · percent⌋` (`PeerAwareInstanceRegistryImpl.isLeaseExpirationEnabled`,
//! `eureka-server.md` 4.2, 4.3): equality engages protection. By the time a lease has expired the minute
//! holds the survivors' renewals alone.
//!
//! Now and then a beat slips into the next minute ([`Census`]). Whether that matters depends on the margin.
//! Thirteen clients of which one died give 24 against 23, so the one minute in 600 that misses a beat shuts
//! the gate for a round; with a hundred it would take 27 beats in the same minute. What has a chance below 1
//! in 100,000 is left out; a gate that is shut for one minute at the most lengthens the range by its round;
//! with worse odds there is no closed form.
//!
//! The cap on a round (`AbstractInstanceRegistry.evict`, 3.1, 3.3) is the other thing that may keep the dead.

use super::super::fleet::{Hit, hits};
use super::super::latency::Latency;
use super::super::reason::Reason;
use super::super::types::{BoundRange, half};
use super::Case;
use super::census::{Census, MINUTE};
use super::expected::{Expected, server_to_faults};
use super::reason::EurekaReason;
use crate::engine::SimDuration;
use crate::model::eureka::ServerConfig;
use crate::model::stage::EventKind;

/// A chance, in one crash, that a closed form leaves out.
const NEVER: f64 = 1e-5;

/// What the gate adds to the wait for a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gate {
    /// The chance that the first round is shut for want of a beat; 0 if that never happens.
    shut: f64,
    /// Between two eviction rounds.
    round: SimDuration,
}

impl Gate {
    /// The extra wait.
    pub(super) fn delay(&self) -> BoundRange {
        if self.shut == 0.0 {
            return BoundRange::exactly(SimDuration::ZERO);
        }
        // A bad minute is looked at by one round, or by all rounds of the minute that follows it. These two
        // tick from the same moment, so that the first good round comes just a minute later, unless rounds
        // and minutes are out of step.
        let (mean, max) = if self.round >= MINUTE {
            (self.round, self.round)
        } else if MINUTE.as_nanos().is_multiple_of(self.round.as_nanos()) {
            (half(MINUTE), MINUTE)
        } else {
            (half(MINUTE), MINUTE + self.round)
        };
        let mean = SimDuration::from_nanos((mean.as_nanos() as f64 * self.shut) as u64);
        BoundRange { min: SimDuration::ZERO, mean, max }
    }
}

/// Deaths that are detected together: no round between the first and the last is certain.
struct Wave<'a> {
    hits: Vec<&'a Hit>,
    to: SimDuration,
}

/// Whether every crash of the scenario is evicted by the first round after its lease expired, or after a bad
/// minute at the worst. `latest` is the longest that a crash may wait for its round.
///
/// # Errors
/// Self-preservation is or may be engaged, or the cap on a round binds.
pub(super) fn gate(scenario: Case<'_>, latency: &Latency, latest: SimDuration) -> Result<Gate, Reason> {
    let crashes = hits(&scenario, EventKind::Crash);
    let stopped: u64 = hits(&scenario, EventKind::Stop).iter().map(|hit| hit.count).sum();
    let started: u64 = hits(&scenario, EventKind::Registration).iter().map(|hit| hit.count).sum();
    let last = crashes.iter().map(|hit| hit.to).max().unwrap_or_default();
    let mut census = Census::of(scenario, latency, server_to_faults(scenario) + last + latest);
    census.leave_all(&hits(&scenario, EventKind::Stop));
    let mut expected = Expected::of(scenario, &crashes, latest);
    expected.most += started;
    let others = stopped + started + u64::from(scenario.server().register_with_eureka);
    let settled = others == 0 && expected.least == expected.most && census.is_uniform();

    let round = SimDuration::from_millis(u64::from(scenario.server().eviction_interval_timer_in_ms.max(1)));
    let mut gate = Gate { shut: 0.0, round };
    for wave in waves(&crashes, latest) {
        let dead: u64 = wave.hits.iter().map(|hit| hit.count.min(census.registered)).sum();
        let capped = check_cap(scenario.server(), census.registered, dead);
        census.leave_all(wave.hits.iter().copied());
        if scenario.server().enable_self_preservation {
            let shut = chance_of_shut(scenario.server(), &census, &expected, settled)?;
            gate.shut = gate.shut.max(shut);
        }
        capped?;
        if scenario.server().rules.decrement_expected_on_eviction {
            expected.least = expected.least.saturating_sub(dead);
            expected.most = expected.most.saturating_sub(dead);
        }
    }
    Ok(gate)
}

/// Crashes by time, those together of which one may still be registered when the next one comes.
fn waves(crashes: &[Hit], latest: SimDuration) -> Vec<Wave<'_>> {
    let mut sorted: Vec<&Hit> = crashes.iter().collect();
    sorted.sort_by_key(|hit| hit.from);
    let mut waves: Vec<Wave<'_>> = Vec::new();
    for hit in sorted {
        match waves.last_mut() {
            Some(wave) if hit.from <= wave.to + latest => {
                wave.to = wave.to.max(hit.to);
                wave.hits.push(hit);
            }
            _ => waves.push(Wave { hits: vec![hit], to: hit.to }),
        }
    }
    waves
}

/// `limit = size − ⌊size · renewalPercentThreshold⌋` of all leases, the expired ones included.
fn check_cap(server: &ServerConfig, size: u64, dead: u64) -> Result<(), Reason> {
    let limit = size - (size as f64 * server.renewal_percent_threshold) as u64;
    if dead <= limit {
        return Ok(());
    }
    Err(EurekaReason::CappedRound { limit, size, dead }.into())
}

/// The chance that a minute's renewals do not exceed the threshold.
fn chance_of_shut(
    server: &ServerConfig,
    census: &Census,
    expected: &Expected,
    settled: bool,
) -> Result<f64, Reason> {
    let (least, most) = (threshold(server, expected.least), threshold(server, expected.most));
    let renewals = census.renewals;
    if least == 0 {
        return Err(EurekaReason::NothingIsEnough { settled }.into());
    }
    if renewals <= most {
        return Err(EurekaReason::TooFewRenewals { settled, renewals, threshold: most }.into());
    }
    let shut = census.chance_of_losing(renewals - most);
    // Two such minutes in a row: other clients' beats slip in the second, so the chances multiply.
    if shut * shut > NEVER {
        return Err(EurekaReason::BeatsMaySlip { renewals, threshold: most }.into());
    }
    Ok(if shut > NEVER { shut } else { 0.0 })
}

/// `numberOfRenewsPerMinThreshold` for this many expected clients (`eureka-server.md` 4.2). Up to 1.9.3 two
/// renewals a client were a constant.
fn threshold(server: &ServerConfig, expected: u64) -> u64 {
    let interval = f64::from(server.expected_client_renewal_interval_seconds);
    let per_client = if server.rules.legacy_threshold { 2.0 } else { 60.0 / interval };
    (expected as f64 * per_client * server.renewal_percent_threshold) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{crash_of, fault, scenario};
    use crate::model::eureka::Flavour;
    use crate::scenario::{Delay, FaultKind, Scenario, Selection, TargetChoice, Targets};

    const LATEST: SimDuration = SimDuration::from_secs(300);

    fn some(count: u32) -> Selection {
        Selection { application: None, zone: None, which: TargetChoice::Count(count) }
    }

    fn crash(fleet: u32, dead: u32) -> Scenario {
        let mut scenario = scenario(&[fleet]);
        scenario.faults = vec![crash_of(some(dead))];
        scenario
    }

    fn verdict(scenario: &Scenario) -> Result<Gate, Reason> {
        gate(scenario.eureka().unwrap(), &Latency::of(scenario.network.latency), LATEST)
    }

    fn reason(scenario: &Scenario) -> Reason {
        verdict(scenario).expect_err("no closed form")
    }

    fn engaged(renewals: u64, threshold: u64) -> Reason {
        EurekaReason::TooFewRenewals { settled: true, renewals, threshold }.into()
    }

    #[test]
    fn small_fleets_of_a_standalone_spring_server() {
        // Expected is n + 1, so a crash is let go if 2 (n − 1) > ⌊1.7 (n + 1)⌋: 24 > 23 for 13, not 22 > 22
        // for 12. The first three have a margin of one beat.
        for fleet in 1..=20 {
            let verdict = verdict(&crash(fleet, 1));
            assert_eq!(verdict.is_ok(), fleet >= 13, "n = {fleet}: {verdict:?}");
            if let Ok(gate) = verdict {
                assert_eq!(gate.shut > 0.0, fleet <= 15, "n = {fleet}: {gate:?}");
            }
        }
        assert_eq!(reason(&crash(10, 1)), engaged(18, 18));
    }

    #[test]
    fn one_beat_in_six_hundred_minutes_keeps_thirteen_waiting() {
        let gate = verdict(&crash(13, 1)).expect("let go");
        // 13 clients, each loses a beat in 4.0003 ms of 30 s: 13 · 0.000133 = 1 − exp(−0.00173).
        assert!((gate.shut - 0.001_73).abs() < 0.000_01, "{gate:?}");
        let delay = gate.delay();
        assert_eq!((delay.min, delay.max), (SimDuration::ZERO, SimDuration::from_secs(60)));
        assert_eq!(delay.mean.as_millis(), 103); // 60 s · 0.001732 = 103.9 ms
    }

    #[test]
    fn without_latency_no_beat_slips() {
        let mut scenario = crash(13, 1);
        scenario.network.latency = Delay::Constant(SimDuration::ZERO);
        assert_eq!(verdict(&scenario).expect("let go").delay().max, SimDuration::ZERO);
    }

    #[test]
    fn a_fleet_that_starts_in_step_keeps_clear_of_the_minutes_edge() {
        // Started within 5 s: the last beat of minute 12 comes 5 s + 25 · 30.002 s = 755 s after opening, well
        // before 780 s.
        let mut scenario = crash(13, 1);
        scenario.start_window = SimDuration::from_secs(5);
        assert_eq!(verdict(&scenario).expect("let go").shut, 0.0);
        // Were the server open at an unknown moment, all might slip together.
        scenario.setup.eureka_mut().unwrap().server.registry_sync_retries = 5;
        assert!(matches!(reason(&scenario), Reason::Eureka(EurekaReason::BeatsMaySlip { .. })));
    }

    #[test]
    fn a_fifth_of_a_fleet_is_trapped() {
        assert_eq!(reason(&crash(20, 4)), engaged(32, 35));
        // 2 dead of 20: 36 against 35.
        assert!(verdict(&crash(20, 2)).is_ok());
        // 14 dead of 100: 172 against 171; one of 86 beats slips in more than one minute of a hundred.
        let slips = EurekaReason::BeatsMaySlip { renewals: 172, threshold: 171 };
        assert_eq!(reason(&crash(100, 14)), slips.into());
        // 13 dead: 174 against 171.
        assert!(verdict(&crash(100, 13)).is_ok());
        assert_eq!(reason(&crash(100, 15)), engaged(170, 171));
    }

    #[test]
    fn plain_netflix_starts_with_a_threshold_of_nought() {
        let mut scenario = crash(100, 1);
        scenario.setup.eureka_mut().unwrap().server = ServerConfig::defaults(Flavour::Netflix);
        let nothing = |it: Reason| matches!(it, Reason::Eureka(EurekaReason::NothingIsEnough { .. }));
        assert!(nothing(reason(&scenario)));
        // With a fetching server the update after 15 minutes counts a hundred: 198 against 170.
        scenario.setup.eureka_mut().unwrap().server.fetch_registry = true;
        assert!(nothing(reason(&scenario)));
        scenario.warm_up = SimDuration::from_secs(1_000);
        assert!(verdict(&scenario).is_ok());
    }

    #[test]
    fn the_update_takes_the_surplus_away() {
        // Ten clients, expected 11 corrected to 10: 18 against 17.
        let mut scenario = crash(10, 1);
        scenario.setup.eureka_mut().unwrap().server.fetch_registry = true;
        scenario.warm_up = SimDuration::from_secs(1_000);
        assert!(verdict(&scenario).is_ok());
        // Five: 5 > 0.85 · 6 = 5.1 is false, the surplus stays.
        scenario.applications[0].instances = 5;
        assert_eq!(
            reason(&scenario),
            EurekaReason::TooFewRenewals { settled: false, renewals: 8, threshold: 10 }.into()
        );
    }

    #[test]
    fn without_protection_the_cap_on_a_round_remains() {
        let mut scenario = crash(100, 60);
        scenario.setup.eureka_mut().unwrap().server.enable_self_preservation = false;
        assert_eq!(reason(&scenario), EurekaReason::CappedRound { limit: 15, size: 100, dead: 60 }.into());
        scenario.faults = vec![crash_of(some(15))];
        assert_eq!(verdict(&scenario).map(|gate| gate.shut), Ok(0.0));
        // 1.0: nobody is ever evicted; 0.0: everybody may be.
        scenario.setup.eureka_mut().unwrap().server.renewal_percent_threshold = 1.0;
        assert_eq!(reason(&scenario), EurekaReason::CappedRound { limit: 0, size: 100, dead: 15 }.into());
        scenario.setup.eureka_mut().unwrap().server.renewal_percent_threshold = 0.0;
        scenario.faults = vec![crash_of(some(100))];
        assert!(verdict(&scenario).is_ok());
    }

    #[test]
    fn two_waves_tell_the_releases_apart() {
        // 40 clients, 4 die, are evicted, and 4 more die: 64 renewals against ⌊1.7 · 37⌋ = 62 if evictions
        // lower what is expected, against ⌊1.7 · 41⌋ = 69 if not.
        let mut scenario = crash(40, 4);
        let second = fault(600, FaultKind::Crash(Targets::Instances(some(4))));
        scenario.faults.push(second);
        assert!(verdict(&scenario).is_ok());
        scenario.setup.eureka_mut().unwrap().server.rules.decrement_expected_on_eviction = false;
        assert_eq!(reason(&scenario), engaged(64, 69));
        // Too close together they count as eight at once: 64 against 69 as well.
        scenario.setup.eureka_mut().unwrap().server.rules.decrement_expected_on_eviction = true;
        scenario.faults[1].at = SimDuration::from_secs(100);
        assert!(verdict(&scenario).is_err());
    }

    #[test]
    fn legacy_and_fast_heartbeats() {
        let mut server = ServerConfig::defaults(Flavour::Spring);
        // V5 and V6 of the spec.
        let sizes = [1, 2, 3, 4, 5, 6, 7, 10, 11, 20, 100];
        let thresholds = sizes.map(|expected| threshold(&server, expected));
        assert_eq!(thresholds, [1, 3, 5, 6, 8, 10, 11, 17, 18, 34, 170]);
        server.expected_client_renewal_interval_seconds = 10;
        assert_eq!(threshold(&server, 10), 51);
        server.rules.legacy_threshold = true;
        assert_eq!(threshold(&server, 10), 17);
    }

    #[test]
    fn slow_heartbeats_keep_protection_on() {
        // 40 s: 1.5 beats a minute, two at best: 198 against 171, but half of them slip.
        let mut scenario = crash(100, 1);
        scenario.setup.eureka_mut().unwrap().clients[0].lease_renewal_interval_in_seconds = 40;
        assert!(matches!(reason(&scenario), Reason::Eureka(EurekaReason::BeatsMaySlip { .. })));
    }
}
