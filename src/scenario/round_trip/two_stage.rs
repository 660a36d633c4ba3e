//! The two-stage registry's part of the format, and what both registries have.

use super::super::{canonical, parse};
use super::{comes_back, read};
use crate::engine::SimDuration;

#[test]
fn a_two_stage_registry_comes_back() {
    let everything = r#"
title = "t"
[start]
window = "5s"
[server]
starts-at-second = "3s"
[server.clock]
drift-ppm = 5
[two-stage]
soft-timeout-ms = 9000
sweep-phase = "service-creation"
sweep-mode = "fixed-rate"
sweep-passes = "mark-then-delete"
guard = "ratio"
guard-min-healthy-pct = 0
guard-scope = "soft-only"
guard-cap = true
register-existing = "heal"
epoch = true
resume-order = "requests-first"
registry-persistent = true
read-protect-threshold = 0.25
worker-threads = 200
push-loss = 0.125
discovery = "long-poll"
backoff-base-ms = 500
backoff-max-shift = 20
backoff-cap-ms = 1
watch-ack = "always"
sanity = "push-empty"
[[application]]
name = "orders"
instances = 3
[application.two-stage]
disk-mode = "none"
on-corrupt-file = "ignore"
disk-writable = false
[[application]]
name = "stock"
register = false
subscribes = ["stock", "orders"]
[application.two-stage]
discovery = "push-plus-poll"
heartbeat-schedule = "fixed-delay"
[[application]]
name = "batch"
fetch = false
[application.network]
loss = 0.25
[[fault]]
delete = { count = 1, dead = true }
[[expect]]
that = "crash entry max below 63s"
[[expect]]
that = "no guard shut meanwhile on server-1"
"#;
    for registry in ["two-stage", "nacos-1"] {
        comes_back(&format!("registry = \"{registry}\"\n{everything}"));
        comes_back(&format!("registry = \"{registry}\"\n[[application]]\nname = \"a\"\n"));
        let unlimited =
            "two-stage.worker-threads = \"unlimited\"\ntwo-stage.read-protect-threshold = \"none\"";
        comes_back(&format!("registry = \"{registry}\"\n{unlimited}\n[[application]]\nname = \"a\"\n"));
    }
}

#[test]
fn services_are_those_that_register_or_are_named() {
    let text = "registry = \"two-stage\"\n[[application]]\nname = \"a\"\n[[application]]\nname = \"b\"\n\
                register = false\nsubscribes = [\"b\", \"a\"]\n[[application]]\nname = \"c\"\nfetch = false\n";
    let scenario = read(text);
    let clients = &scenario.setup.two_stage().expect("it is the two-stage registry").clients;
    let services =
        clients.iter().map(|client| client.services.iter().map(|service| service.0).collect::<Vec<_>>());
    assert_eq!(services.collect::<Vec<_>>(), [vec![0, 2], vec![0, 1], vec![0, 2]]);
    let observers: Vec<bool> = scenario.applications.iter().map(|app| app.observers).collect();
    assert_eq!(observers, [true, true, false]);
    // One heartbeat interval.
    assert_eq!(scenario.start_window, SimDuration::from_secs(5));
    assert_eq!(scenario.setup.release(), "two-stage");
}

#[test]
fn a_neutral_file_runs_under_any_registry() {
    let text = "[[application]]\nname = \"a\"\ninstances = 20\nregister = true\n[server]\ncount = 1\n[traffic]\n\
                calls-per-second = 1.0\n[[fault]]\nat = \"1m\"\ncrash = { count = 1 }\n[[expect]]\n\
                that = \"client max below 10m\"\n";
    for registry in super::super::format_two_stage::REGISTRIES {
        let set = format!("registry={registry}");
        let loaded = parse("test.toml", text, &[set]).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(loaded.render_warnings(false), "", "{registry}");
        comes_back(&canonical(&loaded.scenario));
    }
}

proptest::proptest! {
    #[test]
    fn what_is_printed_is_read_back(
        nacos in proptest::bool::ANY,
        (ms, other_ms, percent) in (1..=2_147_483_647_u32, 0..=2_147_483_647_u32, 0..=100_u32),
        (share, flag) in (0.0..=1.0_f64, proptest::bool::ANY),
        words in proptest::sample::select(vec![
            "discovery = \"long-poll\"", "sanity = \"push-empty\"", "guard = \"none\"", "sweep-mode = \"fixed-rate\"",
            "worker-threads = 7", "worker-threads = \"unlimited\"", "read-protect-threshold = \"none\"",
            "guard-scope = \"soft-only\"", "disk-mode = \"none\"",
        ]),
        verbs in proptest::collection::vec(proptest::sample::select(super::VERBS.to_vec()), 0..4),
    ) {
        let registry = if nacos { "nacos-1" } else { "two-stage" };
        let faults: String = verbs
            .iter()
            .filter(|verb| super::known_to(verb).1 && !super::needs_several(verb))
            .map(|verb| format!("[[fault]]\n{verb}\n"))
            .collect();
        comes_back(&format!(
            "registry = \"{registry}\"\n[two-stage]\n{words}\nsoft-timeout-ms = {other_ms}\nsweep-interval-ms = {ms}\n\
             guard-min-healthy-pct = {percent}\npush-loss = {share:?}\nepoch = {flag}\npoll-interval-ms = {ms}\n\
             [[application]]\nname = \"a\"\ninstances = 3\nzones = [\"east\", \"west\"]\n\
             [application.two-stage]\ndisk-writable = {flag}\nheartbeat-interval-ms = {ms}\n\
             [[application]]\nname = \"b\"\ninstances = 2\nzones = [\"west\"]\nsubscribes = [\"a\"]\nregister = {flag}\n{faults}",
        ));
    }
}
