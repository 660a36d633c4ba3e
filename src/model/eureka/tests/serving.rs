//! Start-up and what is served.

use super::*;

#[test]
fn an_isolated_netflix_server_opens_after_four_waits_and_refuses_for_five_minutes() {
    let mut bench = Bench::start(ServerConfig::defaults(Flavour::Netflix));
    bench.run_to(119_999);
    assert!(!bench.server.is_serving());
    bench.run_to(120_000);
    assert!(bench.server.is_serving());
    bench.register(0);
    assert_eq!((bench.server.expected(), bench.server.threshold()), (0, 0));
    assert!(!bench.served(0));
    bench.run_to(420_000); // open + 300,000
    assert_eq!(bench.ask(Request::FetchFull).status, 403);
    assert_eq!(bench.ask(Request::FetchDelta).status, 403);
    bench.run_to(420_001);
    assert!(bench.served(0));
    assert_eq!(bench.ask(Request::FetchFull).status, 200);
}

#[test]
fn a_standalone_spring_server_opens_at_once_with_one() {
    let bench = Bench::start(spring());
    assert!(bench.server.is_open());
    assert_eq!((bench.server.expected(), bench.server.threshold()), (1, 1));
    let opened = |&&(at, fact): &&(i64, Fact)| (at, fact) == (0, Fact::OpenedForTraffic { expected: 1 });
    assert_eq!(bench.facts.iter().filter(opened).count(), 1);
}

#[test]
fn spring_without_a_stand_in_refuses_after_an_empty_start() {
    let mut bench = Bench::start(ServerConfig { default_open_for_traffic_count: 0, ..spring() });
    assert_eq!(bench.ask(Request::FetchFull).status, 403);
    assert_eq!(bench.server.expected(), 0);
}

#[test]
fn a_server_that_registers_with_itself_copies_what_it_saw() {
    // Section 8.3, row 2: registrations during the wait count, and opening forgets them.
    let mut bench = Bench::start(ServerConfig { registry_sync_retries: 5, ..spring() });
    bench.run_to(5_000);
    for instance in 0..3 {
        bench.register(instance);
    }
    assert_eq!(bench.server.expected(), 4); // 1 + 3
    bench.renew(0);
    bench.own_view = bench.ask(Request::FetchFull).payload.map(|payload| payload.full_view());
    bench.run_to(10_000);
    bench.register(3); // after the own client's fetch
    bench.ask(Request::Cancel { instance: InstanceId(2) });
    bench.run_to(29_999);
    assert!(!bench.server.is_open() && bench.server.is_serving());
    bench.run_to(30_000);
    assert!(bench.server.is_open());
    // The copy held 0, 1 and 2: three are expected, although four are registered; 2 is back.
    assert_eq!((bench.server.expected(), bench.server.registered()), (3, 4));
    // The leases of the copied are new and not renewed.
    assert_eq!(bench.server.lease(InstanceId(0)).map(Lease::last_update), Some(START.plus(30_000)));
    // The first bucket holds what came before it was opened.
    bench.run_to(90_000);
    assert_eq!(bench.server.renews_last_min(), 1);
}

#[test]
fn the_read_only_cache_shows_an_eviction_at_its_next_refresh() {
    let config =
        ServerConfig { enable_self_preservation: false, eviction_interval_timer_in_ms: 55_000, ..spring() };
    let mut bench = Bench::start(config);
    bench.run_to(12_000);
    bench.register(0);
    assert_eq!(bench.ask(Request::FetchFull).status, 200);
    assert!(bench.served(0));
    // Never renewed: expired from 102,001 on, so the round of 110 s takes it and the refresh of 120 s shows it.
    bench.run_to(110_000);
    assert_eq!(bench.evicted(), [0]);
    bench.run_to(119_999);
    assert!(bench.served(0));
    bench.run_to(120_000);
    assert!(!bench.served(0));
}

#[test]
fn served_follows_at_once_without_the_read_only_cache() {
    let mut bench = Bench::start(ServerConfig { use_read_only_response_cache: false, ..spring() });
    bench.register(0);
    assert!(bench.served(0));
    bench.ask(Request::FetchFull);
    bench.run_to(1_000);
    assert_eq!(bench.ask(Request::Cancel { instance: InstanceId(0) }).status, 200);
    assert!(!bench.served(0));
    assert_eq!(bench.ask(Request::Cancel { instance: InstanceId(0) }).status, 404);
}

#[test]
fn retention_shortens_deltas_but_not_cached_ones() {
    let mut bench = Bench::start(spring());
    bench.run_to(1_000);
    bench.register(0);
    assert_eq!(bench.delta().0.len(), 1);
    bench.run_to(211_000); // T1 at 210 s: 1,000 < 30,000
    assert_eq!(bench.server.changed.head(), 1);
    // Loaded at 1 s, reloaded by the T2 run at 210 s (age 209 s): in the same instant T1 came first.
    assert_eq!(bench.delta().0.len(), 0);
}

#[test]
fn an_application_without_instances_is_not_found() {
    let mut bench = Bench::start(spring());
    let fetch = |bench: &mut Bench| bench.with(|server, step| server.on_fetch_app(AppId(0), step)).status;
    assert_eq!(fetch(&mut bench), 404);
    bench.register(0);
    assert_eq!(fetch(&mut bench), 404); // the emptiness is cached
    bench.run_to(30_000);
    assert_eq!(fetch(&mut bench), 200);
}

#[test]
fn delta_can_be_disabled() {
    let mut bench = Bench::start(ServerConfig { disable_delta: true, ..spring() });
    assert_eq!(bench.ask(Request::FetchDelta).status, 403);
    assert_eq!(bench.ask(Request::FetchFull).status, 200);
}
