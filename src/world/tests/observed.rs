//! What is left behind of a two-stage registry and its consumers.

use super::*;
use crate::model::two_stage::{
    ClientConfig as Consumer, Discovery, Preset, ServerConfig as Registry, TwoStage,
};
use crate::scenario::{Settings, Traffic};

const ORDERS: AppId = AppId(0);
const STOCK: AppId = AppId(1);
const SHOP: usize = 2;

/// The same fleet before a registry with the preset's defaults.
fn before(preset: Preset, mut scenario: Scenario) -> Scenario {
    let clients = scenario.applications.iter().map(|_| Consumer::defaults(preset)).collect();
    let (release, server) = (String::new(), Registry::defaults(preset));
    scenario.setup = Settings::<TwoStage> { release, server, own_client: (), clients }.into();
    scenario.stop_when_settled = true;
    scenario
}

/// So many of one application crash.
fn crash_of(application: AppId, count: u32) -> FaultKind {
    let which = TargetChoice::Count(count);
    FaultKind::Crash(Targets::Instances(Selection { application: Some(application), zone: None, which }))
}

/// The times after the event at which it was seen at a stage, ms; nothing may be open.
fn seen(data: &ReplicateData, stage: Stage) -> Vec<u64> {
    let rows = data.detections.iter().filter(|row| row.stage == stage);
    let length = |outcome| match outcome {
        Outcome::Detected(length) => length.as_millis(),
        other => panic!("{other:?}"),
    };
    rows.map(|row| length(row.outcome)).collect()
}

#[test]
fn a_death_is_seen_at_each_stage_that_there_is() {
    for replicate in 0..20 {
        let data = run(&with(before(Preset::TwoStage, fleet(4)), crash_of(ORDERS, 1)), replicate);
        assert_eq!(data.ending, Ending::Settled);
        // 15 s less up to 5 s plus up to 3 s; the same and a poll of 5 s; 60 s less and plus the same.
        for (stage, within_ms) in [
            (Stage::Registry, 10_000..=18_000),
            (Stage::Served, 10_000..=18_000),
            (Stage::Client, 10_000..=23_010),
            (Stage::Entry, 55_000..=63_000),
        ] {
            let seen = seen(&data, stage);
            assert!(!seen.is_empty() && seen.iter().all(|ms| within_ms.contains(ms)), "{stage:?}: {seen:?}");
        }
        assert!(data.detections.iter().all(|row| row.stage != Stage::Balancer));
        let stages: Vec<Stage> = data.quality.iter().map(|row| row.stage).collect();
        assert_eq!(stages, [Stage::Registry, Stage::Served, Stage::Entry, Stage::Client]);
        assert_eq!((data.leases.soft_evicted, data.leases.evicted), (1, 1));
        let did: Vec<_> = data.sweeps.iter().map(|row| (row.sweep.marked, row.sweep.removed)).collect();
        assert_eq!(did, [(1, 0), (0, 1)]);
        assert_eq!(data.agreement.missing_in_views, 0);
    }
}

#[test]
fn a_jam_is_told_by_the_sweep_that_finds_it_and_at_the_end() {
    let data = run(&with(before(Preset::TwoStage, fleet(20)), crash_of(ORDERS, 4)), 0);
    assert_eq!(data.ending, Ending::Duration, "nobody forgets the four");
    assert_eq!((data.leases.soft_evicted, data.leases.evicted, data.left_at_end()), (4, 0, 20));
    assert!(data.self_preservation_at_end());
    let shut: Vec<_> = data.sweeps.iter().filter(|row| !row.sweep.guard_open).map(|row| row.sweep).collect();
    assert_eq!(shut.len(), 1);
    // 16 · 100 / 20 is less than 85.
    assert_eq!((shut[0].healthy, shut[0].entries, shut[0].marked), (16, 20, 0));
    let stored = data.detections.iter().filter(|row| row.stage == Stage::Entry);
    let censored = |row: &crate::observe::Detection| matches!(row.outcome, Outcome::Censored(_));
    assert!(stored.clone().all(censored));
    assert_eq!(stored.map(|row| row.count).sum::<u64>(), 4);
}

/// Instances of `orders` and of `stock`, and consumers of `shop` that are subscribed to `orders` alone.
fn shop(preset: Preset, discovery: Discovery) -> Scenario {
    let mut scenario = fleet(3);
    let orders = scenario.applications[0].clone();
    for name in ["stock", "shop"] {
        scenario.add_application(Application { name: name.to_owned(), ..orders.clone() }, ORDERS);
    }
    let mut scenario = before(preset, scenario);
    for (number, client) in scenario.setup.two_stage_mut().unwrap().clients.iter_mut().enumerate() {
        (client.registers, client.fetches) = (number != SHOP, number == SHOP);
        (client.discovery, client.services) = (discovery, vec![ORDERS]);
    }
    scenario
}

#[test]
fn who_is_subscribed_to_orders_alone_is_not_waited_for_when_stock_dies() {
    for (preset, discovery) in
        [(Preset::TwoStage, Discovery::LongPoll), (Preset::Nacos1, Discovery::PushPlusPoll)]
    {
        for (application, observers) in [(ORDERS, 3), (STOCK, 0)] {
            let data = run(&with(shop(preset, discovery), crash_of(application, 1)), 0);
            assert_eq!(data.ending, Ending::Settled);
            let at_client = data.detections.iter().filter(|row| row.stage == Stage::Client);
            assert_eq!(at_client.map(|row| row.count).sum::<u64>(), observers, "{application:?}");
            assert_eq!(data.agreement.missing_in_views, 0);
            // Three consumers look at three instances at most; one server looks at five at least.
            let good = |stage| data.quality.iter().filter(move |row| row.stage == stage);
            let nanos = |stage| good(stage).map(|row| row.good_nanos).sum::<u128>();
            assert!(5 * nanos(Stage::Client) <= 3 * 3 * nanos(Stage::Served));
        }
    }
}

#[test]
fn no_call_to_the_dead_is_the_fault_of_a_balancer_that_is_not_there() {
    let mut scenario = shop(Preset::TwoStage, Discovery::Poll);
    scenario.applications[SHOP].traffic = Some(Traffic {
        calls_per_second: 10.0,
        to: vec![ORDERS],
        retries_on_same_instance: 0,
        retries_on_next_instance: 0,
        read_timeout: s(1),
    });
    let data = run(&with(scenario, crash_of(ORDERS, 2)), 0);
    let mut dead = [0; 4];
    for row in &data.calls {
        dead.iter_mut().zip(row.dead_by_stage).for_each(|(sum, count)| *sum += count);
    }
    assert!(dead[Stage::Registry as usize] > 0 && dead[Stage::Client as usize] > 0, "{dead:?}");
    assert_eq!(dead[Stage::Balancer as usize], 0);
}
