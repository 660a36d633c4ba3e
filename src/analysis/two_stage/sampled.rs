//! The closed forms against the clocks themselves: draw all phases and latencies, write down the moments at which
//! heartbeats, sweeps, polls, looks and pushes come, and read T_D off. Some lines of arithmetic, independent of the
//! formulas and of the simulation.

use crate::analysis::BoundRange;
use crate::analysis::bounds;
use crate::analysis::fixture::{client_of, registry_of, two_stage};
use crate::analysis::sampled::{Draws, next};
use crate::engine::{NANOS_PER_MS, SimDuration};
use crate::model::two_stage::{ClientConfig, Discovery, Preset, Schedule, ServerConfig, SweepPhase};
use crate::scenario::{Delay, Scenario, Settings};

const CRASHES: u64 = 60_000;

const fn ns(millis: u32) -> u64 {
    millis as u64 * NANOS_PER_MS
}

/// When a sweep next finds what arrived at `heard` silent for more than `timeout_ms`. Sweeps come at `sweep`, and every
/// interval before and after.
fn swept(server: &ServerConfig, (heard, sweep): (u64, u64), timeout_ms: u32) -> u64 {
    let interval = ns(server.sweep_interval_ms);
    let mut at = sweep % interval;
    // In whole milliseconds, as the registry compares them.
    while at <= heard || at / NANOS_PER_MS - heard / NANOS_PER_MS <= u64::from(timeout_ms) {
        at += interval;
    }
    at
}

/// When the last heartbeat before `crash` arrives.
fn last_heard(client: &ClientConfig, delay: Delay, crash: u64, draws: &mut Draws) -> u64 {
    let interval = ns(client.heartbeat_interval_ms);
    let (mut sent, mut heard) = (draws.below(interval), 0);
    while sent <= crash {
        heard = sent + draws.latency(delay);
        sent = match client.heartbeat_schedule {
            Schedule::FixedRate => sent + interval,
            Schedule::FixedDelay => heard + draws.latency(delay) + interval,
        };
    }
    heard
}

/// When a consumer has taken over what is served from `served` on.
fn taken(scenario: &Scenario, served: u64, draws: &mut Draws) -> u64 {
    let Settings { server, clients, .. } = scenario.setup.two_stage().unwrap();
    let client = &clients[0];
    let delay = scenario.network.latency;
    match client.discovery {
        Discovery::Poll => polled(client, delay, served, draws).1,
        Discovery::LongPoll => watched(server, client, delay, served, draws),
        Discovery::PushPlusPoll => {
            let (before, answered) = polled(client, delay, served, draws);
            let push = served + ns(server.push_delay_ms);
            let age = push.saturating_sub(before) / NANOS_PER_MS;
            let lost = draws.below(1_000_000) < (server.push_loss * 1e6) as u64;
            let told = age <= u64::from(server.subscriber_ttl_ms) && !lost;
            if told { answered.min(push + draws.latency(delay)) } else { answered }
        }
    }
}

/// When the last poll before `served` reached the registry, and when the next one is answered.
fn polled(client: &ClientConfig, delay: Delay, served: u64, draws: &mut Draws) -> (u64, u64) {
    let interval = ns(client.poll_interval_ms);
    let (mut asked, mut before) = (served - 10 * interval - draws.below(20 * interval), 0);
    loop {
        let processed = asked + draws.latency(delay);
        let answered = processed + draws.latency(delay);
        if processed >= served {
            return (before, answered);
        }
        (before, asked) = (processed, answered + interval);
    }
}

fn watched(
    server: &ServerConfig,
    client: &ClientConfig,
    delay: Delay,
    served: u64,
    draws: &mut Draws,
) -> u64 {
    let (park, timeout) = (ns(server.watch_park_ms), ns(client.watch_timeout_ms));
    let mut arrives = served - 3 * timeout - draws.below(timeout + park);
    loop {
        let (mut look, ends) = (arrives, arrives + timeout.div_ceil(park) * park);
        while look < ends {
            if look >= served {
                return look + draws.latency(delay);
            }
            look += park;
        }
        // Time is up: an empty list, which is refused.
        arrives = ends + draws.latency(delay) + ns(client.watch_reissue_gap_ms) + draws.latency(delay);
    }
}

/// One crash: T_D at the registry, at a consumer and until it is forgotten, ns.
fn crash(scenario: &Scenario, draws: &mut Draws) -> [u64; 3] {
    let Settings { server, clients, .. } = scenario.setup.two_stage().unwrap();
    let client = &clients[0];
    let interval = ns(client.heartbeat_interval_ms);
    let crash = 70 * interval + draws.below(20 * interval);
    let heard = last_heard(client, scenario.network.latency, crash, draws);
    let grain = if server.sweep_phase == SweepPhase::Global { NANOS_PER_MS } else { 1 };
    let sweep = next(draws, 0, ns(server.sweep_interval_ms), grain);
    let hidden = swept(server, (heard, sweep), server.soft_timeout_ms);
    let forgotten = swept(server, (heard, sweep), server.hard_timeout_ms);
    let known = taken(scenario, hidden, draws);
    [hidden, known, forgotten].map(|at| at - crash)
}

fn agree(scenario: &Scenario) {
    let mut draws = Draws(1);
    let mut seen = [(u64::MAX, 0_u128, 0_u64); 3];
    for _ in 0..CRASHES {
        for ((min, sum, max), t_d) in seen.iter_mut().zip(crash(scenario, &mut draws)) {
            *min = t_d.min(*min);
            *sum += u128::from(t_d);
            *max = t_d.max(*max);
        }
    }
    let ranges: Vec<BoundRange> =
        bounds(scenario).into_iter().map(|bound| bound.range.expect("a closed form")).collect();
    for ((min, sum, max), range) in seen.into_iter().zip([ranges[0], ranges[2], ranges[3]]) {
        let [least, mean, most] = [range.min, range.mean, range.max].map(SimDuration::as_nanos);
        assert!(min >= least && max <= most, "{min} to {max} against {range:?}");
        let average = (sum / u128::from(CRASHES)) as u64;
        let width = most - least;
        assert!(average.abs_diff(mean) < width / 200, "mean {average} against {range:?}");
        assert!(min < least + width / 5 && max > most - width / 5, "{min} to {max} against {range:?}");
    }
}

#[test]
fn with_defaults() {
    for preset in [Preset::TwoStage, Preset::Nacos1] {
        agree(&two_stage(preset, &[100]));
    }
}

#[test]
fn by_long_polls() {
    let mut scenario = two_stage(Preset::TwoStage, &[100]);
    client_of(&mut scenario, 0).discovery = Discovery::LongPoll;
    agree(&scenario);
    // Time-outs of six parks with turnarounds of up to three.
    client_of(&mut scenario, 0).watch_timeout_ms = 1_100;
    scenario.network.latency = Delay::Uniform(SimDuration::from_millis(100), SimDuration::from_millis(300));
    agree(&scenario);
}

#[test]
fn with_latencies_as_long_as_intervals() {
    let latency = Delay::Uniform(SimDuration::from_millis(50), SimDuration::from_millis(400));
    for preset in [Preset::TwoStage, Preset::Nacos1] {
        let mut scenario = two_stage(preset, &[100]);
        scenario.network.latency = latency;
        registry_of(&mut scenario).sweep_interval_ms = 1_700;
        registry_of(&mut scenario).soft_timeout_ms = 7_001;
        let client = client_of(&mut scenario, 0);
        (client.heartbeat_interval_ms, client.first_heartbeat_delay_ms) = (2_300, 1_000);
        client.poll_interval_ms = 3_000;
        registry_of(&mut scenario).subscriber_ttl_ms = 2_000;
        agree(&scenario);
        registry_of(&mut scenario).push_loss = 0.3;
        agree(&scenario);
    }
}
