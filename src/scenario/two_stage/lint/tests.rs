//! What the warnings say, and when.

use crate::scenario::parse;

/// The titles and labels of the warnings about a scenario of a registry, one a line.
pub(crate) fn warnings(registry: &str, text: &str) -> String {
    let text = format!("registry = \"{registry}\"\n{text}\n[[application]]\nname = \"a\"\ninstances = 20\n");
    let loaded = parse("test.toml", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    let lines = loaded.warnings.iter().map(|warning| format!("{}: {}\n", warning.title, warning.label));
    lines.collect()
}

/// Those about a fault.
pub(crate) fn about(fault: &str) -> String {
    warnings("two-stage", &format!("[[fault]]\n{fault}"))
}

fn with(parameters: &str) -> String {
    warnings("two-stage", &format!("[two-stage]\n{parameters}"))
}

#[test]
fn the_defaults_are_no_surprise() {
    assert_eq!((with(""), warnings("nacos-1", "")), (String::new(), String::new()));
}

#[test]
fn time_outs_in_the_wrong_order() {
    let text = with("hard-timeout-ms = 15000");
    assert!(text.contains("that one sweep hides the next removes, 3s later"), "{text}");
    let nacos = |hard: u32| warnings("nacos-1", &format!("[two-stage]\nhard-timeout-ms = {hard}"));
    assert!(nacos(15_000).contains("one sweep hides and removes"), "{}", nacos(15_000));
    assert!(nacos(14_999).contains("removes an entry before any hides it"), "{}", nacos(14_999));
    assert_eq!(nacos(15_001), "");
}

#[test]
fn heartbeats_that_are_too_rare() {
    assert!(with("soft-timeout-ms = 5000").contains("hidden between two heartbeats"));
    assert!(with("heartbeat-interval-ms = 60000").contains("hidden, and removed, between two heartbeats"));
    assert!(with("first-heartbeat-delay-ms = 15000").contains("new instances are hidden until"));
    assert_eq!(with("soft-timeout-ms = 5001"), "");
    assert!(with("register-stamps-heartbeat = false").contains("the first sweep hides a newcomer"));
}

#[test]
fn guards_that_never_shut_or_always() {
    assert!(with("guard-min-healthy-pct = 0").contains("it never shuts"));
    assert!(with("guard-min-healthy-pct = 1").contains("it hardly ever shuts"));
    // ⌊20 · 0.04⌋ = 0, ⌊20 · 0.05⌋ = 1.
    assert!(
        with("guard-min-healthy-pct = 96").contains("one unhealthy instance of 20 shuts the guard of `a`")
    );
    assert_eq!(with("guard-min-healthy-pct = 95"), "");
    let cut = "[[fault]]\npartition = { all = true }";
    let small = warnings("two-stage", &format!("two-stage.guard-min-instances = 21\n{cut}"));
    assert!(small.contains("`a` has 20 instances, and the guard looks at services of 21"), "{small}");
    assert_eq!(warnings("two-stage", cut), "");
}

#[test]
fn protected_reads() {
    assert!(with("read-protect-threshold = 1.0").contains("every entry is served as healthy"));
    let lone = "registry = \"nacos-1\"\n[[application]]\nname = \"a\"\n[[fault]]\ncrash = { count = 1 }";
    let loaded = parse("test.toml", lone, &[]).expect("it is valid");
    let text = loaded.render_warnings(false);
    assert!(text.contains("served as healthy until it is removed, after 30s"), "{text}");
}

#[test]
fn threads_that_long_polls_use_up() {
    let watch = "discovery = \"long-poll\"\nworker-threads";
    // 20 consumers of one service.
    assert!(with(&format!("{watch} = 20")).contains("20 long polls are held, and there are 20 threads"));
    assert_eq!(with(&format!("{watch} = 21")), "");
}

#[test]
fn consumers_that_never_hear() {
    assert!(with("discovery = \"long-poll\"\nwatch-park-ms = 30000").contains("looks only when it comes"));
    let push = |text: &str| warnings("nacos-1", &format!("[two-stage]\n{text}"));
    assert!(push("push-loss = 1").contains("every push is lost"));
    assert!(push("subscriber-ttl-ms = 8000").contains("in 2s of every 10s it gets no pushes"));
    assert!(warnings("two-stage", "network.latency = \"1501ms\"").contains("may take 3s 2ms"));
}

#[test]
fn heartbeats_that_get_lost() {
    // Three lost in a row, 20 s of silence, are always caught: 20 · (1 + 360 · 0.95) · 0.05³ = 0.86.
    let text = warnings("two-stage", "network.loss = 0.05");
    assert!(text.contains("3 lost heartbeats in a row make a silence of more than 15s"), "{text}");
    assert!(text.contains("about one live instance"), "{text}");
    // With the delay of 3 s that each lost one adds two make 21 s: 20 · (1 + 360 · 0.95) · 0.05² = 17.
    let text = warnings("nacos-1", "network.loss = 0.05");
    assert!(text.contains("2 lost heartbeats in a row") && text.contains("about 17 live"), "{text}");
    // 20 · (1 + 360 · 0.98) · 0.02³ = 0.06.
    assert_eq!(warnings("two-stage", "network.loss = 0.02"), "");
}

#[test]
fn snapshots_that_do_harm() {
    let text = with("disk-mode = \"in-place\"");
    assert!(text.contains("killed in the 20ms") && text.contains("no process starts again"), "{text}");
    assert_eq!(with("disk-mode = \"in-place\"\non-corrupt-file = \"ignore\""), "");
    let text = with("disk-writable = false");
    assert!(text.contains("the next ones come after 2s, 4s, … 30s"), "{text}");
}

#[test]
fn parameters_without_effect() {
    assert!(with("guard = \"none\"\nguard-min-healthy-pct = 50").contains("there is no guard"));
    assert!(with("watch-timeout-ms = 5").contains("it is for `discovery = \"long-poll\"`"));
    assert!(with("push-delay-ms = 5").contains("nobody has `discovery = \"push-plus-poll\"`"));
    let none = "[two-stage]\ndisk-mode = \"none\"\ndisk-load-at-start = true";
    assert!(warnings("nacos-1", none).contains("`disk-mode` is `none`"));
    assert_eq!(with("disk-mode = \"none\""), "");
}
