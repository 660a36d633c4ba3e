//! Rounds, the gate and what they make of deaths.

use super::*;

#[test]
fn the_worked_timeline_of_one_crash() {
    // Section 14.1: opens at :12, heartbeat at 5:05, evicted by the round of 8:12, served at 8:30.
    let mut bench = Bench::start(spring());
    let base = -12_000; // the bench opens at 0, so 10:00:00 is at −12 s
    for instance in 0..100 {
        bench.register(instance);
    }
    bench.renew_until(0..100, base + 35_000, base + 305_000);
    assert_eq!(bench.server.renews_last_min(), 200);
    bench.renew_until(1..100, base + 335_000, base + 491_000);
    assert!(bench.evicted().is_empty());
    bench.run_to(base + 492_000); // 8:12: valid through 8:05.000
    assert_eq!(bench.evicted(), [0]);
}

#[test]
fn v12_ten_clients_of_a_standalone_server_never_lose_their_dead() {
    // Expected 1 + 10 = 11, threshold ⌊18.7⌋ = 18; nine survivors renew 18 times a minute: 18 > 18 is false.
    let mut bench = Bench::start(spring());
    for instance in 0..10 {
        bench.register(instance);
    }
    assert_eq!((bench.server.expected(), bench.server.threshold()), (11, 18));
    bench.renew_until(0..10, 5_000, 125_000);
    bench.renew_until(1..10, 155_000, 3_600_000);
    assert_eq!(bench.server.renews_last_min(), 18);
    assert!(bench.server.self_preservation_engaged());
    assert_eq!((bench.evicted(), bench.server.registered()), (vec![], 10));
    assert_eq!(bench.server.expired(bench.now().wall), 1);
}

#[test]
fn v13_with_the_surplus_corrected_it_goes() {
    for (decrement, expected_after) in [(false, 10), (true, 9)] {
        let mut config = ServerConfig { default_open_for_traffic_count: 0, ..spring() };
        config.rules.decrement_expected_on_eviction = decrement;
        config.expected_number_of_clients_sending_renews = 0;
        let mut bench = Bench::start(config);
        bench.server.threshold.open(10, &spring()); // ⌊17⌋ < 18
        for instance in 0..10 {
            bench.server.leases.put(Lease::new(record(instance), 90, bench.now().wall));
        }
        bench.renew_until(0..10, 5_000, 125_000);
        bench.renew_until(1..10, 155_000, 400_000);
        assert_eq!(bench.evicted(), [0]);
        assert_eq!(bench.server.expected(), expected_after);
    }
}

#[test]
fn v14_new_ids_ratchet_the_expectation_before_1_9_17() {
    // Ten of a hundred are killed, evicted and replaced under new ids. Old: 101 + 10. New: 101 − 10 + 10.
    for (decrement, expected_after) in [(false, 111), (true, 101)] {
        let mut config = ServerConfig { enable_self_preservation: false, ..spring() };
        config.rules.decrement_expected_on_eviction = decrement;
        let mut bench = Bench::start(config);
        for instance in 0..100 {
            bench.register(instance);
        }
        bench.renew_until(10..100, 5_000, 185_000);
        assert_eq!(bench.evicted().len(), 10); // limit 15
        for instance in 100..110 {
            bench.register(instance);
        }
        assert_eq!(bench.server.expected(), expected_after);
    }
}

#[test]
fn crash_after_crash_sticks_before_1_9_17() {
    // Section 4.8 with n = 20, expected 20: each dead is evicted before the next crash.
    for (decrement, evictable) in [(false, 2), (true, 14)] {
        let mut config = spring();
        config.rules.decrement_expected_on_eviction = decrement;
        let mut threshold = super::self_preservation::RenewalThreshold::new(&config);
        threshold.open(20, &config);
        let mut dead = 0;
        while threshold.permits_expiration(2 * (20 - (dead + 1)), &config) {
            dead += 1;
            if decrement {
                threshold.client_removed(&config);
            }
        }
        // Old: 34 renewals against 34 at the third. New: down to six clients, where 10 ≤ ⌊10.2⌋.
        assert_eq!(dead, evictable);
    }
}

#[test]
fn mass_death_goes_in_rounds() {
    let mut bench = Bench::start(ServerConfig { enable_self_preservation: false, ..spring() });
    for instance in 0..100 {
        bench.register(instance);
    }
    bench.renew_until(60..100, 5_000, 485_000);
    assert_eq!(bench.rounds_with_victims(), [15, 13, 11, 10, 8, 3]);
    assert!(bench.evicted().iter().all(|&instance| instance < 60));
}

#[test]
fn the_threshold_update_counts_what_the_own_client_sees() {
    let config = ServerConfig { renewal_threshold_update_interval_ms: 60_000, ..spring() };
    let mut bench = Bench::start(config);
    for instance in 0..10 {
        bench.register(instance);
    }
    let instance = InstanceId(9);
    bench.ask(Request::UpdateStatus { instance, status: Status::Down, last_dirty: None });
    bench.run_to(60_000);
    assert_eq!(bench.server.expected(), 11); // no own client: 0 > 9.35 is false
    bench.own_view = bench.ask(Request::FetchFull).payload.map(|payload| payload.full_view());
    bench.run_to(120_000);
    assert_eq!(bench.server.expected(), 11); // only 9 are UP: 9 > 9.35 is false
    bench.ask(Request::DeleteStatusOverride { instance, status: Status::Up, last_dirty: None });
    bench.run_to(150_000);
    bench.own_view = bench.ask(Request::FetchFull).payload.map(|payload| payload.full_view());
    bench.run_to(180_000);
    assert_eq!((bench.server.expected(), bench.server.threshold()), (10, 17)); // 10 > 9.35
}

#[test]
fn without_its_filter_the_own_client_counts_and_copies_all() {
    // Netflix #1127: with the filter an instance that is DOWN is passed over by the update and by the copy.
    for (filter_only_up_instances, seen) in [(true, 2), (false, 3)] {
        let config = ServerConfig {
            filter_only_up_instances,
            registry_sync_retries: 2,
            renewal_threshold_update_interval_ms: 60_000,
            enable_self_preservation: false,
            ..spring()
        };
        let mut bench = Bench::start(config);
        for instance in 0..2 {
            bench.register(instance);
        }
        bench.ask(Request::Register(Record { status: Status::Down, ..record(2) }));
        bench.own_view = bench.ask(Request::FetchFull).payload.map(|payload| payload.full_view());
        bench.run_to(30_000); // the second try copies
        assert_eq!(bench.server.expected(), seen, "copied");
        bench.register(3); // seen + 1, until the update counts what was fetched
        bench.run_to(60_000);
        assert_eq!(bench.server.expected(), seen, "updated");
    }
}
