//! `--set`: keys that are none, which get the whole path of the nearest, and values that are none.

use super::expect;

const FILE: &str = r#"[[application]]
name = "orders"
instances = 3
[[fault]]
pauses = { count = 1, every = "1m", lasting = "2s" }
"#;

#[test]
fn settings_on_the_command_line_that_are_none() {
    expect(
        FILE,
        &[
            "fault.1.pauses.evry=5s",
            "traffic.calls-per-sec=2",
            "application.orders.zone=[1]",
            "eviction-interval-timer=5",
            "calls-per-second=5",
        ],
        r#"error: unknown key `evry` in `pauses`
 --> command line:1:22
  |
1 | --set fault.1.pauses.evry=5s
  |                      ^^^^ not known
  |
  = help: did you mean `every`?

error: unknown key `calls-per-sec` in `traffic`
 --> command line:2:15
  |
2 | --set traffic.calls-per-sec=2
  |               ^^^^^^^^^^^^^ not known
  |
  = help: did you mean `calls-per-second`?

error: unknown key `zone` in `application`
 --> command line:3:26
  |
3 | --set application.orders.zone=[1]
  |                          ^^^^ not known
  |
  = help: did you mean `zones`?

error: unknown key `eviction-interval-timer` at the top of a scenario
 --> command line:4:7
  |
4 | --set eviction-interval-timer=5
  |       ^^^^^^^^^^^^^^^^^^^^^^^ not known
  |
  = help: did you mean `eureka.server.eviction-interval-timer-in-ms`?

error: unknown key `calls-per-second` at the top of a scenario
 --> command line:5:7
  |
5 | --set calls-per-second=5
  |       ^^^^^^^^^^^^^^^^ not known
  |
  = help: did you mean `balancer.calls-per-second` or `traffic.calls-per-second`?
"#,
    );
}

#[test]
fn values_on_the_command_line_that_are_none() {
    expect(
        FILE,
        &[
            "fault.1.pauses.every=0s",
            "fault.1.pauses.lasting.exponential=5m",
            r#"network.latency={ exponetial = "1ms" }"#,
        ],
        r#"error: `every` is out of range
 --> command line:1:28
  |
1 | --set fault.1.pauses.every=0s
  |                            ^^ must be longer than 0s

error: `lasting` has no settings below it
 --> command line:2:22
  |
2 | --set fault.1.pauses.lasting.exponential=5m
  |                      ^^^^^^^ this is a text

error: `latency` must be a duration or a distribution
 --> command line:3:23
  |
3 | --set network.latency={ exponetial = "1ms" }
  |                       ^^^^^^^^^^^^^^^^^^^^^^ no distribution is called `exponetial`: did you mean `exponential`?
"#,
    );
}
