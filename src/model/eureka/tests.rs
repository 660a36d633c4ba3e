//! The machine as a whole: the vectors of `eureka-server.md` 14.2 that need more than one idea at once.

use std::sync::Arc;

use super::*;
use crate::engine::{Chance, Seed, SimTime};
use crate::model::clock::{Now, WallMs};
use crate::model::fact::Fact;
use crate::model::id::{AppId, InstanceId};
use crate::model::message::{Record, Reply, Request, Status};
use crate::model::step::Step;
use crate::model::view::{Presence, View, Views};

/// The wall clock at the start: a whole minute.
const START: WallMs = WallMs(1_800_000_000_000);

/// A server with a world around it that does nothing but fire its timers.
struct Bench {
    server: EurekaServer,
    own_view: Option<View>,
    views: Views,
    seed: Seed,
    chance: Chance,
    /// (due in ms since the start, order of setting, timer, generation).
    timers: Vec<(i64, usize, ServerTimer, u16)>,
    settings: usize,
    facts: Vec<(i64, Fact)>,
    now_ms: i64,
    /// The wall clock minus the monotonic one, from their common start.
    stepped_ms: i64,
}

fn spring() -> ServerConfig {
    ServerConfig::defaults(Flavour::Spring)
}

fn record(instance: u32) -> Record {
    Record {
        app: AppId(0),
        instance: InstanceId(instance),
        status: Status::Up,
        overridden: Status::Unknown,
        last_dirty: WallMs(100),
        duration_s: 90,
        renewal_s: 30,
    }
}

impl Bench {
    fn start(config: ServerConfig) -> Self {
        Self::start_with(config, None)
    }

    fn start_with(config: ServerConfig, own_view: Option<View>) -> Self {
        let (seed, mut chance) = (Seed::new(7, 0), Chance::of("server/1"));
        let (mut views, mut out) = (Views::default(), Vec::new());
        let mut step = Step {
            now: Now { mono: SimTime::ZERO, wall: START },
            dice: chance.with(&seed),
            views: &mut views,
            out: &mut out,
        };
        let server = EurekaServer::start(Arc::new(config), 0, own_view, &mut step);
        let mut bench = Self {
            server,
            own_view,
            views,
            seed,
            chance,
            timers: Vec::new(),
            settings: 0,
            facts: Vec::new(),
            now_ms: 0,
            stepped_ms: 0,
        };
        bench.take(out);
        bench
    }

    fn now(&self) -> Now {
        Now { mono: SimTime::from_millis(self.now_ms as u64), wall: START.plus(self.now_ms + self.stepped_ms) }
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut EurekaServer, &mut ServerStep<'_>) -> R) -> R {
        let mut out = Vec::new();
        let now = self.now();
        let mut step =
            Step { now, dice: self.chance.with(&self.seed), views: &mut self.views, out: &mut out };
        let result = act(&mut self.server, &mut step);
        self.take(out);
        result
    }

    fn take(&mut self, out: Vec<ServerEffect>) {
        for effect in out {
            match effect {
                ServerEffect::Fact(fact) => self.facts.push((self.now_ms, fact)),
                ServerEffect::SetTimer { timer, due, generation } => {
                    let due_ms = match due {
                        Due::Wall(due) => due.since(START) - self.stepped_ms,
                        Due::Mono(due) => due.as_millis() as i64,
                    };
                    self.timers.push((due_ms, self.settings, timer, generation));
                    self.settings += 1;
                }
            }
        }
    }

    /// Runs all timers due up to and including `ms`, in order of time, then of setting.
    fn run_to(&mut self, ms: i64) {
        while let Some(&next) = self.timers.iter().filter(|timer| timer.0 <= ms).min() {
            self.timers.retain(|&timer| timer != next);
            let (due_ms, _, timer, generation) = next;
            self.now_ms = self.now_ms.max(due_ms);
            let own_view = self.own_view;
            self.with(|server, step| server.on_timer(timer, generation, own_view, step));
        }
        self.now_ms = ms;
    }

    /// Stands still until `ms`: what was due meanwhile runs then.
    fn pause_to(&mut self, ms: i64) {
        self.now_ms = ms;
        self.run_to(ms);
    }

    fn ask(&mut self, request: Request) -> Reply {
        self.with(|server, step| server.on_request(&request, step))
    }

    fn register(&mut self, instance: u32) {
        assert_eq!(self.ask(Request::Register(record(instance))).status, 204);
    }

    fn renew(&mut self, instance: u32) -> u16 {
        let (instance, last_dirty) = (InstanceId(instance), WallMs(100));
        self.ask(Request::Renew { instance, last_dirty }).status
    }

    /// Renews `instances` every 30 s, first at `from`, with the timers between.
    fn renew_until(&mut self, instances: std::ops::Range<u32>, from: i64, to: i64) {
        for at in (from..=to).step_by(30_000) {
            self.run_to(at);
            for instance in instances.clone() {
                self.renew(instance);
            }
        }
        self.run_to(to);
    }

    fn evicted(&self) -> Vec<u32> {
        let evicted = |&(_, fact): &(i64, Fact)| match fact {
            Fact::LeaseEvicted { instance } => Some(instance.0),
            _ => None,
        };
        self.facts.iter().filter_map(evicted).collect()
    }

    fn rounds_with_victims(&self) -> Vec<u32> {
        let victims = |&(_, fact): &(i64, Fact)| match fact {
            Fact::EvictionRoundEnded(round) if round.evicted > 0 => Some(round.evicted),
            _ => None,
        };
        self.facts.iter().filter_map(victims).collect()
    }

    fn served(&self, instance: u32) -> bool {
        self.views.is_up(self.server.served_view(), InstanceId(instance))
    }

    fn delta(&mut self) -> (Vec<(u32, Presence)>, String) {
        let payload = self.ask(Request::FetchDelta).payload.expect("served");
        let entries = self.views.delta_entries(&payload).into_iter();
        let hash = self.views.payload_counts(&payload).reconcile_hash();
        (entries.map(|(instance, presence)| (instance.0, presence)).collect(), hash)
    }
}

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
fn the_read_only_cache_shows_an_eviction_at_its_next_refresh() {
    let config = ServerConfig {
        enable_self_preservation: false,
        eviction_interval_timer_in_ms: 55_000,
        ..spring()
    };
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
    let out = Request::UpdateStatus { instance: InstanceId(0), status: Status::OutOfService, last_dirty: None };
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
fn a_forgotten_override_changes_the_status_without_a_delta_entry() {
    // The override says DOWN for a lease that is DOWN, so rule 1 never reads it: forgotten after an hour. A
    // registration meanwhile brought UP under a replica's hand, which the next heartbeat corrects.
    let mut bench = Bench::start(ServerConfig { use_read_only_response_cache: false, ..spring() });
    bench.register(0);
    let instance = InstanceId(0);
    bench.server.overrides.put(instance, Status::OutOfService, bench.now().mono);
    let before = bench.server.changed.tail();
    assert_eq!(bench.renew(0), 200);
    assert!(bench.facts.iter().any(|&(_, fact)| fact
        == Fact::StatusChanged { instance, status: Status::OutOfService }));
    assert_eq!(bench.server.changed.tail(), before);
    let (entries, hash) = bench.delta();
    // The delta is built now, so its one entry (the registration) shows the new status.
    assert_eq!((entries, hash.as_str()), (vec![(0, Presence::Present(Status::OutOfService))], "OUT_OF_SERVICE_1_"));
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
        let config = ServerConfig { eviction_before_bucket, eviction_interval_timer_in_ms: 20_000, ..spring() };
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
fn a_stale_generation_is_ignored() {
    let mut bench = Bench::start(spring());
    bench.now_ms = 60_000;
    let (_, generation) = bench.server.timer(ServerTimer::RenewalBucket).expect("set");
    let stale = generation.wrapping_add(1);
    let facts = bench.facts.len();
    bench.with(|server, step| server.on_timer(ServerTimer::RenewalBucket, stale, None, step));
    assert_eq!(bench.facts.len(), facts);
    assert!(bench.server.next_generation() > generation);
}

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

#[test]
fn a_heartbeat_puts_nothing_out() {
    let mut bench = Bench::start(spring());
    bench.register(0);
    let (facts, settings) = (bench.facts.len(), bench.settings);
    assert_eq!(bench.renew(0), 200);
    assert_eq!((bench.facts.len(), bench.settings), (facts, settings));
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
