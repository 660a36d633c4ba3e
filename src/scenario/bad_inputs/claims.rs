//! Claims about a registry that has not what they speak of, and what a two-stage registry alone has in one of Eureka.

use super::expect;

/// One message for every setting.
const CLAIMS_THAT_A_TWO_STAGE_REGISTRY_LACKS: &str = r#"error: this expectation says nothing here: `balancer` is a stage of Eureka
 --> my.toml:6:8
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
6 | that = "crash balancer p99 below 1m"
  |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `two-stage`
  |
  = help: here callers pick from their consumer's list: that is the stage `client`

error: this expectation says nothing here: self-preservation is Eureka's
 --> my.toml:8:8
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
8 | that = "no self-preservation at the end"
  |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `two-stage`
  |
  = help: here it is the guard, as in `no guard shut at the end`

error: this expectation says nothing here: rounds that evict are Eureka's
  --> my.toml:10:8
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
10 | that = "rounds evict 4"
   |        ^^^^^^^^^^^^^^^^ the registry is `two-stage`
   |
   = help: here it is `exactly 4 soft evictions` or, for removals, `exactly 4 evictions`

error: this expectation says nothing here: there is only one server
  --> my.toml:12:8
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
12 | that = "servers agree at the end"
   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `two-stage`
   |
   = help: leave the expectation out

error: this expectation says nothing here: its threads are not measured
  --> my.toml:14:8
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
14 | that = "utilisation below 90 %"
   |        ^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `two-stage`
   |
   = help: what few `worker-threads` do shows in detections and mistakes, as in `no mistake at client`

error: this expectation is not understood: most delta fetches a minute above 4
  --> my.toml:16:14
   |
16 | that = "most delta fetches a minute above 4"
   |              ^^^^^ expected `requests`, `registrations`, `renewals`, `fetches`, `full`, `service` or `watches`
   |
   = help: the form is `most requests|registrations|renewals|fetches|full fetches|service fetches|watches a minute above 140`

error: this expectation is not understood: no guard at the end
  --> my.toml:18:18
   |
18 | that = "no guard at the end"
   |                  ^^ expected `shut`
   |
   = help: the form is `no guard shut at the end` or `no guard shut meanwhile`
"#;

#[test]
fn claims_that_a_two_stage_registry_lacks() {
    expect(
        r#"registry = "two-stage"
[[application]]
name = "orders"
instances = 3
[[expect]]
that = "crash balancer p99 below 1m"
[[expect]]
that = "no self-preservation at the end"
[[expect]]
that = "rounds evict 4"
[[expect]]
that = "servers agree at the end"
[[expect]]
that = "utilisation below 90 %"
[[expect]]
that = "most delta fetches a minute above 4"
[[expect]]
that = "no guard at the end"
"#,
        &[],
        CLAIMS_THAT_A_TWO_STAGE_REGISTRY_LACKS,
    );
}

/// One message for every setting.
const A_TWO_STAGE_REGISTRYS_SETTINGS_UNDER_EUREKA: &str = r#"error: `heartbeat-interval-ms` is a setting of the two-stage registry
 --> my.toml:2:1
  |
2 | heartbeat-interval-ms = 5000
  | ^^^^^^^^^^^^^^^^^^^^^ the registry is `eureka`
  |
  = help: in Eureka it is `lease-renewal-interval-in-seconds` in `[eureka.instance]`

error: `watch-park-ms` is a setting of the two-stage registry
 --> my.toml:3:1
  |
3 | watch-park-ms = 100
  | ^^^^^^^^^^^^^ the registry is `eureka`
  |
  = help: leave it out, or set `registry = "two-stage"` or `"nacos-1"`

error: `subscribes` belongs to the two-stage registry
 --> my.toml:7:1
  |
7 | subscribes = ["orders"]
  | ^^^^^^^^^^ the registry is `eureka`
  |
  = help: leave it out: a client of Eureka's fetches all applications

error: `poll-interval-ms` is a setting of the two-stage registry
 --> my.toml:9:1
  |
9 | poll-interval-ms = 1000
  | ^^^^^^^^^^^^^^^^ the registry is `eureka`
  |
  = help: in Eureka it is `registry-fetch-interval-seconds` in `[eureka.client]`

error: `fetch` and `fetch-registry` say the same in two ways
  --> my.toml:14:9
   |
14 | fetch = false
   |         ^^^^^ one too many
15 | [application.eureka.client]
16 | fetch-registry = false
   |                  ----- the other one
   |
   = help: leave one of the two out

error: `full-disk` of `fault` belongs to the two-stage registry
  --> my.toml:18:1
   |
18 | full-disk = { count = 1 }
   | ^^^^^^^^^ the registry is `eureka`
   |
   = help: leave it out: a client of Eureka's keeps nothing on disk

error: this expectation says nothing here: `entry` is a stage of the two-stage registry
  --> my.toml:20:8
   |
20 | that = "crash entry max below 63s"
   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `eureka`
   |
   = help: Eureka forgets an instance when it hides it: that is the stage `registry`

error: this expectation says nothing here: the guard is the two-stage registry's
  --> my.toml:22:8
   |
22 | that = "no guard shut meanwhile"
   |        ^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `eureka`
   |
   = help: in Eureka it is self-preservation, as in `no self-preservation at the end`

error: this expectation says nothing here: soft evictions are the two-stage registry's
  --> my.toml:24:8
   |
24 | that = "exactly 4 soft evictions"
   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `eureka`
   |
   = help: Eureka removes at once, as in `exactly 4 evictions`

error: this expectation says nothing here: clients of Eureka's take every answer, and keep nothing on disk
  --> my.toml:26:8
   |
26 | that = "no refused answer"
   |        ^^^^^^^^^^^^^^^^^^^ the registry is `eureka`
   |
   = help: leave the expectation out
"#;

#[test]
fn a_two_stage_registrys_settings_under_eureka() {
    expect(
        r#"[two-stage]
heartbeat-interval-ms = 5000
watch-park-ms = 100
[[application]]
name = "orders"
instances = 3
subscribes = ["orders"]
[application.two-stage]
poll-interval-ms = 1000
[application.eureka.client]
fetch-registry = true
[[application]]
name = "stock"
fetch = false
[application.eureka.client]
fetch-registry = false
[[fault]]
full-disk = { count = 1 }
[[expect]]
that = "crash entry max below 63s"
[[expect]]
that = "no guard shut meanwhile"
[[expect]]
that = "exactly 4 soft evictions"
[[expect]]
that = "no refused answer"
"#,
        &[],
        A_TWO_STAGE_REGISTRYS_SETTINGS_UNDER_EUREKA,
    );
}
