//! Random scripts under random settings.
//!
//! Everybody who acts by timers keeps to a last digit of his own, ms: so no two of them meet in one millisecond, where
//! the order would be that of scheduling, which no rule is about. Requests of the script fall on whole seconds often,
//! where sweeps are due and time-outs are met exactly.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use stillup::model::two_stage::WatchAck;

use super::knobs::Knobs;
use super::vector::{Crowd, Disk, Op, Vector, Watch};

/// The last millisecond of every script.
const HORIZON: u64 = 130_000;

/// Other settings than the presets' own. A repeated name counts as its last.
const SETTINGS: &[(&str, &str)] = &[
    ("soft_timeout_ms", "7000"),
    ("soft_timeout_ms", "10000"),
    ("hard_timeout_ms", "10000"),
    ("hard_timeout_ms", "20000"),
    ("hard_timeout_ms", "45000"),
    ("sweep_interval_ms", "1000"),
    ("sweep_interval_ms", "2500"),
    ("sweep_interval_ms", "5000"),
    ("sweep_initial_delay_ms", "1000"),
    ("sweep_initial_delay_ms", "500"),
    ("sweep_phase", "\"global\""),
    ("sweep_phase", "\"service_creation\""),
    ("sweep_mode", "\"fixed_rate\""),
    ("sweep_passes", "\"else_if\""),
    ("sweep_passes", "\"mark_then_delete\""),
    ("guard", "\"none\""),
    ("guard", "\"ratio\""),
    ("guard_min_instances", "3"),
    ("guard_min_instances", "5"),
    ("guard_min_healthy_pct", "50"),
    ("guard_min_healthy_pct", "100"),
    ("guard_scope", "\"soft_only\""),
    ("guard_cap", "true"),
    ("read_protect_threshold", "null"),
    ("read_protect_threshold", "0.0"),
    ("read_protect_threshold", "0.5"),
    ("notify_on_reregister", "true"),
    ("notify_on_reregister", "false"),
    ("register_stamps_heartbeat", "false"),
    ("register_existing", "\"heal\""),
    ("epoch", "true"),
    ("resume_order", "\"requests_first\""),
    ("registry_persistent", "true"),
    ("watch_park_ms", "300"),
    ("watch_timeout_payload", "\"full\""),
    ("push_delay_ms", "500"),
    ("subscriber_ttl_ms", "3000"),
    ("worker_threads", "1"),
    ("worker_threads", "2"),
    ("heartbeat_interval_ms", "4000"),
    ("first_heartbeat_delay_ms", "1000"),
    ("heartbeat_schedule", "\"fixed_rate\""),
    ("heartbeat_schedule", "\"fixed_delay\""),
    ("poll_interval_ms", "3000"),
    ("warn_after_failures", "1"),
    ("sanity", "\"half\""),
    ("sanity", "\"none\""),
    ("start_applies_unchecked", "false"),
    ("disk_mode", "\"atomic\""),
    ("disk_mode", "\"in_place\""),
    ("disk_mode", "\"none\""),
    ("disk_write_on", "\"every_success\""),
    ("disk_write_on", "\"change\""),
    ("disk_load_at_start", "true"),
    ("disk_load_at_start", "false"),
    ("disk_write_ms", "1500"),
    ("on_corrupt_file", "\"ignore\""),
    ("on_corrupt_file", "\"fail_start\""),
    ("deregister_linger_ms", "0"),
    ("deregister_linger_ms", "8000"),
    ("stop_heartbeat_before_deregister", "false"),
];

/// A part of a script.
#[derive(Clone, Debug)]
enum Part {
    /// Something that stands for itself.
    Op(Op),
    /// Processes that register, and whether some of them stop.
    Providers { t: u64, step: u64, svc: &'static str, count: u32, stop: Option<(u64, bool)> },
    /// A consumer, and whether it is killed and started again.
    Consumer { t: u64, disk: Disk, restart: Option<(u64, u64)> },
    /// A loop of long polls.
    Watch(Watch),
    /// The registry is gone for a while.
    Outage { t: u64, back: u64 },
    /// It stands still for a while.
    Pause { t: u64, length: u64 },
}

/// Vectors of random scripts under random settings of a preset, without expectations.
pub(crate) fn vectors(preset: &'static str) -> impl Strategy<Value = Vector> {
    let settings = prop::collection::vec(select(SETTINGS), 0..7);
    let parts = prop::collection::vec(part(), 1..9);
    (settings, register(), parts, any::<Index>()).prop_map(move |(settings, first, parts, pauses)| {
        let mut knobs = Knobs::preset(preset).expect("a preset");
        for (name, value) in &settings {
            let value = serde_json::from_str(value).unwrap_or(json!(null));
            knobs.set(name, &value).expect("a setting");
        }
        let mut must = |name: &str, value: Value| knobs.set(name, &value).expect("a setting");
        // The oracle's consumers poll.
        must("discovery", json!("poll"));
        must("empty_is_failure", json!(false));
        if settings.contains(&("watch_timeout_payload", "\"full\"")) {
            // When a long poll that waits for a worker begins cannot be seen, nor then which list is the last.
            must("worker_threads", json!(null));
        }
        let (pauses, workers) = (pauses.index(2) == 0, knobs.server.worker_threads);
        let queues = workers.is_some();
        let script = script(first, parts, pauses, workers);
        if pauses || queues {
            // The end of a call that has waited would set the beats' last digit.
            knobs.set("heartbeat_schedule", &json!("fixed_rate")).expect("a setting");
        }
        Vector::of("random", knobs, HORIZON, script)
    })
}

/// The operations: at most one outage or pause, names that are unique. Where requests queue there are no consumers,
/// and no long poll that waits for the end of another: that would set their last digit.
fn script(first: Op, parts: Vec<Part>, pauses: bool, workers: Option<u32>) -> Vec<Op> {
    let mut script = vec![first];
    let queues = workers.is_some();
    let watchers_max = workers.map_or(3, u64::from);
    let (mut broken, mut consumers, mut watchers, mut subscribers) = (false, 0, 0, 0);
    for (nth, part) in parts.into_iter().enumerate() {
        match part {
            Part::Op(Op::Subscribe { t, svc, .. }) if subscribers == 0 => {
                subscribers += 1;
                script.push(Op::Subscribe { name: "p".to_owned(), t, svc });
            }
            Part::Op(Op::Subscribe { .. }) => {}
            Part::Op(op) => script.push(op),
            Part::Providers { t, step, svc, count, stop } => {
                let ids: Vec<String> = (0..count).map(|k| format!("p{nth}x{k}")).collect();
                let who = Crowd { t, step, svc: svc.to_owned(), ids };
                script.push(Op::Provider { who: who.clone(), stop_beats_first: stop.map(|it| it.1) });
                if let Some((after, _)) = stop.filter(|_| !pauses) {
                    let who = Crowd { t: t + after, svc: String::new(), ..who };
                    script.push(Op::Shutdown { who, stop_beats_first: None });
                }
            }
            Part::Consumer { t, disk, restart } if consumers < 2 && !queues => {
                let name = format!("c{consumers}");
                // Last digits 5 and 9.
                let t = t + 5 + 4 * consumers;
                consumers += 1;
                script.push(Op::Consumer { name: name.clone(), t, disk });
                if let Some((after, pause)) = restart {
                    script.push(Op::ConsumerStop { name: name.clone(), t: t / 10 * 10 + after + 2 });
                    script.push(Op::ConsumerStart { name, t: t + after + pause });
                }
            }
            Part::Consumer { .. } => {}
            Part::Watch(watch) if watchers < watchers_max => {
                // Last digits 6, 7 and 8.
                let t = watch.t + 6 + watchers;
                watchers += 1;
                script.push(Op::Watch(Watch { t, ..watch }));
            }
            Part::Watch(_) => {}
            Part::Outage { t, back } if !broken && !pauses => {
                broken = true;
                script.push(Op::RegistryDown { t });
                script.push(Op::RegistryRestart { t: t + back });
            }
            Part::Pause { t, length } if !broken && pauses => {
                broken = true;
                script.push(Op::RegistryPause { t, until: t + length });
            }
            Part::Outage { .. } | Part::Pause { .. } => {}
        }
    }
    script
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => register().prop_map(Part::Op),
        6 => beats().prop_map(Part::Op),
        2 => (crowd(), moment()).prop_map(|(who, t)| Part::Op(Op::Deregister(Crowd { t, ..who }))),
        2 => moment().prop_map(|t| Part::Op(Op::Fetch { t })),
        1 => (0..9_000_u64, select(&[-20_000_i64, 9_000, 14_990, 16_000, 70_000][..]))
            .prop_map(|(t, by)| Part::Op(Op::ClockStep { t: 10 * t, by })),
        1 => (0..3_000_u64, svc())
            .prop_map(|(t, svc)| Part::Op(Op::Subscribe { name: String::new(), t: 10 * t + 4, svc: svc.to_owned() })),
        3 => providers(),
        3 => consumer(),
        3 => watch().prop_map(Part::Watch),
        1 => (0..9_000_u64, 0..4_000_u64)
            .prop_map(|(t, back)| Part::Outage { t: 10 * t + 5, back: 10 * back }),
        1 => (0..7_000_u64, 1..9_000_u64)
            .prop_map(|(t, length)| Part::Pause { t: 10 * t + 5, length: 10 * length.min(7_000) }),
    ]
}

fn svc() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("s"), 1 => Just("u")]
}

/// A moment of a request: on a whole second, or with one of the last digits 0, 2, 3, or now and then that of a watcher.
fn moment() -> impl Strategy<Value = u64> {
    let digit = select(&[0_u64, 0, 2, 3, 6][..]);
    prop_oneof![(0..100_u64).prop_map(|s| 1_000 * s), (0..10_000_u64, digit).prop_map(|(t, d)| 10 * t + d)]
}

/// Some of the instances `i01` to `i14` of a service, at no time yet.
fn crowd() -> impl Strategy<Value = Crowd> {
    let step = select(&[0_u64, 0, 10, 100, 300, 1_000][..]);
    (svc(), step, 1..=14_u32, 0..14_u32).prop_map(|(svc, step, from, more)| {
        let ids = (from..=(from + more).min(14)).map(|n| format!("i{n:02}")).collect();
        Crowd { t: 0, step, svc: svc.to_owned(), ids }
    })
}

fn register() -> impl Strategy<Value = Op> {
    let early = (0..200_u64).prop_map(|t| 10 * t);
    (crowd(), prop_oneof![2 => early, 1 => moment()]).prop_map(|(who, t)| Op::Register(Crowd { t, ..who }))
}

fn beats() -> impl Strategy<Value = Op> {
    let every = select(&[5_000_u64, 5_000, 4_000, 10_000, 15_000][..]);
    let from = prop_oneof![(0..1_000_u64).prop_map(|t| 10 * t), moment()];
    (crowd(), from, every, 0..HORIZON).prop_map(|(who, t, every, until)| Op::Beats {
        who: Crowd { t, ..who },
        every,
        until: until.max(t),
    })
}

fn providers() -> impl Strategy<Value = Part> {
    let stop = prop::option::of((100..6_000_u64, any::<bool>()));
    let step = select(&[0_u64, 10, 370, 1_000][..]);
    (0..6_000_u64, step, svc(), 1..7_u32, stop).prop_map(|(t, step, svc, count, stop)| Part::Providers {
        t: 10 * t + 1,
        step,
        svc,
        count,
        stop: stop.map(|(after, beats)| (10 * after, beats)),
    })
}

fn consumer() -> impl Strategy<Value = Part> {
    let list = (1..6_u32).prop_map(|n| (1..=n).map(|k| format!("i{k:02}")).collect());
    let disk = prop_oneof![
        4 => Just(Disk::None),
        2 => list.prop_map(|ids| Disk::Map([("s".to_owned(), ids)].into())),
        1 => Just(Disk::Torn),
    ];
    let restart = prop::option::of((1..6_000_u64, 1..1_000_u64));
    (0..4_000_u64, disk, restart).prop_map(|(t, disk, restart)| Part::Consumer {
        t: 10 * t,
        disk,
        restart: restart.map(|(after, pause)| (10 * after, 10 * pause)),
    })
}

fn watch() -> impl Strategy<Value = Watch> {
    let gap = select(&[500_u64, 1_010, 3_000][..]);
    let timeout = select(&[30_000_u64, 5_000, 1_000, 990][..]);
    let ack = prop_oneof![Just(WatchAck::OnApply), Just(WatchAck::Always)];
    (0..6_000_u64, svc(), 0..4_u32, 0..8_u32, ack, gap, timeout).prop_map(
        |(t, svc, rev, length, ack, gap, timeout)| {
            let cur = (1..=length).map(|k| format!("i{k:02}")).collect();
            Watch { t: 10 * t, svc: svc.to_owned(), rev, cur, ack, gap, timeout }
        },
    )
}
