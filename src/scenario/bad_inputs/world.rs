//! Zones, clocks, links, calls and sizes that cannot be.

use super::expect;

#[test]
fn names_that_are_none() {
    expect(
        r#"[[application]]
name = "orders"
zones = ["a b", ""]
[[application]]
name = "stock"
zones = "a"
"#,
        &[],
        r#"error: `a b` is not a name for a zone
 --> my.toml:3:10
  |
3 | zones = ["a b", ""]
  |          ^^^^^ 1 to 64 of the letters a to z, digits, `.`, `_` and `-`

error: `` is not a name for a zone
 --> my.toml:3:17
  |
3 | zones = ["a b", ""]
  |                 ^^ 1 to 64 of the letters a to z, digits, `.`, `_` and `-`

error: `zones` must be a list of texts
 --> my.toml:6:9
  |
6 | zones = "a"
  |         ^^^ this is a text
  |
  = help: write `["a", "b"]`, with one or more
"#,
    );
}

#[test]
fn a_zone_in_a_fleet_without_zones() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
crash = { all = true, zone = "east" }
"#,
        &[],
        r#"error: no zone is called `east`
 --> my.toml:5:30
  |
5 | crash = { all = true, zone = "east" }
  |                              ^^^^^^ nobody is in it
  |
  = help: give applications zones, as in `zones = ["a", "b"]`
"#,
    );
}

#[test]
fn clocks_that_no_node_has() {
    expect(
        r#"[server.clock]
offset = "1us"
drift-ppm = 200000
[[application]]
name = "orders"
instances = 3
[[fault]]
clock = { server = true, step = 60 }
"#,
        &[],
        r#"error: `offset` must be a duration, negative or not
 --> my.toml:2:10
  |
2 | offset = "1us"
  |          ^^^^^ `1us` is not a whole number of milliseconds
  |
  = help: as in `"60s"` or `"-60s"`

error: `drift-ppm` is out of range
 --> my.toml:3:13
  |
3 | drift-ppm = 200000
  |             ^^^^^^ must be from -100000 to 100000 parts per million

error: `step` must be a duration with a unit
 --> my.toml:8:33
  |
8 | clock = { server = true, step = 60 }
  |                                 ^^ this is a whole number
  |
  = help: as in `"60s"` or `"-60s"`
"#,
    );
}

#[test]
fn faults_that_would_stop_a_clock() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[fault]]
clock = { server = true, drift-ppm = -100000 }
[[fault]]
clock = { server = true, drift-ppm = -100000 }
[[fault]]
clock = { server = true, drift-ppm = -100000 }
[[fault]]
clock = { server = true, drift-ppm = -100000 }
[[fault]]
clock = { server = true, drift-ppm = -100000 }
[[fault]]
clock = { server = true, drift-ppm = -100000 }
"#,
        &[],
        r#"error: faults may slow a clock by 600000 parts per million
 --> my.toml:4:3
  |
4 | [[fault]]
  |   ^^^^^ all together by 500000 at most
  |
  = help: the drifts of faults on the same clock add up
"#,
    );
}

#[test]
fn slips_in_links_and_clocks() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[network]
los = 0.1
[application.clock]
drift = 5
"#,
        &[],
        r#"error: unknown key `los` in `network`
 --> my.toml:5:1
  |
5 | los = 0.1
  | ^^^ not known
  |
  = help: did you mean `loss`?

error: unknown key `drift` in `clock`
 --> my.toml:7:1
  |
7 | drift = 5
  | ^^^^^ not known
  |
  = help: did you mean `drift-ppm`?
"#,
    );
}

#[test]
fn calls_that_cannot_be_made() {
    expect(
        r#"[traffic]
to = ["order"]
[[application]]
name = "orders"
instances = 3
[[application]]
name = "stock"
[application.traffic]
retries-on-next-instance = 1000
[[application]]
name = "mute"
[application.eureka.client]
fetch-registry = false
[application.traffic]
calls-per-second = 1
"#,
        &[],
        r#"error: `traffic` needs `calls-per-second`
 --> my.toml:1:1
  |
1 | [traffic]
  | ^^^^^^^^^ how many?
  |
  = help: as in `calls-per-second = 2.0`

error: no application is called `order`
 --> my.toml:2:7
  |
2 | to = ["order"]
  |       ^^^^^^^ not in the fleet
  |
  = help: did you mean `orders`?

error: `traffic` needs `calls-per-second`
 --> my.toml:8:1
  |
8 | [application.traffic]
  | ^^^^^^^^^^^^^^^^^^^^^ how many?
  |
  = help: as in `calls-per-second = 2.0`

error: `retries-on-next-instance` is out of range
 --> my.toml:9:28
  |
9 | retries-on-next-instance = 1000
  |                            ^^^^ must be from 0 to 100

error: `mute` cannot call others without fetching the registry
  --> my.toml:14:1
   |
14 | [application.traffic]
   | ^^^^^^^^^^^^^^^^^^^^^ callers pick instances from their registry
   |
   = help: leave its `traffic` out, or set `fetch-registry = true`
"#,
    );
}

#[test]
fn calls_by_nobody() {
    expect(
        r#"[traffic]
calls-per-second = 1
[eureka.client]
fetch-registry = false
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        r#"error: no application fetches the registry: nobody can call
 --> my.toml:1:1
  |
1 | [traffic]
  | ^^^^^^^^^ without effect
  |
  = help: set `fetch-registry = true` for those that call
"#,
    );
}

#[test]
fn more_instances_than_may_run_at_once() {
    expect(
        r#"[[application]]
name = "blue"
instances = 600000
[[application]]
name = "green"
instances = 0
[[fault]]
blue-green = { from = "blue", to = "green" }
"#,
        &[],
        r#"error: the fleet has 1200000 instances
 --> my.toml:1:3
  |
1 | [[application]]
  |   ^^^^^^^^^^^ at most 1000000 may run at once, those that faults start included
"#,
    );
}

/// One message for every expectation.
const NOT_UNDERSTOOD: &str = r#"error: this expectation is not understood: no mistake at clients
 --> my.toml:5:23
  |
5 | that = "no mistake at clients"
  |                       ^^^^^^^ expected `registry`, `served`, `client` or `balancer`
  |
  = help: did you mean `client`? the form is `no mistake at client`

error: this expectation is not understood: query accuracy at client above 99.5
 --> my.toml:7:44
  |
7 | that = "query accuracy at client above 99.5"
  |                                            ^ expected `%`
  |
  = help: the form is `query accuracy at client above 99.5 %`

error: this expectation is not understood: most heartbeats a minute above 5
 --> my.toml:9:14
  |
9 | that = "most heartbeats a minute above 5"
  |              ^^^^^^^^^^ expected `requests`, `registrations`, `renewals`, `fetches`, `full`, `delta` or `replications`
  |
  = help: the form is `most requests|registrations|renewals|fetches|full fetches|delta fetches|replications a minute above 140`

error: this expectation is not understood: failed calls below 101 %
  --> my.toml:11:28
   |
11 | that = "failed calls below 101 %"
   |                            ^^^ a percentage is from 0 to 100
   |
   = help: the form is `failed calls below 1.5 %`

error: this expectation is not understood: unhealty registry max below 1m
  --> my.toml:13:9
   |
13 | that = "unhealty registry max below 1m"
   |         ^^^^^^^^ no expectation begins so
   |
   = help: did you mean `unhealthy`? an expectation is one of
             balancer p99 below 5m30s
             no false removal
             no eviction
             no mistake at client
             query accuracy at client above 99.5 %
             failed calls below 1.5 %
             most fetches a minute above 400
             at least 57 of 100 left at the end
             rounds evict 15, 13, 11
             no self-preservation at the end
             servers agree 5s after the last fault
             at most 10 instances differ
             utilisation below 90 %
"#;

#[test]
fn expectations_of_mistakes_calls_and_load() {
    expect(
        r#"[[application]]
name = "orders"
instances = 3
[[expect]]
that = "no mistake at clients"
[[expect]]
that = "query accuracy at client above 99.5"
[[expect]]
that = "most heartbeats a minute above 5"
[[expect]]
that = "failed calls below 101 %"
[[expect]]
that = "unhealty registry max below 1m"
"#,
        &[],
        NOT_UNDERSTOOD,
    );
}
