//! Heartbeats, registrations and overrides.

use super::*;

#[test]
fn v16_v17_a_dirtier_heartbeat_renews_and_is_told_to_register() {
    let mut bench = Bench::start(spring());
    bench.register(0);
    bench.run_to(30_000);
    let instance = InstanceId(0);
    let renew = |last_dirty| Request::Renew { instance, last_dirty: WallMs(last_dirty) };
    assert_eq!(bench.ask(renew(200)).status, 404);
    // The lease was extended all the same: 30,000 + 90,000.
    assert_eq!(bench.server.lease(instance).map(Lease::last_update), Some(START.plus(120_000)));
    assert_eq!(bench.ask(renew(50)).status, 200);
    let replicated = bench.with(|server, step| server.on_replicated_renew(instance, WallMs(50), step));
    assert_eq!(replicated.status, 409);
    bench.run_to(60_000);
    assert_eq!(bench.server.renews_last_min(), 3); // all three counted
    assert_eq!(bench.renew(7), 404);
    bench.run_to(120_000);
    assert_eq!(bench.server.renews_last_min(), 0); // an unknown one does not
}

#[test]
fn v18_v19_the_dirtier_record_wins_but_the_lease_is_new() {
    let mut bench = Bench::start(spring());
    bench.ask(Request::Register(Record { last_dirty: WallMs(200), ..record(0) }));
    let expected = bench.server.expected();
    bench.run_to(10_000);
    bench.ask(Request::Register(Record { last_dirty: WallMs(100), renewal_s: 5, ..record(0) }));
    let lease = *bench.server.lease(InstanceId(0)).expect("registered");
    assert_eq!((lease.record.last_dirty, lease.record.renewal_s), (WallMs(200), 30));
    assert_eq!(lease.last_update(), START.plus(10_000));
    assert_eq!(bench.server.expected(), expected);
    let (entries, hash) = bench.delta();
    assert_eq!((entries, hash.as_str()), (vec![(0, Presence::Present(Status::Up))], "UP_1_"));
    // Equally dirty: the incoming one.
    bench.ask(Request::Register(Record { last_dirty: WallMs(200), renewal_s: 5, ..record(0) }));
    assert_eq!(bench.server.lease(InstanceId(0)).map(|lease| lease.record.renewal_s), Some(5));
}

#[test]
fn v20_v21_one_delta_entry_an_instance_as_it_is_now() {
    let mut bench = Bench::start(spring());
    bench.register(0);
    let out =
        Request::UpdateStatus { instance: InstanceId(0), status: Status::OutOfService, last_dirty: None };
    assert_eq!(bench.ask(out).status, 200);
    let (entries, hash) = bench.delta();
    assert_eq!(entries, [(0, Presence::Present(Status::OutOfService))]);
    assert_eq!(hash, "OUT_OF_SERVICE_1_");

    let mut bench = Bench::start(spring());
    bench.register(0);
    bench.ask(Request::Cancel { instance: InstanceId(0) });
    assert_eq!(bench.delta(), (vec![(0, Presence::Absent)], String::new()));
}

#[test]
fn an_ended_override_leaves_unknown_until_the_client_registers() {
    let mut bench = Bench::start(spring());
    bench.register(0);
    let instance = InstanceId(0);
    let status = |bench: &Bench| bench.server.lease(instance).map(|lease| lease.record.status);
    bench.ask(Request::UpdateStatus { instance, status: Status::OutOfService, last_dirty: None });
    assert_eq!(bench.renew(0), 200);
    bench.register(0); // says UP; the override wins
    assert_eq!(status(&bench), Some(Status::OutOfService));
    let end = Request::DeleteStatusOverride { instance, status: Status::Unknown, last_dirty: None };
    assert_eq!(bench.ask(end).status, 200);
    assert_eq!(status(&bench), Some(Status::Unknown));
    assert_eq!(bench.renew(0), 404); // neither counted nor extended
    bench.register(0);
    assert_eq!(status(&bench), Some(Status::Up));
    bench.run_to(60_000);
    assert_eq!(bench.server.renews_last_min(), 1);
}

#[test]
fn a_heartbeat_that_meets_an_override_changes_the_status_without_an_entry() {
    // An override that came with no status change of its own, as from a peer's answer: the next heartbeat
    // applies it.
    let mut bench = Bench::start(ServerConfig { use_read_only_response_cache: false, ..spring() });
    bench.register(0);
    let instance = InstanceId(0);
    bench.server.overrides.put(instance, Status::OutOfService, bench.now().mono);
    let before = bench.server.changed.tail();
    assert_eq!(bench.renew(0), 200);
    assert!(
        bench
            .facts
            .iter()
            .any(|&(_, fact)| fact == Fact::StatusChanged { instance, status: Status::OutOfService })
    );
    assert_eq!(bench.server.changed.tail(), before);
    let (entries, hash) = bench.delta();
    // The delta is built now, so its one entry (the registration) shows the new status.
    assert_eq!(
        (entries, hash.as_str()),
        (vec![(0, Presence::Present(Status::OutOfService))], "OUT_OF_SERVICE_1_")
    );
}

#[test]
fn an_expired_lease_hides_from_status_calls_while_expiration_is_enabled() {
    let mut bench = Bench::start(ServerConfig { enable_self_preservation: false, ..spring() });
    bench.run_to(59_000);
    bench.ask(Request::Register(Record { duration_s: 1, ..record(0) }));
    bench.run_to(60_000);
    let out = Request::UpdateStatus { instance: InstanceId(0), status: Status::Down, last_dirty: None };
    assert_eq!(bench.ask(out).status, 200); // 59,000 + 1,000: not yet
    bench.run_to(61_000);
    bench.ask(Request::Register(Record { duration_s: 1, ..record(1) }));
    bench.run_to(62_001);
    let out = Request::UpdateStatus { instance: InstanceId(1), status: Status::Down, last_dirty: None };
    assert_eq!(bench.ask(out).status, 404);
}

#[test]
fn a_heartbeat_puts_nothing_out() {
    let mut bench = Bench::start(spring());
    bench.register(0);
    let (facts, settings) = (bench.facts.len(), bench.settings);
    assert_eq!(bench.renew(0), 200);
    assert_eq!((bench.facts.len(), bench.settings), (facts, settings));
}

#[test]
fn settings_changed_at_run_time_show_where_they_are_next_read() {
    let mut bench = Bench::start(spring());
    bench.register(0);
    assert_eq!(bench.server.threshold(), 3); // ⌊2 · 2 · 0.85⌋, one expected from the start
    let config = ServerConfig {
        enable_self_preservation: false,
        renewal_percent_threshold: 0.5,
        expected_client_renewal_interval_seconds: 10,
        disable_delta: true,
        sync_when_timestamp_differs: false,
        ..spring()
    };
    bench.server.set_config(Arc::new(config));
    assert!(!bench.server.self_preservation_engaged());
    assert_eq!(bench.server.threshold(), 3, "a setting alone recomputes nothing");
    bench.register(1);
    assert_eq!(bench.server.threshold(), 9); // 3 · 6 · 0.5
    assert_eq!(bench.ask(Request::FetchDelta).status, 403);
    let dirtier = Request::Renew { instance: InstanceId(0), last_dirty: WallMs(200) };
    assert_eq!(bench.ask(dirtier).status, 200);
}
