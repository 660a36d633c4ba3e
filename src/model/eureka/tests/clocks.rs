//! Timers, pauses and clocks.

use super::*;

#[test]
fn v30_a_paused_server_judges_leases_as_of_the_due_time() {
    // Opens at 0, rounds at 60 s and 120 s; pause from 105 s to 145 s: the round runs 25 s late.
    let mut bench = Bench::start(ServerConfig { enable_self_preservation: false, ..spring() });
    bench.register(0); // never renewed: expired from 90,001 as of 120 s
    bench.run_to(29_999);
    bench.register(1); // expired from 119,999 + 1 = 120,000: as of the due time
    bench.register(2);
    bench.run_to(30_000);
    bench.register(2); // as of 120,000 it is still good
    bench.run_to(105_000);
    bench.pause_to(145_000);
    let round = bench.facts.iter().find_map(|&(at, fact)| match fact {
        Fact::EvictionRoundEnded(round) if at == 145_000 => Some(round),
        _ => None,
    });
    assert_eq!(round.map(|round| (round.compensation_ms, round.expired)), Some((25_000, 2)));
    // The phase has shifted for good: the next bucket and round come a minute after the late ones.
    for timer in [ServerTimer::RenewalBucket, ServerTimer::Eviction] {
        assert_eq!(bench.server.timer(timer).map(|set| set.0), Some(Due::Wall(START.plus(205_000))));
    }
}

#[test]
fn the_bucket_is_closed_before_the_round_looks_at_it() {
    // 2 renewals in the first minute: the round at 60 s sees them, or, the other way round, sees 0.
    for (eviction_before_bucket, enabled) in [(false, true), (true, false)] {
        // A round every 20 s: the bucket's timer was set long before the third round's.
        let config =
            ServerConfig { eviction_before_bucket, eviction_interval_timer_in_ms: 20_000, ..spring() };
        let mut bench = Bench::start(config);
        bench.server.threshold.open(1, &spring()); // threshold 1
        bench.server.leases.put(Lease::new(record(0), 90, bench.now().wall));
        bench.renew(0);
        bench.renew(0);
        bench.run_to(60_000);
        let at_60: Vec<bool> = bench
            .facts
            .iter()
            .filter_map(|&(at, fact)| match fact {
                Fact::EvictionRoundEnded(round) if at == 60_000 => Some(round.enabled),
                _ => None,
            })
            .collect();
        assert_eq!(at_60, [enabled]);
    }
}

#[test]
fn a_clock_set_back_delays_the_timers_and_one_set_forward_wakes_nobody() {
    let rounds = |bench: &Bench| {
        let round = |&&(_, fact): &&(i64, Fact)| matches!(fact, Fact::EvictionRoundEnded(_));
        bench.facts.iter().filter(round).map(|&(at, _)| at).collect::<Vec<_>>()
    };
    let mut bench = Bench::start(spring());
    bench.run_to(50_000);
    bench.stepped_ms = -20_000;
    bench.with(|server, step| server.on_clock_step(step));
    bench.run_to(90_000);
    assert_eq!(rounds(&bench), [80_000]); // 60 s on the wall clock is 80 s in truth

    let mut bench = Bench::start(spring());
    bench.run_to(50_000);
    bench.stepped_ms = 20_000;
    bench.run_to(130_000);
    assert_eq!(rounds(&bench), [60_000, 120_000]);
    // And back and forth again: as if nothing had been.
    let mut bench = Bench::start(spring());
    bench.run_to(50_000);
    bench.stepped_ms = -20_000;
    bench.run_to(55_000);
    bench.stepped_ms = 0;
    bench.run_to(60_000);
    assert_eq!(rounds(&bench), [60_000]);
}

#[test]
fn a_round_does_not_close_the_bucket_early_after_a_step_forward() {
    // Rounds every 20 s. At 65 s the clock is set forward by 60 s: by it the bucket is due at once, but its thread
    // sleeps until 120 s, whatever rounds run before.
    let config = ServerConfig { eviction_interval_timer_in_ms: 20_000, ..spring() };
    let mut bench = Bench::start(config);
    bench.run_to(65_000);
    bench.stepped_ms = 60_000;
    bench.run_to(120_000);
    let at = |wanted: fn(&Fact) -> bool| {
        let facts = bench.facts.iter().filter(|(_, fact)| wanted(fact));
        facts.map(|&(at, _)| at).collect::<Vec<_>>()
    };
    assert_eq!(at(|fact| matches!(fact, Fact::RenewalsCounted { .. })), [60_000, 120_000]);
    assert_eq!(
        at(|fact| matches!(fact, Fact::EvictionRoundEnded(_))),
        [20_000, 40_000, 60_000, 80_000, 100_000, 120_000]
    );
}

#[test]
fn a_stale_generation_is_ignored() {
    let mut bench = Bench::start(spring());
    bench.now_ms = 60_000;
    let (_, generation) = bench.server.timer(ServerTimer::RenewalBucket).expect("set");
    let stale = generation.wrapping_add(1);
    let facts = bench.facts.len();
    bench.with(|server, step| {
        server.on_timer(ServerTimer::RenewalBucket, stale, OwnRegistry::default(), step)
    });
    assert_eq!(bench.facts.len(), facts);
    assert!(bench.server.next_generation() > generation);
}

#[test]
fn the_own_clock_is_all_that_is_read() {
    // Compensation is measured by the monotonic clock: a step forward ages leases uncompensated.
    let mut bench = Bench::start(ServerConfig { enable_self_preservation: false, ..spring() });
    bench.register(0);
    bench.run_to(60_000);
    bench.stepped_ms = 40_000;
    let round = bench.server.open_round(bench.now());
    assert_eq!(round.compensation_ms, 0); // no time has passed since the round at 60 s
    assert_eq!(round.expired, [InstanceId(0)]); // 60,000 + 40,000 > 90,000
}
