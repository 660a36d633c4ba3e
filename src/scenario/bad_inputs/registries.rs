//! Settings, faults and claims of one registry in a scenario of another.

use super::expect;

/// One message for every setting.
const EUREKAS_SETTINGS_UNDER_NACOS: &str = r#"error: `flavour` belongs to Eureka
 --> my.toml:2:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
2 | flavour = "spring"
  | ^^^^^^^ the registry is `nacos-1`
  |
  = help: leave it out: the defaults are those of the preset that `registry` names

error: `enable-self-preservation` is a setting of Eureka
 --> my.toml:4:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
...
4 | enable-self-preservation = false
  | ^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
  |
  = help: here it is `guard` in `[two-stage]`, `"ratio"` or `"none"`

error: `response-cache-update-interval-ms` is a setting of Eureka
 --> my.toml:5:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
...
5 | response-cache-update-interval-ms = 3000
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
  |
  = help: there is no cache between the registry and its clients

error: `renewal-percent-threshold` is a setting of Eureka
 --> my.toml:6:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
...
6 | renewal-percent-threshold = 0.5
  | ^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
  |
  = help: here it is `guard-min-healthy-pct` in `[two-stage]`, in percent

error: `registry-fetch-interval-seconds` is a setting of Eureka
 --> my.toml:8:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
...
8 | registry-fetch-interval-seconds = 5
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
  |
  = help: here it is `poll-interval-ms` in `[two-stage]`

error: `fetch-registry` is a setting of Eureka
 --> my.toml:9:1
  |
1 | registry = "nacos-1"
  |            --------- as it says here
...
9 | fetch-registry = true
  | ^^^^^^^^^^^^^^ the registry is `nacos-1`
  |
  = help: here it is `fetch` of an application

error: `heartbeat-executor-thread-pool-size` is a setting of Eureka
  --> my.toml:10:1
   |
 1 | registry = "nacos-1"
   |            --------- as it says here
...
10 | heartbeat-executor-thread-pool-size = 5
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
   |
   = help: leave it out: a two-stage registry has nothing of the kind

error: `lease-expiration-duration-in-seconds` is a setting of Eureka
  --> my.toml:12:1
   |
 1 | registry = "nacos-1"
   |            --------- as it says here
...
12 | lease-expiration-duration-in-seconds = 15
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `nacos-1`
   |
   = help: here it is two in `[two-stage]`: `soft-timeout-ms` hides an instance, `hard-timeout-ms` removes it

error: `balancer` belongs to Eureka
  --> my.toml:13:2
   |
 1 | registry = "nacos-1"
   |            --------- as it says here
...
13 | [balancer]
   |  ^^^^^^^^ the registry is `nacos-1`
   |
   = help: leave it out: callers pick from their consumer's list, the stage `client`

error: `transport` belongs to Eureka
  --> my.toml:15:2
   |
 1 | registry = "nacos-1"
   |            --------- as it says here
...
15 | [transport]
   |  ^^^^^^^^^ the registry is `nacos-1`
   |
   = help: leave it out: how long calls wait is `request-timeout-ms` in `[two-stage]`
"#;

#[test]
fn eurekas_settings_under_nacos() {
    expect(
        r#"registry = "nacos-1"
flavour = "spring"
[eureka.server]
enable-self-preservation = false
response-cache-update-interval-ms = 3000
renewal-percent-threshold = 0.5
[eureka.client]
registry-fetch-interval-seconds = 5
fetch-registry = true
heartbeat-executor-thread-pool-size = 5
[eureka.instance]
lease-expiration-duration-in-seconds = 15
[balancer]
kind = "none"
[transport]
kind = "jersey"
[[application]]
name = "orders"
instances = 3
"#,
        &[],
        EUREKAS_SETTINGS_UNDER_NACOS,
    );
}

/// One message for every setting.
const SERVERS_AND_FAULTS_THAT_A_TWO_STAGE_REGISTRY_LACKS: &str = r#"error: a two-stage registry is a single server
 --> my.toml:3:9
  |
1 | registry = "two-stage"
  |            ----------- as it says here
2 | [server]
3 | count = 3
  |         ^ the registry is `two-stage`
  |
  = help: leave `count` out

error: `topology` of `server` belongs to Eureka
 --> my.toml:4:1
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
4 | topology = "ring"
  | ^^^^^^^^ the registry is `two-stage`
  |
  = help: the registry is one server, `server-1`: leave it out

error: `zones` of `server` belongs to Eureka
 --> my.toml:5:1
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
5 | zones = ["a"]
  | ^^^^^ the registry is `two-stage`
  |
  = help: the registry is one server, `server-1`: leave it out

error: `register-with-eureka` of `server` belongs to Eureka
 --> my.toml:6:1
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
6 | register-with-eureka = true
  | ^^^^^^^^^^^^^^^^^^^^ the registry is `two-stage`
  |
  = help: the server has no client of its own: leave it out

error: `process-backlog-after-pause` of `server` belongs to Eureka
 --> my.toml:7:1
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
7 | process-backlog-after-pause = false
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `two-stage`
  |
  = help: requests that waited are always answered; who comes first is `resume-order` in `[two-stage]`

error: `capacity` of `server` belongs to Eureka
 --> my.toml:8:9
  |
1 | registry = "two-stage"
  |            ----------- as it says here
...
8 | [server.capacity]
  |         ^^^^^^^^ the registry is `two-stage`
  |
  = help: how many requests it works at, long polls included, is `worker-threads` in `[two-stage]`

error: `server-zones` of `application` belongs to Eureka
  --> my.toml:13:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
13 | server-zones = "own-first"
   | ^^^^^^^^^^^^ the registry is `two-stage`
   |
   = help: the registry is one server, `server-1`: leave it out

error: `first-address` of `application` belongs to Eureka
  --> my.toml:14:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
14 | first-address = "10.0.0.1"
   | ^^^^^^^^^^^^^ the registry is `two-stage`
   |
   = help: leave it out: with one server nobody orders servers by address

error: `lease-renewal-interval-in-seconds` is a setting of Eureka
  --> my.toml:16:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
16 | lease-renewal-interval-in-seconds = 5
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the registry is `two-stage`
   |
   = help: here it is `heartbeat-interval-ms` in `[two-stage]`

error: `change` of `fault` belongs to Eureka
  --> my.toml:18:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
18 | change = { eureka.server.disable-delta = true }
   | ^^^^^^ the registry is `two-stage`
   |
   = help: no setting of its changes while it runs; to compare two settings run a sweep

error: `override` of `fault` belongs to Eureka
  --> my.toml:20:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
20 | override = { count = 1 }
   | ^^^^^^^^ the registry is `two-stage`
   |
   = help: it knows no statuses; `delete` deregisters an instance, which comes back with its next heartbeat

error: `unhealthy` of `fault` belongs to Eureka
  --> my.toml:22:1
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
22 | unhealthy = { count = 1 }
   | ^^^^^^^^^ the registry is `two-stage`
   |
   = help: whoever sends heartbeats is healthy; `grey` lets calls fail though heartbeats go on

error: there is only one server to restart
  --> my.toml:24:41
   |
 1 | registry = "two-stage"
   |            ----------- as it says here
...
24 | restart = { server = true, one-by-one = "1m" }
   |                                         ^^^^ the registry is `two-stage`
   |
   = help: leave `one-by-one` out

error: nobody is at the other end: every server of `peer` is among the targets
  --> my.toml:26:13
   |
26 | partition = { server = true }
   |             ^^^^^^^^^^^^^^^^^ without effect
   |
   = help: targets keep their links to each other; to cut them off from their clients set `peer = "instances"`, from everyone `peer = "all"`
"#;

#[test]
fn servers_and_faults_that_a_two_stage_registry_lacks() {
    expect(
        r#"registry = "two-stage"
[server]
count = 3
topology = "ring"
zones = ["a"]
register-with-eureka = true
process-backlog-after-pause = false
[server.capacity]
threads = 200
[[application]]
name = "orders"
instances = 3
server-zones = "own-first"
first-address = "10.0.0.1"
[application.eureka.instance]
lease-renewal-interval-in-seconds = 5
[[fault]]
change = { eureka.server.disable-delta = true }
[[fault]]
override = { count = 1 }
[[fault]]
unhealthy = { count = 1 }
[[fault]]
restart = { server = true, one-by-one = "1m" }
[[fault]]
partition = { server = true }
"#,
        &[],
        SERVERS_AND_FAULTS_THAT_A_TWO_STAGE_REGISTRY_LACKS,
    );
}

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

#[test]
fn a_registry_set_on_the_command_line() {
    expect(
        r#"release = "2025.0"
[[application]]
name = "orders"
instances = 3
"#,
        &["registry=nacos-1"],
        r#"error: `release` belongs to Eureka
 --> my.toml:1:1
  |
1 | release = "2025.0"
  | ^^^^^^^ the registry is `nacos-1`
  |
 ::: command line:1:16
  |
1 | --set registry=nacos-1
  |                ------- as it says here
  |
  = help: leave it out: the rules are those of the preset that `registry` names
"#,
    );
}

#[test]
fn a_registry_that_is_none() {
    expect(
        r#"registry = "nacos"
[two-stage]
watch-park-ms = 100
[[application]]
name = "orders"
"#,
        &[],
        r#"error: unknown `registry`: `nacos`
 --> my.toml:1:12
  |
1 | registry = "nacos"
  |            ^^^^^^^ must be `eureka`, `two-stage` or `nacos-1`
  |
  = help: did you mean `nacos-1`?
"#,
    );
}

#[test]
fn a_registry_that_is_not_modelled() {
    expect(
        r#"registry = "nacos-2"
[[application]]
name = "orders"
"#,
        &[],
        r#"error: unknown `registry`: `nacos-2`
 --> my.toml:1:12
  |
1 | registry = "nacos-2"
  |            ^^^^^^^^^ must be `eureka`, `two-stage` or `nacos-1`
  |
  = help: Nacos 2 is another registry, in which a connection is the lease; `nacos-1` is 1.4
"#,
    );
}

#[test]
fn nacos_own_names_at_the_top() {
    expect(
        r#"preserved.heart.beat.timeout = 5
[[application]]
name = "orders"
instances = 20
"#,
        &["soft-timeout-ms=5", "two-stage.soft-timeout=5"],
        r#"error: `preserved.heart.beat.timeout` is Nacos' own name
 --> my.toml:1:1
  |
1 | preserved.heart.beat.timeout = 5
  | ^^^^^^^^^ not known
  |
  = help: here it is `soft-timeout-ms` in `[two-stage]`

error: unknown key `soft-timeout-ms` at the top of a scenario
 --> command line:1:7
  |
1 | --set soft-timeout-ms=5
  |       ^^^^^^^^^^^^^^^ not known
  |
  = help: did you mean `two-stage.soft-timeout-ms`?

error: unknown key `soft-timeout` in `two-stage`
 --> command line:2:17
  |
2 | --set two-stage.soft-timeout=5
  |                 ^^^^^^^^^^^^ not known
  |
  = help: did you mean `soft-timeout-ms`?
"#,
    );
}
