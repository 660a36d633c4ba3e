//! Keys, units and values that are not of the format.

use super::expect;

#[test]
fn a_misspelt_key() {
    expect(
        r#"replicats = 5
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: unknown key `replicats` at the top of a scenario
 --> my.toml:1:1
  |
1 | replicats = 5
  | ^^^^^^^^^ not known
  |
  = help: did you mean `replicates`?
"#,
    );
}

#[test]
fn a_key_in_the_wrong_section() {
    expect(
        r#"[eureka.client]
lease-renewal-interval-in-seconds = 5
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: unknown key `lease-renewal-interval-in-seconds` in `eureka.client`
 --> my.toml:2:1
  |
2 | lease-renewal-interval-in-seconds = 5
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not known
  |
  = help: it belongs in `[eureka.instance]`
"#,
    );
}

#[test]
fn a_key_in_camel_case() {
    expect(
        r#"[eureka.instance]
leaseRenewalIntervalInSeconds = 5
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: unknown key `leaseRenewalIntervalInSeconds` in `eureka.instance`
 --> my.toml:2:1
  |
2 | leaseRenewalIntervalInSeconds = 5
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ not known
  |
  = help: did you mean `lease-renewal-interval-in-seconds`?
"#,
    );
}

#[test]
fn a_wrong_unit() {
    expect(
        r#"duration = 30
[eureka.server]
eviction-interval-timer-in-ms = "60s"
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: `duration` must be a duration with a unit
 --> my.toml:1:12
  |
1 | duration = 30
  |            ^^ this is a whole number
  |
  = help: write the unit: `"30s"` for seconds, `"30ms"` for milliseconds

error: `eviction-interval-timer-in-ms` must be a whole number of milliseconds
 --> my.toml:3:33
  |
3 | eviction-interval-timer-in-ms = "60s"
  |                                 ^^^^^ this is a text
  |
  = help: Eureka counts milliseconds here: write eviction-interval-timer-in-ms = 60000
"#,
    );
}

#[test]
fn numbers_out_of_range() {
    expect(
        r#"replicates = 0
[eureka.server]
renewal-percent-threshold = 85
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: `replicates` is out of range
 --> my.toml:1:14
  |
1 | replicates = 0
  |              ^ must be from 1 to 1000000

error: `renewal-percent-threshold` is out of range
 --> my.toml:3:29
  |
3 | renewal-percent-threshold = 85
  |                             ^^ must be from 0 to 1
  |
  = help: for 85 percent write 0.85
"#,
    );
}

#[test]
fn no_toml_at_all() {
    expect(
        r#"title = 
[[application]]
name = "orders"
instances = 3
x = [1,
"#,
        &[],
        r#"error: this is not TOML: string values must be quoted, expected literal string
 --> my.toml:1:9
  |
1 | title =
  |         ^

error: this is not TOML: unclosed array, expected `]`
 --> my.toml:5:8
  |
5 | x = [1,
  |        ^
"#,
    );
}

#[test]
fn a_wrong_setting_on_the_command_line() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
"#,
        &["eureka.server.evict-interval=5", "replicates=many", "application.order.instances=5"],
        r#"error: unknown key `evict-interval` in `eureka.server`
 --> command line:1:21
  |
1 | --set eureka.server.evict-interval=5
  |                     ^^^^^^^^^^^^^^ not known
  |
  = help: did you mean `eviction-interval-timer-in-ms`?

error: `replicates` must be a whole number
 --> command line:2:18
  |
2 | --set replicates=many
  |                  ^^^^ this is a text

error: no application is called `order`
 --> command line:3:19
  |
3 | --set application.order.instances=5
  |                   ^^^^^ not in the scenario
  |
  = help: did you mean `orders`?
"#,
    );
}

#[test]
fn a_single_table_for_a_list() {
    expect(
        r#"[application]
name = "orders"
"#,
        &[],
        r#"error: `application` must be a list of tables
 --> my.toml:1:1
  |
1 | [application]
  | ^^^^^^^^^^^^^ this is a table
  |
  = help: write `[[application]]`, in double brackets, once for each application
"#,
    );
}

#[test]
fn a_title_of_two_lines_and_one_that_would_act_on_a_terminal() {
    expect(
        "title = \"Monday\\nTuesday\"\n[[application]]\nname = \"orders\"\ninstances = 3\n",
        &[],
        r#"error: `title` must be one line
 --> my.toml:1:9
  |
1 | title = "Monday\nTuesday"
  |         ^^^^^^^^^^^^^^^^^ has a line break
  |
  = help: a paragraph goes into `about`
"#,
    );
    expect(
        "title = \"\\u001b[31mred\"\n[[application]]\nname = \"orders\"\ninstances = 3\n",
        &[],
        r#"error: `title` must not have control characters
 --> my.toml:1:9
  |
1 | title = "\u001b[31mred"
  |         ^^^^^^^^^^^^^^^ has U+001B
  |
  = help: leave it out
"#,
    );
}

#[test]
fn settings_on_the_command_line_that_are_none() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
pauses = { count = 1, every = "1m", lasting = "2s" }
"#,
        &[
            "fault.1.pauses.evry=5s",
            "traffic.calls-per-sec=2",
            "application.orders.zone=[1]",
            "eviction-interval-timer=5",
            "calls-per-second=5",
            "fault.1.pauses.every=0s",
            "fault.1.pauses.every.exponential=5m",
            r#"network.latency={ exponetial = "1ms" }"#,
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

error: `every` is out of range
 --> command line:6:28
  |
6 | --set fault.1.pauses.every=0s
  |                            ^^ must be longer than 0s

error: `every` has no settings below it
 --> command line:7:22
  |
7 | --set fault.1.pauses.every.exponential=5m
  |                      ^^^^^ this is a text

error: `latency` must be a duration or a distribution
 --> command line:8:23
  |
8 | --set network.latency={ exponetial = "1ms" }
  |                       ^^^^^^^^^^^^^^^^^^^^^^ no distribution is called `exponetial`: did you mean `exponential`?
"#,
    );
}
